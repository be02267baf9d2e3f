//! How often an agent's claims lost in conflicts that were settled, kept by the confidence with which it had
//! said them. It weighs down what the agent says, by a fifth at most, and decides nothing else
//! (docs/design.md#track-records). It follows from the verdicts that stand, and is kept in memory until
//! there is another.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::context::Context;
use engram_model::{AgentId, Engram, ProjectId, Refusal, Scope};
use engram_store::Reader;

/// Most verdicts that count, the newest.
const VERDICTS: usize = 500;
/// The most that is taken from the weight of a claim.
const MOST: f64 = 0.2;
/// As many claims that held are taken for granted, so that one that lost does not say everything.
const GIVEN: f64 = 3.0;
/// Confidence is told apart by quarters.
const QUARTERS: usize = 4;

/// Claims that were settled, and those of them that lost.
#[derive(Clone, Copy, Default)]
struct Count {
    settled: f64,
    lost: f64,
}

impl Count {
    /// Which share lost; `usual` where little is known.
    fn share(self, usual: f64) -> f64 {
        (self.lost + GIVEN * usual) / (self.settled + GIVEN)
    }
}

/// The claims of each agent of a project, by quarters of confidence.
#[derive(Default)]
pub(crate) struct TrackRecord(HashMap<AgentId, [Count; QUARTERS]>);

/// What was counted last, of which project, and up to which entry.
#[derive(Default)]
pub(crate) struct KeptTrackRecord(Mutex<Option<(ProjectId, u64, Arc<TrackRecord>)>>);

impl KeptTrackRecord {
    /// Entries of another home are others.
    pub(crate) fn forget(&self) {
        *crate::lock(&self.0) = None;
    }
}

impl TrackRecord {
    /// What is left of the weight of a claim: 1 for the user's.
    pub(crate) fn weight(&self, engram: &Engram) -> f64 {
        let Some(counts) = engram.agent.as_ref().and_then(|it| self.0.get(it)) else {
            return 1.0;
        };
        let all = counts.iter().fold(Count::default(), |all, it| Count {
            settled: all.settled + it.settled,
            lost: all.lost + it.lost,
        });
        let of = counts.get(quarter(engram)).copied().unwrap_or_default();
        1.0 - MOST * of.share(all.share(0.0))
    }

    fn add(&mut self, engram: &Engram, has_lost: bool) {
        let Some(agent) = engram
            .agent
            .clone()
            // What a run says counts for nobody else.
            .filter(|_| !engram.redacted && engram.scope != Scope::Run)
        else {
            return;
        };
        if let Some(count) = self.0.entry(agent).or_default().get_mut(quarter(engram)) {
            count.settled += 1.0;
            count.lost += f64::from(u8::from(has_lost));
        }
    }

    fn of(tx: &Reader<'_>, project: ProjectId) -> Result<Self, Refusal> {
        let mut lost = Self::default();
        for (ruling, judge) in tx.winners(project, VERDICTS)? {
            let side = ruling.winner.as_deref().unwrap_or_default();
            let winner = tx.voices(project, side, None)?.into_iter().next();
            // Whoever judges a claim of its own is no judge.
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

/// Which quarter a claim's confidence lies in.
fn quarter(engram: &Engram) -> usize {
    let at = (engram.confidence * QUARTERS as f64) as usize;
    at.min(QUARTERS - 1)
}

/// What agents lost in a project, as far as its verdicts say now.
pub(crate) fn lost(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    project: ProjectId,
) -> Result<Arc<TrackRecord>, Refusal> {
    let kept = &cx.engine.track_record.0;
    let mut kept = crate::lock(kept);
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
