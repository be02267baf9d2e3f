//! Dismissals: which other conflicts are dismissed or reopened together with one.

use engram_model::{AgentId, ConflictStatus, Engram, How, Operation, Refusal, operation::Ruling};
use engram_store::{Pair, Reader};

use crate::{
    claims::close,
    conflicts::{
        conflict_view::ShownConflict,
        lifecycle::{both_hold, holding_sides},
        rights::{self, is_by_person},
    },
    context::{Context, plan::Planned},
    verdicts::settle::ProposedVerdict,
};

/// Refuses a dismissal by an agent that may not end both sides, because its own claim would hold
/// beside the user's, with the gate open. Also refuses an agent if a person gave or undid the last
/// verdict on a conflict of these sides.
pub(super) fn refuse_dismissal(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: &Pair,
) -> Result<(), Refusal> {
    let holding = holding_sides(tx, pair, cx.engine.world.now(), &[], &[])?;
    for voice in holding.iter().flatten() {
        close::refuse_close(cx, voice).map_err(|refusal| agent_refusal(voice, refusal))?;
    }
    let visibility = cx.visibility()?;
    for other in tx.conflicts_between(pair.project, &pair.sides)? {
        if let Some(seq) = other.verdict.filter(|_| visibility.may_know_of(other.run)) {
            rights::refuse_overruling(cx, tx, seq)?;
        }
    }
    Ok(())
}

fn agent_refusal(voice: &Engram, refusal: Refusal) -> Refusal {
    if voice.agent.is_some() {
        return refusal;
    }
    Refusal {
        message: "an agent may not dismiss a conflict with a claim of the user".to_owned(),
        hint: "Leave it open: the user sees it in the list of conflicts and decides.".to_owned(),
        ..refusal
    }
}

/// The dismissals of other conflicts of the same sides that follow from one: for an agent those of
/// its own run, for a person all that are open. Only the main verdict carries the reason.
pub(super) fn plan_other_dismissals(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    asked: &ProposedVerdict,
) -> Result<Vec<Planned>, Refusal> {
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    let is_person = cx.agent()?.is_none();
    let mut entries = Vec::new();
    for other in tx.conflicts_between(found.pair.project, &found.pair.sides)? {
        let is_settled = match other.status {
            ConflictStatus::Dismissed => match other.verdict {
                Some(seq) if is_person => is_by_person(tx, seq)?,
                _ => true,
            },
            status => status != ConflictStatus::Open,
        };
        if other.id == found.pair.id || is_settled || !visibility.may_know_of(other.run) {
            continue;
        }
        if refuse_dismissal(cx, tx, &other).is_err() || !both_hold(tx, &other, clock)? {
            continue;
        }
        entries.push(accompanying_verdict(&other, Some(How::Dismissed), asked));
    }
    Ok(entries)
}

/// Undoes a dismissal also for each conflict of the same sides that was dismissed with it.
pub(super) fn plan_other_reopenings(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    undone: &Ruling,
    asked: &ProposedVerdict,
) -> Result<Vec<Planned>, Refusal> {
    let mut entries = Vec::new();
    if undone.status != ConflictStatus::Dismissed {
        return Ok(entries);
    }
    let visibility = cx.visibility()?;
    let is_person = cx.agent()?.is_none();
    let author = |pair: &Pair| -> Result<Option<Option<AgentId>>, Refusal> {
        let attribution = pair.verdict.map_or(Ok(None), |seq| tx.attribution(seq))?;
        Ok(attribution.map(|attribution| attribution.agent))
    };
    let whose = author(&found.pair)?;
    for other in tx.conflicts_between(found.pair.project, &found.pair.sides)? {
        let is_other = other.id != found.pair.id && visibility.may_know_of(other.run);
        if !is_other || other.status != ConflictStatus::Dismissed {
            continue;
        }
        if is_person || author(&other)? == whose {
            entries.push(accompanying_verdict(&other, None, asked));
        }
    }
    Ok(entries)
}

/// A verdict that ends no version and has no reason; without `how`, it reopens the conflict.
fn accompanying_verdict(pair: &Pair, how: Option<How>, asked: &ProposedVerdict) -> Planned {
    let status = how.map_or(ConflictStatus::Open, |_| ConflictStatus::Dismissed);
    let ruling = Ruling {
        id: pair.id,
        status,
        how,
        winner: None,
        merged: None,
        closed: Vec::new(),
        stored: Vec::new(),
        why: None,
    };
    Planned::new(
        Operation::Resolved(Box::new(ruling)),
        &asked.by,
        pair.run.is_none(),
    )
}
