//! Tests the screen from outside: what it finds, what it lets pass, in which encodings, and what a
//! masked text contains.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod encodings;
mod found;
mod harmless;
mod masking;

/// Fills in a template of the data: `{m20}` becomes twenty random letters and digits and so on, as
/// `made_up.txt` explains. Each seed gives a different text.
fn text_of(template: &str, seed: usize) -> String {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut draw = |alphabet: &str, length: usize| {
        let letters: Vec<char> = alphabet.chars().collect();
        let drawn = (0..length).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            letters[(state >> 11) as usize % letters.len()]
        });
        drawn.collect::<String>()
    };
    let template = template.replace('|', "").replace("\\n", "\n");
    let mut text = String::new();
    let mut rest = template.as_str();
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        match rest
            .find('}')
            .and_then(|end| parse_spec(&rest[1..end]).zip(Some(end)))
        {
            Some(((alphabet, length), end)) => {
                text.push_str(&draw(&alphabet, length));
                rest = &rest[end + 1..];
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

/// Reads `m20`: the alphabet and the length.
fn parse_spec(spec: &str) -> Option<(String, usize)> {
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const DIGITS: &str = "0123456789";
    let alphabet = match spec.chars().next()? {
        'm' => format!("{UPPER}{LOWER}{DIGITS}"),
        'l' => format!("{LOWER}{DIGITS}"),
        'u' => format!("{UPPER}234567"),
        'v' => format!("{LOWER}234567"),
        'U' => format!("{UPPER}{DIGITS}"),
        'h' => format!("{DIGITS}abcdef"),
        'H' => format!("{DIGITS}ABCDEF"),
        'd' => DIGITS.to_owned(),
        'b' => format!("{UPPER}{LOWER}{DIGITS}+/"),
        'w' => format!("{UPPER}{LOWER}{DIGITS}_-"),
        _ => return None,
    };
    Some((alphabet, spec[1..].parse().ok()?))
}

/// The lines of a data file, without its comments.
fn lines(data: &str) -> impl Iterator<Item = &str> {
    data.lines().filter(|line| !line.starts_with('#'))
}

#[test]
fn templates_are_filled() {
    let text = text_of("a|b{h40}-{d3}{x}\\n{", 7);
    assert!(text.starts_with("ab") && text.ends_with("{x}\n{"));
    assert_eq!(text.len(), 2 + 40 + 1 + 3 + 5);
    assert_ne!(text, text_of("a|b{h40}-{d3}{x}\\n{", 8));
}
