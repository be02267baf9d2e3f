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

/// Whether a character cannot be seen and yet changes what can: a control character that begins no
/// line and is no tab, or one that turns the direction of what follows.
pub fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
        || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
