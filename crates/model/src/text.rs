//! Text of strangers, made fit to be shown.

/// At most `max` characters, on one line: control characters become spaces, and `…` stands for the rest.
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

/// The name of a type as words: `FactType` is a fact type.
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

/// One and several of something.
pub type Noun = (&'static str, &'static str);

/// `1 engram`, `1,284 engrams`.
pub fn count(number: u64, (one, many): Noun) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", thousands(number))
}

/// `1,284`.
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

/// Whether a character cannot be seen and yet changes what can: a control character that begins no
/// line and is no tab, one that turns the direction of what follows, or a mark that disguises it. The
/// joiners U+200C and U+200D are none: languages and emoji are written with them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}')
        || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// The first invisible character of a text that no script needs: tags, variation selectors, direction marks,
/// zero-width spaces. They can spell words that a model reads and a person does not. A joiner between two
/// letters beyond ASCII and the selector after an emoji are writing; control characters are shown everywhere.
pub fn unseen(text: &str) -> Option<char> {
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
    // Ends of lines and paragraphs are read as such.
    is_hidden(c) && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')
        || matches!(c,
            '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0D}' | '\u{FFA0}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0080}'..='\u{E0FFF}' | '\u{FFFE}' | '\u{FFFF}')
}

/// A text as it is, with what is [hidden](is_hidden) in it named: `⟨U+202E⟩`. So is a return that ends no
/// line: a terminal writes what follows over what stands there.
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

/// The words of a text in lower case with single spaces: texts with equal words are the same claim.
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
            assert_eq!(unseen(written), None, "{written:?}");
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
        ] {
            assert!(unseen(hidden).is_some(), "{hidden:?}");
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
