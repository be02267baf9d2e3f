//! What the developer's commands share: programs of the machine, what it lacks, and the front end's build.
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

/// The root of the checkout that cargo runs this in; not of the one that it was built in, which may
/// share its target folder.
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
/// If there is one and it cannot be removed.
pub fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
