//! Which versions may be near a new claim, before any is read: the index knows which share its words,
//! and keeps a sketch of each; a model, if there is one, knows the nearest in meaning.

use std::collections::HashMap;

use engram_consistency::near::{self, ClaimSketch, Sought};
use engram_model::Engram;
use engram_store::{EmbeddingModel, Reader, RelatedVersion, RelatedVersions, StoreError, Vectors};

use crate::{
    Engine,
    conflicts::{candidates::related_versions, parsed::KeptClaims},
    context::Context,
    home::questions::{self, AskedByMeaning, NEAREST, QuestionMeaning},
};

/// The most words of the claim by which others are sought, the rarest first; and the most versions
/// with a word that is read, unless the claim has no rarer one.
const MAX_WORDS: usize = 8;
const FREQUENT: u64 = 2_000;
/// The most versions that are found under one word, newest first.
const MAX_UNDER_WORD: usize = 500;
/// The most versions that are looked at for their words, those that share the most first; and for
/// their meaning, the nearest first.
const MAX_LOOKED_AT: usize = 240;

/// A version that may be near.
pub(super) struct PromisingPlace {
    pub(super) seq: u64,
    /// How close it is in meaning by the model; `None` if the model has not read it.
    pub(super) closeness: Option<f32>,
    /// The most that its nearness can be.
    at_most: f32,
}

/// The versions that may be as near as the threshold, the most promising first.
pub(super) fn promising_places(
    tx: &Reader<'_>,
    words: &SoughtWords<'_>,
    sought: &Sought<'_>,
    meaning: Option<&ModelOnClaim>,
    threshold: f32,
) -> Result<Vec<PromisingPlace>, StoreError> {
    let shared = words.most_shared(MAX_WORDS, FREQUENT)?;
    let (first, others) = shared.best.split_at(MAX_LOOKED_AT.min(shared.best.len()));
    let mut places: HashMap<u64, (f32, Option<ClaimSketch>)> = first
        .iter()
        .zip(words.sketches(first)?)
        .map(|(it, sketch)| (it.seq, (it.weight, sketch)))
        .collect();
    let others: HashMap<u64, f32> = others.iter().map(|it| (it.seq, it.weight)).collect();
    let nearest = meaning.iter().flat_map(|it| it.nearest());
    for seq in nearest.take(MAX_LOOKED_AT) {
        let weight = others.get(&seq).copied().unwrap_or_default();
        places.entry(seq).or_insert((weight, None));
    }
    let mut promising = Vec::new();
    for (seq, (weight, sketch)) in places {
        // Left to the rules, as in `near.rs`; a series may have thousands of them.
        if sketch.is_some_and(|it| sought.has_same_words(&it)) {
            continue;
        }
        let weight = weight + shared.left_out;
        let at_most = |by_model| sought.nearness_at_most(weight, sketch.as_ref(), by_model);
        let is_promising = |by_model| at_most(by_model) >= threshold;
        let closeness = match meaning {
            Some(model) => model.closeness(tx, seq, is_promising)?,
            None => None,
        };
        if is_promising(closeness) {
            promising.push(PromisingPlace {
                seq,
                closeness,
                at_most: at_most(closeness),
            });
        }
    }
    promising.sort_by(|a, b| b.at_most.total_cmp(&a.at_most).then(b.seq.cmp(&a.seq)));
    Ok(promising)
}

/// What the model that the user chose makes of a claim, if a process of this home holds one.
pub(super) struct ModelOnClaim {
    meaning: QuestionMeaning,
    number: EmbeddingModel,
    known: HashMap<u64, f32>,
}

impl ModelOnClaim {
    pub(super) fn of(
        cx: &Context<'_>,
        tx: &Reader<'_>,
        engram: &Engram,
    ) -> Result<Option<Self>, StoreError> {
        let asked = AskedByMeaning {
            project: engram.project,
            text: engram.claim.clone(),
        };
        let Some(meaning) = questions::ask(cx.engine.store.home(), &asked) else {
            return Ok(None);
        };
        let number = Vectors::of(tx).model(&meaning.name, &meaning.version)?;
        Ok(number.map(|number| Self {
            known: meaning.nearest.iter().copied().collect(),
            meaning,
            number,
        }))
    }

    /// The places of the nearest claims, nearest first.
    fn nearest(&self) -> impl Iterator<Item = u64> {
        self.meaning.nearest.iter().map(|it| it.0)
    }

    /// How close a claim is; `None` if the model has not read it, or if it is not among the nearest
    /// and no closeness that it can have is enough.
    fn closeness(
        &self,
        tx: &Reader<'_>,
        seq: u64,
        is_enough: impl Fn(Option<f32>) -> bool,
    ) -> Result<Option<f32>, StoreError> {
        if let Some(closeness) = self.known.get(&seq) {
            return Ok(Some(*closeness));
        }
        // The model named all that it has read, or the nearest of them.
        let Some((_, least)) = self.meaning.nearest.get(NEAREST - 1) else {
            return Ok(None);
        };
        if !is_enough(Some(*least)) && !is_enough(None) {
            return Ok(None);
        }
        let vector = Vectors::of(tx).at(self.number, seq)?;
        let vector = vector.filter(|it| !it.is_empty());
        Ok(vector.map(|it| self.meaning.closeness(&it)))
    }
}

/// A version that shares words with a claim.
pub(super) struct SharingVersion {
    pub(super) seq: u64,
    /// The weight of these words.
    weight: f32,
    /// Its place in the index; `None` if the index has not read it.
    indexed: Option<RelatedVersion>,
}

/// The versions that share words with a claim.
pub(super) struct SharedWords {
    /// The best first.
    pub(super) best: Vec<SharingVersion>,
    /// The most that the weight of a version can lack: that of the words that were not looked up, or
    /// under which not all versions were read.
    left_out: f32,
}

/// The words of a claim, and where else they are.
pub(super) struct SoughtWords<'k> {
    /// The place of the claim itself.
    own: u64,
    keys: &'k [u64],
    claims: &'k KeptClaims,
    related: Option<RelatedVersions>,
    /// How many versions have each word, and how many there are in all.
    pub(super) having: Vec<u64>,
    pub(super) all: u64,
    /// The versions that the index has not read, under each word.
    tail: Vec<Vec<u64>>,
}

impl<'k> SoughtWords<'k> {
    pub(super) fn look_up(
        engine: &'k Engine,
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
            claims,
            related,
            having,
            tail,
        })
    }

    /// The versions that share words with the claim, the best first: under at most `words` of its rarest
    /// words, without those that more than `frequent` versions have, unless it has no rarer one.
    pub(super) fn most_shared(
        &self,
        words: usize,
        frequent: u64,
    ) -> Result<SharedWords, StoreError> {
        let weight = |at: &usize| near::weight(self.having[*at], self.all);
        let mut rarest: Vec<usize> = (0..self.keys.len())
            .filter(|at| self.having[*at] > 0)
            .collect();
        rarest.sort_by_key(|at| self.having[*at]);
        let rare = rarest.iter().filter(|at| self.having[**at] <= frequent);
        let mut left_out = rarest.split_off(rare.count().clamp(1, words).min(rarest.len()));
        let mut shared: HashMap<u64, SharingVersion> = HashMap::new();
        for at in &rarest {
            let key = self.keys[*at];
            let (found, has_more) = match &self.related {
                Some(related) => related.of(key, i64::MAX as u64, MAX_UNDER_WORD)?,
                None => (Vec::new(), false),
            };
            if has_more {
                left_out.push(*at);
            }
            let mut under: HashMap<u64, Option<RelatedVersion>> =
                self.tail[*at].iter().map(|seq| (*seq, None)).collect();
            under.extend(found.into_iter().map(|it| (it.seq, Some(it))));
            under.remove(&self.own);
            for (seq, indexed) in under {
                let sharing = shared.entry(seq).or_insert(SharingVersion {
                    seq,
                    weight: 0.0,
                    indexed,
                });
                sharing.weight += weight(at);
            }
        }
        let mut best: Vec<SharingVersion> = shared.into_values().collect();
        best.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.seq.cmp(&a.seq)));
        Ok(SharedWords {
            best,
            left_out: left_out.iter().map(weight).sum(),
        })
    }

    /// The sketch of each version; `None` if neither the index nor this process has read it.
    fn sketches(&self, of: &[SharingVersion]) -> Result<Vec<Option<ClaimSketch>>, StoreError> {
        let indexed = of.iter().filter_map(|it| it.indexed.as_ref());
        let mut found = match &self.related {
            Some(related) => related.sketches(indexed)?,
            None => Vec::new(),
        }
        .into_iter();
        let sketch = |version: &SharingVersion| match version.indexed {
            Some(_) => found.next().map(|it| ClaimSketch::from_numbers(&it)),
            None => self.claims.sketch_in_tail(version.seq),
        };
        Ok(of.iter().map(sketch).collect())
    }
}
