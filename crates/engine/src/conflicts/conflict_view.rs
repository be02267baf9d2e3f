//! A conflict as a caller may see it.
//!
//! The end of a side is not stored: it is derived from the claims each time a conflict is shown.

use crate::{
    conflicts::lifecycle::{self, both_hold, covering},
    context::{names, visibility::Visibility},
};
use engram_gateway::quoted;
use engram_model::{
    Allowed, Conflict, ConflictSide, ConflictStatus, Engram, EngramId, How, OperationKind,
    PairAnswer, PairVerdict, Refusal, Settled,
    operation::{Contradiction, PairJudgment},
};
use engram_store::{Attribution, NearPairs, Pair, Reader};
use jiff::Timestamp;

/// A conflict, with data that only the engine needs.
pub(crate) struct ShownConflict {
    pub(crate) pair: Pair,
    pub(crate) conflict: Conflict,
    /// The digests of the sides `a` and `b`.
    pub(crate) sides: [String; 2],
    /// The engram that represents each side.
    pub(crate) voices: [Engram; 2],
}

/// The conflict to show for an id. If it is settled or closed, but a conflict of the same sides is
/// open in a run that the caller sees, returns that one.
pub(crate) fn conflict_to_show(
    tx: &Reader<'_>,
    pair: Pair,
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<Pair, Refusal> {
    let is_open = pair.status == ConflictStatus::Open;
    if pair.run.is_some() || (is_open && both_hold(tx, &pair, clock)?) {
        return Ok(pair);
    }
    for narrow in tx.conflicts_between(pair.project, &pair.sides)? {
        if narrow.run.is_some()
            && visibility.may_know_of(narrow.run)
            && narrow.status == ConflictStatus::Open
            && covering(tx, &narrow, clock)?.is_none()
            && both_hold(tx, &narrow, clock)?
        {
            return Ok(narrow);
        }
    }
    Ok(pair)
}

/// A conflict as this caller may see it; `None` if it may not see one of the sides. For a covered
/// conflict, returns the one that covers it.
pub(crate) fn visible_conflict(
    tx: &Reader<'_>,
    pair: Pair,
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<Option<ShownConflict>, Refusal> {
    if !visibility.may_know_of(pair.run) {
        return Ok(None);
    }
    let mut pair = covering(tx, &pair, clock)?.unwrap_or(pair);
    pair.allowed = lifecycle::allowance(tx, &pair)?;
    let (Some(found), Some(first)) = (tx.contradiction(pair.last)?, tx.attribution(pair.first)?)
    else {
        return Ok(None);
    };
    let ruling = match (pair.status, pair.verdict) {
        (ConflictStatus::Resolved, Some(seq)) => tx.ruling(seq)?,
        _ => None,
    };
    let closed = ruling.map(|ruling| ruling.closed).unwrap_or_default();
    let Some([a, b]) = both_sides(tx, &pair, &found, &closed, visibility, clock)? else {
        return Ok(None);
    };
    let (status, settled) = state_of(tx, &pair, [&a.voice, &b.voice], visibility, clock)?;
    let conflict = Conflict {
        id: pair.id,
        status,
        severity: found.severity,
        tier: found.tier,
        score: found.score,
        why: found.why,
        found_at: first.at,
        risk: report_of(tx, &pair, clock)?,
        settled,
        allowed: permit_of(tx, &pair)?,
        judged: judgments_of(tx, &pair)?,
        a: shown_side(&a.voice, a.differs),
        b: shown_side(&b.voice, b.differs),
    };
    Ok(Some(ShownConflict {
        pair,
        conflict,
        sides: [a.digest, b.digest],
        voices: [a.voice, b.voice],
    }))
}

/// A side of a conflict as the caller sees it.
struct SeenSide {
    digest: String,
    voice: Engram,
    /// Where its words differ from the other side's.
    differs: Vec<(usize, usize)>,
}

/// Both sides, the older first; `None` if the caller may not see one of them.
fn both_sides(
    tx: &Reader<'_>,
    pair: &Pair,
    found: &Contradiction,
    closed: &[EngramId],
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<Option<[SeenSide; 2]>, Refusal> {
    let mut sides = Vec::new();
    for (at, digest) in pair.sides.iter().enumerate() {
        let known = found.engrams.get(at).into_iter().chain(closed);
        let known: Vec<EngramId> = known.copied().collect();
        let Some(voice) = representative_of(tx, pair, digest, &known, visibility, clock)? else {
            return Ok(None);
        };
        sides.push(SeenSide {
            digest: digest.clone(),
            voice,
            differs: found.differs.get(at).cloned().unwrap_or_default(),
        });
    }
    // The side that was stated last is the newer one.
    sides.sort_by_key(|side| (side.voice.list_place(), side.voice.id));
    Ok(sides.try_into().ok())
}

/// Whether a conflict is open, and if not, how it ended.
fn state_of(
    tx: &Reader<'_>,
    pair: &Pair,
    voices: [&Engram; 2],
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<(ConflictStatus, Option<Settled>), Refusal> {
    Ok(match pair.status {
        ConflictStatus::Resolved | ConflictStatus::Dismissed => {
            (pair.status, verdict_of(tx, pair, visibility)?)
        }
        status if both_hold(tx, pair, clock)? => (status, None),
        _ => {
            let over = voices.into_iter().filter(|it| !it.holds_now(clock));
            let ends = over.map(|engram| end_of_side(tx, engram, visibility));
            let ends = ends.collect::<Result<Vec<_>, _>>()?;
            let first = ends.into_iter().min_by_key(|it| it.at);
            (ConflictStatus::Closed, first)
        }
    })
}

/// What was said of the pair while it was only near, or since, and was not taken back.
fn judgments_of(tx: &Reader<'_>, pair: &Pair) -> Result<Vec<PairAnswer>, Refusal> {
    let mut said = Vec::new();
    for word in NearPairs::of(tx).judgments(pair.id)? {
        let is_of_person =
            |(by, word): &(Attribution, PairJudgment)| by.agent.is_none() && word.model.is_none();
        if is_of_person(&word) && word.1.verdict == PairVerdict::Unclear {
            said.retain(|it| !is_of_person(it));
        } else {
            said.push(word);
        }
    }
    let judged = said.into_iter().map(|(by, judgment)| PairAnswer {
        by: match &judgment.model {
            Some(model) => format!("the model {}", quoted(model)),
            None => names::author_of_entry(&by),
        },
        verdict: judgment.verdict,
        sure: judgment.sure,
        at: by.at,
        why: by.why.filter(|it| !it.is_empty()),
    });
    Ok(judged.collect())
}

/// Who let a conflict pass the gate, and why.
fn permit_of(tx: &Reader<'_>, pair: &Pair) -> Result<Option<Allowed>, Refusal> {
    let Some(seq) = pair.allowed else {
        return Ok(None);
    };
    Ok(tx.attribution(seq)?.map(|attribution| Allowed {
        by: names::author_of_entry(&attribution),
        at: attribution.at,
        why: attribution.why.unwrap_or_default(),
    }))
}

/// The risk that reports a conflict: the newest, except that a holding one takes precedence over an
/// ended one.
fn report_of(tx: &Reader<'_>, pair: &Pair, clock: Timestamp) -> Result<Option<EngramId>, Refusal> {
    let mut risk = None;
    for report in tx.reports(pair.id)? {
        let versions = tx.lineage(report.risk)?;
        let holds = versions.iter().any(|it| it.holds_now(clock));
        if let Some(newest) = versions
            .first()
            .filter(|_| risk.is_none_or(|it: (bool, _)| holds || !it.0))
        {
            risk = Some((holds, newest.id));
        }
    }
    Ok(risk.map(|it| it.1))
}

/// The engram that represents a side: the newest that holds, otherwise the newest that a verdict
/// closed or whose comparison found the conflict, otherwise the newest of all. If the words were
/// erased, the engram whose comparison found the conflict.
fn representative_of(
    tx: &Reader<'_>,
    pair: &Pair,
    side: &str,
    known: &[EngramId],
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<Option<Engram>, Refusal> {
    let mut voices = tx.versions_on_side(pair.project, side, pair.run)?;
    voices.retain(|it| visibility.may_see(it));
    let holding = voices.iter().position(|it| it.holds_now(clock));
    let settled = || voices.iter().position(|it| known.contains(&it.id));
    if let Some(at) = holding
        .or_else(settled)
        .or((!voices.is_empty()).then_some(0))
    {
        return Ok(Some(voices.swap_remove(at)));
    }
    let recorded = match known.first() {
        Some(id) => tx.engram(*id)?,
        None => None,
    };
    Ok(recorded.filter(|it| visibility.may_see(it) && it.redacted))
}

fn shown_side(engram: &Engram, mut differs: Vec<(usize, usize)>) -> ConflictSide {
    // The ranges may come from another engram of this side, with different white space.
    let length = engram.claim.chars().count();
    differs.retain(|(from, to)| from < to && *to <= length);
    let ends = [engram.valid_until, engram.expires_at];
    ConflictSide {
        id: engram.id,
        lineage_id: engram.lineage_id,
        claim: engram.claim.clone(),
        differs,
        topic: engram.topic.clone(),
        by: names::author_of(engram),
        created_at: engram.provenance.created_at,
        confidence: engram.confidence,
        fact_type: engram.fact_type,
        verified: engram.verified,
        valid_until: ends.into_iter().flatten().min(),
        pointers: engram.pointers.clone(),
    }
}

fn verdict_of(
    tx: &Reader<'_>,
    pair: &Pair,
    visibility: &Visibility,
) -> Result<Option<Settled>, Refusal> {
    let Some(seq) = pair.verdict else {
        return Ok(None);
    };
    let (Some(ruling), Some(attribution)) = (tx.ruling(seq)?, tx.attribution(seq)?) else {
        return Ok(None);
    };
    let Some(how) = ruling.how else {
        return Ok(None);
    };
    let merged = match ruling.merged.or(ruling.stored.first().copied()) {
        Some(id) if how == How::Merge => tx.engram(id)?.filter(|it| visibility.may_see(it)),
        _ => None,
    };
    Ok(Some(Settled {
        how,
        by: names::author_of_entry(&attribution),
        at: attribution.at,
        why: attribution.why,
        merged: merged.map(|it| it.id),
    }))
}

/// How the side that this engram represents ended.
fn end_of_side(
    tx: &Reader<'_>,
    engram: &Engram,
    visibility: &Visibility,
) -> Result<Settled, Refusal> {
    let settled = |how, by: String, at| Settled {
        how,
        by,
        at,
        why: None,
        merged: None,
    };
    let Some(at) = engram.valid_until else {
        // The end of a ttl is not recorded.
        let at = engram.expires_at.unwrap_or(engram.recorded_at);
        return Ok(settled(How::Expired, String::new(), at));
    };
    let about = |kind| tx.last_about(&engram.id.to_string(), kind);
    if engram.redacted {
        let by =
            about(OperationKind::Redacted)?.map_or(String::new(), |it| names::author_of_entry(&it));
        return Ok(settled(How::Redacted, by, at));
    }
    if let Some(attribution) = about(OperationKind::Forgotten)? {
        // Only the user, who sees every conflict, is told that another one is behind it.
        let lost = match visibility {
            Visibility::All => tx.lost(engram)?,
            Visibility::Agent { .. } => None,
        };
        let why = lost.map(|_| "The verdict on another conflict ended it.".to_owned());
        let forgotten = settled(How::Forgotten, names::author_of_entry(&attribution), at);
        return Ok(Settled { why, ..forgotten });
    }
    let newer = match tx.successor(engram.lineage_id, engram.seq)? {
        Some(id) => tx.engram(id)?,
        None => None,
    };
    Ok(match newer {
        Some(newer) if !visibility.may_see(&newer) => {
            settled(How::Forgotten, names::author_of(&newer), at)
        }
        Some(newer) => settled(How::Superseded, names::author_of(&newer), at),
        None => settled(How::Forgotten, String::new(), at),
    })
}
