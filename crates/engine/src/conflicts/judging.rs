//! Judging: which of the candidates cannot hold together with a version, and which say the same in other words.

use std::{cell::LazyCell, collections::BTreeMap};

use engram_consistency::tier::{self, Disagreement, Said};
use engram_model::{Durability, Engram, EngramId, Refusal, RunId};
use engram_store::{Reader, audience, side};

use crate::{
    conflicts::{
        candidates::candidates, findings::Telling, parsed::Parsed, risks::is_told, sides::SERIES,
    },
    context::{Context, names::ENGINE, plan::Planned, visibility::Eyes},
};

/// Decides whether two claims contradict each other, and how.
type Judge = fn(&Said<'_>, &Said<'_>) -> Option<Disagreement>;

/// Whoever finds something first is told.
const JUDGES: &[Judge] = &[tier::compare];

/// Most versions that are compared by their words at once.
const COMPARED: usize = 256;

/// Another version that cannot hold together with the new one.
pub(crate) struct Against {
    pub(crate) engram: Engram,
    pub(crate) found: Disagreement,
}

/// What a comparison found, and how far it came.
#[derive(Default)]
pub(super) struct Met {
    /// By the run that the conflict is for, and the other side.
    pub(super) against: BTreeMap<(Option<RunId>, String), Vec<Against>>,
    /// Versions that say the same in other words.
    pub(super) same: Vec<Engram>,
    /// Everything stored here and later was compared; 0 where all was.
    pub(super) floor: u64,
    pub(super) has_failed: bool,
    /// Whether something is left that the author may not see, and whether some of that is not of a run.
    pub(super) has_hidden: bool,
    pub(super) hides_shared: bool,
}

/// Compares a version with each candidate.
pub(super) fn meet(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    here: &str,
    eyes: &Eyes,
    telling: &Telling<'_>,
) -> Result<Met, Refusal> {
    let own = cx.engine.claims.of(engram);
    // A new claim that says one thing, and contradicts so many, is a value of a series: older ones are read
    // behind the answer.
    let may_stop = LazyCell::new(|| {
        if telling.is_due {
            return false;
        }
        let known = tx.conflicts_of(engram.project, here);
        own.claim.statements.len() == 1 && known.is_ok_and(|known| known.is_empty())
    });
    let mut met = Met::default();
    let judge = |met: &mut Met, other: Engram, parsed: &Parsed| {
        let (one, two) = (own.said(engram), parsed.said(&other));
        let there = side(&other.topic, &other.claim);
        if let Some(found) = JUDGES.iter().find_map(|judge| judge(&one, &two)) {
            let run = run_of([engram, &other]);
            let found = Against {
                engram: other,
                found,
            };
            met.against.entry((run, there)).or_default().push(found);
        } else if is_another_voice(engram, &other, telling.by)
            && there != here
            && tier::corroborates(&one, &two).is_some()
        {
            met.same.push(other);
        }
        met.against.len() <= 2 * SERIES || !*may_stop
    };
    let mut ended: Vec<EngramId> = telling.ending.to_vec();
    // No reader sees them yet.
    for other in telling.before.iter().rev().filter_map(stored) {
        ended.extend(other.supersedes);
        if other.lineage_id != engram.lineage_id && is_comparable(&other) {
            let parsed = cx.engine.claims.of(&other);
            judge(&mut met, other, &parsed);
        }
    }
    let found = candidates(cx.engine, eyes, tx, engram, &own, telling)?;
    (met.floor, met.has_failed) = (found.floor, found.has_failed);
    (met.has_hidden, met.hides_shared) = (found.has_hidden, found.hides_shared);
    for (count, seq) in found.places.iter().enumerate() {
        if count == COMPARED {
            met.floor = met.floor.max(found.places_before(count));
            break;
        }
        let other = match tx.engram_at(*seq) {
            Ok(Some(other)) => other,
            Ok(None) => continue,
            Err(error) if error.is_of_one_record() => {
                tracing::warn!(%error, seq, "cannot compare a claim with a version that cannot be read");
                met.has_failed = true;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let is_one = other.lineage_id == engram.lineage_id || other.id == engram.id;
        if is_one || ended.contains(&other.id) || !is_comparable(&other) || is_told(tx, &other)? {
            continue;
        }
        let parsed = cx.engine.claims.of(&other);
        if !judge(&mut met, other, &parsed) {
            met.floor = met.floor.max(found.places_before(count + 1));
            break;
        }
    }
    Ok(met)
}

/// The claim that an entry stores; not what Engram itself reports.
fn stored(entry: &Planned) -> Option<Engram> {
    entry.version().filter(|_| entry.by != ENGINE)
}

/// Whether a version may be compared at all, by its own record.
pub(crate) fn is_comparable(engram: &Engram) -> bool {
    engram.durability == Durability::Durable
        && engram.asks.is_none()
        && !engram.redacted
        && !engram.is_sample()
}

fn is_another_voice(engram: &Engram, other: &Engram, by: &str) -> bool {
    match (&engram.agent, &other.agent) {
        (Some(one), Some(two)) => one != two,
        (None, None) => other.provenance.created_by != by,
        _ => true,
    }
}

/// The run that a conflict of these versions is for; none where everybody may see both.
fn run_of(both: [&Engram; 2]) -> Option<RunId> {
    both.into_iter().find_map(audience)
}
