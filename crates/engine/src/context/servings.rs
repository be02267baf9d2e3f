//! What agents were shown and no write has recorded yet (`agents/served.rs` fills it).

use std::collections::BTreeMap;

use engram_model::{AgentId, EngramId, RunId, operation::Served};
use parking_lot::Mutex;

/// The most fingerprints of one agent that wait for a write. The oldest are dropped first.
const MAX_WAITING: usize = 8_192;

/// What was shown since the last write, by agent.
#[derive(Default)]
pub(crate) struct Servings(Mutex<BTreeMap<AgentId, Serving>>);

/// What one agent was shown since the last write.
struct Serving {
    run: RunId,
    counts: BTreeMap<EngramId, u64>,
    /// The fingerprints, in the order in which they were shown.
    prints: Vec<u64>,
}

impl Servings {
    /// Puts back what [`Self::take`] took and nobody stored.
    pub(crate) fn put_back(&self, served: Vec<Served>) {
        served.into_iter().for_each(|it| self.add(it));
    }

    pub(crate) fn add(&self, served: Served) {
        let mut all = self.0.lock();
        let waiting = all.entry(served.to).or_insert_with(|| Serving {
            run: served.run,
            counts: BTreeMap::new(),
            prints: Vec::new(),
        });
        for (id, count) in served.engrams {
            *waiting.counts.entry(id).or_default() += count;
        }
        waiting.prints.extend(served.prints);
        let over = waiting.prints.len().saturating_sub(MAX_WAITING);
        waiting.prints.drain(..over);
    }

    pub(crate) fn take(&self) -> Vec<Served> {
        let all = std::mem::take(&mut *self.0.lock());
        let served = all.into_iter().map(|(to, it)| Served {
            to,
            run: it.run,
            engrams: it.counts.into_iter().collect(),
            prints: it.prints,
        });
        served.collect()
    }

    /// The fingerprints, sorted.
    pub(crate) fn prints(&self, agent: &AgentId) -> Vec<u64> {
        let all = self.0.lock();
        let mut prints = all.get(agent).map_or_else(Vec::new, |it| it.prints.clone());
        prints.sort_unstable();
        prints
    }
}
