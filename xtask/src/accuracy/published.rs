//! Histories of published versions.
use super::git;
use anyhow::Result;
use std::path::{Path, PathBuf};

pub(crate) fn histories(cache: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(cache)? {
        let entry = entry?;
        if entry.path().join(".git").is_dir() {
            found.push((
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            ));
        }
    }
    found.sort();
    Ok(found)
}

/// First and last in both directions, and neighbours.
pub(crate) fn pairs(repo: &Path) -> Result<Vec<(String, String)>> {
    let list = git(repo, &["rev-list", "--reverse", "HEAD"])?;
    let commits: Vec<&str> = list.lines().collect();
    let n = commits.len();
    if n < 2 {
        return Ok(Vec::new());
    }
    let mut pairs = vec![(0, n - 1), (n - 1, 0)];
    if n > 4 {
        pairs.extend([(n / 2, n - 1), (n / 2, 0), (n / 2, n / 2 + 1)]);
    }
    Ok(pairs
        .into_iter()
        .map(|(a, b)| (commits[a].to_owned(), commits[b].to_owned()))
        .collect())
}
