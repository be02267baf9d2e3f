//! Creates the files and folders of a home for their owner alone, whatever the umask is. Opening a
//! file never blocks: a pipe, a device or a socket is refused.
//!
//! If a file system keeps no modes, a file is as private as its mount. This is no reason to refuse;
//! `engram doctor` reports it.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions},
    io::{self, ErrorKind, Read, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// Whether to follow a link to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// For files that only the user can have put there.
    Followed,
    /// For files that others may have put there.
    Refused,
}

/// Creates a folder and its missing parents, for their owner alone. Leaves an existing folder as it
/// is.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent();
    if let Some(above) = above.filter(|it| !it.as_os_str().is_empty()) {
        make_private_folder(above)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => set_mode(&fs::symlink_metadata(folder)?, 0o700, |it| {
            fs::set_permissions(folder, it)
        }),
        // Another process created it first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Opens a file of a home for writing, for its owner alone; creates it if it is missing.
pub fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.truncate(false).write(true);
    private(options, path)
}

/// Like [`open_private`], for reading and overwriting.
pub fn update_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.truncate(false).read(true).write(true);
    private(options, path)
}

/// Like [`open_private`], for appending.
pub fn append_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true);
    private(options, path)
}

fn private(mut options: OpenOptions, path: &Path) -> io::Result<File> {
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = regular(options, path, Links::Refused)?;
    set_mode(&file.metadata()?, 0o600, |it| file.set_permissions(it));
    Ok(file)
}

/// Writes a file for its owner alone; creates the folder if it is missing. A reader sees either the
/// old or the new file, and the new one is on the disk when this returns.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    make_private_folder(folder)?;
    let mut draft = NamedTempFile::new_in(folder)?;
    set_mode(&draft.as_file().metadata()?, 0o600, |it| {
        draft.as_file().set_permissions(it)
    });
    draft.write_all(text.as_bytes())?;
    draft.as_file().sync_all()?;
    draft.persist(path)?;
    sync_folder(folder);
    Ok(())
}

/// Asks the system to write the renames in a folder to the disk. If that fails, other processes
/// still see the renames.
pub fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Err(error) = File::open(folder).and_then(|it| it.sync_all()) {
        tracing::debug!(%error, folder = %folder.display(), "not synced");
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// Opens a file to read.
pub fn open_file(path: &Path, links: Links) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    regular(options, path, links)
}

/// Reads a small text file of at most `most` bytes.
pub fn read_file(path: &Path, most: u64) -> io::Result<String> {
    read_text(open_file(path, Links::Followed)?, most)
}

/// Reads a text of at most `most` bytes.
pub fn read_text(from: impl Read, most: u64) -> io::Result<String> {
    let mut text = Vec::new();
    from.take(most + 1).read_to_end(&mut text)?;
    if text.len() as u64 > most {
        let why = format!("it is longer than {} KiB", most >> 10);
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    String::from_utf8(text)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Opens a regular file, and checks it again once it is open, because it may have been replaced
/// meanwhile. It does not block on the replacement either.
fn regular(mut options: OpenOptions, path: &Path, links: Links) -> io::Result<File> {
    let refused = || io::Error::new(ErrorKind::InvalidInput, "it is not a file");
    let about = match links {
        Links::Followed => fs::metadata(path),
        Links::Refused => fs::symlink_metadata(path),
    };
    // A missing file may be created.
    if about.is_ok_and(|it| !it.is_file()) {
        return Err(refused());
    }
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let link = match links {
            Links::Followed => OFlags::empty(),
            Links::Refused => OFlags::NOFOLLOW,
        };
        let flags = (OFlags::NONBLOCK | link).bits() as i32;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(refused())
    }
}

/// Whether others than the owner have rights to a file or folder. A link does not count, and its
/// target is not checked.
pub fn is_open_to_others(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| mode(&it).is_some_and(|it| it & 0o077 != 0))
}

/// Removes others' rights to a file or folder of this user, if the file system has rights.
pub fn close_to_others(path: &Path) {
    if let Ok(about) = fs::symlink_metadata(path)
        && is_own(&about)
    {
        let to = mode(&about).unwrap_or_default() & 0o700;
        set_mode(&about, to, |it| fs::set_permissions(path, it));
    }
}

/// The rights of a file or folder; `None` for a link, and on systems without such rights.
fn mode(about: &Metadata) -> Option<u32> {
    let has_rights = cfg!(unix) && !about.is_symlink();
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777;
    #[cfg(not(unix))]
    let mode = 0;
    has_rights.then_some(mode)
}

fn is_own(about: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(about) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return about.is_file() || about.is_dir();
}

/// Gives a file or folder the rights that it should have: a umask may have removed too many, and an
/// earlier build too few.
fn set_mode(about: &Metadata, to: u32, set: impl FnOnce(Permissions) -> io::Result<()>) {
    #[cfg(unix)]
    if mode(about).is_some_and(|it| it != to)
        && let Err(error) = set(std::os::unix::fs::PermissionsExt::from_mode(to))
    {
        tracing::debug!(%error, "its rights stay as they are");
    }
    #[cfg(not(unix))]
    let _ = (about, to, set);
}
