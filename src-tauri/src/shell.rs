//! What the commands share: the open repositories, the page's subscription, and what waits for the
//! page.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use engram_engine::{Engine, Options, Subscription};
use engram_model::{Code, Handed, Refusal, StatusReply};
use tauri::{
    async_runtime::{Mutex as AsyncMutex, Receiver},
    ipc::Channel,
};
use tokio::sync::watch;

use crate::{
    recent,
    repositories::{News, OpenRepositories, OpenRepository, Repository, status_of, tell},
};

/// JSON of entries that wait for the page to ask; one delivery at a time, so that a slow page slows
/// its subscription and nothing else.
pub(crate) type PendingEntries = Arc<AsyncMutex<Receiver<Vec<u8>>>>;

/// Cheap to clone; every clone is the same shell.
#[derive(Clone)]
pub(crate) struct Shell(Arc<Inner>);

struct Inner {
    home: PathBuf,
    opened: Mutex<OpenRepositories>,
    /// Held while another one is opened, brought in front or closed; then the others.
    changing: Mutex<()>,
    /// Changes with each change among them.
    news: News,
    /// Its destination once the page listens, and what arrived before.
    handed: Mutex<(Option<Channel<Handed>>, Vec<Handed>)>,
    subscription: Mutex<Option<(Subscription, PendingEntries)>>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
}

impl Shell {
    pub(crate) fn new(options: Options) -> Self {
        Self(Arc::new(Inner {
            home: options.home.clone(),
            opened: Mutex::new(OpenRepositories::new(
                options.clone(),
                recent::opened(&options.home),
            )),
            changing: Mutex::default(),
            news: News::new(watch::Sender::new(1)),
            handed: Mutex::default(),
            subscription: Mutex::new(None),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
        }))
    }

    /// Where data lives.
    pub(crate) fn home(&self) -> &Path {
        &self.0.home
    }

    /// The same, if it is not the default one.
    pub(crate) fn other_home(&self) -> Option<&Path> {
        let own = engram_engine::default_home();
        Some(self.home()).filter(|it| own.as_deref() != Some(it))
    }

    /// Runs blocking work of the engine away from the window's own threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Engine>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.blocking(move |shell| work(&shell.engine()?)).await
    }

    /// The same for work that may need no engine.
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

    /// The engine of the repository in front; blocks while it opens.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>, Refusal> {
        let (engine, new) = lock(&self.0.opened).engine()?;
        if let Some(root) = new {
            recent::remember(self.home(), Path::new(&root));
            tell(&self.0.news);
        }
        Ok(engine)
    }

    /// Brings a repository in front, which is opened where it is not; the one before stays open
    /// behind it. Returns its root.
    pub(crate) fn bring(&self, repo: &Path) -> Result<String, Refusal> {
        let changing = lock(&self.0.changing);
        let known = repo.to_str().filter(|it| lock(&self.0.opened).has(it));
        let root = match known {
            Some(root) => root.to_owned(),
            None => self.add(repo)?,
        };
        recent::remember(self.home(), Path::new(&root));
        {
            let mut opened = lock(&self.0.opened);
            if !opened.has_front(&root) {
                // No entry of the previous one follows.
                *lock(&self.0.subscription) = None;
            }
            opened.bring(&root, &self.0.news);
        }
        self.changed(changing);
        Ok(root)
    }

    /// Opens a repository behind the one in front. Returns its root.
    fn add(&self, repo: &Path) -> Result<String, Refusal> {
        let (repository, root) = Repository::open(self.home(), repo)?;
        lock(&self.0.opened).add(repository, &self.0.news);
        Ok(root)
    }

    /// Closes a repository behind the one in front.
    pub(crate) fn close(&self, root: &str) {
        let changing = lock(&self.0.changing);
        lock(&self.0.opened).close(root);
        self.changed(changing);
    }

    /// Opens the repositories that were open when the window was closed, behind the one in front.
    pub(crate) fn reopen(&self) {
        loop {
            let changing = lock(&self.0.changing);
            let Some(path) = lock(&self.0.opened).next_closed() else {
                return;
            };
            if let Err(refusal) = self.reopen_one(&path) {
                tracing::warn!(path = %path.display(), %refusal, "not opened again");
            }
            self.changed(changing);
        }
    }

    fn reopen_one(&self, path: &Path) -> Result<(), Refusal> {
        // It may be the one in front.
        self.engine()?;
        let is_open = |it: &str| lock(&self.0.opened).has(it);
        if path.to_str().is_some_and(is_open) {
            Ok(())
        } else {
            self.add(path).map(drop)
        }
    }

    /// Keeps which are open, and tells the page of it.
    fn changed(&self, _changing: MutexGuard<'_, ()>) {
        let roots = lock(&self.0.opened).roots();
        recent::keep_opened(self.home(), &roots);
        tell(&self.0.news);
    }

    /// All that are open.
    pub(crate) fn opened(&self) -> Vec<OpenRepository> {
        lock(&self.0.opened).list()
    }

    /// How much has changed among them, once it is more than this.
    pub(crate) async fn news(&self, after: u64) -> u64 {
        let mut news = self.0.news.subscribe();
        let more = news.wait_for(|it| *it > after).await;
        // Its sender lives as long as the shell.
        more.map_or(after, |it| *it)
    }

    /// Passes something to the page, now or once it listens.
    pub(crate) fn hand(&self, handed: Handed) {
        let mut waiting = lock(&self.0.handed);
        match &waiting.0 {
            Some(page) => {
                if let Err(error) = page.send(handed) {
                    tracing::warn!(%error, "the page took nothing");
                }
            }
            None => waiting.1.push(handed),
        }
    }

    /// The page listens from now on.
    pub(crate) fn follow_handed(&self, page: Channel<Handed>) {
        let waiting = {
            let mut handed = lock(&self.0.handed);
            handed.0 = Some(page);
            std::mem::take(&mut handed.1)
        };
        waiting.into_iter().for_each(|it| self.hand(it));
    }

    /// The current status.
    pub(crate) fn status(&self) -> Result<StatusReply, Refusal> {
        status_of(&*self.engine()?)
    }

    /// The page has one subscription: another one takes the place of the first. One to a repository
    /// that is not in front any more is not kept.
    pub(crate) fn keep(
        &self,
        engine: &Arc<Engine>,
        subscription: Subscription,
        coming: PendingEntries,
    ) {
        let opened = lock(&self.0.opened);
        if opened.is_front(engine) {
            *lock(&self.0.subscription) = Some((subscription, coming));
        }
    }

    /// What arrived for the page's subscription, once there is anything. One that has ended is
    /// refused: the page says that it is disconnected, and subscribes again.
    pub(crate) async fn entries(&self) -> Result<Vec<u8>, Refusal> {
        if let Some(coming) = self.coming() {
            if let Some(json) = coming.lock().await.recv().await {
                return Ok(json);
            }
            if self.coming().is_some_and(|it| Arc::ptr_eq(&it, &coming)) {
                return Err(Refusal::new(
                    Code::Internal,
                    "the journal is not followed any more",
                    "Subscribe again; the log in the logs folder of Engram's home says why it ended.",
                ));
            }
        }
        // Another subscription took its place: the caller is gone.
        std::future::pending().await
    }

    fn coming(&self) -> Option<PendingEntries> {
        lock(&self.0.subscription)
            .as_ref()
            .map(|(_, coming)| coming.clone())
    }

    /// Notes that something is on the screen; true the first time.
    pub(crate) fn set_ready(&self) -> bool {
        let before = std::mem::replace(&mut *lock(&self.0.is_ready), true);
        self.0.became_ready.notify_all();
        !before
    }

    /// Waits until something is on the screen, but no longer than this; says whether it is.
    pub(crate) fn wait_ready(&self, longest: Duration) -> bool {
        let is_ready = lock(&self.0.is_ready);
        let waited = self
            .0
            .became_ready
            .wait_timeout_while(is_ready, longest, |it| !*it);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// What a lock guards here is whole between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            panic!("the page waits for what never comes");
        };
        assert!(refusal.message.contains("not followed"), "{refusal}");
    }
}
