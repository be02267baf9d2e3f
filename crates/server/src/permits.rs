//! Permits for requests. They limit how many requests an agent may have under way at once, over
//! all its connections, how many all agents of a tree may have, so that an agent cannot use its
//! children to keep others out, and how many all agents together may have, so that the user's
//! requests always find room. Further requests wait for a limited time.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use engram_model::{AgentId, Code, Refusal};
use parking_lot::Mutex;
use tokio::{
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// How many requests of one agent may be under way at once.
pub(crate) const EACH: usize = 2;

/// How long a further request waits: longer than two requests that compose lists take.
pub(crate) const WAIT: Duration = Duration::from_secs(10);

/// The permits of the agents that this process answers.
pub(crate) struct RequestPermits {
    all: Arc<Semaphore>,
    /// The permits of each agent that holds one or waits for one.
    each: Shares,
    /// The permits of each tree, by its root.
    trees: Shares,
    patience: Duration,
}

/// The permits of each agent, or of each tree; all have the same number.
struct Shares {
    each: usize,
    in_use: Mutex<HashMap<AgentId, Weak<Semaphore>>>,
}

impl Shares {
    fn new(each: usize) -> Self {
        let in_use = Mutex::default();
        Self { each, in_use }
    }

    fn of(&self, agent: &AgentId) -> Arc<Semaphore> {
        let mut in_use = self.in_use.lock();
        if let Some(share) = in_use.get(agent).and_then(Weak::upgrade) {
            return share;
        }
        in_use.retain(|_, it| it.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        in_use.insert(agent.clone(), Arc::downgrade(&share));
        share
    }
}

/// The right of an agent's request to be under way. Clones share one right.
#[derive(Clone)]
pub(crate) struct RequestPermit(
    #[expect(dead_code, reason = "held, not read")] Arc<[OwnedSemaphorePermit; 3]>,
);

impl RequestPermits {
    /// Allows `all` requests of agents at once, and `tree` of each tree; a further request waits
    /// for at most `patience`.
    pub(crate) fn new(all: usize, tree: usize, patience: Duration) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            each: Shares::new(EACH),
            trees: Shares::new(tree),
            patience,
        }
    }

    /// Waits for a permit for this agent, whose tree has this root, and returns it.
    ///
    /// # Errors
    /// `RATE_LIMITED` if that takes too long.
    pub(crate) async fn wait_for_permit(
        &self,
        agent: &AgentId,
        root: &AgentId,
    ) -> Result<RequestPermit, Refusal> {
        let (own, tree) = (self.each.of(agent), self.trees.of(root));
        let permit = async {
            // A request that waits for a permit of its agent or tree takes none of the shared ones.
            let permit = [
                own.acquire_owned().await?,
                tree.acquire_owned().await?,
                Arc::clone(&self.all).acquire_owned().await?,
            ];
            Ok::<_, AcquireError>(RequestPermit(Arc::new(permit)))
        };
        let permit = timeout(self.patience, permit)
            .await
            .ok()
            .and_then(Result::ok);
        permit.ok_or_else(|| {
            let tree = self.trees.each;
            Refusal::new(
                Code::RateLimited,
                format!(
                    "this request waited too long: an agent may have {EACH} requests running at once, and all agents of its tree together {tree}"
                ),
                "Wait for the answers to earlier requests, then send it again.",
            )
        })
    }

    /// Counts the permits that agents hold now.
    #[cfg(test)]
    pub(crate) fn count_held(&self) -> usize {
        let each = self.each.in_use.lock();
        let live = each.values().filter_map(Weak::upgrade);
        live.map(|it| EACH - it.available_permits()).sum()
    }
}
