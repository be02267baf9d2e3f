//! Reads repositories without a home: finds the one around a folder, and finds where its lines
//! moved.

use engram_model::{Code, Refusal};
use engram_pointers::{
    Repo,
    track::{self, Anchor, RepoState, Span},
};
use std::path::{Path, PathBuf};

/// The repository around a folder: the root of its working tree, or its git folder. `None` if its
/// git folder does not point back to that working tree.
pub fn repository_around(from: &Path) -> Option<PathBuf> {
    let found = Repo::discover(from).ok().flatten()?;
    let root = found.workdir().unwrap_or(found.common_dir()).to_owned();
    found.is_named_back().then_some(root)
}

/// The root of the working tree that a folder is in.
///
/// # Errors
/// `REPO_UNAVAILABLE` outside of a repository, or in a bare one.
pub fn working_tree(from: &Path) -> Result<PathBuf, Refusal> {
    let found = Repo::discover(from)?.and_then(|repo| repo.workdir().map(PathBuf::from));
    let tree = found.ok_or_else(|| {
        Refusal::new(
            Code::RepoUnavailable,
            format!("{} is not in a working tree", from.display()),
            "Change to your clone, or pass it with --repo.",
        )
    })?;
    match (from.canonicalize(), tree.canonicalize()) {
        (Ok(from), Ok(within)) if !from.starts_with(&within) => Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "the working tree of {}'s repository is elsewhere, in {}",
                from.display(),
                within.display()
            ),
            "Change to that working tree, or correct core.worktree or this folder's .git.",
        )),
        _ => Ok(tree),
    }
}

/// Returns where each span in one state of a repository is in another state, in the order of the
/// spans. Needs no home and stores nothing. Uses the named repository, or the one around the
/// current folder.
///
/// # Errors
/// If there is no repository. A span that cannot be tracked gets its own error.
pub fn track(
    repo: Option<&Path>,
    from: &RepoState,
    to: &RepoState,
    spans: &[Span],
) -> Result<Vec<Result<Anchor, Refusal>>, Refusal> {
    let found = match repo {
        Some(path) => Some(Repo::open(path)?),
        None => Repo::discover(&std::env::current_dir().unwrap_or_default())?,
    };
    let repo = found.ok_or_else(|| {
        Refusal::new(
            Code::RepoUnavailable,
            "there is no git repository here",
            "Run inside a git repository, or pass one with --repo PATH.",
        )
    })?;
    Ok(track::track(&repo, from, to, spans))
}
