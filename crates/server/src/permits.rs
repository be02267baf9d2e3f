//! Permits for requests. They limit how many requests an agent may have under way at once, over
//! all its connections, and how many all agents together may have, so that the user's requests
//! always find room. Further requests wait for a limited time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use engram_model::{AgentId, Code, Refusal};
use tokio::{
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::lock;

/// How many requests of one agent may be under way at once.
pub(crate) const EACH: usize = 2;

/// How long a further request waits: longer than two requests that compose lists take.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// The permits of the agents that this process answers.
pub(crate) struct RequestPermits {
    all: Arc<Semaphore>,
    /// The agents that hold a permit or wait for one.
    each: Mutex<HashMap<AgentId, Weak<Semaphore>>>,
    patience: Duration,
}

/// The right of an agent's request to be under way. Clones share one right.
#[derive(Clone)]
pub(crate) struct RequestPermit(
    #[expect(dead_code, reason = "held, not read")] Arc<[OwnedSemaphorePermit; 2]>,
);

impl RequestPermits {
    /// Allows `all` requests of agents at once; a further request waits for at most `patience`.
    pub(crate) fn new(all: usize, patience: Duration) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            each: Mutex::default(),
            patience,
        }
    }

    /// Waits for a permit for this agent and returns it.
    ///
    /// # Errors
    /// `RATE_LIMITED` if that takes too long.
    pub(crate) async fn wait_for_permit(&self, agent: &AgentId) -> Result<RequestPermit, Refusal> {
        let (own, all) = (self.agent_semaphore(agent), Arc::clone(&self.all));
        let permit = async {
            let permit = [own.acquire_owned().await?, all.acquire_owned().await?];
            Ok::<_, AcquireError>(RequestPermit(Arc::new(permit)))
        };
        let permit = timeout(self.patience, permit)
            .await
            .ok()
            .and_then(Result::ok);
        permit.ok_or_else(|| {
            Refusal::new(
                Code::RateLimited,
                format!("this request waited too long; an agent may have {EACH} under way at once"),
                "Wait for the answers to earlier requests, then send it again.",
            )
        })
    }

    fn agent_semaphore(&self, agent: &AgentId) -> Arc<Semaphore> {
        let mut each = lock(&self.each);
        if let Some(own) = each.get(agent).and_then(Weak::upgrade) {
            return own;
        }
        each.retain(|_, it| it.strong_count() > 0);
        let own = Arc::new(Semaphore::new(EACH));
        each.insert(agent.clone(), Arc::downgrade(&own));
        own
    }

    /// Counts the permits that agents hold now.
    #[cfg(test)]
    pub(crate) fn count_held(&self) -> usize {
        let each = lock(&self.each);
        let live = each.values().filter_map(Weak::upgrade);
        live.map(|it| EACH - it.available_permits()).sum()
    }
}
