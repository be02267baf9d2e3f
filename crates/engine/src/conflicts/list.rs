//! Conflicts as a caller may see them: one, a list, and whether they block CI.
//!
//! That a side has ended is not stored: it follows from the claims each time a conflict is shown.

use std::{cmp::Reverse, collections::HashMap};

use crate::{
    conflicts::findings::author,
    context::{Context, names, visibility::Eyes},
};
use engram_model::{
    Allowed, Code, Conflict, ConflictFilter, ConflictId, ConflictSide, ConflictStatus,
    ConflictsReply, Engram, EngramId, Finding, Gate, GateCheck, GateReply, How, Listed, Noticed,
    OperationKind, ProjectId, Refusal, Settled, Severity, is_on_topic,
};
use engram_store::{Listing, Pair, Reader, side};
use jiff::Timestamp;

/// Conflicts of a page that names no number, and of the longest.
const PAGE: usize = 50;
const LONGEST_PAGE: usize = 200;
/// Most conflicts that an engram's record lists.
const NAMED: usize = 12;

/// A conflict, with what only the engine needs of it.
pub(crate) struct Shown {
    pub(crate) pair: Pair,
    pub(crate) conflict: Conflict,
    /// The digests of the sides `a` and `b`.
    pub(crate) sides: [String; 2],
    /// The engram that represents each side.
    pub(crate) voices: [Engram; 2],
}

pub(crate) fn one_conflict(cx: &Context<'_>, id: ConflictId) -> Result<Box<Conflict>, Refusal> {
    let (project, eyes) = (cx.project()?, cx.eyes()?);
    let clock = cx.engine.world.now();
    let found = cx.engine.store.read::<_, Refusal>(|tx| {
        let pair = tx.conflict(id)?.filter(|it| it.project == project);
        let pair = pair
            .map(|pair| standing(tx, pair, &eyes, clock))
            .transpose()?;
        pair.map_or(Ok(None), |pair| shown(tx, pair, &eyes, clock))
    })?;
    let found = found.ok_or_else(|| no_conflict(id))?;
    Ok(Box::new(found.conflict))
}

/// A page of the list. What it is sorted by is read of all; what is shown, of those on the page alone.
pub(crate) fn list_conflicts(
    cx: &Context<'_>,
    filter: &ConflictFilter,
) -> Result<ConflictsReply, Refusal> {
    let (project, eyes) = (cx.project()?, cx.eyes()?);
    let clock = cx.engine.world.now();
    let limit = filter.limit.map_or(PAGE, |limit| limit as usize);
    if limit == 0 || limit > LONGEST_PAGE {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a page has 1 to {LONGEST_PAGE} conflicts, not {limit}"),
            "Ask for fewer, and go on with the page's `next`.",
        ));
    }
    let after = filter.after.as_deref().map(Place::parse).transpose()?;
    let agent = cx.agent()?.map(|agent| &agent.handle);
    cx.engine.store.read::<_, Refusal>(|tx| {
        let all = places(tx, project, filter, &eyes, clock)?;
        let start = after.map_or(0, |after| all.partition_point(|place| *place <= after));
        let mut reply = ConflictsReply {
            open: count_open(tx, project, &eyes, clock)?,
            due: tx.count_due(project, agent)?,
            ..ConflictsReply::default()
        };
        for (at, place) in all.iter().enumerate().skip(start) {
            if reply.conflicts.len() == limit {
                reply.omitted = Some((all.len() - at) as u64);
                let last = at.checked_sub(1).and_then(|before| all.get(before));
                reply.next = last.map(Place::to_string);
                break;
            }
            let pair = tx.conflict(place.id)?;
            let found = pair.map_or(Ok(None), |pair| shown(tx, pair, &eyes, clock))?;
            let conflict = found.map(|found| found.conflict);
            reply
                .conflicts
                .extend(conflict.filter(|one| filter.status.admits(one.status)));
        }
        Ok(reply)
    })
}

/// Refuses to answer a job about a repository that the home knows nothing of: CI must not pass because it
/// looks in an empty home, or at a clone that nobody wrote about.
pub(crate) fn knows_the_repository(cx: &Context<'_>, otherwise: &str) -> Result<(), Refusal> {
    cx.repository()?;
    let known = cx.known_project()?;
    let holds = |tx: &Reader<'_>| known.map_or(Ok(false), |project| tx.has_claims(project));
    if cx.engine.store.read::<_, Refusal>(|tx| Ok(holds(tx)?))? {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::NotFound,
            format!("this home holds no claims of this repository, so {otherwise}"),
            "Check --home and --repo. A clone is a project of its own: run this in a worktree of the clone that agents use, or bring that clone's home and .git/engram-project along.",
        ))
    }
}

pub(crate) fn gate_of(cx: &Context<'_>, check: GateCheck) -> Result<GateReply, Refusal> {
    knows_the_repository(cx, "the gate stays shut")?;
    let (project, eyes) = (cx.project()?, cx.eyes()?);
    let clock = cx.engine.world.now();
    let open = ConflictFilter {
        severity: Some(check.severity),
        ..ConflictFilter::default()
    };
    cx.engine.store.read::<_, Refusal>(|tx| {
        let mut bars = listed(tx, project, &open, &eyes, clock)?;
        bars.retain(|bar| !bar.is_allowed);
        bars.sort_by_key(|bar| (Reverse(bar.severity), bar.first, bar.id));
        let blocking: Vec<ConflictId> = bars.iter().map(|bar| bar.id).collect();
        // How severe those are is not known yet.
        let due = tx.count_due(project, None)?;
        let is_open = blocking.is_empty() && due == 0;
        Ok(GateReply {
            gate: if is_open { Gate::Open } else { Gate::Shut },
            blocking,
            due,
        })
    })
}

/// Whether a caller may know of an entry about a conflict.
pub(crate) fn may_see_conflict(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    id: ConflictId,
    eyes: &Eyes,
    seq: u64,
) -> Result<bool, Refusal> {
    if matches!(eyes, Eyes::All) {
        return Ok(true);
    }
    for id in tx
        .contradiction(seq)?
        .into_iter()
        .flat_map(|found| found.engrams)
    {
        if !tx.engram(id)?.is_some_and(|engram| eyes.may_see(&engram)) {
            return Ok(false);
        }
    }
    let clock = cx.engine.world.now();
    let found = match tx.conflict(id)? {
        Some(pair) => shown(tx, pair, eyes, clock)?,
        None => None,
    };
    Ok(found.is_some())
}

/// The open conflicts that a claim which holds is part of, as its author was told of them: the worst
/// first, of equals the one with the claim that was said last.
pub(crate) fn disputes_of(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
) -> Result<Vec<Finding>, Refusal> {
    let (eyes, clock) = (cx.eyes()?, cx.engine.world.now());
    let own = side(&engram.topic, &engram.claim);
    let mut found = Vec::new();
    for pair in tx.conflicts_of(engram.project, &own)? {
        if tx.covering(&pair, clock)?.is_some() {
            continue;
        }
        let Some(shown) = shown(tx, pair, &eyes, clock)? else {
            continue;
        };
        let Shown {
            conflict,
            sides,
            voices: [a, b],
            ..
        } = shown;
        if conflict.status != ConflictStatus::Open {
            continue;
        }
        let [first, _] = sides;
        let other = if first == own { b } else { a };
        let finding = Finding {
            conflict: Some(conflict.id),
            severity: Some(conflict.severity),
            tier: Some(conflict.tier),
            claim: Some(other.claim.clone()),
            by: Some(author(&other).to_owned()),
            ..Finding::new(Noticed::Conflict, other.id, conflict.why)
        };
        found.push((Reverse((conflict.severity, other.seq)), finding));
    }
    found.sort_by_key(|it| it.0);
    Ok(found.into_iter().map(|it| it.1).collect())
}

/// Fills in the open conflicts of each record; one in none costs two looks into indexes.
pub(crate) fn tell_conflicts<'a>(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engrams: impl IntoIterator<Item = &'a mut Engram>,
) -> Result<(), Refusal> {
    let (eyes, clock) = (cx.eyes()?, cx.engine.world.now());
    for engram in engrams.into_iter().filter(|it| it.holds_now(clock)) {
        let own = side(&engram.topic, &engram.claim);
        for pair in tx.conflicts_of(engram.project, &own)? {
            if engram.conflicts.len() == NAMED {
                break;
            }
            let is_open = pair.status == ConflictStatus::Open && pair.is_about(engram);
            if !is_open || !eyes.may_know_of(pair.run) || !tx.both_hold(&pair, clock)? {
                continue;
            }
            let [a, b] = &pair.sides;
            let other = if *a == own { b } else { a };
            let voices = tx.holding(engram.project, other, clock)?;
            if voices.iter().any(|it| eyes.may_see(it)) && tx.covering(&pair, clock)?.is_none() {
                engram.conflicts.push(pair.id);
            }
        }
        engram.conflicts.sort_unstable();
        engram.figures.conflicts = engram.conflicts.len() as u64;
    }
    Ok(())
}

pub(crate) fn no_conflict(id: ConflictId) -> Refusal {
    Refusal::new(
        engram_model::Code::NotFound,
        format!("there is no conflict {id}"),
        "Take ids from `engram conflicts` or engram_conflicts.",
    )
}

/// A place in the list: sorted by the topic of the newer side, the topic with the worst conflict first; within
/// a topic worst first, and among equals newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    worst: Reverse<Severity>,
    topic: String,
    severity: Reverse<Severity>,
    first: Reverse<u64>,
    id: ConflictId,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            worst,
            topic,
            severity,
            first,
            id,
        } = self;
        write!(f, "{}.{}.{}.{id}.{topic}", worst.0, severity.0, first.0)
    }
}

impl Place {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let mut parts = text.splitn(5, '.');
        let mut next = || parts.next().unwrap_or_default();
        let parsed = || {
            Some(Self {
                worst: Reverse(next().parse().ok()?),
                severity: Reverse(next().parse().ok()?),
                first: Reverse(next().parse().ok()?),
                id: next().parse().ok()?,
                topic: next().to_owned(),
            })
        };
        let mut parsed = parsed;
        parsed().ok_or_else(|| {
            Refusal::new(
                Code::SchemaInvalid,
                "`after` is not the `next` of any page",
                "Pass the previous page's `next` unchanged, or omit it to start at the top.",
            )
        })
    }
}

/// What the list holds for a caller, in no order. An agent sees no conflict of a topic that it may not read.
fn listed(
    tx: &Reader<'_>,
    project: ProjectId,
    filter: &ConflictFilter,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Vec<Listing>, Refusal> {
    // One that closed automatically has no verdict, so it is stored as open.
    let (status, holds) = match filter.status {
        Listed::Open => (Some(ConflictStatus::Open), Some(true)),
        Listed::Closed => (Some(ConflictStatus::Open), Some(false)),
        Listed::Resolved => (Some(ConflictStatus::Resolved), None),
        Listed::Dismissed => (Some(ConflictStatus::Dismissed), None),
        Listed::All => (None, None),
    };
    let mut found = tx.conflicts_listed(project, status, holds, eyes.run(), clock)?;
    let topic = filter.topic.as_deref().unwrap_or_default();
    found.retain(|one| {
        filter.severity.is_none_or(|least| one.severity >= least)
            && (topic.is_empty() || one.topics.iter().any(|of| is_on_topic(of, topic)))
            && one.topics.iter().all(|of| eyes.may_read(of))
    });
    Ok(found)
}

fn places(
    tx: &Reader<'_>,
    project: ProjectId,
    filter: &ConflictFilter,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Vec<Place>, Refusal> {
    let found = listed(tx, project, filter, eyes, clock)?;
    let mut worst: HashMap<&str, Severity> = HashMap::new();
    for one in &found {
        let known = worst.entry(&one.topics[0]).or_insert(one.severity);
        *known = (*known).max(one.severity);
    }
    let place = |one: &Listing| Place {
        worst: Reverse(
            worst
                .get(one.topics[0].as_str())
                .copied()
                .unwrap_or(one.severity),
        ),
        topic: one.topics[0].clone(),
        severity: Reverse(one.severity),
        first: Reverse(one.first),
        id: one.id,
    };
    let mut places: Vec<Place> = found.iter().map(place).collect();
    places.sort_unstable();
    Ok(places)
}

/// How many conflicts are open to a caller.
fn count_open(
    tx: &Reader<'_>,
    project: ProjectId,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<u64, Refusal> {
    match eyes {
        Eyes::All => Ok(tx.count_conflicts(project, clock)?),
        Eyes::Agent { .. } => {
            Ok(listed(tx, project, &ConflictFilter::default(), eyes, clock)?.len() as u64)
        }
    }
}

/// What an id leads to: where the conflict is settled or closed and the same is open in a run that the caller sees, to that.
pub(crate) fn standing(
    tx: &Reader<'_>,
    pair: Pair,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Pair, Refusal> {
    let is_open = pair.status == ConflictStatus::Open;
    if pair.run.is_some() || (is_open && tx.both_hold(&pair, clock)?) {
        return Ok(pair);
    }
    for narrow in tx.conflicts_between(pair.project, &pair.sides)? {
        if narrow.run.is_some()
            && eyes.may_know_of(narrow.run)
            && narrow.status == ConflictStatus::Open
            && tx.covering(&narrow, clock)?.is_none()
            && tx.both_hold(&narrow, clock)?
        {
            return Ok(narrow);
        }
    }
    Ok(pair)
}

/// A conflict as this caller may see it; none if it may not see one of the sides. What another covers is that one.
pub(crate) fn shown(
    tx: &Reader<'_>,
    pair: Pair,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Option<Shown>, Refusal> {
    if !eyes.may_know_of(pair.run) {
        return Ok(None);
    }
    let pair = tx.covering(&pair, clock)?.unwrap_or(pair);
    let (Some(found), Some(first)) = (tx.contradiction(pair.last)?, tx.deed(pair.first)?) else {
        return Ok(None);
    };
    let ruling = match (pair.status, pair.verdict) {
        (ConflictStatus::Resolved, Some(seq)) => tx.ruling(seq)?,
        _ => None,
    };
    let closed = ruling.map(|ruling| ruling.closed).unwrap_or_default();
    let mut told = Vec::new();
    for (at, side) in pair.sides.iter().enumerate() {
        let known = found.engrams.get(at).into_iter().chain(&closed);
        let known: Vec<EngramId> = known.copied().collect();
        let Some(voice) = voice(tx, &pair, side, &known, eyes, clock)? else {
            return Ok(None);
        };
        let differs = found.differs.get(at).cloned().unwrap_or_default();
        told.push((side.clone(), voice, differs));
    }
    // The one that was said last is the newer.
    told.sort_by_key(|(_, voice, _)| (voice.placed(), voice.id));
    let Ok([a, b]) = <[_; 2]>::try_from(told) else {
        return Ok(None);
    };
    let (status, settled) = match pair.status {
        ConflictStatus::Open | ConflictStatus::Closed if tx.both_hold(&pair, clock)? => {
            (ConflictStatus::Open, None)
        }
        ConflictStatus::Open | ConflictStatus::Closed => {
            let over = [&a.1, &b.1].into_iter().filter(|it| !it.holds_now(clock));
            let ends = over.map(|engram| ended(tx, engram, eyes));
            let ends = ends.collect::<Result<Vec<_>, _>>()?;
            let first = ends.into_iter().min_by_key(|it| it.at);
            (ConflictStatus::Closed, first)
        }
        status => (status, verdict(tx, &pair, eyes)?),
    };
    let allowed = match pair.allowed {
        Some(seq) => tx.deed(seq)?.map(|deed| Allowed {
            by: names::by(&deed),
            at: deed.at,
            why: deed.why.unwrap_or_default(),
        }),
        None => None,
    };
    let mut risk = None;
    for report in tx.reports(pair.id)? {
        let versions = tx.lineage(report.risk)?;
        // The newest, but for one that ended beside one that holds.
        let holds = versions.iter().any(|it| it.holds_now(clock));
        if let Some(newest) = versions
            .first()
            .filter(|_| risk.is_none_or(|it: (bool, _)| holds || !it.0))
        {
            risk = Some((holds, newest.id));
        }
    }
    let sides = [a.0, b.0];
    let conflict = Conflict {
        id: pair.id,
        status,
        severity: found.severity,
        tier: found.tier,
        score: found.score,
        why: found.why,
        found_at: first.at,
        a: side_of(&a.1, a.2),
        b: side_of(&b.1, b.2),
        risk: risk.map(|it| it.1),
        settled,
        allowed,
    };
    Ok(Some(Shown {
        pair,
        conflict,
        sides,
        voices: [a.1, b.1],
    }))
}

/// The engram that represents a side: the newest that holds, else the newest that a verdict closed or by which the
/// conflict was found, else the newest of all. If the words were erased, the one by which it was found.
fn voice(
    tx: &Reader<'_>,
    pair: &Pair,
    side: &str,
    known: &[EngramId],
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Option<Engram>, Refusal> {
    let mut voices = tx.voices(pair.project, side, pair.run)?;
    voices.retain(|it| eyes.may_see(it));
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
    Ok(recorded.filter(|it| eyes.may_see(it) && it.redacted))
}

fn side_of(engram: &Engram, mut differs: Vec<(usize, usize)>) -> ConflictSide {
    // Another engram of this side may have other white space.
    let length = engram.claim.chars().count();
    differs.retain(|(from, to)| from < to && *to <= length);
    let ends = [engram.valid_until, engram.expires_at];
    ConflictSide {
        id: engram.id,
        lineage_id: engram.lineage_id,
        claim: engram.claim.clone(),
        differs,
        topic: engram.topic.clone(),
        by: names::author(engram),
        created_at: engram.provenance.created_at,
        confidence: engram.confidence,
        fact_type: engram.fact_type,
        verified: engram.verified,
        valid_until: ends.into_iter().flatten().min(),
        pointers: engram.pointers.clone(),
    }
}

fn verdict(tx: &Reader<'_>, pair: &Pair, eyes: &Eyes) -> Result<Option<Settled>, Refusal> {
    let Some(seq) = pair.verdict else {
        return Ok(None);
    };
    let (Some(ruling), Some(deed)) = (tx.ruling(seq)?, tx.deed(seq)?) else {
        return Ok(None);
    };
    let Some(how) = ruling.how else {
        return Ok(None);
    };
    let merged = match ruling.merged.or(ruling.stored.first().copied()) {
        Some(id) if how == How::Merge => tx.engram(id)?.filter(|it| eyes.may_see(it)),
        _ => None,
    };
    Ok(Some(Settled {
        how,
        by: names::by(&deed),
        at: deed.at,
        why: deed.why,
        merged: merged.map(|it| it.id),
    }))
}

/// How the side ended that this engram represents.
fn ended(tx: &Reader<'_>, engram: &Engram, eyes: &Eyes) -> Result<Settled, Refusal> {
    let settled = |how, by: String, at| Settled {
        how,
        by,
        at,
        why: None,
        merged: None,
    };
    let Some(at) = engram.valid_until else {
        // Nothing is recorded when a term ends.
        let at = engram.expires_at.unwrap_or(engram.recorded_at);
        return Ok(settled(How::Expired, String::new(), at));
    };
    let about = |kind| tx.last_about(&engram.id.to_string(), kind);
    if engram.redacted {
        let by = about(OperationKind::Redacted)?.map_or(String::new(), |it| names::by(&it));
        return Ok(settled(How::Redacted, by, at));
    }
    if let Some(deed) = about(OperationKind::Forgotten)? {
        return Ok(settled(How::Forgotten, names::by(&deed), at));
    }
    let newer = match tx.successor(engram.lineage_id, engram.seq)? {
        Some(id) => tx.engram(id)?,
        None => None,
    };
    Ok(match newer {
        Some(newer) if !eyes.may_see(&newer) => settled(How::Forgotten, names::author(&newer), at),
        Some(newer) => settled(How::Superseded, names::author(&newer), at),
        None => settled(How::Forgotten, String::new(), at),
    })
}
