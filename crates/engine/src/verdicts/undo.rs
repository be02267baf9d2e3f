//! Undoing verdicts. An undo is another entry: the claims that the verdict closed hold again as new
//! versions (docs/design.md#rule-3-nothing-is-undone-by-reopening-a-window).

use crate::{
    claims::{close, lineage},
    conflicts::{conflict_view::ShownConflict, lifecycle::holding_sides, risks::ended_report},
    context::{Context, plan::Planned, visibility::Visibility},
    verdicts::settle::{ProposedVerdict, VerdictEffects, store_version},
};
use engram_model::{Code, Engram, Refusal, is_over, operation::Ruling};
use engram_store::{Pair, Reader};

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
    if !done.is_closed
        && let Some(old) = ended_report(tx, &found.pair)?
    {
        let risk = lineage::restored_version(cx, old, asked.now, None);
        done.entries.push(Planned::stored(risk, &asked.by, None));
    }
    Ok(done)
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
