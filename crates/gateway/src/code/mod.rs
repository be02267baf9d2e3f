//! Finds inline code in a message, by readable rules.
//!
//! Code is (1) anything in a fence of three backticks or tildes, or in `<pre>`; (2) indented
//! blocks: lines indented by four spaces or a tab, after a blank line, that contain code; (3) runs
//! of lines that look like code: two lines of which one is unmistakable, or three possible ones;
//! (4) two unmistakable lines with prose between them; (5) removed and added lines of a diff; (6) a
//! body, consecutive statements, or several statements in backticks, within a line of prose; (7) a
//! text that is nothing but one unmistakable line; (8) anything that decodes to one of these; (9) a
//! stretch whose words and signs are more like code than prose, in any language (`likeness.rs`);
//! (10) several statements of one unmistakable shape, as sentences or steps of a list
//! (`shapes.rs`). How lines are judged (`lines.rs`):
//! - *unmistakable*: ends with `{` or `;` and has the shape of a statement, declares (`def f(`,
//!   `fn f`, `class X:`, `#include <`), branches (`if x:`, `else:`), is SQL, markup or a diff;
//! - *possible*: assigns, calls, only closes brackets, is a key and value of a data file, or is
//!   indented under an unmistakable one.
//!
//! Disguises make no difference (`unveil.rs`, `dress.rs`, `encoded.rs`): quotation marks, line
//! numbers, list markers, tables, comments, HTML entities, escapes, zero-width characters,
//! look-alike letters, any line ending.
//!
//! Not code: `identifiers` in backticks, one configuration key, a command or one statement named in
//! a sentence, paths, pointers, prose and lists of any kind. Lines with a list marker, and prose
//! that starts with a word such as "return" or "import", count only if they have the whole shape of
//! a statement.

mod dress;
mod encoded;
mod likeness;
mod lines;
mod shapes;
mod unveil;
mod within;

pub use likeness::code_features;
use lines::{LineKind, is_hard, judge};

/// The name of the figure for the characters of code in a text.
pub const INLINE_CODE_CHARS: &str = "inline_code_chars";
/// The longest part of a line that is examined, in bytes.
const LINE_BYTES: usize = 1000;

/// Counts the characters of code in a text as its reader would see it; 0 for prose.
pub fn code_chars(text: &str) -> usize {
    code_within(text, 0)
}

/// Whether a text contains a line that may be code beside others like it. Otherwise, it is not part
/// of code spread over several texts.
pub(crate) fn may_be_spread(text: &str) -> bool {
    if is_plain(text) {
        return false;
    }
    let shown = unveil::unveiled(text);
    let reads = |it: &str| judge(head(it.trim())) != LineKind::Prose;
    let mut lines = shown.lines().map(|it| dress::unquoted(it).trim());
    lines.any(|line| {
        let compared = line.trim_start_matches(['+', '-']);
        !line.is_empty() && (reads(line) || reads(compared) || fence(line).is_some())
    })
}

/// Whether a text is a word or a line of words without any character typical of code, as most
/// texts in a message are.
fn is_plain(text: &str) -> bool {
    let (mut spaced, mut marked) = (false, false);
    for byte in text.bytes() {
        match byte {
            b' ' => spaced = true,
            b'#' | b'@' | b'/' => marked = true,
            b'.' | b',' | b'\'' | b'?' | b'-' | b'_' | b':' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
    }
    // A single word with punctuation is a pointer or a path.
    !text.ends_with(':') && (!spaced || (!marked && !lines::begins_code(text)))
}

/// Counts like [`code_chars`], in a text that was decoded `depth` times.
fn code_within(text: &str, depth: usize) -> usize {
    if is_plain(text) {
        return encoded::encoded_chars(text, depth).max(count_alike(text));
    }
    let shown = unveil::unveiled(text);
    let mut chars = count_in_lines(&shown) + encoded::encoded_chars(&shown, depth);
    chars = chars.max(count_alike(&shown));
    if *shown != *text {
        // Undoing a disguise may break a whole statement.
        chars = chars.max(count_in_lines(text));
    }
    chars.min(text.chars().count())
}

/// Counts the characters that read like code, in the text as it is, and with its lines joined if
/// they have only a few words each.
pub(crate) fn count_alike(text: &str) -> usize {
    let (lines, words) = (text.lines().count(), text.split_whitespace().count());
    let chars = likeness::code_chars(text).max(shapes::code_chars(text));
    if lines < 8 || words > 3 * lines {
        return chars;
    }
    chars.max(likeness::code_chars(&text.replace('\n', " ")))
}

fn count_in_lines(text: &str) -> usize {
    let mut scan = Scan::default();
    text.lines().for_each(|line| scan.line(line));
    let plain = scan.end().max(count_in_comments(text));
    if is_comparison(text) {
        let mut scan = Scan::default();
        text.lines().for_each(|line| scan.compared(line));
        plain.max(scan.end())
    } else {
        plain
    }
}

/// Counts the characters of code in comments, if they are more than half of the lines.
fn count_in_comments(text: &str) -> usize {
    let bare = |mark: &str| {
        let lines = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix(mark));
        lines
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect::<Vec<_>>()
    };
    let lines = text.lines().count();
    let marks = ["#", "//", "--", "%", ";"];
    let commented = marks.map(bare).into_iter();
    let most = commented.filter(|bare| bare.len() >= 3 && 2 * bare.len() > lines);
    let read = |lines: Vec<&str>| {
        let mut scan = Scan::default();
        lines.into_iter().for_each(|line| scan.line(line));
        scan.end()
    };
    most.map(read).max().unwrap_or_default()
}

/// Whether lines start like those of a diff: some with each sign, or one with `@@ -`.
fn is_comparison(text: &str) -> bool {
    if !text.contains('\n') {
        return false;
    }
    let begins = |sign: char| {
        text.lines()
            .any(|line| dress::unquoted(line).starts_with(sign))
    };
    begins('+') && begins('-') || text.lines().any(|it| it.starts_with("@@ -"))
}

/// A run of lines that may turn out to be code.
#[derive(Default)]
struct Run {
    chars: usize,
    lines: usize,
    sure: usize,
    /// The number of lines that are list items and may be settings.
    items: usize,
    /// The number of unmistakable lines with characters that prose never has, and their characters.
    hard: usize,
    hard_chars: usize,
    indented: bool,
    opens: bool,
    taken: bool,
    put: bool,
}

#[derive(Default)]
struct Scan {
    chars: usize,
    fence: Option<&'static str>,
    run: Run,
    after_blank: Option<bool>,
    lines: usize,
    /// The number of unmistakable lines and statements in backticks that stand alone, and their
    /// characters.
    alone: usize,
    alone_chars: usize,
    in_hunk: bool,
}

impl Scan {
    fn line(&mut self, line: &str) {
        let line = dress::unquoted(line);
        let trimmed = line.trim();
        self.lines += usize::from(!trimmed.is_empty());
        if self.fenced(trimmed) {
            return;
        }
        if trimmed.is_empty() {
            self.after_blank = Some(true);
            return;
        }
        let begins_block = self.after_blank.replace(false).unwrap_or(true);
        let indented = line.starts_with("    ") || line.starts_with('\t');
        let within = self.run.opens && line.starts_with([' ', '\t']);
        let head = head(trimmed);
        let chars = trimmed.chars().count();
        match judge(head) {
            LineKind::Prose if !within => self.close_run(),
            reads => {
                let sure = reads == LineKind::Surely;
                let hard = sure && is_hard(dress::undressed(head).1);
                self.run.lines += 1;
                self.run.sure += usize::from(sure);
                self.run.items += usize::from(reads == LineKind::Item);
                self.run.hard += usize::from(hard);
                self.run.hard_chars += if hard { chars } else { 0 };
                self.run.chars += chars;
                self.run.indented |= indented && begins_block;
                self.run.opens = sure || (self.run.opens && within);
            }
        }
        for chars in windows(trimmed).flat_map(within::ticked) {
            self.alone += 1;
            self.alone_chars += chars;
        }
        if windows(trimmed).any(within::contains_code) {
            self.run.sure += 2;
            self.run.lines += 2;
            self.run.chars = self.run.chars.max(chars);
            self.close_run();
        }
    }

    /// Reads a line of a diff, without its sign.
    fn compared(&mut self, line: &str) {
        let line = dress::unquoted(line);
        self.in_hunk |= line.starts_with("@@ -");
        let sign = line.chars().next().filter(|it| matches!(it, '+' | '-'));
        let Some(sign) = sign else {
            if line.trim().is_empty() {
                self.in_hunk = false;
            }
            return self.line(line);
        };
        let bare = line.trim_start_matches(['+', '-']);
        if self.in_hunk && self.fence.is_none() {
            // A line of a hunk counts whatever it contains.
            self.chars += bare.trim().chars().count();
        } else {
            self.line(bare);
        }
        self.run.taken |= sign == '-' && self.run.lines > 0;
        self.run.put |= sign == '+' && self.run.lines > 0;
    }

    /// Whether the line is a fence or inside one; code may follow a fence on the same line.
    fn fenced(&mut self, trimmed: &str) -> bool {
        if let Some(open) = self.fence {
            if trimmed.starts_with(open) || (open == "</" && trimmed.contains("</pre")) {
                self.fence = None
            } else {
                self.chars += trimmed.chars().count()
            }
            return true;
        }
        let Some(mark) = fence(trimmed) else {
            return false;
        };
        self.close_run();
        if mark == "</" {
            let inside = trimmed.split_once('>').map_or("", |it| it.1);
            let inside = inside.split("</pre").next().unwrap_or_default();
            self.chars += inside.trim().chars().count();
            self.fence = (!trimmed.contains("</pre")).then_some(mark);
            return true;
        }
        let rest = trimmed.trim_start_matches(['`', '~']);
        match rest.find("```").filter(|_| mark == "```") {
            Some(_) => self.chars += rest.trim_end_matches('`').trim().chars().count(),
            None => self.fence = Some(mark),
        }
        true
    }

    fn close_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let code = match run.lines {
            0 => false,
            1 => run.indented && run.sure > 0,
            // A list of settings or names is not code, however long.
            _ if run.items == run.lines => false,
            2 => (run.indented && run.items == 0) || run.sure > 0 || (run.taken && run.put),
            _ => true,
        };
        if code {
            self.chars += run.chars
        } else {
            self.alone += run.hard;
            self.alone_chars += run.hard_chars;
        }
    }

    /// Returns the number of characters of code, after all lines were read.
    fn end(mut self) -> usize {
        let only = self.lines == 1 && self.run.lines == 1 && self.run.sure > 0;
        let only_chars = if only { self.run.chars } else { 0 };
        self.close_run();
        match self.alone {
            0 | 1 => self.chars.max(only_chars),
            _ => (self.chars + self.alone_chars).max(only_chars),
        }
    }
}

fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES)]
}

/// Splits a line into overlapping parts, which are judged individually.
fn windows(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let window = head(line);
        let next = line.floor_char_boundary(LINE_BYTES - LINE_BYTES / 4);
        rest = (window.len() < line.len()).then(|| &line[next..]);
        Some(window)
    })
}

/// Returns what closes the fence that a line opens: three backticks or tildes at its start, or
/// `<pre>`.
fn fence(trimmed: &str) -> Option<&'static str> {
    ["```", "~~~"]
        .into_iter()
        .find(|mark| trimmed.starts_with(mark))
        .or_else(|| trimmed.starts_with("<pre").then_some("</"))
}

#[cfg(test)]
mod tests;
