//! The states of a repository between which spans are tracked, and the changes from one to another.

use std::{
    cmp::Ordering,
    path::{Component, Path},
};

use engram_model::Refusal;
use git2::{ObjectType, Oid};

use crate::{
    Repo,
    git::{
        tree,
        trees::{self, TreeEntry},
    },
    refuse,
    worktree::{
        self,
        checkout::Checkout,
        clean,
        disk::{Links, Miss},
    },
};

use super::renames;

/// Files with more bytes or lines than this are compared by their ids only.
const MAX_BYTES: u64 = 16 << 20;
const MAX_LINES: usize = 200_000;
/// The most files of a state that are listed.
const MAX_FILES: usize = 1_000_000;

/// A state of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoState {
    /// Any git revision.
    Commit(String),
    /// What is staged.
    Index,
    /// The files on disk.
    Worktree,
}

/// A state that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundState {
    /// The tree of a commit.
    Tree(Oid),
    Index,
    Worktree,
}

/// One file of a state; its blob is zero for a file on disk that was not read yet.
pub(super) type StateFile = TreeEntry;

/// One file that differs between two states. A file that exists in only one has `None` for the
/// other.
#[derive(Clone, Debug)]
pub(super) struct ChangedFile {
    pub(super) old: Option<StateFile>,
    pub(super) new: Option<StateFile>,
}

impl RepoState {
    /// Returns the state, and the commit that it is based on.
    pub(super) fn find(&self, repo: &Repo) -> Result<(FoundState, Option<Oid>), Refusal> {
        match self {
            Self::Commit(rev) => {
                let commit = repo.commit(rev)?;
                let tree = commit.tree_id();
                Ok((FoundState::Tree(tree), Some(commit.id())))
            }
            Self::Index | Self::Worktree => {
                if repo.workdir().is_none() {
                    return Err(refuse::invalid(
                        "this repository is bare: it has neither index nor working tree",
                        "Name two commits.",
                    ));
                }
                let head = repo.head().1.and_then(|it| Oid::from_str(&it).ok());
                let snapshot = match self {
                    Self::Index => FoundState::Index,
                    _ => FoundState::Worktree,
                };
                Ok((snapshot, head))
            }
        }
    }
}

/// Returns what differs between two states. Searches for renames if `wanted` names a removed file.
pub(super) fn changes(
    repo: &Repo,
    old: FoundState,
    new: FoundState,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<ChangedFile>, Refusal> {
    if old == new {
        return Ok(Vec::new());
    }
    let changes = match (old, new) {
        (FoundState::Tree(a), FoundState::Tree(b)) => trees::differences(repo, a, b)?,
        _ => merge_files(files(repo, old)?, files(repo, new)?),
    };
    let changes = changes
        .into_iter()
        .map(|(old, new)| ChangedFile { old, new })
        .collect();
    renames::join_renames(repo, (old, new), changes, wanted)
}

/// Returns all files of a state, in the order of their paths.
fn files(repo: &Repo, side: FoundState) -> Result<Vec<StateFile>, Refusal> {
    let mut files = Vec::new();
    match side {
        FoundState::Tree(id) => {
            trees::each_file(repo, id, MAX_FILES, |path, blob| {
                let path = path.to_owned();
                files.push(StateFile { path, blob });
                true
            })?;
        }
        FoundState::Index => {
            let index = repo.index().map_err(|e| refuse::broken("the index", &e))?;
            for entry in index.iter().filter(|it| is_file(it.mode)) {
                if let Ok(path) = String::from_utf8(entry.path) {
                    files.push(StateFile {
                        path,
                        blob: entry.id,
                    });
                }
            }
        }
        FoundState::Worktree => return Checkout::open(repo)?.files(),
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn is_file(mode: u32) -> bool {
    i32::try_from(mode).is_ok_and(trees::is_file)
}

/// Returns the files that differ between two states. A file that was not read equals no other.
fn merge_files(
    old: Vec<StateFile>,
    new: Vec<StateFile>,
) -> Vec<(Option<StateFile>, Option<StateFile>)> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut changes = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.path.cmp(&b.path),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        if before != after {
            changes.push((before, after));
        }
    }
}

/// Returns a file by its path; `None` if there is none. Does not follow links.
pub(super) fn find(
    repo: &Repo,
    side: FoundState,
    path: &str,
) -> Result<Option<StateFile>, Refusal> {
    let plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    if path.contains('\0') || path.is_empty() || !Path::new(path).components().all(plain) {
        return Ok(None);
    }
    let broken = |e: &git2::Error| refuse::broken(&refuse::quoted(path), e);
    let found = match side {
        FoundState::Tree(id) => trees::find(repo, id, path).map_err(|e| broken(&e))?,
        FoundState::Index => {
            let index = repo.index().map_err(|e| broken(&e))?;
            let entry = index.get_path(Path::new(path), 0);
            entry.map(|it| (it.id, i32::try_from(it.mode).unwrap_or_default()))
        }
        FoundState::Worktree => {
            let there = worktree::try_open_file(repo, path, Links::Refused)?;
            there.ok().map(|_| (Oid::ZERO_SHA1, 0o100_644))
        }
    };
    Ok(match found {
        Some((_, tree::LINK | tree::SUBMODULE | tree::FOLDER)) | None => None,
        Some((blob, _)) => Some(StateFile {
            path: path.to_owned(),
            blob,
        }),
    })
}

/// Returns the bytes of a file, and the id of their blob.
pub(super) fn read(
    repo: &Repo,
    side: FoundState,
    file: &StateFile,
) -> Result<(Oid, Vec<u8>), Refusal> {
    let name = refuse::quoted(&file.path);
    if side == FoundState::Worktree {
        return read_disk(repo, file);
    }
    let size = repo
        .size(file.blob)
        .map_err(|e| gone_or_broken(repo, &name, &e))?;
    if size as u64 > MAX_BYTES {
        return Err(too_large(&name, size as u64));
    }
    let bytes = repo.blob(file.blob, &file.path)?.content().to_vec();
    few_lines(&name, &bytes)?;
    Ok((file.blob, bytes))
}

fn read_disk(repo: &Repo, file: &StateFile) -> Result<(Oid, Vec<u8>), Refusal> {
    let name = refuse::quoted(&file.path);
    let unreadable = |e: &dyn std::fmt::Display| {
        refuse::unavailable(
            format!("cannot read {name}: {e}"),
            "Check its permissions; it may have been deleted just now.",
        )
    };
    let there = match worktree::try_open_file(repo, &file.path, Links::Refused)? {
        Ok(there) => there,
        Err(Miss::Failed(e)) => return Err(unreadable(&e)),
        Err(_) => return Err(unreadable(&"it is no longer a regular file")),
    };
    let size = there.len;
    let bytes = there
        .read(MAX_BYTES)
        .map_err(|e| unreadable(&e))?
        .ok_or_else(|| too_large(&name, size))?;
    let bytes = clean::cleaned(repo, &file.path, bytes)?;
    few_lines(&name, &bytes)?;
    let blob = Oid::hash_object(ObjectType::Blob, &bytes).map_err(|e| refuse::broken(&name, &e))?;
    Ok((blob, bytes))
}

/// Refuses a text with too many lines: the record of a line takes more memory than a short line
/// itself.
fn few_lines(name: &str, bytes: &[u8]) -> Result<(), Refusal> {
    let lines = if bytes.len() > MAX_LINES {
        memchr::memchr_iter(b'\n', bytes).count()
    } else {
        0
    };
    if lines > MAX_LINES {
        Err(refuse::invalid(
            format!("{name} has too many lines to follow: {lines}"),
            "Engram follows spans in files of up to 200,000 lines.",
        ))
    } else {
        Ok(())
    }
}

fn gone_or_broken(repo: &Repo, name: &str, e: &git2::Error) -> Refusal {
    if repo.is_there() {
        refuse::broken(name, e)
    } else {
        repo.gone().because(e)
    }
}

fn too_large(name: &str, size: u64) -> Refusal {
    refuse::invalid(
        format!("{name} is too large to follow: {} MB", size >> 20),
        "Engram follows spans in files of up to 16 MB.",
    )
}
