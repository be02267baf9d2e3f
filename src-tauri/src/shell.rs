//! The state that the commands share: the open repositories, the page's subscription, and what
//! waits for the page.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engram_engine::{Engine, Options, RepositoryWaiting, Subscription};
use engram_model::{Code, Handed, Refusal, StatusReply};
use parking_lot::{Condvar, Mutex, MutexGuard};
use tauri::{
    async_runtime::{Mutex as AsyncMutex, Receiver},
    ipc::Channel,
};
use tokio::sync::watch;

use crate::{
    recent,
    repositories::{News, OpenRepositories, OpenRepository, Repository, status_of, tell_change},
};

/// JSON of entries that wait until the page asks. There is room for one delivery, so that a slow
/// page slows only its own subscription.
pub(crate) type PendingEntries = Arc<AsyncMutex<Receiver<Vec<u8>>>>;

/// Cheap to clone; every clone is the same shell.
#[derive(Clone)]
pub(crate) struct Shell(Arc<Inner>);

struct Inner {
    home: PathBuf,
    opened: Mutex<OpenRepositories>,
    /// Locked before `opened`, while a repository is opened, brought to the front or closed.
    changing: Mutex<()>,
    /// Counts the changes to the open repositories.
    news: News,
    /// The page's channel once it listens, and what arrived before that.
    handed: Mutex<(Option<Channel<Handed>>, Vec<Handed>)>,
    subscription: Mutex<Option<(Subscription, PendingEntries)>>,
    /// What waits for the person in all repositories of the home, and who counts it.
    waiting: Mutex<Vec<RepositoryWaiting>>,
    counting: Mutex<Option<(Arc<Engine>, Subscription)>>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
}

impl Shell {
    pub(crate) fn new(options: Options) -> Self {
        Self(Arc::new(Inner {
            home: options.home.clone(),
            opened: Mutex::new(OpenRepositories::new(
                options.clone(),
                recent::read_opened(&options.home),
            )),
            changing: Mutex::default(),
            news: News::new(watch::Sender::new(1)),
            handed: Mutex::default(),
            subscription: Mutex::new(None),
            waiting: Mutex::default(),
            counting: Mutex::default(),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
        }))
    }

    /// The path of the home.
    pub(crate) fn home(&self) -> &Path {
        &self.0.home
    }

    /// The path of the home, unless it is the default one.
    pub(crate) fn other_home(&self) -> Option<&Path> {
        let own = engram_engine::default_home();
        Some(self.home()).filter(|it| own.as_deref() != Some(it))
    }

    /// Runs blocking work that needs the engine, off the window's own threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Engine>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.blocking(move |shell| work(&shell.engine()?)).await
    }

    /// Runs blocking work that may not need an engine, off the window's own threads.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let shell = self.clone();
        let done = tauri::async_runtime::spawn_blocking(move || work(&shell)).await;
        done.unwrap_or_else(|_| {
            Err(Refusal::new(
                Code::Internal,
                "the engine stopped while it answered",
                "This is a bug in Engram: please report it, with the log in the logs folder of its home.",
            ))
        })
    }

    /// Returns the engine of the repository in front; blocks while it opens.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>, Refusal> {
        let (engine, new) = self.0.opened.lock().engine()?;
        if let Some(root) = new {
            recent::remember(self.home(), Path::new(&root));
            tell_change(&self.0.news);
        }
        Ok(engine)
    }

    /// Brings a repository to the front, opening it if needed; the previous one stays open behind
    /// it. Returns its root.
    pub(crate) fn bring(&self, repo: &Path) -> Result<String, Refusal> {
        let changing = self.0.changing.lock();
        let known = repo.to_str().filter(|it| self.0.opened.lock().has(it));
        let root = match known {
            Some(root) => root.to_owned(),
            None => self.add(repo)?,
        };
        recent::remember(self.home(), Path::new(&root));
        {
            let mut opened = self.0.opened.lock();
            if !opened.has_front(&root) {
                // No more entries of the previous one may arrive.
                *self.0.subscription.lock() = None;
            }
            opened.bring(&root, &self.0.news);
        }
        self.tell_opened(changing);
        Ok(root)
    }

    /// Opens a repository behind the one in front. Returns its root.
    fn add(&self, repo: &Path) -> Result<String, Refusal> {
        let (repository, root) = Repository::open(self.home(), repo)?;
        self.0.opened.lock().add(repository, &self.0.news);
        Ok(root)
    }

    /// Closes a repository behind the one in front.
    pub(crate) fn close(&self, root: &str) {
        let changing = self.0.changing.lock();
        self.0.opened.lock().close(root);
        self.tell_opened(changing);
    }

    /// Reopens the repositories that were open when the window was closed, behind the one in front.
    pub(crate) fn reopen(&self) {
        loop {
            let changing = self.0.changing.lock();
            let Some(path) = self.0.opened.lock().next_closed() else {
                return;
            };
            if let Err(refusal) = self.reopen_one(&path) {
                tracing::warn!(path = %path.display(), %refusal, "cannot reopen a repository");
            }
            self.tell_opened(changing);
        }
    }

    fn reopen_one(&self, path: &Path) -> Result<(), Refusal> {
        // It may be the one in front, so open that first.
        self.engine()?;
        let is_open = |it: &str| self.0.opened.lock().has(it);
        if path.to_str().is_some_and(is_open) {
            Ok(())
        } else {
            self.add(path).map(drop)
        }
    }

    /// Stores which repositories are open, and notifies the page.
    fn tell_opened(&self, _changing: MutexGuard<'_, ()>) {
        let roots = self.0.opened.lock().roots();
        recent::keep_opened(self.home(), &roots);
        tell_change(&self.0.news);
    }

    /// Lists all that are open.
    pub(crate) fn opened(&self) -> Vec<OpenRepository> {
        self.0.opened.lock().list()
    }

    /// Counts what waits in all repositories from now on, and calls `tell` whenever it changed.
    /// Does nothing if it is counted already; the next call tries again if the home cannot be
    /// followed yet.
    pub(crate) fn follow_waiting(&self, tell: impl Fn(&Self) + Send + 'static) {
        let mut counting = self.0.counting.lock();
        if counting.is_some() {
            return;
        }
        let inner = Arc::downgrade(&self.0);
        let each = move |all: Vec<RepositoryWaiting>| {
            let Some(shell) = inner.upgrade().map(Self) else {
                return;
            };
            *shell.0.waiting.lock() = all;
            tell_change(&shell.0.news);
            tell(&shell);
        };
        // An engine of its own: the repository in front may be closed.
        let options = Options {
            home: self.home().to_owned(),
            repo: None,
            from: self.home().to_owned(),
        };
        let engine = Engine::open(options).map(Arc::new);
        let followed = engine.and_then(|engine| {
            let following = engine.follow_waiting(each)?;
            Ok((engine, following))
        });
        match followed {
            Ok(followed) => *counting = Some(followed),
            Err(refusal) => tracing::warn!(%refusal, "cannot count what waits"),
        }
    }

    /// What waits for the person in all repositories of the home.
    pub(crate) fn waiting(&self) -> Vec<RepositoryWaiting> {
        self.0.waiting.lock().clone()
    }

    /// Waits until the counter of changes exceeds `after`; returns it.
    pub(crate) async fn news(&self, after: u64) -> u64 {
        let mut news = self.0.news.subscribe();
        let more = news.wait_for(|it| *it > after).await;
        // The sender lives as long as the shell.
        more.map_or(after, |it| *it)
    }

    /// Passes something to the page, now or once it listens.
    pub(crate) fn hand(&self, handed: Handed) {
        let mut waiting = self.0.handed.lock();
        match &waiting.0 {
            Some(page) => {
                if let Err(error) = page.send(handed) {
                    tracing::warn!(%error, "cannot pass something to the page");
                }
            }
            None => waiting.1.push(handed),
        }
    }

    /// Records that the page listens from now on, and passes it what waited.
    pub(crate) fn follow_handed(&self, page: Channel<Handed>) {
        let waiting = {
            let mut handed = self.0.handed.lock();
            handed.0 = Some(page);
            std::mem::take(&mut handed.1)
        };
        waiting.into_iter().for_each(|it| self.hand(it));
    }

    /// The current status.
    pub(crate) fn status(&self) -> Result<StatusReply, Refusal> {
        status_of(&*self.engine()?)
    }

    /// Replaces the page's one subscription. A subscription to a repository that is no longer in
    /// front is dropped.
    pub(crate) fn keep(
        &self,
        engine: &Arc<Engine>,
        subscription: Subscription,
        coming: PendingEntries,
    ) {
        let opened = self.0.opened.lock();
        if opened.is_front(engine) {
            *self.0.subscription.lock() = Some((subscription, coming));
        }
    }

    /// Waits for entries of the page's subscription. If the subscription has ended, it refuses: the
    /// page then shows that it is disconnected, and subscribes again.
    pub(crate) async fn entries(&self) -> Result<Vec<u8>, Refusal> {
        if let Some(coming) = self.pending_entries() {
            if let Some(json) = coming.lock().await.recv().await {
                return Ok(json);
            }
            if self
                .pending_entries()
                .is_some_and(|it| Arc::ptr_eq(&it, &coming))
            {
                return Err(Refusal::new(
                    Code::Internal,
                    "the window no longer follows the journal",
                    "Subscribe again; the log in the logs folder of Engram's home says why it ended.",
                ));
            }
        }
        // Another subscription has replaced this one, so the caller is gone.
        std::future::pending().await
    }

    fn pending_entries(&self) -> Option<PendingEntries> {
        self.0
            .subscription
            .lock()
            .as_ref()
            .map(|(_, coming)| coming.clone())
    }

    /// Records that something is on the screen; returns true the first time.
    pub(crate) fn set_ready(&self) -> bool {
        let before = std::mem::replace(&mut *self.0.is_ready.lock(), true);
        self.0.became_ready.notify_all();
        !before
    }

    /// Waits until something is on the screen, up to `longest`; returns whether something is.
    pub(crate) fn wait_ready(&self, longest: Duration) -> bool {
        let mut is_ready = self.0.is_ready.lock();
        self.0
            .became_ready
            .wait_while_for(&mut is_ready, |it| !*it, longest);
        *is_ready
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use std::task::{Context, Poll, Waker};

    use tauri::async_runtime::{block_on, channel};

    use super::*;

    #[test]
    fn a_subscription_that_ended_is_refused_and_one_that_was_replaced_is_silent() {
        let home = tempfile::tempdir().unwrap();
        let shell = Shell::new(Options {
            home: home.path().to_owned(),
            repo: None,
            from: home.path().to_owned(),
        });
        let subscribe = || {
            let (sender, coming) = channel(1);
            let engine = shell.engine().unwrap();
            let subscription = engine.subscribe(0, |_| ()).unwrap();
            shell.keep(&engine, subscription, Arc::new(AsyncMutex::new(coming)));
            sender
        };
        let mut context = Context::from_waker(Waker::noop());
        let sender = subscribe();
        sender.blocking_send(b"[]".to_vec()).unwrap();
        assert_eq!(block_on(shell.entries()).unwrap(), b"[]");
        let mut asked = Box::pin(shell.entries());
        assert!(asked.as_mut().poll(&mut context).is_pending());
        let another = subscribe();
        drop(sender);
        assert!(asked.as_mut().poll(&mut context).is_pending());
        drop(another);
        let Poll::Ready(Err(refusal)) = Box::pin(shell.entries()).as_mut().poll(&mut context)
        else {
            panic!("the page waits although its subscription ended");
        };
        assert!(refusal.message.contains("no longer follows"), "{refusal}");
    }
}
