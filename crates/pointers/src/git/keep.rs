//! Keeps the commits to which claims are pinned, by refs. Only this module writes to a repository.

use std::{
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use engram_model::{Pin, Pointer, Refusal, Target};
use git2::{ErrorClass, ErrorCode, Oid};

use crate::{Repo, Snapshot, refuse, worktree};

use super::tree::{self, FOLDER};

/// The folder of the refs.
const KEPT: [&str; 3] = ["refs", "engram", "keep"];
/// Larger folders are not rebuilt in memory, which happens once for each kept file.
const MAX_FOLDER: usize = 4 << 20;

impl Repo {
    /// Keeps a commit from being collected once no branch reaches it. This is all that is written
    /// to a repository. libgit2 is not used: it follows links and, if the settings of the
    /// repository say so, writes a log, which can be a link too.
    pub fn keep_commit(&self, commit: &str) -> Result<(), Refusal> {
        let id = Oid::from_str(commit).map_err(|e| self.rev_refused(commit, &e))?;
        if self.keeps_commit(commit) {
            return Ok(());
        }
        self.check_on_disk(commit, id)?;
        self.git
            .odb()
            .and_then(|it| it.read_header(id))
            .map_err(|e| self.rev_refused(commit, &e))?;
        write_ref(self.common_dir(), &id.to_string()).map_err(|e| {
            refuse::unavailable(
                format!("cannot write refs/engram/keep/{id}: {e}"),
                "Make the git folder writable, and replace links in its refs by folders.",
            )
        })
    }

    /// Returns whether a ref, packed or not, keeps the commit with this full id. A ref of that name
    /// that leads to another commit does not count.
    pub fn keeps_commit(&self, commit: &str) -> bool {
        let found = self.find_ref(&format!("refs/engram/keep/{commit}"));
        found.is_ok_and(|it| it.target().is_some_and(|id| id.to_string() == commit))
    }

    /// Makes a commit with one file as given and all others as in `base`. It exists in memory only,
    /// until this handle is dropped.
    pub(crate) fn commit_in_memory(
        &self,
        base: Option<&str>,
        path: &str,
        bytes: &[u8],
    ) -> Result<String, Refusal> {
        let parent = base.map(|it| self.commit(it)).transpose()?;
        self.make_commit(parent, path, bytes)
            .map(|id| id.to_string())
            .map_err(|e| refuse::broken(&refuse::quoted(path), &e))
    }

    fn make_commit(
        &self,
        parent: Option<git2::Commit<'_>>,
        path: &str,
        bytes: &[u8],
    ) -> Result<Oid, git2::Error> {
        // Comes before every store on disk, so that it receives all writes.
        const FIRST: i32 = 1000;
        if !self.writes_to_memory.replace(true) {
            self.git.odb()?.add_new_mempack_backend(FIRST)?;
        }
        let tree = match &parent {
            Some(parent) => self.base_of(parent.tree_id(), path)?,
            None => self.git.find_tree(self.git.treebuilder(None)?.write()?)?,
        };
        let blob = self.git.blob(bytes)?;
        let tree = git2::build::TreeUpdateBuilder::new()
            .upsert(path, blob, git2::FileMode::Blob)
            .create_updated(&self.git, &tree)?;
        let nobody = git2::Signature::new("engram", "engram", &git2::Time::new(0, 0))?;
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        let tree = self.git.find_tree(tree)?;
        let id = self
            .git
            .commit(None, &nobody, &nobody, "kept", &tree, &parents)?;
        self.made.borrow_mut().insert(id);
        Ok(id)
    }

    /// The tree whose file is to be replaced.
    fn base_of(&self, root: Oid, path: &str) -> Result<git2::Tree<'_>, git2::Error> {
        let mut at = root;
        for name in path.split('/') {
            if self.size(at)? > MAX_FOLDER {
                return Err(git2::Error::new(
                    ErrorCode::GenericError,
                    ErrorClass::Tree,
                    "its folder holds too many files",
                ));
            }
            let entry = self
                .tree(at)?
                .get_name(name)
                .map(|it| (it.id(), it.filemode()));
            match entry {
                Some((id, FOLDER)) => at = id,
                _ => break,
            }
        }
        self.tree(root)
    }
}

/// Returns the same pointer, pinned to a copy of its file, if its commit cannot be kept; the caller
/// stores the copy. `None` for a comparison, which has no single file, and for a file that is too
/// large to copy.
pub fn pinned_to_copy(
    repo: &Repo,
    pointer: &Pointer,
) -> Result<Option<(Pointer, Snapshot)>, Refusal> {
    let mut pointer = pointer.clone();
    let (Target::Repo { path, pin, .. }
    | Target::Test { path, pin, .. }
    | Target::Artifact {
        name: path, pin, ..
    }) = &mut pointer.target
    else {
        return Ok(None);
    };
    let Pin::Rev(rev) = &pin else {
        return Ok(None);
    };
    let commit = repo.commit(rev)?;
    let blob = tree::blob(repo, &commit, path)?;
    if blob.size() as u64 > worktree::MAX_BYTES {
        return Ok(None);
    }
    let base = Some(commit.id().to_string());
    let snapshot = worktree::snapshot_of(path, blob.content().to_vec(), base)?;
    *pin = Pin::Digest(snapshot.digest_hex.clone());
    Ok(Some((pointer, snapshot)))
}

/// The name of a temporary file, which is then renamed to the ref. It is not git's lock: this ref
/// only ever has one value, so writers need not wait for each other, and a file left by a killed
/// process must not block the next writer. Git ignores names with this ending.
fn temporary_name(id: &str) -> String {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let nth = WRITTEN.fetch_add(1, Ordering::Relaxed);
    format!("{id}.{}-{nth}.lock", std::process::id())
}

/// Writes a ref, first to a temporary file on disk, so that a crash leaves all of it or nothing.
/// Makes missing folders and refuses those that are links; replaces a link of the ref's own name.
#[cfg(unix)]
fn write_ref(git_dir: &Path, id: &str) -> io::Result<()> {
    use rustix::{
        fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, unlinkat},
        io::Errno,
    };
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut at = open(git_dir, folder, Mode::empty())?;
    for name in KEPT {
        match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
        at = openat(&at, name, folder | OFlags::NOFOLLOW, Mode::empty())?;
    }
    let name = temporary_name(id);
    // An earlier process with the same id may have left it.
    let _ = unlinkat(&at, &name, AtFlags::empty());
    let file = openat(
        &at,
        &name,
        new | OFlags::NOFOLLOW,
        Mode::from_raw_mode(0o666),
    )?;
    let mut file = std::fs::File::from(file);
    let written = writeln!(file, "{id}")
        .and_then(|()| file.sync_all())
        .and_then(|()| Ok(renameat(&at, &name, &at, id)?));
    if written.is_err() {
        let _ = unlinkat(&at, &name, AtFlags::empty());
    }
    written
}

/// Does the same without folder handles, by checking each name before entering it.
#[cfg(not(unix))]
fn write_ref(git_dir: &Path, id: &str) -> io::Result<()> {
    use std::{fs, io::ErrorKind};
    let mut at = git_dir.to_owned();
    for name in KEPT {
        at.push(name);
        match fs::create_dir(&at) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(e),
            _ if at.symlink_metadata()?.is_dir() => {}
            _ => return Err(ErrorKind::NotADirectory.into()),
        }
    }
    let new = at.join(temporary_name(id));
    // An earlier process with the same id may have left it.
    let _ = fs::remove_file(&new);
    let mut file = fs::File::create_new(&new)?;
    let written = writeln!(file, "{id}").and_then(|()| file.sync_all());
    drop(file);
    let written = written.and_then(|()| fs::rename(&new, at.join(id)));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
