//! The repositories that are open in this window, each with its own engine. Requests are about the
//! one in front; the window follows those behind it too, and counts what arrives there.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use engram_engine::{Engine, Options, Subscription};
use engram_model::{Caller, Code, Entry, Refusal, StatusReply, ask};
use tokio::sync::watch;

/// A counter of changes to the open repositories. The page waits for it to rise.
pub(crate) type News = Arc<watch::Sender<u64>>;

/// All open repositories, in the order in which they were opened.
pub(crate) struct OpenRepositories {
    /// Never empty; `front` is within it.
    all: Vec<Repository>,
    front: usize,
    /// Roots of those that were open when the window was closed, and are not reopened yet.
    closed: Vec<PathBuf>,
}

/// One open repository.
pub(crate) struct Repository {
    options: Options,
    /// None until it is opened, so that the next call tries again after a home was repaired.
    engine: Option<Arc<Engine>>,
    /// Its working tree or git folder; none outside a repository, and before it is opened.
    root: Option<String>,
    /// Counts what arrives while it is behind.
    behind: Option<BackgroundFollower>,
    /// Notifies the desktop of requests, in front and behind.
    _told: Option<Subscription>,
}

struct BackgroundFollower {
    unseen: Arc<AtomicU64>,
    _following: Subscription,
}

impl BackgroundFollower {
    fn follow(engine: &Arc<Engine>, news: News) -> Result<Self, Refusal> {
        let unseen = Arc::new(AtomicU64::new(0));
        let counted = unseen.clone();
        let count = move |entries: Vec<Entry>| {
            counted.fetch_add(count_arrived(&entries), Ordering::Relaxed);
            tell_change(&news);
        };
        Ok(Self {
            _following: engine.subscribe(status_of(engine)?.head, count)?,
            unseen,
        })
    }
}

impl Repository {
    /// Opens a repository of this home and follows its evidence. Returns it with its root.
    pub(crate) fn open(home: &Path, repo: &Path) -> Result<(Self, String), Refusal> {
        let mut opened = Self::unopened(Options {
            home: home.to_owned(),
            repo: Some(repo.to_owned()),
            from: repo.to_owned(),
        });
        opened.engine()?;
        match opened.root.clone() {
            Some(root) => Ok((opened, root)),
            None => Err(Refusal::new(
                Code::RepoUnavailable,
                format!("{} is not in a git repository", repo.display()),
                "Choose a working tree, a bare repository or a .git folder.",
            )),
        }
    }

    /// A repository that opens when it is first needed.
    fn unopened(options: Options) -> Self {
        Self {
            options,
            engine: None,
            root: None,
            behind: None,
            _told: None,
        }
    }

    fn engine(&mut self) -> Result<Arc<Engine>, Refusal> {
        if let Some(engine) = &self.engine {
            return Ok(engine.clone());
        }
        let engine = Arc::new(Engine::open(self.options.clone())?);
        engine.follow_with_models()?;
        self.root = status_of(&engine)?.project.and_then(|it| it.root);
        #[cfg(target_os = "linux")]
        {
            // A home that cannot be followed yet can still be read.
            let told = crate::notify::follow(&engine, &self.options.home);
            let told = told.inspect_err(|refusal| tracing::warn!(%refusal, "no notifications"));
            self._told = told.ok();
        }
        Ok(self.engine.insert(engine).clone())
    }
}

/// What is known about an open repository without asking its engine.
pub(crate) struct OpenRepository {
    pub(crate) root: String,
    pub(crate) engine: Arc<Engine>,
    pub(crate) is_front: bool,
    /// Engrams that arrived since it was in front.
    pub(crate) unseen: u64,
}

impl OpenRepositories {
    /// Starts with one in front, which opens when it is first needed, and with the roots of those
    /// to reopen.
    pub(crate) fn new(options: Options, closed: Vec<PathBuf>) -> Self {
        Self {
            all: vec![Repository::unopened(options)],
            front: 0,
            closed,
        }
    }

    /// Returns the engine of the one in front, and its root if this call opened it. Blocks while it
    /// opens.
    pub(crate) fn engine(&mut self) -> Result<(Arc<Engine>, Option<String>), Refusal> {
        let front = &mut self.all[self.front];
        if let Some(engine) = &front.engine {
            return Ok((engine.clone(), None));
        }
        let engine = front.engine()?;
        Ok((engine, front.root.clone()))
    }

    /// Whether this is the engine of the one in front.
    pub(crate) fn is_front(&self, engine: &Arc<Engine>) -> bool {
        let front = &self.all[self.front].engine;
        front.as_ref().is_some_and(|it| Arc::ptr_eq(it, engine))
    }

    /// Whether this is the root of the one in front.
    pub(crate) fn has_front(&self, root: &str) -> bool {
        self.index_of(root) == Some(self.front)
    }

    /// Whether this is the root of one of them.
    pub(crate) fn has(&self, root: &str) -> bool {
        self.index_of(root).is_some()
    }

    fn index_of(&self, root: &str) -> Option<usize> {
        let is_it = |it: &Repository| it.root.as_deref() == Some(root);
        self.all.iter().position(is_it)
    }

    /// Adds one behind the others, unless it is already open.
    pub(crate) fn add(&mut self, mut repository: Repository, news: &News) {
        let root = repository.root.as_deref();
        if root.is_some_and(|it| self.has(it)) {
            return;
        }
        go_behind(&mut repository, news);
        self.all.push(repository);
    }

    /// Takes the next root of those to reopen.
    pub(crate) fn next_closed(&mut self) -> Option<PathBuf> {
        (!self.closed.is_empty()).then(|| self.closed.remove(0))
    }

    /// Brings one to the front. If the previous one is outside any repository, it is closed.
    pub(crate) fn bring(&mut self, root: &str, news: &News) {
        // Open the one in front first, in case it was never used.
        if let Err(refusal) = self.engine() {
            tracing::warn!(%refusal, "cannot open the repository in front");
        }
        let Some(at) = self.index_of(root) else {
            return;
        };
        let before = std::mem::replace(&mut self.front, at);
        self.all[at].behind = None;
        if self.all[before].root.is_none() {
            self.all.remove(before);
            self.front -= usize::from(before < at);
        } else if before != at {
            go_behind(&mut self.all[before], news);
        }
    }

    /// Closes one that is behind the front.
    pub(crate) fn close(&mut self, root: &str) {
        self.closed.retain(|it| it.as_path() != Path::new(root));
        if let Some(at) = self.index_of(root).filter(|it| *it != self.front) {
            self.all.remove(at);
            self.front -= usize::from(at < self.front);
        }
    }

    /// The roots of all that are open or to be reopened.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let open = self.all.iter().filter_map(|it| it.root.as_ref());
        let mut roots: Vec<PathBuf> = open.map(PathBuf::from).collect();
        for closed in &self.closed {
            if !roots.contains(closed) {
                roots.push(closed.clone());
            }
        }
        roots
    }

    /// Lists all that are open.
    pub(crate) fn list(&self) -> Vec<OpenRepository> {
        let open = |(at, repository): (usize, &Repository)| {
            let unseen = |it: &BackgroundFollower| it.unseen.load(Ordering::Relaxed);
            Some(OpenRepository {
                root: repository.root.clone()?,
                engine: repository.engine.clone()?,
                is_front: at == self.front,
                unseen: repository.behind.as_ref().map_or(0, unseen),
            })
        };
        self.all.iter().enumerate().filter_map(open).collect()
    }
}

/// Counts the entries that the list will show as new.
fn count_arrived(entries: &[Entry]) -> u64 {
    let arrived = entries.iter().filter_map(|it| it.change.arrived());
    arrived.count() as u64
}

fn go_behind(repository: &mut Repository, news: &News) {
    let Some(engine) = &repository.engine else {
        return;
    };
    match BackgroundFollower::follow(engine, news.clone()) {
        Ok(behind) => repository.behind = Some(behind),
        Err(refusal) => {
            let root = &repository.root;
            tracing::error!(?root, %refusal, "cannot count what arrives");
        }
    }
}

/// Signals that the open repositories changed.
pub(crate) fn tell_change(news: &News) {
    news.send_modify(|it| *it += 1);
}

pub(crate) fn status_of(engine: &Engine) -> Result<StatusReply, Refusal> {
    engine.ask(&Caller::User, ask::Status).map(|it| *it)
}
