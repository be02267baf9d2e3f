//! How often an agent may write: by itself, through its descendants, and together with all agents
//! that nobody opened.

use crate::context::{Context, caller::agent_and_ancestors};
use engram_model::{RateLimits, Refusal, operation::Agent};
use engram_store::{FamilyOf, Reader};
use jiff::{SignedDuration, Timestamp};

/// Limits how often an agent may store or close anything; the user is not limited.
pub(crate) fn admit_write(cx: &Context<'_>, tx: &Reader<'_>) -> Result<(), Refusal> {
    let limits = &cx.engine.config.limits.rate;
    // The count cannot exceed the number of journal entries.
    if tx.head()? < u64::from(limits.per_minute.min(limits.per_hour)) {
        return Ok(());
    }
    admit_writes(cx, tx, 1)
}

/// Like [`admit_write`], for a message: each of its engrams counts, and all of them must fit.
/// Agents that nobody opened share one allowance, so that more connections do not allow more
/// writes.
pub(crate) fn admit_writes(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engrams: usize,
) -> Result<(), Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(());
    };
    let limits = &cx.engine.config.limits.rate;
    let now = cx.engine.world.now();
    let more = u32::try_from(engrams.saturating_sub(1)).unwrap_or(u32::MAX);
    let own = |seconds| -> Result<u32, Refusal> {
        let count = tx.count_by_agent(&agent.handle, seconds_before(now, seconds), now)?;
        Ok(count.saturating_add(more))
    };
    engram_gateway::admit_write(limits, own(60)?, own(3_600)?)?;
    if tx.is_opened(&agent.handle)? {
        return admit_tree_writes(tx, limits, agent, more, now);
    }
    let all = |seconds| -> Result<u32, Refusal> {
        let count = tx.count_by_strangers(agent.project, seconds_before(now, seconds), now)?;
        Ok(count.saturating_add(more))
    };
    engram_gateway::admit_stranger_write(limits, all(60)?, all(3_600)?)
}

/// Limits what an agent may write through its descendants, just as its reads are limited.
fn admit_tree_writes(
    tx: &Reader<'_>,
    limits: &RateLimits,
    agent: &Agent,
    more: u32,
    now: Timestamp,
) -> Result<(), Refusal> {
    let children = FamilyOf::Parent(&agent.handle);
    if agent.parent.is_none() && tx.family(agent.project, children, 1)?.is_empty() {
        return Ok(());
    }
    let line = agent_and_ancestors(tx, Some(agent))?;
    let root = line.last().map_or(&agent.handle, |root| &root.handle);
    let all = |seconds| -> Result<u32, Refusal> {
        let count = tx.count_by_tree(agent.project, root, seconds_before(now, seconds), now)?;
        Ok(count.saturating_add(more))
    };
    engram_gateway::admit_tree_write(limits, all(60)?, all(3_600)?)
}

/// The time `seconds` before `now`.
fn seconds_before(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MIN)
}
