//! What a parent or the user may pin to the brief.

use engram_model::{Code, Limits, Refusal};

use super::quote;
use crate::{INLINE_CODE_CHARS, code_chars, count_tokens};

/// Checks a line that a parent or the user wants to pin: one line, without code, no longer than a
/// claim. The existing pins (`pinned`, the texts of their lines) and this one take at most half of
/// a brief, so that no pin is silently left out.
pub fn pin_text(text: &str, pinned: &[String], limits: &Limits) -> Result<String, Refusal> {
    let text = text.trim();
    let chars = text.chars().count();
    if chars == 0 || crate::line_count(text) > 1 {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "a pin must be one line of text",
            "Pin each line separately, or pin an engram by its id.",
        ));
    }
    if chars > limits.claim_chars {
        return Err(Refusal::new(
            Code::BudgetExceeded,
            format!(
                "the pin has {chars} characters; the limit is {}",
                limits.claim_chars
            ),
            "Shorten it, or commit an engram and pin that.",
        ));
    }
    match code_chars(text) {
        0 => {}
        chars => {
            return Err(Refusal::new(
                Code::BudgetExceeded,
                format!("the pin has {chars} characters of inline code; none are allowed"),
                "Pin a sentence and point at the code.",
            )
            .figure(INLINE_CODE_CHARS, wide(chars), 0));
        }
    }
    let line = quote::one_line(text, limits.claim_chars);
    admit_pin(&line, pinned, limits)?;
    Ok(line)
}

/// Checks whether there is room for a line beside the existing pins (`pinned`).
pub fn admit_pin(line: &str, pinned: &[String], limits: &Limits) -> Result<(), Refusal> {
    let mut texts: Vec<&str> = pinned.iter().map(String::as_str).collect();
    texts.push(line);
    leave_room(&texts, limits)
}

/// Checks that the pins leave half of the lines and tokens for the rest of a brief.
fn leave_room(pins: &[&str], limits: &Limits) -> Result<(), Refusal> {
    let tokens = serde_json::to_string(pins).map_or(usize::MAX, |it| count_tokens(&it));
    for (name, used, most) in [
        ("brief_lines", pins.len(), limits.message.brief_lines / 2),
        ("inline_tokens", tokens, limits.message.inline_tokens / 2),
    ] {
        if used > most {
            return Err(Refusal::new(
                Code::BudgetExceeded,
                format!("with this pin, pins take {used} {name}; the limit is {most}"),
                "First unpin a line that no longer matters.",
            )
            .figure(name, wide(used), wide(most)));
        }
    }
    Ok(())
}

fn wide(figure: usize) -> u64 {
    u64::try_from(figure).unwrap_or(u64::MAX)
}
