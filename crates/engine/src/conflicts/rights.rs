//! Who may settle what: which claims a verdict may end, and for whom it counts.

use crate::context::{Context, caller::kin_of, visibility::Visibility};
use engram_model::{Caller, Code, ConflictStatus, Engram, ProjectId, Refusal, operation::Agent};
use engram_store::{Pair, Reader};

/// Whether the agent that dismissed the conflict could have ended each of these engrams, so that
/// its dismissal counts for them. A person's dismissal always counts.
pub(crate) fn is_dismissed_for_all<'a>(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: &Pair,
    engrams: impl IntoIterator<Item = &'a Engram>,
) -> Result<bool, Refusal> {
    let attribution = pair.verdict.map_or(Ok(None), |seq| tx.attribution(seq))?;
    let Some(handle) = attribution.and_then(|attribution| attribution.agent) else {
        return Ok(true);
    };
    let Some(judge) = tx.agent(&handle)?.map(kin_of) else {
        return Ok(false);
    };
    let visibility = Visibility::Agent {
        project: pair.project,
        kin: judge.clone(),
    };
    let caller = Caller::Agent(handle);
    let scopes = &cx.engine.config.scopes;
    for engram in engrams {
        let is_reached = visibility.may_see(engram)
            && engram_gateway::refuse_close(&caller, engram.scope, engram.agent.as_ref(), scopes)
                .is_ok()
            && engram_gateway::refuse_topic(&judge, &engram.topic).is_ok();
        if !is_reached {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether nobody of an agent's run wrote either side of a pair.
pub(crate) fn is_neutral(tx: &Reader<'_>, agent: &Agent, pair: &Pair) -> Result<bool, Refusal> {
    for side in &pair.sides {
        for version in tx.versions_on_side(pair.project, side, pair.run)? {
            let is_own = version.run == Some(agent.run);
            if is_own || tx.has_said(Some(&agent.handle), "", version.id)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Refuses an agent that wants to replace or undo a person's decision.
pub(crate) fn refuse_overruling(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    seq: u64,
) -> Result<(), Refusal> {
    if cx.agent()?.is_none() || !is_by_person(tx, seq)? {
        return Ok(());
    }
    Err(Refusal::new(
        Code::ScopeDenied,
        "the user settled this conflict or undid its verdict; an agent may not change that",
        "Commit your finding with its evidence; the user sees it and decides.",
    ))
}

/// Whether a person dismissed a conflict.
pub(super) fn is_dismissed_by_person(tx: &Reader<'_>, pair: &Pair) -> Result<bool, Refusal> {
    match (pair.status, pair.verdict) {
        (ConflictStatus::Dismissed, Some(seq)) => is_by_person(tx, seq),
        _ => Ok(false),
    }
}

/// Whether a person dismissed a conflict of these sides. It is then never raised again for a run.
pub(super) fn are_sides_dismissed(
    tx: &Reader<'_>,
    project: ProjectId,
    sides: &[String; 2],
) -> Result<bool, Refusal> {
    for pair in tx.conflicts_between(project, sides)? {
        if is_dismissed_by_person(tx, &pair)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a person made this entry.
pub(crate) fn is_by_person(tx: &Reader<'_>, seq: u64) -> Result<bool, Refusal> {
    Ok(tx.attribution(seq)?.is_some_and(|it| it.agent.is_none()))
}
