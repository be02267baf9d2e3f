//! Ranking. Relevance comes first: the names that were asked for, then words and meaning together
//! (docs/decisions/0026-words-and-meaning-are-added.md). Near ties are ordered by what the claim itself
//! says (not its topic or pointers), scope match, what speaks for it, recency, confidence, pointer
//! overlap and the things that it names, and finally by id. The same input gives the same order,
//! whether a candidate came from the index or from the tail after it.

use std::{
    cmp::{Ordering, Reverse},
    collections::{HashMap, HashSet},
};

use engram_consistency::near::{ClaimSketch, MEANING, SHARED_WORD};
use engram_model::{
    Durability, Engram, Evidence, FactType, HashKeys, RunId, Scope, Spelling, fold,
};
use engram_store::{SearchMatch, SearchTerms, SearchWeights, TermFrequencies, Traits};

use crate::asking::keys::{VersionKeys, hash_of_key};

/// An identifier or file weighs as much as three words of the same rarity.
const EXACT: f64 = 3.0;
/// The share of the whole weight that all runs of neighbouring words can add.
const GRAM: f64 = 0.15;
/// What a term counts that is only in a claim's topic, tags or pointers, which its author may fill at
/// will.
const UNSAID: f64 = 0.5;
/// Candidates below this share of the question's weight are not looked at.
pub(crate) const FLOOR: f64 = 0.05;
/// The same for candidates without a name, where others have one that was asked for, unless the
/// question is long ([`LONG`]).
const FLOOR_BESIDE_NAME: f64 = 0.2;
/// Candidates less relevant than this are noise, unless the question has this many words and they
/// share this much with it, counted as nearness is, by words and the table: a long question says much
/// that no claim says. A model, whose meaning adds more, must find more in proportion.
const NOISE: f64 = 0.2;
const LONG: usize = 6;
const NOT_NOISE: f64 = 0.4;
/// The most that a word in no version may add to the floor, as a multiple of the heaviest known word's
/// weight.
const UNKNOWN: f64 = 1.2;
/// From this share on, an engram is about the question.
const STRONG: f64 = 0.69;

/// The factor for a claim whose evidence was edited since; it may still be true.
const EDITED: f64 = 0.6;
/// The factor for a claim whose evidence is gone.
const GONE: f64 = 0.4;
/// The factor for an ephemeral claim (docs/design.md#durability-and-promotion).
const EPHEMERAL: f64 = 0.6;

/// A number of assumed versions, added to those of every memory. A young memory has too few to tell
/// rare words from common ones. Without this, a word that it lacks ("how *long* are the notes")
/// would outweigh the word that it has.
const YOUNG: f64 = 100.0;

/// Claims whose relevance differs by less than about this, in thousandths, are ordered by the rest.
const BAND: u32 = 20;

/// Weights are whole multiples of 1/1024.
const PARTS: f64 = 1024.0;

/// The weights of a question's terms; rare terms weigh more.
pub(crate) struct TermWeights {
    exact: Vec<u64>,
    words: Vec<u64>,
    /// Their weights follow those of `words`.
    numbers: Vec<u64>,
    grams: Vec<u64>,
    worth: SearchWeights,
    /// The weight of a word that no version has.
    most: f64,
    /// What the meaning of a claim can add.
    meaning: f64,
}

impl TermWeights {
    pub(crate) fn new(
        terms: &SearchTerms,
        found: &TermFrequencies,
        floor: f64,
        meaning: f64,
    ) -> Self {
        let total = found.total as f64 + YOUNG;
        let weigh = |frequencies: &[u64], factor: f64| -> Vec<u64> {
            let rarity = |it: &u64| (1.0 + total / (*it as f64 + 1.0)).ln();
            let weights = frequencies.iter().map(|it| factor * rarity(it) * PARTS);
            weights.map(|it| it.round() as u64).collect()
        };
        let (exact, words) = (weigh(&found.exact, EXACT), weigh(&found.words, 1.0));
        let whole = exact.iter().chain(&words).sum::<u64>() as f64;
        // "How do retries back off" is about retries, though no claim says "back off": a word that no
        // version has raises the floor by little more than the weightiest word that some have.
        let known = words.iter().zip(&found.words).filter(|it| *it.1 > 0);
        let most = UNKNOWN * known.map(|it| *it.0).max().unwrap_or(u64::MAX) as f64;
        let over = |(weight, having): (&u64, &u64)| match having {
            0 => (*weight as f64 - most).max(0.0),
            _ => 0.0,
        };
        let unknown: f64 = words.iter().zip(&found.words).map(over).sum();
        let is_name_known = found.exact.iter().any(|it| *it > 0);
        let floor = if is_name_known && words.len() < LONG {
            floor.max(FLOOR_BESIDE_NAME)
        } else {
            floor
        };
        let floor = floor * (whole - unknown);
        let hashes = |keys: &[String]| keys.iter().map(|it| hash_of_key(it)).collect();
        Self {
            exact: hashes(&terms.exact),
            words: hashes(&terms.words),
            numbers: hashes(&terms.numbers),
            grams: hashes(&terms.grams),
            most: (1.0 + total).ln() * PARTS,
            meaning,
            worth: SearchWeights {
                gram: (GRAM * whole / terms.grams.len().max(1) as f64).round() as u64,
                floor: floor.ceil() as u64,
                exact,
                words,
            },
        }
    }

    /// The weights in the form that recall takes.
    pub(crate) fn worth(&self) -> &SearchWeights {
        &self.worth
    }

    /// Whether a version has a name that was asked for, or enough of the words.
    pub(crate) fn reaches_floor(&self, found: &SearchMatch) -> bool {
        found.exact > 0 || found.words_worth >= self.worth.floor
    }

    /// Returns which terms of the question a version has, in the form of the index, for a version
    /// that the index has not read.
    pub(crate) fn match_version(&self, seq: u64, keys: &VersionKeys) -> SearchMatch {
        let mut found = SearchMatch {
            seq,
            grams: self.grams.iter().filter(|it| keys.has_gram(**it)).count(),
            sketch: keys.sketch.to_numbers(),
            ..SearchMatch::default()
        };
        for (key, worth) in self.exact.iter().zip(&self.worth.exact) {
            if keys.has_exact(*key) {
                found.exact += 1;
                found.exact_worth += worth;
            }
        }
        let words = self.words.iter().map(|it| keys.has_word(*it));
        let words = words.chain(self.numbers.iter().map(|it| keys.has_number(*it)));
        for (_, worth) in words.zip(&self.worth.words).filter(|it| it.0) {
            found.words += 1;
            found.words_worth += worth;
        }
        let terms = self.exact.iter().chain(&self.words).chain(&self.numbers);
        found.said = terms.filter(|it| keys.says(**it)).count();
        found
    }
}

/// Adds a version that the index has not read to the index's counts.
pub(crate) fn count_terms(keys: &VersionKeys, terms: &SearchTerms, found: &mut TermFrequencies) {
    found.exact.resize(terms.exact.len(), 0);
    found
        .words
        .resize(terms.words.len() + terms.numbers.len(), 0);
    found.total += 1;
    for (count, key) in found.exact.iter_mut().zip(&terms.exact) {
        *count += u64::from(keys.has_exact(hash_of_key(key)));
    }
    let words = terms.words.iter().map(|it| keys.has_word(hash_of_key(it)));
    let numbers = terms.numbers.iter();
    let words = words.chain(numbers.map(|it| keys.has_number(hash_of_key(it))));
    for (count, is_there) in found.words.iter_mut().zip(words) {
        *count += u64::from(is_there);
    }
}

/// The alternative spellings of question words that no version contains.
pub(crate) fn unknown_spellings<'s>(
    terms: &SearchTerms,
    found: &TermFrequencies,
    spellings: &'s [Spelling],
) -> Vec<&'s Spelling> {
    let counts: HashMap<&String, u64> = terms
        .words
        .iter()
        .zip(found.words.iter().copied())
        .collect();
    let is_unknown = |word: &String| counts.get(word) == Some(&0);
    let spellings = spellings.iter();
    spellings
        .filter(|it| it.asked.iter().any(is_unknown))
        .collect()
}

/// The terms with words replaced by another spelling that versions contain, according to each
/// `count`; `None` if no spelling is found.
pub(crate) fn respelled_terms(
    terms: &SearchTerms,
    unknown: &[&Spelling],
    count: &[u64],
) -> Option<SearchTerms> {
    let mut words = terms.words.clone();
    for (spelling, count) in unknown.iter().zip(count) {
        if *count > 0 && spelling.asked.iter().all(|word| words.contains(word)) {
            words.retain(|word| !spelling.asked.contains(word));
            words.extend(spelling.other.iter().cloned());
        }
    }
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    (words != terms.words).then(|| SearchTerms {
        words,
        ..terms.clone()
    })
}

/// How near a version is to the question, by what the index knows of it.
pub(crate) struct Relevance {
    /// As a share of a claim that has all its words, its meaning and usual length.
    share: f64,
    /// Share of the weight of the exact terms that it has.
    exact: f64,
    complete: bool,
}

impl Relevance {
    /// The relevance of a version, to which its meaning adds something; `None` if it is noise.
    pub(crate) fn of(found: &SearchMatch, weights: &TermWeights, meaning: f64) -> Option<Self> {
        let worth = &weights.worth;
        let exact = worth.exact.iter().sum::<u64>();
        let whole = exact + worth.words.iter().sum::<u64>();
        let matched = found.exact + found.words;
        let said = portion(found.said as u64, matched as u64);
        let share = portion(found.exact_worth + found.words_worth, whole);
        let share = share * (UNSAID + (1.0 - UNSAID) * said);
        let sketch = ClaimSketch::from_numbers(&found.sketch);
        let near = GRAM * portion(found.grams as u64, weights.grams.len() as u64);
        let in_words = f64::from(SHARED_WORD) * whole as f64 / weights.most;
        // That a claim is short says nothing of words that stand only beside it.
        let bound = if found.said < matched { 1.0 } else { f32::MAX };
        let factor = f64::from(sketch.word_factor().min(bound));
        let sum = in_words * (share * factor + near) + meaning;
        let most = in_words + weights.meaning;
        let relevance = if most > 0.0 { sum / most } else { 0.0 };
        let complete = found.exact == worth.exact.len() && found.words == worth.words.len();
        let heavier = (weights.meaning / f64::from(MEANING)).max(1.0);
        let is_near = weights.worth.words.len() >= LONG && sum >= NOT_NOISE * heavier;
        if found.exact == 0 && relevance < NOISE && !is_near && !complete {
            return None;
        }
        Some(Self {
            share: relevance,
            exact: portion(found.exact_worth, exact),
            complete,
        })
    }
}

/// A candidate with the values that decide its place.
pub(crate) struct RankedEngram {
    pub(crate) seq: u64,
    /// The record, read only if its place among the first depends on it.
    pub(crate) engram: Option<Engram>,
    /// Whether it still holds, or held at the time in question.
    pub(crate) holds: bool,
    /// Whether it has every term of the question.
    pub(crate) complete: bool,
    /// Whether it is about the question, whatever the state of its evidence.
    pub(crate) is_strong: bool,
    /// Whether the state of its evidence was taken into account.
    pub(crate) is_weighed: bool,
    /// Share of the weight of the exact terms that it has, in thousandths.
    exact: u32,
    /// How near it is to the question, in thousandths of a claim that has all its words, its meaning
    /// and usual length.
    relevance: u32,
    /// How many of the terms are in its claim, rather than in its topic, tags or pointers.
    said: usize,
    scope: u8,
    /// How well it is supported.
    support: (bool, u8, u64),
    valid_from: jiff::Timestamp,
    overlap: usize,
}

impl RankedEngram {
    /// Ranks a candidate.
    pub(crate) fn new(
        found: &SearchMatch,
        traits: &Traits,
        relevance: &Relevance,
        run: Option<RunId>,
    ) -> Self {
        let left = match traits.durability {
            Durability::Durable => 1.0,
            Durability::Ephemeral => EPHEMERAL,
        };
        Self {
            seq: traits.seq,
            engram: None,
            holds: true,
            is_weighed: false,
            complete: relevance.complete,
            is_strong: relevance.share >= STRONG,
            exact: thousandths(left * relevance.exact),
            relevance: thousandths(left * relevance.share),
            said: found.said,
            scope: scope_distance(traits, run),
            support: support_of(traits),
            valid_from: traits.valid_from,
            overlap: 0,
        }
    }

    /// Sets whether it still holds, or held at the time in question.
    pub(crate) fn with_state(self, holds: bool) -> Self {
        Self { holds, ..self }
    }

    /// Adds the record.
    pub(crate) fn add_record(&mut self, engram: Engram, asked: &HashKeys) {
        self.overlap = count_mentioned(&engram, asked);
        self.engram = Some(engram);
    }

    /// How well it answers, 0 to 1.
    pub(crate) fn score(&self) -> f64 {
        f64::from(self.relevance.min(1000)) / 1000.0
    }

    /// Takes into account the state of its evidence, and the weight left for its author's claims.
    pub(crate) fn weigh(&mut self, engram: Engram, trust: f64) {
        let left = match engram.health.as_ref().map(|it| it.standing) {
            Some(Evidence::NeedsReverification) => EDITED,
            Some(Evidence::EvidenceGone) => GONE,
            Some(Evidence::Holds | Evidence::Unknown) | None => 1.0,
        };
        for weight in [&mut self.exact, &mut self.relevance] {
            *weight = (f64::from(*weight) * left * trust).round() as u32;
        }
        self.engram = Some(engram);
        self.is_weighed = true;
    }

    /// Orders best first, as far as possible without the records.
    pub(crate) fn cmp_roughly(&self, other: &Self) -> Ordering {
        let key = |it: &Self| {
            (
                Reverse(it.exact),
                Reverse(it.relevance / BAND),
                Reverse(it.said),
                it.scope,
                Reverse(it.support),
                Reverse(it.valid_from),
            )
        };
        key(self).cmp(&key(other))
    }

    /// Orders best first, for candidates whose records were read.
    pub(crate) fn cmp_exactly(&self, other: &Self) -> Ordering {
        self.cmp_roughly(other).then_with(|| {
            let (Some(a), Some(b)) = (&self.engram, &other.engram) else {
                return self.seq.cmp(&other.seq);
            };
            b.confidence
                .total_cmp(&a.confidence)
                .then(other.overlap.cmp(&self.overlap))
                .then(b.entities.len().cmp(&a.entities.len()))
                .then(a.id.cmp(&b.id))
        })
    }
}

/// Makes room among the first `limit` for claims that say something else: one that says the same as a
/// better one, in the same telling words, goes behind those whose records were read.
pub(crate) fn thin_out(ranked: &mut Vec<RankedEngram>, limit: usize) {
    let read = ranked.iter().take_while(|it| it.is_weighed).count();
    if read <= limit {
        return;
    }
    let rest = ranked.split_off(read);
    let mut said = HashSet::new();
    let is_new = |ranked: &RankedEngram| {
        let words = ranked.engram.as_ref().map(|it| telling_words(&it.claim));
        words.is_none_or(|it| said.insert(it))
    };
    let (first, repeated): (Vec<_>, Vec<_>) = ranked.drain(..).partition(is_new);
    ranked.extend(first.into_iter().chain(repeated).chain(rest));
}

/// The words of a claim in their order, without those that change nothing. Negations and values stay:
/// a claim that contradicts another says something else.
fn telling_words(claim: &str) -> Vec<String> {
    const EMPTY: [&str; 9] = ["a", "an", "the", "is", "are", "be", "was", "were", "that"];
    let folded = fold(claim);
    let words = folded.split(|it: char| it.is_whitespace());
    let words = words.map(|it| it.trim_matches(|it: char| ".,;:!?\"'()`".contains(it)));
    let tells = |it: &&str| !it.is_empty() && !EMPTY.contains(it);
    words.filter(tells).map(str::to_owned).collect()
}

fn portion(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn thousandths(share: f64) -> u32 {
    (share * 1000.0).round().clamp(0.0, 10_000.0) as u32
}

/// How close its scope is: the caller's own run first, then its project, then wider.
fn scope_distance(traits: &Traits, run: Option<RunId>) -> u8 {
    match traits.scope {
        Scope::Run if traits.run.is_some() && traits.run == run => 0,
        Scope::Project => 1,
        Scope::Org => 2,
        Scope::Global => 3,
        Scope::Run => 4,
    }
}

/// Whether its evidence resolved, how it came to be known, and how many others said the same.
fn support_of(traits: &Traits) -> (bool, u8, u64) {
    let fact_type = match traits.fact_type {
        FactType::Inference => 0,
        _ => 1,
    };
    (traits.verified, fact_type, traits.corroborations)
}

/// How many of its pointers the query mentions.
fn count_mentioned(engram: &Engram, asked: &HashKeys) -> usize {
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
