//! Finds the source that defines a test: by syntax for common languages, otherwise at the first
//! line that names it.

use std::collections::HashSet;

use engram_model::{Lines, Refusal};
use regex::Regex;

use crate::refuse;

use super::{
    blocks::{self, LineEnd},
    languages::{Extent, Language},
};

/// Longer decorators are not recognised.
const MAX_MARK_LINES: usize = 200;
/// In longer lines, names are not looked for.
const MAX_LINE: usize = 1_000;
/// The most declarations of a name that are skipped to find its definition.
const MAX_DECLARATIONS: usize = 16;
/// The most parts of a test's name.
const MAX_PARTS: usize = 16;

/// Returns the lines of the definition of `name`, with the attributes directly above it.
pub(crate) fn find(text: &str, path: &str, name: &str) -> Result<Lines, Refusal> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let found = Language::of(path)
        .and_then(|language| KnownSource::new(text, &lines, language).defined(name))
        .or_else(|| first_mention(&lines, name));
    let (first, last) = found.ok_or_else(|| {
        refuse::not_found(
            format!(
                "{} does not define {}",
                refuse::quoted(path),
                refuse::quoted(name)
            ),
            "Write the name as in the source: test:PATH::NAME@HEAD; join nested names with ::.",
        )
    })?;
    let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    Ok(Lines {
        start: number(first),
        end: number(last),
    })
}

/// Returns the names that a text defines, in its order.
pub(crate) fn names(text: &str, path: &str) -> Vec<String> {
    const WORD: &str = r"([\p{L}_$][\p{L}\p{N}_$]{0,199})";
    let Some(language) = Language::of(path) else {
        return Vec::new();
    };
    let any_name = |pattern: &str| {
        let quoted = ['"', '\'', '`'].into_iter();
        let pattern = quoted.fold(pattern.to_owned(), |pattern, quote| {
            let any = format!("{quote}([^{quote}]{{1,200}}){quote}");
            pattern.replace(&format!("{quote}NAME{quote}"), &any)
        });
        Regex::new(&pattern.replace("NAME", WORD)).ok()
    };
    let definitions = language.definitions.iter();
    let patterns: Vec<Regex> = definitions
        .filter_map(|(pattern, _)| any_name(pattern))
        .collect();
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for line in text.lines().filter(|it| it.len() <= MAX_LINE) {
        let found = patterns.iter().find_map(|it| it.captures(line));
        let name = found.and_then(|it| it.iter().skip(1).flatten().next());
        let new = name.map(|it| it.as_str()).filter(|it| seen.insert(*it));
        all.extend(new.map(str::to_owned));
    }
    all
}

/// Returns the ways to split a name into parts, from the outermost scope to the test itself.
fn name_parts(name: &str) -> Vec<Vec<&str>> {
    let whole = name.trim();
    // pytest appends the case to the name, in brackets.
    let bare = match whole.split_once('[') {
        Some((bare, case)) if case.ends_with(']') && !bare.is_empty() => bare,
        _ => whole,
    };
    let mut ways = vec![vec![whole], vec![bare]];
    for separator in ["::", " > ", " › ", "/", ".", "#"] {
        let parts: Vec<&str> = bare
            .split(separator)
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        if (2..=MAX_PARTS).contains(&parts.len()) {
            ways.push(parts);
        }
    }
    ways.dedup();
    ways
}

/// A source in a known language.
struct KnownSource<'t> {
    lines: &'t [&'t str],
    language: &'static Language,
    ends: Vec<LineEnd>,
}

impl<'t> KnownSource<'t> {
    fn new(text: &str, lines: &'t [&'t str], language: &'static Language) -> Self {
        let ends = blocks::line_ends(text, language.lexis);
        Self {
            lines,
            language,
            ends,
        }
    }

    fn defined(&self, name: &str) -> Option<(usize, usize)> {
        let ways = name_parts(name);
        let nested = ways.iter().find_map(|way| self.within(way));
        nested.or_else(|| {
            // A scope may not contain the test, such as the class that its own class inherits from.
            ways.iter()
                .filter_map(|way| way.last())
                .find_map(|last| self.definition(last, 0, self.lines.len()))
        })
    }

    /// Narrows the file scope by scope. Skips scopes that do not exist, but fails if the test does
    /// not.
    fn within(&self, way: &[&str]) -> Option<(usize, usize)> {
        let (last, scopes) = way.split_last()?;
        let (mut from, mut to) = (0, self.lines.len());
        for scope in scopes {
            if let Some((first, end)) = self.definition(scope, from, to) {
                (from, to) = (first, end + 1);
            }
        }
        self.definition(last, from, to)
    }

    /// Returns the first definition of `name` between two lines, by the likeliest pattern that
    /// matches.
    fn definition(&self, name: &str, from: usize, to: usize) -> Option<(usize, usize)> {
        let escaped = loosened(name);
        // Most lines contain no part of the name, and are skipped without running a pattern.
        let telling = name
            .split(|c: char| !c.is_alphanumeric())
            .max_by_key(|word| word.len())
            .unwrap_or_default();
        let naming: Vec<usize> = (from..to)
            .filter(|at| self.lines[*at].contains(telling))
            .collect();
        if naming.is_empty() {
            return None;
        }
        let definitions = self.language.definitions.iter();
        definitions.into_iter().find_map(|(pattern, extent)| {
            let pattern = Regex::new(&pattern.replace("NAME", &escaped)).ok()?;
            let hits = naming.iter().filter_map(|at| {
                let hit = pattern.find(self.lines[*at])?;
                self.is_code(*at, hit.start(), *extent)
                    .then_some((*at, hit.end()))
            });
            let mut blocks = hits
                .take(MAX_DECLARATIONS)
                .map(|(at, named)| self.block(at, named, *extent, to));
            let first = blocks.next()?;
            // In languages such as C, skips a declaration without a body above the definition.
            let declared = |block: &(usize, usize)| !self.lines[block.1].contains('}');
            if *extent == Extent::Braces && !self.language.newline_ends && declared(&first) {
                return blocks.find(|block| !declared(block)).or(Some(first));
            }
            Some(first)
        })
    }

    /// Returns the block that begins at a line, with the attributes above it.
    fn block(&self, at: usize, named: usize, extent: Extent, to: usize) -> (usize, usize) {
        let line = self.lines[at];
        // If the table of cases is above the name, the call starts with the table.
        let first = if line.trim_start().starts_with([']', ')', '}', '`']) {
            self.opening(at, line)
        } else {
            at
        };
        let above: usize = self.lines[first..at].iter().map(|l| l.len()).sum();
        let last = blocks::end_of(
            self.lines,
            first,
            above + named_offset(named, line, extent),
            extent,
            self.language.lexis,
            self.language.newline_ends,
        );
        let last = last.max(at).min(to.saturating_sub(1).max(at));
        (self.with_marks(first), last)
    }

    /// Returns whether the match is code: outside comments and strings, and not a call such as
    /// `return name(x);`, which looks like a method with a type before it.
    fn is_code(&self, at: usize, start: usize, extent: Extent) -> bool {
        if at > 0 && self.ends[at - 1].inside {
            return false;
        }
        let line = self.lines[at];
        let start = start + line[start..].len() - line[start..].trim_start().len();
        let comments = self.language.lexis.line_comments;
        let word = line.split_whitespace().next().unwrap_or_default();
        let statement = matches!(
            word,
            "return"
                | "new"
                | "throw"
                | "await"
                | "else"
                | "yield"
                | "case"
                | "delete"
                | "goto"
                | "co_return"
                | "co_await"
                | "assert"
        );
        let comment = comments
            .iter()
            .any(|mark| line[..start].contains(mark) || line[start..].starts_with(mark));
        let call = statement && extent == Extent::Braces;
        !comment && !call
    }

    /// Returns the first of the attributes, annotations and decorators directly above a line.
    fn with_marks(&self, line: usize) -> usize {
        let marks = self.language.marks;
        let marked = |at: usize| {
            let text = self.lines[at].trim_start();
            marks.iter().any(|mark| text.starts_with(mark))
        };
        let (mut first, mut at) = (line, line);
        while at > 0 && !marks.is_empty() {
            let above = self.lines[at - 1].trim();
            if marked(at - 1) {
                at -= 1;
                first = at;
            } else if above.ends_with([')', ']', '}']) {
                at = self.opening(at - 1, "");
                if !marked(at) {
                    break;
                }
                first = at;
            } else if ["///", "// ", "# "]
                .iter()
                .any(|mark| above.starts_with(mark))
            {
                // A comment counts only if there are attributes above it.
                at -= 1;
            } else {
                break;
            }
        }
        first
    }

    /// Returns the line that opened the brackets closed by the line at `from`: all of them, or
    /// those that `text` begins with.
    fn opening(&self, from: usize, text: &str) -> usize {
        let depth_before = |at: usize| match at {
            0 => 0,
            at => self.ends[at - 1].depth,
        };
        let closers = text
            .trim_start()
            .bytes()
            .take_while(|b| matches!(b, b')' | b']' | b'}'))
            .count() as i32;
        let outside = match closers {
            0 => self.ends[from].depth,
            n => depth_before(from) - n,
        };
        let lowest = from.saturating_sub(MAX_MARK_LINES);
        (lowest..=from)
            .rev()
            .find(|at| depth_before(*at) <= outside)
            .unwrap_or(from)
    }
}

/// Makes a pattern of a name: quotes may be escaped in the source, and runners write spaces as
/// underscores.
fn loosened(name: &str) -> String {
    regex::escape(name)
        .replace('"', r#"\\?""#)
        .replace('\'', r"\\?'")
        .replace('_', "[_ ]")
}

/// Returns the offset in its line at which the name of a definition ends. A bracket at the end of
/// the match belongs to what follows.
fn named_offset(end: usize, line: &str, extent: Extent) -> usize {
    let consumed = line[..end].trim_end();
    match extent {
        Extent::Braces if consumed.ends_with(['{', '(', '=', ';']) => consumed.len() - 1,
        _ => end,
    }
}

/// Returns the first line that names the test, preferring a whole word.
fn first_mention(lines: &[&str], name: &str) -> Option<(usize, usize)> {
    let ways = name_parts(name);
    let mut names: Vec<&str> = vec![name.trim()];
    names.extend(ways.iter().filter_map(|way| way.last().copied()));
    let word = |c: char| c.is_alphanumeric() || c == '_';
    names
        .iter()
        .filter(|name| !name.is_empty())
        .find_map(|name| {
            lines.iter().position(|line| {
                line.match_indices(name).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    let after = line[at + name.len()..].chars().next();
                    let joins = |next: Option<char>, own: Option<char>| {
                        next.is_some_and(word) && own.is_some_and(word)
                    };
                    !joins(before, name.chars().next()) && !joins(after, name.chars().next_back())
                })
            })
        })
        .map(|at| (at, at))
}
