//! What the commands share: the engine, opened when it is first needed, and the page's subscription.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use engram_engine::{Engine, Options, Subscription};
use engram_model::{Caller, Code, Refusal, Reply, Request, StatusReply};

/// Cheap to clone; every clone is the same shell.
#[derive(Clone)]
pub(crate) struct Shell(Arc<Inner>);

struct Inner {
    options: Options,
    /// None until it could be opened: a home that was mended is opened by the next call.
    engine: Mutex<Option<Arc<Engine>>>,
    subscription: Mutex<Option<Subscription>>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
}

impl Shell {
    pub(crate) fn new(options: Options) -> Self {
        Self(Arc::new(Inner {
            options,
            engine: Mutex::new(None),
            subscription: Mutex::new(None),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
        }))
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
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
        let mut engine = lock(&self.0.engine);
        if let Some(engine) = &*engine {
            return Ok(engine.clone());
        }
        let opened = Arc::new(Engine::open(self.0.options.clone())?);
        opened.follow()?;
        Ok(engine.insert(opened).clone())
    }

    /// Where things stand.
    pub(crate) fn status(&self) -> Result<StatusReply, Refusal> {
        match self.engine()?.handle(&Caller::User, Request::Status)? {
            Reply::Status(status) => Ok(*status),
            _ => Err(Refusal::new(
                Code::Internal,
                "the engine answered something else than its status",
                "This is a defect of ours: please report it.",
            )),
        }
    }

    /// The page has one subscription: another one takes the place of the first.
    pub(crate) fn keep(&self, subscription: Subscription) {
        *lock(&self.0.subscription) = Some(subscription);
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
