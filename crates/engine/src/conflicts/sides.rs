//! Selects the contradicted sides to raise, after the candidates are judged: no dismissed ones, and
//! only a few of a series.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use engram_model::{AgentId, ConflictId, ConflictStatus, Engram, Refusal, RunId, Severity, fold};
use engram_store::{Pair, Reader, conflict_id};
use jiff::Timestamp;

use crate::{
    conflicts::{findings::CompareOptions, judging::OpposingVersion, lifecycle, rights},
    context::Context,
};

/// The most sides that a new one may contradict in the same words before they count as values of a
/// series (a counter, a log). Of a series, at most two sides of each author are kept
/// ([`thin_series`]).
pub(super) const SERIES: usize = 16;

/// A side that cannot hold together with the new one, for everybody whom the conflict concerns.
pub(crate) struct ContradictedSide {
    /// The conflict; if it is not recorded yet, its future record.
    pub(crate) pair: Pair,
    pub(super) is_known: bool,
    /// If this conflict is for a run: the conflict for everybody, with the same sides, that covers
    /// it.
    pub(crate) covered_by: Option<ConflictId>,
    /// The versions on this side: the worst first, then the user's.
    pub(super) voices: Vec<OpposingVersion>,
}

impl ContradictedSide {
    /// The conflict, if it was found before.
    pub(crate) fn known_pair(&self) -> Option<&Pair> {
        self.is_known.then_some(&self.pair)
    }

    /// The series to which it may belong: its run, severity and topic, and where the new claim
    /// differs from it. The severity is included so that a mild value never stands for a severe
    /// one.
    fn series(&self) -> Series {
        let first = self.voices.first();
        Series {
            run: self.pair.run,
            severity: self.severity(),
            topic: first.map_or_else(String::new, |it| fold(&it.engram.topic)),
            differs: first.map_or_else(Vec::new, |it| it.found.differs_a.clone()),
        }
    }

    fn newest_seq(&self) -> u64 {
        let said = self.voices.iter().map(|it| it.engram.seq);
        said.max().unwrap_or_default()
    }

    fn is_said_by_user(&self) -> bool {
        self.voices.iter().any(|it| it.engram.agent.is_none())
    }

    fn severity(&self) -> Option<Severity> {
        self.voices.first().map(|voice| voice.found.severity)
    }
}

/// The properties that values of one series share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Series {
    run: Option<RunId>,
    severity: Option<Severity>,
    topic: String,
    differs: Vec<(usize, usize)>,
}

/// Sides that a claim contradicts in the same words, and those that are kept for each author;
/// `None` is the user.
#[derive(Default)]
struct AlikeSides {
    all: Vec<usize>,
    kept: BTreeMap<Option<AgentId>, KeptSides>,
}

/// The side that an author stated last, and the one that holds longest.
struct KeptSides {
    last: (u64, usize),
    longest: (Timestamp, u64, usize),
}

/// The contradicted sides, without dismissed ones and with few of a series; and whether values of a
/// series were left out. Conflicts for everybody come before those for a run; in each group the
/// user's come first, then the worst, then the newest.
pub(super) fn sides_to_raise(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    here: &str,
    against: BTreeMap<(Option<RunId>, String), Vec<OpposingVersion>>,
    options: &CompareOptions<'_>,
) -> Result<(Vec<ContradictedSide>, bool), Refusal> {
    let clock = cx.engine.world.now();
    let mut found: Vec<ContradictedSide> = Vec::new();
    // Conflicts for everybody come first.
    for ((run, there), mut voices) in against {
        let mut sides = [here.to_owned(), there];
        sides.sort();
        let id = conflict_id(engram.project, run, &sides[0], &sides[1]);
        if options.of == Some(id) {
            continue;
        }
        let known = tx.conflict(id)?;
        let is_dismissed = known
            .as_ref()
            .is_some_and(|pair| pair.status == ConflictStatus::Dismissed);
        // A person who dismissed it for one run dismissed it for every run.
        if run.is_some()
            && !is_dismissed
            && rights::are_sides_dismissed(tx, engram.project, &sides)?
        {
            continue;
        }
        voices.sort_by_key(|it| {
            (
                Reverse(it.found.severity),
                it.engram.agent.is_some(),
                Reverse(it.engram.seq),
            )
        });
        if let Some(pair) = &known
            && pair.status == ConflictStatus::Dismissed
        {
            let engrams = voices.iter().map(|it| &it.engram).chain([engram]);
            if rights::is_dismissed_for_all(cx, tx, pair, engrams)? {
                continue;
            }
        }
        let is_known = known.is_some();
        let mut pair = known.unwrap_or_else(|| Pair::new(id, engram.project, run, sides));
        let worst = voices.first().map(|voice| voice.found.severity);
        let worst = worst.unwrap_or(Severity::Low);
        // A continuing conflict keeps its highest severity.
        let goes_on =
            pair.status == ConflictStatus::Open && lifecycle::both_hold(tx, &pair, clock)?;
        pair.severity = if goes_on {
            pair.severity.max(worst)
        } else {
            worst
        };
        let covered_by = covering_id(tx, &found, &pair, engram, options, clock)?;
        found.push(ContradictedSide {
            pair,
            is_known,
            covered_by,
            voices,
        });
    }
    let is_cut = thin_series(&mut found);
    found.sort_by_key(|one| {
        // Conflicts for everybody come first, so that conflicts for a run cannot crowd them out.
        let is_shared = one.pair.run.is_none();
        Reverse((
            is_shared,
            one.is_said_by_user(),
            one.severity(),
            one.newest_seq(),
        ))
    });
    Ok((found, is_cut))
}

/// The conflict that covers a conflict of a run once this version is stored: one that this
/// comparison found earlier, or a recorded one.
fn covering_id(
    tx: &Reader<'_>,
    found: &[ContradictedSide],
    pair: &Pair,
    engram: &Engram,
    options: &CompareOptions<'_>,
    clock: Timestamp,
) -> Result<Option<ConflictId>, Refusal> {
    if pair.run.is_none() {
        return Ok(None);
    }
    let shared = found.iter().map(|one| &one.pair).find(|wide| {
        wide.run.is_none() && wide.sides == pair.sides && wide.severity >= pair.severity
    });
    if let Some(shared) = shared {
        return Ok(Some(shared.id));
    }
    let wide = lifecycle::covering(tx, pair, clock)?;
    let goes_on =
        |wide: &Pair| lifecycle::is_ongoing_after(tx, wide, clock, options.ending, engram);
    let goes_on = wide.as_ref().map_or(Ok(false), goes_on)?;
    Ok(wide.filter(|_| goes_on).map(|wide| wide.id))
}

/// Leaves out the values of a series, except for two of each author: the last one, and the one that
/// holds longest, which represents the others after the last has ended. Returns whether any were
/// left out.
fn thin_series(found: &mut Vec<ContradictedSide>) -> bool {
    let mut alike: BTreeMap<_, AlikeSides> = BTreeMap::new();
    for (at, one) in found.iter().enumerate() {
        let alike = alike.entry(one.series()).or_default();
        alike.all.push(at);
        for voice in &one.voices {
            let (said, ends) = (voice.engram.seq, voice.engram.expires_at);
            let ends = ends.unwrap_or(Timestamp::MAX);
            let author = voice.engram.agent.clone();
            let kept = alike.kept.entry(author).or_insert(KeptSides {
                last: (said, at),
                longest: (ends, said, at),
            });
            kept.last = kept.last.max((said, at));
            kept.longest = kept.longest.max((ends, said, at));
        }
    }
    let mut left_out = BTreeSet::new();
    for AlikeSides { all, kept } in alike.values().filter(|alike| alike.all.len() > SERIES) {
        let stands = |at: &usize| {
            kept.values()
                .any(|it| it.last.1 == *at || it.longest.2 == *at)
        };
        // A conflict that was found before stays.
        let is_left_out = |at: &&usize| !found[**at].is_known && !stands(at);
        left_out.extend(all.iter().filter(is_left_out).copied());
    }
    let mut at = 0..;
    found.retain(|_| at.next().is_none_or(|at| !left_out.contains(&at)));
    !left_out.is_empty()
}
