//! The window's view: the file around a span.

use engram_model::{Lines, Pointer, Refusal, SourceLine, SourceReply, Target};

use crate::{
    Repo, Shelf,
    locate::{self, Found},
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
    Ok(SourceReply {
        label: pointer.label(),
        digest_matches: pointer.digest.as_ref().map(|d| *d == content_digest),
        content_digest,
        lines: window(&found, context, total_lines),
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
            text: found.encoding.show(line, MAX_CHARS),
            marked: (span.start..=span.end).contains(&number),
        })
        .collect()
}
