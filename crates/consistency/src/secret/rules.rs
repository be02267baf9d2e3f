//! The rules, and the search of a text with them.
//!
//! A rule can match only a text that contains one of its keywords. All keywords are searched for at
//! once, and a pattern is compiled when its rule is first needed.

use std::{
    ops::Range,
    sync::{LazyLock, OnceLock},
};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Regex, RegexBuilder};

use super::{SecretMatch, own, value};

/// A shape that secrets have.
pub(crate) struct Rule {
    /// What the secret looks like, with an article.
    pub(crate) name: &'static str,
    pub(crate) pattern: &'static str,
    /// Words, at least one of which the text must contain, ignoring case.
    pub(crate) keywords: &'static [&'static str],
    /// The capture group of the secret. 0 means the first group that matched, or else the whole
    /// match.
    pub(crate) group: usize,
    /// The least entropy, in bits per byte.
    pub(crate) least: f64,
    /// Patterns that it must not match.
    pub(crate) unless: &'static [&'static str],
    /// Patterns that it must all match.
    pub(crate) only: &'static [&'static str],
    /// Decides whether a value is a secret.
    pub(crate) judge: fn(&[u8]) -> bool,
}

include!(concat!(env!("OUT_DIR"), "/kept.rs"));

/// All rules; if two find the same, the more specific one comes first.
fn rules() -> impl Iterator<Item = &'static Rule> {
    KEPT.iter().chain(own::RULES)
}

/// The text of a mark: the name of a rule without its article.
pub(crate) fn bare_name(name: &'static str) -> &'static str {
    name.split_once(' ').map_or(name, |it| it.1)
}

/// Whether this can be the text of a mark.
pub(crate) fn is_bare_name(text: &[u8]) -> bool {
    rules().any(|rule| bare_name(rule.name).as_bytes() == text)
}

/// How a token ends in the maintained rules, which read code, and in ours, which also read
/// sentences.
const ENDS_IN_CODE: &str = r#"(?:\\?['"\x60]|[\s;]|\\[nr]|$)"#;
const ENDS: &str =
    r#"(?:\\?['"\x60]|[\s;,)\]}<>|&*?!]|[.:](?:[^A-Za-z0-9_]|$)|\\[nrt]|[^\x00-\x7F]|$)"#;

/// The most memory of a pattern, and of a search with it.
const MAX_PATTERN: usize = 4 << 20;
const MAX_CACHE: usize = 1 << 20;
/// Searching a text longer than this fills the patterns' caches, so they are not kept.
const LONG: usize = 128 << 10;
/// Longer texts are files; claims, messages and arguments are shorter.
const FILE: usize = 8 << 10;

struct CompiledRule {
    pattern: Regex,
    unless: Vec<Regex>,
    only: Vec<Regex>,
}

struct Screen {
    keywords: Vec<&'static str>,
    finder: AhoCorasick,
    /// For files: twice as fast, but takes 2 ms to build.
    fast: OnceLock<AhoCorasick>,
    /// The rule of each keyword.
    owners: Vec<usize>,
    rules: Vec<(&'static Rule, OnceLock<CompiledRule>)>,
}

static SCREEN: LazyLock<Screen> = LazyLock::new(|| {
    let owned = rules()
        .enumerate()
        .flat_map(|(at, rule)| rule.keywords.iter().map(move |keyword| (at, *keyword)));
    let (owners, keywords): (Vec<usize>, Vec<&str>) = owned.unzip();
    Screen {
        finder: keyword_finder(&keywords, None),
        fast: OnceLock::new(),
        keywords,
        owners,
        rules: rules().map(|rule| (rule, OnceLock::new())).collect(),
    }
});

/// A value that matches one of these is never a secret, whatever its name.
static NEVER: LazyLock<Vec<Regex>> = LazyLock::new(|| compile_all(UNLESS));

/// Whether a value is one that is never a secret.
pub(crate) fn is_never_secret(value: &[u8]) -> bool {
    NEVER.iter().any(|it| it.is_match(value))
}

/// All matches, in order and without overlaps, each under the name of its most specific rule.
pub(crate) fn search_rules(text: &[u8]) -> Vec<SecretMatch> {
    let screen = &*SCREEN;
    let mut wanted = vec![false; screen.rules.len()];
    let mut missing = wanted.len();
    for found in screen.finder(text.len()).find_overlapping_iter(text) {
        let owner = screen.owners[found.pattern().as_usize()];
        if !std::mem::replace(&mut wanted[owner], true) {
            missing -= 1;
            if missing == 0 {
                break;
            }
        }
    }
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, _) in wanted.iter().enumerate().filter(|it| *it.1) {
        let (rule, kept) = &screen.rules[at];
        let once;
        let compiled = if text.len() > LONG {
            once = CompiledRule::new(rule);
            &once
        } else {
            kept.get_or_init(|| CompiledRule::new(rule))
        };
        found.extend(rule.find(compiled, text).map(|range| (range, at)));
    }
    found.sort_by_key(|it| (it.0.start, it.1));
    found.dedup_by(|next, last| {
        let overlap = next.0.start < last.0.end;
        if overlap {
            last.0.end = last.0.end.max(next.0.end);
            last.1 = last.1.min(next.1);
        }
        overlap
    });
    let secrets = found.into_iter().map(|(range, at)| SecretMatch {
        rule: screen.rules[at].0.name,
        range,
    });
    secrets.collect()
}

impl Screen {
    fn finder(&self, length: usize) -> &AhoCorasick {
        if length >= FILE {
            let make = || keyword_finder(&self.keywords, Some(AhoCorasickKind::DFA));
            self.fast.get_or_init(make)
        } else {
            &self.finder
        }
    }
}

impl Rule {
    fn find(&self, compiled: &CompiledRule, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let found = compiled.pattern.captures_iter(text);
        let secrets = found.filter_map(|captures| self.secret_of(&captures));
        secrets.filter(|range| {
            let value = &text[range.clone()];
            // A name before an opening bracket is a call.
            let call = text.get(range.end) == Some(&b'(') && value::is_code_name(value);
            !call
                && value::entropy(value) >= self.least
                && (self.judge)(value)
                && !compiled.unless.iter().any(|it| it.is_match(value))
                && compiled.only.iter().all(|it| it.is_match(value))
        })
    }

    fn secret_of(&self, captures: &Captures<'_>) -> Option<Range<usize>> {
        let group = match self.group {
            0 => captures.iter().skip(1).flatten().next(),
            group => captures.get(group),
        };
        let secret = group.or(captures.get(0))?;
        (!secret.is_empty()).then(|| secret.range())
    }
}

impl CompiledRule {
    fn new(rule: &Rule) -> Self {
        Self {
            pattern: compile(&rule.pattern.replace(ENDS_IN_CODE, ENDS)),
            unless: compile_all(rule.unless),
            only: compile_all(rule.only),
        }
    }
}

fn compile_all(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().map(|it| compile(it)).collect()
}

#[expect(
    clippy::expect_used,
    reason = "constants; a test of this crate compiles every one"
)]
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_CACHE)
        .build()
        .expect("the patterns are constants")
}

#[expect(
    clippy::expect_used,
    reason = "constants; every test of this crate builds it"
)]
fn keyword_finder(keywords: &[&str], kind: Option<AhoCorasickKind>) -> AhoCorasick {
    AhoCorasick::builder()
        .kind(kind)
        .ascii_case_insensitive(true)
        .build(keywords)
        .expect("the keywords are constants")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_can_be_found_by_its_keywords() {
        for rule in rules() {
            CompiledRule::new(rule);
            assert!(!rule.keywords.is_empty(), "{}", rule.name);
            let article = rule.name.starts_with("a ") || rule.name.starts_with("an ");
            assert!(article && !rule.name.contains(['[', ']']), "{}", rule.name);
        }
        assert!(!is_never_secret(b"hunter2") && is_never_secret(b"${TOKEN}"));
    }

    /// If a newer set ended tokens differently, its rules would not match in sentences.
    #[test]
    fn most_kept_rules_end_as_we_think() {
        let ends = |rule: &&Rule| rule.pattern.contains(ENDS_IN_CODE);
        assert!(KEPT.iter().filter(ends).count() * 2 > KEPT.len());
    }
}
