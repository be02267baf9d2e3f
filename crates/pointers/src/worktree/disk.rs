//! Opens files on disk below a folder, name by name, each through the handle of the folder before:
//! the file checked is the file read, even if paths are renamed or linked meanwhile. Opens nothing
//! but folders and regular files, so it never blocks.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The number of links that an operating system follows.
const MAX_LINKS: usize = 40;
/// The most folders that are opened on the way to a file. A path of 4,096 bytes has at most 2,048.
const MAX_STEPS: usize = 4096;

/// How to treat symbolic links.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Follows them while they stay below the folder.
    Followed,
    /// Treats them as missing files.
    Refused,
}

/// A regular file that is open.
pub(crate) struct ReachedFile {
    /// Its path below the folder, with every link followed.
    pub(crate) within: PathBuf,
    pub(crate) len: u64,
    file: File,
}

/// Why there is no file.
#[derive(Debug)]
pub(crate) enum Miss {
    NotThere,
    /// The path does not lead below the folder, or leads into git's own folder.
    NoPath,
    /// A link that leaves the folder.
    Leaves,
    /// The links form a loop.
    Loop,
    /// Another repository is on the way.
    Nested,
    Folder,
    /// A pipe, a socket, a device.
    Special,
    Failed(io::Error),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotThere,
            io::ErrorKind::InvalidInput => Self::NoPath,
            _ => Self::Failed(error),
        }
    }
}

impl ReachedFile {
    /// Returns all bytes, if there are no more than `most`.
    pub(crate) fn read(self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.len.min(most)).unwrap_or(0));
        self.file.take(most + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= most).then_some(bytes))
    }
}

/// Returns the bytes of a small file by its path, if it is a regular file of at most `most` bytes.
/// The folders on the way are not checked.
pub(crate) fn read_small(path: &Path, most: u64) -> Result<Vec<u8>, Miss> {
    read_at(path, most, &path.metadata()?, Links::Followed)
}

/// Does the same, but refuses a link.
pub(crate) fn read_own(path: &Path, most: u64) -> Result<Vec<u8>, Miss> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Err(Miss::NotThere);
    }
    read_at(path, most, &metadata, Links::Refused)
}

/// Checks the file before opening it, since opening a device can have effects; and again once it is
/// open.
fn read_at(path: &Path, most: u64, before: &Metadata, links: Links) -> Result<Vec<u8>, Miss> {
    if before.is_dir() {
        return Err(Miss::Folder);
    }
    if !before.is_file() {
        return Err(Miss::Special);
    }
    let file = system::open(path, links)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Miss::Special);
    }
    if metadata.len() > most {
        return Err(Miss::Failed(io::ErrorKind::FileTooLarge.into()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether opening this path could block forever: it exists, and is neither a file nor a
/// folder.
pub(crate) fn is_special(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Opens a file below a folder. Enters neither repositories within it nor anything that could be
/// git's own folder.
pub(crate) fn open_below(root: &Path, path: &Path, links: Links) -> Result<ReachedFile, Miss> {
    let mut way = Walk {
        root,
        at: system::Folder::root(root)?,
        names: Vec::new(),
        ahead: Vec::new(),
        steps: 0,
    };
    if !path.is_relative() || path.as_os_str().is_empty() {
        return Err(Miss::NoPath);
    }
    way.ahead = parts(path).ok_or(Miss::NoPath)?;
    if way.ahead.iter().any(|it| it == "..") {
        return Err(Miss::NoPath);
    }
    let mut followed = 0;
    while let Some(name) = way.ahead.pop() {
        way.step()?;
        if name == ".." {
            way.names.pop().ok_or(Miss::Leaves)?;
            way.again()?;
            continue;
        }
        if is_gits(&name) {
            return Err(if followed > 0 {
                Miss::Leaves
            } else {
                Miss::NoPath
            });
        }
        match way.at.kind(&name)? {
            EntryKind::Folder => way.enter(name)?,
            EntryKind::File if way.ahead.is_empty() => return way.open(&name),
            EntryKind::File => return Err(Miss::NotThere),
            EntryKind::Link if links == Links::Refused => return Err(Miss::NotThere),
            EntryKind::Link => {
                followed += 1;
                if followed > MAX_LINKS {
                    return Err(Miss::Loop);
                }
                way.follow(&name)?;
            }
            EntryKind::Other => return Err(Miss::Special),
        }
    }
    Err(Miss::Folder)
}

/// The entries of an opened folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Folder,
    File,
    Link,
    Other,
}

struct Walk<'r> {
    root: &'r Path,
    at: system::Folder,
    /// The names of the folders entered; none of them is a link.
    names: Vec<OsString>,
    /// The names still to be walked, the next one last.
    ahead: Vec<OsString>,
    steps: usize,
}

impl Walk<'_> {
    fn step(&mut self) -> Result<(), Miss> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            Err(Miss::Loop)
        } else {
            Ok(())
        }
    }

    fn enter(&mut self, name: OsString) -> Result<(), Miss> {
        self.at = self.at.folder(&name)?;
        if self.at.kind(OsStr::new(".git")).is_ok() {
            return Err(Miss::Nested);
        }
        self.names.push(name);
        Ok(())
    }

    /// Walks again from the root to the folder of these names, since no handle leads up.
    fn again(&mut self) -> Result<(), Miss> {
        self.at = system::Folder::root(self.root)?;
        for at in 0..self.names.len() {
            self.step()?;
            self.at = self.at.folder(&self.names[at])?;
        }
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), Miss> {
        let target = PathBuf::from(self.at.link(name)?);
        let inside = if target.is_absolute() {
            self.names.clear();
            self.again()?;
            target.strip_prefix(self.root).map_err(|_| Miss::Leaves)?
        } else {
            &*target
        };
        self.ahead.extend(parts(inside).ok_or(Miss::Leaves)?);
        Ok(())
    }

    fn open(&mut self, name: &OsStr) -> Result<ReachedFile, Miss> {
        let file = self.at.file(name)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Miss::Special);
        }
        let mut within: PathBuf = self.names.iter().collect();
        within.push(name);
        Ok(ReachedFile {
            within,
            len: metadata.len(),
            file,
        })
    }
}

/// Returns the names of a path, the last one first; `None` if it is not a relative path.
fn parts(path: &Path) -> Option<Vec<OsString>> {
    use std::path::Component;
    path.components()
        .rev()
        .filter(|it| *it != Component::CurDir)
        .map(|it| match it {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

/// Returns whether a file system may take this name for `.git`: in any letter case, by its short
/// name, with what NTFS drops at its end or HFS drops anywhere.
pub(crate) fn is_gits(name: &OsStr) -> bool {
    let dropped = |c: &char| matches!(c, '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}');
    let name: String = name
        .to_string_lossy()
        .chars()
        .filter(|it| !dropped(it))
        .map(|it| it.to_ascii_lowercase())
        .collect();
    name.split('\\').any(|part| {
        let part = part.split(':').next().unwrap_or_default();
        matches!(part.trim_end_matches([' ', '.']), ".git" | "git~1")
    })
}

#[cfg(unix)]
mod system {
    use std::{
        ffi::{OsStr, OsString},
        fs::File,
        io,
        os::{fd::OwnedFd, unix::ffi::OsStringExt},
        path::Path,
    };

    use rustix::fs::{
        AtFlags, FileType, Mode, OFlags, open as open_at_path, openat, readlinkat, statat,
    };

    use super::{EntryKind, Links};

    /// Opens a folder only to descend from it; it need not be readable for that.
    #[cfg(target_os = "linux")]
    const THROUGH: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const THROUGH: OFlags = OFlags::RDONLY;

    pub(super) struct Folder(OwnedFd);

    pub(super) fn open(path: &Path, links: Links) -> io::Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, links == Links::Refused);
        Ok(open_at_path(path, flags, Mode::empty())?.into())
    }

    impl Folder {
        pub(super) fn root(path: &Path) -> io::Result<Self> {
            let flags = THROUGH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Self(open_at_path(path, flags, Mode::empty())?))
        }

        pub(super) fn kind(&self, name: &OsStr) -> io::Result<EntryKind> {
            let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(match FileType::from_raw_mode(stat.st_mode as _) {
                FileType::Directory => EntryKind::Folder,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
            })
        }

        pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
            let flags = THROUGH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(Self(openat(&self.0, name, flags, Mode::empty())?))
        }

        pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
            Ok(openat(&self.0, name, flags | OFlags::CLOEXEC, Mode::empty())?.into())
        }

        pub(super) fn link(&self, name: &OsStr) -> io::Result<OsString> {
            let target = readlinkat(&self.0, name, Vec::new())?;
            Ok(OsString::from_vec(target.into_bytes()))
        }
    }
}

/// Without folder handles: checks each name before entering it, and guarantees no more.
#[cfg(not(unix))]
mod system {
    use std::{
        ffi::{OsStr, OsString},
        fs::{self, File},
        io,
        path::{Path, PathBuf},
    };

    use super::{EntryKind, Links};

    pub(super) struct Folder(PathBuf);

    pub(super) fn open(path: &Path, _: Links) -> io::Result<File> {
        File::open(path)
    }

    impl Folder {
        pub(super) fn root(path: &Path) -> io::Result<Self> {
            path.metadata()?;
            Ok(Self(path.to_owned()))
        }

        pub(super) fn kind(&self, name: &OsStr) -> io::Result<EntryKind> {
            let kind = fs::symlink_metadata(self.0.join(name))?.file_type();
            Ok(match () {
                () if kind.is_dir() => EntryKind::Folder,
                () if kind.is_file() => EntryKind::File,
                () if kind.is_symlink() => EntryKind::Link,
                () => EntryKind::Other,
            })
        }

        pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
            match self.kind(name)? {
                EntryKind::Folder => Ok(Self(self.0.join(name))),
                _ => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
            File::open(self.0.join(name))
        }

        pub(super) fn link(&self, name: &OsStr) -> io::Result<OsString> {
            fs::read_link(self.0.join(name)).map(Into::into)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_gits_folder_is_known() {
        for name in [
            ".git",
            ".GIT",
            ".Git ",
            ".git. .",
            "git~1",
            "GIT~1",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git::$INDEX_ALLOCATION",
            "a\\.git\\config",
        ] {
            assert!(is_gits(OsStr::new(name)), "{name:?}");
        }
        for name in [
            ".gitignore",
            "dir.git",
            "git",
            "git~2",
            ".gi",
            ".github",
            "..git",
        ] {
            assert!(!is_gits(OsStr::new(name)), "{name:?}");
        }
    }
}
