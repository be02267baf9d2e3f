//! The states of a repository between which spans are tracked, and what changed from one to another.

use std::{
    fs,
    path::{Component, Path},
};

use engram_model::Refusal;
use git2::{Delta, Diff, DiffFindOptions, DiffOptions, ErrorCode, ObjectType, Oid};

use crate::{Repo, clean, refuse, tree};

/// Files beyond this size are compared by their ids only.
const MAX_BYTES: u64 = 32 << 20;
/// Renames among more files than this are looked for by equal content only.
const RENAME_LIMIT: usize = 1000;

/// A state of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Any git revision.
    Commit(String),
    /// What is staged.
    Index,
    /// The files on disk.
    Worktree,
}

/// A side that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Snapshot {
    /// The tree of a commit.
    Tree(Oid),
    Index,
    Worktree,
}

/// One file of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    /// Zero where it is on disk and was not read yet.
    pub(super) blob: Oid,
}

/// One file that is not the same on both sides. A file that is only on one has no other.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) old: Option<File>,
    pub(super) new: Option<File>,
}

impl Side {
    /// The state, and the commit that it stands on.
    pub(super) fn find(&self, repo: &Repo) -> Result<(Snapshot, Option<Oid>), Refusal> {
        match self {
            Self::Commit(rev) => {
                let commit = repo.commit(rev)?;
                let tree = commit.tree_id();
                Ok((Snapshot::Tree(tree), Some(commit.id())))
            }
            Self::Index | Self::Worktree => {
                if repo.workdir().is_none() {
                    return Err(refuse::invalid(
                        "this repository is bare: it has neither index nor working tree",
                        "Name two commits.",
                    ));
                }
                let head = repo.git.head().ok().and_then(|it| it.peel_to_commit().ok());
                let snapshot = match self {
                    Self::Index => Snapshot::Index,
                    _ => Snapshot::Worktree,
                };
                Ok((snapshot, head.map(|it| it.id())))
            }
        }
    }
}

/// What differs between two sides. Renames are looked for where `wanted` names a file that is gone.
pub(super) fn changes(
    repo: &Repo,
    old: Snapshot,
    new: Snapshot,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Change>, git2::Error> {
    if old == new {
        return Ok(Vec::new());
    }
    let mut diff = compare(repo, old, new)?;
    let gone = diff.deltas().any(|it| {
        it.status() == Delta::Deleted
            && it
                .old_file()
                .path_bytes()
                .is_some_and(|path| std::str::from_utf8(path).is_ok_and(wanted))
    });
    if gone {
        let mut find = DiffFindOptions::new();
        find.renames(true).rename_limit(RENAME_LIMIT);
        diff.find_similar(Some(&mut find))?;
    }
    Ok(diff.deltas().map(|it| of_delta(&it)).collect())
}

fn compare<'r>(repo: &'r Repo, old: Snapshot, new: Snapshot) -> Result<Diff<'r>, git2::Error> {
    let git = &repo.git;
    let mut options = DiffOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true);
    let tree = |id| git.find_tree(id);
    match (old, new) {
        (Snapshot::Tree(a), Snapshot::Tree(b)) => {
            git.diff_tree_to_tree(Some(&tree(a)?), Some(&tree(b)?), Some(&mut options))
        }
        (Snapshot::Tree(a), Snapshot::Index) => {
            git.diff_tree_to_index(Some(&tree(a)?), None, Some(&mut options))
        }
        (Snapshot::Tree(a), Snapshot::Worktree) => {
            git.diff_tree_to_workdir_with_index(Some(&tree(a)?), Some(&mut options))
        }
        (Snapshot::Index, Snapshot::Tree(b)) => {
            git.diff_tree_to_index(Some(&tree(b)?), None, Some(options.reverse(true)))
        }
        (Snapshot::Worktree, Snapshot::Tree(b)) => {
            git.diff_tree_to_workdir_with_index(Some(&tree(b)?), Some(options.reverse(true)))
        }
        (Snapshot::Index, _) => git.diff_index_to_workdir(None, Some(&mut options)),
        (Snapshot::Worktree, _) => git.diff_index_to_workdir(None, Some(options.reverse(true))),
    }
}

fn of_delta(delta: &git2::DiffDelta<'_>) -> Change {
    let file = |it: git2::DiffFile<'_>| {
        let regular = matches!(
            it.mode(),
            git2::FileMode::Blob
                | git2::FileMode::BlobExecutable
                | git2::FileMode::BlobGroupWritable
        );
        let path = it.path_bytes().and_then(|it| std::str::from_utf8(it).ok());
        path.filter(|_| regular).map(|path| File {
            path: path.to_owned(),
            blob: it.id(),
        })
    };
    let (old, new) = (file(delta.old_file()), file(delta.new_file()));
    match delta.status() {
        Delta::Added | Delta::Untracked | Delta::Copied => Change { old: None, new },
        Delta::Deleted => Change { old, new: None },
        _ => Change { old, new },
    }
}

/// A file by its path; `None` where there is none. Links are not followed.
pub(super) fn find(repo: &Repo, side: Snapshot, path: &str) -> Result<Option<File>, Refusal> {
    let plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    if path.contains('\0') || path.is_empty() || !Path::new(path).components().all(plain) {
        return Ok(None);
    }
    let broken = |e: &git2::Error| refuse::broken(&refuse::quoted(path), e);
    let found = match side {
        Snapshot::Tree(id) => {
            let tree = repo.git.find_tree(id).map_err(|e| broken(&e))?;
            match tree.get_path(Path::new(path)) {
                Ok(entry) => Some((entry.id(), entry.filemode())),
                Err(e) if e.code() == ErrorCode::NotFound => None,
                Err(e) => return Err(broken(&e)),
            }
        }
        Snapshot::Index => {
            let index = repo.git.index().map_err(|e| broken(&e))?;
            let entry = index.get_path(Path::new(path), 0);
            entry.map(|it| (it.id, i32::try_from(it.mode).unwrap_or_default()))
        }
        Snapshot::Worktree => {
            let at = repo.workdir().map(|root| root.join(path));
            let known = at.and_then(|it| fs::symlink_metadata(it).ok());
            known.map(|it| match it.is_file() {
                true => (Oid::ZERO_SHA1, 0o100_644),
                false => (Oid::ZERO_SHA1, tree::LINK),
            })
        }
    };
    Ok(match found {
        Some((_, tree::LINK | tree::SUBMODULE | tree::FOLDER)) | None => None,
        Some((blob, _)) => Some(File {
            path: path.to_owned(),
            blob,
        }),
    })
}

/// The bytes of a file, with the id of the blob that they are.
pub(super) fn read(repo: &Repo, side: Snapshot, file: &File) -> Result<(Oid, Vec<u8>), Refusal> {
    let name = refuse::quoted(&file.path);
    if side == Snapshot::Worktree {
        return read_disk(repo, file);
    }
    let odb = repo.git.odb().map_err(|e| refuse::broken(&name, &e))?;
    let size = odb
        .read_header(file.blob)
        .map_err(|e| gone_or_broken(repo, &name, &e))?
        .0;
    if size as u64 > MAX_BYTES {
        return Err(too_large(&name, size as u64));
    }
    let blob = repo
        .git
        .find_blob(file.blob)
        .map_err(|e| gone_or_broken(repo, &name, &e))?;
    Ok((file.blob, blob.content().to_vec()))
}

fn read_disk(repo: &Repo, file: &File) -> Result<(Oid, Vec<u8>), Refusal> {
    let name = refuse::quoted(&file.path);
    let unreadable = |e: std::io::Error| {
        refuse::unavailable(
            format!("{name} cannot be read: {e}"),
            "Check its permissions; it may have been deleted just now.",
        )
    };
    let root = repo.workdir().ok_or_else(|| repo.gone())?;
    let at = root.join(&file.path);
    let size = fs::symlink_metadata(&at).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(too_large(&name, size));
    }
    let bytes = clean::cleaned(repo, &file.path, fs::read(&at).map_err(unreadable)?)?;
    let blob = Oid::hash_object(ObjectType::Blob, &bytes).map_err(|e| refuse::broken(&name, &e))?;
    Ok((blob, bytes))
}

fn gone_or_broken(repo: &Repo, name: &str, e: &git2::Error) -> Refusal {
    match repo.is_there() {
        true => refuse::broken(name, e),
        false => repo.gone().because(e),
    }
}

fn too_large(name: &str, size: u64) -> Refusal {
    refuse::invalid(
        format!("{name} is too large to follow lines in: {} MB", size >> 20),
        "Spans are followed in files of up to 32 MB.",
    )
}
