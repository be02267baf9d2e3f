//! Fuzzy search: how well a text matches what somebody typed.

/// A match: the score, the higher the better, and the characters that matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// Starts of words and runs count more than scattered letters.
    pub score: i32,
    /// Indices of the characters, rising.
    pub at: Vec<usize>,
}

/// Longest text that is searched, in characters.
const MAX_TEXT: usize = 600;

/// Matches if every word of `query` is in `text`, in any order: literally, or as letters close
/// together that begin where a word does.
pub fn fit(query: &str, text: &str) -> Option<Fit> {
    let text: Vec<char> = text.chars().take(MAX_TEXT).flat_map(lower).collect();
    let mut fit = Fit {
        score: 0,
        at: Vec::new(),
    };
    for word in query.split_whitespace().take(16) {
        let word: Vec<char> = word.chars().flat_map(lower).collect();
        let (score, at) = find_run(&word, &text).or_else(|| find_scattered(&word, &text))?;
        fit.score += score;
        fit.at.extend(at);
    }
    fit.at.sort_unstable();
    fit.at.dedup();
    Some(fit)
}

/// Lowercases a character to a single one, so that the indices stay those of the text.
fn lower(c: char) -> Option<char> {
    let mut all = c.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => Some(one),
        _ => Some(c),
    }
}

fn begins_word(text: &[char], at: usize) -> bool {
    at == 0 || (text[at].is_alphanumeric() && !text[at - 1].is_alphanumeric())
}

fn find_run(word: &[char], text: &[char]) -> Option<(i32, Vec<usize>)> {
    let found = text
        .windows(word.len().max(1))
        .enumerate()
        .filter(|(_, it)| *it == word)
        .map(|(at, _)| at);
    let at = found.min_by_key(|&at| (!begins_word(text, at), at))?;
    let edge = if begins_word(text, at) { 40 } else { 0 };
    let early = 20 - (at.min(20) as i32);
    Some((
        60 + edge + early + 2 * word.len() as i32,
        (at..at + word.len()).collect(),
    ))
}

fn find_scattered(word: &[char], text: &[char]) -> Option<(i32, Vec<usize>)> {
    let starts =
        (0..text.len()).filter(|&at| begins_word(text, at) && text.get(at) == word.first());
    starts
        .filter_map(|start| {
            let mut at = Vec::with_capacity(word.len());
            let mut from = start;
            for c in word {
                let step = text.get(from..)?.iter().position(|it| it == c)?;
                at.push(from + step);
                from += step + 1;
            }
            let length = at.last()? - start + 1;
            let is_near = length <= word.len() * 4 + 8;
            is_near.then_some((40 - (length - word.len()) as i32, at))
        })
        .max_by_key(|(score, _)| *score)
}

/// Splits a text into pieces, each with whether it matched.
pub fn matched_pieces(text: &str, at: &[usize]) -> Vec<(bool, String)> {
    let mut pieces: Vec<(bool, String)> = Vec::new();
    for (index, c) in text.chars().enumerate() {
        let is_meant = at.binary_search(&index).is_ok();
        match pieces.last_mut() {
            Some((same, piece)) if *same == is_meant => piece.push(c),
            _ => pieces.push((is_meant, c.to_string())),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_was_typed_is_found_and_the_nearest_first() {
        for (query, first, second) in [
            ("open", "Open in editor", "Reopened by none"),
            ("oe", "Open in editor", "Who wrote the lines"),
            ("edit open", "Open in editor", "Open"),
            ("set", "Settings", "Offsets"),
            ("ÄRA", "Ära", "Arara"),
        ] {
            let (a, b) = (fit(query, first), fit(query, second));
            let a = a.unwrap();
            assert!(
                b.is_none_or(|it| it.score < a.score),
                "{query}: {first} before {second}"
            );
        }
        for (query, text) in [("zz", "Settings"), ("opne", "Open"), ("a", ""), ("😀", "x")] {
            assert_eq!(fit(query, text), None, "{query} in {text}");
        }
        assert!(fit("  ", "x").unwrap().at.is_empty());
        assert!(fit("İ", "İstanbul 😀").is_some());
    }

    #[test]
    fn what_was_meant_is_marked() {
        let fit = fit("in ed", "Open in editor").unwrap();
        let told: Vec<String> = matched_pieces("Open in editor", &fit.at)
            .into_iter()
            .map(|(meant, it)| if meant { format!("[{it}]") } else { it })
            .collect();
        assert_eq!(told.concat(), "Open [in] [ed]itor");
    }
}
