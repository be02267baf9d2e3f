//! Answers to the user's to-dos, as long as they wait for the user's judgement.

use engram_model::{Engram, Kind, Refusal};
use engram_store::{Reader, side};
use jiff::{SignedDuration, Timestamp};

/// How long an answer that the user does not judge is shown as one.
const SHOWN: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The words of the user's to-do that a version of an agent answers, as itself or by correcting an
/// answer; `None` once the user has judged the answer, or after a week.
pub(super) fn answered_todo(
    tx: &Reader<'_>,
    engram: &Engram,
    now: Timestamp,
) -> Result<Option<String>, Refusal> {
    if engram.agent.is_none() || engram.supersedes.is_none() || engram.kind == Kind::Todo {
        return Ok(None);
    }
    let versions = tx.lineage(engram.lineage_id)?.into_iter();
    let mut earlier = versions.filter(|it| it.seq < engram.seq);
    let todo = earlier.find(|it| it.kind == Kind::Todo && it.agent.is_none());
    let is_recent = now.duration_since(engram.recorded_at) <= SHOWN;
    match todo {
        Some(todo) if is_recent && !is_judged(tx, engram, now)? => Ok(Some(todo.claim)),
        _ => Ok(None),
    }
}

/// Whether the user has confirmed an answer, or since then confirmed or corrected the claim that the
/// to-do asked about, or settled a conflict of one of them; or whether that claim has ended.
fn is_judged(tx: &Reader<'_>, answer: &Engram, now: Timestamp) -> Result<bool, Refusal> {
    let is_by_user = |seq| {
        let found = tx.attribution(seq)?;
        Ok::<_, Refusal>(found.is_some_and(|it| it.agent.is_none()))
    };
    // A confirmed claim keeps its author.
    if is_by_user(answer.seq)? {
        return Ok(true);
    }
    let asked = match answer.asks {
        Some(lineage) => tx.lineage(lineage)?.into_iter().next(),
        None => None,
    };
    if let Some(asked) = &asked
        && (!asked.holds_now(now) || (asked.seq > answer.seq && is_by_user(asked.seq)?))
    {
        return Ok(true);
    }
    for engram in asked.iter().chain([answer]) {
        for pair in tx.conflicts_of(engram.project, &side(&engram.topic, &engram.claim))? {
            if let Some(verdict) = pair.verdict.filter(|it| *it > answer.seq)
                && is_by_user(verdict)?
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
