//! The engram of kind risk that reports a conflict: stored with it, closed with it, and seen by nobody who may
//! not see both sides.

use crate::{
    context::Context,
    decide::Planned,
    eyes::Eyes,
    findings::{Against, ENGINE, Telling},
};
use engram_model::{
    Code, ConflictId, ConflictStatus, Durability, Engram, EngramId, Figures, Kind, LineageId,
    MemoryOp, Operation, Provenance, RISK_POINTERS, Refusal, Scope, Source,
    operation::Contradiction, shorten,
};
use engram_store::{Pair, Reader, conflict_id, side};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// The tag of an engram that reports a conflict.
const CONFLICT: &str = "conflict";

/// The conflict, and the engram of kind risk that reports it if there is none yet.
pub(crate) fn raised(
    cx: &Context<'_>,
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
    let mut narrower = match pair {
        Some(pair) => reporting(cx, it, pair, engram, telling.ending)?,
        None => Vec::new(),
    };
    let mut is_reported = false;
    for report in &narrower {
        is_reported |=
            report.lasts_as_long_as([engram, other]) && report.is_seen_with(it, [engram, other])?;
    }
    // What reports it from now on takes the place of what fewer may see.
    let risk = (!is_reported).then(|| risk(cx, id, engram, other, &found.why, telling.now));
    narrower.retain(|_| risk.is_some());
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
        due: None,
        operation,
        by: by.to_owned(),
        shareable,
    };
    let mut entries = vec![planned(
        Operation::Conflicted(Box::new(conflict)),
        telling.by,
    )];
    let ended = narrower.iter().map(|report| report.risk.id);
    entries.extend(ended.map(|id| planned(Operation::Forgotten(id), ENGINE)));
    entries.extend(risk.map(|it| planned(Operation::Stored(Box::new(it)), ENGINE)));
    Ok(entries)
}

/// A conflict that is found again by these versions of its sides, and what reports it.
pub(crate) fn found_again(
    cx: &Context<'_>,
    pair: &Pair,
    known: Contradiction,
    sides: [Engram; 2],
    now: Timestamp,
) -> Vec<Planned> {
    let [one, two] = &sides;
    let risk = risk(cx, pair.id, one, two, &known.why, now);
    let shareable = risk.scope != Scope::Run;
    let found = Contradiction {
        engrams: [one.id, two.id],
        risk: Some(risk.id),
        ..known
    };
    let planned = |operation| Planned {
        due: None,
        operation,
        by: ENGINE.to_owned(),
        shareable,
    };
    vec![
        planned(Operation::Conflicted(Box::new(found))),
        planned(Operation::Stored(Box::new(risk))),
    ]
}

/// What reports a conflict once `engram` is stored and these versions have ended.
pub(crate) fn reporting(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: &Pair,
    engram: &Engram,
    ending: &[EngramId],
) -> Result<Vec<Held>, Refusal> {
    let sides = holding(tx, pair, cx.engine.world.now(), ending, &[engram])?;
    let mut all = Vec::new();
    for report in held(tx, pair)? {
        if !ending.contains(&report.risk.id) && report.goes_on(tx, &sides)? {
            all.push(report);
        }
    }
    Ok(all)
}

/// Closes what reports conflicts that these entries settle, or of which its readers see a side no more, in the
/// same transaction. Whoever sees other versions of both sides is told by them.
pub(crate) fn ended_risks(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    now: Timestamp,
    entries: &[Planned],
) -> Result<Vec<Planned>, Refusal> {
    let clock = cx.engine.world.now();
    let Ends {
        mut ended,
        begun,
        mut touched,
    } = Ends::of(tx, entries)?;
    for id in ended.clone() {
        if let (Some(engram), Some(side)) = (tx.engram(id)?, tx.side_of(id)?) {
            let pairs = tx.conflicts_of(engram.project, &side)?;
            touched.extend(pairs.into_iter().map(|pair| (pair, false)));
        }
    }
    let by = entries.last().map_or("", |entry| entry.by.as_str());
    let mut risks: Vec<Planned> = Vec::new();
    for (pair, is_settled) in touched {
        let sides = holding(tx, &pair, clock, &ended, &begun)?;
        let before = ended.len();
        for report in held(tx, &pair)? {
            let ends = is_settled || !report.goes_on(tx, &sides)?;
            if !ends || ended.contains(&report.risk.id) {
                continue;
            }
            ended.push(report.risk.id);
            risks.push(Planned {
                due: None,
                operation: Operation::Forgotten(report.risk.id),
                by: by.to_owned(),
                shareable: report.risk.scope != Scope::Run,
            });
        }
        if before < ended.len() && !is_settled {
            risks.extend(told_by_others(cx, tx, &pair, sides, &begun, now)?);
        }
    }
    Ok(risks)
}

/// A conflict that is found again by versions that hold. What is stored in the same transaction has been
/// compared already.
fn told_by_others(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: &Pair,
    mut sides: [Vec<Engram>; 2],
    begun: &[&Engram],
    now: Timestamp,
) -> Result<Vec<Planned>, Refusal> {
    for side in &mut sides {
        // Those that most can see first.
        side.sort_by_key(|version| version.scope == Scope::Run);
    }
    let [Some(one), Some(two)] = sides.map(|side| side.into_iter().next()) else {
        return Ok(Vec::new());
    };
    let is_new = |version: &Engram| begun.iter().any(|new| new.id == version.id);
    let known = tx.contradiction(pair.last)?;
    Ok(match known {
        Some(known) if !is_new(&one) && !is_new(&two) => {
            found_again(cx, pair, known, [one, two], now)
        }
        _ => Vec::new(),
    })
}

/// A contradiction as an engram of its own, with the evidence of both sides, so that whoever queries the
/// subject learns of it. It expires with whichever side expires first.
fn risk(
    cx: &Context<'_>,
    conflict: ConflictId,
    one: &Engram,
    other: &Engram,
    why: &str,
    now: Timestamp,
) -> Engram {
    let id = EngramId(cx.engine.world.id());
    let clock = cx.engine.world.now();
    let limit = cx.engine.config.limits.claim_chars;
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

/// What entries end and begin.
struct Ends<'a> {
    ended: Vec<EngramId>,
    begun: Vec<&'a Engram>,
    /// Conflicts, and whether they are settled.
    touched: Vec<(Pair, bool)>,
}

impl<'a> Ends<'a> {
    fn of(tx: &Reader<'_>, entries: &'a [Planned]) -> Result<Self, Refusal> {
        let (mut ended, mut begun, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            match &entry.operation {
                Operation::Forgotten(id) => ended.push(*id),
                Operation::Redacted(erased) => ended.extend(&erased.ids),
                Operation::Stored(engram) => {
                    ended.extend(engram.supersedes);
                    begun.push(&**engram);
                }
                Operation::Resolved(ruling) if ruling.status != ConflictStatus::Open => {
                    let pair = tx.conflict(ruling.id)?;
                    touched.extend(pair.map(|pair| (pair, true)));
                }
                _ => {}
            }
        }
        Ok(Self {
            ended,
            begun,
            touched,
        })
    }
}

/// The versions of each side of a conflict that hold once these have ended and those have begun.
fn holding(
    tx: &Reader<'_>,
    pair: &Pair,
    clock: Timestamp,
    ended: &[EngramId],
    begun: &[&Engram],
) -> Result<[Vec<Engram>; 2], Refusal> {
    let mut sides = [Vec::new(), Vec::new()];
    for (own, holding) in pair.sides.iter().zip(&mut sides) {
        *holding = tx.holding(pair.project, own, clock)?;
        holding.retain(|version| !ended.contains(&version.id));
        let is_of_side = |new: &&&Engram| side(&new.topic, &new.claim) == *own;
        let begun = begun.iter().filter(is_of_side);
        holding.extend(begun.map(|new| (*new).clone()));
    }
    Ok(sides)
}

/// An engram of kind risk that reports a conflict and holds.
pub(crate) struct Held {
    pub(crate) risk: Engram,
    found: [EngramId; 2],
}

impl Held {
    /// Whether it ends no sooner than the first of these versions.
    pub(crate) fn lasts_as_long_as(&self, present: [&Engram; 2]) -> bool {
        let first = present.iter().filter_map(|it| it.expires_at).min();
        let end = self.risk.expires_at;
        end.is_none_or(|end| first.is_some_and(|first| end >= first))
    }

    /// Whether everybody who sees this report sees a version of each side.
    fn goes_on(&self, tx: &Reader<'_>, sides: &[Vec<Engram>; 2]) -> Result<bool, Refusal> {
        let mut runs = Vec::new();
        for id in self.found {
            let found = tx.engram(id)?.filter(|found| found.scope == Scope::Run);
            runs.extend(found.and_then(|found| found.run));
        }
        let is_seen = |version: &Engram| {
            version.scope != Scope::Run || version.run.is_some_and(|run| runs.contains(&run))
        };
        Ok(sides.iter().all(|side| side.iter().any(is_seen)))
    }

    /// Whether everybody who may see both of these versions of its sides sees this report.
    pub(crate) fn is_seen_with(
        &self,
        tx: &Reader<'_>,
        present: [&Engram; 2],
    ) -> Result<bool, Refusal> {
        is_seen_with(tx, self.found, present)
    }
}

/// Whether everybody who may see both versions of `present` sees those by which the conflict was `found`. Their
/// topics decide nothing: those of a side are one.
fn is_seen_with(
    tx: &Reader<'_>,
    found: [EngramId; 2],
    present: [&Engram; 2],
) -> Result<bool, Refusal> {
    for id in found {
        let Some(found) = tx.engram(id)? else {
            return Ok(false);
        };
        let of_its_run = |it: &&Engram| it.scope == Scope::Run && it.run == found.run;
        if found.scope == Scope::Run && !present.iter().any(of_its_run) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What reported a conflict to everybody who may see both of these versions, and has ended; none where it holds.
pub(crate) fn ended_report(
    tx: &Reader<'_>,
    pair: &Pair,
    present: [&Engram; 2],
) -> Result<Option<Engram>, Refusal> {
    for report in tx.reports(pair.id)?.into_iter().rev() {
        if is_seen_with(tx, report.found, present)? {
            let newest = tx.lineage(report.risk)?.into_iter().next();
            return Ok(newest.filter(|it| it.valid_until.is_some() && !it.redacted));
        }
    }
    Ok(None)
}

/// What reports a conflict and holds: more than one, where a hidden version keeps open what was reopened for all.
fn held(tx: &Reader<'_>, pair: &Pair) -> Result<Vec<Held>, Refusal> {
    let mut all = Vec::new();
    for report in tx.reports(pair.id)? {
        let versions = tx.lineage(report.risk)?;
        let risk = versions.into_iter().find(|it| it.valid_until.is_none());
        all.extend(risk.map(|risk| Held {
            risk,
            found: report.found,
        }));
    }
    Ok(all)
}

/// Whether a caller may see a version: what reports a conflict only with both of the versions by which it was
/// found.
pub(crate) fn may_see(tx: &Reader<'_>, eyes: &Eyes, engram: &Engram) -> Result<bool, Refusal> {
    Ok(eyes.may_see(engram) && may_see_sides(tx, eyes, engram.kind, engram.lineage_id)?)
}

/// The same for whoever knows that the version itself may be seen.
pub(crate) fn may_see_sides(
    tx: &Reader<'_>,
    eyes: &Eyes,
    kind: Kind,
    lineage: LineageId,
) -> Result<bool, Refusal> {
    if kind != Kind::Risk || matches!(eyes, Eyes::All) {
        return Ok(true);
    }
    match tx.reported_by(lineage)? {
        Some(report) => sees_all(tx, eyes, &report.found),
        None => Ok(true),
    }
}

/// How a conflict stands by verdict for a caller: one that was found again only by what it may not see stands
/// as it was settled.
pub(crate) fn standing(
    tx: &Reader<'_>,
    eyes: &Eyes,
    pair: &Pair,
) -> Result<ConflictStatus, Refusal> {
    Ok(match pair.ruled {
        Some(ruled) if !sees_all(tx, eyes, &pair.found)? => ruled,
        _ => pair.status,
    })
}

/// Whether a caller may see versions by which a conflict was found before it was judged last: what was said of it then
/// is not told to others.
pub(crate) fn saw_judged(tx: &Reader<'_>, eyes: &Eyes, pair: &Pair) -> Result<bool, Refusal> {
    if matches!(eyes, Eyes::All) {
        return Ok(true);
    }
    let verdict = pair.verdict.unwrap_or_default();
    for seq in tx.entries_about(pair.id)? {
        if seq < verdict
            && let Some(found) = tx.contradiction(seq)?
            && sees_all(tx, eyes, &found.engrams)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a caller may see each of the versions by which a conflict was found.
pub(crate) fn sees_all(tx: &Reader<'_>, eyes: &Eyes, found: &[EngramId]) -> Result<bool, Refusal> {
    for id in found {
        if !tx.engram(*id)?.is_some_and(|engram| eyes.may_see(&engram)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether it reports a conflict itself. Decided by its lineage, since earlier builds let people reword it.
pub(crate) fn is_told(it: &Reader<'_>, engram: &Engram) -> Result<bool, Refusal> {
    Ok(told_by(it, engram)?.is_some())
}

/// The conflict that an engram reports.
fn told_by(tx: &Reader<'_>, engram: &Engram) -> Result<Option<Pair>, Refusal> {
    if engram.kind != Kind::Risk {
        return Ok(None);
    }
    let report = tx.reported_by(engram.lineage_id)?;
    Ok(report.map_or(Ok(None), |report| tx.conflict(report.conflict))?)
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
