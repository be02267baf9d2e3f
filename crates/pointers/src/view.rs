//! The window's view: the file around a span, each line with what it is made of.

use engram_model::{LineReply, Lines, Pointer, Refusal, Side, SourceLine, SourceReply, Target};

use crate::{
    Encoding, Repo, Shelf, document,
    locate::Found,
    media,
    paint::{BEFORE, Language, Painter},
    recover, refuse, worktree,
};

/// Longest line that is shown with the others, in characters: nobody reads further across.
const MAX_CHARS: usize = 1000;
/// Most lines that are sent at once.
const MAX_LINES: u32 = 5000;
/// Most text that is sent at once: 5,000 lines of code are a third of it.
const MAX_TEXT: usize = 768 << 10;
/// How much text is painted without anybody noticing.
const PAINTED_SOON: usize = 32 << 10;
/// How much of a long line is read on at once, in characters.
const PART: usize = 10_000;
/// Of a line that is longer only this much is looked at.
const MAX_LINE: usize = 64 << 20;

/// How a source is to be shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Lines of surroundings on each side.
    pub context: u32,
    /// Whether the pieces of many lines are left for another call.
    pub soon: bool,
}

/// The file around the span that a pointer addresses: the span marked, with surroundings, in all no
/// more than a window takes without a stall. What is left out is counted.
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
    let media = file_path(pointer)
        .or(Some(pointer.name()).filter(|_| found.is_binary))
        .and_then(|name| media::of(name, found.file.bytes()));
    let total_lines = match found.is_binary {
        true => 0,
        false => found.encoding.count_lines(found.file.bytes()),
    };
    let total_lines = u32::try_from(total_lines).unwrap_or(u32::MAX);
    let language = file_path(pointer).and_then(|path| Language::of(path, &first_line(&found)));
    let mut lines = window(&found, view.context, total_lines);
    let shown = lines.len() as u32;
    let hidden = match found.lines {
        Some(span) => span
            .end
            .saturating_sub(lines.last().map_or(span.start, |it| it.number)),
        None => total_lines.saturating_sub(shown),
    };
    let is_diff = matches!(pointer.target, Target::Diff { .. });
    let is_long = to_paint(&found, &lines) > PAINTED_SOON;
    let unpainted = view.soon && is_long && language.is_some();
    match is_comparison(pointer) {
        true => sides(&mut lines, language.as_ref(), is_diff),
        false if unpainted => {}
        false => paint(&found, &mut lines, language.as_ref()),
    }
    let document = match &pointer.target {
        Target::Artifact { name, .. } if !found.is_binary => {
            document::read(name, &span_text(&found))
        }
        Target::Sam { .. } => document::event(&span_text(&found)),
        _ => document::Parts::default(),
    };
    let recorded = match &pointer.target {
        Target::Sam { kind, slug, date } => shelf.event(kind, slug, *date)?.map(|it| it.1),
        _ => None,
    };
    Ok(SourceReply {
        recorded,
        label: pointer.label(),
        digest_matches: pointer.digest.as_ref().map(|d| *d == content_digest),
        content_digest,
        media,
        found_in,
        hidden,
        document: document.blocks,
        document_cut: document.is_cut,
        unpainted: unpainted && !is_comparison(pointer),
        language: language.map(|it| it.name().to_owned()),
        lines,
        total_lines,
        open_path,
        open_line: found.open_line,
        pointer: found.pointer,
    })
}

/// A part of one line of what a pointer addresses; empty past its end.
pub fn line(
    repo: Option<&Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
    number: u32,
    from: u64,
) -> Result<LineReply, Refusal> {
    let (found, _) = recover::locate(repo, shelf, pointer)?;
    let only = Lines {
        start: number,
        end: number,
    };
    let bytes = found.file.bytes();
    let range = found
        .encoding
        .span(bytes, only)
        .map_err(|total| refuse::past_end(pointer.name(), number, total))?;
    let text = whole_line(found.encoding, &bytes[range]);
    let skip = usize::try_from(from).unwrap_or(usize::MAX);
    Ok(LineReply {
        total: text.chars().count() as u64,
        text: text.chars().skip(skip).take(PART).collect(),
    })
}

/// A unified diff, whoever wrote it.
fn is_comparison(pointer: &Pointer) -> bool {
    match &pointer.target {
        Target::Diff { .. } => true,
        Target::Artifact { name, .. } => {
            let name = name.to_ascii_lowercase();
            name.ends_with(".diff") || name.ends_with(".patch")
        }
        _ => false,
    }
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

/// The text of a line, cut where it is too long to read.
pub(crate) fn shown_line(encoding: Encoding, line: &[u8]) -> SourceLine {
    let mut text = encoding.show(line, MAX_CHARS + 1);
    let mut cut = 0;
    if let Some((at, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(at);
        let all = whole_line(encoding, line).chars().count();
        cut = u32::try_from(all - MAX_CHARS.min(all)).unwrap_or(u32::MAX);
    }
    SourceLine {
        cut,
        text,
        ..SourceLine::default()
    }
}

fn whole_line(encoding: Encoding, line: &[u8]) -> String {
    encoding.show(&line[..line.len().min(MAX_LINE)], MAX_LINE)
}

fn first_line(found: &Found<'_>) -> String {
    if found.is_binary {
        return String::new();
    }
    let line = found.encoding.lines(found.file.bytes()).next();
    found.encoding.show(line.unwrap_or_default(), MAX_CHARS)
}

/// How much text is read to paint these lines: what stands before them tells what they are.
fn to_paint(found: &Found<'_>, lines: &[SourceLine]) -> usize {
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
        let before = &found.file.bytes()[range];
        // Its end is enough; a part of a line is not read.
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

/// A unified diff as lines of two texts: the signs become sides, the headers of hunks numbers. What
/// stands around the hunks is told apart from them by their lengths, which their headers say.
fn sides(lines: &mut Vec<SourceLine>, language: Option<&Language>, is_of_one_file: bool) {
    let mut hunk = Hunk::default();
    let mut painter = None;
    let mut named: Option<Language> = None;
    for line in lines.iter_mut() {
        line.marked = false;
        (line.number, line.before) = (0, 0);
        let sign = line.text.chars().next();
        let Some(side) = hunk.side(sign) else {
            line.side = Side::Hunk;
            if let Some(next) = Hunk::read(&line.text) {
                hunk = next;
                painter = named.as_ref().or(language).map(Language::painter);
            } else if let Some(path) = line.text.strip_prefix("+++ ")
                && !is_of_one_file
            {
                named = Language::of(path.strip_prefix("b/").unwrap_or(path).trim_end(), "");
            }
            // Without any text it would be a gap.
            if line.text.is_empty() {
                line.text.push(' ');
            }
            continue;
        };
        line.side = side;
        if sign.is_some() {
            line.text.remove(0);
        }
        (line.before, line.number) = hunk.advance(side);
        paint_one(painter.as_mut(), line);
    }
    if is_of_one_file {
        // Who reads it sees its file and its commits in the title.
        let head = ["diff --git ", "--- ", "+++ ", "index "];
        lines.retain(|line| {
            line.side != Side::Hunk || !head.iter().any(|it| line.text.starts_with(it))
        });
    }
}

/// Where in a hunk one is: the next lines of both texts, and how many there are to come.
#[derive(Default)]
struct Hunk {
    before: u32,
    now: u32,
    left_before: u32,
    left_now: u32,
}

impl Hunk {
    /// From `@@ -12,3 +14,4 @@`.
    fn read(text: &str) -> Option<Self> {
        let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let part = |part: &str| -> Option<(u32, u32)> {
            let (first, count) = part.split_once(',').unwrap_or((part, "1"));
            Some((first.parse().ok()?, count.parse().ok()?))
        };
        let ((before, left_before), (now, left_now)) = (part(old)?, part(new)?);
        Some(Self {
            before,
            now,
            left_before,
            left_now,
        })
    }

    /// The side of a line with this sign; none where it is no line of the hunk.
    fn side(&self, sign: Option<char>) -> Option<Side> {
        match sign {
            Some('+') if self.left_now > 0 => Some(Side::Added),
            Some('-') if self.left_before > 0 => Some(Side::Removed),
            // Mail and editors strip the blank of an empty line.
            Some(' ') | None if self.left_now > 0 && self.left_before > 0 => Some(Side::Both),
            _ => None,
        }
    }

    /// The numbers of a line of this side, in the earlier text and in the later one.
    fn advance(&mut self, side: Side) -> (u32, u32) {
        let step = |next: &mut u32, left: &mut u32, is_there: bool| match is_there {
            true => {
                *left = left.saturating_sub(1);
                std::mem::replace(next, next.saturating_add(1))
            }
            false => 0,
        };
        (
            step(&mut self.before, &mut self.left_before, side != Side::Added),
            step(&mut self.now, &mut self.left_now, side != Side::Removed),
        )
    }
}

pub(crate) fn paint_one(painter: Option<&mut Painter>, line: &mut SourceLine) {
    if let Some(painter) = painter {
        line.pieces = painter.line(&line.text);
    }
}

fn span_text(found: &Found<'_>) -> String {
    found.encoding.decode_up_to(
        &found.file.bytes()[found.range.clone()],
        document::MAX_CHARS + 1,
    )
}
