//! The claims of others that are nearest to a new one, for its reply. Nearness proposes and judges
//! nothing: such a pair is a possible conflict, has no report and shuts no gate. Its author and a
//! person may answer for it.
//!
//! The search runs before the write lock is taken, so no other writer waits for it, and a failure
//! costs only the proposal.

use std::collections::HashSet;

use engram_consistency::near::Sought;
use engram_model::{
    ConflictId, Engram, EngramId, MAX_NEAR, NearClaim, Operation, Refusal, Severity, Tier,
    operation::Contradiction,
};
use engram_store::{NearPairs, Reader, Traits, conflict_id, side};

use crate::{
    conflicts::{
        candidates::may_be_compared,
        findings::author_in_words,
        judging::{is_comparable, is_other_author, run_of},
        near_threshold::NearThreshold,
        promising::{ModelOnClaim, SoughtWords, promising_places},
        rights,
        risks::is_report,
        shown_near::claims_that_fit,
    },
    context::{Context, plan::Planned},
};

/// The most claims that are compared. What the author may not see takes no place among them.
const MAX_COMPARED: usize = 24;

/// How often one claim is proposed to one author without an answer before it yields to others.
const MAX_UNANSWERED: usize = 20;

/// Claims that are near a new one, and how near, nearest first.
pub(crate) type Nearest = Vec<(f32, Engram)>;

/// Finds the claims nearest to one that is about to be stored, among those by others that hold and
/// that its author may see.
pub(crate) fn find_nearest(cx: &Context<'_>, tx: &Reader<'_>, engram: &Engram) -> Nearest {
    if !is_comparable(engram) {
        return Vec::new();
    }
    search(cx, tx, engram).unwrap_or_else(|error| {
        tracing::warn!(%error, id = %engram.id, "cannot look for the nearest claims");
        Vec::new()
    })
}

fn search(cx: &Context<'_>, tx: &Reader<'_>, engram: &Engram) -> Result<Nearest, Refusal> {
    let own = cx.engine.caches.claims.parse_once(engram);
    let words = SoughtWords::look_up(cx.engine, tx, engram, &own.gist_keys)?;
    let sought = Sought::new(&own.gist, &words.having, words.all);
    let meaning = ModelOnClaim::of(cx, tx, engram)?;
    let visibility = cx.visibility_in(engram.project)?;
    let threshold = NearThreshold::of(cx, tx)?;
    // As of the moment when it is stored.
    let clock = engram.recorded_at;
    let is_rival = |other: &Engram| {
        other.lineage_id != engram.lineage_id
            && is_other_author(engram, other, &engram.provenance.created_by)
            && may_be_compared(&Traits::from(other), engram, clock)
            && is_comparable(other)
            && visibility.may_see(other)
    };
    let mut near = Nearest::new();
    let mut compared = 0;
    for place in promising_places(tx, &words, &sought, meaning.as_ref(), threshold.least(cx))? {
        let Some(other) = tx.engram_at(place.seq)?.filter(is_rival) else {
            continue;
        };
        let gist = cx.engine.caches.claims.gist_of(&other);
        let score = sought.nearness_by(&gist, place.closeness);
        let enough = threshold.for_topics(cx, [&engram.topic, &other.topic]);
        // The rules read two claims of the same words: these conflict, or are a series or events.
        // Few are near, so only their reports are looked for.
        if score >= enough && !own.gist.has_same_words(&gist) && !is_report(tx, &other)? {
            near.push((score, other));
        }
        compared += 1;
        if compared == MAX_COMPARED {
            break;
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.seq.cmp(&a.1.seq)));
    Ok(near)
}

/// The entries of the possible conflicts of near claims, and these for the reply: at most one claim of
/// an author and of a side. Leaves out claims that the reply already names (`known`), pairs that are
/// known, and claims that were proposed [`MAX_UNANSWERED`] times without an answer.
pub(crate) fn propose(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    near: &Nearest,
    known: &HashSet<EngramId>,
) -> Result<(Vec<Planned>, Vec<NearClaim>), Refusal> {
    let here = side(&engram.topic, &engram.claim);
    let (mut found, mut pairs) = (Vec::new(), Vec::new());
    let (mut sides, mut authors) = (HashSet::new(), HashSet::new());
    let others = near
        .iter()
        .filter(|(_, other)| other.lineage_id != engram.lineage_id && !known.contains(&other.id));
    let (visibility, clock) = (cx.visibility_in(engram.project)?, cx.engine.world.now());
    for (score, other) in others {
        // It may have ended, or been erased, since it was found.
        let holds = |it: &Traits| it.holds_now(clock) && !it.redacted;
        let is_there = tx.traits_of(other.seq)?.is_some_and(|now| holds(&now));
        if !is_there || !visibility.may_see(other) {
            continue;
        }
        let there = side(&other.topic, &other.claim);
        let run = run_of([engram, other]);
        let conflict = conflict_id(engram.project, run, &here, &there);
        let by = author_in_words(other);
        // Two agents may have one name.
        let author = match &other.agent {
            Some(agent) => &agent.0,
            None => &other.provenance.created_by,
        };
        let is_told = sides.contains(&there) || authors.contains(&author);
        if is_told
            || there == here
            || tx.conflict(conflict)?.is_some()
            || is_unanswered(tx, engram, &there)?
            || rights::are_sides_dismissed(tx, engram.project, &sorted(&here, &there))?
        {
            continue;
        }
        let score = (f64::from(*score) * 100.0).round() / 100.0;
        authors.insert(author);
        found.push(NearClaim {
            id: other.id,
            conflict,
            claim: other.claim.clone(),
            by,
            score,
        });
        pairs.push((there.clone(), other));
        sides.insert(there);
        if found.len() == MAX_NEAR {
            break;
        }
    }
    let fits = claims_that_fit(&found);
    let entries = found.iter().zip(fits).zip(&pairs);
    let entries = entries.map(|((near, fits), (there, other))| {
        let both = [(&here, engram), (there, *other)];
        proposal(near.conflict, both, Some(near.score), fits)
    });
    Ok((entries.collect(), found))
}

/// Whether this author was shown a side [`MAX_UNANSWERED`] times without answering. What it leaves
/// unanswered hides nothing from others.
fn is_unanswered(tx: &Reader<'_>, engram: &Engram, there: &str) -> Result<bool, Refusal> {
    let agent = engram.agent.as_ref();
    let count = NearPairs::of(tx).count_unanswered(engram.project, agent, there, MAX_UNANSWERED)?;
    Ok(count == MAX_UNANSWERED)
}

fn sorted(here: &str, there: &str) -> [String; 2] {
    let mut sides = [here.to_owned(), there.to_owned()];
    sides.sort();
    sides
}

/// The entry that makes a pair a possible conflict, for whoever records it to answer.
pub(crate) fn proposal(
    id: ConflictId,
    mut pair: [(&String, &Engram); 2],
    score: Option<f64>,
    is_shown: bool,
) -> Planned {
    pair.sort_by_key(|it| it.0);
    let proposed = Contradiction {
        id,
        sides: pair.map(|it| it.0.clone()),
        engrams: pair.map(|it| it.1.id),
        tier: Tier::Agent,
        severity: Severity::Medium,
        score,
        differs: Default::default(),
        risk: None,
        left_out: !is_shown,
        why: String::new(),
    };
    Planned::private(Operation::Proposed(Box::new(proposed)), "")
}
