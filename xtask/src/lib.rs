//! Shared parts of the developer's commands: running programs, installing what is missing, building
//! the front end.
//!
//! **Never:** part of the product; nothing that ships depends on it.

pub mod host;
pub mod setup;
pub mod shell;
pub mod tools;
pub mod ui;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Returns the root of the checkout in which cargo runs this. It may differ from the one in which
/// this was built, since both may share a target folder.
pub fn root() -> Result<PathBuf> {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let is_root = |it: &&Path| it.join("Cargo.lock").is_file();
    let root = here.as_deref().and_then(|it| it.ancestors().find(is_root));
    root.map(Path::to_owned)
        .context("run this as `cargo xtask`: cargo says where the checkout is")
}

/// Removes a folder that an earlier run may have left.
///
/// # Errors
/// The folder exists and cannot be removed.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
