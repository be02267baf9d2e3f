//! Fits the weight of each feature of a text, and counts how many texts are taken for code.
//!
//! `cargo run --release -p engram-gateway --example fit -- CODE PROSE` writes the new
//! `src/code/likeness.tsv` to standard output; `... --example fit -- FILE` counts the texts of a
//! file that are taken for code, and prints those that are not, or with `--taken` those that are.
//! Each line of a file is an object with a `text`. Never part of the product.

use std::collections::HashMap;

use engram_gateway::{code_chars, code_features};

/// The fewest and most tokens of the stretches used for fitting: about as long as those to be
/// classified.
const SHORTEST: usize = 6;
const MAX_LENGTH: usize = 31;
const STEPS: usize = 4_000_000;
const RATE: f32 = 0.03;
/// How fast weights shrink towards zero, as a part of the rate.
const SHRINK: f32 = 0.0002;
const HIGHEST: f32 = 2.5;
/// How often a feature must occur, and the least weight, to be kept.
const SEEN: u32 = 150;
const LEAST: f32 = 0.1;
/// The number of words with a weight of their own: the most frequent ones.
const WORDS: usize = 200;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [file] => count(file, false),
        [file, "--taken"] | ["--taken", file] => count(file, true),
        [code, prose] => fit(&texts(code), &texts(prose)),
        _ => eprintln!("CODE PROSE, or FILE [--taken]"),
    }
}

fn texts(file: &str) -> Vec<String> {
    let text = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        value["text"].as_str().map(str::to_owned)
    };
    let content = std::fs::read_to_string(file).unwrap_or_default();
    content.lines().filter_map(text).collect()
}

fn count(file: &str, taken: bool) {
    let texts = texts(file);
    let code: Vec<_> = texts.iter().filter(|it| code_chars(it) > 0).collect();
    for text in texts.iter().filter(|it| (code_chars(it) > 0) == taken) {
        println!("{text:?}");
    }
    println!("{} of {} are taken for code", code.len(), texts.len());
}

/// The feature numbers of each token of a text, and whether the text is code.
type Sample = (Vec<Vec<usize>>, f32);

#[derive(Default)]
struct Features {
    numbers: HashMap<String, usize>,
    seen: Vec<u32>,
}

impl Features {
    fn number(&mut self, feature: String) -> usize {
        let next = self.numbers.len();
        let number = *self.numbers.entry(feature).or_insert(next);
        self.seen.resize(self.numbers.len(), 0);
        self.seen[number] += 1;
        number
    }

    /// Returns whether each feature counts: words only if they are among the most frequent.
    fn counted(&self) -> Vec<bool> {
        let is_word =
            |it: &str| it.len() > 1 && it.starts_with('=') && !it.contains(['·', '␣', '⏎']);
        let mut words: Vec<_> = self.numbers.iter().filter(|it| is_word(it.0)).collect();
        words.sort_by_key(|(name, number)| (std::cmp::Reverse(self.seen[**number]), *name));
        let mut counted: Vec<bool> = self.seen.iter().map(|it| *it >= SEEN).collect();
        let figures = |it: &str| it[1..].bytes().all(|it| it.is_ascii_digit());
        let (figures, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|it| figures(it.0));
        for (_, number) in figures.into_iter().chain(words.into_iter().skip(WORDS)) {
            counted[*number] = false;
        }
        counted
    }
}

/// Fits a logistic regression over stretches of texts, by stochastic gradient descent; the same
/// texts always give the same result.
fn fit(code: &[String], prose: &[String]) {
    let mut features = Features::default();
    let mut samples: Vec<Vec<Sample>> = Vec::new();
    for (texts, is_code) in [(code, 1.0), (prose, 0.0)] {
        let mut sample = |text: &String| {
            let rows = code_features(text).into_iter();
            let rows = rows.map(|row| row.into_iter().map(|it| features.number(it)).collect());
            (rows.collect(), is_code)
        };
        let of_length = |it: &Sample| it.0.len() >= SHORTEST;
        samples.push(texts.iter().map(&mut sample).filter(of_length).collect());
    }
    let counted = features.counted();
    let rows = samples.iter_mut().flatten().flat_map(|it| &mut it.0);
    rows.for_each(|row| row.retain(|it| counted[*it]));
    let mut weights = vec![0f32; counted.len()];
    let mut chance = Chance(42);
    for step in 0..STEPS {
        let of_kind = &samples[step % 2];
        let (rows, is_code) = &of_kind[chance.below(of_kind.len())];
        let length = (SHORTEST + chance.below(MAX_LENGTH - SHORTEST + 1)).min(rows.len());
        let at = chance.below(rows.len() - length + 1);
        let rate = RATE / (1.0 + 4.0 * step as f32 / STEPS as f32);
        descend(&mut weights, &rows[at..at + length], *is_code, rate);
    }
    let mut kept: Vec<(&String, f32)> = features
        .numbers
        .iter()
        .map(|(name, number)| (name, weights[*number]))
        .filter(|it| it.1.abs() >= LEAST)
        .collect();
    kept.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    for (name, weight) in kept {
        println!("{weight:.2}\t{name}");
    }
}

fn descend(weights: &mut [f32], rows: &[Vec<usize>], is_code: f32, rate: f32) {
    let sum: f32 = rows.iter().flatten().map(|it| weights[*it]).sum();
    let error = 1.0 / (1.0 + (-sum).exp()) - is_code;
    for number in rows.iter().flatten() {
        let weight = &mut weights[*number];
        *weight -= error * rate;
        *weight -= weight.clamp(-SHRINK * rate, SHRINK * rate);
        *weight = weight.clamp(-HIGHEST, HIGHEST);
    }
}

/// Pseudo-random numbers, always the same.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }
}
