//! Measures a text as its reader sees it: its lines, with any line ends, and its sentences.

/// Counts the lines of one entry of a brief. An empty entry is one line, and a final line end
/// starts none.
///
/// Every character that some reader treats as a line end counts as one: `\n`, `\r\n`, `\r`,
/// vertical tab, form feed, U+0085, U+2028, U+2029.
pub fn line_count(text: &str) -> usize {
    lines(text).count().max(1)
}

/// The lines of a text, without their line ends.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|it| !it.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(ends_line) else {
            rest = None;
            return Some(text);
        };
        let (line, after) = text.split_at(end);
        let after = after
            .strip_prefix("\r\n")
            .unwrap_or_else(|| after.get(after.ceil_char_boundary(1)..).unwrap_or_default());
        rest = Some(after).filter(|it| !it.is_empty());
        Some(line)
    })
}

/// Whether a character ends a line for some reader.
pub(crate) fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Counts sentences: each ends with punctuation before a space, or with its line.
pub fn sentence_count(text: &str) -> usize {
    sentences(text).count()
}

/// The sentences of a text, trimmed.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    lines(text)
        .flat_map(of_line)
        .filter(|it| it.chars().any(char::is_alphanumeric))
}

fn of_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = sentence_end(text);
        rest = text.get(end..).filter(|it| !it.is_empty());
        Some(text[..end].trim())
    })
}

/// The end of the first sentence of a line, in bytes.
fn sentence_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        if matches!(c, '。' | '！' | '？' | '｡') {
            return after;
        }
        if !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        // Closing quotes and brackets belong to the sentence.
        let closing = |it: char| {
            matches!(
                it,
                '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '*' | '.' | '!' | '?'
            )
        };
        let mut end = after;
        while let Some((_, next)) = chars.next_if(|it| closing(it.1)) {
            end += next.len_utf8();
        }
        let ends = text[end..].chars().next().is_none_or(char::is_whitespace);
        if ends && !(c == '.' && is_abbreviation(&text[..at])) {
            return end;
        }
    }
    text.len()
}

/// Abbreviations that end with a full stop within a sentence. Single letters count as such too.
const SHORT: [&str; 10] = [
    "e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "fig", "z.b", "d.h",
];

fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(|it: char| it.is_whitespace() || matches!(it, '(' | '"'))
        .next()
        .unwrap_or_default();
    let is_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    // The number of an item: "1. First"
    let is_number = word.len() == before.trim_start().len()
        && !word.is_empty()
        && word.bytes().all(|it| it.is_ascii_digit());
    let word = word.to_lowercase();
    is_letter || is_number || SHORT.contains(&word.as_str())
}

/// A noun with its article: a minute, an hour.
pub(crate) fn with_article(noun: &str) -> String {
    let sounds_open = noun.starts_with(['a', 'e', 'i', 'o', 'u']) || noun == "hour";
    let article = if sounds_open { "an" } else { "a" };
    format!("{article} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for end in [
            "\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            for (text, count) in [
                ("", 1),
                ("a", 1),
                ("a|", 1),
                ("a|b", 2),
                ("|", 1),
                ("||", 2),
                ("a||b|", 3),
            ] {
                let text = text.replace('|', end);
                assert_eq!(line_count(&text), count, "{text:?}");
            }
        }
        assert_eq!(line_count("a\n\rb"), 3, "two ends, not one");
    }

    #[test]
    fn sentences_are_counted() {
        for (text, count) in [
            ("", 0),
            ("...", 0),
            ("One", 1),
            ("One. Two! Three?", 3),
            ("Version 3.1 of a.rs holds, e.g. at src/b.rs, i.e. here.", 1),
            ("It said \"no.\" Then it stopped.", 2),
            ("Wait... what? Yes.", 3),
            ("- one\n- two\n\n- three", 3),
            ("1. First. 2. Second.", 2),
            ("a\u{2028}b\rc", 3),
            ("予約は原子的です。台帳を確認。", 2),
            ("See J. Doe for it.", 1),
        ] {
            assert_eq!(sentence_count(text), count, "{text:?}");
        }
    }

    #[test]
    fn a_noun_has_the_article_that_is_spoken() {
        for (noun, said) in [
            ("hour", "an hour"),
            ("minute", "a minute"),
            ("architect", "an architect"),
        ] {
            assert_eq!(with_article(noun), said);
        }
    }
}
