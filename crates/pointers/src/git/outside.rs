//! Finds what a repository reads outside of its git folder.
//!
//! Git lists other object folders for `clone --shared` and `--reference`, and follows every link. A
//! stranger can point both at any repository of the user, and a clone would then show its content.
//! Settings may include files from anywhere; their content is never shown, and what they say about
//! the working tree is checked (`named.rs`).

use std::path::{Path, PathBuf};

use crate::Repo;

use super::ahead;

/// Folders whose entries are opened by name. A link deeper down, among refs and loose objects, is
/// found when it is read (`rev.rs`, `object.rs`).
const OF_STORE: [&str; 4] = ["", "pack", "info", "info/commit-graphs"];

impl Repo {
    /// Returns the first thing outside of the git folder that this repository opens: another object
    /// folder, or the target of a link.
    pub fn reads_outside(&self) -> Option<PathBuf> {
        let (own_store, borrowed) = match self.stores.as_slice() {
            [] => return Some(self.common_dir().to_owned()),
            [own, borrowed @ ..] => (own, borrowed),
        };
        let named = ahead::OWN.iter().chain(&["refs", "logs", "objects"]);
        let own = self
            .folders()
            .flat_map(|at| named.clone().map(|it| at.join(it)));
        let links = OF_STORE.iter().flat_map(|it| links_in(&own_store.join(it)));
        let mut read = own.chain(links);
        let linked = || read.find(|it| is_outside(it, self.common_dir()));
        borrowed.first().cloned().or_else(linked)
    }
}

/// Returns the links among the entries of a folder.
fn links_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let links = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_symlink()));
    links.map(|it| it.path()).collect()
}

/// Returns whether an entry at this path lies outside of the folder. A link that leads nowhere
/// counts, since its target may appear later.
pub(crate) fn is_outside(path: &Path, folder: &Path) -> bool {
    match path.canonicalize() {
        Ok(path) => !folder.canonicalize().is_ok_and(|it| path.starts_with(it)),
        Err(_) => path.symlink_metadata().is_ok(),
    }
}
