//! An opened repository, however it is laid out.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    path::{Path, PathBuf},
    time::SystemTime,
};

use engram_model::Refusal;
use git2::{ErrorClass, ErrorCode, Oid, Repository, RepositoryOpenFlags};

use crate::{Stop, refuse, worktree::disk};

use super::{ahead, libgit2};

/// Engram's own file has one line.
const MAX_OWN: u64 = 64 << 10;

/// An opened repository: a working tree (linked worktrees and submodules too), a bare repository
/// or a `.git` folder.
pub struct Repo {
    pub(crate) git: Repository,
    common_dir: PathBuf,
    /// Whether this handle makes objects in memory (`keep`), and the commits among them.
    pub(crate) writes_to_memory: Cell<bool>,
    pub(crate) made: RefCell<HashSet<Oid>>,
    /// The files that git reads only when a repository is opened, with their state at that time.
    read_once: Vec<(PathBuf, Option<Stamp>)>,
    /// The file of Engram that was read last.
    own_file: RefCell<Option<(PathBuf, Stamp, String)>>,
    /// The path that was opened, as the caller gave it.
    pub(crate) named: PathBuf,
    /// The folders of objects, and the ids checked there: each is a regular file or missing.
    pub(crate) stores: Vec<PathBuf>,
    pub(crate) regular: RefCell<HashSet<Oid>>,
    stop: RefCell<Stop>,
}

/// Metadata that changes when a file is replaced or written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    /// Device, inode and owner: git refuses to open what another user owns.
    #[cfg(unix)]
    file: (u64, u64, u32),
    modified: Option<SystemTime>,
    len: u64,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo")
            .field("common_dir", &self.common_dir)
            .field("workdir", &self.git.workdir())
            .finish()
    }
}

impl Repo {
    /// Returns the repository around a folder or file, or `None` if there is none.
    pub fn discover(from: &Path) -> Result<Option<Self>, Refusal> {
        let from = if from.is_file() {
            from.parent().unwrap_or(from)
        } else {
            from
        };
        ahead::refuse_blocking(from, true)?;
        match open(from, RepositoryOpenFlags::empty()) {
            Ok(repo) => Ok(Some(repo)),
            Err(e) if e.code() == ErrorCode::NotFound => match broken_link(from) {
                Some(at) => Err(open_refusal(&at, &e)),
                None => Ok(None),
            },
            Err(e) => Err(open_refusal(from, &e)),
        }
    }

    /// Opens the repository at exactly this path.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        ahead::refuse_blocking(path, false)?;
        let error = match open(path, RepositoryOpenFlags::NO_SEARCH) {
            Ok(repo) => return Ok(repo),
            Err(error) => error,
        };
        if !path.exists() {
            return Err(refuse::unavailable(
                format!("{} does not exist", path.display()),
                "Check the path; if the repository was moved, give its new path.",
            ));
        }
        if error.code() != ErrorCode::NotFound || claims_a_repository(path) {
            return Err(open_refusal(path, &error));
        }
        let hint = match Self::discover(path) {
            Ok(Some(around)) => format!(
                "It is inside the repository {}: pass that one.",
                around.workdir().unwrap_or(around.common_dir()).display()
            ),
            _ => "Pass a working tree, a bare repository or a .git folder; git init creates one."
                .to_owned(),
        };
        Err(refuse::unavailable(
            format!("{} is not a git repository", path.display()),
            hint,
        ))
    }

    /// Returns whether another request may use this handle: it made nothing in memory, and the
    /// files that git reads only on opening (place, settings, grafts, alternates) are unchanged.
    /// Files that the settings include are not checked. References and objects are read from disk
    /// each time.
    pub fn is_as_opened(&self) -> bool {
        !self.writes_to_memory.get()
            && self
                .read_once
                .iter()
                .all(|(path, then)| stamp(path) == *then)
    }

    /// Returns the folder that all worktrees of this repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the content of a small file of Engram in that folder, or `None` if it does not
    /// exist. Reads it again only after it was written.
    pub fn own_file(&self, name: &str) -> Option<String> {
        let path = self.common_dir.join(name);
        let now = stamp(&path)?;
        let mut kept = self.own_file.borrow_mut();
        if let Some((of, then, text)) = &*kept
            && *of == path
            && *then == now
        {
            return Some(text.clone());
        }
        let text = String::from_utf8(disk::read_small(&path, MAX_OWN).ok()?).ok()?;
        *kept = Some((path, now, text.clone()));
        Some(text)
    }

    /// Returns the root of the working tree; `None` for a bare repository.
    pub fn workdir(&self) -> Option<&Path> {
        self.git.workdir()
    }

    /// Returns the name of a linked worktree; empty for the main one.
    pub fn worktree(&self) -> String {
        if self.git.is_worktree() {
            file_name(self.git.path()).unwrap_or_default()
        } else {
            String::new()
        }
    }

    /// Returns the folder name that a person would use: `foo` for `/x/foo`, `/x/foo.git`,
    /// `/x/foo/.git` and every worktree linked to them.
    pub fn name(&self) -> String {
        let own = self.workdir().filter(|_| !self.git.is_worktree());
        let folder = own.unwrap_or(&self.common_dir);
        let folder = match file_name(folder) {
            Some(name) if name.starts_with('.') => folder.parent().unwrap_or(folder),
            _ => folder,
        };
        let name = file_name(folder).unwrap_or_else(|| "repository".to_owned());
        match name.strip_suffix(".git") {
            Some(short) if !short.is_empty() => short.to_owned(),
            _ => name,
        }
    }

    /// Returns whether git is changing the checkout: it holds the lock of its index.
    pub fn is_busy(&self) -> bool {
        self.git.path().join("index.lock").exists()
    }

    /// Returns whether the git folder still exists.
    pub(crate) fn is_there(&self) -> bool {
        self.common_dir.join("HEAD").exists() && self.common_dir.join("objects").exists()
    }

    /// Returns whether the repository has the commit with this full id.
    pub fn has_commit(&self, id: &str) -> bool {
        let id = git2::Oid::from_str(id);
        id.is_ok_and(|id| self.git.odb().is_ok_and(|it| it.exists(id)))
    }

    pub(crate) fn gone(&self) -> Refusal {
        refuse::unavailable(
            format!(
                "the repository at {} was moved or deleted",
                self.common_dir.display()
            ),
            "Restore it, or give its new path.",
        )
    }

    /// Returns the git folder, and the one that all worktrees share if it differs.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        let common = Some(self.common_dir()).filter(|it| *it != self.git.path());
        std::iter::once(self.git.path()).chain(common)
    }

    /// Returns the current index.
    pub(crate) fn index(&self) -> Result<git2::Index, git2::Error> {
        if disk::is_special(&self.git.path().join("index")) {
            let why = "it is not a regular file";
            return Err(git2::Error::new(
                ErrorCode::GenericError,
                ErrorClass::Index,
                why,
            ));
        }
        libgit2::table(|| {
            let mut index = self.git.index()?;
            index.read(false)?;
            Ok(index)
        })
    }

    /// Ends all further work once `stop` says so. A handle that is reused needs a new `stop`.
    pub fn until(&self, stop: Stop) {
        self.stop.replace(stop);
    }

    pub(crate) fn stop(&self) -> Stop {
        self.stop.borrow().clone()
    }
}

fn open(path: &Path, flags: RepositoryOpenFlags) -> Result<Repo, git2::Error> {
    libgit2::set_up();
    let no_ceiling: [&Path; 0] = [];
    let git = libgit2::table(|| Repository::open_ext(path, flags, no_ceiling))?;
    let common = git.commondir();
    let common_dir = common.canonicalize().unwrap_or_else(|_| common.to_owned());
    let stores = ahead::object_stores(&common_dir).unwrap_or_default();
    let read_once = read_once(&git, &common_dir, &stores, path);
    Ok(Repo {
        git,
        common_dir,
        writes_to_memory: Cell::new(false),
        made: RefCell::default(),
        read_once,
        own_file: RefCell::new(None),
        named: path.to_owned(),
        stores,
        regular: RefCell::default(),
        stop: RefCell::default(),
    })
}

fn read_once(
    git: &Repository,
    common_dir: &Path,
    stores: &[PathBuf],
    named: &Path,
) -> Vec<(PathBuf, Option<Stamp>)> {
    let own = [
        "config",
        "shallow",
        "info/grafts",
        "objects/info/alternates",
    ];
    let own = own.iter().map(|name| common_dir.join(name));
    let link = git.workdir().map(|it| it.join(".git"));
    // The named path may be a link, which can lead elsewhere later.
    let places = [named.to_owned(), named.join(".git"), common_dir.to_owned()];
    let settings = [
        git2::Config::find_system,
        git2::Config::find_xdg,
        git2::Config::find_global,
    ];
    let users = settings.iter().filter_map(|find| find().ok());
    let files = own
        .chain(link)
        .chain(places)
        .chain(users)
        .chain(["commondir", "config.worktree"].map(|name| git.path().join(name)));
    let packs = stores.iter().map(|it| it.join("pack"));
    files
        .chain(packs)
        .map(|path| {
            let stamp = stamp(&path);
            (path, stamp)
        })
        .collect()
}

/// Git changes the time of a folder with almost everything it does, so only the identity of a
/// folder counts. The exception is the folder of packs: libgit2 opens every pack.
fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    let counts = metadata.is_file() || path.ends_with("objects/pack");
    Some(Stamp {
        #[cfg(unix)]
        file: {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino(), metadata.uid())
        },
        modified: metadata.modified().ok().filter(|_| counts),
        len: if metadata.is_file() {
            metadata.len()
        } else {
            0
        },
    })
}

/// Returns whether there is a `.git`. If it does not open, the repository is broken, not absent.
fn claims_a_repository(path: &Path) -> bool {
    path.join(".git").exists()
}

/// Returns the folder around `from` whose `.git` is a file that leads nowhere: a worktree or
/// submodule whose repository was moved.
fn broken_link(from: &Path) -> Option<PathBuf> {
    let from = from.canonicalize().ok()?;
    let at = from.ancestors().find(|at| at.join(".git").is_file())?;
    Some(at.to_owned())
}

fn open_refusal(path: &Path, e: &git2::Error) -> Refusal {
    let hint = match (e.code(), e.class()) {
        (ErrorCode::Owner, _) => format!(
            "It belongs to another user; if you trust it, run git config --global --add safe.directory {}.",
            path.display()
        ),
        (ErrorCode::NotFound, _) => {
            "Its .git names a folder that is gone: restore it, or run git worktree repair."
                .to_owned()
        }
        (_, ErrorClass::Os) => "Check that you have permission to read it.".to_owned(),
        _ => "Run git fsck in it to see what is wrong.".to_owned(),
    };
    let message = format!(
        "cannot open the git repository at {}: {}",
        path.display(),
        refuse::git_message(e)
    );
    refuse::unavailable(message, hint).because(e)
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
}
