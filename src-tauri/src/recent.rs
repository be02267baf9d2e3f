//! `recent.json` in the home lists the repositories that were open before, newest first;
//! `opened.json` lists those open in the window.

use std::path::{Path, PathBuf};

use engram_model::Recent;

use crate::settings::MAX_FILE;

const RECENT: &str = "recent.json";
const OPENED: &str = "opened.json";
/// The maximum number of repositories remembered.
pub(crate) const MAX_RECENT: usize = 12;

/// Returns those that still exist.
pub(crate) fn read(home: &Path) -> Vec<Recent> {
    read_paths(home, RECENT)
        .into_iter()
        .filter(|it| it.exists())
        .map(|it| recent_at(&it))
        .collect()
}

/// Describes a repository by its path alone.
pub(crate) fn recent_at(path: &Path) -> Recent {
    Recent {
        name: path
            .file_name()
            .map_or_else(|| "/".to_owned(), |it| it.to_string_lossy().into_owned()),
        path: path.display().to_string(),
        is_front: false,
        unseen: 0,
        holding: None,
        conflicts: 0,
        requests: 0,
    }
}

/// Stores which repositories are open in the window.
pub(crate) fn keep_opened(home: &Path, all: &[PathBuf]) {
    write_paths(home, OPENED, all);
}

/// Returns the repositories that were open when the window was closed and still exist.
pub(crate) fn read_opened(home: &Path) -> Vec<PathBuf> {
    let mut all = read_paths(home, OPENED);
    all.retain(|it| it.exists());
    all
}

/// Remembers a repository as the newest.
pub(crate) fn remember(home: &Path, path: &Path) {
    let mut all = read_paths(home, RECENT);
    all.retain(|it| it != path);
    all.insert(0, path.to_owned());
    all.truncate(MAX_RECENT);
    write_paths(home, RECENT, &all);
}

fn write_paths(home: &Path, file: &str, all: &[PathBuf]) {
    let Ok(text) = serde_json::to_string(all) else {
        return; // a path that is not UTF-8 is not remembered
    };
    if let Err(error) = engram_engine::write_known_home_file(home, file, &text) {
        tracing::warn!(%error, file, "cannot remember the repositories");
    }
}

fn read_paths(home: &Path, file: &str) -> Vec<PathBuf> {
    let text = engram_engine::read_file(&home.join(file), MAX_FILE).unwrap_or_default();
    // A damaged file counts as empty.
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    #[test]
    fn the_newest_is_first_once_and_what_went_is_left_out() {
        let home = tempfile::tempdir().unwrap();
        let place = |name: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let names = || -> Vec<String> { read(home.path()).into_iter().map(|it| it.name).collect() };
        for name in ["a", "b", "a", "c"] {
            remember(home.path(), &place(name));
        }
        assert_eq!(names(), ["c", "a", "b"]);
        fs::remove_dir(place("a")).unwrap();
        assert_eq!(names(), ["c", "b"]);
        for number in 0..20 {
            remember(home.path(), &place(&number.to_string()));
        }
        assert_eq!(names().len(), MAX_RECENT);
        fs::write(home.path().join(RECENT), "{spoilt").unwrap();
        assert!(names().is_empty());
    }
}
