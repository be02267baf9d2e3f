//! Uncommitted evidence: a file of the working tree, read once and kept.

use std::{
    fs,
    io::{ErrorKind, Read},
    path::{Component, Path, PathBuf},
};

use engram_model::Refusal;
use git2::{ObjectType, Oid};

use crate::{Repo, Snapshot, clean, refuse, sha256_hex, tree};

/// Larger files belong in a commit.
const MAX_BYTES: u64 = 16 << 20;

/// Reads `path` in the working tree; refuses what leaves it and what git ignores.
pub(crate) fn snapshot(repo: &Repo, path: &str) -> Result<Snapshot, Refusal> {
    let root = root(repo)?;
    let real = inside(&root, path)?;
    let within = real.strip_prefix(&root).unwrap_or(&real);
    refuse_nested(&root, within, path)?;
    refuse_ignored(repo, Path::new(path), path)?;
    if within != Path::new(path) {
        refuse_ignored(repo, within, path)?;
    }
    let bytes = read(&real, path)?;
    let blob = Oid::hash_object(ObjectType::Blob, &bytes)
        .map_err(|e| refuse::broken(&refuse::quoted(path), &e))?;
    Ok(Snapshot {
        digest_hex: sha256_hex(&bytes),
        bytes,
        path: path.to_owned(),
        base: repo.head().1,
        blob: blob.to_string(),
    })
}

/// The file as git would store it now; none where it is not there. Nothing of it is kept.
pub(crate) fn read_now(repo: &Repo, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let root = root(repo)?;
    let real = match inside(&root, path) {
        Ok(real) if real.is_file() => real,
        Ok(_) => return Ok(None),
        Err(refusal) if refusal.code == engram_model::Code::PointerNotFound => return Ok(None),
        Err(refusal) => return Err(refusal),
    };
    let bytes = read(&real, path)?;
    clean::cleaned(repo, path, bytes).map(Some)
}

/// The absolute path of a file in the working tree, if it is there and stays inside.
pub(crate) fn open_path(repo: &Repo, path: &str) -> Option<PathBuf> {
    let root = root(repo).ok()?;
    let real = inside(&root, path).ok()?;
    real.is_file().then(|| root.join(path))
}

fn root(repo: &Repo) -> Result<PathBuf, Refusal> {
    let workdir = repo.workdir().ok_or_else(|| {
        refuse::invalid(
            "this repository is bare: it has no working tree",
            "Pin to a commit, for example @HEAD.",
        )
    })?;
    workdir.canonicalize().map_err(|e| repo.gone().because(&e))
}

/// The real path, with every link followed, inside `root`.
fn inside(root: &Path, path: &str) -> Result<PathBuf, Refusal> {
    let plain = |c: Component<'_>| match c {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    };
    let relative = Path::new(path);
    if path.contains('\0') || path.is_empty() || !relative.components().all(plain) {
        return Err(refuse::invalid(
            format!(
                "{} is not a path within the repository",
                refuse::quoted(path)
            ),
            "Write the path relative to the repository's root, for example src/main.rs.",
        ));
    }
    let real = root.join(relative).canonicalize().map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => refuse::not_found(
            format!("{} does not exist in the working tree", refuse::quoted(path)),
            "Write the path from the root of the repository; a file of a commit is pinned with @HEAD.",
        ),
        _ => unreadable(path, &e),
    })?;
    match real.strip_prefix(root) {
        Ok(within) if within.components().all(plain) => Ok(real),
        _ => Err(refuse::invalid(
            format!(
                "{} is a link that leaves the working tree",
                refuse::quoted(path)
            ),
            "Point at a file inside the repository.",
        )),
    }
}

/// A repository within this one keeps its own evidence.
fn refuse_nested(root: &Path, within: &Path, asked: &str) -> Result<(), Refusal> {
    let folders = within.ancestors().skip(1);
    let nested = folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .any(|folder| root.join(folder).join(".git").exists());
    match nested {
        true => Err(tree::submodule(asked)),
        false => Ok(()),
    }
}

fn refuse_ignored(repo: &Repo, path: &Path, asked: &str) -> Result<(), Refusal> {
    let ignored = repo
        .git
        .is_path_ignored(path)
        .map_err(|e| refuse::broken(".gitignore", &e))?;
    if !ignored || is_tracked(repo, path)? {
        return Ok(());
    }
    Err(refuse::invalid(
        format!("{} is ignored by git", refuse::quoted(asked)),
        "Ignored files often hold secrets or output: point at the source, or take the file out of .gitignore.",
    ))
}

fn is_tracked(repo: &Repo, path: &Path) -> Result<bool, Refusal> {
    let mut index = repo
        .git
        .index()
        .map_err(|e| refuse::broken("the index", &e))?;
    index
        .read(false)
        .map_err(|e| refuse::broken("the index", &e))?;
    Ok(index.get_path(path, 0).is_some())
}

fn read(real: &Path, asked: &str) -> Result<Vec<u8>, Refusal> {
    // Before it is opened: opening a pipe would wait for its writer.
    let metadata = fs::metadata(real).map_err(|e| unreadable(asked, &e))?;
    if metadata.is_dir() {
        return Err(refuse::invalid(
            format!("{} is a folder", refuse::quoted(asked)),
            "Point at a file.",
        ));
    }
    if !metadata.is_file() {
        return Err(refuse::invalid(
            format!("{} is not a regular file", refuse::quoted(asked)),
            "Point at a file.",
        ));
    }
    let mut bytes = Vec::new();
    if metadata.len() <= MAX_BYTES {
        fs::File::open(real)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|e| unreadable(asked, &e))?;
    }
    if metadata.len().max(bytes.len() as u64) > MAX_BYTES {
        return Err(refuse::invalid(
            format!(
                "{} is larger than a snapshot may be: {} MB",
                refuse::quoted(asked),
                metadata.len() >> 20
            ),
            "Commit it and pin to @HEAD; files of up to 16 MB are snapshotted.",
        ));
    }
    Ok(bytes)
}

fn unreadable(asked: &str, error: &std::io::Error) -> Refusal {
    refuse::unavailable(
        format!("{} cannot be read: {error}", refuse::quoted(asked)),
        "Check its permissions, or pin to a commit with @HEAD.",
    )
}
