//! Hash keys (docs/design.md#hash-keys): the keys by which a claim is found. The same text always
//! has the same keys.
//!
//! Identifiers yield themselves and their parts (`camelCase`, `snake_case`, `a::b`), file names
//! their path and base name, words their English stem, and runs of two to five words n-grams. A run
//! ends at the end of the claim, of a referenced file, of a folder of the topic, or of a tag.

use std::{collections::HashSet, ops::Range};

use rust_stemmers::{Algorithm, Stemmer};

use crate::Pointer;

/// The most keys in the v0.1 wire form, and the length of the longest in characters.
const WIRE_KEYS: usize = 32;
const WIRE_CHARS: usize = 80;

/// The most alternative spellings of a question.
const MAX_SPELLINGS: usize = 256;
/// Longer words, in bytes, are not split into two.
const MAX_WORD: usize = 24;

/// Stop words: articles, pronouns, question words, auxiliaries. A text that has only stop words
/// keeps them.
const STOP: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but",
    "by", "can", "could", "did", "do", "does", "e", "for", "from", "get", "had", "has", "have",
    "having", "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "may",
    "me", "might", "must", "my", "no", "not", "of", "on", "or", "our", "s", "shall", "she",
    "should", "so", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Whether a word in lower case says nothing by itself.
pub fn is_stop_word(word: &str) -> bool {
    STOP.contains(&word)
}

/// All keys of one text. Every list is in order of first appearance, without repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashKeys {
    /// Whole identifiers in lower case: `max_retries`, `httpclient`, `v2`.
    pub identifiers: Vec<String>,
    /// `42`, `1.5`, `200ms`.
    pub numbers: Vec<String>,
    /// Paths and base names, in lower case.
    pub files: Vec<String>,
    /// `service:gateway`, `topic:payments`, `tag:slow`.
    pub concepts: Vec<String>,
    /// Stems of words and of the parts of identifiers, without stop words.
    pub words: Vec<String>,
    /// Two to five neighbouring words, joined by spaces.
    pub grams: Vec<String>,
}

impl HashKeys {
    /// The keys that name one thing: identifiers and files.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.identifiers.iter().chain(&self.files)
    }

    /// The keys that a search must match exactly: identifiers, numbers and files.
    pub fn exact(&self) -> impl Iterator<Item = &String> {
        self.identifiers
            .iter()
            .chain(&self.numbers)
            .chain(&self.files)
    }
}

/// Returns the keys of a claim, or of a query, which has no pointers, topic or tags.
pub fn hash_keys(claim: &str, pointers: &[Pointer], topic: &str, tags: &[String]) -> HashKeys {
    let mut keys = Collector::default();
    keys.add_text(claim);
    for pointer in pointers {
        keys.end_run();
        if pointer.kind() != crate::PointerType::Url {
            keys.add_file(pointer.name());
            keys.add_words(stem_of(base_of(pointer.name())));
        }
        if let crate::Target::Test { name, .. } = &pointer.target {
            keys.end_run();
            keys.add_text(name);
        }
    }
    let mut path = String::new();
    for part in topic.split('/').filter(|part| !part.is_empty()) {
        path = if path.is_empty() {
            part.to_lowercase()
        } else {
            format!("{path}/{}", part.to_lowercase())
        };
        keys.add_concept(format!("topic:{path}"));
        keys.end_run();
        keys.add_words(part);
    }
    for tag in tags {
        keys.add_concept(format!("tag:{}", tag.to_lowercase()));
        keys.end_run();
        keys.add_words(tag);
    }
    keys.finish()
}

/// Words of a question, and another way to write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// Stems of the question.
    pub asked: Vec<String>,
    /// Stems of the other spelling.
    pub other: Vec<String>,
    /// The key that a claim in the other spelling has: the joined word, or the two words side by
    /// side.
    pub sign: Sign,
}

/// A key of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// One of [`HashKeys::words`].
    Word(String),
    /// One of [`HashKeys::grams`].
    Gram(String),
}

/// Returns alternative spellings of compounds that are written as one word or two: `back off` and
/// `backoff`.
pub fn spellings(text: &str) -> Vec<Spelling> {
    let stemmer = Stemmer::create(Algorithm::English);
    let stem = |word: &str| stemmer.stem(word).into_owned();
    let stems = |words: &[&str]| -> Vec<String> {
        let words = words.iter().filter(|it| !STOP.contains(*it));
        words.map(|it| stem(it)).collect()
    };
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|it| !it.is_empty() && it.chars().all(char::is_alphabetic))
        .collect();
    let mut all = Vec::new();
    for pair in words.windows(2) {
        let asked = stems(pair);
        let [first, second] = pair else { continue };
        if asked.is_empty() {
            continue;
        }
        for first in [(*first).to_owned(), stem(first)] {
            let whole = stem(&format!("{first}{second}"));
            all.push(Spelling {
                asked: asked.clone(),
                other: vec![whole.clone()],
                sign: Sign::Word(whole),
            });
        }
    }
    for word in words.iter().filter(|it| !STOP.contains(*it)) {
        for (at, _) in word.char_indices().skip(2) {
            let halves = word.split_at(at);
            if halves.1.chars().count() < 2 || word.len() > MAX_WORD {
                continue;
            }
            all.push(Spelling {
                asked: vec![stem(word)],
                other: stems(&[halves.0, halves.1]),
                sign: Sign::Gram(format!("{} {}", stem(halves.0), stem(halves.1))),
            });
        }
    }
    all.retain(|it| !it.other.is_empty());
    all.truncate(MAX_SPELLINGS);
    all
}

/// Returns at most 32 keys of at most 80 characters, the most specific first.
pub fn wire_hash_keys(keys: &HashKeys) -> Vec<String> {
    let words = keys.words.iter().chain(&keys.grams);
    keys.exact()
        .chain(&keys.concepts)
        .chain(words)
        .filter(|key| key.chars().count() <= WIRE_CHARS)
        .take(WIRE_KEYS)
        .cloned()
        .collect()
}

#[derive(Default)]
struct Collector {
    keys: HashKeys,
    seen: HashSet<(u8, String)>,
    /// Runs of consecutive words, for n-grams; the last run is still open.
    runs: Vec<Vec<String>>,
}

impl Collector {
    fn add(&mut self, list: u8, key: String) {
        if key.is_empty() || !self.seen.insert((list, key.clone())) {
            return;
        }
        match list {
            0 => self.keys.identifiers.push(key),
            1 => self.keys.numbers.push(key),
            2 => self.keys.files.push(key),
            3 => self.keys.concepts.push(key),
            4 => self.keys.words.push(key),
            _ => self.keys.grams.push(key),
        }
    }

    fn add_concept(&mut self, key: String) {
        self.add(3, key);
    }

    fn add_text(&mut self, text: &str) {
        for token in tokens(text) {
            self.add_token(token);
        }
    }

    fn add_token(&mut self, raw: &str) {
        let digits = raw.starts_with(|c: char| c.is_ascii_digit());
        let letters = raw.contains(|c: char| c.is_alphabetic());
        if is_path(raw) {
            self.add_file(raw);
        } else if digits && !raw.contains(['_', ':']) {
            self.add(1, raw.to_lowercase());
            self.extend_run(raw.to_lowercase());
            return;
        } else if letters && is_identifier(raw) {
            self.add(0, raw.to_lowercase());
        }
        self.add_words(raw);
    }

    /// Adds the keys of a path: the path, its base name and stem, and the concept of its first two
    /// folders.
    fn add_file(&mut self, path: &str) {
        let lower = path.to_lowercase();
        let base = base_of(&lower).to_owned();
        self.add(2, lower.clone());
        self.add(2, base.clone());
        self.add(2, stem_of(&base).to_owned());
        let parts: Vec<&str> = lower.split('/').collect();
        if let [group, member, _, ..] = parts.as_slice() {
            let group = group.strip_suffix('s').unwrap_or(group);
            self.add_concept(format!("{group}:{member}"));
        }
    }

    fn add_words(&mut self, raw: &str) {
        let stemmer = Stemmer::create(Algorithm::English);
        for part in split_parts(raw) {
            let word = stemmer.stem(&part).into_owned();
            if !STOP.contains(&part.as_str()) {
                self.add(4, word.clone());
            }
            self.extend_run(word);
        }
    }

    fn extend_run(&mut self, word: String) {
        match self.runs.last_mut() {
            Some(run) => run.push(word),
            None => self.runs.push(vec![word]),
        }
    }

    fn end_run(&mut self) {
        self.runs.push(Vec::new());
    }

    fn finish(mut self) -> HashKeys {
        if self.keys.words.is_empty() && self.keys.exact().next().is_none() {
            for word in self.runs.concat() {
                self.add(4, word);
            }
        }
        let runs = std::mem::take(&mut self.runs);
        for length in 2..=5 {
            for window in runs.iter().flat_map(|run| run.windows(length)) {
                self.add(5, window.join(" "));
            }
        }
        self.keys
    }
}

fn base_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a file name without its extension; `.env` has none.
fn stem_of(base: &str) -> &str {
    match base.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => base,
    }
}

/// Whether a word is a path: `src/main.rs`, `limits.toml`, `payments/webhooks`; not `and/or`,
/// `e.g`, `3/4`.
fn is_path(raw: &str) -> bool {
    let lower = raw.to_lowercase();
    let stop = || lower.split('/').any(|part| STOP.contains(&part));
    if raw.contains('/') {
        has_extension(raw) || (raw.contains(char::is_alphabetic) && !stop())
    } else {
        has_extension(raw) && lower != "e.g" && lower != "i.e"
    }
}

fn has_extension(raw: &str) -> bool {
    raw.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Whether a word is written like code: with an underscore, `::`, a capital inside, or letters
/// mixed with digits.
fn is_identifier(raw: &str) -> bool {
    let inner_capital = raw
        .chars()
        .zip(raw.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let shouted = raw.len() > 2 && raw.chars().all(|c| c.is_uppercase());
    raw.contains(['_', ':', '.', '@', '#', '$', '-'])
        || inner_capital
        || shouted
        || raw.contains(|c: char| c.is_ascii_digit())
}

/// Splits a text into words, numbers, names and paths.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "_-./:@#$".contains(c)))
        .map(|it| it.trim_matches(|c: char| "-./:@#$".contains(c)))
        .filter(|it| !it.is_empty())
}

/// Splits `parseHttpUrl_v2` into parse, http, url, v2, and text in an unspaced script into pairs of
/// characters.
fn split_parts(raw: &str) -> Vec<String> {
    let parts = part_ranges(raw).into_iter();
    let parts = parts.filter_map(|it| Some(raw.get(it)?.to_lowercase()));
    parts.collect()
}

/// The ranges of the parts of a token, in bytes; see [`split_parts`].
pub(super) fn part_ranges(raw: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for chunk in raw.split(|c: char| !c.is_alphanumeric()) {
        parts.extend(parts_of_chunk(chunk).map(|it| start + it.start..start + it.end));
        // What separates chunks may be longer than one byte.
        let end = start + chunk.len();
        let separator = raw.get(end..).and_then(|it| it.chars().next());
        start = end + separator.map_or(0, char::len_utf8);
    }
    parts
}

/// The parts of a token without punctuation.
fn parts_of_chunk(chunk: &str) -> impl Iterator<Item = Range<usize>> {
    let chars: Vec<(usize, char)> = chunk.char_indices().collect();
    let at = |index: usize| chars.get(index).map_or(chunk.len(), |(at, _)| *at);
    let mut bounds: Vec<(usize, usize)> = Vec::new();
    if chars.iter().any(|(_, c)| is_unspaced(*c)) {
        let last = chars.len().saturating_sub(1).max(1);
        bounds.extend((0..last).map(|it| (it, it + 2)));
    } else {
        let mut start = 0;
        for index in 1..=chars.len() {
            let is_upper = |it: usize| chars.get(it).is_some_and(|(_, c)| c.is_uppercase());
            let is_lower = |it: usize| chars.get(it).is_some_and(|(_, c)| c.is_lowercase());
            let begins = is_upper(index) && (is_lower(index - 1) || is_lower(index + 1));
            if index == chars.len() || begins {
                bounds.push((start, index));
                start = index;
            }
        }
    }
    let ranges: Vec<Range<usize>> = bounds.iter().map(|(from, to)| at(*from)..at(*to)).collect();
    ranges.into_iter().filter(|it| !it.is_empty())
}

/// Whether a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32, 0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0x20000..=0x2FA1F)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_claim_gives_its_identifiers_files_numbers_words_and_grams() {
        let pointers = vec![
            "repo:services/gateway/vendor_client.py#L280-L302@HEAD"
                .parse()
                .unwrap(),
        ];
        let keys = hash_keys(
            "vendorClient retries 3 times, MAX_RETRIES in limits.toml, 200ms base.",
            &pointers,
            "gateway/vendor",
            &["slow path".to_owned()],
        );
        insta::assert_debug_snapshot!(keys);
    }

    #[test]
    fn a_query_of_stop_words_is_still_a_query() {
        assert_eq!(
            hash_keys("what is it", &[], "", &[]).words,
            ["what", "is", "it"]
        );
    }

    #[test]
    fn the_wire_form_is_bounded_and_most_telling_first() {
        let text = "alpha beta gamma delta ".repeat(20) + &"x".repeat(90) + " fooBar 42";
        let wire = wire_hash_keys(&hash_keys(&text, &[], "", &[]));
        let first = [
            "foobar",
            "42",
            "alpha",
            "beta",
            "gamma",
            "delta",
            "foo",
            "bar",
            "alpha beta",
        ];
        assert_eq!(wire[..9], first);
        assert!(wire.iter().all(|key| key.chars().count() <= 80));

        let many: String = ('a'..='z').map(|c| format!("{c}o{c}o ")).collect();
        assert_eq!(wire_hash_keys(&hash_keys(&many, &[], "", &[])).len(), 32);

        let wire = wire_hash_keys(&hash_keys(&format!("{} ab", "x".repeat(90)), &[], "", &[]));
        assert_eq!(
            wire,
            ["ab"],
            "a key that is too long for the wire is left out, not cut"
        );
    }

    /// Each case: a claim, and keys that must be among its keys.
    #[test]
    fn spellings_that_somebody_would_search_for() {
        for (claim, keys) in [
            (
                "parseHttpUrl_v2 fails",
                vec!["parsehttpurl_v2", "pars", "http", "url", "v2", "http url"],
            ),
            (
                "HTTPServer::start_now()",
                vec!["httpserver::start_now", "http", "server", "start", "now"],
            ),
            (
                "it reads src/a/limits.toml.",
                vec!["src/a/limits.toml", "limits.toml", "limits", "src:a"],
            ),
            (
                "1,200 tokens in 200ms, v1.2",
                vec!["200ms", "v1.2", "token"],
            ),
            (
                "Ledger's retries",
                vec!["ledger", "retri", "ledger s retri"],
            ),
            ("Größe der ÄNDERUNG", vec!["größe", "änderung"]),
            ("日本API を使う", vec!["日本", "本a", "ap"]),
        ] {
            let found = hash_keys(claim, &[], "", &[]);
            let all: Vec<&String> = found
                .exact()
                .chain(&found.concepts)
                .chain(&found.words)
                .chain(&found.grams)
                .collect();
            for key in keys {
                assert!(
                    all.iter().any(|it| *it == key),
                    "{claim}: {key} is not in {all:?}"
                );
            }
        }
    }

    #[test]
    fn two_words_that_some_write_as_one_are_known_as_that() {
        for (text, asked, other, sign) in [
            (
                "how do retries back off",
                &["back", "off"][..],
                &["backoff"][..],
                Sign::Word("backoff".to_owned()),
            ),
            (
                "it backs off",
                &["back", "off"],
                &["backoff"],
                Sign::Word("backoff".to_owned()),
            ),
            (
                "retry backoff",
                &["backoff"],
                &["back", "off"],
                Sign::Gram("back off".to_owned()),
            ),
            (
                "Timeouts",
                &["timeout"],
                &["time", "out"],
                Sign::Gram("time out".to_owned()),
            ),
        ] {
            let all = spellings(text);
            let found = all.iter().find(|it| it.sign == sign);
            let found = found.map(|it| (it.asked.clone(), it.other.clone()));
            let words = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
            assert_eq!(found, Some((words(asked), words(other))), "{text}");
        }
        for text in ["", "how do", "42", "MAX_5"] {
            let all = spellings(text);
            assert!(all.iter().all(|it| !it.asked.is_empty()), "{text}: {all:?}");
        }
        assert!(spellings(&"x".repeat(2_000)).is_empty());
    }

    #[test]
    fn what_only_looks_like_a_file_is_none() {
        for claim in ["e.g. this and/or that", "about 3/4 of it", "i.e. most"] {
            assert_eq!(hash_keys(claim, &[], "", &[]).files, [""; 0], "{claim}");
        }
    }

    #[test]
    fn no_gram_joins_what_does_not_belong_together() {
        let pointers = ["repo:src/vendor_client.py@HEAD".parse().unwrap()];
        let keys = hash_keys("it waits", &pointers, "a/b", &["slow path".to_owned()]);
        assert_eq!(keys.grams, ["it wait", "vendor client", "slow path"]);
    }

    #[test]
    fn whoever_writes_the_same_gets_the_same() {
        for (a, b) in [
            ("Retries THREE times", "retries three times"),
            ("retry", "retries"),
        ] {
            let words = |text| hash_keys(text, &[], "", &[]).words;
            assert_eq!(words(a), words(b));
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_the_same_bounded_keys_twice(text in "\\PC{0,600}") {
            let keys = hash_keys(&text, &[], "", &[]);
            prop_assert_eq!(&keys, &hash_keys(&text, &[], "", &[]));
            let wire = wire_hash_keys(&keys);
            prop_assert!(wire.len() <= 32 && wire.iter().all(|key| key.chars().count() <= 80));
        }
    }
}
