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
    candidates::candidates,
    context::Context,
    decide::Planned,
    eyes::Eyes,
    judge, names,
    parsed::Parsed,
    risks::{self, is_told, saw_judged, standing},
};
use engram_consistency::tier;
use engram_gateway::quoted;
use engram_model::{
    AgentId, ConflictId, ConflictStatus, Durability, Engram, EngramId, Finding, Noticed, Operation,
    Refusal, Scope, Severity, operation::Contradiction,
};
use engram_store::{Due, Pair, Reader, conflict_id, side};
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
/// The author of what the engine itself says.
pub(crate) const ENGINE: &str = "engram";

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
        }
    }
}

/// Another version that cannot hold together with the new one.
pub(crate) struct Against {
    pub(crate) engram: Engram,
    pub(crate) found: tier::Finding,
}

/// A side that cannot hold together with the new one.
struct Contradicted {
    id: ConflictId,
    /// Who says it: those that most can see first, then the user, then the worst.
    voices: Vec<Against>,
    /// The one that the author of the new claim is told of; none where it may not know of any, or dismissed them.
    told: Option<usize>,
    /// One that the author is not told of, where there is any.
    hidden: Option<usize>,
    /// What is known of it.
    pair: Option<Pair>,
}

impl Contradicted {
    /// Where the new claim differs from it.
    fn words(&self) -> &[(usize, usize)] {
        let worst = self.voices.first();
        worst.map_or(&[], |it| &it.found.differs_a)
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

    /// The voice by which the conflict is raised: as many as can see it.
    fn voice(&self) -> Option<&Against> {
        self.voices
            .get(self.told.or(self.hidden).unwrap_or_default())
    }

    fn author(&self) -> Option<&AgentId> {
        self.voices.first().and_then(|it| it.engram.agent.as_ref())
    }
}

/// Sides that a claim contradicts in the same words.
#[derive(Default)]
struct Alike {
    count: usize,
    /// Whose were seen already; none is the user.
    authors: Vec<Option<AgentId>>,
}

/// What a comparison found, and how far it came.
#[derive(Default)]
struct Met {
    against: BTreeMap<ConflictId, Vec<Against>>,
    /// Of those, the ones that the author may know of.
    seen: BTreeSet<ConflictId>,
    /// Versions that say the same in other words.
    same: Vec<Engram>,
    /// Everything stored here and later was compared; 0 where all was.
    floor: u64,
    has_failed: bool,
}

/// Opens the index for [`Context::compare`], before any transaction begins.
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
    let met = meet(cx, tx, engram, &here, &eyes, telling)?;
    let mut left = Due {
        below: telling.below,
        pairs: 0,
        told: 0,
    };
    let mut told: Vec<(Reverse<Severity>, Reverse<u64>, Finding)> = Vec::new();
    let most = if telling.is_due {
        RAISED_WHEN_DUE
    } else {
        RAISED
    };
    // A write raises so many, whatever it records.
    let mut raised = telling.before.iter().filter_map(raised_by).count();
    for one in contradicted(cx, tx, engram, met.against, &eyes, telling)? {
        let Some(voice) = one.voice() else {
            continue;
        };
        let pair = one.pair.as_ref();
        if is_news(cx, tx, &one, [engram, &voice.engram], voice, telling)? {
            if raised >= most {
                left.pairs += 1;
                left.told += u64::from(one.told.is_some());
                continue;
            }
            raised += 1;
            let entries = risks::raised(cx, tx, engram, &here, voice, pair, telling)?;
            compared.entries.extend(entries);
        }
        if one.told.is_some() {
            let finding = told_of(tx, &eyes, one.id, voice, pair)?;
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
    compared.due = match (left.pairs, met.has_failed, met.floor) {
        (0, false, 0) => None,
        (0, false, below) => Some(Due {
            below,
            told: floor_told,
            ..Due::ALL
        }),
        (0, true, _) => Some(Due {
            below: telling.below,
            ..Due::ALL
        }),
        _ => Some(left),
    };
    told.sort_by_key(|it| (it.0, it.1));
    compared.conflicts = told.len() as u64;
    let worst = told.into_iter().take(TOLD).map(|it| it.2);
    compared.findings.extend(worst);
    corroborated(cx, tx, &eyes, met.same, telling, &mut compared)?;
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
            let id = conflict_id(engram.project, here, &there);
            if eyes.may_see(&other) {
                met.seen.insert(id);
            }
            let found = Against {
                engram: other,
                found,
            };
            met.against.entry(id).or_default().push(found);
        } else if is_another_voice(engram, &other, telling.by)
            && there != here
            && tier::corroborates(&one, &two).is_some()
        {
            met.same.push(other);
        }
        met.seen.len() <= 2 * SERIES || !*may_stop
    };
    let mut ended: Vec<EngramId> = telling.ending.to_vec();
    // No reader sees them yet.
    for other in telling.before.iter().rev().filter_map(stored) {
        ended.extend(other.supersedes);
        if other.lineage_id != engram.lineage_id && is_comparable(other) {
            judge(&mut met, other.clone(), &cx.engine.claims.of(other));
        }
    }
    let found = candidates(cx.engine, tx, engram, &own, telling)?;
    (met.floor, met.has_failed) = (found.floor, found.has_failed);
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

/// The sides that a new one is held against: none that were found to hold with it, and few of a series. What
/// the author is told of comes first, so that what is hidden takes no place from it; then the user's, then the
/// newest.
fn contradicted(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    against: BTreeMap<ConflictId, Vec<Against>>,
    eyes: &Eyes,
    telling: &Telling<'_>,
) -> Result<Vec<Contradicted>, Refusal> {
    let mut found = Vec::new();
    for (id, mut voices) in against {
        if telling.of == Some(id) {
            continue;
        }
        let pair = tx.conflict(id)?;
        // By the one that most can see, so that all who see the sides learn of it.
        voices.sort_by_key(|it| {
            (
                it.engram.scope == Scope::Run,
                it.engram.agent.is_some(),
                Reverse((it.found.severity, it.engram.seq)),
            )
        });
        let sees = |it: &Against| eyes.may_see(&it.engram);
        let mut told = voices.iter().position(sees);
        let hidden = voices.iter().position(|it| !sees(it));
        if let Some(pair) = &pair
            && pair.ruled == Some(ConflictStatus::Dismissed)
        {
            let engrams = |hidden: bool| {
                let voices = voices.iter().filter(move |it| hidden || sees(it));
                voices.map(|it| &it.engram).chain([engram])
            };
            if judge::is_dismissed_for_all(cx, tx, pair, engrams(false))? {
                told = None;
            }
            // Where it is open by what is hidden, there is nothing to add for those who see that.
            let is_open = pair.status == ConflictStatus::Open;
            if (told.is_none() && is_open)
                || (!is_open && judge::is_dismissed_for_all(cx, tx, pair, engrams(true))?)
            {
                continue;
            }
        }
        found.push(Contradicted {
            id,
            voices,
            told,
            hidden,
            pair,
        });
    }
    // What is hidden from the author makes no series of what is not.
    let series = |one: &Contradicted| (one.told.is_some(), one.words().to_vec());
    let mut alike: BTreeMap<(bool, Vec<(usize, usize)>), Alike> = BTreeMap::new();
    for one in &found {
        alike.entry(series(one)).or_default().count += 1;
    }
    found.sort_by_key(|one| Reverse(one.said()));
    found.retain(|one| {
        let Some(Alike { count, authors }) = alike.get_mut(&series(one)) else {
            return true;
        };
        let author = one.author().cloned();
        let is_last = !authors.contains(&author);
        authors.push(author);
        // What was found before stays found.
        one.pair.is_some() || *count <= SERIES || is_last
    });
    found.sort_by_key(|one| {
        let is_told = one.told.is_some();
        Reverse((is_told, one.is_users(), one.severity(), one.said()))
    });
    Ok(found)
}

/// Counts a corroboration on each claim that says the same in other words, and tells the author of it.
fn corroborated(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    eyes: &Eyes,
    same: Vec<Engram>,
    telling: &Telling<'_>,
    compared: &mut Compared,
) -> Result<(), Refusal> {
    let handle = cx.agent()?.map(|agent| &agent.handle);
    for other in same.into_iter().filter(|it| eyes.may_see(it)).take(TOLD) {
        if !tx.has_said(handle, telling.by, other.id)? {
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
/// known; or nothing that these versions may be seen with reports it, or no longer. What this write records
/// before is known.
fn is_news(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    one: &Contradicted,
    present: [&Engram; 2],
    voice: &Against,
    telling: &Telling<'_>,
) -> Result<bool, Refusal> {
    let mut before = telling.before.iter().filter_map(raised_by);
    if before.any(|known| known.id == one.id) {
        return Ok(false);
    }
    let Some(pair) = &one.pair else {
        return Ok(true);
    };
    if pair.status != ConflictStatus::Open {
        return Ok(true);
    }
    let known = tx.contradiction(pair.last)?;
    if known.is_none_or(|known| known.severity < voice.found.severity) {
        return Ok(true);
    }
    for report in risks::reporting(cx, tx, pair, present[0], telling.ending)? {
        if report.lasts_as_long_as(present) && report.is_seen_with(tx, present)? {
            return Ok(false);
        }
    }
    Ok(true)
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
    eyes: &Eyes,
    id: ConflictId,
    against: &Against,
    pair: Option<&Pair>,
) -> Result<Finding, Refusal> {
    let Against { engram, found } = against;
    let mut note = found.why.clone();
    if let Some(pair) = pair
        && standing(tx, eyes, pair)? == ConflictStatus::Resolved
        && saw_judged(tx, eyes, pair)?
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
