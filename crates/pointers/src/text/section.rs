//! Finds sections of Markdown and text documents by their headings.

use engram_model::{Lines, Refusal, shorten};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::refuse;

/// The number of headings that a hint names.
const SUGGESTIONS: usize = 8;

struct Heading {
    level: HeadingLevel,
    text: String,
    id: Option<String>,
    /// 1-based.
    line: u32,
}

/// Returns the lines from a heading to the next one of the same or a higher level.
pub(crate) fn find(text: &str, asked: &str, name: &str) -> Result<Lines, Refusal> {
    let headings = headings(text);
    let Some(at) = find_heading(&headings, asked) else {
        return Err(no_section(&headings, asked, name));
    };
    let start = headings[at].line;
    let next = headings[at + 1..]
        .iter()
        .find(|h| h.level <= headings[at].level && h.line > start);
    let end = match next {
        Some(next) => next.line - 1,
        None => count(text),
    };
    Ok(Lines {
        start,
        end: end.max(start),
    })
}

fn count(text: &str) -> u32 {
    let lines = text.split_inclusive('\n').count();
    u32::try_from(lines).unwrap_or(u32::MAX)
}

/// Returns the headings of the document itself; those inside quotes and lists do not structure it.
fn headings(text: &str) -> Vec<Heading> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut headings = Vec::new();
    let mut open: Option<Heading> = None;
    let mut depth = 0u32;
    let (mut line, mut counted) = (1, 0);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::Item) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item) => depth = depth.saturating_sub(1),
            Event::Start(Tag::Heading { level, id, .. }) if depth == 0 => {
                let between = text.get(counted..range.start).unwrap_or_default();
                line += between.bytes().filter(|b| *b == b'\n').count() as u32;
                counted = range.start.max(counted);
                open = Some(Heading {
                    level,
                    text: String::new(),
                    id: id.map(|id| id.to_string()),
                    line,
                });
            }
            Event::End(TagEnd::Heading(_)) => headings.extend(open.take()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut open {
                    heading.text += &part;
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    headings
}

/// Returns the best match: first the exact words, then without a leading number, then the anchor
/// that a forge makes from them.
fn find_heading(headings: &[Heading], asked: &str) -> Option<usize> {
    let bare = asked.trim().trim_matches('#').trim();
    let rendered = self::headings(&format!("# {bare}"));
    let rendered = rendered.first().map_or("", |h| h.text.as_str());
    let wanted = [normalized(bare), normalized(rendered)];
    let by = |matches: &dyn Fn(&Heading) -> bool| headings.iter().position(matches);
    let same = |heading: &Heading| {
        let text = normalized(&heading.text);
        !text.is_empty() && wanted.contains(&text)
    };
    let same_unnumbered = |heading: &Heading| {
        let text = normalized(&heading.text);
        let text = unnumbered(&text);
        !text.is_empty() && wanted.iter().any(|wanted| unnumbered(wanted) == text)
    };
    let same_id = |heading: &Heading| {
        let id = heading.id.as_deref();
        id.is_some_and(|id| id.eq_ignore_ascii_case(bare))
    };
    by(&same)
        .or_else(|| by(&same_unnumbered))
        .or_else(|| by(&same_id))
        .or_else(|| slugs(headings).iter().position(|slug| slug == &wanted[0]))
}

/// Returns the text in lower case, without backticks, with white space collapsed.
fn normalized(text: &str) -> String {
    let text = text.replace('`', "").to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text without `3.`, `3.1`, `3.1)` and the like at its beginning.
fn unnumbered(text: &str) -> &str {
    let Some((first, rest)) = text.split_once(' ') else {
        return text;
    };
    let numbered = first.starts_with(|c: char| c.is_ascii_digit())
        && first
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ')' | ':'));
    if numbered { rest } else { text }
}

/// Returns anchors as forges make them; repeated headings get `-1`, `-2`, ...
fn slugs(headings: &[Heading]) -> Vec<String> {
    let mut seen = std::collections::HashMap::new();
    headings
        .iter()
        .map(|heading| {
            let base: String = heading
                .text
                .trim()
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect();
            let repeated = seen
                .entry(base.clone())
                .and_modify(|n| *n += 1)
                .or_insert(0);
            match *repeated {
                0 => base,
                n => format!("{base}-{n}"),
            }
        })
        .collect()
}

fn no_section(headings: &[Heading], asked: &str, name: &str) -> Refusal {
    let message = format!(
        "{} has no section {}",
        refuse::quoted(name),
        refuse::quoted(asked)
    );
    let known: Vec<String> = headings
        .iter()
        .take(SUGGESTIONS)
        .map(|h| shorten(h.text.trim(), 60))
        .collect();
    let hint = if known.is_empty() {
        "It has no headings; point at lines instead, as in repo:PATH#L10-L20@HEAD.".to_owned()
    } else {
        let more = if headings.len() > known.len() {
            ", …"
        } else {
            ""
        };
        format!("Its headings are: {}{more}.", known.join(" · "))
    };
    refuse::not_found(message, hint)
}
