//! Which words of a claim changed.

use crate::align::shared_words;

/// A text in parts, each with whether it is missing from the other text.
pub type Parts = Vec<(String, bool)>;

/// The most pairs of words that are all compared.
const MAX_PAIRS: usize = 1_000_000;

/// Returns two wordings and marks the words that only one of them has.
pub fn reworded(before: &str, now: &str) -> (Parts, Parts) {
    let (a, b) = (tokens_of(before), tokens_of(now));
    let (in_a, in_b) = shared_words(&a, &b, MAX_PAIRS);
    (join_parts(&a, &in_a), join_parts(&b, &in_b))
}

fn join_parts(tokens: &[&str], is_shared: &[bool]) -> Parts {
    let mut parts = Parts::new();
    for (token, is_shared) in tokens.iter().zip(is_shared) {
        match parts.last_mut() {
            Some((text, is_other)) if *is_other != *is_shared => text.push_str(token),
            _ => parts.push(((*token).to_owned(), !is_shared)),
        }
    }
    parts
}

/// Splits a text into words, and what is between them.
fn tokens_of(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|it: char| it.is_whitespace() != is_space);
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(parts: &Parts) -> String {
        let part = |(text, is_other): &(String, bool)| {
            if *is_other {
                format!("[{text}]")
            } else {
                text.clone()
            }
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn only_other_words_are_marked() {
        for (before, now, then, later) in [
            (
                "It is slow.",
                "It is fast.",
                "It is [slow.]",
                "It is [fast.]",
            ),
            ("It is slow.", "It is slow.", "It is slow.", "It is slow."),
            (
                "It is slow",
                "It is very slow",
                "It is slow",
                "It is [very ]slow",
            ),
            ("größer als", "kleiner als", "[größer] als", "[kleiner] als"),
            ("", "x", "", "[x]"),
            ("one", "two words", "[one]", "[two words]"),
        ] {
            let (a, b) = reworded(before, now);
            assert_eq!((drawn(&a).as_str(), drawn(&b).as_str()), (then, later));
        }
    }

    #[test]
    fn whatever_is_compared_nothing_is_lost() {
        let long = "a b ".repeat(700);
        for (before, now) in [
            (long.as_str(), "b a"),
            (long.as_str(), long.as_str()),
            (" \n", ""),
        ] {
            let (a, b) = reworded(before, now);
            let whole = |parts: Parts| parts.into_iter().map(|it| it.0).collect::<String>();
            assert_eq!((whole(a), whole(b)), (before.to_owned(), now.to_owned()));
        }
    }
}
