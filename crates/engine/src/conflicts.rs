//! Conflicts as a caller may see them: one, a list, and whether they block CI.
//!
//! That a side has ended is not stored: it follows from the claims each time a conflict is shown.

use std::cmp::Reverse;

use engram_model::{
    Allowed, Code, Conflict, ConflictFilter, ConflictId, ConflictSide, ConflictStatus,
    ConflictsReply, Engram, EngramId, Finding, Gate, GateCheck, GateReply, How, LineageId, Listed,
    Noticed, OperationKind, Refusal, Settled, is_on_topic,
};
use engram_store::{Pair, Reader, side};
use jiff::Timestamp;

use crate::{context::Context, eyes::Eyes, findings::author};

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

impl Context<'_> {
    pub(crate) fn one_conflict(&self, id: ConflictId) -> Result<Box<Conflict>, Refusal> {
        let (project, eyes) = (self.project()?, self.eyes()?);
        let clock = self.engine.world.now();
        let found = self.engine.store.read::<_, Refusal>(|it| {
            let pair = it.conflict(id)?.filter(|it| it.project == project);
            pair.map_or(Ok(None), |pair| shown(it, pair, &eyes, clock))
        })?;
        let found = found.ok_or_else(|| no_conflict(id))?;
        Ok(Box::new(found.conflict))
    }

    pub(crate) fn list_conflicts(
        &self,
        filter: &ConflictFilter,
    ) -> Result<ConflictsReply, Refusal> {
        let all = self.all_conflicts(filter.status)?;
        let open = match filter.status {
            Listed::Open | Listed::All => count_open(&all),
            _ => count_open(&self.all_conflicts(Listed::Open)?),
        };
        let topic = filter.topic.as_deref().unwrap_or_default();
        let mut conflicts: Vec<Conflict> = all
            .into_iter()
            .filter(|it| filter.status.admits(it.status))
            .filter(|it| {
                topic.is_empty()
                    || is_on_topic(&it.a.topic, topic)
                    || is_on_topic(&it.b.topic, topic)
            })
            .filter(|it| filter.severity.is_none_or(|least| it.severity >= least))
            .collect();
        sort(&mut conflicts);
        Ok(ConflictsReply {
            open,
            conflicts,
            omitted: None,
        })
    }

    /// Refuses to answer a job about a repository that the home knows nothing of: CI must not pass because it
    /// looks in an empty home, or at a clone that nobody wrote about.
    pub(crate) fn knows_the_repository(&self, otherwise: &str) -> Result<(), Refusal> {
        self.repository()?;
        let known = self.known_project()?;
        let holds = |it: &Reader<'_>| known.map_or(Ok(false), |project| it.has_claims(project));
        match self.engine.store.read::<_, Refusal>(|it| Ok(holds(it)?))? {
            true => Ok(()),
            false => Err(Refusal::new(
                Code::NotFound,
                format!("this home holds no claims of this repository, so {otherwise}"),
                "Check --home and --repo. A clone is a project of its own: run this in a worktree of the clone that agents use, or bring that clone's home and .git/engram-project along.",
            )),
        }
    }

    pub(crate) fn gate_of(&self, check: GateCheck) -> Result<GateReply, Refusal> {
        self.knows_the_repository("the gate stays shut")?;
        let mut bars = self.all_conflicts(Listed::Open)?;
        bars.retain(|it| {
            it.status == ConflictStatus::Open
                && it.allowed.is_none()
                && it.severity >= check.severity
        });
        bars.sort_by_key(|it| (Reverse(it.severity), it.found_at, it.id));
        let blocking: Vec<ConflictId> = bars.iter().map(|it| it.id).collect();
        Ok(GateReply {
            gate: match blocking.is_empty() {
                true => Gate::Open,
                false => Gate::Shut,
            },
            blocking,
        })
    }

    /// The conflicts of the project that may have this status, in no order.
    fn all_conflicts(&self, listed: Listed) -> Result<Vec<Conflict>, Refusal> {
        // One that closed automatically has no verdict, so it is stored as open.
        let status = match listed {
            Listed::Open | Listed::Closed => Some(ConflictStatus::Open),
            Listed::Resolved => Some(ConflictStatus::Resolved),
            Listed::Dismissed => Some(ConflictStatus::Dismissed),
            Listed::All => None,
        };
        let (project, eyes) = (self.project()?, self.eyes()?);
        let clock = self.engine.world.now();
        self.engine.store.read::<_, Refusal>(|it| {
            let mut found = Vec::new();
            for pair in it.conflicts(project, status)? {
                found.extend(shown(it, pair, &eyes, clock)?.map(|it| it.conflict));
            }
            Ok(found)
        })
    }

    /// Whether a caller may know of a conflict.
    pub(crate) fn may_see_conflict(
        &self,
        it: &Reader<'_>,
        id: ConflictId,
        eyes: &Eyes,
    ) -> Result<bool, Refusal> {
        if matches!(eyes, Eyes::All) {
            return Ok(true);
        }
        let clock = self.engine.world.now();
        let found = match it.conflict(id)? {
            Some(pair) => shown(it, pair, eyes, clock)?,
            None => None,
        };
        Ok(found.is_some())
    }

    /// The open conflicts that a claim which holds is part of, as its author was told of them: the worst
    /// first, of equals the one with the claim that was said last.
    pub(crate) fn disputes_of(
        &self,
        it: &Reader<'_>,
        engram: &Engram,
    ) -> Result<Vec<Finding>, Refusal> {
        let (eyes, clock) = (self.eyes()?, self.engine.world.now());
        let own = side(&engram.topic, &engram.claim);
        let mut found = Vec::new();
        for pair in it.conflicts_of(engram.project, &own)? {
            let Some(shown) = shown(it, pair, &eyes, clock)? else {
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
        &self,
        it: &Reader<'_>,
        engrams: impl IntoIterator<Item = &'a mut Engram>,
    ) -> Result<(), Refusal> {
        let (eyes, clock) = (self.eyes()?, self.engine.world.now());
        for engram in engrams.into_iter().filter(|it| it.holds_now(clock)) {
            let own = side(&engram.topic, &engram.claim);
            for pair in it.conflicts_of(engram.project, &own)? {
                if engram.conflicts.len() == NAMED {
                    break;
                }
                if pair.status != ConflictStatus::Open {
                    continue;
                }
                let [a, b] = &pair.sides;
                let other = if *a == own { b } else { a };
                let voices = it.holding(engram.project, other, clock)?;
                if voices.iter().any(|it| eyes.may_see(it)) {
                    engram.conflicts.push(pair.id);
                }
            }
            engram.conflicts.sort_unstable();
            engram.figures.conflicts = engram.conflicts.len() as u64;
        }
        Ok(())
    }
}

pub(crate) fn no_conflict(id: ConflictId) -> Refusal {
    Refusal::new(
        engram_model::Code::NotFound,
        format!("there is no conflict {id}"),
        "Take ids from `engram conflicts` or engram_conflicts.",
    )
}

fn count_open(all: &[Conflict]) -> u64 {
    let open = all.iter().filter(|it| it.status == ConflictStatus::Open);
    open.count() as u64
}

/// Sorts by the topic of the newer side, the topic with the worst conflict first; within a topic worst first,
/// and among equals newest first.
fn sort(conflicts: &mut [Conflict]) {
    let mut worst = std::collections::BTreeMap::new();
    for it in conflicts.iter() {
        let known = worst.entry(it.b.topic.clone()).or_insert(it.severity);
        *known = (*known).max(it.severity);
    }
    conflicts.sort_by(|one, two| {
        let key = |it: &Conflict| {
            (
                Reverse(worst.get(&it.b.topic).copied()),
                it.b.topic.clone(),
                Reverse(it.severity),
                Reverse(it.found_at),
                it.id,
            )
        };
        key(one).cmp(&key(two))
    });
}

/// A conflict as this caller may see it; none if it may not see one of the sides.
pub(crate) fn shown(
    it: &Reader<'_>,
    pair: Pair,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Option<Shown>, Refusal> {
    let (Some(found), Some(first)) = (it.contradiction(pair.last)?, it.deed(pair.first)?) else {
        return Ok(None);
    };
    let mut told = Vec::new();
    for (at, side) in pair.sides.iter().enumerate() {
        let recorded = found.engrams.get(at).copied();
        let Some(voice) = voice(it, &pair, side, recorded, eyes, clock)? else {
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
    let holds = [&a.1, &b.1].map(|it| it.holds_now(clock));
    let (status, settled) = match pair.status {
        ConflictStatus::Open | ConflictStatus::Closed if holds == [true, true] => {
            (ConflictStatus::Open, None)
        }
        ConflictStatus::Open | ConflictStatus::Closed => {
            let over = [&a.1, &b.1].into_iter().zip(holds).filter(|it| !it.1);
            let ends = over.map(|(engram, _)| ended(it, engram));
            let ends = ends.collect::<Result<Vec<_>, _>>()?;
            let first = ends.into_iter().min_by_key(|it| it.at);
            (ConflictStatus::Closed, first)
        }
        status => (status, verdict(it, &pair)?),
    };
    let allowed = match pair.allowed {
        Some(seq) => it.deed(seq)?.map(|deed| Allowed {
            by: deed.by,
            at: deed.at,
            why: deed.why.unwrap_or_default(),
        }),
        None => None,
    };
    let risk = match pair.risk {
        Some(risk) => it.lineage(LineageId(risk.0))?.first().map(|it| it.id),
        None => None,
    };
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
        risk,
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

/// The engram that represents a side: the newest that holds, else the newest of all. If the words were
/// erased, the one by which the conflict was found.
fn voice(
    it: &Reader<'_>,
    pair: &Pair,
    side: &str,
    recorded: Option<EngramId>,
    eyes: &Eyes,
    clock: Timestamp,
) -> Result<Option<Engram>, Refusal> {
    let mut voices = it.voices(pair.project, side)?;
    voices.retain(|it| eyes.may_see(it));
    let holding = voices.iter().position(|it| it.holds_now(clock));
    if !voices.is_empty() {
        return Ok(Some(voices.swap_remove(holding.unwrap_or(0))));
    }
    let recorded = match recorded {
        Some(id) => it.engram(id)?,
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
        by: engram.provenance.created_by.clone(),
        created_at: engram.provenance.created_at,
        confidence: engram.confidence,
        fact_type: engram.fact_type,
        verified: engram.verified,
        valid_until: ends.into_iter().flatten().min(),
        pointers: engram.pointers.clone(),
    }
}

fn verdict(it: &Reader<'_>, pair: &Pair) -> Result<Option<Settled>, Refusal> {
    let Some(seq) = pair.verdict else {
        return Ok(None);
    };
    let (Some(ruling), Some(deed)) = (it.ruling(seq)?, it.deed(seq)?) else {
        return Ok(None);
    };
    Ok(ruling.how.map(|how| Settled {
        how,
        by: deed.by,
        at: deed.at,
        why: deed.why,
    }))
}

/// How the side ended that this engram represents.
fn ended(it: &Reader<'_>, engram: &Engram) -> Result<Settled, Refusal> {
    let settled = |how, by: String, at| Settled {
        how,
        by,
        at,
        why: None,
    };
    let Some(at) = engram.valid_until else {
        // Nothing is recorded when a term ends.
        let at = engram.expires_at.unwrap_or(engram.recorded_at);
        return Ok(settled(How::Expired, String::new(), at));
    };
    let about = |kind| it.last_about(&engram.id.to_string(), kind);
    if engram.redacted {
        let by = about(OperationKind::Redacted)?.map_or(String::new(), |it| it.by);
        return Ok(settled(How::Redacted, by, at));
    }
    if let Some(deed) = about(OperationKind::Forgotten)? {
        return Ok(settled(How::Forgotten, deed.by, at));
    }
    let newer = match it.successor(engram.lineage_id, engram.seq)? {
        Some(id) => it.engram(id)?,
        None => None,
    };
    Ok(match newer {
        Some(newer) => settled(How::Superseded, newer.provenance.created_by, at),
        None => settled(How::Forgotten, String::new(), at),
    })
}
