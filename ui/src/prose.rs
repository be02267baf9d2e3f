//! How text with code is typeset: backticked parts are code, and lines of Hebrew or Arabic run
//! right to left, with paths and code names in them left to right.

use std::ops::Range;

/// How a stretch of text is typeset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Plain words.
    Words,
    /// Text that was in backticks.
    Code,
    /// A path or code name among words that run right to left: it runs left to right.
    Name,
}

/// A stretch of text in one face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// How it is typeset.
    pub face: Face,
    /// Its text, in marked and unmarked pieces.
    pub pieces: Vec<(String, bool)>,
}

/// Splits a text into spans; `marked` says for each byte whether a search found it, or is empty.
/// Backticks that close on their line are dropped. Spans do not nest.
pub fn spans(text: &str, marked: &[bool]) -> Vec<Span> {
    let is_turned = text.chars().any(is_right_to_left);
    let mut spans = Vec::new();
    let mut push = |face, range: Range<usize>| {
        let pieces = pieces_of(text, range, marked);
        if !pieces.is_empty() {
            spans.push(Span { face, pieces });
        }
    };
    let words = |range: Range<usize>, push: &mut dyn FnMut(Face, Range<usize>)| {
        let mut at = range.start;
        if is_turned {
            for name in names_in(text, range.clone()) {
                push(Face::Words, at..name.start);
                at = name.end;
                push(Face::Name, name);
            }
        }
        push(Face::Words, at..range.end);
    };
    let mut at = 0;
    for (whole, inner) in codes_in(text) {
        words(at..whole.start, &mut push);
        at = whole.end;
        push(Face::Code, inner);
    }
    words(at..text.len(), &mut push);
    spans
}

/// Whether most letters outside code run right to left.
pub fn runs_right_to_left(spans: &[Span]) -> bool {
    let words = spans.iter().filter(|it| it.face == Face::Words);
    let letters = words
        .flat_map(|it| &it.pieces)
        .flat_map(|(text, _)| text.chars())
        .filter(|it| it.is_alphabetic());
    let (mut right, mut left) = (0usize, 0usize);
    for letter in letters {
        if is_right_to_left(letter) {
            right += 1
        } else {
            left += 1
        }
    }
    right > 0 && right >= left
}

/// Returns for each byte of a text whether it is in one of these ranges.
pub fn marked_bytes(text: &str, marks: &[Range<usize>]) -> Vec<bool> {
    let mut is_marked = vec![false; text.len()];
    for mark in marks {
        if let Some(marked) = is_marked.get_mut(mark.clone()) {
            marked.fill(true);
        }
    }
    is_marked
}

/// Whether a letter is of a script that runs right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
        && c.is_alphabetic()
}

fn pieces_of(text: &str, range: Range<usize>, marked: &[bool]) -> Vec<(String, bool)> {
    let mut pieces: Vec<(String, bool)> = Vec::new();
    let stretch = text.get(range.clone()).unwrap_or_default();
    for (at, letter) in stretch.char_indices() {
        let is_marked = marked.get(range.start + at).copied().unwrap_or(false);
        match pieces.last_mut() {
            Some((piece, same)) if *same == is_marked => piece.push(letter),
            _ => pieces.push((letter.to_string(), is_marked)),
        }
    }
    pieces
}

/// Finds code, with and without its backticks: equally many open and close it, on the same line.
fn codes_in(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let mut codes = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let runs = runs_of_ticks(line, start);
        let mut at = 0;
        while let Some(open) = runs.get(at) {
            let close = runs.iter().enumerate().skip(at + 1);
            let mut close = close.filter(|(_, it)| it.len() == open.len());
            let Some((index, close)) = close.next() else {
                at += 1;
                continue;
            };
            codes.push((
                open.start..close.end,
                without_padding(text, open.end..close.start),
            ));
            at = index + 1;
        }
        start += line.len();
    }
    codes
}

/// Returns the runs of backticks.
fn runs_of_ticks(line: &str, start: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        let at = start + at;
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Drops a space on each side, which separates code from its backticks.
fn without_padding(text: &str, range: Range<usize>) -> Range<usize> {
    let code = text.get(range.clone()).unwrap_or_default();
    let is_padded = code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
    if is_padded {
        range.start + 1..range.end - 1
    } else {
        range
    }
}

/// Finds paths and code names among words: runs of other scripts that contain punctuation, without
/// the punctuation around them.
fn names_in(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let stretch = text.get(range.clone()).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || is_right_to_left(c);
    let mut names = Vec::new();
    let mut at = range.start;
    for part in stretch.split_inclusive(ends) {
        let from = at;
        at += part.len();
        let mut word = part.trim_end_matches(ends);
        // Hebrew joins a prefix to a name with a hyphen.
        let is_prefixed = text
            .get(..from)
            .and_then(|it| it.chars().next_back())
            .is_some_and(is_right_to_left);
        if is_prefixed {
            word = word.trim_start_matches(['-', '־']);
        }
        let name = without_punctuation(word);
        let is_name = name.contains(|c: char| c.is_alphanumeric())
            && name.contains(|c: char| c.is_ascii_punctuation());
        if is_name {
            // Both are slices of the same text.
            let start = name.as_ptr() as usize - text.as_ptr() as usize;
            names.push(start..start + name.len());
        }
    }
    names
}

/// A word without the punctuation around it.
fn without_punctuation(word: &str) -> &str {
    let word = word.trim_start_matches(['"', '\'', '“', '‘', '«', '„']);
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '"', '\'', '”', '’', '»']);
    let word = word.strip_prefix('(').unwrap_or(word);
    if word.matches(')').count() > word.matches('(').count() {
        word.strip_suffix(')').unwrap_or(word)
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use engram_model::literal_marks;

    use super::*;

    /// Puts faces in brackets and marks in braces.
    fn told(text: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let tell = |span: Span| {
            let marked = |(text, is_marked): (String, bool)| {
                if is_marked {
                    format!("{{{text}}}")
                } else {
                    text
                }
            };
            let text: String = span.pieces.into_iter().map(marked).collect();
            match span.face {
                Face::Words => text,
                Face::Code => format!("[code {text}]"),
                Face::Name => format!("[name {text}]"),
            }
        };
        spans(text, &marked_bytes(text, &literal_marks(text, &words)))
            .into_iter()
            .map(tell)
            .collect()
    }

    #[test]
    fn what_stands_between_backticks_is_code() {
        for (text, want) in [
            ("", ""),
            ("plain -> words", "plain -> words"),
            ("`a -> b` and `c`", "[code a -> b] and [code c]"),
            ("one ` alone", "one ` alone"),
            ("`code` and ` alone", "[code code] and ` alone"),
            ("``a ` b`` c", "[code a ` b] c"),
            ("`` `a` ``", "[code `a`]"),
            ("``", "``"),
            ("`` ``", "[code  ]"),
            ("``a`", "``a`"),
            ("a `\nb` c", "a `\nb` c"),
            ("1. `a`\n2. `b`", "1. [code a]\n2. [code b]"),
            ("<b>`<i>`</b>", "<b>[code <i>]</b>"),
            ("größe `größe`", "größe [code größe]"),
        ] {
            assert_eq!(told(text, &[]), want, "{text:?}");
        }
    }

    #[test]
    fn what_a_search_found_is_marked_in_code_too() {
        for (text, words, want) in [
            ("Retry it", &["retry"][..], "{Retry} it"),
            ("call `retry(3)`", &["retry"], "call [code {retry}(3)]"),
            ("`ab`cd", &["b`c"], "[code a{b}]{c}d"),
            ("`größe` b", &["ö", "b"], "[code gr{ö}ße] {b}"),
            ("none", &["", "x"], "none"),
        ] {
            assert_eq!(told(text, words), want, "{text:?} {words:?}");
        }
    }

    #[test]
    fn names_of_code_run_left_to_right_among_words_that_do_not() {
        for (text, want, is_right) in [
            ("src/a.rs is read", "src/a.rs is read", false),
            ("הקובץ src/a.rs נטען", "הקובץ [name src/a.rs] נטען", true),
            ("`retry(3)` נקרא", "[code retry(3)] נקרא", true),
            ("(foo()) ב-x.rs.", "([name foo()]) ב-[name x.rs].", true),
            ("Redis שומר את הכול", "Redis שומר את הכול", true),
            ("ينتهي --flag", "ينتهي [name --flag]", true),
            ("The word שלום is read", "The word שלום is read", false),
            ("`שלום` is read", "[code שלום] is read", false),
            ("a -> b", "a -> b", false),
            ("", "", false),
        ] {
            assert_eq!(told(text, &[]), want, "{text:?}");
            assert_eq!(runs_right_to_left(&spans(text, &[])), is_right, "{text:?}");
        }
    }
}
