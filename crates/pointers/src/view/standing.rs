//! Compares the evidence of a pointer with the working tree: the bytes are the same, moved, changed
//! or gone, and how they changed. Lines are followed as by [`crate::Anchors`]; a text that cannot
//! be followed (UTF-16, very large) is compared at its old place.

use std::ops::Range;

use engram_model::{DiffSide, Lines, Pin, Pointer, Reading, Refusal, SourceLine, SpanNow, Target};
use git2::{DiffLineType, DiffOptions, Patch};

use crate::{
    Anchors, Encoding, PinnedSpan, Repo, Shelf, SpanOrigin,
    locate::PointedFile,
    recover, refuse, sha256_hex,
    text::media,
    track::{Anchor, Span, SpanState},
    view, worktree,
};

use super::paint::{Grammar, Painter};

/// The number of unchanged lines around each change.
const CONTEXT: u32 = 3;
/// The longest comparison that is sent with all unchanged lines; the page folds them.
const MAX_UNFOLDED: usize = 300;
/// The most lines of a comparison that are sent. A change at this limit is sent to its end if that
/// is near.
const MAX_LINES: usize = 600;
const MAX_WHOLE: usize = 2 * MAX_LINES;
/// The most lines of a change beyond the span that are shown with it.
const MAX_BEYOND: usize = 60;
/// More surrounding lines than any text has.
const WHOLE: u32 = 50_000_000;
/// For larger files, only the fact that they differ is reported.
const MAX_COMPARED: usize = 4 << 20;
/// For files with more lines than this, too, only the fact that they differ is reported.
const MAX_HEIGHT: u64 = 100_000;

/// Compares the span of a pointer with the working tree.
pub fn standing_of(
    repo: Option<&Repo>,
    shelf: &dyn Shelf,
    pointer: &Pointer,
) -> Result<SpanNow, Refusal> {
    let path = match &pointer.target {
        Target::Repo { path, .. } | Target::Test { path, .. } => path,
        Target::Artifact { name, .. } => name,
        Target::Diff { .. } | Target::Sam { .. } | Target::Url { .. } => {
            return Err(refuse::invalid(
                "this pointer's target is not in a working tree",
                "Read its pinned version.",
            ));
        }
    };
    let repo = repo.ok_or_else(refuse::no_repository)?;
    let (found, _) = recover::locate(Some(repo), shelf, pointer)?;
    if let Some(anchor) = follow_span(repo, shelf, path, &found) {
        return by_anchor(repo, path, &found, anchor);
    }
    let Some(now) = worktree::read_now(repo, path)? else {
        return Ok(standing_without_changes(Reading::Gone, None));
    };
    let standing = compare(&found, path, &now);
    let is_edited = standing.reading == Reading::Edited;
    let digest = is_edited.then(|| digest_now(&found, &now, standing.lines));
    Ok(SpanNow {
        digest: digest.flatten(),
        ..standing
    })
}

/// Returns where the span is by following its lines; `None` if they cannot be followed.
fn follow_span(
    repo: &Repo,
    shelf: &dyn Shelf,
    path: &str,
    found: &PointedFile<'_>,
) -> Option<Anchor> {
    repo.workdir()?;
    let origin = match &found.pointer.target {
        Target::Repo { pin, .. } | Target::Test { pin, .. } | Target::Artifact { pin, .. } => {
            match pin {
                Pin::Rev(commit) => SpanOrigin::Commit(commit.clone()),
                Pin::Digest(digest_hex) => SpanOrigin::Kept {
                    digest_hex: digest_hex.clone(),
                    // Follows as the health check does, so that the two agree.
                    base: shelf.base(path, digest_hex),
                },
                Pin::Worktree => return None,
            }
        }
        _ => return None,
    };
    let total = || u32::try_from(found.encoding.count_lines(found.file.bytes())).ok();
    let lines = match found.lines {
        Some(lines) => lines,
        None => Lines {
            start: 1,
            end: total().filter(|it| *it > 0)?,
        },
    };
    let pinned = PinnedSpan {
        origin,
        span: Span {
            path: path.to_owned(),
            start: lines.start,
            end: lines.end,
        },
    };
    let looked = Anchors::default().standings(repo, shelf, &[pinned]).ok()?;
    looked.standings.into_iter().next()?.here.ok()
}

fn by_anchor(
    repo: &Repo,
    path: &str,
    found: &PointedFile<'_>,
    anchor: Anchor,
) -> Result<SpanNow, Refusal> {
    let place = anchor.place.as_ref();
    // A whole file has no lines of its own.
    let lines = place.filter(|_| found.lines.is_some()).map(|it| Lines {
        start: it.start,
        end: it.end,
    });
    let moved_to = place.map(|it| it.path.clone()).filter(|it| it != path);
    let standing = match anchor.state {
        SpanState::Unchanged => standing_without_changes(Reading::Same, lines),
        SpanState::Moved => standing_without_changes(Reading::Moved, lines),
        SpanState::Renamed => standing_without_changes(Reading::Renamed, lines),
        SpanState::Edited(_) => {
            let at = moved_to.as_deref().unwrap_or(path);
            let now = worktree::read_now(repo, at)?.unwrap_or_default();
            let shown = standing_of_edited(found, at, &now, found.lines);
            let lines = lines.or(shown.lines);
            SpanNow {
                reading: Reading::Edited,
                lines,
                digest: digest_now(found, &now, lines),
                ..shown
            }
        }
        SpanState::Deleted => match worktree::read_now(repo, path)? {
            Some(now) => SpanNow {
                reading: Reading::Gone,
                lines: None,
                ..standing_of_edited(found, path, &now, found.lines)
            },
            None => standing_without_changes(Reading::Gone, None),
        },
    };
    Ok(SpanNow {
        path: moved_to,
        ..standing
    })
}

/// Returns the digest of the span in the working tree, as a pointer to it would have.
fn digest_now(found: &PointedFile<'_>, now: &[u8], lines: Option<Lines>) -> Option<String> {
    let range = match lines {
        Some(lines) => found.encoding.span(now, lines).ok()?,
        None => 0..now.len(),
    };
    Some(format!("sha256:{}", sha256_hex(now.get(range)?)))
}

fn standing_without_changes(reading: Reading, lines: Option<Lines>) -> SpanNow {
    SpanNow {
        reading,
        path: None,
        lines,
        digest: None,
        changes: Vec::new(),
        hidden: 0,
        media: None,
    }
}

fn compare(found: &PointedFile<'_>, path: &str, now: &[u8]) -> SpanNow {
    let then = found.file.bytes();
    let Some(lines) = found.lines else {
        return if then == now {
            standing_without_changes(Reading::Same, None)
        } else {
            standing_of_edited(found, path, now, None)
        };
    };
    let span = &then[found.range.clone()];
    if found
        .encoding
        .span(now, lines)
        .is_ok_and(|range| now[range] == *span)
    {
        return standing_without_changes(Reading::Same, Some(lines));
    }
    match find_elsewhere(found, now, span, lines) {
        Some(lines) => standing_without_changes(Reading::Moved, Some(lines)),
        None => standing_of_edited(found, path, now, Some(lines)),
    }
}

/// Returns where the same lines are now: the place nearest to the old one.
fn find_elsewhere(found: &PointedFile<'_>, now: &[u8], span: &[u8], lines: Lines) -> Option<Lines> {
    // White space is found everywhere.
    if span.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let height = lines.end - lines.start;
    let starts = |at: usize| -> Option<u32> {
        let before = found.encoding.count_lines(&now[..at]);
        let start = u32::try_from(before).ok()?.checked_add(1)?;
        let there = Lines {
            start,
            end: start.checked_add(height)?,
        };
        let range = found.encoding.span(now, there).ok()?;
        (now[range] == *span).then_some(start)
    };
    let places = memchr::memmem::find_iter(now, span).take(64);
    let nearest = places
        .filter_map(starts)
        .min_by_key(|start| start.abs_diff(lines.start))?;
    Some(Lines {
        start: nearest,
        end: nearest + height,
    })
}

/// One line of a comparison, with its number on each side.
struct ComparedLine {
    then: Option<u32>,
    now: Option<u32>,
    side: DiffSide,
    bytes: Vec<u8>,
}

fn standing_of_edited(
    found: &PointedFile<'_>,
    path: &str,
    now: &[u8],
    lines: Option<Lines>,
) -> SpanNow {
    let then = found.file.bytes();
    let lines_of = |it: &[u8]| Encoding::Utf8.count_lines(it);
    let too_large =
        then.len().max(now.len()) > MAX_COMPARED || lines_of(then).max(lines_of(now)) > MAX_HEIGHT;
    let is_text = Encoding::of_file(now) == Some(found.encoding);
    if too_large || !is_text || found.is_binary || found.encoding != Encoding::Utf8 {
        return SpanNow {
            media: media::of(path, now).filter(|it| !it.kind.has_lines()),
            ..standing_without_changes(Reading::Edited, None)
        };
    }
    let compared = match compare_whole(then, now) {
        Ok(compared) => compared,
        Err(error) => {
            tracing::debug!(%error, "two texts cannot be compared");
            return standing_without_changes(Reading::Edited, None);
        }
    };
    let total = u32::try_from(found.encoding.count_lines(then)).unwrap_or(u32::MAX);
    let span = lines.unwrap_or(Lines {
        start: 1,
        end: total.max(1),
    });
    let (part, there) = around(&compared, span);
    let reading = match there {
        Some(_) => Reading::Edited,
        None => Reading::Gone,
    };
    let language = Grammar::of(path, "");
    let (changes, hidden) = shown_lines(part, span, language.as_ref());
    SpanNow {
        lines: there,
        changes,
        hidden,
        ..standing_without_changes(reading, None)
    }
}

/// Returns every line of both texts, in order.
fn compare_whole(then: &[u8], now: &[u8]) -> Result<Vec<ComparedLine>, git2::Error> {
    let mut options = DiffOptions::new();
    options.context_lines(WHOLE).interhunk_lines(0);
    let patch = Patch::from_buffers(then, None, now, None, Some(&mut options))?;
    let mut all = Vec::new();
    for hunk in 0..patch.num_hunks() {
        for line in 0..patch.num_lines_in_hunk(hunk)? {
            let line = patch.line_in_hunk(hunk, line)?;
            let side = match line.origin_value() {
                DiffLineType::Addition => DiffSide::Added,
                DiffLineType::Deletion => DiffSide::Removed,
                DiffLineType::Context => DiffSide::Both,
                _ => continue, // git's note on a missing line feed
            };
            all.push(ComparedLine {
                then: line.old_lineno(),
                now: line.new_lineno(),
                side,
                bytes: line.content().to_vec(),
            });
        }
    }
    Ok(all)
}

/// Returns the lines of the span with lines inserted among them and some surroundings, and the
/// present place of what is left of the span.
fn around(all: &[ComparedLine], span: Lines) -> (&[ComparedLine], Option<Lines>) {
    let inside = |it: &ComparedLine| {
        it.then
            .is_some_and(|n| (span.start..=span.end).contains(&n))
    };
    let (Some(mut first), Some(mut last)) =
        (all.iter().position(inside), all.iter().rposition(inside))
    else {
        return (&[], None);
    };
    // A replaced line comes before its replacement, which belongs to the span too.
    if all[last].side == DiffSide::Removed {
        while all
            .get(last + 1)
            .is_some_and(|it| it.side == DiffSide::Added)
        {
            last += 1;
        }
    }
    if all[first].side == DiffSide::Removed {
        while first > 0 && all[first - 1].side == DiffSide::Added {
            first -= 1;
        }
    }
    let numbers = || all[first..=last].iter().filter_map(|it| it.now);
    let there = numbers().min().zip(numbers().max());
    (
        &all[with_surroundings(all, first, last)],
        there.map(|(start, end)| Lines { start, end }),
    )
}

/// Returns the range of these lines with their surroundings. It cuts no change in two: lines that
/// were replaced would look deleted. A change that begins in `first..=last` is whole unless it
/// is long, and one that only the surroundings would cut is left out.
fn with_surroundings(all: &[ComparedLine], mut first: usize, mut last: usize) -> Range<usize> {
    let is_changed = |at: usize| all.get(at).is_some_and(|it| it.side != DiffSide::Both);
    let (mut begin, mut end) = (first, last);
    while begin > 0 && is_changed(begin) && is_changed(begin - 1) {
        begin -= 1;
    }
    while is_changed(end) && is_changed(end + 1) {
        end += 1;
    }
    // Of a longer change, only the part around the span fits.
    if first - begin + end - last <= MAX_BEYOND {
        (first, last) = (begin, end);
    }
    let mut from = first.saturating_sub(CONTEXT as usize);
    if from > 0 && is_changed(from - 1) {
        while from < first && is_changed(from) {
            from += 1;
        }
    }
    let mut to = (last + 1 + CONTEXT as usize).min(all.len());
    if is_changed(to) {
        while to > last + 1 && is_changed(to - 1) {
            to -= 1;
        }
    }
    from..to
}

/// Returns the first change that is too long to send in full; only the beginning of each of its
/// sides is sent.
fn long_change(part: &[ComparedLine]) -> Option<Range<usize>> {
    let mut from = 0;
    for run in part.chunk_by(|a, b| (a.side == DiffSide::Both) == (b.side == DiffSide::Both)) {
        let range = from..from + run.len();
        from = range.end;
        let is_change = run.first().is_some_and(|it| it.side != DiffSide::Both);
        if is_change && run.len() > MAX_WHOLE {
            return Some(range);
        }
    }
    None
}

/// Returns the changes with their surroundings, and how many lines are left out: in a long
/// comparison, runs of unchanged lines.
fn shown_lines(
    part: &[ComparedLine],
    span: Lines,
    language: Option<&Grammar>,
) -> (Vec<SourceLine>, u32) {
    let is_short = part.len() <= MAX_UNFOLDED;
    let near = |at: usize| {
        if is_short {
            return true;
        }
        let from = at.saturating_sub(CONTEXT as usize);
        let to = (at + 1 + CONTEXT as usize).min(part.len());
        part[from..to].iter().any(|it| it.side != DiffSide::Both)
    };
    let mut then: Option<Painter> = language.map(Grammar::painter);
    let mut now: Option<Painter> = language.map(Grammar::painter);
    let mut lines = Vec::new();
    let (mut gap, mut hidden) = (false, 0);
    let long = long_change(part);
    // The lines of a long change so far: removed, added.
    let mut of_change = [0; 2];
    for (at, changed) in part.iter().enumerate() {
        let is_long = long.as_ref().is_some_and(|it| it.contains(&at));
        let of_side = &mut of_change[usize::from(changed.side == DiffSide::Added)];
        if is_long && *of_side >= MAX_LINES / 2 {
            hidden += 1;
            continue;
        }
        *of_side += usize::from(is_long);
        // A cut within a change would make replaced lines look deleted.
        let is_within =
            at > 0 && changed.side != DiffSide::Both && part[at - 1].side != DiffSide::Both;
        let most = if is_within { MAX_WHOLE } else { MAX_LINES };
        if !is_long && (hidden > 0 || lines.len() >= most) {
            hidden += u32::from(near(at));
            continue;
        }
        let mut line = view::shown_line(Encoding::Utf8, &changed.bytes);
        // Each text has its own painter; common lines go through both.
        match changed.side {
            DiffSide::Removed => view::paint_one(then.as_mut(), &mut line),
            DiffSide::Added => view::paint_one(now.as_mut(), &mut line),
            DiffSide::Both | DiffSide::Hunk => {
                view::paint_one(then.as_mut(), &mut line);
                view::paint_one(now.as_mut(), &mut line);
            }
        }
        if !near(at) {
            gap = !lines.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            lines.push(SourceLine {
                side: DiffSide::Hunk,
                ..SourceLine::default()
            });
        }
        line.number = changed.now.unwrap_or(0);
        line.before = changed.then.unwrap_or(0);
        line.marked = changed
            .then
            .is_some_and(|n| (span.start..=span.end).contains(&n));
        line.side = changed.side;
        lines.push(line);
    }
    (lines, hidden)
}
