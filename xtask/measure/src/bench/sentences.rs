//! Sentences about software in which two authors, who never saw each other's words, describe the same
//! things. The pairs are repeated for as many systems as needed; each system has its own names for things.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result};
use serde_json::Value;

/// The shortest word that names a thing.
const SHORTEST: usize = 4;
/// Syllables of the names of systems.
const SYLLABLES: [&str; 12] = [
    "ba", "de", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "ze",
];

pub(super) struct Sentences {
    pairs: Vec<[String; 2]>,
    /// Which pairs contradict each other.
    contradict: Vec<bool>,
    /// In how many pairs each word is, in lower case.
    having: HashMap<String, usize>,
}

impl Sentences {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let file = root.join("crates/consistency/tests/claims/strangers.jsonl");
        let text = fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
        let (mut pairs, mut contradict) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let pair: Value = serde_json::from_str(line)?;
            let side = |name: &str| pair[name].as_str().map(str::to_owned);
            let both = side("a").zip(side("b"));
            pairs.push(both.map(<[String; 2]>::from).context("no sentence")?);
            contradict.push(pair["label"] == "contradiction");
        }
        let mut having = HashMap::new();
        for pair in &pairs {
            let words = pair.iter().flat_map(|it| words_of(it));
            let mut words: Vec<String> = words.map(str::to_lowercase).collect();
            words.sort_unstable();
            words.dedup();
            for word in words {
                *having.entry(word).or_default() += 1;
            }
        }
        Ok(Self {
            pairs,
            contradict,
            having,
        })
    }

    /// Returns the nth claim of a filled home, in the words of one author, so that none contradicts
    /// another.
    pub(super) fn claim(&self, n: usize) -> String {
        self.sentence(n, 0)
    }

    /// Returns a claim about what one of the first `count` claims is about, in the words of the other
    /// author; each n gives another.
    pub(super) fn new_claim(&self, n: usize, count: usize) -> String {
        self.sentence(self.about(n, count), 1)
    }

    /// The claim that the nth call is about. As long as there are sentences, each call gets another
    /// one, of any system: an agent may not repeat what it was shown.
    pub(super) fn about(&self, n: usize, count: usize) -> usize {
        let of = self.pairs.len();
        let (which, system) = (n * 7 % of, n * 31 % count.div_ceil(of));
        let place = system * of + which;
        if place < count { place } else { which }
    }

    /// Whether the nth new claim contradicts the claim that it is about.
    pub(super) fn contradicts(&self, n: usize, count: usize) -> bool {
        self.contradict[self.about(n, count) % self.pairs.len()]
    }

    /// Returns a question about the nth claim: every second one is in the words of the other author.
    pub(super) fn question(&self, n: usize) -> String {
        self.sentence(n, n % 2)
    }

    /// Returns what an author says of the nth thing. A word that only one pair has
    /// counts as the name of a thing, and gets the system's name as a suffix. Names with capitals stay: another
    /// product in its place would contradict.
    pub(super) fn sentence(&self, n: usize, author: usize) -> String {
        let (system, which) = (n / self.pairs.len(), n % self.pairs.len());
        let sentence = &self.pairs[which][author];
        let Some(before) = system.checked_sub(1) else {
            return sentence.clone();
        };
        let name = name_of(before);
        let is_thing = |word: &&str| {
            let is_rare = self.having.get(&word.to_lowercase()) == Some(&1);
            is_rare && word.len() >= SHORTEST && word.bytes().all(|it| it.is_ascii_lowercase())
        };
        let things: Vec<&str> = words_of(sentence).filter(is_thing).collect();
        if things.is_empty() {
            return format!("For {name}: {sentence}");
        }
        let mut said = String::new();
        let mut rest = sentence.as_str();
        for thing in things {
            let (before, after) = rest.split_once(thing).unwrap_or((rest, ""));
            said += before;
            said += thing;
            said += &name;
            rest = after;
        }
        said + rest
    }
}

fn words_of(sentence: &str) -> impl Iterator<Item = &str> {
    let words = sentence.split(|it: char| !it.is_ascii_alphabetic());
    words.filter(|it| !it.is_empty())
}

/// A name of syllables; another for each number.
fn name_of(mut number: usize) -> String {
    let mut name = String::new();
    loop {
        name += SYLLABLES[number % SYLLABLES.len()];
        number /= SYLLABLES.len();
        if number == 0 {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_all_sentences_differ() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let sentences = Sentences::read(&root).unwrap();
        let count = 40 * sentences.pairs.len();
        let mut all: Vec<String> = (0..count).map(|n| sentences.claim(n)).collect();
        println!("{}\n{}", all[count - 1], sentences.sentence(count - 1, 1));
        all.sort_unstable();
        all.dedup();
        assert!(all.len() > count * 99 / 100, "{}", all.len());
    }
}
