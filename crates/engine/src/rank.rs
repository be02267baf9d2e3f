//! Ranking: relevance first, exact identifiers before words; then what the claim itself says (not
//! its topic or pointers), scope match, recency, confidence and pointer overlap break ties, and the
//! id breaks what is left. The same input gives the same order, whether a candidate came from the
//! index or from the tail behind it.

use std::{
    cmp::{Ordering, Reverse},
    collections::HashSet,
};

use engram_model::{Engram, Evidence, HashKeys, Health, RunId, Scope};
use engram_store::{Frequencies, Terms, Worth};

use crate::keys::{KeptKeys, Keys, number};

/// An identifier, number or file weighs as much as three words of the same rarity.
const EXACT: f64 = 3.0;
/// What a run of neighbouring words adds, as a part of a word's weight.
const GRAM: f64 = 0.15;
/// Candidates below this share of the question's weight are noise.
const FLOOR: f64 = 0.2;
/// From this share on, an engram speaks of what was asked.
const STRONG: f64 = 0.6;

/// What is left of a claim's weight when its evidence was edited since: it may be true still.
const EDITED: f64 = 0.6;
/// The same when its evidence is gone.
const GONE: f64 = 0.4;

/// Versions that every memory is taken to hold besides its own. A young memory knows too little to
/// tell rare words from common ones: without this, a word that it lacks ("how *long* are the
/// notes") would outweigh the word that it has.
const YOUNG: f64 = 100.0;

/// How much each term of a question weighs: rare terms more.
pub(crate) struct Weights {
    exact: Vec<(u64, f64)>,
    words: Vec<(u64, f64)>,
    grams: HashSet<u64>,
    total: f64,
}

impl Weights {
    pub(crate) fn new(terms: &Terms, found: &Frequencies) -> Self {
        let of = |at: Option<&u64>| -> f64 { at.map_or(0.0, |it| *it as f64) };
        let total = found.total as f64;
        let weigh = |keys: &[String], frequencies: &[u64], factor: f64| -> Vec<(u64, f64)> {
            let pairs = keys.iter().enumerate();
            pairs
                .map(|(at, key)| {
                    let frequency = of(frequencies.get(at));
                    let rarity = (1.0 + (total + YOUNG) / (frequency + 1.0)).ln();
                    (number(key), factor * rarity)
                })
                .collect()
        };
        let exact = weigh(&terms.exact, &found.exact, EXACT);
        let words = weigh(&terms.words, &found.words, 1.0);
        let total = exact.iter().chain(&words).map(|(_, weight)| weight).sum();
        Self {
            exact,
            words,
            grams: terms.grams.iter().map(|it| number(it)).collect(),
            total,
        }
    }

    /// The same weights as recall takes them.
    pub(crate) fn worth(&self) -> Worth {
        let weights = |terms: &[(u64, f64)]| terms.iter().map(|(_, weight)| *weight).collect();
        Worth {
            exact: weights(&self.exact),
            words: weights(&self.words),
            gram: GRAM * self.total / self.grams.len().max(1) as f64,
        }
    }
}

/// Adds versions that the index has not read to what it counted.
pub(crate) fn count_terms(
    tail: &[Engram],
    terms: &Terms,
    found: &mut Frequencies,
    kept: &KeptKeys,
) {
    found.exact.resize(terms.exact.len(), 0);
    found.words.resize(terms.words.len(), 0);
    let numbers = |keys: &[String]| keys.iter().map(|it| number(it)).collect::<Vec<u64>>();
    let (exact, words) = (numbers(&terms.exact), numbers(&terms.words));
    for engram in tail.iter().filter(|it| !it.redacted) {
        let keys = kept.of(engram);
        found.total += 1;
        for (at, key) in exact.iter().enumerate() {
            found.exact[at] += u64::from(keys.has_exact_or_concept(*key));
        }
        for (at, key) in words.iter().enumerate() {
            found.words[at] += u64::from(keys.has_word(*key));
        }
    }
}

/// A candidate with what decided its place.
pub(crate) struct Ranked {
    pub(crate) engram: Engram,
    /// Whether it has every term of the question.
    pub(crate) complete: bool,
    /// Share of the weight of the exact terms that it has, in thousandths.
    exact: u32,
    /// Share of the whole weight that it has, in thousandths; neighbouring words add to it.
    relevance: u32,
    /// How many of the terms its claim says, rather than its topic, tags or pointers.
    said: usize,
    scope: u8,
    overlap: usize,
    /// Whether it speaks of what was asked, however its evidence stands.
    is_strong: bool,
}

impl Ranked {
    /// Whether it speaks of what was asked, however its evidence stands.
    pub(crate) fn is_strong(&self) -> bool {
        self.is_strong
    }

    /// Takes in how its evidence stands.
    pub(crate) fn weigh(&mut self, health: Option<Health>) {
        let left = match health.as_ref().map(|it| it.standing) {
            Some(Evidence::NeedsReverification) => EDITED,
            Some(Evidence::EvidenceGone) => GONE,
            Some(Evidence::Holds | Evidence::Unknown) | None => 1.0,
        };
        for weight in [&mut self.exact, &mut self.relevance] {
            *weight = (f64::from(*weight) * left).round() as u32;
        }
        self.engram.health = health;
    }
}

/// Puts candidates whose weight changed in their order.
pub(crate) fn reorder(ranked: &mut [Ranked]) {
    ranked.sort_by(order);
}

/// Orders candidates, best first, and drops what only shares a common word.
pub(crate) fn rank(
    engrams: Vec<Engram>,
    asked: &HashKeys,
    weights: &Weights,
    run: Option<RunId>,
    kept: &KeptKeys,
) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = engrams
        .into_iter()
        .filter_map(|engram| {
            let keys = kept.of(&engram);
            score(engram, &keys, asked, weights, run)
        })
        .collect();
    ranked.sort_by(order);
    ranked
}

fn order(a: &Ranked, b: &Ranked) -> Ordering {
    let key = |it: &Ranked| {
        (
            Reverse(it.exact),
            Reverse(it.relevance),
            Reverse(it.said),
            it.scope,
            Reverse(it.engram.valid_from),
        )
    };
    key(a)
        .cmp(&key(b))
        .then(b.engram.confidence.total_cmp(&a.engram.confidence))
        .then(b.overlap.cmp(&a.overlap))
        .then(a.engram.id.cmp(&b.engram.id))
}

fn score(
    engram: Engram,
    keys: &Keys,
    asked: &HashKeys,
    weights: &Weights,
    run: Option<RunId>,
) -> Option<Ranked> {
    let sum = |terms: &[(u64, f64)], has: &dyn Fn(u64) -> bool| -> (f64, usize) {
        terms
            .iter()
            .filter(|(key, _)| has(*key))
            .fold((0.0, 0), |(weight, count), (_, it)| {
                (weight + it, count + 1)
            })
    };
    let (exact_weight, exact_count) = sum(&weights.exact, &|it| keys.has_exact(it));
    let (words_weight, words_count) = sum(&weights.words, &|it| keys.has_word(it));
    let share = (exact_weight + words_weight) / weights.total.max(f64::MIN_POSITIVE);
    if share < FLOOR && exact_count == 0 {
        return None;
    }
    let neighbours = weights
        .grams
        .iter()
        .filter(|it| keys.has_gram(**it))
        .count();
    let near = GRAM * neighbours as f64 / weights.grams.len().max(1) as f64;
    let exact_total: f64 = weights.exact.iter().map(|(_, weight)| weight).sum();
    let all_exact = exact_count == weights.exact.len();
    // Most of the weight, or all that was named exactly and a good part of the rest.
    let is_strong =
        share + near >= STRONG || (all_exact && exact_count > 0 && share + near >= STRONG * 0.6);
    Some(Ranked {
        complete: exact_count == weights.exact.len() && words_count == weights.words.len(),
        exact: thousandths(exact_weight / exact_total.max(f64::MIN_POSITIVE)),
        relevance: thousandths(share + near),
        said: said(keys, weights),
        scope: closeness(&engram, run),
        overlap: overlap(&engram, asked),
        is_strong,
        engram,
    })
}

fn said(keys: &Keys, weights: &Weights) -> usize {
    let terms = weights.exact.iter().chain(&weights.words);
    terms.filter(|(key, _)| keys.says(*key)).count()
}

fn thousandths(share: f64) -> u32 {
    (share * 1000.0).round().clamp(0.0, 10_000.0) as u32
}

/// The caller's own run, then its project, then wider.
fn closeness(engram: &Engram, run: Option<RunId>) -> u8 {
    match engram.scope {
        Scope::Run if engram.run.is_some() && engram.run == run => 0,
        Scope::Project => 1,
        Scope::Org => 2,
        Scope::Global => 3,
        Scope::Run => 4,
    }
}

/// How many of its pointers the question speaks of.
fn overlap(engram: &Engram, asked: &HashKeys) -> usize {
    engram
        .pointers
        .iter()
        .filter(|pointer| {
            let name = pointer.name().to_lowercase();
            asked.files.iter().any(|file| name.ends_with(file.as_str()))
                || asked.words.iter().any(|word| name.contains(word.as_str()))
        })
        .count()
}
