//! Reports when a working tree may have changed: files that git does not ignore, and what git
//! itself keeps of the checkout (HEAD, the index, refs). Uses no time while nothing changes.
//!
//! Watches the whole tree, folder by folder on systems that count watches (inotify). If the watches
//! run out, it watches only the folders that hold evidence; if no watch is available at all, it
//! checks those folders every few seconds until one is. [`Watch::coverage`] reports which.

use std::{
    collections::HashSet,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use engram_model::Refusal;
use notify::{Config, Event, EventKind, PollWatcher, RecursiveMode, Watcher, event::CreateKind};

use crate::{Repo, refuse};

use super::{disk, rules::Ignored};

/// The interval between checks where the system cannot notify.
const EVERY: Duration = Duration::from_secs(2);
/// The interval between attempts to get watches.
const AGAIN: Duration = Duration::from_secs(5);

/// What a watch reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEvent {
    /// Files may have changed; reported once until [`Watch::rearm`].
    Changed,
    /// A new folder that must be watched too, with [`Watch::extend`].
    Folder(PathBuf),
    /// Too many changes came at once: call [`Watch::renew`] to rebuild the watches.
    Lost,
}

/// How much of the tree is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Everything that git does not ignore.
    Whole,
    /// Only the folders that hold evidence, with the reason.
    Evidence(String),
    /// No folder can be watched, so those folders are checked every few seconds, with the reason.
    Polled(String),
}

impl Coverage {
    /// Returns a sentence for a reader; `None` if there is nothing to report.
    pub fn sentence(&self) -> Option<String> {
        match self {
            Self::Whole => None,
            Self::Evidence(why) => Some(format!("watching only folders with evidence: {why}")),
            Self::Polled(why) => Some(format!(
                "checking folders with evidence every {} seconds: {why}",
                EVERY.as_secs()
            )),
        }
    }
}

type TreeCallback = Arc<dyn Fn(TreeEvent) + Send + Sync>;

/// Watches one working tree until it is dropped.
pub struct Watch {
    watcher: Box<dyn Watcher + Send>,
    coverage: Coverage,
    tree: WatchedTree,
    most: usize,
    tell: TreeCallback,
    told: Arc<AtomicBool>,
    watched: HashSet<PathBuf>,
    /// Ends the thread that keeps asking for watches.
    asks: Option<Sender<()>>,
}

/// The folders of a watched tree.
#[derive(Clone)]
struct WatchedTree {
    /// `None` if there is only a git folder.
    root: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Watch {
    /// Starts to watch at most `most` folders.
    pub fn start(
        repo: &Repo,
        most: usize,
        tell: impl Fn(TreeEvent) + Send + Sync + 'static,
    ) -> Result<Self, Refusal> {
        let real = |path: &Path| path.canonicalize().map_err(|e| repo.gone().because(&e));
        let tree = WatchedTree {
            root: repo.workdir().map(real).transpose()?,
            git_dir: real(repo.git.path())?,
            common_dir: real(repo.common_dir())?,
        };
        let told = Arc::new(AtomicBool::new(false));
        let tell: TreeCallback = Arc::new(tell);
        let (watcher, coverage, asks) = match system(&tree, &tell, &told) {
            Ok(watcher) => (watcher, Coverage::Whole, None),
            Err(error) => {
                let watcher = polling(&tree, &tell, &told)?;
                let asks = ask_again(&tree, &tell, &told);
                (watcher, Coverage::Polled(why(&error)), asks)
            }
        };
        let mut watch = Self {
            watcher,
            coverage,
            tree,
            most,
            tell,
            told,
            watched: HashSet::new(),
            asks,
        };
        watch.renew()?;
        Ok(watch)
    }

    /// Returns how much is watched.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Reports changes again from now on.
    pub fn rearm(&self) {
        self.told.store(false, Ordering::Release);
    }

    /// Rebuilds the watches.
    pub fn renew(&mut self) -> Result<(), Refusal> {
        if matches!(self.coverage, Coverage::Polled(_))
            && let Ok(watcher) = system(&self.tree, &self.tell, &self.told)
        {
            tracing::info!("the working tree is watched again");
            (self.watcher, self.coverage) = (watcher, Coverage::Whole);
            self.watched.clear();
            self.asks = None;
        }
        if let Err(error) = self.watch_git() {
            self.fall_back(&error)?;
        }
        if self.coverage == Coverage::Whole
            && let Some(root) = self.tree.root.clone()
        {
            self.extend(&root)?;
        }
        Ok(())
    }

    /// Watches a folder and everything below it.
    pub fn extend(&mut self, folder: &Path) -> Result<(), Refusal> {
        if self.coverage != Coverage::Whole {
            return Ok(());
        }
        match self.watch_below(folder) {
            Ok(()) => Ok(()),
            Err(error) => self.fall_back(&error),
        }
    }

    /// Sets the files that hold evidence, as paths from the root. If not everything is watched,
    /// their folders are.
    pub fn watch_evidence<'p>(
        &mut self,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<(), Refusal> {
        let Some(root) = self
            .tree
            .root
            .clone()
            .filter(|_| self.coverage != Coverage::Whole)
        else {
            return Ok(());
        };
        let folders: HashSet<PathBuf> = paths.map(|path| nearest(&root, path)).collect();
        for folder in folders {
            if let Err(error) = self.watch(&folder) {
                self.fall_back(&error)?;
            }
        }
        Ok(())
    }

    fn watch_git(&mut self) -> Result<(), notify::Error> {
        let WatchedTree {
            git_dir,
            common_dir,
            ..
        } = self.tree.clone();
        self.watch(&git_dir)?;
        if common_dir != git_dir {
            self.watch(&common_dir)?;
        }
        // Branches with slashes in their names are in subfolders.
        let heads = common_dir.join("refs").join("heads");
        each_folder(&heads, |_, _| true, &mut |it| self.watch(it))
    }

    fn watch_below(&mut self, folder: &Path) -> Result<(), notify::Error> {
        if notify::RecommendedWatcher::kind() != notify::WatcherKind::Inotify {
            return if self.watched.insert(folder.to_owned()) {
                self.watcher.watch(folder, RecursiveMode::Recursive)
            } else {
                Ok(())
            };
        }
        let root = self.tree.root.clone();
        let mut ignored = root
            .as_ref()
            .and_then(|it| rules(it, &Repo::open(it).ok()?));
        // Nested repositories are not part of this one.
        let counts = |path: &Path, name: &OsStr| {
            !disk::is_gits(name)
                && path.join(".git").symlink_metadata().is_err()
                && !is_ignored(root.as_deref(), ignored.as_mut(), path)
        };
        each_folder(folder, counts, &mut |it| match self.watch(it) {
            // The folder disappeared again.
            Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => Ok(()),
            watched => watched,
        })
    }

    fn watch(&mut self, folder: &Path) -> Result<(), notify::Error> {
        // A recreated folder is a different one: it is watched again.
        self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        self.watched.insert(folder.to_owned());
        if self.coverage == Coverage::Whole && self.watched.len() > self.most {
            return Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch));
        }
        Ok(())
    }

    /// Falls back to less coverage.
    fn fall_back(&mut self, error: &notify::Error) -> Result<(), Refusal> {
        let reason = why(error);
        self.watched.clear();
        self.coverage = match self.coverage {
            Coverage::Whole => Coverage::Evidence(reason),
            Coverage::Evidence(_) => Coverage::Polled(reason),
            Coverage::Polled(_) => {
                return Err(refuse::unavailable(
                    format!("cannot watch the working tree: {reason}"),
                    "Check that its folders are readable.",
                ));
            }
        };
        tracing::warn!(why = ?self.coverage.sentence(), "not all of the working tree is watched");
        self.watcher = match self.coverage {
            Coverage::Polled(_) => {
                self.asks = ask_again(&self.tree, &self.tell, &self.told);
                polling(&self.tree, &self.tell, &self.told)?
            }
            _ => system(&self.tree, &self.tell, &self.told)
                .or_else(|_| polling(&self.tree, &self.tell, &self.told))?,
        };
        if let Err(error) = self.watch_git() {
            self.fall_back(&error)?;
        }
        Ok(())
    }
}

/// Calls a function for a folder and for the folders below it that count; does not follow links.
fn each_folder(
    from: &Path,
    mut counts: impl FnMut(&Path, &OsStr) -> bool,
    call: &mut dyn FnMut(&Path) -> Result<(), notify::Error>,
) -> Result<(), notify::Error> {
    let mut ahead = vec![from.to_owned()];
    while let Some(folder) = ahead.pop() {
        let Ok(entries) = folder.read_dir() else {
            continue;
        };
        call(&folder)?;
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|it| it.is_dir()) && counts(&path, &entry.file_name()) {
                ahead.push(path);
            }
        }
    }
    Ok(())
}

/// Returns what git ignores below a root; `None` if that is unknown.
fn rules(root: &Path, repo: &Repo) -> Option<Ignored> {
    let rules = Ignored::new(repo, root.to_owned());
    rules
        .inspect_err(|refusal| tracing::info!(%refusal, "cannot read the ignore rules; watching ignored files too"))
        .ok()
}

/// Returns whether git ignores a path; false if that is unknown.
fn is_ignored(root: Option<&Path>, ignored: Option<&mut Ignored>, path: &Path) -> bool {
    let within = root.and_then(|it| path.strip_prefix(it).ok()?.to_str());
    let (Some(within), Some(ignored)) = (within.filter(|it| !it.is_empty()), ignored) else {
        return false;
    };
    let is_folder = path.symlink_metadata().is_ok_and(|it| it.is_dir());
    ignored.has(within, is_folder).unwrap_or(false)
}

/// Returns the folder of a file, or its nearest existing parent.
fn nearest(root: &Path, path: &str) -> PathBuf {
    let file = root.join(path);
    let mut around = file.ancestors().skip(1);
    around
        .find(|it| !it.starts_with(root) || it.is_dir())
        .filter(|it| it.starts_with(root))
        .unwrap_or(root)
        .to_owned()
}

fn system(
    tree: &WatchedTree,
    tell: &TreeCallback,
    told: &Arc<AtomicBool>,
) -> Result<Box<dyn Watcher + Send>, notify::Error> {
    let watcher = notify::recommended_watcher(hear(tree, tell, told))?;
    Ok(Box::new(watcher))
}

fn polling(
    tree: &WatchedTree,
    tell: &TreeCallback,
    told: &Arc<AtomicBool>,
) -> Result<Box<dyn Watcher + Send>, Refusal> {
    let config = Config::default().with_poll_interval(EVERY);
    match PollWatcher::new(hear(tree, tell, told), config) {
        Ok(watcher) => Ok(Box::new(watcher)),
        Err(error) => Err(refuse::unavailable(
            format!("cannot watch the working tree: {}", why(&error)),
            "Check that its folders are readable.",
        )),
    }
}

/// Keeps asking for watches until there are some, then reports that [`Watch::renew`] is due; ends
/// when the returned sender is dropped.
fn ask_again(
    tree: &WatchedTree,
    tell: &TreeCallback,
    told: &Arc<AtomicBool>,
) -> Option<Sender<()>> {
    let (asks, ended) = channel();
    let (tree, tell, told) = (tree.clone(), Arc::clone(tell), Arc::clone(told));
    let ask = move || {
        while ended.recv_timeout(AGAIN) == Err(RecvTimeoutError::Timeout) {
            if system(&tree, &tell, &told).is_ok() {
                return tell(TreeEvent::Lost);
            }
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned());
    let started = thread.spawn(ask);
    let refused =
        |error: &_| tracing::warn!(%error, "cannot start the thread that asks for watches again");
    started.inspect_err(refused).ok().map(|_| asks)
}

/// Handles an event. Git's rules are read only for the first event since the last report.
fn hear(
    tree: &WatchedTree,
    tell: &TreeCallback,
    told: &Arc<AtomicBool>,
) -> impl FnMut(notify::Result<Event>) + Send + 'static {
    let (tree, tell, told) = (tree.clone(), tell.clone(), told.clone());
    let mut repo = None;
    move |event| {
        let event = match event {
            Ok(event) if event.need_rescan() => return tell(TreeEvent::Lost),
            Ok(event) => event,
            Err(error) => {
                tracing::info!(%error, "a watch failed");
                return tell(TreeEvent::Lost);
            }
        };
        if event.kind.is_access() {
            return;
        }
        let may_be_folder = matches!(
            event.kind,
            EventKind::Create(CreateKind::Folder | CreateKind::Any)
                | EventKind::Modify(notify::event::ModifyKind::Name(_))
        );
        for path in &event.paths {
            let is_told = told.load(Ordering::Acquire);
            if (is_told && !may_be_folder) || !tree.counts(path, &mut repo) {
                continue;
            }
            if may_be_folder && path.is_dir() {
                tell(TreeEvent::Folder(path.clone()));
            }
            if !told.swap(true, Ordering::AcqRel) {
                tell(TreeEvent::Changed);
            }
        }
    }
}

impl WatchedTree {
    /// Returns whether a change at this path can change evidence.
    fn counts(&self, path: &Path, repo: &mut Option<Repo>) -> bool {
        for git in [&self.git_dir, &self.common_dir] {
            if let Ok(within) = path.strip_prefix(git) {
                return is_of_checkout(within);
            }
        }
        let Some(root) = self.root.as_ref().filter(|it| path.starts_with(it)) else {
            return false;
        };
        if !repo.as_ref().is_some_and(Repo::is_as_opened) {
            *repo = Repo::open(root).ok();
        }
        // The rules may have changed since they were read.
        let mut ignored = repo.as_ref().and_then(|it| rules(root, it));
        !is_ignored(Some(root), ignored.as_mut(), path)
    }
}

fn is_of_checkout(within: &Path) -> bool {
    let locks = within.extension().is_some_and(|it| it == "lock");
    !locks
        && (within == Path::new("HEAD")
            || within == Path::new("index")
            || within == Path::new("packed-refs")
            || within.starts_with("refs/heads"))
}

fn why(error: &notify::Error) -> String {
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "it has more folders than can be watched; raise fs.inotify.max_user_watches or limits.watched_folders".to_owned()
        }
        notify::ErrorKind::Io(ref error) => format!("{error}; close programs that watch files, or raise fs.inotify.max_user_instances"),
        _ => error.to_string(),
    }
}
