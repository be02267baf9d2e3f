//! A sketch of a claim: what an index keeps to tell how near the claim is to a question.

use std::hash::Hasher;

use fnv::FnvHasher;

use super::{COLUMNS, Gist, meaning, weight_at_length};

/// How many words a claim has, which, and what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimSketch {
    words: u8,
    /// The same for claims of the same words in whatever order, and hardly ever for others. 56 bits.
    signature: u64,
    /// A vector of length 127, or zero if the table knows none of the words.
    meaning: [i8; COLUMNS],
}

impl Default for ClaimSketch {
    fn default() -> Self {
        Self {
            words: 0,
            signature: 0,
            meaning: [0; COLUMNS],
        }
    }
}

impl ClaimSketch {
    /// Sketches a claim or a question. Words weigh what they weigh in general, so that a sketch does
    /// not depend on the home.
    pub fn of(text: &str) -> Self {
        Self::of_gist(&Gist::of(text))
    }

    /// Sketches what was read of a text.
    pub fn of_gist(gist: &Gist) -> Self {
        let words = gist.words.iter().map(|it| (it, it.rarity));
        Self {
            words: gist.words.len().min(usize::from(u8::MAX)) as u8,
            signature: gist.stems().map(hash).fold(0, u64::wrapping_add) >> 8,
            meaning: meaning(words).map(|it| (it * 127.0).round() as i8),
        }
    }

    /// The sketch as an index stores it: nine numbers.
    pub fn to_numbers(self) -> Vec<u64> {
        let eight = |part: &[i8]| {
            let byte = |sum: u64, it: &i8| sum << 8 | u64::from(it.cast_unsigned());
            part.iter().fold(0, byte)
        };
        let meaning = self.meaning.chunks(8).map(eight);
        std::iter::once(self.signature << 8 | u64::from(self.words))
            .chain(meaning)
            .collect()
    }

    /// Reads what [`ClaimSketch::to_numbers`] wrote; an empty sketch from anything else.
    pub fn from_numbers(numbers: &[u64]) -> Self {
        let Some((first, meaning)) = numbers.split_first() else {
            return Self::default();
        };
        let mut sketch = Self {
            words: (first & 0xff) as u8,
            signature: first >> 8,
            ..Self::default()
        };
        let bytes = meaning.iter().flat_map(|it| it.to_be_bytes());
        for (number, byte) in sketch.meaning.iter_mut().zip(bytes) {
            *number = byte.cast_signed();
        }
        sketch
    }

    /// Whether both are of the same words, in whatever order.
    pub fn has_same_words(&self, other: &Self) -> bool {
        (self.words, self.signature) == (other.words, other.signature)
    }

    /// Whether the table knows any of its words.
    pub fn has_meaning(&self) -> bool {
        self.meaning.iter().any(|it| *it != 0)
    }

    /// How many words it has.
    pub(super) fn words(&self) -> usize {
        usize::from(self.words)
    }

    /// What it means, as a vector of length 1.
    pub(super) fn directions(&self) -> impl Iterator<Item = f32> {
        self.meaning.iter().map(|it| f32::from(*it) / 127.0)
    }

    /// How close the meanings of two texts are, from 0 to 1.
    pub fn closeness(&self, other: &Self) -> f32 {
        let both = self.meaning.iter().zip(&other.meaning);
        let sum: i32 = both.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        (sum as f32 / (127.0 * 127.0)).clamp(0.0, 1.0)
    }

    /// The factor for each word that a question shares with the claim: a word says more of a short
    /// claim. 1 for a claim of usual length.
    pub fn word_factor(&self) -> f32 {
        weight_at_length(f32::from(self.words))
    }
}

/// A hash that is the same in every build, because an index stores it.
fn hash(stem: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(stem.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_words_have_the_same_signature() {
        let relay = ClaimSketch::of("The relay retries 3 times.");
        let same = |text| relay.has_same_words(&ClaimSketch::of(text));
        assert!(same("9 times the relay retried."));
        assert!(!same("The relay retries."));
        assert!(!same("The relay restarts 3 times."));
        let stored = ClaimSketch::from_numbers(&relay.to_numbers());
        assert!(stored.has_same_words(&relay));
        assert!(!ClaimSketch::default().has_same_words(&relay));
    }

    #[test]
    fn a_sketch_is_stored_and_read_as_it_was() {
        for text in [
            "",
            "The relay retries three times.",
            "\u{1F980} \0",
            &"word ".repeat(5_000),
        ] {
            let sketch = ClaimSketch::of(text);
            assert_eq!(
                ClaimSketch::from_numbers(&sketch.to_numbers()),
                sketch,
                "{text}"
            );
        }
        let [relay, other] = ["The relay retries.", "Nine green bottles"].map(ClaimSketch::of);
        assert!(relay.closeness(&relay) > 0.98 && relay.closeness(&other) < 0.5);
        assert!(
            relay.word_factor()
                > ClaimSketch::of(&"one two three four five six seven eight".repeat(3))
                    .word_factor()
        );
        for strange in [&[][..], &[u64::MAX], &[u64::MAX; 40]] {
            assert!((0.0..=1.0).contains(&ClaimSketch::from_numbers(strange).closeness(&relay)));
        }
    }
}
