//! Where a text has the keys by which a search found it, in whatever form: a search for *retry*
//! marks *retrying*.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use super::hash_keys::{is_stop_word, part_ranges, tokens};

/// Returns where a text has one of these keys: stems of words, and whole identifiers, numbers or
/// files in lower case. The ranges are in bytes, in order, and do not overlap.
pub fn marks(text: &str, words: &[String], exact: &[String]) -> Vec<Range<usize>> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut all = Vec::new();
    for token in tokens(text) {
        // Tokens are slices of the text.
        let start = token.as_ptr() as usize - text.as_ptr() as usize;
        if exact.contains(&token.to_lowercase()) {
            all.push(start..start + token.len());
            continue;
        }
        let has = |part: &Range<usize>| {
            let part = token.get(part.clone()).unwrap_or_default().to_lowercase();
            words.iter().any(|it| *it == stemmer.stem(&part))
        };
        let parts = part_ranges(token).into_iter().filter(has);
        all.extend(parts.map(|it| start + it.start..start + it.end));
    }
    merge_marks(all)
}

/// Returns where a text contains one of these words, ignoring the case of ASCII letters. Stop words
/// are marked only if there are no others.
pub fn literal_marks(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let is_all_stops = words.iter().all(|it| is_stop_word(it));
    let is_wanted = |it: &&String| !it.is_empty() && (is_all_stops || !is_stop_word(it));
    let words = words.iter().filter(is_wanted);
    let all = words.flat_map(|word| {
        let found = lower.match_indices(word.as_str());
        found.map(|(at, it)| at..at + it.len())
    });
    merge_marks(all.collect())
}

/// Sorts ranges, and joins those that overlap or touch.
pub fn merge_marks(mut all: Vec<Range<usize>>) -> Vec<Range<usize>> {
    all.sort_by_key(|it| (it.start, it.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for mark in all {
        match merged.last_mut() {
            Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
            _ => merged.push(mark),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash_keys;

    /// Puts what a search for `asked` marks into brackets.
    fn with_marks(text: &str, asked: &str) -> String {
        let keys = hash_keys(asked, &[], "", &[]);
        let exact: Vec<String> = keys.exact().cloned().collect();
        let mut shown = String::new();
        let mut at = 0;
        for mark in marks(text, &keys.words, &exact) {
            shown.push_str(&format!(
                "{}[{}]",
                &text[at..mark.start],
                &text[mark.clone()]
            ));
            at = mark.end;
        }
        shown + &text[at..]
    }

    #[test]
    fn a_search_marks_its_words_in_every_form() {
        for (text, asked, want) in [
            (
                "Retries use full jitter.",
                "retrying",
                "[Retries] use full jitter.",
            ),
            (
                "We retry; how we do it is in app.py.",
                "how do retries work",
                "We [retry]; how we do it is in app.py.",
            ),
            ("maxRetries is 3", "retry 3", "max[Retries] is [3]"),
            (
                "MAX_RETRIES is read from src/app.py",
                "MAX_RETRIES",
                "[MAX_RETRIES] is read from src/app.py",
            ),
            (
                "It is in src/flask/app.py now.",
                "app.py",
                "It is in src/flask/[app].[py] now.",
            ),
            ("Größe und Größen", "größe", "[Größe] und Größen"),
            ("重试三次", "重试", "[重试]三次"),
            ("Support for ports", "port", "Support for [ports]"),
            ("", "x", ""),
            ("nothing", "", "nothing"),
        ] {
            assert_eq!(with_marks(text, asked), want, "{text:?}, {asked:?}");
        }
    }

    #[test]
    fn words_are_marked_where_they_are_contained() {
        let words = ["retr".to_owned(), String::new(), "ent".to_owned()];
        assert_eq!(
            literal_marks("Entry: RETRY retrent", &words),
            [0..3, 7..11, 13..20]
        );
        assert!(literal_marks("ß", &words).is_empty());
        // Not in each word that happens to have an a.
        let words = ["a".to_owned(), "retry".to_owned()];
        assert_eq!(
            literal_marks("Retry, a wait, a retry", &words),
            [0..5, 17..22]
        );
        assert_eq!(literal_marks("A wait", &words[..1]), [0..1, 3..4]);
    }

    proptest! {
        #[test]
        fn marks_lie_within_the_text(text in "\\PC{0,300}", asked in "\\PC{0,60}") {
            let keys = hash_keys(&asked, &[], "", &[]);
            let exact: Vec<String> = keys.exact().cloned().collect();
            let mut end = 0;
            for mark in marks(&text, &keys.words, &exact) {
                prop_assert!(mark.start >= end && text.get(mark.clone()).is_some());
                end = mark.end;
            }
        }
    }
}
