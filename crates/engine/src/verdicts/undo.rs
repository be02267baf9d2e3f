//! Undoing verdicts. An undo is another entry: the claims that the verdict closed hold again as new
//! versions (docs/design.md#rule-3-nothing-is-undone-by-reopening-a-window).

use crate::{
    claims::{close, lineage},
    conflicts::{
        conflict_view::ShownConflict,
        lifecycle::holding_sides,
        risks::{ended_report, is_confirmation_undone, reports_in_force},
    },
    context::{
        Context,
        plan::{Plan, Planned},
        visibility::Visibility,
    },
    verdicts::{
        judge::{is_against, judged},
        settle::{
            ProposedVerdict, VerdictEffects, ruling_without_verdict, store_version, verdict_plan,
        },
    },
};
use engram_model::{
    Code, ConflictStatus, Engram, PairVerdict, Refusal, ResolveReply, is_over, operation::Ruling,
};
use engram_store::{NearPairs, Pair, Reader};

/// The conflict whose verdict an undo by this id removes: of the conflicts of the same sides that
/// the caller may see, the one with the newest verdict.
pub(super) fn last_settled(
    tx: &Reader<'_>,
    pair: Pair,
    visibility: &Visibility,
) -> Result<Pair, Refusal> {
    let mut all = tx.conflicts_between(pair.project, &pair.sides)?;
    all.retain(|one| visibility.may_know_of(one.run) && one.ruled.is_some());
    Ok(all
        .into_iter()
        .max_by_key(|one| one.verdict)
        .unwrap_or(pair))
}

/// Makes the versions that a verdict closed hold again, and closes those that it stored.
pub(super) fn plan_undo(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
    ruling: &Ruling,
    asked: &ProposedVerdict,
) -> Result<VerdictEffects, Refusal> {
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    let mut done = VerdictEffects::default();
    for id in &ruling.stored {
        let Some(first) = tx.engram(*id)? else {
            continue;
        };
        let versions = tx.lineage(first.lineage_id)?;
        let head = versions.into_iter().find(|it| it.holds_now(clock));
        if let Some(head) = head.filter(|head| visibility.may_see(head)) {
            close::refuse_close(cx, &head)?;
            done.closed.push(head.id);
            done.entries.push(Planned::ended(&head, &asked.by));
        }
    }
    for id in &ruling.closed {
        // A version that the caller may not see stays as it is.
        let Some(old) = tx.engram(*id)?.filter(|old| visibility.may_see(old)) else {
            continue;
        };
        let newest = tx.lineage(old.lineage_id)?.into_iter().next();
        // A version that is no longer the newest, or that holds again, stays as it is.
        let is_newest = newest.is_some_and(|it| it.id == old.id && it.valid_until.is_some());
        let is_gone = old.redacted || is_over(old.recorded_at, old.expires_at, clock);
        if is_newest && !is_gone {
            close::refuse_close(cx, &old)?;
            let engram = lineage::restored_version(cx, old, asked.now, None);
            store_version(cx, tx, found, engram, asked, &mut done);
        }
    }
    // Claims made since may have other words, so the sides may no longer hold.
    let begun: Vec<Engram> = done.entries.iter().filter_map(Planned::version).collect();
    let sides = holding_sides(tx, &found.pair, clock, &done.closed, &begun)?;
    done.is_closed = sides.iter().any(Vec::is_empty);
    // A report that ended with the word to which it was owed stays ended.
    if !done.is_closed
        && !is_confirmation_undone(tx, &found.pair)?
        && let Some(old) = ended_report(tx, &found.pair)?
    {
        let risk = lineage::restored_version(cx, old, asked.now, None);
        done.entries.push(Planned::stored(risk, &asked.by, None));
    }
    Ok(done)
}

/// The place of the person's word that raised or confirmed an open conflict without a verdict, if
/// the caller may take it back.
pub(super) fn word_to_take_back(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    found: &ShownConflict,
) -> Result<Option<u64>, Refusal> {
    let pair = &found.pair;
    if cx.agent()?.is_some() || pair.status != ConflictStatus::Open || pair.ruled.is_some() {
        return Ok(None);
    }
    let last = NearPairs::of(tx).words_of_person(pair.id)?.pop();
    Ok(last.filter(|it| is_against(it.1)).map(|it| it.0))
}

/// Takes back the person's word at this place: the pair is what it was before.
pub(super) fn plan_word_taken_back(
    tx: &Reader<'_>,
    found: &ShownConflict,
    said: u64,
    asked: &ProposedVerdict,
) -> Result<Plan<ResolveReply>, Refusal> {
    let (status, was_confirmed) = state_without_word(tx, &found.pair, said)?;
    let mut done = VerdictEffects::default();
    done.is_closed = found.conflict.status == ConflictStatus::Closed;
    done.entries.push(word_taken_back(found, asked));
    if !was_confirmed {
        for report in reports_in_force(tx, &found.pair)? {
            done.entries.push(Planned::ended(&report.risk, &asked.by));
        }
    }
    let ruling = ruling_without_verdict(found, status);
    Ok(verdict_plan(found, asked, done, ruling))
}

/// The entry that takes back what people said of a pair.
pub(super) fn word_taken_back(found: &ShownConflict, asked: &ProposedVerdict) -> Planned {
    Planned {
        is_answer: false,
        ..judged(found, PairVerdict::Unclear, asked)
    }
}

/// Without the person's word at this place: the status of a pair, and whether somebody else
/// confirmed it or a rule found it.
fn state_without_word(
    tx: &Reader<'_>,
    pair: &Pair,
    said: u64,
) -> Result<(ConflictStatus, bool), Refusal> {
    let taken_back = NearPairs::of(tx).taken_back(pair.id)?;
    let (mut status, mut is_confirmed) = (ConflictStatus::Possible, false);
    for seq in tx.entries_about(pair.id)? {
        if let Some(found) = tx.contradiction(seq)? {
            // A word that raises a pair is followed by the entry that does so.
            if seq != said + 1 {
                status = ConflictStatus::Open;
                is_confirmed |= found.risk.is_some() && taken_back.is_none_or(|it| it < seq);
            }
        } else if let Some(ruling) = tx.ruling(seq)?
            && ruling.status == ConflictStatus::Possible
        {
            status = ConflictStatus::Possible;
        }
    }
    Ok((status, is_confirmed))
}

pub(super) fn nothing_to_undo(found: &ShownConflict) -> Refusal {
    let id = found.pair.id;
    match found.pair.allowed {
        Some(_) => Refusal::new(
            Code::NotFound,
            format!("conflict {id} is allowed, and has no verdict"),
            "There is nothing to undo, but you can make it block the gate again.",
        ),
        None => Refusal::new(
            Code::NotFound,
            format!("conflict {id} has no verdict"),
            "Only a verdict can be undone. If a claim ended, restore the claim.",
        ),
    }
}
