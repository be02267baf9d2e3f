//! The configuration of another program. It is read only if it is safe to trust, and written
//! exactly as shown or not at all.

use std::{
    fs::{self, File, Metadata},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use engram_engine::{Links, make_private_folder, open_file, read_text, sync_folder};
use engram_model::{Code, Refusal};
use tempfile::NamedTempFile;

/// The largest configuration that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A file as it was read, or its path if there is none.
pub(crate) struct Configuration {
    /// The path, with all links resolved.
    pub(crate) path: PathBuf,
    /// The content.
    pub(crate) text: Option<String>,
    /// The owner and the permissions.
    about: Option<Metadata>,
    /// For a repository's file, its working tree and its name there; `None` for the user's own
    /// file.
    within: Option<(PathBuf, String)>,
}

impl Configuration {
    /// Opens a file of a repository. The author of the repository may have put a link there, or in
    /// place of its folder: it is followed only to another place in the working tree.
    pub(crate) fn of_repository(root: &Path, name: &str) -> Result<Self, Refusal> {
        let root = root
            .canonicalize()
            .map_err(|error| unreadable(root, &error))?;
        let within = Some((root.clone(), name.to_owned()));
        let named = root.join(name);
        let folder = named.parent().unwrap_or(&root);
        let named = if folder.is_symlink() {
            let file = named.file_name().unwrap_or_default();
            follow_link(&root, folder)?.join(file)
        } else {
            named
        };
        if named.is_symlink() {
            return Self::read(follow_link(&root, &named)?, within);
        }
        Self::read(named, within)
    }

    /// Opens a file of the user's own, which may be a link to another place.
    pub(crate) fn of_user(named: &Path) -> Result<Self, Refusal> {
        let path = resolve(named).map_err(|error| unreadable(named, &error))?;
        Self::read(path, None)
    }

    fn read(path: PathBuf, within: Option<(PathBuf, String)>) -> Result<Self, Refusal> {
        let (text, about) = match read(&path) {
            Ok((text, about)) => (Some(text), Some(about)),
            Err(error) if error.kind() == ErrorKind::NotFound => (None, None),
            Err(error) => return Err(unreadable(&path, &error)),
        };
        Ok(Self {
            path,
            text,
            about,
            within,
        })
    }

    /// Whether it belongs to the user; otherwise it is part of a repository.
    pub(crate) fn is_of_user(&self) -> bool {
        self.within.is_none()
    }

    /// Whether the owner made the file read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        let about = self.about.as_ref();
        about.is_some_and(|it| it.permissions().readonly())
    }

    /// Writes exactly what was shown, all or nothing, and only if the file is still as shown.
    ///
    /// Keeps permissions and owner as far as this user may set them, but not access lists or other
    /// attributes. A write by another program between the last check and the renaming is lost: no
    /// file system offers more.
    pub(crate) fn write(&self, text: Option<&str>) -> Result<(), Refusal> {
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::AlreadyExists => self.changed_refusal(),
            _ => unwritable(&self.path, &error),
        };
        let Some(text) = text else {
            self.refuse_changed()?;
            fs::remove_file(&self.path).map_err(failed)?;
            sync_folder(self.folder());
            return Ok(());
        };
        let draft = self.draft(text).map_err(failed)?;
        self.refuse_changed()?;
        match self.about {
            Some(_) => draft.persist(&self.path),
            None => draft.persist_noclobber(&self.path),
        }
        .map_err(|it| failed(it.error))?;
        sync_folder(self.folder());
        Ok(())
    }

    /// Restores what was read, but only over `text`. Returns whether the file held `text`.
    pub(crate) fn put_back(&self, text: Option<&str>) -> Result<bool, Refusal> {
        let now = Self::read(self.path.clone(), self.within.clone())?;
        if now.text == self.text {
            return Ok(false);
        }
        if now.text.as_deref() != text {
            return Err(self.changed_refusal());
        }
        let now = Self {
            // A file that was removed gets its permissions back.
            about: now.about.or_else(|| self.about.clone()),
            ..now
        };
        now.write(self.text.as_deref()).map(|()| true)
    }

    /// Refuses if the file no longer holds what was read, or lies elsewhere: its folder may have
    /// become a link.
    pub(crate) fn refuse_changed(&self) -> Result<(), Refusal> {
        if let Some((root, name)) = &self.within
            && !Self::of_repository(root, name).is_ok_and(|it| it.path == self.path)
        {
            return Err(self.changed_refusal());
        }
        let now = match read(&self.path) {
            Ok((text, _)) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        match now {
            Ok(now) if now == self.text => Ok(()),
            _ => Err(self.changed_refusal()),
        }
    }

    fn changed_refusal(&self) -> Refusal {
        Refusal::new(
            Code::SchemaInvalid,
            format!(
                "{} has just been changed by something else",
                self.path.display()
            ),
            "Nothing was written. Try again, and review the change as it is now.",
        )
    }

    pub(crate) fn has_folder(&self) -> bool {
        self.folder().is_dir()
    }

    /// Removes the folder, unless something else is in it.
    pub(crate) fn remove_empty_folder(&self) {
        let _ = fs::remove_dir(self.folder());
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Creates the new file beside the old one, under an unpredictable name.
    fn draft(&self, text: &str) -> io::Result<NamedTempFile> {
        if self.is_of_user() {
            make_private_folder(self.folder())?;
        } else {
            fs::create_dir_all(self.folder())?;
        }
        let mut draft = tempfile::Builder::new();
        // A new file gets the usual permissions. A replacement stays private until it has those of
        // the old file.
        #[cfg(unix)]
        if self.about.is_none() {
            draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let mut draft = draft.tempfile_in(self.folder())?;
        if let Some(about) = &self.about {
            copy_rights(draft.as_file(), about)?;
        }
        draft.write_all(text.as_bytes())?;
        draft.as_file().sync_all()?;
        Ok(draft)
    }
}

const LINKED: &str =
    "Nothing was changed. Replace the link with what it should lead to, then try again.";

fn read(path: &Path) -> io::Result<(String, Metadata)> {
    let file = open_file(path, Links::Refused)?;
    let about = file.metadata()?;
    Ok((read_text(file, MAX_FILE)?, about))
}

/// Follows a link of a repository.
fn follow_link(root: &Path, link: &Path) -> Result<PathBuf, Refusal> {
    let (link_path, hint) = (link.display(), LINKED);
    match link.canonicalize() {
        Ok(path) if is_within(root, &path) => Ok(path),
        Ok(path) => Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "{link_path} is a link that leaves the working tree, to {}",
                path.display()
            ),
            hint,
        )),
        Err(error) => Err(Refusal::new(
            Code::ScopeDenied,
            format!("{link_path} is a broken link: {error}"),
            hint,
        )),
    }
}

/// Whether a path is part of the working tree; git's own files are not.
fn is_within(root: &Path, path: &Path) -> bool {
    path.strip_prefix(root)
        .is_ok_and(|it| it.iter().all(|name| !name.eq_ignore_ascii_case(".git")))
}

/// Resolves a path, even if it is a link to a file that does not exist yet.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        known => return known,
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    match fs::read_link(path) {
        // The target's folder must exist; this creates nothing.
        Ok(target) => {
            let target = folder.join(target);
            let within = target.parent().unwrap_or(Path::new("/")).canonicalize()?;
            match target.file_name() {
                Some(name) => resolve(&within.join(name)),
                None => Err(ErrorKind::NotFound.into()),
            }
        }
        Err(_) => match (folder.canonicalize(), path.file_name()) {
            (Ok(folder), Some(name)) => Ok(folder.join(name)),
            _ => Ok(path.to_owned()),
        },
    }
}

/// Gives a draft the owner, group and permissions of the file that it replaces. If it cannot have
/// that group, nobody gets the group's permissions.
fn copy_rights(draft: &File, about: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let is_group = fchown(draft, None, Some(about.gid())).is_ok();
        let _ = fchown(draft, Some(about.uid()), None);
        let mode = about.mode() & if is_group { 0o777 } else { 0o707 };
        draft.set_permissions(fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    draft.set_permissions(about.permissions())
}

pub(crate) fn unreadable(path: &Path, why: &impl std::fmt::Display) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        format!("cannot read {}: {why}", path.display()),
        "Nothing was changed. Correct the file (readable text, at most 1 MiB), then try again.",
    )
}

pub(crate) fn read_only(path: &Path) -> Refusal {
    Refusal::new(
        Code::StoreReadOnly,
        format!("{} is read-only", path.display()),
        "It stays as it is. Make it writable, then connect again.",
    )
}

fn unwritable(path: &Path, why: &io::Error) -> Refusal {
    Refusal::new(
        Code::StoreReadOnly,
        format!("cannot write {}: {why}", path.display()),
        "Change its permissions, or add the entry by hand.",
    )
}
