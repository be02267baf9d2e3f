//! Which claims contradict a claim that is about to be stored, and which say the same in other words:
//! runs the tiers that need no model on the few claims that may be about the same thing.
//!
//! Every version that is stored passes here, so the order in which two claims arrive does not matter:
//! whichever comes last is compared with the other. A finding never fails a write.

use std::{cell::LazyCell, cmp::Reverse, collections::BTreeMap};

use engram_consistency::tier;
use engram_model::{
    Code, ConflictId, ConflictStatus, Durability, Engram, EngramId, Figures, Finding, Kind,
    LineageId, MemoryOp, Noticed, Operation, ProjectId, Provenance, RISK_POINTERS, Refusal, Scope,
    Severity, Source, operation::Contradiction, shorten,
};
use engram_store::{Pair, Reader, Traits, conflict_id, side};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{context::Context, decide::Planned, eyes::Eyes, parsed::Parsed};

/// Most versions that are looked up under one key, the newest first.
const UNDER_A_KEY: usize = 128;
/// Most versions that are checked by their columns, and most that are then compared by their words.
const WEIGHED: usize = 2_000;
const COMPARED: usize = 256;
/// Most sides that a new one contradicts in the same words and is held against each: more are the values of
/// a series (a counter, a log), and of those only the last said.
const SERIES: usize = 16;
/// Most conflicts, and most corroborating claims, that a reply lists.
pub(crate) const TOLD: usize = 5;
/// The author of what the engine itself says.
pub(crate) const ENGINE: &str = "engram";
/// The tag of an engram that reports a conflict.
const CONFLICT: &str = "conflict";

/// What is known of a version that is about to be stored.
#[derive(Default)]
pub(crate) struct Compared {
    /// What its author is told: conflicts, worst first, then claims that say the same.
    pub(crate) findings: Vec<Finding>,
    /// How many conflicts there are that its author may know of.
    pub(crate) conflicts: u64,
    /// The entries to record after it.
    pub(crate) entries: Vec<Planned>,
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
}

/// Another version that cannot hold together with the new one.
struct Against {
    engram: Engram,
    found: tier::Finding,
}

/// A side that cannot hold together with the new one.
struct Contradicted {
    id: ConflictId,
    /// Who says it, the worst first.
    voices: Vec<Against>,
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
}

/// The sides that a new one is held against: none that were found to hold with it, and few of a series.
fn contradicted(
    it: &Reader<'_>,
    against: BTreeMap<ConflictId, Vec<Against>>,
    telling: &Telling<'_>,
) -> Result<Vec<Contradicted>, Refusal> {
    let mut found = Vec::new();
    for (id, mut voices) in against {
        let pair = it.conflict(id)?;
        let is_dismissed = |it: &Pair| it.status == ConflictStatus::Dismissed;
        if telling.of != Some(id) && !pair.as_ref().is_some_and(is_dismissed) {
            voices.sort_by_key(|it| Reverse((it.found.severity, it.engram.seq)));
            found.push(Contradicted { id, voices, pair });
        }
    }
    let mut raised: BTreeMap<Vec<(usize, usize)>, usize> = BTreeMap::new();
    for it in &found {
        *raised.entry(it.words().to_vec()).or_default() += 1;
    }
    for count in raised.values_mut().filter(|count| **count > SERIES) {
        *count = 1;
    }
    found.sort_by_key(|it| Reverse(it.said()));
    found.retain(|it| {
        // What was found before stays found.
        it.pair.is_some()
            || raised.get_mut(it.words()).is_some_and(|left| {
                let is_left = *left > 0;
                *left = left.saturating_sub(1);
                is_left
            })
    });
    Ok(found)
}

impl Context<'_> {
    /// Opens the index for [`Context::compare`], before any transaction begins.
    pub(crate) fn before_comparing(&self) {
        let _ = self.engine.index();
    }

    /// Compares a version that is about to be stored with those that hold.
    pub(crate) fn compare(
        &self,
        it: &Reader<'_>,
        engram: &Engram,
        telling: &Telling<'_>,
    ) -> Compared {
        let compared = self.compare_with_all(it, engram, telling);
        compared.unwrap_or_else(|error| {
            tracing::warn!(%error, "a claim is stored without being compared");
            Compared::default()
        })
    }

    fn compare_with_all(
        &self,
        it: &Reader<'_>,
        engram: &Engram,
        telling: &Telling<'_>,
    ) -> Result<Compared, Refusal> {
        let mut compared = Compared::default();
        if !is_comparable(engram) {
            return Ok(compared);
        }
        let own = self.engine.claims.of(engram);
        let mut against: BTreeMap<ConflictId, Vec<Against>> = BTreeMap::new();
        let mut same = Vec::new();
        let here = side(&engram.topic, &engram.claim);
        // A new claim that says one thing, and contradicts so many, is a value of a series: older ones need not
        // be read.
        let may_stop = LazyCell::new(|| {
            let known = it.conflicts_of(engram.project, &here);
            own.claim.statements.len() == 1 && known.is_ok_and(|known| known.is_empty())
        });
        self.neighbours(it, engram, &own, telling, |other, parsed| {
            let (one, two) = (own.said(engram), parsed.said(&other));
            if let Some(found) = tier::compare(&one, &two) {
                let there = side(&other.topic, &other.claim);
                let id = conflict_id(engram.project, &here, &there);
                let found = Against {
                    engram: other,
                    found,
                };
                against.entry(id).or_default().push(found);
            } else if is_another_voice(engram, &other, telling.by)
                && side(&other.topic, &other.claim) != here
                && tier::corroborates(&one, &two).is_some()
            {
                same.push(other);
            }
            against.len() <= 2 * SERIES || !*may_stop
        })?;
        let eyes = self.eyes_in(engram.project)?;
        let mut told: Vec<(Reverse<Severity>, Reverse<u64>, Finding)> = Vec::new();
        for Contradicted { id, voices, pair } in contradicted(it, against, telling)? {
            let Some(worst) = voices.first() else {
                continue;
            };
            if self.is_news(it, pair.as_ref(), worst, telling)? {
                let entries = self.raised(it, engram, &here, worst, pair.as_ref(), telling)?;
                compared.entries.extend(entries);
            }
            if let Some(seen) = voices.iter().find(|it| eyes.may_see(&it.engram)) {
                let finding = told_of(it, id, seen, pair.as_ref())?;
                told.push((
                    Reverse(seen.found.severity),
                    Reverse(seen.engram.seq),
                    finding,
                ));
            }
        }
        told.sort_by_key(|it| (it.0, it.1));
        compared.conflicts = told.len() as u64;
        let worst = told.into_iter().take(TOLD).map(|it| it.2);
        compared.findings.extend(worst);
        self.corroborated(it, &eyes, same, telling, &mut compared)?;
        Ok(compared)
    }

    /// Counts a corroboration on each claim that says the same in other words, and tells the author of it.
    fn corroborated(
        &self,
        it: &Reader<'_>,
        eyes: &Eyes,
        same: Vec<Engram>,
        telling: &Telling<'_>,
        compared: &mut Compared,
    ) -> Result<(), Refusal> {
        let handle = self.agent()?.map(|agent| &agent.handle);
        for other in same.into_iter().filter(|it| eyes.may_see(it)).take(TOLD) {
            if !it.has_said(handle, telling.by, other.id)? {
                compared.entries.push(Planned {
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

    /// Passes on the versions that hold and may be about the same thing, newest first, until `each` wants no
    /// more.
    fn neighbours(
        &self,
        it: &Reader<'_>,
        engram: &Engram,
        own: &Parsed,
        telling: &Telling<'_>,
        mut each: impl FnMut(Engram, &Parsed) -> bool,
    ) -> Result<(), Refusal> {
        let clock = self.engine.world.now();
        let mut ended: Vec<EngramId> = telling.ending.to_vec();
        // No reader sees them yet.
        for other in telling.before.iter().rev().filter_map(stored) {
            ended.extend(other.supersedes);
            if other.lineage_id != engram.lineage_id && is_comparable(other) {
                each(other.clone(), &self.engine.claims.of(other));
            }
        }
        let mut count = 0;
        for seq in self.kin(it, engram.project, own)?.into_iter().take(WEIGHED) {
            let Some(traits) = it.traits_at(seq)? else {
                continue;
            };
            if !may_meet(&traits, engram, clock) {
                continue;
            }
            let Some(other) = it.engram_at(seq)? else {
                continue;
            };
            let is_one = other.lineage_id == engram.lineage_id || other.id == engram.id;
            if is_one || ended.contains(&other.id) || !is_comparable(&other) || is_told(it, &other)?
            {
                continue;
            }
            let parsed = self.engine.claims.of(&other);
            count += 1;
            if !each(other, &parsed) || count == COMPARED {
                break;
            }
        }
        Ok(())
    }

    /// The places of versions that share a key with a claim, newest first. Without an index, only the
    /// versions that were stored last are searched.
    fn kin(&self, it: &Reader<'_>, project: ProjectId, own: &Parsed) -> Result<Vec<u64>, Refusal> {
        if own.asked.is_empty() {
            return Ok(Vec::new());
        }
        let read = self.engine.opened_index().and_then(|index| {
            let kin = index.kin();
            let found = kin.and_then(|kin| Ok((kin.indexed(), kin.of(&own.asked, UNDER_A_KEY)?)));
            found
                .inspect_err(|error| self.engine.close_index(error))
                .ok()
        });
        let (indexed, mut found) = read.unwrap_or_default();
        found.retain(|seq| *seq <= indexed);
        let claims = &self.engine.claims;
        found.extend(claims.behind(it, project, indexed, &own.asked)?);
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        Ok(found)
    }

    /// Whether what was found is worth an entry: the pair is new, is no longer open, or is worse than was
    /// known; or its risk ends with this write.
    fn is_news(
        &self,
        it: &Reader<'_>,
        pair: Option<&Pair>,
        worst: &Against,
        telling: &Telling<'_>,
    ) -> Result<bool, Refusal> {
        let Some(pair) = pair else {
            return Ok(true);
        };
        if pair.status != ConflictStatus::Open {
            return Ok(true);
        }
        let known = it.contradiction(pair.last)?;
        if known.is_none_or(|it| it.severity < worst.found.severity) {
            return Ok(true);
        }
        let risk = held_risk(it, pair)?;
        Ok(risk.is_none_or(|it| telling.ending.contains(&it.id)))
    }

    /// The conflict, and the engram of kind risk that reports it if there is none yet.
    fn raised(
        &self,
        it: &Reader<'_>,
        engram: &Engram,
        here: &str,
        against: &Against,
        pair: Option<&Pair>,
        telling: &Telling<'_>,
    ) -> Result<Vec<Planned>, Refusal> {
        let Against {
            engram: other,
            found,
        } = against;
        let there = side(&other.topic, &other.claim);
        let id = conflict_id(engram.project, here, &there);
        let shareable = engram.scope != Scope::Run && other.scope != Scope::Run;
        let known = match pair {
            Some(pair) => held_risk(it, pair)?,
            None => None,
        };
        let risk = match known {
            Some(_) => None,
            None => Some(self.risk(id, engram, other, &found.why, telling.now)),
        };
        let mut both = [
            (here.to_owned(), engram.id, found.differs_a.clone()),
            (there, other.id, found.differs_b.clone()),
        ];
        both.sort_by(|one, two| one.0.cmp(&two.0));
        let [one, two] = both;
        let conflict = Contradiction {
            id,
            sides: [one.0, two.0],
            engrams: [one.1, two.1],
            tier: found.tier,
            severity: found.severity,
            score: Some(found.score),
            differs: [one.2, two.2],
            risk: risk.as_ref().map(|it| it.id),
            why: found.why.clone(),
        };
        let planned = |operation, by: &str| Planned {
            operation,
            by: by.to_owned(),
            shareable,
        };
        let mut entries = vec![planned(
            Operation::Conflicted(Box::new(conflict)),
            telling.by,
        )];
        entries.extend(risk.map(|it| planned(Operation::Stored(Box::new(it)), ENGINE)));
        Ok(entries)
    }

    /// A contradiction as an engram of its own, with the evidence of both sides, so that whoever queries the
    /// subject learns of it. It expires with whichever side expires first.
    fn risk(
        &self,
        conflict: ConflictId,
        one: &Engram,
        other: &Engram,
        why: &str,
        now: Timestamp,
    ) -> Engram {
        let id = EngramId(self.engine.world.id());
        let clock = self.engine.world.now();
        let limit = self.engine.config.limits.claim_chars;
        let why = shorten(why, limit.saturating_sub(100));
        let claim = format!("Two claims contradict each other: {why} (conflict {conflict})");
        let is_run = one.scope == Scope::Run || other.scope == Scope::Run;
        let ends = [one.expires_at, other.expires_at];
        Engram {
            id,
            seq: 0,
            lineage_id: LineageId(id.0),
            project: one.project,
            run: [one, other]
                .iter()
                .find(|it| it.scope == Scope::Run)
                .and_then(|it| it.run),
            content_hash: format!("sha256:{}", hex::encode(Sha256::digest(&claim))),
            claim,
            kind: Kind::Risk,
            fact_type: engram_model::FactType::Inference,
            scope: match is_run {
                true => Scope::Run,
                false => Scope::Project,
            },
            topic: one.topic.clone(),
            topic_key: None,
            pointers: sources(one, other),
            confidence: one.confidence.min(other.confidence),
            ttl: None,
            durability: Durability::Durable,
            tags: vec![CONFLICT.to_owned()],
            hash_keys: Vec::new(),
            entities: Vec::new(),
            provenance: Provenance {
                created_at: clock,
                created_by: ENGINE.to_owned(),
                source: Source::Tool,
            },
            agent: None,
            engineer: None,
            valid_from: now,
            valid_until: None,
            expires_at: ends.into_iter().flatten().min(),
            recorded_at: clock,
            memory_op: MemoryOp::Add,
            supersedes: None,
            restores: None,
            asks: None,
            verified: one.verified && other.verified,
            redacted: false,
            figures: Figures::default(),
            conflicts: Vec::new(),
            health: None,
            asked: None,
            place: None,
            score: None,
            lost: None,
            role: None,
        }
    }
}

/// Closes the risks of conflicts that these entries settle, or of which they end a side: in the same
/// transaction.
pub(crate) fn ended_risks(
    it: &Reader<'_>,
    clock: Timestamp,
    entries: &[Planned],
) -> Result<Vec<Planned>, Refusal> {
    let mut ended: Vec<EngramId> = Vec::new();
    let mut begun: Vec<String> = Vec::new();
    let mut settled: Vec<Pair> = Vec::new();
    for entry in entries {
        match &entry.operation {
            Operation::Forgotten(id) => ended.push(*id),
            Operation::Redacted(it) => ended.extend(&it.ids),
            Operation::Stored(engram) => {
                ended.extend(engram.supersedes);
                begun.push(side(&engram.topic, &engram.claim));
            }
            Operation::Resolved(ruling) if ruling.status != ConflictStatus::Open => {
                settled.extend(it.conflict(ruling.id)?);
            }
            _ => {}
        }
    }
    for id in ended.clone() {
        let (Some(engram), Some(side)) = (it.engram(id)?, it.side_of(id)?) else {
            continue;
        };
        let others = it.holding(engram.project, &side, clock)?;
        if begun.contains(&side) || others.iter().any(|it| !ended.contains(&it.id)) {
            continue;
        }
        settled.extend(it.conflicts_of(engram.project, &side)?);
    }
    let by = entries.last().map_or("", |it| it.by.as_str());
    let mut risks: Vec<Planned> = Vec::new();
    for pair in settled {
        if let Some(risk) = held_risk(it, &pair)?
            && !ended.contains(&risk.id)
        {
            ended.push(risk.id);
            risks.push(Planned {
                operation: Operation::Forgotten(risk.id),
                by: by.to_owned(),
                shareable: risk.scope != Scope::Run,
            });
        }
    }
    Ok(risks)
}

/// The engram of kind risk that currently reports a conflict.
pub(crate) fn held_risk(it: &Reader<'_>, pair: &Pair) -> Result<Option<Engram>, Refusal> {
    let Some(risk) = pair.risk else {
        return Ok(None);
    };
    let versions = it.lineage(LineageId(risk.0))?;
    Ok(versions.into_iter().find(|it| it.valid_until.is_none()))
}

/// The claim that an entry stores; not what Engram itself reports.
fn stored(entry: &Planned) -> Option<&Engram> {
    match &entry.operation {
        Operation::Stored(engram) if entry.by != ENGINE => Some(engram),
        _ => None,
    }
}

/// Whether a version may be compared at all, by its own record.
fn is_comparable(engram: &Engram) -> bool {
    engram.durability == Durability::Durable
        && engram.asks.is_none()
        && !engram.redacted
        && !engram.is_sample()
}

/// Whether it reports a conflict itself. Decided by its lineage, since earlier builds let people reword it.
fn is_told(it: &Reader<'_>, engram: &Engram) -> Result<bool, Refusal> {
    Ok(told_by(it, engram)?.is_some())
}

/// The conflict that an engram reports.
fn told_by(it: &Reader<'_>, engram: &Engram) -> Result<Option<Pair>, Refusal> {
    match engram.kind {
        Kind::Risk => Ok(it.told_by(engram.lineage_id)?),
        _ => Ok(None),
    }
}

/// What reports an open conflict ends with it, by a verdict, and is neither closed nor reworded by hand. A
/// conflict with a side that only expired has no verdict any more: what reports it may be closed.
pub(crate) fn reports_nothing_open(
    it: &Reader<'_>,
    engram: &Engram,
    clock: Timestamp,
) -> Result<(), Refusal> {
    let Some(pair) = told_by(it, engram)?.filter(|it| it.status == ConflictStatus::Open) else {
        return Ok(());
    };
    match both_hold(it, &pair, clock)? {
        false => Ok(()),
        true => Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "engram {} reports conflict {}, which is open",
                engram.id, pair.id
            ),
            format!(
                "Settle the conflict, and this ends with it: `engram conflicts show {0}` compares both, and `engram resolve {0} --winner ENGRAM`, `--merge TEXT` or `--dismiss` settles it.",
                pair.id
            ),
        )),
    }
}

/// Whether a claim of each side holds now.
fn both_hold(it: &Reader<'_>, pair: &Pair, clock: Timestamp) -> Result<bool, Refusal> {
    for side in &pair.sides {
        if it.holding(pair.project, side, clock)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a version may be compared with another, by its columns. Claims of two runs are not: nobody but
/// the user sees both.
fn may_meet(it: &Traits, engram: &Engram, clock: Timestamp) -> bool {
    let is_apart = it.scope == Scope::Run && engram.scope == Scope::Run && it.run != engram.run;
    it.project == engram.project
        && !it.redacted
        && it.durability == Durability::Durable
        && it.holds_now(clock)
        && !is_apart
}

fn is_another_voice(engram: &Engram, other: &Engram, by: &str) -> bool {
    match (&engram.agent, &other.agent) {
        (Some(one), Some(two)) => one != two,
        (None, None) => other.provenance.created_by != by,
        _ => true,
    }
}

/// Pointers of both, at most [`RISK_POINTERS`]: the first of each, then the second of each, and so on.
pub(crate) fn sources(one: &Engram, other: &Engram) -> Vec<engram_model::Pointer> {
    let most = one.pointers.len().max(other.pointers.len());
    let mut found = Vec::new();
    for at in 0..most {
        for pointer in [one.pointers.get(at), other.pointers.get(at)]
            .into_iter()
            .flatten()
        {
            if !found.contains(pointer) && found.len() < RISK_POINTERS {
                found.push(pointer.clone());
            }
        }
    }
    found
}

fn told_of(
    it: &Reader<'_>,
    id: ConflictId,
    against: &Against,
    pair: Option<&Pair>,
) -> Result<Finding, Refusal> {
    let Against { engram, found } = against;
    let mut note = found.why.clone();
    if let Some(pair) = pair.filter(|it| it.status == ConflictStatus::Resolved)
        && let Some(seq) = pair.verdict
        && let (Some(ruling), Some(deed)) = (it.ruling(seq)?, it.deed(seq)?)
    {
        let how = ruling.how.map_or("", engram_model::How::as_str);
        note.push_str(&format!(
            " It was settled before ({how}, by {}) and is open again.",
            named(&deed.by)
        ));
        if let Some(why) = ruling.why {
            note.push_str(&format!(" The reason was: {why}"));
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

pub(crate) fn author(engram: &Engram) -> &str {
    named(&engram.provenance.created_by)
}

fn named(by: &str) -> &str {
    if by.is_empty() { "the user" } else { by }
}
