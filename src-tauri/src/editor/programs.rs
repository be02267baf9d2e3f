//! Searches for programs, but never in the repository whose file is opened.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use engram_model::{Code, Refusal};
use which::which_in_global;

use super::choice::CHOOSE;

/// Returns the folders to search while a file of this tree is opened: those of `PATH` outside the
/// tree. It leaves out relative and empty ones, which would mean a folder of the tree that the
/// program starts in.
pub(super) fn search_path(path: &OsStr, root: Option<&Path>) -> OsString {
    let is_apart = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && root.is_none_or(|root| !real.starts_with(root))
    };
    // Folders that were split from a PATH can be joined again.
    env::join_paths(env::split_paths(path).filter(is_apart)).unwrap_or_default()
}

pub(super) fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    found_in(program, &search_path(&path, None)).is_some()
}

/// Finds a program by its plain name in these folders.
pub(super) fn found_in(program: &str, folders: &OsStr) -> Option<PathBuf> {
    which_in_global(program, Some(folders)).ok()?.next()
}

/// Returns the program that a name or a path means, wherever it is started; never one inside the
/// tree.
pub(super) fn program_of(named: &str, folders: &OsStr, root: &Path) -> Result<PathBuf, Refusal> {
    let is_name = Path::new(named).file_name() == Some(OsStr::new(named));
    let found = if is_name {
        found_in(named, folders)
    } else {
        Some(PathBuf::from(named)).filter(|it| it.is_absolute())
    };
    let real = found.as_ref().and_then(|it| it.canonicalize().ok());
    match (found, real) {
        (Some(found), Some(real)) if !real.starts_with(root) && !found.starts_with(root) => {
            Ok(found)
        }
        (_, Some(real)) => Err(Refusal::new(
            Code::ScopeDenied,
            format!("{} is in the repository itself", real.display()),
            format!("Engram does not run programs from a repository. {CHOOSE}"),
        )),
        (_, None) => Err(Refusal::new(
            Code::NotFound,
            format!("there is no program {named} on this machine"),
            format!(
                "Install it in a folder that PATH lists as an absolute path, or give the program's own absolute path. {CHOOSE}"
            ),
        )),
    }
}
