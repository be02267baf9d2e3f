//! The identity of a repository: a ULID, minted once and stored in the repository's common git
//! folder.
//!
//! Worktrees share it, a moved repository keeps it, and a clone gets its own. An id is bound to its
//! repository. If a copy has the same id, or if the git folder belongs to another repository, the
//! user must decide whose memory to use. Until then nothing of that memory is shown.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{Engine, context::ActiveProject};
use engram_model::{
    Code, ProjectId, ProjectStatus, Refusal, Target,
    operation::{Admitted, Located},
};
use engram_pointers::Repo;
use engram_store::Store;
use parking_lot::Mutex;

/// The file in the common git folder.
const FILE: &str = "engram-project";
/// How many claims of a project are used to recognise a repository.
const KNOWN_BY: usize = 20;

/// The project of claims outside any repository: the home's own.
pub(crate) fn home_project(store: &Store) -> ProjectId {
    ProjectId(store.origin())
}

/// The project of this repository (or of the home, without one), if it has an id.
///
/// # Errors
/// `SCOPE_DENIED` if the user must decide whose memory to use.
pub(crate) fn project_of(
    engine: &Engine,
    repo: Option<&Repo>,
) -> Result<Option<ProjectId>, Refusal> {
    let Some(repo) = repo else {
        return Ok(Some(home_project(&engine.store)));
    };
    let written = read_id(repo);
    if let Some(id) = written
        && engine.caches.located.matches(repo, id)
    {
        return Ok(Some(id));
    }
    let id = match written {
        Some(id) => Some(id),
        None => find_id_in_home(engine, repo)?,
    };
    if id.is_none() && !repo.is_named_back() && is_ordinary(repo) {
        return Err(undecided_refusal(
            &describe_unnamed(repo),
            "Ask the user to correct this folder's .git; or to store a claim in that repository, then run `engram project share` here.",
        ));
    }
    if id.is_none() {
        refuse_outside_reads(repo)?;
    }
    if let Some(id) = id
        && check_place(engine, repo, id)?
    {
        engine.caches.located.remember(repo, id);
    }
    Ok(id)
}

/// The project of this repository, with a new id if it has none. The id is kept in the home and,
/// with `in_repository`, in the git folder if that is writable. `found` is the id that
/// [`project_of`] has just returned, if any.
pub(crate) fn active_project_of(
    engine: &Engine,
    repo: Option<&Repo>,
    found: Option<ProjectId>,
    in_repository: bool,
) -> Result<ActiveProject, Refusal> {
    let Some(repo) = repo else {
        return Ok(ActiveProject::of(home_project(&engine.store)));
    };
    let found = match found {
        Some(id) => Some(id),
        None => project_of(engine, Some(repo))?,
    };
    if let Some(id) = found
        && engine.caches.located.matches(repo, id)
        && (!in_repository || read_id(repo).is_some())
    {
        return Ok(ActiveProject::of(id));
    }
    let id = match (read_id(repo), found) {
        (Some(written), _) => written,
        (None, found) => {
            let id = found.unwrap_or_else(|| ProjectId(engine.world.new_id()));
            if in_repository {
                write_id(repo, id)
            } else {
                id
            }
        }
    };
    let known = engine
        .store
        .read::<_, Refusal>(|tx| Ok(tx.projects().place_of(id)?))?;
    if known.as_deref() == Some(&git_folder(repo)) {
        engine.caches.located.remember(repo, id);
        return Ok(ActiveProject::of(id));
    }
    let is_elsewhere = engine
        .store
        .read::<_, Refusal>(|tx| Ok(tx.projects().is_admitted(&path_to_admit(repo), id)?))?;
    let place = (!is_elsewhere && !repo.is_named_back()).then(|| path_to_admit(repo));
    Ok(ActiveProject {
        project: id,
        located: (!is_elsewhere).then(|| location_of(repo)),
        admitted: place.map(|place| Admitted { place }),
    })
}

/// The id that only the home knows, found by the place of the repository. Another repository may
/// have taken that place since, so the id counts only if no claim of the project holds, if the git
/// folder cannot be written, or if the repository has a commit that a claim is pinned to, or that a
/// kept file is based on.
fn find_id_in_home(engine: &Engine, repo: &Repo) -> Result<Option<ProjectId>, Refusal> {
    let now = engine.world.now();
    let (id, is_empty, commits) = engine.store.read::<_, Refusal>(|tx| {
        let id = tx.projects().id_at(&git_folder(repo))?;
        let newest = match id {
            Some(id) => tx.newest_holding(id, now, None, KNOWN_BY)?,
            None => Vec::new(),
        };
        let mut commits: Vec<String> = Vec::new();
        for pointer in newest.iter().flat_map(|engram| &engram.pointers) {
            commits.extend(pointer.commits().iter().map(ToString::to_string));
            if let Target::Repo { path, .. }
            | Target::Test { path, .. }
            | Target::Artifact { name: path, .. } = &pointer.target
                && let (Some(id), Some(digest)) = (id, pointer.snapshot_digest())
            {
                commits.extend(tx.snapshots().base(id, digest, path)?);
            }
        }
        Ok((id, newest.is_empty(), commits))
    })?;
    let is_same = is_empty
        || commits.iter().any(|commit| repo.has_commit(commit))
        || !is_writable(repo.common_dir());
    Ok(id.filter(|_| is_same))
}

/// Refuses a place that may not use the project. A place may use its own project, one that was
/// moved to it, and one that the user admitted there. Returns whether the home has already recorded
/// this.
fn check_place(engine: &Engine, repo: &Repo, id: ProjectId) -> Result<bool, Refusal> {
    let (known, is_admitted) = engine.store.read::<_, Refusal>(|tx| {
        Ok((
            tx.projects().place_of(id)?,
            tx.projects().is_admitted(&path_to_admit(repo), id)?,
        ))
    })?;
    if is_admitted {
        return Ok(true);
    }
    // `git init --separate-git-dir` writes no link back to the tree, so the first tree is bound
    // to the folder.
    let is_first = known.is_none() && !is_ordinary(repo);
    if !repo.is_named_back() && !is_first {
        return Err(undecided_refusal(
            &describe_unnamed(repo),
            "Run `engram project share` in this folder to use that repository's memory, or correct its .git.",
        ));
    }
    refuse_outside_reads(repo)?;
    match known {
        _ if !repo.is_named_back() => Ok(false),
        Some(known) if known == git_folder(repo) => Ok(true),
        Some(known) if exists_elsewhere(&known, repo, id) => Err(undecided_refusal(
            &format!("this repository is a copy of {known}"),
            "Run `engram project own` in this folder for an empty memory of its own, or `engram project share` to use the original's.",
        )),
        _ => Ok(false),
    }
}

/// Whether the memory with this id began here, or was moved here with the repository. A memory that
/// was admitted here belongs to another place, unless the home records this place as its own.
pub(crate) fn is_its_own(engine: &Engine, repo: &Repo, id: ProjectId) -> Result<bool, Refusal> {
    let (known, is_admitted) = engine.store.read::<_, Refusal>(|tx| {
        Ok((
            tx.projects().place_of(id)?,
            tx.projects().is_admitted(&path_to_admit(repo), id)?,
        ))
    })?;
    Ok(match known {
        Some(known) if known == git_folder(repo) => true,
        Some(known) => !is_admitted && !exists_elsewhere(&known, repo, id),
        None => !is_admitted,
    })
}

/// The last repository that was found to be recorded in the home.
#[derive(Default)]
pub(crate) struct KnownSeat(Mutex<Option<Seat>>);

/// Where a repository is, and what is still known when it is gone.
#[derive(Clone)]
pub(crate) struct Seat {
    common: PathBuf,
    /// The working tree, or the git folder if there is none.
    tree: PathBuf,
    name: String,
    /// The name of the working tree, as [`Repo::worktree`] has it.
    pub(crate) worktree: String,
    pub(crate) project: ProjectId,
}

impl KnownSeat {
    fn matches(&self, repo: &Repo, id: ProjectId) -> bool {
        self.last().is_some_and(|it| {
            it.project == id
                && it.common == repo.common_dir()
                && it.tree == repo.workdir().unwrap_or(&it.common)
        })
    }

    fn remember(&self, repo: &Repo, id: ProjectId) {
        let common = repo.common_dir().to_owned();
        let seat = Seat {
            tree: repo.workdir().unwrap_or(&common).to_owned(),
            common,
            name: repo.name(),
            worktree: repo.worktree(),
            project: id,
        };
        *self.0.lock() = Some(seat);
    }

    /// The last repository, even if it can no longer be opened.
    pub(crate) fn last(&self) -> Option<Seat> {
        self.0.lock().clone()
    }

    /// Clears it, because another home has to record the repository itself.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

impl Seat {
    /// The status that its user sees while it is unavailable.
    pub(crate) fn status(self, why: &Refusal) -> ProjectStatus {
        ProjectStatus {
            id: Some(self.project),
            name: self.name,
            branch: None,
            head: None,
            root: Some(self.tree.display().to_string()),
            remote: None,
            unavailable: Some(why.message.clone()),
        }
    }
}

pub(crate) fn location_of(repo: &Repo) -> Located {
    Located {
        common_dir: git_folder(repo),
        name: repo.name(),
    }
}

fn git_folder(repo: &Repo) -> String {
    repo.common_dir().to_string_lossy().into_owned()
}

/// The place to admit: a git folder, or a working tree whose git folder does not name it.
pub(crate) fn path_to_admit(repo: &Repo) -> String {
    match repo.workdir() {
        Some(tree) if !repo.is_named_back() => tree.to_string_lossy().into_owned(),
        _ => git_folder(repo),
    }
}

/// The working tree of a git folder at its usual place; else the folder itself.
pub(crate) fn tree_of(common_dir: PathBuf) -> PathBuf {
    match common_dir.parent() {
        Some(tree) if common_dir.ends_with(".git") => tree.to_owned(),
        _ => common_dir,
    }
}

/// Whether the git folder is inside its working tree, rather than kept elsewhere.
fn is_ordinary(repo: &Repo) -> bool {
    repo.common_dir().file_name().is_some_and(|it| it == ".git")
}

fn describe_unnamed(repo: &Repo) -> String {
    let (seat, folder) = (path_to_admit(repo), repo.common_dir().display());
    format!("{seat} uses the git folder {folder}, which does not point back to it")
}

/// Refuses a repository that reads from outside its folder: only the user knows whether this is
/// intended.
fn refuse_outside_reads(repo: &Repo) -> Result<(), Refusal> {
    match repo.reads_outside() {
        None => Ok(()),
        Some(outside) => Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "the git folder {} depends on {}, which is outside it; only the user can allow that",
                git_folder(repo),
                outside.display()
            ),
            "Run `engram project own` in this folder if you set this up yourself, for example with git clone --shared or --reference; if not, clone it again.",
        )),
    }
}

fn undecided_refusal(message: &str, hint: &str) -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        format!("{message}; only the user can decide whose memory it uses"),
        hint,
    )
}

/// Whether another repository with this id still exists at its old place. One folder may have two
/// paths.
fn exists_elsewhere(known: &str, repo: &Repo, id: ProjectId) -> bool {
    let known = Path::new(known);
    !is_same_folder(known, repo.common_dir())
        && is_id_file(&known.join(FILE))
        && fs::read_to_string(known.join(FILE)).is_ok_and(|it| it.trim().parse() == Ok(id))
}

fn is_id_file(path: &Path) -> bool {
    const MAX_BYTES: u64 = 100;
    fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MAX_BYTES)
}

#[cfg(unix)]
fn is_same_folder(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |it: &Path| fs::metadata(it).ok().map(|it| (it.dev(), it.ino()));
    number(one).is_some_and(|it| number(other) == Some(it))
}

#[cfg(not(unix))]
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |it: &Path| it.canonicalize().ok();
    real(one).is_some_and(|it| real(other) == Some(it))
}

fn is_writable(folder: &Path) -> bool {
    tempfile::Builder::new()
        .prefix(FILE)
        .tempfile_in(folder)
        .is_ok()
}

pub(crate) fn read_id(repo: &Repo) -> Option<ProjectId> {
    repo.own_file(FILE)?.trim().parse().ok()
}

/// Writes the id completely or not at all. If another process was first, returns its id.
fn write_id(repo: &Repo, id: ProjectId) -> ProjectId {
    let target = repo.common_dir().join(FILE);
    let written = draft_id_file(repo, id).and_then(|draft| {
        draft
            .persist_noclobber(&target)
            .map(drop)
            .map_err(|it| it.error)
    });
    match written {
        Ok(()) => id,
        Err(error) => {
            tracing::debug!(%error, "the project's id stays in the home");
            read_id(repo).unwrap_or(id)
        }
    }
}

/// Gives the repository another id.
pub(crate) fn replace_id(repo: &Repo, id: ProjectId) -> Result<(), Refusal> {
    let target = repo.common_dir().join(FILE);
    let written =
        draft_id_file(repo, id).and_then(|it| it.persist(&target).map(drop).map_err(|it| it.error));
    written.map_err(|error| {
        Refusal::new(
            Code::RepoUnavailable,
            format!("cannot write {}: {error}", target.display()),
            "Make the git folder writable, then try again.",
        )
    })
}

fn draft_id_file(repo: &Repo, id: ProjectId) -> std::io::Result<tempfile::NamedTempFile> {
    let mut draft = tempfile::Builder::new();
    #[cfg(unix)]
    draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut draft = draft.prefix(FILE).tempfile_in(repo.common_dir())?;
    writeln!(draft, "{id}")?;
    draft.as_file().sync_all()?;
    Ok(draft)
}
