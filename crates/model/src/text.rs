//! Makes text from unknown sources safe to show.

/// Shortens to at most `max` characters on one line: control characters become spaces, and `…`
/// replaces the rest.
pub fn shorten(text: &str, max: usize) -> String {
    let mut chars = text.chars();
    let mut out: String = chars
        .by_ref()
        .take(max)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Splits a type name into words: `FactType` becomes `fact type`.
pub(crate) fn spaced(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// A noun in the singular and the plural.
pub type Noun = (&'static str, &'static str);

/// Formats a count: `1 engram`, `1,284 engrams`.
pub fn format_count(number: u64, (one, many): Noun) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", thousands(number))
}

/// Formats a number: `1,284`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Whether a character is invisible and yet changes how other text looks: a control character other
/// than a line break or tab, a character that changes the direction of text, or a mark that
/// disguises it. The joiners U+200C and U+200D are not hidden: languages and emoji need them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}')
        || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// Returns the first invisible character that no script needs: a tag, variation selector, direction
/// mark or zero-width space. Such characters can spell words that a model reads and a person does
/// not see. A joiner between two non-ASCII letters and a selector after an emoji are allowed.
/// Control characters are not returned: every surface shows them.
pub fn find_unseen(text: &str) -> Option<char> {
    let joins =
        |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_unseen(c) && !is_joiner(c));
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_written = match c {
            '\u{200C}' | '\u{200D}' => {
                (joins(before) || before == Some('\u{FE0F}')) && joins(rest.peek().copied())
            }
            '\u{FE0E}' | '\u{FE0F}' => {
                joins(before)
                    || before.is_some_and(|c| c.is_ascii_digit() || matches!(c, '#' | '*'))
            }
            c => !is_unseen(c),
        };
        if !is_written {
            return Some(c);
        }
        before = Some(c);
    }
    None
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}')
}

fn is_unseen(c: char) -> bool {
    // Line and paragraph separators are shown as line breaks.
    is_hidden(c) && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')
        || matches!(c,
            '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0D}' | '\u{FFA0}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0080}'..='\u{E0FFF}' | '\u{FFF0}'..='\u{FFF8}' | '\u{FFFE}' | '\u{FFFF}'
            // Musical null note, Egyptian joiner, Khitan filler
            | '\u{1D159}' | '\u{13430}'..='\u{1343F}' | '\u{16FE4}')
}

/// Returns a text in which each [hidden](is_hidden) character is named: `⟨U+202E⟩`. So is a
/// carriage return that ends no line: a terminal would write the following text over the line.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let overwrites = c == '\r' && rest.peek().is_some_and(|next| *next != '\n');
        if is_hidden(c) || overwrites {
            shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)))
        } else {
            shown.push(c)
        }
    }
    shown
}

/// Folds a text to lower case and single spaces. Texts that fold to the same words are the same
/// claim.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_told_from_writing() {
        for written in [
            "",
            "It holds: 1 < 2.\n\tYes.",
            "می\u{200C}خواهم این را بدانم.",
            "क्\u{200D}ष",
            "👨\u{200D}👩\u{200D}👧 ❤\u{FE0F}\u{200D}🔥 1\u{FE0F}\u{20E3} ☑\u{FE0F}",
            "a\u{301}\u{302}",
            "\u{1B}[0m",
        ] {
            assert_eq!(find_unseen(written), None, "{written:?}");
        }
        for hidden in [
            "a\u{E0041}\u{E0042}",
            "\u{202E}abc",
            "a\u{2067}b",
            "re\u{200B}tries",
            "a\u{AD}b",
            "\u{FEFF}a",
            "a\u{200D}b",
            "☑\u{FE0F}\u{FE0E}\u{FE0F}",
            "☑\u{FE01}",
            "葛\u{E0100}",
            "👨\u{200D}\u{200D}👩",
            "می\u{200C}",
            "a\u{3164}b",
            "a\u{1D173}b",
            "a\u{1BCA0}b",
            "a\u{FFFF}b",
            "a\u{FFF0}b",
            "a\u{16FE4}b",
        ] {
            assert!(find_unseen(hidden).is_some(), "{hidden:?}");
        }
    }

    #[test]
    fn what_hides_in_a_text_is_named() {
        for (text, want) in [
            ("", ""),
            ("plain\n\tfamily 👨‍👩‍👧 é", "plain\n\tfamily 👨‍👩‍👧 é"),
            ("\u{1b}[31mred\0\u{7f}", "⟨U+001B⟩[31mred⟨U+0000⟩⟨U+007F⟩"),
            ("\u{9b}31m", "⟨U+009B⟩31m"),
            ("a\u{202E}b\u{202C}", "a⟨U+202E⟩b⟨U+202C⟩"),
            ("a\u{2066}\u{200B}\u{E0041}", "a⟨U+2066⟩⟨U+200B⟩⟨U+E0041⟩"),
            ("one\r\ntwo\rover\r", "one\r\ntwo⟨U+000D⟩over\r"),
        ] {
            assert_eq!(visible(text), want);
        }
    }
}
