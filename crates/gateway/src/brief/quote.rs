//! Quotes others' words as data: on one line, with nothing hidden, and without characters that end
//! the quotation or open something else. Instructions to the reader in a claim stay between the
//! quotes.

use engram_model::is_hidden;

use crate::prose::ends_line;

/// The longest claim in a line of the brief, in characters.
pub(super) const CLAIM: usize = 200;
/// The longest name, in characters.
const NAME: usize = 40;

/// Returns a text on one line, cut with `…` after `most` characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.chars() {
        if ends_line(c) || c.is_whitespace() || c.is_control() {
            blank = true;
            continue;
        }
        if is_hidden(c) || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}') {
            continue;
        }
        if count + usize::from(blank) >= most {
            out.push('…');
            break;
        }
        if blank && !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        blank = false;
        out.push(c);
        count += 1;
    }
    out
}

/// Returns a text in double quotes that none of its characters can close, on one line of at most
/// 200 characters.
pub fn quoted(text: &str) -> String {
    quoted_up_to(text, CLAIM)
}

/// Like [`quoted`], with at most this many characters.
pub(super) fn quoted_up_to(text: &str, most: usize) -> String {
    let harmless = |c: char| match c {
        '"' | '`' | '“' | '”' | '„' | '‟' | '″' | '＂' | '«' | '»' | '´' | '‘' | '’' | '‚'
        | '＇' | '｀' | '「' | '」' | '『' | '』' => '\'',
        // Markup characters, and those of a model's special tokens
        '<' | '＜' => '‹',
        '>' | '＞' => '›',
        '\\' => '/',
        other => other,
    };
    let text: String = one_line(text, most).chars().map(harmless).collect();
    format!("\"{text}\"")
}

/// Returns a name without quotation marks. Unsafe characters become `_`, because dropping them
/// could turn it into another name.
pub(super) fn quoted_name(text: &str) -> String {
    // No agent can have this name.
    if text == "user" {
        return "the user".to_owned();
    }
    let marked = |c: char| match c {
        // Parentheses are reserved for what the brief itself says about a claim.
        '(' => '[',
        ')' => ']',
        '-' | '_' | '.' | '/' | '@' | ' ' | '…' => c,
        c if c.is_alphanumeric() => c,
        _ => '_',
    };
    let text = one_line(text, NAME);
    // What the name has in parentheses follows a dot, as a role does in the window.
    let parts = text.strip_suffix(')').and_then(|it| it.split_once(" ("));
    let marked_text = |text: &str| text.chars().map(marked).collect::<String>();
    let text = match parts {
        Some((name, more)) if ![name, more].concat().contains(['(', ')']) => {
            format!("{} · {}", marked_text(name), marked_text(more))
        }
        _ => marked_text(&text),
    };
    if text.contains(char::is_alphanumeric) {
        text.trim().to_owned()
    } else {
        "somebody".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_no_other_name() {
        for (given, want) in [
            ("user", "the user"),
            ("The user!", "The user_"),
            ("|user|", "_user_"),
            ("us|er", "us_er"),
            ("reviewer (user)", "reviewer · user"),
            ("reviewer · user", "reviewer _ user"),
            ("a (b) (c)", "a [b] [c]"),
            ("claude-code", "claude-code"),
            ("!!!", "somebody"),
            ("小林", "小林"),
        ] {
            assert_eq!(quoted_name(given), want);
        }
    }
}
