//! Finds paths in the tree of a commit, following its symbolic links.

use engram_model::{Refusal, shorten};
use git2::{Commit, Oid, Tree};

use crate::{Repo, refuse};

use super::trees;

/// The number of links that an operating system follows.
const MAX_LINKS: usize = 40;
/// The text of a link is a path; anything longer is not one.
const MAX_LINK_BYTES: usize = 4096;
/// The most files that are compared to suggest a path.
const MAX_SUGGESTION_VISITS: usize = 300_000;

pub(crate) const LINK: i32 = 0o120_000;
pub(crate) const SUBMODULE: i32 = 0o160_000;
pub(crate) const FOLDER: i32 = 0o040_000;

/// Returns the blob at `path` in a commit. Follows links inside that tree, never out of it.
pub(crate) fn blob<'r>(
    repo: &'r Repo,
    commit: &Commit<'r>,
    path: &str,
) -> Result<git2::Blob<'r>, Refusal> {
    let id = find(repo, commit, path)?;
    repo.blob(id, path)
}

fn find(repo: &Repo, commit: &Commit<'_>, asked: &str) -> Result<Oid, Refusal> {
    let open = |id: Oid| {
        repo.tree(id).map_err(|e| {
            if !repo.is_there() {
                repo.gone()
            } else if id == commit.tree_id() {
                refuse::broken("the tree of the commit", &e)
            } else {
                refuse::broken(&refuse::quoted(asked), &e)
            }
        })
    };
    // The components still to be walked, the next one last.
    let mut ahead: Vec<String> = asked.split('/').rev().map(str::to_owned).collect();
    // The parent folders, by id, since each can be as large as an object may be.
    let mut around: Vec<Oid> = Vec::new();
    let mut here = open(commit.tree_id())?;
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                here = open(around.pop().ok_or_else(|| leaves_refusal(asked))?)?;
                continue;
            }
            _ => {}
        }
        // libgit2 takes C strings, and no name contains a NUL.
        let entry = if part.contains('\0') {
            None
        } else {
            here.get_name(&part).map(|e| (e.id(), e.filemode()))
        };
        let Some((id, mode)) = entry else {
            return Err(missing_refusal(repo, commit, asked, links > 0));
        };
        match mode {
            LINK => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(refuse::invalid(
                        format!("{} is a looping symbolic link", refuse::quoted(asked)),
                        "Point at a regular file.",
                    ));
                }
                let target = link_target(repo, id, asked)?;
                ahead.extend(target.split('/').rev().map(str::to_owned));
            }
            SUBMODULE => return Err(submodule_refusal(asked)),
            FOLDER => {
                around.push(here.id());
                here = open(id)?;
            }
            _ if ahead.iter().all(|rest| rest.is_empty() || rest == ".") => return Ok(id),
            _ => return Err(missing_refusal(repo, commit, asked, links > 0)),
        }
    }
    Err(folder_refusal(asked, Some(&here)))
}

fn link_target(repo: &Repo, id: Oid, asked: &str) -> Result<String, Refusal> {
    let size = repo
        .size(id)
        .map_err(|e| refuse::broken(&refuse::quoted(asked), &e))?;
    let blob = if size <= MAX_LINK_BYTES {
        Some(repo.blob(id, asked)?)
    } else {
        None
    };
    let text = blob.as_ref().map_or(&[][..], |it| it.content());
    let absolute = text.starts_with(b"/") || text.starts_with(b"\\") || text.get(1) == Some(&b':');
    match std::str::from_utf8(text) {
        _ if absolute => Err(leaves_refusal(asked)),
        Ok(target) if target.len() <= MAX_LINK_BYTES && !target.is_empty() => Ok(target.to_owned()),
        _ => Err(refuse::invalid(
            format!(
                "{} is a link without a readable target",
                refuse::quoted(asked)
            ),
            "Point at a regular file.",
        )),
    }
}

fn leaves_refusal(asked: &str) -> Refusal {
    refuse::invalid(
        format!(
            "{} is a link that leaves the repository",
            refuse::quoted(asked)
        ),
        "Point at a file that is committed in this repository.",
    )
}

pub(crate) fn submodule_refusal(asked: &str) -> Refusal {
    refuse::invalid(
        format!("{} lies in a submodule", refuse::quoted(asked)),
        "A submodule is a repository of its own: point at the file there, with its path from the submodule's root.",
    )
}

pub(crate) fn folder_refusal(asked: &str, tree: Option<&Tree<'_>>) -> Refusal {
    let within: Vec<String> = tree
        .iter()
        .flat_map(|tree| tree.iter())
        .take(3)
        .map(|entry| shorten(&String::from_utf8_lossy(entry.name_bytes()), 60))
        .collect();
    refuse::invalid(
        format!("{} is a folder", refuse::quoted(asked)),
        if within.is_empty() {
            "Point at a file.".to_owned()
        } else {
            format!("Point at a file in it: {}.", within.join(", "))
        },
    )
}

pub(crate) fn missing_refusal(
    repo: &Repo,
    commit: &Commit<'_>,
    asked: &str,
    through_link: bool,
) -> Refusal {
    let short: String = commit.id().to_string().chars().take(7).collect();
    let message = format!("{} does not exist at commit {short}", refuse::quoted(asked));
    let hint = match nearest(repo, commit, asked) {
        _ if through_link => {
            "It is a symbolic link to something uncommitted; point at a file.".to_owned()
        }
        Some(path) => format!("Did you mean {}?", shorten(&path, 300)),
        None => "Write the path from the repository root; pin uncommitted files with @worktree."
            .to_owned(),
    };
    refuse::not_found(message, hint)
}

/// Returns the file with the same name, ignoring case, that shares the most folders with the path
/// asked for.
fn nearest(repo: &Repo, commit: &Commit<'_>, asked: &str) -> Option<String> {
    let parts =
        |path: &str| -> Vec<String> { path.split(['/', '\\']).map(str::to_lowercase).collect() };
    let asked = parts(asked);
    let base = asked.last()?;
    let mut best: Option<(usize, String)> = None;
    let walked = trees::each_file(repo, commit.tree_id(), MAX_SUGGESTION_VISITS, |path, _| {
        let name = path.rsplit_once('/').map_or(path, |it| it.1);
        if name.to_lowercase() == *base {
            let shared = parts(path)
                .iter()
                .filter(|part| asked.contains(part))
                .count();
            if best.as_ref().is_none_or(|(most, _)| shared > *most) {
                best = Some((shared, path.to_owned()));
            }
        }
        true
    });
    if let Err(refusal) = walked {
        tracing::debug!(%refusal, "no suggestion for a missing path");
    }
    best.map(|(_, path)| path)
}
