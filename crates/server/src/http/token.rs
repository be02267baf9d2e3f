//! The secret that a caller must hold.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
};

use engram_model::{Code, Refusal};

/// The longest file that is read, in bytes: a token and the end of its line.
const MAX_BYTES: u64 = 66;

/// Returns a fresh token or, given a file, the one kept there, so that an open page survives a
/// restart.
pub(super) fn load_or_create_token(file: Option<&Path>) -> Result<String, Refusal> {
    let Some(file) = file else {
        return Ok(random_token());
    };
    match read_token_file(file) {
        Ok(token) => Ok(token),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = random_token();
            let made = open(file, File::options().write(true).create_new(true));
            made.and_then(|mut it| writeln!(it, "{token}"))
                .map_err(|error| token_file_refusal(file, &error))?;
            Ok(token)
        }
        Err(error) => Err(token_file_refusal(file, &error)),
    }
}

/// Reads a regular file that belongs to this user alone. It checks the file before opening it,
/// since opening a pipe may block forever, and again after, since the file may have been replaced.
fn read_token_file(file: &Path) -> io::Result<String> {
    check_token_file(&fs::symlink_metadata(file)?)?;
    let opened = open(file, File::options().read(true))?;
    check_token_file(&opened.metadata()?)?;
    let mut text = String::new();
    opened.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    let token = text.trim();
    if engram_engine::is_token(token) {
        Ok(token.to_owned())
    } else {
        Err(io::Error::other("it does not contain an Engram token"))
    }
}

fn check_token_file(about: &fs::Metadata) -> io::Result<()> {
    let why = if !about.is_file() {
        "it is not a file"
    } else if about.len() > MAX_BYTES {
        "it does not contain an Engram token"
    } else {
        return check_private(about);
    };
    Err(io::Error::other(why))
}

#[cfg(unix)]
fn check_private(about: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let why = if about.uid() != rustix::process::geteuid().as_raw() {
        "it belongs to another user"
    } else if about.mode() & 0o077 != 0 {
        "other users can read it"
    } else {
        return Ok(());
    };
    Err(io::Error::other(why))
}

#[cfg(not(unix))]
fn check_private(_: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens a file without following a link or waiting for a pipe's other end; a new file is readable
/// by its owner alone.
fn open(file: &Path, how: &mut fs::OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        how.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    how.open(file)
}

fn token_file_refusal(file: &Path, why: &io::Error) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        format!("{} cannot hold the token: {why}", file.display()),
        "Name a file that does not exist yet, in a folder you own; Engram creates it with mode 600.",
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "a secret must not follow from a seed"
)]
fn random_token() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}
