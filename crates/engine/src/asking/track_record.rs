//! Track records: how often an agent's claims lost in settled conflicts, by their confidence. They
//! lower the weight of the agent's claims, by a fifth at most, and decide nothing else
//! (docs/design.md#track-records). They are computed from the valid verdicts and cached until the
//! next verdict.

use std::{collections::HashMap, sync::Arc};

use crate::context::Context;
use engram_model::{AgentId, Engram, ProjectId, Refusal, Scope};
use engram_store::Reader;
use parking_lot::Mutex;

/// How many of the newest verdicts count.
const VERDICTS: usize = 500;
/// The largest share that is taken from the weight of a claim.
const MAX_PENALTY: f64 = 0.2;
/// How many settled claims are assumed in addition, so that a single loss does not decide.
const GIVEN: f64 = 3.0;
/// The number of classes of confidence.
const QUARTERS: usize = 4;

/// The settled claims, and how many of them lost.
#[derive(Clone, Copy, Default)]
struct Count {
    settled: f64,
    lost: f64,
}

impl Count {
    /// The share that lost; close to `usual` if there are few claims.
    fn share_lost(self, usual: f64) -> f64 {
        (self.lost + GIVEN * usual) / (self.settled + GIVEN)
    }
}

/// The claims of each agent of a project, by quarters of confidence.
#[derive(Default)]
pub(crate) struct TrackRecord(HashMap<AgentId, [Count; QUARTERS]>);

/// The last result: its project, the entry up to which it counts, and the record.
#[derive(Default)]
pub(crate) struct KeptTrackRecord(Mutex<Option<(ProjectId, u64, Arc<TrackRecord>)>>);

impl KeptTrackRecord {
    /// Clears the cache, because another home has other entries.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

impl TrackRecord {
    /// The factor for the weight of a claim; 1 for the user's claims.
    pub(crate) fn weight(&self, engram: &Engram) -> f64 {
        let Some(counts) = engram.agent.as_ref().and_then(|it| self.0.get(it)) else {
            return 1.0;
        };
        let all = counts.iter().fold(Count::default(), |all, it| Count {
            settled: all.settled + it.settled,
            lost: all.lost + it.lost,
        });
        let of = counts
            .get(confidence_quarter(engram))
            .copied()
            .unwrap_or_default();
        1.0 - MAX_PENALTY * of.share_lost(all.share_lost(0.0))
    }

    fn add(&mut self, engram: &Engram, has_lost: bool) {
        let Some(agent) = engram
            .agent
            .clone()
            // Claims of a run do not count outside it.
            .filter(|_| !engram.redacted && engram.scope != Scope::Run)
        else {
            return;
        };
        if let Some(count) = self
            .0
            .entry(agent)
            .or_default()
            .get_mut(confidence_quarter(engram))
        {
            count.settled += 1.0;
            count.lost += f64::from(u8::from(has_lost));
        }
    }

    fn of(tx: &Reader<'_>, project: ProjectId) -> Result<Self, Refusal> {
        let mut lost = Self::default();
        for (ruling, judge) in tx.winners(project, VERDICTS)? {
            let side = ruling.winner.as_deref().unwrap_or_default();
            let winner = tx.versions_on_side(project, side, None)?.into_iter().next();
            // A verdict by the winner's own author does not count.
            if judge.is_some() && winner.as_ref().is_some_and(|it| it.agent == judge) {
                continue;
            }
            winner.iter().for_each(|it| lost.add(it, false));
            for id in &ruling.closed {
                tx.engram(*id)?.iter().for_each(|it| lost.add(it, true));
            }
        }
        Ok(lost)
    }
}

/// The quarter of a claim's confidence.
fn confidence_quarter(engram: &Engram) -> usize {
    let at = (engram.confidence * QUARTERS as f64) as usize;
    at.min(QUARTERS - 1)
}

/// The track records of a project's agents, by its current verdicts.
pub(crate) fn track_records(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
) -> Result<Arc<TrackRecord>, Refusal> {
    let kept = &cx.engine.caches.track_record.0;
    let mut kept = kept.lock();
    let head = tx.head()?;
    if let Some((of, seen, lost)) = &mut *kept
        && *of == project
        && *seen <= head
        && !tx.settled_after(*seen)?
    {
        *seen = head;
        return Ok(Arc::clone(lost));
    }
    let lost = Arc::new(TrackRecord::of(tx, project)?);
    *kept = Some((project, head, Arc::clone(&lost)));
    Ok(lost)
}
