//! Reads files of the working tree: uncommitted evidence, which is read once and kept, and the
//! present state of files on disk.

pub(crate) mod checkout;
pub(crate) mod clean;
pub(crate) mod disk;
pub(crate) mod rules;
pub(crate) mod watch;

use std::path::{Path, PathBuf};

use engram_model::Refusal;
use git2::{ObjectType, Oid};

use crate::{Repo, Snapshot, git::tree, refuse, sha256_hex};

use disk::{Links, Miss, ReachedFile};
use rules::Ignored;

/// Larger files belong in a commit.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Reads `path` in the working tree; refuses a path that leaves it or that git ignores.
pub(crate) fn snapshot(repo: &Repo, path: &str) -> Result<Snapshot, Refusal> {
    let file = open_file(repo, path, Links::Followed)?;
    let mut ignored = Ignored::new(repo, root(repo)?)?;
    refuse_ignored(repo, &mut ignored, path, path)?;
    if file.within != Path::new(path) {
        // A name that is not valid text cannot occur in a pointer, nor in a link that a person
        // would make.
        let within = file
            .within
            .to_str()
            .ok_or_else(|| miss_refusal(path, Miss::Leaves))?;
        refuse_ignored(repo, &mut ignored, within, path)?;
    }
    snapshot_of(path, read_snapshot(file, path)?, repo.head().1)
}

/// Returns the snapshot of a file with these bytes.
pub(crate) fn snapshot_of(
    path: &str,
    bytes: Vec<u8>,
    base: Option<String>,
) -> Result<Snapshot, Refusal> {
    let blob = Oid::hash_object(ObjectType::Blob, &bytes)
        .map_err(|e| refuse::broken(&refuse::quoted(path), &e))?;
    Ok(Snapshot {
        digest_hex: sha256_hex(&bytes),
        bytes,
        path: path.to_owned(),
        base,
        blob: blob.to_string(),
    })
}

/// Returns the file as git would store it now; `None` if it does not exist. Stores nothing.
pub(crate) fn read_now(repo: &Repo, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let file = match try_open_file(repo, path, Links::Followed)? {
        Ok(file) => file,
        Err(Miss::NotThere | Miss::Folder | Miss::Special) => return Ok(None),
        Err(miss) => return Err(miss_refusal(path, miss)),
    };
    let bytes = read_snapshot(file, path)?;
    clean::cleaned(repo, path, bytes).map(Some)
}

/// Returns the absolute path of a file in the working tree, if it exists and stays inside.
pub(crate) fn open_path(repo: &Repo, path: &str) -> Option<PathBuf> {
    open_file(repo, path, Links::Followed).ok()?;
    Some(root(repo).ok()?.join(path))
}

/// Opens the file at a path of the working tree.
pub(crate) fn open_file(repo: &Repo, path: &str, links: Links) -> Result<ReachedFile, Refusal> {
    try_open_file(repo, path, links)?.map_err(|miss| miss_refusal(path, miss))
}

/// Like [`open_file`], but returns the reason if there is no file.
pub(crate) fn try_open_file(
    repo: &Repo,
    path: &str,
    links: Links,
) -> Result<Result<ReachedFile, Miss>, Refusal> {
    Ok(disk::open_below(&root(repo)?, Path::new(path), links))
}

/// Returns the root of the working tree, with every link on the way to it followed.
pub(crate) fn root(repo: &Repo) -> Result<PathBuf, Refusal> {
    let workdir = repo.workdir().ok_or_else(|| {
        refuse::invalid(
            "this repository is bare: it has no working tree",
            "Pin to a commit, for example @HEAD.",
        )
    })?;
    workdir.canonicalize().map_err(|e| repo.gone().because(&e))
}

fn miss_refusal(path: &str, miss: Miss) -> Refusal {
    let name = refuse::quoted(path);
    match miss {
        Miss::NotThere => refuse::not_found(
            format!("{name} does not exist in the working tree"),
            "Write the path from the repository root; pin committed files with @HEAD.",
        ),
        Miss::NoPath => refuse::invalid(
            format!("{name} is not a path inside the repository"),
            "Write the path relative to the repository's root, for example src/main.rs.",
        ),
        Miss::Leaves => refuse::invalid(
            format!("{name} is a link that leaves the working tree"),
            "Point at a file inside the repository.",
        ),
        Miss::Loop => refuse::invalid(
            format!("{name} is a looping symbolic link"),
            "Point at a regular file.",
        ),
        // A repository within this one keeps its own evidence.
        Miss::Nested => tree::submodule_refusal(path),
        Miss::Folder => refuse::invalid(format!("{name} is a folder"), "Point at a file."),
        Miss::Special => {
            refuse::invalid(format!("{name} is not a regular file"), "Point at a file.")
        }
        Miss::Failed(error) => unreadable(path, &error),
    }
}

fn refuse_ignored(
    repo: &Repo,
    ignored: &mut Ignored,
    path: &str,
    asked: &str,
) -> Result<(), Refusal> {
    if !ignored.has(path, false)? || is_tracked(repo, path)? {
        return Ok(());
    }
    Err(refuse::invalid(
        format!("{} is ignored by git", refuse::quoted(asked)),
        "Ignored files often contain secrets or build output: point at the source, or remove the file from .gitignore.",
    ))
}

fn is_tracked(repo: &Repo, path: &str) -> Result<bool, Refusal> {
    let index = repo.index().map_err(|e| refuse::broken("the index", &e))?;
    Ok(index.get_path(Path::new(path), 0).is_some())
}

fn read_snapshot(file: ReachedFile, asked: &str) -> Result<Vec<u8>, Refusal> {
    let len = file.len;
    let read = file.read(MAX_BYTES).map_err(|e| unreadable(asked, &e))?;
    read.ok_or_else(|| {
        refuse::invalid(
            format!(
                "{} is too large for a snapshot: {} MB",
                refuse::quoted(asked),
                len >> 20
            ),
            "Commit it and pin to @HEAD; Engram snapshots files of up to 16 MB.",
        )
    })
}

fn unreadable(asked: &str, error: &std::io::Error) -> Refusal {
    refuse::unavailable(
        format!("cannot read {}: {error}", refuse::quoted(asked)),
        "Check its permissions, or pin to a commit with @HEAD.",
    )
}
