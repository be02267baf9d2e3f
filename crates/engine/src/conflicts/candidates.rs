//! Candidates: the holding versions that may be about the same thing as another, found by shared
//! keys or rare words. The search reports what it did not examine, so that nothing counts as compared by mistake.

use std::collections::{HashMap, HashSet};

use engram_consistency::tier;
use engram_model::{Durability, Engram, ProjectId, Scope};
use engram_store::{Due, Reader, RelatedVersions, StoreError, Traits};
use jiff::Timestamp;

use crate::{
    Engine,
    conflicts::{findings::CompareOptions, parsed::Parsed, promising::SoughtWords},
    context::visibility::Visibility,
};

/// The most holding lineages that are examined under one key, newest first.
const UNDER_A_KEY: usize = 128;
/// The most versions that are read under one key to find those lineages, since closed versions stay
/// in the index.
const READ: usize = 512;

/// The most versions that are compared because they share words, and the most that are looked at to
/// find them.
const BY_WORDS: usize = 4;
const MAX_LOOKED_AT: usize = 12;
/// The most words by which they are found, and the most versions that have such a word.
const MAX_RARE: usize = 4;
const RARE: u64 = 100;

/// The places of versions that share a key or rare words with a given one.
pub(crate) struct Candidates {
    /// The places: the user's claims first, then all others, each newest first.
    pub(crate) places: Vec<u64>,
    /// Those that share no key with the claim, only rare words.
    pub(crate) by_words: HashSet<u64>,
    /// How many of them are the user's.
    users: usize,
    /// Everything stored at this place or later was examined; 0 if everything was.
    pub(crate) floor: u64,
    /// Whether a version could not be read.
    pub(crate) has_failed: bool,
    /// Whether versions were left out that the author may not see. They do not displace the others.
    pub(crate) has_hidden: bool,
    /// Whether any version that was left out is not private to a run.
    pub(crate) hides_shared: bool,
}

impl Candidates {
    /// The place down to which everything was examined before the candidate at this position.
    /// Returns the end of the journal for one of the user's candidates, which are out of order.
    pub(crate) fn examined_before(&self, at: usize) -> u64 {
        let before = at.checked_sub(1).and_then(|before| self.places.get(before));
        match (before, self.users < at) {
            (Some(seq), true) => *seq,
            _ => i64::MAX as u64,
        }
    }
}

/// The input and state of a search for candidates.
pub(super) struct CandidateSearch<'a> {
    pub(super) tx: &'a Reader<'a>,
    engram: &'a Engram,
    visibility: &'a Visibility,
    clock: Timestamp,
    weighed: HashMap<u64, bool>,
    has_failed: bool,
    has_hidden: bool,
    hides_shared: bool,
}

impl CandidateSearch<'_> {
    /// Whether a version holds and may be compared with the claim.
    fn is_comparable_at(&mut self, seq: u64) -> Result<bool, StoreError> {
        if let Some(known) = self.weighed.get(&seq) {
            return Ok(*known);
        }
        let meets = match self.tx.traits_of(seq) {
            Ok(traits) => {
                let met = traits.filter(|traits| may_be_compared(traits, self.engram, self.clock));
                let is_seen = met.as_ref().is_some_and(|it| {
                    self.visibility
                        .may_see_of(it.project, it.scope, it.run, &it.topic)
                });
                if let Some(hidden) = met.filter(|_| !is_seen) {
                    self.has_hidden = true;
                    self.hides_shared |= hidden.scope != Scope::Run;
                }
                is_seen
            }
            Err(error) if error.is_of_one_record() => {
                tracing::warn!(%error, seq, "cannot compare a claim with a version that cannot be read");
                self.has_failed = true;
                false
            }
            Err(error) => return Err(error),
        };
        self.weighed.insert(seq, meets);
        Ok(meets)
    }

    /// The newest of these that may be compared, and the place down to which they were examined.
    pub(super) fn newest_comparable(
        &mut self,
        under: &[u64],
        has_more: bool,
    ) -> Result<(Vec<u64>, u64), StoreError> {
        let mut found = Vec::new();
        for (at, seq) in under.iter().enumerate() {
            if found.len() == UNDER_A_KEY {
                let last = at.checked_sub(1).and_then(|before| under.get(before));
                return Ok((found, last.copied().unwrap_or(i64::MAX as u64)));
            }
            if self.is_comparable_at(*seq)? {
                found.push(*seq);
            }
        }
        let floor = if has_more {
            under.last().copied()
        } else {
            None
        };
        Ok((found, floor.unwrap_or_default()))
    }
}

/// What a search looks for.
pub(super) struct CandidateQuery<'a> {
    pub(super) project: ProjectId,
    pub(super) own: &'a Parsed,
    /// Whether to search only the user's claims.
    pub(super) of_user: bool,
    pub(super) below: u64,
}

/// Finds the candidates for a version; without an index, only among recent versions. A due
/// comparison searches only in journal order, so that a later search can continue from its floor.
/// Versions that `visibility` may not see are left out.
pub(crate) fn find_candidates(
    engine: &Engine,
    visibility: &Visibility,
    tx: &Reader<'_>,
    engram: &Engram,
    own: &Parsed,
    options: &CompareOptions<'_>,
) -> Result<Candidates, StoreError> {
    let mut search = CandidateSearch {
        tx,
        engram,
        visibility,
        clock: engine.world.now(),
        weighed: HashMap::new(),
        has_failed: false,
        has_hidden: false,
        hides_shared: false,
    };
    let mut asked = CandidateQuery {
        project: engram.project,
        own,
        of_user: true,
        below: options.compared_below(),
    };
    let users = if options.due.is_some() {
        Vec::new()
    } else {
        newest_first(by_keys(engine, &mut search, &asked)?.0)
    };
    asked.of_user = false;
    let FoundPlaces {
        places,
        by_words,
        floor,
    } = find(engine, &mut search, &asked)?;
    let known: HashSet<u64> = users.iter().copied().collect();
    let by_words = &by_words - &known;
    let others = places.into_iter().filter(|seq| !known.contains(seq));
    Ok(Candidates {
        users: users.len(),
        places: users.iter().copied().chain(others).collect(),
        by_words,
        floor,
        has_failed: search.has_failed,
        has_hidden: search.has_hidden,
        hides_shared: search.hides_shared,
    })
}

/// What a search found.
struct FoundPlaces {
    places: Vec<u64>,
    /// Those that share no key.
    by_words: HashSet<u64>,
    floor: u64,
}

fn find(
    engine: &Engine,
    search: &mut CandidateSearch<'_>,
    asked: &CandidateQuery<'_>,
) -> Result<FoundPlaces, StoreError> {
    let (mut places, floor) = by_keys(engine, search, asked)?;
    let mut by_words: HashSet<u64> = by_words(engine, search, asked)?.into_iter().collect();
    by_words.retain(|it| !places.contains(it));
    places.extend(&by_words);
    Ok(FoundPlaces {
        places: newest_first(places),
        by_words,
        floor,
    })
}

fn newest_first(mut places: Vec<u64>) -> Vec<u64> {
    places.sort_unstable_by(|a, b| b.cmp(a));
    places.dedup();
    places
}

/// The index of versions by their keys, and how far it has read; none without an index.
pub(super) fn related_versions(engine: &Engine) -> (Option<RelatedVersions>, u64) {
    let related = engine.opened_index().and_then(|index| {
        let related = index.related_versions();
        related.inspect_err(|error| engine.close_index(error)).ok()
    });
    let indexed = related.as_ref().map_or(0, RelatedVersions::indexed);
    (related, indexed)
}

/// Finds versions under any of the claim's keys.
fn by_keys(
    engine: &Engine,
    search: &mut CandidateSearch<'_>,
    asked: &CandidateQuery<'_>,
) -> Result<(Vec<u64>, u64), StoreError> {
    let CandidateQuery {
        project,
        own,
        below,
        ..
    } = *asked;
    let keys = if asked.of_user {
        &own.asked_of_user
    } else {
        &own.asked
    };
    if keys.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let (related, indexed) = related_versions(engine);
    let (tail, mut floor) = engine
        .caches
        .claims
        .unindexed_places(search.tx, project, indexed, keys)?;
    let mut found = Vec::new();
    for (key, behind) in keys.iter().zip(tail) {
        let (found_under, mut has_more) = match &related {
            Some(related) => related.of(*key, below.min(indexed.saturating_add(1)), READ)?,
            None => (Vec::new(), false),
        };
        let mut under: Vec<u64> = found_under.iter().map(|it| it.seq).collect();
        under.extend(behind.into_iter().filter(|seq| *seq < below));
        under.sort_unstable_by(|a, b| b.cmp(a));
        under.dedup();
        has_more |= under.len() > READ;
        under.truncate(READ);
        let (newest, looked) = search.newest_comparable(&under, has_more)?;
        found.extend(newest);
        floor = floor.max(looked);
    }
    Ok((found, floor))
}

/// Finds a few versions that share the rarest words with the claim, since two authors rarely use the
/// same ones. They are never due later, so this searches only when a claim is stored.
fn by_words(
    engine: &Engine,
    search: &mut CandidateSearch<'_>,
    asked: &CandidateQuery<'_>,
) -> Result<Vec<u64>, StoreError> {
    let is_first = asked.below == Due::ALL.below;
    if !is_first || !tier::reads_other_words(&asked.own.claim) {
        return Ok(Vec::new());
    }
    let words = SoughtWords::look_up(engine, search.tx, search.engram, &asked.own.gist_keys)?;
    let mut found = Vec::new();
    let shared = words.most_shared(MAX_RARE, RARE)?;
    for sharing in shared.best.into_iter().take(MAX_LOOKED_AT) {
        if search.is_comparable_at(sharing.seq)? {
            found.push(sharing.seq);
        }
        if found.len() == BY_WORDS {
            break;
        }
    }
    Ok(found)
}

/// Whether a version may be compared with another, by its columns. Claims of two runs may not: only
/// the user sees both.
pub(super) fn may_be_compared(traits: &Traits, engram: &Engram, clock: Timestamp) -> bool {
    let is_apart =
        traits.scope == Scope::Run && engram.scope == Scope::Run && traits.run != engram.run;
    traits.project == engram.project
        && traits.id != engram.id
        && !traits.redacted
        && traits.durability == Durability::Durable
        && traits.holds_now(clock)
        && !is_apart
}
