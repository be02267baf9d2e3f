//! The claims of others that are nearest to a new one, for its reply. Nearness proposes and judges
//! nothing: such a pair is a possible conflict, has no report and shuts no gate. Its author and a
//! person may answer for it.
//!
//! The search runs before the write lock is taken, so no other writer waits for it, and a failure
//! costs only the proposal.

use std::collections::{HashMap, HashSet};

use engram_consistency::near::{self, Sought};
use engram_model::{
    ConflictId, Engram, EngramId, MAX_NEAR, NearClaim, Operation, Refusal, Severity, Tier,
    operation::Contradiction,
};
use engram_store::{
    EmbeddingModel, NearPairs, Reader, RelatedVersions, StoreError, Traits, Vectors, conflict_id,
    side,
};

use crate::{
    Engine,
    conflicts::{
        candidates::{may_be_compared, related_versions},
        findings::author_in_words,
        judging::{is_comparable, is_other_author, run_of},
        near_threshold::near_threshold,
        rights,
        risks::is_report,
    },
    context::{Context, plan::Planned},
    home::questions::{self, AskedByMeaning, QuestionMeaning},
};

/// The most words of the claim by which others are sought, the rarest first; and the most versions
/// with a word that is read, unless the claim has no rarer one.
const MAX_WORDS: usize = 8;
const FREQUENT: u64 = 2_000;
/// The most versions that are read under one word, newest first.
const MAX_UNDER_WORD: usize = 500;
/// The most versions that are read, and the most of these that are compared: those that share the
/// most first. What the author may not see takes no place among the compared.
const MAX_READ: usize = 240;
const MAX_COMPARED: usize = 24;
/// How many of the nearest by a model are compared besides.
const MAX_BY_MEANING: usize = 12;

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
    let threshold = near_threshold(cx, tx)?;
    // As of the moment when it is stored.
    let clock = engram.recorded_at;
    let is_rival = |other: &Engram| {
        other.lineage_id != engram.lineage_id
            && is_other_author(engram, other, &engram.provenance.created_by)
            && may_be_compared(&Traits::from(other), engram, clock)
            && is_comparable(other)
            && visibility.may_see(other)
    };
    let rivals = |places: &[u64], most: usize, into: &mut Vec<Engram>| -> Result<(), Refusal> {
        let known: HashSet<u64> = into.iter().map(|it| it.seq).collect();
        let others = places.iter().filter(|it| !known.contains(it));
        for seq in others.take(MAX_READ) {
            if into.len() == known.len() + most {
                break;
            }
            into.extend(tx.engram_at(*seq)?.filter(is_rival));
        }
        Ok(())
    };
    let mut compared = Vec::new();
    if let Some(model) = &meaning {
        rivals(&model.nearest(), MAX_BY_MEANING, &mut compared)?;
    }
    let in_words = words.most_shared(MAX_WORDS, FREQUENT)?;
    rivals(&in_words, MAX_COMPARED, &mut compared)?;
    let mut near = Nearest::new();
    for other in compared {
        let gist = cx.engine.caches.claims.gist_of(&other);
        // The rules read two claims of the same words: these conflict, or are a series or events.
        if own.gist.has_same_words(&gist) {
            continue;
        }
        let closeness = match &meaning {
            Some(model) => model.closeness(tx, other.seq)?,
            None => None,
        };
        let score = sought.nearness_by(&gist, closeness);
        // Few are near, so only their reports are looked for.
        if score >= threshold && !is_report(tx, &other)? {
            near.push((score, other));
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.seq.cmp(&a.1.seq)));
    Ok(near)
}

/// What the model that the user chose makes of a claim, if a process of this home holds one.
struct ModelOnClaim {
    meaning: QuestionMeaning,
    number: EmbeddingModel,
}

impl ModelOnClaim {
    fn of(cx: &Context<'_>, tx: &Reader<'_>, engram: &Engram) -> Result<Option<Self>, StoreError> {
        let asked = AskedByMeaning {
            project: engram.project,
            text: engram.claim.clone(),
        };
        let Some(meaning) = questions::ask(cx.engine.store.home(), &asked) else {
            return Ok(None);
        };
        let number = Vectors::of(tx).model(&meaning.name, &meaning.version)?;
        Ok(number.map(|number| Self { meaning, number }))
    }

    /// The places of the nearest claims, nearest first.
    fn nearest(&self) -> Vec<u64> {
        self.meaning.nearest.iter().map(|it| it.0).collect()
    }

    /// How close a claim is; `None` if the model has not read it.
    fn closeness(&self, tx: &Reader<'_>, seq: u64) -> Result<Option<f32>, StoreError> {
        let vector = Vectors::of(tx).at(self.number, seq)?;
        let vector = vector.filter(|it| !it.is_empty());
        Ok(vector.map(|it| self.meaning.closeness(&it)))
    }
}

/// The near claims for the reply, and the entries of their possible conflicts: at most one claim of
/// an author and of a side. Leaves out claims that the reply already names (`known`), pairs that are
/// known, and claims that were proposed [`MAX_UNANSWERED`] times without an answer.
pub(crate) fn propose(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    engram: &Engram,
    near: &Nearest,
    known: &HashSet<EngramId>,
) -> Result<(Vec<NearClaim>, Vec<Planned>), Refusal> {
    let here = side(&engram.topic, &engram.claim);
    let (mut found, mut entries) = (Vec::new(), Vec::new());
    let (mut sides, mut authors) = (HashSet::new(), HashSet::new());
    let others = near
        .iter()
        .filter(|(_, other)| other.lineage_id != engram.lineage_id && !known.contains(&other.id));
    let (visibility, clock) = (cx.visibility_in(engram.project)?, cx.engine.world.now());
    for (score, other) in others {
        // It may have ended, or been erased, since it was found.
        let now = tx.engram(other.id)?;
        if !now.is_some_and(|it| it.holds_now(clock) && !it.redacted && visibility.may_see(&it)) {
            continue;
        }
        let there = side(&other.topic, &other.claim);
        let run = run_of([engram, other]);
        let conflict = conflict_id(engram.project, run, &here, &there);
        let by = author_in_words(other);
        let is_told = sides.contains(&there) || authors.contains(&by);
        if is_told
            || there == here
            || tx.conflict(conflict)?.is_some()
            || is_unanswered(tx, engram, &there)?
            || rights::are_sides_dismissed(tx, engram.project, &sorted(&here, &there))?
        {
            continue;
        }
        let score = (f64::from(*score) * 100.0).round() / 100.0;
        entries.push(proposal(
            conflict,
            [(&here, engram), (&there, other)],
            Some(score),
        ));
        sides.insert(there);
        authors.insert(by.clone());
        found.push(NearClaim {
            id: other.id,
            conflict,
            claim: other.claim.clone(),
            by,
            score,
        });
        if found.len() == MAX_NEAR {
            break;
        }
    }
    Ok((found, entries))
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
        why: String::new(),
    };
    Planned::private(Operation::Proposed(Box::new(proposed)), "")
}

/// The words of a claim, and where else they are.
pub(super) struct SoughtWords<'k> {
    /// The place of the claim itself.
    own: u64,
    keys: &'k [u64],
    related: Option<RelatedVersions>,
    /// How many versions have each word, and how many there are in all.
    having: Vec<u64>,
    all: u64,
    /// The versions that the index has not read, under each word.
    tail: Vec<Vec<u64>>,
}

impl<'k> SoughtWords<'k> {
    pub(super) fn look_up(
        engine: &Engine,
        tx: &Reader<'_>,
        engram: &Engram,
        keys: &'k [u64],
    ) -> Result<Self, StoreError> {
        let (related, indexed) = related_versions(engine);
        let claims = &engine.caches.claims;
        let (tail, _) = claims.unindexed_places(tx, engram.project, indexed, keys)?;
        let under = keys.iter().zip(&tail).map(|(key, behind)| {
            let in_index = related.as_ref().map_or(Ok(0), |it| it.count(*key))?;
            Ok(in_index + behind.len() as u64)
        });
        let having = under.collect::<Result<Vec<u64>, StoreError>>()?;
        let in_index = related.as_ref().map_or(0, RelatedVersions::documents);
        let behind = tail.iter().map(Vec::len).max().unwrap_or_default() as u64;
        Ok(Self {
            own: engram.seq,
            all: in_index + behind,
            keys,
            related,
            having,
            tail,
        })
    }

    /// The places of the versions that share the most with the claim, the best first: under at most
    /// `words` of its rarest words, without those that more than `frequent` versions have, unless it
    /// has no rarer one.
    pub(super) fn most_shared(&self, words: usize, frequent: u64) -> Result<Vec<u64>, StoreError> {
        let mut rarest: Vec<usize> = (0..self.keys.len())
            .filter(|at| self.having[*at] > 0)
            .collect();
        rarest.sort_by_key(|at| self.having[*at]);
        rarest.truncate(words);
        let frequent = rarest.iter().filter(|at| self.having[**at] > frequent);
        let rare = (rarest.len() - frequent.count()).max(1);
        rarest.truncate(rare);
        let mut shared: HashMap<u64, f32> = HashMap::new();
        for at in rarest {
            let weight = near::weight(self.having[at], self.all);
            let mut places = match &self.related {
                Some(related) => {
                    related
                        .of(self.keys[at], i64::MAX as u64, MAX_UNDER_WORD)?
                        .0
                }
                None => Vec::new(),
            };
            places.extend(&self.tail[at]);
            places.sort_unstable();
            places.dedup();
            for seq in places.into_iter().filter(|it| *it != self.own) {
                *shared.entry(seq).or_default() += weight;
            }
        }
        let mut best: Vec<(u64, f32)> = shared.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        best.truncate(MAX_READ);
        Ok(best.into_iter().map(|it| it.0).collect())
    }
}
