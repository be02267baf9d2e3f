//! Reads the files that are checked out, using the index. A file that has not changed since git
//! last saw it is not read.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, Metadata},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use engram_model::Refusal;
use git2::{Index, IndexEntry, ObjectType, Oid};

use crate::{Repo, git::trees::TreeEntry, refuse, worktree};

use super::{
    clean,
    disk::{self, Links, Miss},
    rules::Ignored,
};

/// The most folder entries that are examined.
const MAX_ENTRIES: usize = 1_000_000;
/// The most bytes that are read to find out whether files changed since git last saw them; beyond
/// that, they count as changed.
const MAX_READ: u64 = 256 << 20;

/// The working tree of a repository.
pub(crate) struct Checkout<'r> {
    repo: &'r Repo,
    root: PathBuf,
    index: Index,
    /// When the index was written. A file modified at that time or later may have changed
    /// unnoticed.
    written: SystemTime,
    /// Whether a path is a real folder, not a link to one.
    folders: HashMap<PathBuf, bool>,
}

impl<'r> Checkout<'r> {
    pub(crate) fn open(repo: &'r Repo) -> Result<Self, Refusal> {
        let index = repo.index().map_err(|e| refuse::broken("the index", &e))?;
        let file = index.path().and_then(|it| it.metadata().ok());
        Ok(Self {
            repo,
            root: worktree::root(repo)?,
            index,
            written: file.and_then(|it| it.modified().ok()).unwrap_or(UNIX_EPOCH),
            folders: HashMap::new(),
        })
    }

    /// Returns the blob of the file at this path; `None` if there is no regular file.
    ///
    /// # Errors
    ///
    /// The file is too large or cannot be read.
    pub(crate) fn blob(&mut self, path: &str, most: u64) -> Result<Option<Oid>, Refusal> {
        let known = self.index.get_path(Path::new(path), 0);
        if let Some(entry) = known
            && let Some(metadata) = self.metadata_of(path)
            && self.is_as_seen(&entry, &metadata)
        {
            return Ok(Some(entry.id));
        }
        self.read(path, most)
    }

    fn read(&self, path: &str, most: u64) -> Result<Option<Oid>, Refusal> {
        let file = match disk::open_below(&self.root, Path::new(path), Links::Refused) {
            Ok(file) => file,
            Err(Miss::Failed(e)) => return Err(unreadable(path, &e)),
            Err(_) => return Ok(None),
        };
        let bytes = file.read(most).map_err(|e| unreadable(path, &e))?;
        let bytes = bytes.ok_or_else(|| {
            let why = std::io::Error::from(std::io::ErrorKind::FileTooLarge);
            unreadable(path, &why)
        })?;
        let bytes = clean::cleaned(self.repo, path, bytes)?;
        let blob = Oid::hash_object(ObjectType::Blob, &bytes);
        blob.map(Some)
            .map_err(|e| refuse::broken(&refuse::quoted(path), &e))
    }

    /// Returns every file that git tracks or would track, with its blob; a zero id if the blob is
    /// unknown without reading the file.
    pub(crate) fn files(&mut self) -> Result<Vec<TreeEntry>, Refusal> {
        let stop = self.repo.stop();
        let mut left = MAX_READ;
        let mut files = Vec::new();
        let mut tracked = HashSet::new();
        for at in 0..self.index.len() {
            if at % 256 == 0 {
                stop.check()?;
            }
            let Some(entry) = self.index.get(at).filter(is_file) else {
                continue;
            };
            let Ok(path) = String::from_utf8(entry.path.clone()) else {
                continue;
            };
            let there = self.metadata_of(&path).filter(Metadata::is_file);
            if let Some(metadata) = there {
                let blob = if self.is_as_seen(&entry, &metadata) {
                    entry.id
                } else {
                    self.read_on(&path, metadata.len(), &mut left)
                };
                let path = path.clone();
                files.push(TreeEntry { path, blob });
            }
            tracked.insert(path);
        }
        self.untracked(&tracked, &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Returns the blob of a changed file, as long as there are bytes left to read.
    fn read_on(&self, path: &str, len: u64, left: &mut u64) -> Oid {
        match left.checked_sub(len) {
            Some(rest) => {
                *left = rest;
                let blob = self.read(path, len).ok().flatten();
                blob.unwrap_or(Oid::ZERO_SHA1)
            }
            None => Oid::ZERO_SHA1,
        }
    }

    /// Returns the metadata of a file by its path, if no link is on the way to it.
    fn metadata_of(&mut self, path: &str) -> Option<Metadata> {
        let at = self.root.join(path);
        let mut around = at.parent()?;
        while around != self.root {
            let is_one = |it: &Path| it.symlink_metadata().is_ok_and(|it| it.is_dir());
            let known = self.folders.entry(around.to_owned());
            if !*known.or_insert_with_key(|it| is_one(it)) {
                return None;
            }
            around = around.parent()?;
        }
        at.symlink_metadata().ok()
    }

    /// Returns the files that git neither tracks nor ignores.
    fn untracked(
        &self,
        tracked: &HashSet<String>,
        files: &mut Vec<TreeEntry>,
    ) -> Result<(), Refusal> {
        let stop = self.repo.stop();
        let mut ignored = Ignored::new(self.repo, self.root.clone())?;
        let mut ahead = vec![String::new()];
        let mut seen = 0;
        while let Some(folder) = ahead.pop() {
            stop.check()?;
            for entry in fs::read_dir(self.root.join(&folder))
                .into_iter()
                .flatten()
                .flatten()
            {
                seen += 1;
                if seen > MAX_ENTRIES {
                    return Err(too_many());
                }
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type())
                else {
                    continue;
                };
                let path = format!("{folder}{name}");
                if disk::is_gits(name.as_ref()) || tracked.contains(&path) {
                    continue;
                }
                if kind.is_dir() {
                    let is_nested = entry.path().join(".git").symlink_metadata().is_ok();
                    if !is_nested && !ignored.has_itself(&path, true)? {
                        ahead.push(path + "/");
                    }
                } else if kind.is_file() && !ignored.has_itself(&path, false)? {
                    let blob = Oid::ZERO_SHA1;
                    files.push(TreeEntry { path, blob });
                }
            }
        }
        Ok(())
    }

    /// Returns whether a file is unchanged since git wrote the index.
    fn is_as_seen(&self, entry: &IndexEntry, file: &Metadata) -> bool {
        let written = file.modified().is_ok_and(|modified| {
            let seconds = u64::try_from(entry.mtime.seconds()).unwrap_or_default();
            let nanos = entry.mtime.nanoseconds();
            let then = UNIX_EPOCH + Duration::new(seconds, nanos.min(999_999_999));
            // An index without nanoseconds cannot tell changes within one second.
            nanos > 0 && modified == then && modified < self.written
        });
        written && is_file(entry) && entry.file_size == file.len() as u32 && is_same(entry, file)
    }
}

#[cfg(unix)]
fn is_same(entry: &IndexEntry, file: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    entry.ino == file.ino() as u32 && i64::from(entry.ctime.seconds()) == file.ctime()
}

#[cfg(not(unix))]
fn is_same(_: &IndexEntry, _: &Metadata) -> bool {
    true
}

fn is_file(entry: &IndexEntry) -> bool {
    entry.mode & 0o170_000 == 0o100_000
}

fn too_many() -> Refusal {
    refuse::unavailable(
        "the working tree has too many files to scan",
        "Add generated files to .gitignore, or pin to a commit, for example @HEAD.",
    )
}

fn unreadable(path: &str, error: &std::io::Error) -> Refusal {
    refuse::unavailable(
        format!("cannot read {}: {error}", refuse::quoted(path)),
        "Check its permissions; it may have been deleted just now.",
    )
}
