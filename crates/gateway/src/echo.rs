//! Detects an `ECHO`: a claim that only repeats what its own agent was served
//! (docs/design.md#echoes). A stored echo would look like an independent finding.
//!
//! Served text is kept as fingerprints: hashes of [`WORDS`] consecutive words, and of shorter whole
//! sentences. A claim is an echo if all its words are among them, except for a short wrapping at
//! its ends ("As the brief says, ..."). A wrapping that denies, doubts or gives a number adds
//! something, so the claim is not an echo. Case, punctuation, spaces and zero-width characters are
//! ignored.

use std::hash::Hasher;

use engram_model::{Code, Refusal, is_hidden};
use fnv::FnvHasher;

use crate::prose;

/// The words of a fingerprint: fewer would match common phrases, more would miss short claims.
const WORDS: usize = 4;
/// The most words of a wrapping, before and after together.
const WRAPPING: usize = 8;

/// Returns the fingerprints of a served text, to be kept for the agent that received it. They
/// contain none of the text, though a short one can be guessed, and take about 8 bytes per word.
pub fn fingerprints(served: &str) -> Vec<u64> {
    let words = words_of(served);
    let mut prints: Vec<u64> = words.windows(WORDS).map(print_of).collect();
    let sentences = prose::sentences(served).map(words_of);
    // Shorter sentences have a fingerprint of their own, even beside longer ones.
    prints.extend(
        sentences
            .filter(|it| (1..WORDS).contains(&it.len()))
            .map(|it| print_of(&it)),
    );
    prints.sort_unstable();
    prints.dedup();
    prints
}

/// Returns the fingerprint of an address that was served with a claim, as its author's evidence.
pub fn shown_print(address: &str) -> u64 {
    print_of(&["\u{1}told".to_owned(), address.to_owned()])
}

/// Returns the fingerprint of an address that the agent read itself.
pub fn read_print(address: &str) -> u64 {
    print_of(&["\u{1}read".to_owned(), address.to_owned()])
}

/// Whether a pointer is the agent's own evidence: it was not served with a claim, or the agent read
/// what it addresses.
pub fn is_own_evidence(address: &str, is_served: impl Fn(u64) -> bool) -> bool {
    is_served(read_print(address)) || !is_served(shown_print(address))
}

/// Whether a claim only repeats what was served; `is_served` looks up one agent's fingerprints.
pub fn echoes(claim: &str, is_served: impl Fn(u64) -> bool) -> bool {
    let words = words_of(claim);
    let known = served_words(&words, is_served);
    let Some(first) = known.iter().position(|it| *it) else {
        return false;
    };
    let last = known.iter().rposition(|it| *it).unwrap_or(first);
    let (within, before, after) = (&words[first..=last], &words[..first], &words[last + 1..]);
    let own = within.iter().zip(&known[first..=last]).filter(|it| !it.1);
    // An inserted or replaced word says something new, unless it only joins served texts.
    if own.map(|it| it.0).any(|it| !JOINS.contains(&it.as_str())) {
        return false;
    }
    let wrapping: Vec<&String> = before.iter().chain(after).collect();
    wrapping.len() <= WRAPPING
        && wrapping.len() <= within.len()
        && !wrapping.iter().any(|it| says_something(it))
}

/// Refuses an echo. A pointer that was not served with the words makes it a new finding, not an
/// echo.
pub fn refuse_echo(
    claim: &str,
    has_own_pointer: bool,
    is_served: impl Fn(u64) -> bool,
) -> Result<(), Refusal> {
    if has_own_pointer || !echoes(claim, is_served) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::Echo,
        "the claim only repeats what this agent was shown",
        "Commit your own finding with a pointer to where you found it; to support a claim, point at your own evidence for it.",
    ))
}

/// Which words are part of a served run.
fn served_words(words: &[String], is_served: impl Fn(u64) -> bool) -> Vec<bool> {
    let mut known = vec![false; words.len()];
    for (at, window) in words.windows(WORDS).enumerate() {
        if is_served(print_of(window)) {
            known[at..at + WORDS].fill(true);
        }
    }
    // Shorter sentences count only if nothing longer was found: "the" alone repeats nothing.
    if !known.contains(&true) {
        for count in (1..WORDS.min(words.len() + 1)).rev() {
            let found = words.windows(count).position(|it| is_served(print_of(it)));
            if let Some(at) = found {
                known[at..at + count].fill(true);
                return known;
            }
        }
    }
    known
}

/// Words that only join two served texts and add nothing.
#[rustfmt::skip]
const JOINS: &[&str] = &[
    "and", "also", "then", "that", "plus", "furthermore", "moreover", "additionally", "und", "y",
];

/// Words that change the meaning of the claim they wrap.
#[rustfmt::skip]
const SAYS: &[&str] = &[
    "not", "no", "never", "none", "nor", "neither", "without", "isnt", "arent", "wasnt", "werent", "doesnt",
    "dont", "didnt", "cannot", "cant", "wont", "shouldnt", "nobody", "nothing", "false", "untrue", "wrong",
    "incorrect", "mistaken", "outdated", "obsolete", "stale", "superseded", "fixed", "contradicts",
    "contradicted", "contrary", "refuted", "disproved", "doubt", "doubtful", "unless", "except", "but",
    "however", "although", "only", "if", "until", "since", "because", "after", "before", "when", "longer",
    "rather", "instead", "nicht", "kein", "falsch",
];

fn says_something(word: &str) -> bool {
    SAYS.contains(&word) || word.chars().any(char::is_numeric)
}

/// Returns the words of a text: in lower case, without punctuation; in scripts without spaces, each
/// character is a word.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = String::new();
    for c in text.chars() {
        if is_hidden(c) || matches!(c, '\'' | '’' | '\u{200c}' | '\u{200d}') {
            continue;
        }
        let is_sign = matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
        if is_sign || !c.is_alphanumeric() {
            if !open.is_empty() {
                words.push(std::mem::take(&mut open));
            }
            if is_sign {
                words.push(c.to_string());
            }
            continue;
        }
        open.extend(c.to_lowercase());
    }
    if !open.is_empty() {
        words.push(open);
    }
    words
}

/// Returns the mixed FNV-1a hash of the words and their ends. It is the same in every build, since
/// fingerprints are stored.
fn print_of(words: &[String]) -> u64 {
    let mut hasher = FnvHasher::default();
    for word in words {
        hasher.write(word.as_bytes());
        hasher.write(&[0xff]);
    }
    let hash = hasher.finish();
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SERVED: [&str; 4] = [
        "Retries of the ledger are bounded by 3, with full jitter.",
        "The gateway takes the row lock before it reads the balance; nobody else does.",
        "Use SQLite.",
        "予約は原子的です。",
    ];

    fn served(texts: &[&str]) -> BTreeSet<u64> {
        texts.iter().flat_map(|it| fingerprints(it)).collect()
    }

    #[test]
    fn what_was_served_is_an_echo_whatever_it_wears() {
        let kept = served(&SERVED);
        for claim in [
            SERVED[0],
            SERVED[1],
            SERVED[2],
            SERVED[3],
            "RETRIES OF THE LEDGER ARE BOUNDED BY 3 WITH FULL JITTER",
            "retries, of the ledger: are \"bounded\" by (3) - with full jitter!",
            "Re\u{200b}tries of the ledger are bounded by 3.",
            "As the brief says: retries of the ledger are bounded by 3, with full jitter.",
            "I confirm that the gateway takes the row lock before it reads the balance.",
            "The gateway takes the row lock before it reads the balance (see the brief above).",
            "Noted. Retries of the ledger are bounded by 3, with full jitter. Thanks!",
            "Retries of the ledger are bounded by 3, and the gateway takes the row lock before it reads the balance.",
            "So: use SQLite.",
            "「予約は原子的です」",
        ] {
            assert!(echoes(claim, |it| kept.contains(&it)), "{claim}");
            assert!(refuse_echo(claim, true, |it| kept.contains(&it)).is_ok());
            let refusal = refuse_echo(claim, false, |it| kept.contains(&it)).err();
            assert_eq!(refusal.map(|it| it.code), Some(Code::Echo), "{claim}");
        }
    }

    #[test]
    fn what_says_something_of_its_own_is_none() {
        let kept = served(&SERVED);
        for claim in [
            "",
            "...",
            "Retries of the ledger are bounded by 5, with full jitter.",
            "Retries of the ledger are not bounded by 3, with full jitter.",
            "It is not true that retries of the ledger are bounded by 3, with full jitter.",
            "Since 2026 retries of the ledger are bounded by 3, with full jitter.",
            "The gateway takes the row lock after it reads the balance.",
            "The gateway takes the row lock before it reads the balance, which deadlocks with the report job that holds the table lock.",
            "Retries are unbounded.",
            "Use Postgres.",
            "The ledger of the gateway is read by two callers.",
            "Retries of the ledger are bounded by 3, but the gateway takes the row lock before it reads the balance.",
        ] {
            assert!(!echoes(claim, |it| kept.contains(&it)), "{claim}");
        }
        assert!(!echoes(SERVED[0], |_| false), "nothing was served");
    }

    #[test]
    fn evidence_is_ones_own_unless_it_came_with_the_words() {
        let (told, both) = ("repo:a.rs#L1@c", "repo:b.rs#L1@c");
        let kept = [shown_print(told), shown_print(both), read_print(both)];
        let own = |address| is_own_evidence(address, |it| kept.contains(&it));
        assert!(!own(told), "only shown with somebody's claim");
        assert!(own(both), "shown, then read by the agent");
        assert!(own("repo:c.rs#L1@c"), "found elsewhere");
    }

    #[test]
    fn fingerprints_stay_what_they_are() {
        // Fingerprints are stored, so another hash would lose what was served.
        for (text, prints) in [
            ("Use SQLite.", &[0x410d_95ab_5def_54c6][..]),
            ("use  sqlite", &[0x410d_95ab_5def_54c6]),
            ("Retries of the ledger", &[0xfe28_2ea7_a001_fadd]),
            ("予約は原", &[0x5111_47bd_4fcd_0042]),
            ("", &[]),
        ] {
            assert_eq!(fingerprints(text), prints, "{text}");
        }
        let address = "repo:a.rs#L1@c";
        assert_eq!(shown_print(address), 0xc326_f328_6f2a_b44c);
        assert_eq!(read_print(address), 0x31d4_3ecf_2fff_a2f9);
        assert_ne!(print_of(&words_of("a bc")), print_of(&words_of("ab c")));
    }

    proptest! {
        #[test]
        fn a_text_echoes_itself(text in "(?s)[a-zA-Z ,.\n]{1,300}", wild in "(?s).{0,200}") {
            for text in [text, wild] {
                let kept: BTreeSet<u64> = fingerprints(&text).into_iter().collect();
                let is_echo = echoes(&text, |print| kept.contains(&print));
                prop_assert!(is_echo || words_of(&text).len() < WORDS, "{}", text);
            }
        }
    }
}
