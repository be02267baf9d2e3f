//! What the commands share: the engine, opened when it is first needed, and the page's subscription.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use engram_engine::{Engine, Options, Subscription};
use engram_model::{Caller, Code, Refusal, Reply, Request, StatusReply};
use tauri::{
    async_runtime::{Mutex as AsyncMutex, Receiver},
    ipc::Channel,
};

use crate::recent;

/// JSON of entries that wait for the page to ask; one delivery at a time, so that a slow page slows its
/// subscription and nothing else.
pub(crate) type Coming = Arc<AsyncMutex<Receiver<Vec<u8>>>>;

/// Cheap to clone; every clone is the same shell.
#[derive(Clone)]
pub(crate) struct Shell(Arc<Inner>);

struct Inner {
    home: PathBuf,
    open: Mutex<Open>,
    /// Where links go once the page listens, and those that came before.
    links: Mutex<(Option<Channel<String>>, Vec<String>)>,
    subscription: Mutex<Option<(Subscription, Coming)>>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
}

/// The repository in the window.
struct Open {
    options: Options,
    /// None until it could be opened: a home that was mended is opened by the next call.
    engine: Option<Arc<Engine>>,
}

impl Shell {
    pub(crate) fn new(options: Options) -> Self {
        Self(Arc::new(Inner {
            home: options.home.clone(),
            open: Mutex::new(Open {
                options,
                engine: None,
            }),
            links: Mutex::default(),
            subscription: Mutex::new(None),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
        }))
    }

    /// Where data lives.
    pub(crate) fn home(&self) -> &Path {
        &self.0.home
    }

    /// The same, where it is another one than is meant without a word.
    pub(crate) fn other_home(&self) -> Option<&Path> {
        let own = engram_engine::default_home();
        Some(self.home()).filter(|it| own.as_deref() != Some(it))
    }

    /// Runs blocking work of the engine away from the window's own threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Engine>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let shell = self.clone();
        let done = tauri::async_runtime::spawn_blocking(move || work(&shell.engine()?)).await;
        done.unwrap_or_else(|_| {
            Err(Refusal::new(
                Code::Internal,
                "the engine stopped while it answered",
                "This is a defect of ours; the log in the folder logs of Engram's home says more.",
            ))
        })
    }

    /// The engine; blocks while it opens.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>, Refusal> {
        let mut open = lock(&self.0.open);
        if let Some(engine) = &open.engine {
            return Ok(engine.clone());
        }
        let engine = start(open.options.clone())?;
        remember(&self.0.home, &engine);
        Ok(open.engine.insert(engine).clone())
    }

    /// Makes another repository the one in the window; the one before stays where this cannot be opened.
    pub(crate) fn switch(&self, repo: &Path) -> Result<(), Refusal> {
        let options = Options {
            home: self.0.home.clone(),
            repo: Some(repo.to_owned()),
            from: repo.to_owned(),
        };
        let engine = start(options.clone())?;
        let status = status_of(&engine)?;
        if status.project.is_none() {
            return Err(Refusal::new(
                Code::RepoUnavailable,
                format!("{} is not in a git repository", repo.display()),
                "Name a working tree, a bare repository or a .git folder.",
            ));
        }
        remember(&self.0.home, &engine);
        // No entry of the one before comes after this.
        *lock(&self.0.subscription) = None;
        *lock(&self.0.open) = Open {
            options,
            engine: Some(engine),
        };
        Ok(())
    }

    /// Hands a link to the page, now or once it listens; an empty one says that the repository is another.
    pub(crate) fn hand(&self, link: String) {
        let mut links = lock(&self.0.links);
        match &links.0 {
            Some(page) => {
                if let Err(error) = page.send(link) {
                    tracing::warn!(%error, "the page took no link");
                }
            }
            None => links.1.push(link),
        }
    }

    /// The page listens for links from now on.
    pub(crate) fn follow_links(&self, page: Channel<String>) {
        let waiting = {
            let mut links = lock(&self.0.links);
            links.0 = Some(page);
            std::mem::take(&mut links.1)
        };
        waiting.into_iter().for_each(|it| self.hand(it));
    }

    /// Where things stand.
    pub(crate) fn status(&self) -> Result<StatusReply, Refusal> {
        status_of(&*self.engine()?)
    }

    /// The page has one subscription: another one takes the place of the first.
    pub(crate) fn keep(&self, subscription: Subscription, coming: Coming) {
        *lock(&self.0.subscription) = Some((subscription, coming));
    }

    /// What came to the page by its subscription, once there is anything. One that ended by itself is
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
                    "Subscribe again; the log in the folder logs of Engram's home says why it ended.",
                ));
            }
        }
        // Another subscription took its place: who asked is not there any more.
        std::future::pending().await
    }

    fn coming(&self) -> Option<Coming> {
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

fn start(options: Options) -> Result<Arc<Engine>, Refusal> {
    let engine = Arc::new(Engine::open(options)?);
    engine.follow()?;
    Ok(engine)
}

pub(crate) fn status_of(engine: &Engine) -> Result<StatusReply, Refusal> {
    match engine.handle(&Caller::User, Request::Status)? {
        Reply::Status(status) => Ok(*status),
        _ => Err(Refusal::new(
            Code::Internal,
            "the engine answered something else than its status",
            "This is a defect of ours: please report it.",
        )),
    }
}

fn remember(home: &Path, engine: &Engine) {
    let root = status_of(engine).ok().and_then(|it| it.project?.root);
    if let Some(root) = root {
        recent::remember(home, Path::new(&root));
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
            let subscription = shell.engine().unwrap().subscribe(0, |_| ()).unwrap();
            shell.keep(subscription, Arc::new(AsyncMutex::new(coming)));
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
