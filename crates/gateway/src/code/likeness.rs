//! Scores how much a text reads like code, in any language. Each word and each sign has a weight
//! for code or for prose, by its shape and by what it follows; a stretch with a high enough sum is
//! code.
//!
//! The weights in `likeness.tsv` are log-odds fitted to code of 650 languages and to the paragraphs
//! of commit messages and documents (`examples/fit.rs` writes the file; `docs/accuracy.md` reports
//! the accuracy).

use std::{collections::HashMap, sync::LazyLock};

/// The least sum of a stretch of code, in log-odds. `docs/accuracy.md` says how many real sentences
/// reach it.
const CODE: f32 = 14.0;

/// The most times a word counts for code within the last [`LATELY`] such words, since mere
/// repetition is not code.
const OFTEN: usize = 3;
/// The number of words in which repetitions are counted.
const LATELY: usize = 16;

/// The longest word that has a weight of its own, in bytes.
const MAX_WORD: usize = 10;

/// A word or a sign of a text.
struct Token<'a> {
    text: &'a str,
    /// Its position, in bytes.
    start: usize,
    before: Before,
    shape: usize,
}

/// What separates a token from the one before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Space,
    Line,
}

/// Counts the characters of the stretches that read like code.
pub(super) fn code_chars(text: &str) -> usize {
    let tokens = tokens(text);
    let counts = weights_of(&tokens);
    let chars = |(from, to): (usize, usize)| {
        let end = tokens[to].start + tokens[to].text.len();
        text[tokens[from].start..end].chars().count()
    };
    stretches(&tokens, &counts).into_iter().map(chars).sum()
}

/// Returns the weight of each token: of its shape, of the pair with the token before, and of the
/// word itself.
fn weights_of(tokens: &[Token<'_>]) -> Vec<f32> {
    let mut previous = None;
    let mut count = |token: &Token<'_>| {
        let pair = pair_of(previous, token);
        previous = Some(token.shape);
        let may_count = token.shape < NAMED.len() && token.text.len() <= MAX_WORD;
        let word = may_count.then(|| WEIGHTS.words.get(token.text).copied());
        WEIGHTS.shapes[token.shape] + WEIGHTS.pairs[pair] + word.flatten().unwrap_or_default()
    };
    tokens.iter().map(&mut count).collect()
}

/// The number of a pair of shapes and what separates them.
fn pair_of(previous: Option<usize>, token: &Token<'_>) -> usize {
    (previous.unwrap_or_default() * SHAPES + token.shape) * 3 + token.before as usize
}

/// The features of each token of a text, as written in `likeness.tsv`: its shape, the pair, and `=`
/// with the word.
pub fn code_features(text: &str) -> Vec<Vec<String>> {
    let mut previous = String::new();
    let mut features = |token: &Token<'_>| {
        let shape = name_of(token.shape);
        let pair = format!("{previous}{}{shape}", BETWEEN[token.before as usize]);
        let mut features = vec![shape.clone(), pair];
        if token.shape < NAMED.len() {
            features.push(format!("={}", token.text));
        }
        previous = shape;
        features
    };
    tokens(text).iter().map(&mut features).collect()
}

/// Returns the first and last token of each stretch whose sum is high enough, with no stretch
/// longer than necessary.
fn stretches(tokens: &[Token<'_>], counts: &[f32]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let (mut sum, mut from, mut best, mut last) = (0.0, 0, 0.0, 0);
    for (at, (token, counts)) in tokens.iter().zip(counts).enumerate() {
        if sum <= 0.0 {
            (sum, from, best) = (0.0, at, 0.0);
            seen.clear();
        }
        let repeats = *counts > 0.0 && token.shape < NAMED.len() && {
            seen.push(token.text);
            let lately = seen.iter().rev().take(LATELY);
            lately.filter(|it| **it == token.text).count() > OFTEN
        };
        if !repeats {
            sum += counts;
        }
        if sum > best {
            (best, last) = (sum, at);
        }
        if sum <= 0.0 || sum < best - CODE || at + 1 == tokens.len() {
            if best >= CODE {
                found.push((from, last));
            }
            sum = 0.0;
        }
    }
    found
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 3);
    let mut before = Before::Line;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c == '\n' {
            before = Before::Line;
            continue;
        }
        if c.is_whitespace() {
            if before == Before::Nothing {
                before = Before::Space;
            }
            continue;
        }
        let mut end = start + c.len_utf8();
        while of_word(c)
            && let Some((at, next)) = chars.next_if(|it| of_word(it.1))
        {
            end = at + next.len_utf8();
        }
        tokens.push(Token {
            text: &text[start..end],
            start,
            before,
            shape: shape_of(&text[start..end]),
        });
        before = Before::Nothing;
    }
    tokens
}

fn of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric())
}

/// The shapes with a name: nothing, signs beyond ASCII, and words.
#[rustfmt::skip]
const NAMED: [&str; 18] = [
    "", "~", "é", "0", "000", "hash", "a_b", "A_B", "a1", "a", "ab", "abcd", "abcdefgh", "Ab", "aB", "A1", "A", "AB",
];
/// The number of shapes; each ASCII sign is its own shape.
const SHAPES: usize = 128;
/// What separates a token from the one before, as written in features.
const BETWEEN: [char; 3] = ['·', '␣', '⏎'];

fn name_of(shape: usize) -> String {
    match NAMED.get(shape) {
        Some(name) => (*name).to_owned(),
        None => char::from_u32(shape as u32)
            .map(String::from)
            .unwrap_or_default(),
    }
}

/// The shape of a token without its particular letters and digits: an index in [`NAMED`], or the
/// sign.
fn shape_of(token: &str) -> usize {
    let bytes = token.as_bytes();
    let first = bytes.first().copied().unwrap_or_default();
    if !token.is_ascii() {
        let is_word = token.chars().next().is_some_and(of_word);
        return if is_word { 2 } else { 1 };
    }
    if !of_word(first.into()) {
        return first.into();
    }
    let (mut lower, mut upper, mut digit, mut hex, mut joined) = (0, 0, 0, 0, false);
    for byte in bytes {
        lower += usize::from(byte.is_ascii_lowercase());
        upper += usize::from(byte.is_ascii_uppercase());
        digit += usize::from(byte.is_ascii_digit());
        hex += usize::from(byte.is_ascii_hexdigit());
        joined |= *byte == b'_';
    }
    if digit == bytes.len() {
        if digit < 3 { 3 } else { 4 }
    } else if digit > 0 && bytes.len() >= 7 && hex == bytes.len() {
        5
    } else if joined {
        if lower > 0 { 6 } else { 7 }
    } else if upper == 0 && digit > 0 {
        8
    } else if upper == 0 {
        match lower {
            1 => 9,
            2..=3 => 10,
            4..=7 => 11,
            _ => 12,
        }
    } else if lower > 0 {
        let is_name = upper == 1 && digit == 0 && first.is_ascii_uppercase();
        if is_name { 13 } else { 14 }
    } else if digit > 0 {
        15
    } else if upper == 1 {
        16
    } else {
        17
    }
}

/// The weight of each feature, above 0 for code.
struct Weights {
    shapes: Vec<f32>,
    pairs: Vec<f32>,
    words: HashMap<&'static str, f32>,
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    let mut weights = Weights {
        shapes: vec![0.0; SHAPES],
        pairs: vec![0.0; SHAPES * SHAPES * BETWEEN.len()],
        words: HashMap::new(),
    };
    for line in include_str!("likeness.tsv").lines() {
        if let Some((counts, feature)) = line.split_once('\t')
            && let Ok(counts) = counts.parse()
        {
            weights.add(feature, counts);
        }
    }
    weights
});

impl Weights {
    fn add(&mut self, feature: &'static str, counts: f32) {
        let shape = |name: &str| {
            let named = NAMED.iter().position(|it| *it == name);
            named.unwrap_or_else(|| name.bytes().next().unwrap_or_default().into())
        };
        if let Some((at, between)) = feature.char_indices().find(|it| BETWEEN.contains(&it.1)) {
            let previous = shape(&feature[..at]);
            let after = shape(&feature[at + between.len_utf8()..]);
            let between = BETWEEN.iter().position(|it| *it == between);
            let number = (previous * SHAPES + after) * 3 + between.unwrap_or_default();
            self.pairs[number] = counts;
        } else if feature.len() > 1
            && let Some(word) = feature.strip_prefix('=')
        {
            self.words.insert(word, counts);
        } else {
            self.shapes[shape(feature)] = counts;
        }
    }
}
