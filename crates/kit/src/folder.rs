//! Files for tests.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A folder that is deleted with the test. Its path contains no link, so that paths can be
/// compared.
pub struct Folder {
    root: PathBuf,
    _dir: TempDir,
}

impl Folder {
    /// Makes an empty folder among the system's temporary files.
    pub fn temporary() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        Self { root, _dir: dir }
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a path in it, which need not exist.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// Writes a file, and makes its parent folders.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Returns every file below a folder with its bytes. A link counts as a file; one that leads
/// nowhere is empty.
pub fn files(below: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![below.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                open.push(path)
            } else {
                let bytes = fs::read(&path).unwrap_or_default();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// Returns the files below a folder that contain a word, ignoring case.
pub fn files_holding(below: &Path, word: &str) -> Vec<PathBuf> {
    let holds = |bytes: &[u8]| {
        let mut parts = bytes.windows(word.len());
        parts.any(|it| it.eq_ignore_ascii_case(word.as_bytes()))
    };
    let all = files(below).into_iter();
    all.filter(|(_, bytes)| holds(bytes))
        .map(|(path, _)| path)
        .collect()
}
