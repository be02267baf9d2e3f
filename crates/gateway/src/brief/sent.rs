//! Lines of the brief as they are sent to an agent: each with its author, as data.

use engram_model::BriefLine;

use super::quote::{one_line, quoted_name, quoted_up_to};
use crate::count_tokens;

/// The lengths to which a line that does not fit is cut, in characters.
const CUTS: [usize; 5] = [300, 150, 80, 40, 10];

/// Returns the texts of the lines that together fit into `tokens` tokens, and those lines. A line
/// that does not fit is skipped.
pub fn lines_that_fit(lines: &[BriefLine], tokens: usize) -> (Vec<String>, Vec<BriefLine>) {
    let (mut texts, mut sent) = (Vec::new(), Vec::new());
    for line in lines {
        texts.push(sent_text(line, usize::MAX));
        if cost_of(&texts) > tokens {
            texts.pop();
        } else {
            sent.push(line.clone());
        }
    }
    (texts, sent)
}

/// Returns the lines to add to the reply to another request: those that fit. If none does, the
/// first is cut, and says so.
pub fn riding_lines(lines: &[BriefLine], tokens: usize) -> (Vec<String>, Vec<BriefLine>) {
    let (texts, sent) = lines_that_fit(lines, tokens);
    let Some(first) = lines.first().filter(|_| sent.is_empty()) else {
        return (texts, sent);
    };
    let is_of_brief = first.pinned || first.is_todo;
    let where_else = if is_of_brief {
        ": the brief has all of it"
    } else {
        ""
    };
    let cut = |most: usize| format!("{} (cut{where_else})", sent_text(first, most));
    let fits = |text: &String| cost_of(std::slice::from_ref(text)) <= tokens;
    match CUTS.into_iter().map(cut).find(fits) {
        Some(text) => (vec![text], vec![first.clone()]),
        None => (texts, sent),
    }
}

/// Returns a line with its author: a pin with who pinned it, a to-do with how to answer it. The
/// words of others have at most `most` characters.
fn sent_text(line: &BriefLine, most: usize) -> String {
    let by = match &line.pinned_by {
        Some(name) => quoted_name(name),
        None => "the user".to_owned(),
    };
    let mut text = match (line.pin, line.engram) {
        (Some(_), None) => format!("pin by {by}: {}", quoted_up_to(&line.text, most)),
        (Some(_), Some(_)) => format!("pinned by {by}: {}", shortened(&line.text, most)),
        _ => shortened(&line.text, most),
    };
    if line.is_todo
        && let Some(id) = line.engram
    {
        text.push_str(&format!(" (to answer, commit with corrects_lineage {id})"));
    }
    text
}

/// Cuts a line that ends in a quotation, and closes the quotation again.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    format!("{}\"", one_line(text, most))
}

/// Returns the tokens of the lines as a list.
fn cost_of(texts: &[String]) -> usize {
    serde_json::to_string(texts).map_or(usize::MAX, |it| count_tokens(&it))
}
