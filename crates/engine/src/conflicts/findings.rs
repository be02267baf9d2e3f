//! Which claims contradict a claim that is about to be stored, and which say the same in other words:
//! runs the tiers that need no model on the few claims that may be about the same thing.
//!
//! Every version that is stored passes here, so the order in which two claims arrive does not matter:
//! whichever comes last is compared with the other. A finding never fails a write.

use std::{
    cell::LazyCell,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    conflicts::{
        candidates::candidates,
        judge,
        parsed::Parsed,
        risks::{self, is_told},
    },
    context::{Context, names, names::ENGINE, plan::Planned, visibility::Eyes},
};
use engram_consistency::tier;
use engram_gateway::quoted;
use engram_model::{
    AgentId, ConflictId, ConflictStatus, Durability, Engram, EngramId, Finding, Noticed, Operation,
    Refusal, RunId, Scope, Severity, fold, operation::Contradiction,
};
use engram_store::{Due, Pair, Reader, audience, conflict_id, side};
use jiff::Timestamp;

/// Most versions that are compared by their words at once.
const COMPARED: usize = 256;
/// Most sides that a new one contradicts in the same words and is held against each: more are the values of
/// a series (a counter, a log), and of those only the last that each author said.
const SERIES: usize = 16;
/// Most conflicts that a write raises, and that are raised at once of those that are due.
const RAISED: usize = 5;
const RAISED_WHEN_DUE: usize = 32;
/// Most conflicts, and most corroborating claims, that a reply lists.
pub(crate) const TOLD: usize = 5;
/// What is known of a version that is about to be stored.
#[derive(Default)]
pub(crate) struct Compared {
    /// What its author is told: conflicts, worst first, then claims that say the same.
    pub(crate) findings: Vec<Finding>,
    /// How many conflicts there are that its author may know of.
    pub(crate) conflicts: u64,
    /// The entries to record after it.
    pub(crate) entries: Vec<Planned>,
    /// What is left to compare.
    pub(crate) due: Option<Due>,
}

impl Compared {
    /// How many comparisons are due that its author may know of.
    pub(crate) fn told_due(&self) -> u64 {
        self.due.map_or(0, |due| due.told)
    }
}

/// Who stores a version, when, and what else the same transaction does.
pub(crate) struct Telling<'a> {
    pub(crate) now: Timestamp,
    pub(crate) by: &'a str,
    /// Versions that end with it.
    pub(crate) ending: &'a [EngramId],
    /// What the same transaction records before it.
    pub(crate) before: &'a [Planned],
    /// The conflict that this write settles or reopens: it is not raised again.
    pub(crate) of: Option<ConflictId>,
    /// Compared with what was stored before this place.
    pub(crate) below: u64,
    /// Whether it was stored before, and something was left to compare.
    pub(crate) is_due: bool,
    /// Whether that is only what runs say.
    pub(crate) of_runs: bool,
}

impl<'a> Telling<'a> {
    /// A version that replaces these, and is compared with all.
    pub(crate) fn of(now: Timestamp, by: &'a str, ending: &'a [EngramId]) -> Self {
        Self {
            now,
            by,
            ending,
            before: &[],
            of: None,
            below: Due::ALL.below,
            is_due: false,
            of_runs: false,
        }
    }
}

/// Another version that cannot hold together with the new one.
pub(crate) struct Against {
    pub(crate) engram: Engram,
    pub(crate) found: tier::Finding,
}

/// A side that cannot hold together with the new one, for all whom the conflict is for.
pub(crate) struct Contradicted {
    /// Of the conflict; where none is known yet, as it will be.
    pub(crate) pair: Pair,
    is_known: bool,
    /// The conflict of the same sides that is for everybody, where this one is for a run and is covered by it.
    pub(crate) covered_by: Option<ConflictId>,
    /// Who says it: the worst first, then the user.
    voices: Vec<Against>,
}

impl Contradicted {
    /// The conflict, where it was found before.
    pub(crate) fn known(&self) -> Option<&Pair> {
        self.is_known.then_some(&self.pair)
    }

    /// The series that it may be of: whom it is for, the topic, and where the new claim differs from it.
    fn series(&self) -> (Option<RunId>, String, Vec<(usize, usize)>) {
        let first = self.voices.first();
        let topic = first.map_or_else(String::new, |it| fold(&it.engram.topic));
        let words = first.map_or_else(Vec::new, |it| it.found.differs_a.clone());
        (self.pair.run, topic, words)
    }

    fn said(&self) -> u64 {
        let said = self.voices.iter().map(|it| it.engram.seq);
        said.max().unwrap_or_default()
    }

    fn is_users(&self) -> bool {
        self.voices.iter().any(|it| it.engram.agent.is_none())
    }

    fn severity(&self) -> Option<Severity> {
        self.voices.first().map(|voice| voice.found.severity)
    }
}

/// Sides that a claim contradicts in the same words, and which of them are kept of each author; none is the user.
#[derive(Default)]
struct Alike {
    all: Vec<usize>,
    kept: BTreeMap<Option<AgentId>, Kept>,
}

/// What an author said last, and what of it holds longest.
struct Kept {
    last: (u64, usize),
    longest: (Timestamp, u64, usize),
}

/// What a comparison found, and how far it came.
#[derive(Default)]
struct Met {
    /// By the run that the conflict is for, and the other side.
    against: BTreeMap<(Option<RunId>, String), Vec<Against>>,
    /// Versions that say the same in other words.
    same: Vec<Engram>,
    /// Everything stored here and later was compared; 0 where all was.
    floor: u64,
    has_failed: bool,
    /// Whether something is left that the author may not see, and whether some of that is not of a run.
    has_hidden: bool,
    hides_shared: bool,
}

/// Opens the index for [`compare`], before any transaction begins.
pub(crate) fn before_comparing(cx: &Context<'_>) {
    let _ = cx.engine.index();
}

/// Compares a version that is about to be stored with those that hold. What fails is due.
pub(crate) fn compare(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    telling: &Telling<'_>,
) -> Compared {
    let compared = compare_with_all(cx, tx, engram, telling);
    compared.unwrap_or_else(|error| {
        tracing::warn!(%error, id = %engram.id, "a claim could not be compared; it is tried again");
        Compared {
            due: Some(Due::ALL),
            ..Compared::default()
        }
    })
}

fn compare_with_all(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    telling: &Telling<'_>,
) -> Result<Compared, Refusal> {
    let mut compared = Compared::default();
    if !is_comparable(engram) {
        return Ok(compared);
    }
    let here = side(&engram.topic, &engram.claim);
    let eyes = cx.eyes_in(engram.project)?;
    let mut met = meet(cx, tx, engram, &here, &eyes, telling)?;
    met.against
        .retain(|(run, _), _| run.is_some() || !telling.of_runs);
    let mut left = Due {
        below: telling.below,
        pairs: 0,
        told: 0,
        of_runs: true,
        is_cut: false,
    };
    let mut told: Vec<(Reverse<Severity>, Reverse<u64>, Finding)> = Vec::new();
    let most = if telling.is_due {
        RAISED_WHEN_DUE
    } else {
        RAISED
    };
    // A write raises so many, whatever it records.
    let mut raised = telling.before.iter().filter_map(raised_by).count();
    let (sides, is_cut) = contradicted(cx, tx, engram, &here, met.against, telling)?;
    for one in sides {
        let Some(voice) = one.voices.first() else {
            continue;
        };
        if is_news(cx, tx, &one, [engram, &voice.engram], voice, telling)? {
            if raised >= most {
                left.of_runs &= one.pair.run.is_some();
                left.pairs += 1;
                left.told += u64::from(one.covered_by.is_none());
                continue;
            }
            raised += 1;
            let entries = risks::raised(cx, tx, engram, &one, voice, telling)?;
            compared.entries.extend(entries);
        }
        if one.covered_by.is_none() {
            let finding = told_of(tx, one.pair.id, voice, one.known())?;
            told.push((
                Reverse(voice.found.severity),
                Reverse(voice.engram.seq),
                finding,
            ));
        }
    }
    // How many there are that somebody may not see is not told by what is left to compare, nor what the engine
    // sees where it acts by itself.
    let floor_told = u64::from(matches!(eyes, Eyes::All) && telling.by != ENGINE);
    if telling.by == ENGINE {
        left.told = 0;
    }
    // What was not looked at may be for everybody.
    let is_whole = met.floor == 0 && !met.has_failed;
    left.of_runs = telling.of_runs || (left.of_runs && is_whole);
    compared.due = match (left.pairs, met.has_failed, met.floor) {
        (0, false, 0) => None,
        (0, false, below) => Some(Due {
            below,
            told: floor_told,
            of_runs: telling.of_runs,
            ..Due::ALL
        }),
        (0, true, _) => Some(Due {
            below: telling.below,
            of_runs: telling.of_runs,
            ..Due::ALL
        }),
        _ => Some(left),
    };
    if met.has_hidden {
        // What the author may not see is compared behind the answer.
        let due = compared.due.unwrap_or(Due {
            told: 0,
            of_runs: true,
            ..Due::ALL
        });
        compared.due = Some(Due {
            below: telling.below,
            of_runs: due.of_runs && !met.hides_shared,
            ..due
        });
    }
    if is_cut {
        compared.due = Some(Due {
            is_cut,
            ..compared.due.unwrap_or(Due::NONE)
        });
    }
    told.sort_by_key(|it| (it.0, it.1));
    compared.conflicts = told.len() as u64;
    let worst = told.into_iter().take(TOLD).map(|it| it.2);
    compared.findings.extend(worst);
    corroborated(cx, tx, &eyes, engram, met.same, telling, &mut compared)?;
    Ok(compared)
}

/// Compares a version with each candidate.
fn meet(
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
        if let Some(found) = tier::compare(&one, &two) {
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
        if other.lineage_id != engram.lineage_id && is_comparable(other) {
            judge(&mut met, other.clone(), &cx.engine.claims.of(other));
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

/// The run that a conflict of these versions is for; none where everybody may see both.
fn run_of(both: [&Engram; 2]) -> Option<RunId> {
    both.into_iter().find_map(audience)
}

/// The sides that a new one is held against: none that were found to hold with it, and few of a series; and whether
/// values of a series were left out. The user's come first, then the worst, then the newest; what is for a run,
/// behind what is for everybody.
fn contradicted(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    here: &str,
    against: BTreeMap<(Option<RunId>, String), Vec<Against>>,
    telling: &Telling<'_>,
) -> Result<(Vec<Contradicted>, bool), Refusal> {
    let clock = cx.engine.world.now();
    let mut found: Vec<Contradicted> = Vec::new();
    // What is for everybody comes first.
    for ((run, there), mut voices) in against {
        let mut sides = [here.to_owned(), there];
        sides.sort();
        let id = conflict_id(engram.project, run, &sides[0], &sides[1]);
        if telling.of == Some(id) {
            continue;
        }
        let known = tx.conflict(id)?;
        let is_dismissed = known
            .as_ref()
            .is_some_and(|pair| pair.status == ConflictStatus::Dismissed);
        // A person who dismissed it for one run dismissed it for each.
        if run.is_some() && !is_dismissed && judge::is_final(tx, engram.project, &sides)? {
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
            if judge::is_dismissed_for_all(cx, tx, pair, engrams)? {
                continue;
            }
        }
        let is_known = known.is_some();
        let mut pair = known.unwrap_or_else(|| Pair::new(id, engram.project, run, sides));
        let worst = voices.first().map(|voice| voice.found.severity);
        let worst = worst.unwrap_or(Severity::Low);
        // What goes on is as severe as it ever was.
        if is_known && pair.status == ConflictStatus::Open && tx.both_hold(&pair, clock)? {
            pair.severity = pair.severity.max(worst);
        } else {
            pair.severity = worst;
        }
        let shared = found.iter().find(|one| {
            one.pair.run.is_none()
                && one.pair.sides == pair.sides
                && one.pair.severity >= pair.severity
        });
        let covered_by = match shared {
            Some(shared) if run.is_some() => Some(shared.pair.id),
            _ => {
                let wide = tx.covering(&pair, clock)?;
                let ending = telling.ending;
                let goes_on = |wide: &Pair| risks::goes_on_with(tx, wide, clock, ending, engram);
                let goes_on = wide.as_ref().map_or(Ok(false), goes_on)?;
                wide.filter(|_| goes_on).map(|wide| wide.id)
            }
        };
        found.push(Contradicted {
            pair,
            is_known,
            covered_by,
            voices,
        });
    }
    let is_cut = without_series(&mut found);
    found.sort_by_key(|one| {
        // What is for a run takes no place from what is for everybody.
        let is_shared = one.pair.run.is_none();
        Reverse((is_shared, one.is_users(), one.severity(), one.said()))
    });
    Ok((found, is_cut))
}

/// Leaves out values of a series, but for two of each author: the one that was said last, and the one that holds
/// longest, which stands for the others once that has ended. Whether any were left out.
fn without_series(found: &mut Vec<Contradicted>) -> bool {
    let mut alike: BTreeMap<_, Alike> = BTreeMap::new();
    for (at, one) in found.iter().enumerate() {
        let alike = alike.entry(one.series()).or_default();
        alike.all.push(at);
        for voice in &one.voices {
            let (said, ends) = (voice.engram.seq, voice.engram.expires_at);
            let ends = ends.unwrap_or(Timestamp::MAX);
            let author = voice.engram.agent.clone();
            let kept = alike.kept.entry(author).or_insert(Kept {
                last: (said, at),
                longest: (ends, said, at),
            });
            kept.last = kept.last.max((said, at));
            kept.longest = kept.longest.max((ends, said, at));
        }
    }
    let mut left_out = BTreeSet::new();
    for Alike { all, kept } in alike.values().filter(|alike| alike.all.len() > SERIES) {
        let stands = |at: &usize| {
            kept.values()
                .any(|it| it.last.1 == *at || it.longest.2 == *at)
        };
        // What was found before stays found.
        let is_left_out = |at: &&usize| !found[**at].is_known && !stands(at);
        left_out.extend(all.iter().filter(is_left_out).copied());
    }
    let mut at = 0..;
    found.retain(|_| at.next().is_none_or(|at| !left_out.contains(&at)));
    !left_out.is_empty()
}

/// Counts a corroboration on each claim that says the same in other words, and tells the author of it.
fn corroborated(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    eyes: &Eyes,
    engram: &Engram,
    same: Vec<Engram>,
    telling: &Telling<'_>,
    compared: &mut Compared,
) -> Result<(), Refusal> {
    let handle = cx.agent()?.map(|agent| &agent.handle);
    for other in same.into_iter().filter(|it| eyes.may_see(it)).take(TOLD) {
        // What a run says counts for that run alone.
        let counts = audience(engram).is_none() || audience(engram) == audience(&other);
        if counts && !tx.has_said(handle, telling.by, other.id)? {
            compared.entries.push(Planned {
                due: None,
                operation: Operation::Corroborated(other.id),
                by: telling.by.to_owned(),
                shareable: other.scope != Scope::Run,
            });
        }
        let note = format!("{} says the same in other words.", author(&other));
        compared
            .findings
            .push(Finding::new(Noticed::Corroborates, other.id, note));
    }
    Ok(())
}

/// Whether what was found is worth an entry: the pair is new, is no longer open, or is worse than was
/// known; or nothing reports it as long as these versions hold. What this write records before is known.
fn is_news(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    one: &Contradicted,
    present: [&Engram; 2],
    voice: &Against,
    telling: &Telling<'_>,
) -> Result<bool, Refusal> {
    let mut before = telling.before.iter().filter_map(raised_by);
    if before.any(|known| known.id == one.pair.id) {
        return Ok(false);
    }
    if !one.is_known || one.pair.status != ConflictStatus::Open {
        return Ok(true);
    }
    let known = tx.contradiction(one.pair.last)?;
    if known.is_none_or(|known| known.severity < voice.found.severity) {
        return Ok(true);
    }
    // What covers it is told instead.
    if one.covered_by.is_some() {
        return Ok(false);
    }
    let reporting = risks::reporting(cx, tx, &one.pair, present[0], telling.ending)?;
    Ok(!reporting
        .iter()
        .any(|report| report.lasts_as_long_as(present)))
}

/// The conflict that an entry raises.
fn raised_by(entry: &Planned) -> Option<&Contradiction> {
    match &entry.operation {
        Operation::Conflicted(it) => Some(it),
        _ => None,
    }
}

/// The claim that an entry stores; not what Engram itself reports.
fn stored(entry: &Planned) -> Option<&Engram> {
    match &entry.operation {
        Operation::Stored(engram) if entry.by != ENGINE => Some(engram),
        _ => None,
    }
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

fn told_of(
    tx: &Reader<'_>,
    id: ConflictId,
    against: &Against,
    pair: Option<&Pair>,
) -> Result<Finding, Refusal> {
    let Against { engram, found } = against;
    let mut note = found.why.clone();
    if let Some(pair) = pair
        && pair.status == ConflictStatus::Resolved
        && let Some(seq) = pair.verdict
        && let (Some(ruling), Some(deed)) = (tx.ruling(seq)?, tx.deed(seq)?)
    {
        let how = ruling.how.map_or("", engram_model::How::as_str);
        let by = quoted(named(&names::by(&deed)));
        note.push_str(&format!(
            " It was settled before ({how}, by {by}) and is open again."
        ));
        if let Some(why) = ruling.why {
            note.push_str(&format!(" {by} gave this reason: {}.", quoted(&why)));
        }
    }
    Ok(Finding {
        conflict: Some(id),
        severity: Some(found.severity),
        tier: Some(found.tier),
        claim: Some(engram.claim.clone()),
        by: Some(author(engram).to_owned()),
        ..Finding::new(Noticed::Conflict, engram.id, note)
    })
}

pub(crate) fn author(engram: &Engram) -> String {
    named(&names::author(engram)).to_owned()
}

fn named(by: &str) -> &str {
    if by.is_empty() { "the user" } else { by }
}
