//! The risk engram that reports a conflict. It is stored with the conflict, closed with it, and
//! hidden from anyone who may not see both sides.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    conflicts::{
        findings::CompareOptions,
        judging::OpposingVersion,
        lifecycle::{both_hold, holding_sides, is_ongoing, is_ongoing_after},
        sides::ContradictedSide,
    },
    context::{
        Context,
        names::ENGINE,
        plan::{Planned, content_hash},
        visibility::Visibility,
    },
};
use engram_model::{
    Code, ConflictId, ConflictStatus, Engram, EngramId, JournalTime, Kind, LineageId, Operation,
    Provenance, RISK_POINTERS, Record, Refusal, Scope, Source, operation::Contradiction, shorten,
};
use engram_store::{NearPairs, Pair, Reader, side};
use jiff::Timestamp;

/// The tag of an engram that reports a conflict.
const CONFLICT: &str = "conflict";

/// The entries for a conflict and for the risk engram that reports it. The report is left out if
/// there is one already, or if another conflict covers this one.
pub(crate) fn conflict_entries(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    one: &ContradictedSide,
    against: &OpposingVersion,
    options: &CompareOptions<'_>,
) -> Result<Vec<Planned>, Refusal> {
    let (pair, is_told) = (&one.pair, one.covered_by.is_none());
    let OpposingVersion {
        engram: other,
        found,
    } = against;
    let here = side(&engram.topic, &engram.claim);
    let shareable = pair.run.is_none();
    let mut before = match one.known_pair() {
        Some(pair) => remaining_reports(cx, tx, pair, engram, options.ending)?,
        None => Vec::new(),
    };
    let lasts = |report: &RiskReport| report.lasts_as_long_as([engram, other]);
    let needs_report = is_told && !before.iter().any(lasts);
    let risk =
        needs_report.then(|| risk_engram(cx, pair.id, engram, other, &found.why, options.now));
    before.retain(|_| risk.is_some());
    let mut both = [
        (engram.id, found.differs_a.clone()),
        (other.id, found.differs_b.clone()),
    ];
    if here != pair.sides[0] {
        both.reverse();
    }
    let [one, two] = both;
    let conflict = Contradiction {
        id: pair.id,
        sides: pair.sides.clone(),
        engrams: [one.0, two.0],
        tier: found.tier,
        severity: pair.severity.max(found.severity),
        score: Some(found.score),
        differs: [one.1, two.1],
        risk: risk.as_ref().map(|it| it.id),
        left_out: false,
        why: found.why.clone(),
    };
    let conflict = Operation::Conflicted(Box::new(conflict));
    let mut entries = vec![Planned::new(conflict, options.by, shareable)];
    entries.extend(before.iter().map(|it| Planned::ended(&it.risk, ENGINE)));
    entries.extend(risk.map(|it| Planned::stored(it, ENGINE, None)));
    Ok(entries)
}

/// The entries for a conflict that is found again by these versions, and for its report.
pub(crate) fn refound_entries(
    cx: &Context<'_>,
    pair: &Pair,
    known: Contradiction,
    sides: [Engram; 2],
    now: JournalTime,
) -> Vec<Planned> {
    let [one, two] = &sides;
    let risk = risk_engram(cx, pair.id, one, two, &known.why, now);
    let shareable = risk.scope != Scope::Run;
    let found = Contradiction {
        engrams: [one.id, two.id],
        risk: Some(risk.id),
        ..known
    };
    let found = Operation::Conflicted(Box::new(found));
    vec![
        Planned::new(found, ENGINE, shareable),
        Planned::stored(risk, ENGINE, None),
    ]
}

/// Whether a conflict rests on the word of one agent or model: it gets no report until somebody
/// agrees.
pub(crate) fn is_unconfirmed(tx: &Reader<'_>, pair: &Pair) -> Result<bool, Refusal> {
    if pair.status != ConflictStatus::Open {
        return Ok(false);
    }
    if !tx.reports(pair.id)?.is_empty() && !is_confirmation_undone(tx, pair)? {
        return Ok(false);
    }
    let found = tx.contradiction(pair.last)?;
    Ok(found.is_some_and(|it| it.tier.is_word()))
}

/// Whether a person took back the word to which a conflict owed its report, and nobody agreed
/// since.
pub(crate) fn is_confirmation_undone(tx: &Reader<'_>, pair: &Pair) -> Result<bool, Refusal> {
    let Some(taken_back) = NearPairs::of(tx).taken_back(pair.id)? else {
        return Ok(false);
    };
    if !reports_in_force(tx, pair)?.is_empty() {
        return Ok(false);
    }
    for seq in tx.entries_about(pair.id)? {
        let found = tx.contradiction(seq)?;
        if seq > taken_back && found.is_some_and(|it| it.risk.is_some()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The reports of a conflict once `engram` is stored and these versions have ended.
pub(crate) fn remaining_reports(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: &Pair,
    engram: &Engram,
    ending: &[EngramId],
) -> Result<Vec<RiskReport>, Refusal> {
    let goes_on = is_ongoing_after(tx, pair, cx.engine.world.now(), ending, engram)?;
    let mut all = reports_in_force(tx, pair)?;
    all.retain(|report| goes_on && !ending.contains(&report.risk.id));
    Ok(all)
}

/// The consequences of entries that settle conflicts or end a side of one.
pub(crate) struct Aftermath {
    /// The ends of reports, and new reports of conflicts that are no longer covered.
    pub(crate) entries: Vec<Planned>,
    /// Versions to compare again, because what kept them from being compared has ended.
    pub(crate) again: Vec<u64>,
}

/// Closes the reports of conflicts that these entries settle or end, in the same transaction. If
/// this uncovers a conflict of a run, it gets a report.
pub(crate) fn plan_consequences(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    now: JournalTime,
    entries: &[Planned],
) -> Result<Aftermath, Refusal> {
    let clock = cx.engine.world.now();
    let is_person = cx.agent()?.is_none();
    let Ends {
        mut ended,
        begun,
        settled,
        reopened,
    } = Ends::of(tx, entries)?;
    // Each conflict once, even if it is settled and several versions of its sides end.
    let mut touched = BTreeMap::new();
    for (pair, status) in settled {
        touched.insert(pair.id, (pair, Some(status)));
    }
    for id in &ended {
        if let (Some(engram), Some(side)) = (tx.engram(*id)?, tx.side_of(*id)?) {
            for pair in tx.conflicts_of(engram.project, &side)? {
                touched.entry(pair.id).or_insert((pair, None));
            }
        }
    }
    let by = entries.last().map_or("", |entry| entry.by.as_str());
    let mut risks: Vec<Planned> = Vec::new();
    let mut again = BTreeSet::new();
    for pair in &reopened {
        // While the dismissal stood, these versions were not compared for any run.
        again.extend(
            tx.holding_on_side(pair.project, &pair.sides[0], clock)?
                .iter()
                .map(|it| it.seq),
        );
    }
    for (pair, settled) in touched.values() {
        let sides = holding_sides(tx, pair, clock, &ended, &begun)?;
        for version in sides.iter().flatten() {
            if tx.is_cut(version.seq)? {
                again.insert(version.seq);
            }
        }
        let holds = is_ongoing(pair, &sides);
        for report in reports_in_force(tx, pair)? {
            if (settled.is_none() && holds) || ended.contains(&report.risk.id) {
                continue;
            }
            ended.push(report.risk.id);
            risks.push(Planned::ended(&report.risk, by));
        }
        let covers = holds && is_person && *settled == Some(ConflictStatus::Dismissed);
        if pair.run.is_none() && !covers && (settled.is_some() || !holds) {
            for narrow in tx.conflicts_between(pair.project, &pair.sides)? {
                let known = touched.get(&narrow.id);
                let is_settled = known.is_some_and(|(_, settled)| settled.is_some());
                if narrow.run.is_some() && !is_settled {
                    let sides = holding_sides(tx, &narrow, clock, &ended, &begun)?;
                    risks.extend(report_uncovered(cx, tx, &narrow, sides, &begun, now)?);
                }
            }
        }
    }
    Ok(Aftermath {
        entries: risks,
        again: again.into_iter().collect(),
    })
}

/// The report of a conflict of a run that nothing covers any more, if it has none. Versions of the
/// same transaction were compared already.
fn report_uncovered(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    pair: &Pair,
    mut sides: [Vec<Engram>; 2],
    begun: &[Engram],
    now: JournalTime,
) -> Result<Vec<Planned>, Refusal> {
    if pair.status != ConflictStatus::Open
        || is_unconfirmed(tx, pair)?
        || !is_ongoing(pair, &sides)
        || !reports_in_force(tx, pair)?.is_empty()
    {
        return Ok(Vec::new());
    }
    for side in &mut sides {
        // The run's own versions first, so that the conflict stays with the run.
        side.sort_by_key(|version| version.scope != Scope::Run);
    }
    let [Some(one), Some(two)] = sides.map(|side| side.into_iter().next()) else {
        return Ok(Vec::new());
    };
    let is_new = |version: &Engram| begun.iter().any(|new| new.id == version.id);
    let known = tx.contradiction(pair.last)?;
    Ok(match known {
        Some(known) if !is_new(&one) && !is_new(&two) => {
            refound_entries(cx, pair, known, [one, two], now)
        }
        _ => Vec::new(),
    })
}

/// A risk engram for a contradiction, with the evidence of both sides, so that a query about the
/// subject finds it. It expires with the side that expires first.
fn risk_engram(
    cx: &Context<'_>,
    conflict: ConflictId,
    one: &Engram,
    other: &Engram,
    why: &str,
    now: JournalTime,
) -> Engram {
    let id = EngramId(cx.engine.world.new_id());
    let clock = cx.engine.world.now();
    let limit = cx.engine.config.limits.claim_chars;
    let why = shorten(why, limit.saturating_sub(100));
    let claim = format!("Two claims contradict each other: {why} (conflict {conflict})");
    let is_run = one.scope == Scope::Run || other.scope == Scope::Run;
    let ends = [one.expires_at, other.expires_at];
    let provenance = Provenance {
        created_at: clock,
        created_by: ENGINE.to_owned(),
        source: Source::Tool,
    };
    let hash = content_hash(&claim);
    let record = Record {
        run: [one, other]
            .iter()
            .find(|it| it.scope == Scope::Run)
            .and_then(|it| it.run),
        kind: Kind::Risk,
        fact_type: engram_model::FactType::Inference,
        scope: if is_run { Scope::Run } else { Scope::Project },
        topic: one.topic.clone(),
        pointers: pointers_of_both(one, other),
        confidence: one.confidence.min(other.confidence),
        tags: vec![CONFLICT.to_owned()],
        expires_at: ends.into_iter().flatten().min(),
        verified: one.verified && other.verified,
        ..Record::new(id, one.project, claim, hash, provenance, now)
    };
    record.into()
}

/// The versions that entries end and begin, and the conflicts that they settle.
struct Ends {
    ended: Vec<EngramId>,
    begun: Vec<Engram>,
    /// Conflicts, and their new status.
    settled: Vec<(Pair, ConflictStatus)>,
    /// Conflicts whose dismissal is undone.
    reopened: Vec<Pair>,
}

impl Ends {
    fn of(tx: &Reader<'_>, entries: &[Planned]) -> Result<Self, Refusal> {
        let (mut ended, mut begun) = (Vec::new(), Vec::new());
        let (mut settled, mut reopened) = (Vec::new(), Vec::new());
        for entry in entries {
            begun.extend(entry.version());
            match &entry.operation {
                Operation::Forgotten(id) => ended.push(*id),
                Operation::Redacted(erased) => ended.extend(&erased.ids),
                Operation::Stored(record) => ended.extend(record.supersedes),
                Operation::Resolved(ruling) if ruling.how.is_some() => {
                    let pair = tx.conflict(ruling.id)?;
                    settled.extend(pair.map(|pair| (pair, ruling.status)));
                }
                Operation::Resolved(ruling) => {
                    let pair = tx.conflict(ruling.id)?;
                    let is_dismissed = |pair: &Pair| pair.status == ConflictStatus::Dismissed;
                    reopened.extend(pair.filter(is_dismissed));
                }
                _ => {}
            }
        }
        Ok(Self {
            ended,
            begun,
            settled,
            reopened,
        })
    }
}

/// A risk engram that reports a conflict and holds.
pub(crate) struct RiskReport {
    pub(crate) risk: Engram,
}

impl RiskReport {
    /// Whether it lasts at least until the first of these versions expires.
    pub(crate) fn lasts_as_long_as(&self, present: [&Engram; 2]) -> bool {
        let first = present.iter().filter_map(|it| it.expires_at).min();
        let end = self.risk.expires_at;
        end.is_none_or(|end| first.is_some_and(|first| end >= first))
    }
}

/// The last report of a conflict, if it has ended.
pub(crate) fn ended_report(tx: &Reader<'_>, pair: &Pair) -> Result<Option<Engram>, Refusal> {
    let last = tx.reports(pair.id)?.pop();
    let versions = last.map_or(Ok(Vec::new()), |report| tx.lineage(report.risk))?;
    let newest = versions.into_iter().next();
    Ok(newest.filter(|it| it.valid_until.is_some() && !it.redacted))
}

/// The reports of a conflict that hold. Only homes of earlier builds have more than one.
pub(crate) fn reports_in_force(tx: &Reader<'_>, pair: &Pair) -> Result<Vec<RiskReport>, Refusal> {
    let mut all = Vec::new();
    for report in tx.reports(pair.id)? {
        let versions = tx.lineage(report.risk)?;
        let risk = versions.into_iter().find(|it| it.valid_until.is_none());
        all.extend(risk.map(|risk| RiskReport { risk }));
    }
    Ok(all)
}

/// Whether a caller may see a version. The report of a conflict also requires that it may see both
/// versions whose comparison found the conflict.
pub(crate) fn may_see_version(
    tx: &Reader<'_>,
    visibility: &Visibility,
    engram: &Engram,
) -> Result<bool, Refusal> {
    Ok(
        visibility.may_see(engram)
            && may_see_sides(tx, visibility, engram.kind, engram.lineage_id)?,
    )
}

/// Like [`may_see_version`], for a version that the caller may see itself.
pub(crate) fn may_see_sides(
    tx: &Reader<'_>,
    visibility: &Visibility,
    kind: Kind,
    lineage: LineageId,
) -> Result<bool, Refusal> {
    if kind != Kind::Risk || matches!(visibility, Visibility::All) {
        return Ok(true);
    }
    match tx.reported_by(lineage)? {
        Some(report) => may_see_all(tx, visibility, &report.found),
        None => Ok(true),
    }
}

/// Whether a caller may see each of the versions whose comparison found a conflict.
pub(crate) fn may_see_all(
    tx: &Reader<'_>,
    visibility: &Visibility,
    found: &[EngramId],
) -> Result<bool, Refusal> {
    for id in found {
        if !tx
            .engram(*id)?
            .is_some_and(|engram| visibility.may_see(&engram))
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether an engram reports a conflict. Its lineage decides, because earlier builds allowed
/// rewording it.
pub(crate) fn is_report(tx: &Reader<'_>, engram: &Engram) -> Result<bool, Refusal> {
    Ok(reported_conflict(tx, engram)?.is_some())
}

/// The conflict that an engram reports.
fn reported_conflict(tx: &Reader<'_>, engram: &Engram) -> Result<Option<Pair>, Refusal> {
    if engram.kind != Kind::Risk {
        return Ok(None);
    }
    let report = tx.reported_by(engram.lineage_id)?;
    Ok(report.map_or(Ok(None), |report| tx.conflict(report.conflict))?)
}

/// Refuses to close or reword a report of an open conflict by hand: it ends with the conflict, by a
/// verdict. If a side has merely expired, no verdict can be given any more, so the report may be
/// closed.
pub(crate) fn refuse_open_report(
    tx: &Reader<'_>,
    engram: &Engram,
    clock: Timestamp,
) -> Result<(), Refusal> {
    let Some(pair) = reported_conflict(tx, engram)?.filter(|it| it.status == ConflictStatus::Open)
    else {
        return Ok(());
    };
    if both_hold(tx, &pair, clock)? {
        Err(Refusal::new(
            Code::ScopeDenied,
            format!(
                "engram {} reports conflict {}, which is open",
                engram.id, pair.id
            ),
            format!(
                "Settle the conflict, and this engram ends with it: `engram conflicts show {0}` compares both claims, and `engram resolve {0} --winner ENGRAM`, `--merge TEXT` or `--dismiss` settles it.",
                pair.id
            ),
        ))
    } else {
        Ok(())
    }
}

/// The pointers of both engrams, at most [`RISK_POINTERS`]: the first of each, then the second of
/// each, and so on.
pub(crate) fn pointers_of_both(one: &Engram, other: &Engram) -> Vec<engram_model::Pointer> {
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
