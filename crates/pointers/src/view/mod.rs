//! The window's view: the file around a span, with each line split into classified pieces.

pub(crate) mod blame;
mod comparison;
mod document;
pub(crate) mod paint;
pub(crate) mod standing;

use engram_model::{LineReply, Lines, Media, Pointer, Refusal, SourceLine, SourceReply, Target};

use crate::{Encoding, Repo, Shelf, locate::PointedFile, recover, refuse, text::media, worktree};

use paint::{BEFORE, Grammar, Painter};

/// The longest line that is shown in full, in characters; nobody reads further across.
const MAX_CHARS: usize = 1000;
/// The most lines that are sent at once.
const MAX_LINES: u32 = 5000;
/// The most bytes of text sent at once; 5,000 lines of code are a third of it.
const MAX_TEXT: usize = 768 << 10;
/// The bytes of text that can be painted without a noticeable delay.
const PAINTED_SOON: usize = 32 << 10;
/// The characters of a long line that are sent for each further request.
const PART: usize = 10_000;

/// How to show a source.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// The number of surrounding lines on each side.
    pub context: u32,
    /// Whether painting many lines is left to a later call.
    pub soon: bool,
}

/// Returns the file around the span of a pointer: the span marked, with surroundings, limited to
/// what a window shows without a stall. Counts what is left out.
pub fn source(
    repo: Option<&Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
    view: View,
) -> Result<SourceReply, Refusal> {
    let (found, found_in) = recover::locate(repo, shelf, pointer)?;
    let content_digest = found.pointer.digest.clone().unwrap_or_default();
    let open_path = file_path(pointer)
        .zip(repo)
        .and_then(|(path, repo)| worktree::open_path(repo, path))
        .and_then(|path| path.to_str().map(str::to_owned));
    let total_lines = if found.is_binary {
        0
    } else {
        found.encoding.count_lines(found.file.bytes())
    };
    let total_lines = u32::try_from(total_lines).unwrap_or(u32::MAX);
    let language = file_path(pointer).and_then(|path| Grammar::of(path, &first_line(&found)));
    let mut lines = window(&found, view.context, total_lines);
    let hidden = count_hidden(&found, &lines, total_lines);
    let mut unpainted = false;
    if comparison::is_one(pointer) {
        let is_of_one_file = matches!(pointer.target, Target::Diff { .. });
        comparison::sides(&mut lines, language.as_ref(), is_of_one_file);
    } else if let Some(language) = &language {
        unpainted = view.soon && to_paint(&found, &lines) > PAINTED_SOON;
        if !unpainted {
            paint(&found, &mut lines, language);
        }
    }
    let document = document(&found, pointer);
    let recorded = match &pointer.target {
        Target::Sam { kind, slug, date } => shelf.event(kind, slug, *date)?.map(|it| it.1),
        _ => None,
    };
    Ok(SourceReply {
        label: pointer.label(),
        digest_matches: pointer.digest.as_ref().map(|d| *d == content_digest),
        content_digest,
        media: media(&found, pointer),
        found_in,
        recorded,
        hidden,
        document: document.blocks,
        document_cut: document.is_cut,
        unpainted,
        language: language.map(|it| it.name().to_owned()),
        lines,
        total_lines,
        open_path,
        open_line: found.open_line,
        pointer: found.pointer,
    })
}

/// Returns how many lines of the span are missing from `lines`.
fn count_hidden(found: &PointedFile<'_>, lines: &[SourceLine], total: u32) -> u32 {
    match found.lines {
        Some(span) => span
            .end
            .saturating_sub(lines.last().map_or(span.start, |it| it.number)),
        None => total.saturating_sub(lines.len() as u32),
    }
}

fn media(found: &PointedFile<'_>, pointer: &Pointer) -> Option<Media> {
    match &pointer.target {
        Target::Diff { .. } | Target::Sam { .. } => None,
        _ => media::of(pointer.name(), found.file.bytes()),
    }
}

fn document(found: &PointedFile<'_>, pointer: &Pointer) -> document::Parts {
    match &pointer.target {
        Target::Artifact { name, .. } if !found.is_binary => {
            document::read(name, &span_text(found))
        }
        Target::Sam { .. } => document::event(&span_text(found)),
        _ => document::Parts::default(),
    }
}

/// Returns part of one line of what a pointer addresses; empty past its end.
pub fn line(
    repo: Option<&Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
    number: u32,
    from: u64,
) -> Result<LineReply, Refusal> {
    let (found, _) = recover::locate(repo, shelf, pointer)?;
    if found.is_binary {
        return Err(refuse::binary(pointer.name()));
    }
    let only = Lines {
        start: number,
        end: number,
    };
    let bytes = found.file.bytes();
    let range = found
        .encoding
        .span(bytes, only)
        .map_err(|total| refuse::past_end(pointer.name(), number, total))?;
    let skip = usize::try_from(from).unwrap_or(usize::MAX);
    let (total, text) = found.encoding.part(&bytes[range], skip, PART);
    Ok(LineReply {
        total: total as u64,
        text,
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

fn window(found: &PointedFile<'_>, context: u32, total: u32) -> Vec<SourceLine> {
    if total == 0 {
        return Vec::new();
    }
    let span = found.lines.unwrap_or(Lines {
        start: 1,
        end: total,
    });
    // The span takes precedence over the surroundings.
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
    let mut left = MAX_TEXT;
    let lines = found.encoding.lines(&bytes[range]);
    (first..=last)
        .zip(lines)
        .map(|(number, line)| SourceLine {
            number,
            marked: (span.start..=span.end).contains(&number),
            ..shown_line(found.encoding, line)
        })
        .take_while(|line| {
            let is_first = left == MAX_TEXT;
            left = left.saturating_sub(line.text.len() + 1);
            is_first || left > 0
        })
        .collect()
}

/// Returns a line, with its text cut if it is too long to read.
pub(crate) fn shown_line(encoding: Encoding, line: &[u8]) -> SourceLine {
    let mut text = encoding.show(line, MAX_CHARS + 1);
    let mut cut = 0;
    if let Some((at, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(at);
        let (all, _) = encoding.part(line, 0, 0);
        cut = u32::try_from(all - MAX_CHARS.min(all)).unwrap_or(u32::MAX);
    }
    SourceLine {
        cut,
        text,
        ..SourceLine::default()
    }
}

fn first_line(found: &PointedFile<'_>) -> String {
    if found.is_binary {
        return String::new();
    }
    let line = found.encoding.lines(found.file.bytes()).next();
    found.encoding.show(line.unwrap_or_default(), MAX_CHARS)
}

/// Returns how many bytes are read to paint these lines, including the text before them, which
/// decides how they are painted.
fn to_paint(found: &PointedFile<'_>, lines: &[SourceLine]) -> usize {
    let first = lines.first().map_or(1, |it| it.number);
    let before = Lines {
        start: 1,
        end: first.saturating_sub(1),
    };
    let before = match before.end {
        0 => 0,
        _ => {
            let range = found.encoding.span(found.file.bytes(), before);
            range.map_or(0, |it| it.len().min(BEFORE))
        }
    };
    before + lines.iter().map(|it| it.text.len()).sum::<usize>()
}

fn paint(found: &PointedFile<'_>, lines: &mut [SourceLine], language: &Grammar) {
    let first = lines.first().map_or(1, |it| it.number);
    let mut painter = language.painter();
    let before = Lines {
        start: 1,
        end: first.saturating_sub(1),
    };
    if before.end > 0
        && let Ok(range) = found.encoding.span(found.file.bytes(), before)
    {
        let before = &found.file.bytes()[range];
        // Reads only the end of that text, from the next whole line.
        let far = before.len().saturating_sub(BEFORE) / 4 * 4;
        let all = found.encoding.lines(&before[far..]);
        let near: Vec<String> = all
            .skip(usize::from(far > 0))
            .map(|line| found.encoding.show(line, MAX_CHARS))
            .collect();
        painter.skip(near.iter().map(String::as_str));
    }
    for line in lines {
        line.pieces = painter.line(&line.text);
    }
}

pub(crate) fn paint_one(painter: Option<&mut Painter>, line: &mut SourceLine) {
    if let Some(painter) = painter {
        line.pieces = painter.line(&line.text);
    }
}

fn span_text(found: &PointedFile<'_>) -> String {
    found.encoding.decode_up_to(
        &found.file.bytes()[found.range.clone()],
        document::MAX_CHARS + 1,
    )
}
