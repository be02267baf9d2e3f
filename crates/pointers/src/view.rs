//! The window's view: the file around a span, each line with what it is made of.

use engram_model::{Lines, Pointer, Refusal, Side, SourceLine, SourceReply, Target};

use crate::{
    Encoding, Repo, Shelf, document,
    locate::{self, Found},
    paint::{Language, Painter},
    worktree,
};

/// Longest line that is shown, in characters.
const MAX_CHARS: usize = 2000;
/// Most lines that are sent at once.
const MAX_LINES: u32 = 5000;

/// The file around the span that a pointer addresses: the span marked, at most `context` lines on
/// either side and 5,000 in all, each cut at 2,000 characters.
pub fn source(
    repo: Option<&Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
    context: u32,
) -> Result<SourceReply, Refusal> {
    let found = locate::locate(repo, shelf, pointer)?;
    let content_digest = found.pointer.digest.clone().unwrap_or_default();
    let total_lines = found.encoding.count_lines(found.file.bytes());
    let total_lines = u32::try_from(total_lines).unwrap_or(u32::MAX);
    let open_path = file_path(pointer)
        .zip(repo)
        .and_then(|(path, repo)| worktree::open_path(repo, path))
        .and_then(|path| path.to_str().map(str::to_owned));
    let language = file_path(pointer).and_then(|path| Language::of(path, &first_line(&found)));
    let mut lines = window(&found, context, total_lines);
    match &pointer.target {
        Target::Diff { .. } => sides(&mut lines, language.as_ref()),
        _ => paint(&found, &mut lines, language.as_ref()),
    }
    Ok(SourceReply {
        label: pointer.label(),
        digest_matches: pointer.digest.as_ref().map(|d| *d == content_digest),
        content_digest,
        document: match &pointer.target {
            Target::Artifact { name, .. } => document::read(name, &span_text(&found)),
            _ => Vec::new(),
        },
        language: language.map(|it| it.name().to_owned()),
        lines,
        total_lines,
        open_path,
        open_line: found.open_line,
        pointer: found.pointer,
    })
}

fn file_path(pointer: &Pointer) -> Option<&str> {
    match &pointer.target {
        Target::Repo { path, .. } | Target::Diff { path, .. } | Target::Test { path, .. } => {
            Some(path)
        }
        Target::Artifact { name, .. } => Some(name),
        Target::Sam { .. } | Target::Url { .. } => None,
    }
}

fn window(found: &Found<'_>, context: u32, total: u32) -> Vec<SourceLine> {
    if total == 0 {
        return Vec::new();
    }
    let span = found.lines.unwrap_or(Lines {
        start: 1,
        end: total,
    });
    // Whatever the context, the span comes first in what may be sent.
    let room = MAX_LINES.saturating_sub(span.end - span.start + 1) / 2;
    let context = context.min(room);
    let first = span.start.saturating_sub(context).max(1);
    let last = span.end.saturating_add(context).min(total);
    let last = last.min(first.saturating_add(MAX_LINES - 1));
    let shown = Lines {
        start: first,
        end: last,
    };
    let bytes = found.file.bytes();
    let Ok(range) = found.encoding.span(bytes, shown) else {
        return Vec::new();
    };
    let lines = found.encoding.lines(&bytes[range]);
    (first..=last)
        .zip(lines)
        .map(|(number, line)| SourceLine {
            number,
            marked: (span.start..=span.end).contains(&number),
            ..shown_line(found.encoding, line)
        })
        .collect()
}

/// The text of a line, cut where it is too long to read.
pub(crate) fn shown_line(encoding: Encoding, line: &[u8]) -> SourceLine {
    let text = encoding.show(line, MAX_CHARS);
    // The terminator is no text; more than that is missing where a line was cut.
    let missing = line.len().saturating_sub(text.len());
    let is_cut = encoding == Encoding::Utf8 && text.len() >= MAX_CHARS && missing > 2;
    SourceLine {
        cut: if is_cut {
            u32::try_from(missing).unwrap_or(u32::MAX)
        } else {
            0
        },
        text,
        ..SourceLine::default()
    }
}

fn first_line(found: &Found<'_>) -> String {
    let line = found.encoding.lines(found.file.bytes()).next();
    found.encoding.show(line.unwrap_or_default(), MAX_CHARS)
}

fn paint(found: &Found<'_>, lines: &mut [SourceLine], language: Option<&Language>) {
    let (Some(language), Some(first)) = (language, lines.first().map(|it| it.number)) else {
        return;
    };
    let mut painter = language.painter();
    let before = Lines {
        start: 1,
        end: first.saturating_sub(1),
    };
    if before.end > 0
        && let Ok(range) = found.encoding.span(found.file.bytes(), before)
    {
        let all = found.encoding.lines(&found.file.bytes()[range]);
        let near: Vec<String> = all
            .map(|line| found.encoding.show(line, MAX_CHARS))
            .collect();
        painter.skip(near.iter().map(String::as_str));
    }
    for line in lines {
        line.pieces = painter.line(&line.text);
    }
}

/// A unified diff as lines of two texts: the signs become sides, the headers of hunks numbers.
fn sides(lines: &mut Vec<SourceLine>, language: Option<&Language>) {
    let (mut before, mut now) = (0, 0);
    let mut painter = language.map(Language::painter);
    let mut in_hunk = false;
    for line in lines.iter_mut() {
        line.marked = false;
        (line.number, line.before) = (0, 0);
        if let Some((old, new)) = hunk(&line.text) {
            (before, now, in_hunk) = (old, new, true);
            line.side = Side::Hunk;
            painter = language.map(Language::painter);
            continue;
        }
        let sign = line.text.chars().next().filter(|_| in_hunk);
        line.side = match sign {
            Some('+') => Side::Added,
            Some('-') => Side::Removed,
            Some(' ') => Side::Both,
            _ => {
                // The head of the diff, and what git says of a missing line feed.
                line.side = Side::Hunk;
                continue;
            }
        };
        line.text.remove(0);
        if line.side != Side::Removed {
            line.number = now;
            now = now.saturating_add(1);
        }
        if line.side != Side::Added {
            line.before = before;
            before = before.saturating_add(1);
        }
        paint_one(painter.as_mut(), line);
    }
    // Who reads the diff sees its file and its commits in the title.
    let head = ["diff --git ", "--- ", "+++ ", "index "];
    lines
        .retain(|line| line.side != Side::Hunk || !head.iter().any(|it| line.text.starts_with(it)));
}

pub(crate) fn paint_one(painter: Option<&mut Painter>, line: &mut SourceLine) {
    if let Some(painter) = painter {
        line.pieces = painter.line(&line.text);
    }
}

/// The first lines of `@@ -12,3 +14,4 @@`.
fn hunk(text: &str) -> Option<(u32, u32)> {
    let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let first = |part: &str| part.split(',').next().and_then(|it| it.parse().ok());
    Some((first(old)?, first(new)?))
}

fn span_text(found: &Found<'_>) -> String {
    found.encoding.decode_up_to(
        &found.file.bytes()[found.range.clone()],
        document::MAX_CHARS,
    )
}
