//! What a caller may see of the conflicts of a project: a single one, and the list.

use std::{cmp::Reverse, collections::HashMap};

use crate::{
    conflicts::{
        conflict_view::{ShownConflict, conflict_to_show, visible_conflict},
        findings::author_in_words,
        lifecycle::{both_hold, covering},
    },
    context::{Context, visibility::Visibility},
};
use engram_model::{
    CONFLICTS_ON_PAGE, Code, Conflict, ConflictFilter, ConflictId, ConflictStatus, ConflictsReply,
    Engram, Finding, Listed, MAX_CONFLICTS_ON_PAGE, Noticed, ProjectId, Refusal, Severity,
    is_on_topic,
};
use engram_store::{ListedConflict, Reader, side};
use jiff::Timestamp;

/// The most conflicts that an engram's record lists.
const NAMED: usize = 12;

/// One conflict, if the caller may see both sides.
pub(crate) fn find_conflict(cx: &Context<'_>, id: ConflictId) -> Result<Box<Conflict>, Refusal> {
    let (project, visibility) = (cx.project()?, cx.visibility()?);
    let clock = cx.engine.world.now();
    let found = cx.engine.store.read::<_, Refusal>(|tx| {
        let pair = tx.conflict(id)?.filter(|it| it.project == project);
        let pair = pair
            .map(|pair| conflict_to_show(tx, pair, &visibility, clock))
            .transpose()?;
        pair.map_or(Ok(None), |pair| {
            visible_conflict(tx, pair, &visibility, clock)
        })
    })?;
    let found = found.ok_or_else(|| no_conflict(id))?;
    Ok(Box::new(found.conflict))
}

/// Returns a page of the list. Reads the sort keys of all conflicts, but composes only those on the
/// page.
pub(crate) fn list_conflicts(
    cx: &Context<'_>,
    filter: &ConflictFilter,
) -> Result<ConflictsReply, Refusal> {
    let (project, visibility) = (cx.project()?, cx.visibility()?);
    let clock = cx.engine.world.now();
    let limit = filter.limit.unwrap_or(CONFLICTS_ON_PAGE);
    if limit == 0 || limit > MAX_CONFLICTS_ON_PAGE {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("a page has 1 to {MAX_CONFLICTS_ON_PAGE} conflicts, not {limit}"),
            if limit == 0 {
                "Ask for at least one, or leave the number out."
            } else {
                "Ask for fewer, and go on with the page's `next`."
            },
        ));
    }
    let after = filter
        .after
        .as_deref()
        .map(|text| ConflictPlace::parse(text, filter.status))
        .transpose()?;
    let agent = cx.agent()?.map(|agent| &agent.handle);
    cx.engine.store.read::<_, Refusal>(|tx| {
        let all = sorted_places(tx, project, filter, &visibility, clock)?;
        let start = after.map_or(0, |after| all.partition_point(|place| *place <= after));
        let mut reply = ConflictsReply {
            open: count_open(tx, project, &visibility, clock)?,
            possible: match visibility {
                Visibility::All => tx.count_conflicts(project, ConflictStatus::Possible, clock)?,
                Visibility::Agent { .. } => 0,
            },
            due: tx.count_due(project, agent)?,
            ..ConflictsReply::default()
        };
        for (at, place) in all.iter().enumerate().skip(start) {
            if reply.conflicts.len() == limit as usize {
                reply.omitted = Some((all.len() - at) as u64);
                let last = at.checked_sub(1).and_then(|before| all.get(before));
                reply.next = last.map(ConflictPlace::to_string);
                break;
            }
            let pair = tx.conflict(place.id())?;
            let found = pair.map_or(Ok(None), |pair| {
                visible_conflict(tx, pair, &visibility, clock)
            })?;
            let conflict = found.map(|found| found.conflict);
            reply
                .conflicts
                .extend(conflict.filter(|one| filter.status.admits(one.status)));
        }
        Ok(reply)
    })
}

/// Whether a caller may see an entry about a conflict.
pub(crate) fn may_see_conflict(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    id: ConflictId,
    visibility: &Visibility,
    seq: u64,
) -> Result<bool, Refusal> {
    if matches!(visibility, Visibility::All) {
        return Ok(true);
    }
    for id in tx
        .contradiction(seq)?
        .into_iter()
        .flat_map(|found| found.engrams)
    {
        if !tx
            .engram(id)?
            .is_some_and(|engram| visibility.may_see(&engram))
        {
            return Ok(false);
        }
    }
    let clock = cx.engine.world.now();
    let found = match tx.conflict(id)? {
        Some(pair) => visible_conflict(tx, pair, visibility, clock)?,
        None => None,
    };
    Ok(found.is_some())
}

/// The open conflicts of a holding claim, in the form in which its author got them: worst first,
/// then the newest claim first.
pub(crate) fn open_conflict_findings(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
) -> Result<Vec<Finding>, Refusal> {
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    let own = side(&engram.topic, &engram.claim);
    let mut found = Vec::new();
    for pair in tx.conflicts_of(engram.project, &own)? {
        if covering(tx, &pair, clock)?.is_some() {
            continue;
        }
        let Some(shown) = visible_conflict(tx, pair, &visibility, clock)? else {
            continue;
        };
        let ShownConflict {
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
            by: Some(author_in_words(&other).to_owned()),
            ..Finding::new(Noticed::Conflict, other.id, conflict.why)
        };
        found.push((Reverse((conflict.severity, other.seq)), finding));
    }
    found.sort_by_key(|it| it.0);
    Ok(found.into_iter().map(|it| it.1).collect())
}

/// Fills in the open conflicts of each record. A record without conflicts costs two index lookups.
pub(crate) fn tell_conflicts<'a>(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engrams: impl IntoIterator<Item = &'a mut Engram>,
) -> Result<(), Refusal> {
    let (visibility, clock) = (cx.visibility()?, cx.engine.world.now());
    for engram in engrams.into_iter().filter(|it| it.holds_now(clock)) {
        let own = side(&engram.topic, &engram.claim);
        for pair in tx.conflicts_of(engram.project, &own)? {
            if engram.conflicts.len() == NAMED {
                break;
            }
            let is_open = pair.status == ConflictStatus::Open && pair.is_about(engram);
            if !is_open || !visibility.may_know_of(pair.run) || !both_hold(tx, &pair, clock)? {
                continue;
            }
            let [a, b] = &pair.sides;
            let other = if *a == own { b } else { a };
            let voices = tx.holding_on_side(engram.project, other, clock)?;
            if voices.iter().any(|it| visibility.may_see(it))
                && covering(tx, &pair, clock)?.is_none()
            {
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
        "Take ids from a list of conflicts.",
    )
}

/// The pattern of a `ConflictPlace` as a text: two severities, the place of an entry, an id, and
/// a topic; of a possible conflict, whether it was called compatible, its score, and an id.
pub const CONFLICT_PLACE: &str = r"^((low|medium|high)\.(low|medium|high)\.[0-9]{1,18}\.[0-7][0-9A-HJKMNP-TV-Z]{25}\.|(true|false)\.[0-9]{1,20}\.[0-7][0-9A-HJKMNP-TV-Z]{25}$)";

/// A sort key for the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ConflictPlace {
    /// By the topic of the newer side, starting with the topic that has the worst conflict; within
    /// a topic worst first, then newest first.
    OfTopic {
        worst: Reverse<Severity>,
        topic: String,
        severity: Reverse<Severity>,
        first: Reverse<u64>,
        id: ConflictId,
    },
    /// Of a possible conflict: the nearest first, those that somebody called compatible last.
    ByNearness {
        is_called_compatible: bool,
        /// The bits of the score: numbers that are not negative are ordered as their bits are.
        score: Reverse<u64>,
        id: ConflictId,
    },
}

impl std::fmt::Display for ConflictPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OfTopic {
                worst,
                topic,
                severity,
                first,
                id,
            } => write!(f, "{}.{}.{}.{id}.{topic}", worst.0, severity.0, first.0),
            Self::ByNearness {
                is_called_compatible,
                score,
                id,
            } => write!(f, "{is_called_compatible}.{}.{id}", score.0),
        }
    }
}

impl ConflictPlace {
    fn near(one: &ListedConflict) -> Self {
        Self::ByNearness {
            is_called_compatible: one.is_called_compatible,
            score: Reverse(one.score.max(0.0).to_bits()),
            id: one.id,
        }
    }

    fn id(&self) -> ConflictId {
        match self {
            Self::OfTopic { id, .. } | Self::ByNearness { id, .. } => *id,
        }
    }

    fn parse(text: &str, listed: Listed) -> Result<Self, Refusal> {
        let mut parts = text.splitn(5, '.');
        let mut next = || parts.next().unwrap_or_default();
        let mut parsed = || {
            Some(match listed {
                Listed::Possible => Self::ByNearness {
                    is_called_compatible: next().parse().ok()?,
                    score: Reverse(next().parse().ok()?),
                    id: next().parse().ok()?,
                },
                _ => Self::OfTopic {
                    worst: Reverse(next().parse().ok()?),
                    severity: Reverse(next().parse().ok()?),
                    first: Reverse(next().parse().ok()?),
                    id: next().parse().ok()?,
                    topic: next().to_owned(),
                },
            })
        };
        parsed().ok_or_else(|| {
            Refusal::new(
                Code::SchemaInvalid,
                "`after` is not the `next` of any page of this list",
                "Pass the previous page's `next` unchanged, or omit it to start at the top.",
            )
        })
    }
}

/// The conflicts of the list for a caller, unordered. An agent does not see conflicts of a topic
/// that it may not read.
pub(super) fn listed_conflicts(
    tx: &Reader<'_>,
    project: ProjectId,
    filter: &ConflictFilter,
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<Vec<ListedConflict>, Refusal> {
    // A conflict that closed by itself has no verdict, so it is stored as open.
    let (status, holds) = match filter.status {
        Listed::Open => (Some(ConflictStatus::Open), Some(true)),
        Listed::Closed => (Some(ConflictStatus::Open), Some(false)),
        Listed::Resolved => (Some(ConflictStatus::Resolved), None),
        Listed::Dismissed => (Some(ConflictStatus::Dismissed), None),
        Listed::Possible => (Some(ConflictStatus::Possible), Some(true)),
        Listed::All => (None, None),
    };
    let mut found = tx.conflicts_listed(project, status, holds, visibility.run(), clock)?;
    let topic = filter.topic.as_deref().unwrap_or_default();
    found.retain(|one| {
        filter.severity.is_none_or(|least| one.severity >= least)
            && (topic.is_empty() || one.topics.iter().any(|of| is_on_topic(of, topic)))
            && one.topics.iter().all(|of| visibility.may_read(of))
    });
    Ok(found)
}

fn sorted_places(
    tx: &Reader<'_>,
    project: ProjectId,
    filter: &ConflictFilter,
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<Vec<ConflictPlace>, Refusal> {
    let found = listed_conflicts(tx, project, filter, visibility, clock)?;
    if filter.status == Listed::Possible {
        let mut places: Vec<ConflictPlace> = found.iter().map(ConflictPlace::near).collect();
        places.sort_unstable();
        return Ok(places);
    }
    let mut worst: HashMap<&str, Severity> = HashMap::new();
    for one in &found {
        let known = worst.entry(&one.topics[0]).or_insert(one.severity);
        *known = (*known).max(one.severity);
    }
    let place = |one: &ListedConflict| ConflictPlace::OfTopic {
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
    let mut places: Vec<ConflictPlace> = found.iter().map(place).collect();
    places.sort_unstable();
    Ok(places)
}

/// How many open conflicts a caller may see.
fn count_open(
    tx: &Reader<'_>,
    project: ProjectId,
    visibility: &Visibility,
    clock: Timestamp,
) -> Result<u64, Refusal> {
    match visibility {
        Visibility::All => Ok(tx.count_conflicts(project, ConflictStatus::Open, clock)?),
        Visibility::Agent { .. } => {
            Ok(
                listed_conflicts(tx, project, &ConflictFilter::default(), visibility, clock)?.len()
                    as u64,
            )
        }
    }
}
