//! Judging: which candidates cannot hold together with a version, and which say the same in other
//! words.
//!
//! The rules judge in the transaction that stores a version. Models are asked later, and only about
//! possible conflicts (`follow/models.rs`).

use std::{cell::LazyCell, collections::BTreeMap};

use engram_consistency::tier::{self, Disagreement};
use engram_model::{Durability, Engram, EngramId, Refusal, RunId};
use engram_store::{Reader, audience, side};

use crate::{
    conflicts::{
        candidates::find_candidates, findings::CompareOptions, parsed::Parsed, risks::is_report,
        sides::SERIES,
    },
    context::{Context, names::ENGINE, plan::Planned, visibility::Visibility},
};

/// The most versions that are compared at once.
const COMPARED: usize = 256;

/// Another version that cannot hold together with the new one.
pub(crate) struct OpposingVersion {
    pub(crate) engram: Engram,
    pub(crate) found: Disagreement,
}

/// The result of a comparison, and how far it got.
#[derive(Default)]
pub(super) struct Judgments {
    /// The contradicting versions, by the run that the conflict is for and the other side.
    pub(super) against: BTreeMap<(Option<RunId>, String), Vec<OpposingVersion>>,
    /// Versions that say the same in other words.
    pub(super) same: Vec<Engram>,
    /// Everything stored at this place or later was compared; 0 if everything was.
    pub(super) floor: u64,
    pub(super) has_failed: bool,
    /// Whether versions were left out that the author may not see, and whether any of those is not
    /// private to a run.
    pub(super) has_hidden: bool,
    pub(super) hides_shared: bool,
}

/// Compares a version with each candidate.
pub(super) fn judge_candidates(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    here: &str,
    visibility: &Visibility,
    options: &CompareOptions<'_>,
) -> Result<Judgments, Refusal> {
    let own = cx.engine.caches.claims.parse_once(engram);
    // A new claim that says one thing and contradicts many is taken as a value of a series. Its
    // older values are read in the background.
    let may_stop = LazyCell::new(|| {
        if options.due.is_some() {
            return false;
        }
        let known = tx.conflicts_of(engram.project, here);
        own.claim.statements.len() == 1 && known.is_ok_and(|known| known.is_empty())
    });
    let mut judgments = Judgments::default();
    let subject = Subject {
        cx,
        engram,
        here,
        own: &own,
        options,
    };
    let judge = |judgments: &mut Judgments, other: Engram| {
        subject.add_judgment(judgments, other);
        judgments.against.len() <= 2 * SERIES || !*may_stop
    };
    let mut ended: Vec<EngramId> = options.ending.to_vec();
    // Judges the versions of this transaction, which no reader sees yet.
    for other in options.before.iter().rev().filter_map(stored_claim) {
        ended.extend(other.supersedes);
        if other.lineage_id != engram.lineage_id && is_comparable(&other) {
            judge(&mut judgments, other);
        }
    }
    let found = find_candidates(cx.engine, visibility, tx, engram, &own, options)?;
    (judgments.floor, judgments.has_failed) = (judgments.floor.max(found.floor), found.has_failed);
    (judgments.has_hidden, judgments.hides_shared) = (found.has_hidden, found.hides_shared);
    for (count, seq) in found.places.iter().enumerate() {
        if count == COMPARED {
            judgments.floor = judgments.floor.max(found.examined_before(count));
            break;
        }
        let other = match tx.engram_at(*seq) {
            Ok(other) => other,
            Err(error) if error.is_of_one_record() => {
                tracing::warn!(%error, seq, "cannot compare a claim with a version that cannot be read");
                judgments.has_failed = true;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let Some(other) = other.filter(|it| !ended.contains(&it.id)) else {
            continue;
        };
        let is_by_words = found.by_words.contains(seq);
        if !subject.may_be_judged(&other, is_by_words) || is_report(tx, &other)? {
            continue;
        }
        if !judge(&mut judgments, other) {
            judgments.floor = judgments.floor.max(found.examined_before(count + 1));
            break;
        }
    }
    Ok(judgments)
}

/// The judgment about a pair.
enum Judgment {
    Against(Disagreement),
    Same,
    Nothing,
}

/// The version that is compared.
struct Subject<'a> {
    cx: &'a Context<'a>,
    engram: &'a Engram,
    /// Its side.
    here: &'a str,
    own: &'a Parsed,
    options: &'a CompareOptions<'a>,
}

impl Subject<'_> {
    /// Whether a candidate is to be judged. Most of those that were found by words alone share too few;
    /// this is checked before the rules read them.
    fn may_be_judged(&self, other: &Engram, is_by_words: bool) -> bool {
        let is_one = other.lineage_id == self.engram.lineage_id || other.id == self.engram.id;
        let shares_enough = || {
            let gist = self.cx.engine.caches.claims.gist_of(other);
            let own = (self.engram.claim.as_str(), &*self.own.gist);
            tier::may_differ_in_other_words(own, (&other.claim, &gist))
        };
        !is_one && is_comparable(other) && (!is_by_words || shares_enough())
    }

    /// Adds the judgment about one pair.
    fn add_judgment(&self, judgments: &mut Judgments, other: Engram) {
        let there = side(&other.topic, &other.claim);
        let is_by_other =
            there != self.here && is_other_author(self.engram, &other, self.options.by);
        match self.judgment_of(&other, is_by_other) {
            Judgment::Against(found) => {
                let place = (run_of([self.engram, &other]), there);
                let found = OpposingVersion {
                    engram: other,
                    found,
                };
                judgments.against.entry(place).or_default().push(found);
            }
            Judgment::Same if is_by_other => judgments.same.push(other),
            Judgment::Same | Judgment::Nothing => {}
        }
    }

    fn judgment_of(&self, other: &Engram, is_by_other: bool) -> Judgment {
        let parsed = self.cx.engine.caches.claims.parse_once(other);
        let (one, two) = (self.own.with_record(self.engram), parsed.with_record(other));
        // The sentence of a conflict names the older value first. A version that is not stored yet
        // has no place, unless it is restored to one.
        let place = self.engram.list_place();
        let is_older = place != 0 && place < other.list_place();
        let found = if is_older {
            tier::compare(&one, &two)
        } else {
            tier::compare(&two, &one).map(Disagreement::swapped)
        };
        if let Some(found) = found {
            return Judgment::Against(found);
        }
        if is_by_other && tier::corroborates(&one, &two).is_some() {
            Judgment::Same
        } else {
            Judgment::Nothing
        }
    }
}

/// The claim that an entry stores, unless it is Engram's own report.
fn stored_claim(entry: &Planned) -> Option<Engram> {
    entry.version().filter(|_| entry.by != ENGINE)
}

/// Whether a version's own record allows comparing it.
pub(crate) fn is_comparable(engram: &Engram) -> bool {
    engram.durability == Durability::Durable
        && !engram.is_question()
        && !engram.redacted
        && !engram.is_sample()
}

pub(crate) fn is_other_author(engram: &Engram, other: &Engram, by: &str) -> bool {
    match (&engram.agent, &other.agent) {
        (Some(one), Some(two)) => one != two,
        (None, None) => other.provenance.created_by != by,
        _ => true,
    }
}

/// The run that a conflict of these versions is for; `None` if everybody may see both.
pub(crate) fn run_of(both: [&Engram; 2]) -> Option<RunId> {
    both.into_iter().find_map(audience)
}
