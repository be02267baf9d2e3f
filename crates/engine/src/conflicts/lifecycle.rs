//! Derives the state of a conflict from the versions of its sides: whether it goes on, which
//! conflict covers it, and whether it is still allowed. The store has queries for the first two as
//! well, to list and count conflicts without reading each one.

use std::slice::from_ref;

use crate::conflicts::rights::is_dismissed_by_person;
use engram_model::{ConflictStatus, Engram, EngramId, Refusal, Scope};
use engram_store::{Pair, Reader, side};
use jiff::Timestamp;

/// The versions of each side that a conflict is about and that hold once the `ended` ones have
/// ended and the `begun` ones have begun.
pub(crate) fn holding_sides(
    tx: &Reader<'_>,
    pair: &Pair,
    clock: Timestamp,
    ended: &[EngramId],
    begun: &[Engram],
) -> Result<[Vec<Engram>; 2], Refusal> {
    let mut sides = [Vec::new(), Vec::new()];
    for (own, holding) in pair.sides.iter().zip(&mut sides) {
        *holding = tx.holding_on_side(pair.project, own, clock)?;
        holding.retain(|version| pair.is_about(version) && !ended.contains(&version.id));
        let is_of_side = |new: &&Engram| pair.is_about(new) && side(&new.topic, &new.claim) == *own;
        holding.extend(begun.iter().filter(is_of_side).cloned());
    }
    Ok(sides)
}

/// Whether a conflict goes on while these versions of its sides hold. A conflict of a run needs a
/// version of that run on one side.
pub(super) fn is_ongoing(pair: &Pair, sides: &[Vec<Engram>; 2]) -> bool {
    let is_own = |version: &Engram| version.scope == Scope::Run;
    sides.iter().all(|side| !side.is_empty())
        && (pair.run.is_none() || sides.iter().flatten().any(is_own))
}

/// Whether a conflict goes on once `engram` is stored and these versions have ended.
pub(crate) fn is_ongoing_after(
    tx: &Reader<'_>,
    pair: &Pair,
    clock: Timestamp,
    ending: &[EngramId],
    engram: &Engram,
) -> Result<bool, Refusal> {
    let sides = holding_sides(tx, pair, clock, ending, from_ref(engram))?;
    Ok(is_ongoing(pair, &sides))
}

/// Whether both sides of a conflict hold now.
pub(crate) fn both_hold(tx: &Reader<'_>, pair: &Pair, clock: Timestamp) -> Result<bool, Refusal> {
    goes_on_without(tx, pair, clock, &[])
}

/// Whether a conflict goes on once these versions have ended.
pub(crate) fn goes_on_without(
    tx: &Reader<'_>,
    pair: &Pair,
    clock: Timestamp,
    ended: &[EngramId],
) -> Result<bool, Refusal> {
    Ok(is_ongoing(
        pair,
        &holding_sides(tx, pair, clock, ended, &[])?,
    ))
}

/// The conflict that covers a conflict of a run: the same sides contradict each other for
/// everybody, at least as severely, or a person dismissed the wider conflict.
pub(crate) fn covering(
    tx: &Reader<'_>,
    pair: &Pair,
    clock: Timestamp,
) -> Result<Option<Pair>, Refusal> {
    if pair.run.is_none() {
        return Ok(None);
    }
    let all = tx.conflicts_between(pair.project, &pair.sides)?;
    let Some(wide) = all.into_iter().find(|wide| wide.run.is_none()) else {
        return Ok(None);
    };
    let covers = match wide.status {
        ConflictStatus::Open => wide.severity >= pair.severity,
        _ => is_dismissed_by_person(tx, &wide)?,
    };
    Ok((covers && both_hold(tx, &wide, clock)?).then_some(wide))
}

/// The entry that let a conflict pass the gate. `None` if the conflict was found again since and is
/// now more severe, because the user allowed only the milder one.
pub(crate) fn allowance(tx: &Reader<'_>, pair: &Pair) -> Result<Option<u64>, Refusal> {
    let Some(allowed) = pair.allowed.filter(|it| *it < pair.last) else {
        return Ok(pair.allowed);
    };
    let mut then = None;
    for seq in tx.entries_about(pair.id)? {
        if seq < allowed {
            then = tx.contradiction(seq)?.or(then);
        }
    }
    let [now, then] = [tx.contradiction(pair.last)?, then].map(|it| it.map(|it| it.severity));
    Ok((now <= then).then_some(allowed))
}
