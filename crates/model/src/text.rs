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

/// A text as it is, with what is [hidden](is_hidden) in it named: `⟨U+202E⟩`. So is a return that ends no
/// line: a terminal writes what follows over what stands there.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let overwrites = c == '\r' && rest.peek().is_some_and(|next| *next != '\n');
        match is_hidden(c) || overwrites {
            true => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            false => shown.push(c),
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
