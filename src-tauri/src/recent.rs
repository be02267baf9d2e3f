//! Repositories that were open before: `recent.json` in the home, the newest first.

use std::{
    fs,
    path::{Path, PathBuf},
};

use engram_model::Recent;

const FILE: &str = "recent.json";
/// Most that are remembered.
const MOST: usize = 12;

/// Those that are still there.
pub(crate) fn read(home: &Path) -> Vec<Recent> {
    paths(home)
        .into_iter()
        .filter(|it| it.exists())
        .map(|path| Recent {
            name: path
                .file_name()
                .map_or_else(|| "/".to_owned(), |it| it.to_string_lossy().into_owned()),
            path: path.display().to_string(),
            is_open: false,
            holding: None,
        })
        .collect()
}

/// Remembers one as the newest.
pub(crate) fn remember(home: &Path, path: &Path) {
    let mut all = paths(home);
    all.retain(|it| it != path);
    all.insert(0, path.to_owned());
    all.truncate(MOST);
    let Ok(text) = serde_json::to_string(&all) else {
        return; // a path that is not text is not remembered
    };
    if let Err(error) = crate::settings::write(&home.join(FILE), &text) {
        tracing::warn!(%error, "the repository is not remembered");
    }
}

fn paths(home: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(home.join(FILE)).unwrap_or_default();
    // A file that was spoilt remembers nothing.
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
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
        assert_eq!(names().len(), MOST);
        fs::write(home.path().join(FILE), "{spoilt").unwrap();
        assert!(names().is_empty());
    }
}
