//! An opened repository, however it is laid out.

use std::{
    cell::{Cell, RefCell},
    path::{Path, PathBuf},
    sync::Once,
    time::SystemTime,
};

use engram_model::Refusal;
use git2::{ErrorClass, ErrorCode, ObjectType, Oid, Repository, RepositoryOpenFlags};

use crate::refuse;

/// An opened repository: a working tree (linked worktrees and submodules too), a bare repository
/// or a `.git` folder.
pub struct Repo {
    pub(crate) git: Repository,
    common_dir: PathBuf,
    /// Whether objects are made in memory (`keep`).
    pub(crate) writes_to_memory: Cell<bool>,
    /// What git reads once, when a repository is opened, as it was then.
    read_once: Vec<(PathBuf, Option<Stamp>)>,
    /// The file of ours that was read last.
    own_file: RefCell<Option<(PathBuf, Stamp, String)>>,
}

/// What differs when a file was replaced or written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    /// Device, inode and owner: git opens nothing of another user's.
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
    /// The repository around a folder or file, or `None` where there is none.
    pub fn discover(from: &Path) -> Result<Option<Self>, Refusal> {
        let from = if from.is_file() {
            from.parent().unwrap_or(from)
        } else {
            from
        };
        match open(from, RepositoryOpenFlags::empty()) {
            Ok(repo) => Ok(Some(repo)),
            Err(e) if e.code() == ErrorCode::NotFound => match broken_link(from) {
                Some(at) => Err(refused(&at, &e)),
                None => Ok(None),
            },
            Err(e) => Err(refused(from, &e)),
        }
    }

    /// The repository at exactly this path.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let error = match open(path, RepositoryOpenFlags::NO_SEARCH) {
            Ok(repo) => return Ok(repo),
            Err(error) => error,
        };
        if !path.exists() {
            return Err(refuse::unavailable(
                format!("there is nothing at {}", path.display()),
                "Check --repo; if the repository was moved, name its new path.",
            ));
        }
        if error.code() != ErrorCode::NotFound || claims_a_repository(path) {
            return Err(refused(path, &error));
        }
        let hint = match Self::discover(path) {
            Ok(Some(around)) => format!(
                "It lies inside the repository {}: name that one.",
                around.workdir().unwrap_or(around.common_dir()).display()
            ),
            _ => "Name a working tree, a bare repository or a .git folder; git init makes one."
                .to_owned(),
        };
        Err(refuse::unavailable(
            format!("{} is not a git repository", path.display()),
            hint,
        ))
    }

    /// Whether another request may use it: nothing was made in it, and the files that git reads only on
    /// opening (place, settings, grafts, alternates) are unchanged. Files that the settings include
    /// are not looked at. References and objects are read anew in any case.
    pub fn is_as_opened(&self) -> bool {
        !self.writes_to_memory.get()
            && self
                .read_once
                .iter()
                .all(|(path, then)| stamp(path) == *then)
    }

    /// The folder that all worktrees of this repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// What a small file of ours in that folder says; none where there is none. Read again only when
    /// it was written again.
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
        let text = std::fs::read_to_string(&path).ok()?;
        *kept = Some((path, now, text.clone()));
        Some(text)
    }

    /// The root of the working tree; `None` when bare.
    pub fn workdir(&self) -> Option<&Path> {
        self.git.workdir()
    }

    /// The name of a linked worktree; empty for the main one.
    pub fn worktree(&self) -> String {
        match self.git.is_worktree() {
            true => file_name(self.git.path()).unwrap_or_default(),
            false => String::new(),
        }
    }

    /// The folder name that a person would use: `foo` for `/x/foo`, `/x/foo.git`, `/x/foo/.git`
    /// and every worktree linked to them.
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

    /// Whether git is at work on the checkout: it holds the lock of its index.
    pub fn is_busy(&self) -> bool {
        self.git.path().join("index.lock").exists()
    }

    /// The branch and the commit that are checked out; a detached head has no branch, an unborn
    /// one no commit.
    pub fn head(&self) -> (Option<String>, Option<String>) {
        let Ok(head) = self.git.find_reference("HEAD") else {
            return (None, None);
        };
        let branch = head
            .symbolic_target_bytes()
            .map(|target| String::from_utf8_lossy(target).into_owned())
            .map(|target| match target.strip_prefix("refs/heads/") {
                Some(short) => short.to_owned(),
                None => target,
            });
        let commit = head.peel_to_commit().ok().map(|c| c.id().to_string());
        (branch, commit)
    }

    /// The commit that a revision names.
    pub(crate) fn commit(&self, rev: &str) -> Result<git2::Commit<'_>, Refusal> {
        let object = match self.git.revparse_single(rev) {
            Ok(object) => object,
            Err(e) => return Err(self.rev_refused(rev, &e)),
        };
        let commit = object.peel_to_commit().map_err(|e| match object.kind() {
            Some(ObjectType::Commit | ObjectType::Tag)
                if !matches!(e.code(), ErrorCode::Peel | ErrorCode::InvalidSpec) =>
            {
                refuse::broken(&format!("commit {}", refuse::quoted(rev)), &e)
            }
            kind => refuse::invalid(
                format!(
                    "{} is not a commit but a {}",
                    refuse::quoted(rev),
                    kind.map_or("thing of another kind", |kind| match kind {
                        ObjectType::Tag => "tag of something else",
                        other => other.str(),
                    })
                ),
                "Pin to HEAD, a branch, a tag or a commit id.",
            ),
        })?;
        Ok(commit)
    }

    /// Whether git's folder can still be found.
    pub(crate) fn is_there(&self) -> bool {
        self.common_dir.join("HEAD").exists() && self.common_dir.join("objects").exists()
    }

    pub(crate) fn gone(&self) -> Refusal {
        refuse::unavailable(
            format!(
                "the repository at {} was moved or deleted",
                self.common_dir.display()
            ),
            "Bring it back, or name its new path with --repo PATH.",
        )
    }

    pub(crate) fn rev_refused(&self, rev: &str, e: &git2::Error) -> Refusal {
        let name = refuse::quoted(rev);
        if !self.is_there() {
            return self.gone();
        }
        match e.code() {
            ErrorCode::Ambiguous => refuse::invalid(
                format!("{name} fits more than one object"),
                "Give more digits of the commit id.",
            ),
            ErrorCode::UnbornBranch => unborn(),
            ErrorCode::NotFound if rev.starts_with("HEAD") && self.head().1.is_none() => {
                match self.git.find_reference("HEAD").and_then(|h| h.resolve()) {
                    Ok(_) => refuse::broken("the commit at HEAD", e),
                    Err(_) => unborn(),
                }
            }
            ErrorCode::NotFound if self.names_a_ref(rev) => {
                refuse::broken(&format!("the commit at {name}"), e)
            }
            ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Peel => refuse::not_found(
                format!("{name} names no commit of this repository"),
                self.rev_hint(),
            ),
            _ if matches!(
                e.class(),
                ErrorClass::Invalid | ErrorClass::Reference | ErrorClass::None
            ) =>
            {
                refuse::invalid(
                    format!("{name} is not a git revision: {}", refuse::said(e)),
                    "Pin to HEAD, a branch, a tag or a commit id.",
                )
            }
            _ => refuse::broken(&format!("revision {name}"), e),
        }
    }

    fn names_a_ref(&self, rev: &str) -> bool {
        let target = |r: git2::Reference<'_>| r.resolve().ok().and_then(|r| r.target());
        let known = self.git.resolve_reference_from_short_name(rev).ok();
        known.and_then(target).is_some_and(|id| !self.has(id))
    }

    /// Whether it has the commit with this full id.
    pub fn has_commit(&self, id: &str) -> bool {
        Oid::from_str(id).is_ok_and(|id| self.has(id))
    }

    pub fn is_named_back(&self) -> bool {
        true
    }

    fn has(&self, id: Oid) -> bool {
        self.git.odb().is_ok_and(|odb| odb.exists(id))
    }

    fn rev_hint(&self) -> &'static str {
        if self.git.is_shallow() {
            "This clone is shallow and ends before its history does: git fetch --unshallow brings the rest."
        } else {
            "git log shows commits that exist; a commit of another clone must be fetched first with git fetch."
        }
    }
}

fn unborn() -> Refusal {
    refuse::not_found(
        "this repository has no commit yet",
        "Commit something, or pin to @worktree.",
    )
}

/// Trees of up to this size are kept parsed: the root of a large repository is asked for once for
/// each pointer. libgit2 keeps those up to 4 KiB.
const LARGEST_KEPT_TREE: usize = 4 << 20;
/// Files of up to this size are kept unpacked, since many claims point into the same file.
const LARGEST_KEPT_FILE: usize = 256 << 10;
/// What is kept of all objects.
const KEPT: isize = 64 << 20;

/// Partial clones announce themselves by an extension that libgit2 does not know. What they lack
/// is reported when it is asked for, so they can be opened.
#[allow(unsafe_code)]
fn set_up_libgit2() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: these are libgit2's globals; `Once` makes this their only write, and repositories,
        // which read them, are opened by this module alone and after it.
        let set = unsafe {
            git2::opts::set_extensions(&["partialclone"])
                .and_then(|()| {
                    git2::opts::set_cache_object_limit(ObjectType::Tree, LARGEST_KEPT_TREE)
                })
                .and_then(|()| {
                    git2::opts::set_cache_object_limit(ObjectType::Blob, LARGEST_KEPT_FILE)
                })
                .and_then(|()| git2::opts::set_cache_max_size(KEPT))
        };
        // As git does, objects are believed that inflate; git fsck finds the others.
        git2::opts::strict_hash_verification(false);
        if let Err(e) = set {
            tracing::warn!("libgit2 cannot be set up; partial clones may not open: {e}");
        }
    });
}

fn open(path: &Path, flags: RepositoryOpenFlags) -> Result<Repo, git2::Error> {
    set_up_libgit2();
    let no_ceiling: [&Path; 0] = [];
    let git = Repository::open_ext(path, flags, no_ceiling)?;
    let common = git.commondir();
    let common_dir = common.canonicalize().unwrap_or_else(|_| common.to_owned());
    let read_once = read_once(&git, &common_dir, path);
    Ok(Repo {
        git,
        common_dir,
        writes_to_memory: Cell::new(false),
        read_once,
        own_file: RefCell::new(None),
    })
}

fn read_once(git: &Repository, common_dir: &Path, named: &Path) -> Vec<(PathBuf, Option<Stamp>)> {
    let own = [
        "config",
        "shallow",
        "info/grafts",
        "objects/info/alternates",
    ];
    let own = own.iter().map(|name| common_dir.join(name));
    let link = git.workdir().map(|it| it.join(".git"));
    // The path that was named may be a link, which leads elsewhere tomorrow.
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
    files
        .map(|path| {
            let stamp = stamp(&path);
            (path, stamp)
        })
        .collect()
}

/// A folder's time changes with whatever git does in it: only which one it is counts.
fn stamp(path: &Path) -> Option<Stamp> {
    let it = path.metadata().ok()?;
    Some(Stamp {
        #[cfg(unix)]
        file: {
            use std::os::unix::fs::MetadataExt;
            (it.dev(), it.ino(), it.uid())
        },
        modified: it.modified().ok().filter(|_| it.is_file()),
        len: if it.is_file() { it.len() } else { 0 },
    })
}

/// A `.git` that does not open is a broken repository, not the absence of one.
fn claims_a_repository(path: &Path) -> bool {
    path.join(".git").exists()
}

/// The folder around `from` whose `.git` is a file that leads nowhere: a worktree or submodule
/// whose repository was moved.
fn broken_link(from: &Path) -> Option<PathBuf> {
    let from = from.canonicalize().ok()?;
    let at = from.ancestors().find(|at| at.join(".git").is_file())?;
    Some(at.to_owned())
}

fn refused(path: &Path, e: &git2::Error) -> Refusal {
    let hint = match (e.code(), e.class()) {
        (ErrorCode::Owner, _) => format!(
            "It belongs to another user: git config --global --add safe.directory {} if you trust it.",
            path.display()
        ),
        (ErrorCode::NotFound, _) => {
            "Its .git names a folder that is gone: restore it, or run git worktree repair."
                .to_owned()
        }
        (_, ErrorClass::Os) => "Check that you may read it.".to_owned(),
        _ => "Run git fsck in it to see what is wrong.".to_owned(),
    };
    let message = format!(
        "the git repository at {} cannot be opened: {}",
        path.display(),
        refuse::said(e)
    );
    refuse::unavailable(message, hint).because(e)
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
}
