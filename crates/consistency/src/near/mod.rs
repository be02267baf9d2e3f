//! Nearness: how likely two claims are about the same thing, whatever they say about it. Values are
//! left out, so claims that differ in a number alone are as near as can be.
//!
//! Two figures are added: the words that both claims share, as BM25 weighs them, and how close the
//! meanings of all their words are in a table of word vectors. A rare word counts for more than a
//! frequent one.

mod sketch;
mod table;

use engram_model::is_stop_word;

use crate::claim::{stem, unit};

pub use sketch::ClaimSketch;
use table::{COLUMNS, Row};

/// The most words of a text that are read. A claim has at most a hundred.
const MAX_WORDS: usize = 128;
/// Claims less near than this are not proposed (docs/accuracy.md says what that finds).
pub const NEAR: f32 = 0.5;
/// The weight of meanings.
pub const MEANING: f32 = 0.5;
/// The weight of meanings that a model compared.
pub const MEANING_BY_MODEL: f32 = 2.0;
/// The highest weight of a shared word, in a claim of usual length.
pub const SHARED_WORD: f32 = 1.0 / 3.3;
/// The sum of both weights that [`NEAR`] stands for, with meanings by the table and by a model.
const ENOUGH: f32 = 0.75;
const ENOUGH_BY_MODEL: f32 = 1.3;
/// How soon more of a long claim's words must be shared (the b of BM25), and the most that a word of
/// a short claim can weigh (its k1).
const LENGTH: f32 = 0.75;
const SATURATION: f32 = 1.2;
/// The words of a claim of usual length, without values.
const USUAL_WORDS: f32 = 9.0;
/// How many claims a home is assumed to have in addition: a new one has too few to tell rare words from
/// common ones.
const YOUNG: f32 = 100.0;
/// Pieces up to about this rank of the table are so frequent that they say little.
const FREQUENT: f32 = 300.0;
/// The rank of the rarest pieces.
const RAREST: f32 = 29_528.0;
/// By how much the exact closeness may exceed that of a sketch, which weighs words as they weigh in
/// general.
const SKETCH_ERROR: f32 = 0.25;

/// What a claim is about: its words, without values.
#[derive(Clone, Debug, Default)]
pub struct Gist {
    words: Vec<GistWord>,
}

#[derive(Clone, Debug)]
struct GistWord {
    stem: String,
    rows: Vec<Row>,
    /// How rare the word is in general, from 0 to 1.
    rarity: f32,
}

impl Gist {
    /// Reads a claim.
    pub fn of(claim: &str) -> Self {
        let mut words: Vec<GistWord> = Vec::new();
        for word in words_of(claim).take(MAX_WORDS) {
            let stem = stem(&word);
            if words.iter().any(|it| it.stem == stem) {
                continue;
            }
            let rows = table::rows_of(&word);
            let rarity = match rows.as_slice() {
                [row] => {
                    (1.0 + f32::from(row.rank()) / FREQUENT).ln() / (1.0 + RAREST / FREQUENT).ln()
                }
                _ => 1.0,
            };
            words.push(GistWord { stem, rows, rarity });
        }
        Self { words }
    }

    /// Whether another claim has the same words, so that the two differ in nothing but values and
    /// order.
    pub fn has_same_words(&self, other: &Self) -> bool {
        let has = |word: &GistWord| other.words.iter().any(|it| it.stem == word.stem);
        self.words.len() == other.words.len() && self.words.iter().all(has)
    }

    /// The stems of its words, each once.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|it| it.stem.as_str())
    }
}

/// The weight of a word that `having` of `all` claims contain.
pub fn weight(having: u64, all: u64) -> f32 {
    (1.0 + (all as f32 + YOUNG) / (0.5 + having as f32)).ln()
}

/// A claim whose neighbours are sought.
pub struct Sought<'g> {
    gist: &'g Gist,
    /// The weight of each word.
    weights: Vec<f32>,
    /// The highest weight that a word can have.
    most: f32,
    meaning: [f32; COLUMNS],
    sketch: ClaimSketch,
}

impl<'g> Sought<'g> {
    /// Weighs the words of a claim by how many of `all` claims have each of them, in the order of
    /// [`Gist::stems`].
    pub fn new(gist: &'g Gist, having: &[u64], all: u64) -> Self {
        let weights = having.iter().map(|it| weight((*it).max(1), all)).collect();
        Self::weighed(gist, weights, weight(1, all))
    }

    /// Weighs the words of a claim by how rare they are in general, without a home.
    pub fn without_home(gist: &'g Gist) -> Self {
        let weights = gist.words.iter().map(|it| it.rarity).collect();
        Self::weighed(gist, weights, 1.0)
    }

    fn weighed(gist: &'g Gist, weights: Vec<f32>, most: f32) -> Self {
        let words = gist.words.iter().zip(weights.iter().copied());
        Self {
            meaning: meaning(words),
            sketch: ClaimSketch::of_gist(gist),
            gist,
            weights,
            most,
        }
    }

    /// How near another claim is, from 0 to 1.
    pub fn nearness(&self, other: &Gist) -> f32 {
        self.nearness_by(other, None)
    }

    /// The same with the closeness of both meanings by a model, from 0 to 1, instead of the table's.
    pub fn nearness_by(&self, other: &Gist, model: Option<f32>) -> f32 {
        let weight_here = |stem: &str| {
            let mut both = self.gist.words.iter().zip(&self.weights);
            both.find(|it| it.0.stem == stem).map(|it| *it.1)
        };
        let mut shared = 0.0;
        let there: Vec<(&GistWord, f32)> = other
            .words
            .iter()
            .map(|word| match weight_here(&word.stem) {
                Some(weight) => {
                    shared += weight / self.most;
                    (word, weight)
                }
                None => (word, word.rarity * self.most),
            })
            .collect();
        let by_table = || {
            let meaning = meaning(there.iter().copied());
            self.closeness_to(meaning.into_iter())
        };
        let closeness = model.unwrap_or_else(by_table);
        self.add_up(shared, there.len(), closeness, model.is_some())
    }

    /// An upper bound of [`Sought::nearness_by`] for a claim that was not read, from its sketch or its
    /// closeness by a model. `shared` must be at least the weight of the words that both have.
    pub fn nearness_at_most(
        &self,
        shared: f32,
        sketch: Option<&ClaimSketch>,
        model: Option<f32>,
    ) -> f32 {
        let by_table = || match sketch {
            // A word that most claims of this home have counts for less here than in sketches.
            Some(sketch) => {
                let in_general = self.sketch.closeness(sketch);
                let closeness = in_general.max(self.closeness_to(sketch.directions()));
                (closeness + SKETCH_ERROR).min(1.0)
            }
            None => 1.0,
        };
        let closeness = model.unwrap_or_else(by_table);
        let words = sketch.map_or(1, ClaimSketch::words);
        let most = shared.min(self.weights.iter().sum());
        self.add_up(most / self.most, words, closeness, model.is_some())
    }

    /// Whether a claim that was not read has the same words ([`Gist::has_same_words`]), by its sketch.
    pub fn has_same_words(&self, sketch: &ClaimSketch) -> bool {
        self.sketch.has_same_words(sketch)
    }

    /// How close a meaning by the table is, from 0 to 1.
    fn closeness_to(&self, meaning: impl Iterator<Item = f32>) -> f32 {
        let both = self.meaning.iter().zip(meaning);
        both.map(|(a, b)| a * b).sum::<f32>().max(0.0)
    }

    /// The nearness of a claim of so many words, by the weight of those that both have and the
    /// closeness of the meanings.
    fn add_up(&self, shared: f32, words_there: usize, closeness: f32, is_by_model: bool) -> f32 {
        let (of_meaning, enough) = if is_by_model {
            (MEANING_BY_MODEL, ENOUGH_BY_MODEL)
        } else {
            (MEANING, ENOUGH)
        };
        // In words of both claims, so that either order gives the same.
        let mean = (self.weights.len() + words_there) as f32 / 2.0;
        let sum = SHARED_WORD * shared * weight_at_length(mean) + of_meaning * closeness;
        sum / (sum + enough)
    }
}

/// The factor for the shared words of a claim of this many words, as in BM25; 1 for a usual one.
fn weight_at_length(words: f32) -> f32 {
    let length = 1.0 - LENGTH + LENGTH * words / USUAL_WORDS;
    (1.0 + SATURATION) / (1.0 + SATURATION * length)
}

/// The mean vector of some words, of length 1; zero if the table knows none of them.
fn meaning<'w>(words: impl Iterator<Item = (&'w GistWord, f32)>) -> [f32; COLUMNS] {
    let mut sum = [0.0; COLUMNS];
    for (word, weight) in words {
        word.rows.iter().for_each(|it| it.add_to(&mut sum, weight));
    }
    let length = sum.iter().map(|it| it * it).sum::<f32>().sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|it| *it /= length);
    }
    sum
}

/// The words of a text in lower case, and the parts of its identifiers, without stop words.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|it: char| !it.is_alphabetic());
    parts.flat_map(parts_of).filter(|it| !is_stop_word(it))
}

/// Splits `camelCase` and `HTTPServer`, but not `MiB`.
fn parts_of(word: &str) -> Vec<String> {
    if unit(word).is_some() {
        return vec![word.to_lowercase()];
    }
    let chars: Vec<char> = word.chars().collect();
    let mut parts = vec![String::new()];
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| chars.get(it));
        let follows_lower = before.is_some_and(|it| it.is_lowercase());
        let begins = c.is_uppercase()
            && (follows_lower
                || (before.is_some() && chars.get(at + 1).is_some_and(|it| it.is_lowercase())));
        if begins {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|it| !it.is_empty());
    parts
}
