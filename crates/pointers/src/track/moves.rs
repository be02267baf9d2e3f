//! Finds spans that moved within a file or to another one, among the lines that a change added.
//!
//! A line that existed before already has a counterpart, so a twin is never mistaken for the span
//! that moved away.

use std::{collections::HashMap, ops::Range, rc::Rc};

use super::{
    cache::{Cache, ReadText},
    linemap::LineMap,
    place::{SpanPlace, judged, place_by_map},
    repo_state::{ChangedFile, FoundState, StateFile},
    text::Text,
};

/// The most files searched in one change, and their total size in memory.
const MAX_FILES: usize = 4000;
const MAX_HELD: usize = 64 << 20;
/// Memory kept for each added line.
const HELD_OF_LINE: usize = 100;
/// A line added more often than this is no clue to where to search.
const MAX_ALIKE: usize = 24;
/// Changed lines within a moved block are aligned up to this many.
const MAX_BRIDGED: usize = 12;
/// A moved block continues past fewer than this many changed lines in a row.
const MAX_CHANGED: usize = 3;
/// The number of best candidates that are compared in full.
const MAX_TRIED: usize = 4;
/// The number of lines around a span that count as evidence of where its block went.
const AROUND: usize = 6;
/// The share of a span that must be found again in the same file, and in another.
const ENOUGH_HERE: f32 = 0.5;
const ENOUGH_ELSEWHERE: f32 = 0.7;
/// Significant characters that must be found again in the same file, and in another (as
/// `git blame -M` and `-C` require).
const TELLING_HERE: f32 = 20.0;
const TELLING_ELSEWHERE: f32 = 40.0;
/// Significant characters that a span must have if its own file's added lines contain it unchanged
/// exactly once.
const TELLING_EXACT: f32 = 8.0;

struct AddedFile {
    file: StateFile,
    read: ReadText,
    /// Maps from the old version of the file; `None` for a new file.
    map: Option<Rc<LineMap>>,
}

impl AddedFile {
    fn is_added(&self, line: usize) -> bool {
        self.map.as_ref().is_none_or(|it| it.is_added(line))
    }
}

/// The new place of a line of a moved block.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MovedLine {
    file: usize,
    line: usize,
    /// Whether another block matched equally well.
    ambiguous: bool,
}

/// For each line of a file, where its block moved to.
pub(super) struct Blocks {
    to: Vec<Option<MovedLine>>,
}

/// The lines that a change added.
pub(super) struct Additions {
    files: Vec<AddedFile>,
    at: HashMap<u64, Vec<(usize, usize)>>,
}

/// Where a moved span is now.
pub(super) struct MovedSpan {
    pub(super) file: StateFile,
    pub(super) place: SpanPlace,
    /// Whether another place matched equally well.
    pub(super) ambiguous: bool,
    /// The share of the span and its surrounding lines that moved there together.
    pub(super) together: f32,
}

/// A stretch of added lines that shares lines with the span.
struct Candidate {
    file: usize,
    lines: Range<usize>,
    votes: f32,
}

impl Additions {
    /// Files that cannot be read are skipped.
    pub(super) fn of(
        cache: &mut Cache<'_>,
        old: FoundState,
        new: FoundState,
        changes: &[ChangedFile],
    ) -> Self {
        let mut files = Vec::new();
        let mut at: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
        let mut held = 0;
        for change in changes.iter().take(MAX_FILES) {
            let Some(file) = &change.new else { continue };
            if held > MAX_HELD {
                break;
            }
            let Ok(read) = cache.read(new, file) else {
                continue;
            };
            let before = change.old.as_ref().and_then(|it| cache.read(old, it).ok());
            let map = before.map(|it| cache.map(&it, &read));
            let added = AddedFile {
                file: StateFile {
                    path: file.path.clone(),
                    blob: read.blob,
                },
                read,
                map,
            };
            let text = &added.read.text;
            held += text.size() + added.map.as_ref().map_or(0, |it| it.size());
            for line in (0..text.len()).filter(|it| added.is_added(*it)) {
                if text.telling(line) >= 4 {
                    held += HELD_OF_LINE;
                    at.entry(text.squeezed(line))
                        .or_default()
                        .push((files.len(), line));
                }
            }
            files.push(added);
        }
        Self { files, at }
    }

    /// Finds where lines went that have no counterpart in their own file (whose map is `map`):
    /// runs of equal lines that are significant together. A bracket goes with its block.
    pub(super) fn blocks(&self, old: &Text, map: Option<&LineMap>, own: &str) -> Blocks {
        let mut to = vec![None; old.len()];
        let free = |line: usize| map.is_none_or(|it| it.get(line).is_none());
        for line in 0..old.len() {
            if to[line].is_some() || !free(line) || old.telling(line) < 4 {
                continue;
            }
            let places = self.at.get(&old.squeezed(line)).map(Vec::as_slice);
            let places = places
                .filter(|it| it.len() <= MAX_ALIKE)
                .unwrap_or_default();
            let mut runs: Vec<(u32, Range<usize>, usize, usize)> = places
                .iter()
                .filter_map(|(file, at)| {
                    let run = self.run(old, &free, line, *file, *at);
                    let says = old.all_telling(run.clone());
                    let here = self.files[*file].file.path == own;
                    let enough = if here {
                        TELLING_HERE
                    } else {
                        TELLING_ELSEWHERE
                    };
                    (says as f32 >= enough).then_some((says, run, *file, *at))
                })
                .collect();
            runs.sort_by_key(|it| (std::cmp::Reverse(it.0), self.files[it.2].file.path != own));
            let ambiguous = matches!(runs.as_slice(), [a, b, ..] if a.0 == b.0);
            let Some((_, run, file, at)) = runs.into_iter().next() else {
                continue;
            };
            for moved in run {
                to[moved] = to[moved].or(Some(MovedLine {
                    file,
                    line: at + moved - line,
                    ambiguous,
                }));
            }
        }
        self.lengthen(old, &free, &mut to);
        self.bridge(old, &free, &mut to);
        Blocks { to }
    }

    /// Extends a moved block past a few changed lines at its end.
    fn lengthen(&self, old: &Text, free: &dyn Fn(usize) -> bool, to: &mut [Option<MovedLine>]) {
        for down in [true, false] {
            let order: Vec<usize> = if down {
                (0..to.len()).collect()
            } else {
                (0..to.len()).rev().collect()
            };
            for line in order {
                let Some(end) = to[line] else { continue };
                let Some((next, at)) = self.goes_on(old, free, to, (line, end), down) else {
                    continue;
                };
                for moved in self.run(old, free, next, end.file, at) {
                    let beyond = if down { moved > line } else { moved < line };
                    if beyond && to[moved].is_none() {
                        let line = at + moved - next;
                        to[moved] = Some(MovedLine { line, ..end });
                    }
                }
            }
        }
    }

    /// Returns the nearest equal line past the changed lines at the end of a block.
    fn goes_on(
        &self,
        old: &Text,
        free: &dyn Fn(usize) -> bool,
        to: &[Option<MovedLine>],
        (line, end): (usize, MovedLine),
        down: bool,
    ) -> Option<(usize, usize)> {
        let added = &self.files[end.file];
        let new = &added.read.text;
        let step = |from: usize, by: usize| {
            if down {
                from.checked_add(by)
            } else {
                from.checked_sub(by)
            }
        };
        for far in 2..=2 * MAX_CHANGED {
            for here in 1..far {
                let there = far - here;
                if here > MAX_CHANGED || there > MAX_CHANGED {
                    continue;
                }
                let (Some(a), Some(b)) = (step(line, here), step(end.line, there)) else {
                    continue;
                };
                let between = (1..=here).filter_map(|it| step(line, it));
                if a >= old.len() || b >= new.len() || !between.clone().all(free) {
                    continue;
                }
                if between.clone().any(|it| to[it].is_some()) {
                    return None;
                }
                if old.telling(a) >= 4 && old.squeezed(a) == new.squeezed(b) && added.is_added(b) {
                    return Some((a, b));
                }
            }
        }
        None
    }

    /// Aligns the changed lines within a moved block.
    fn bridge(&self, old: &Text, free: &dyn Fn(usize) -> bool, to: &mut [Option<MovedLine>]) {
        let known: Vec<(usize, MovedLine)> = to
            .iter()
            .enumerate()
            .filter_map(|(line, it)| Some((line, (*it)?)))
            .collect();
        for pair in known.windows(2) {
            let [(a, above), (b, below)] = *pair else {
                continue;
            };
            let lines = a + 1..b;
            if lines.is_empty() || above.file != below.file || below.line <= above.line + 1 {
                continue;
            }
            let there = above.line + 1..below.line;
            if lines.len() > MAX_BRIDGED || there.len() > MAX_BRIDGED || !lines.clone().all(free) {
                continue;
            }
            let new = &self.files[above.file].read.text;
            let (Some(was), Some(is)) = (
                Text::of(old.span(lines.clone()).to_vec()),
                Text::of(new.span(there.clone()).to_vec()),
            ) else {
                continue;
            };
            let map = LineMap::between(&was, &is);
            for line in lines.clone() {
                to[line] = map.get(line - lines.start).map(|it| MovedLine {
                    line: there.start + it.first,
                    ..above
                });
            }
        }
    }

    /// The lines around `line` that also surround `at`, ignoring whitespace; significant lines
    /// count only if they left the old file and arrived in the new one.
    fn run(
        &self,
        old: &Text,
        free: &dyn Fn(usize) -> bool,
        line: usize,
        file: usize,
        at: usize,
    ) -> Range<usize> {
        let added = &self.files[file];
        let new = &added.read.text;
        let fits = |a: usize, b: usize| {
            b < new.len()
                && old.squeezed(a) == new.squeezed(b)
                && (!old.is_telling(a) || free(a) && added.is_added(b))
        };
        let (mut start, mut end) = (line, line + 1);
        while start > 0 && at + start > line && fits(start - 1, at + start - line - 1) {
            start -= 1;
        }
        while end < old.len() && fits(end, at + end - line) {
            end += 1;
        }
        start..end
    }

    /// Returns where a span moved with its block or blocks.
    pub(super) fn carried(
        &self,
        old: &Text,
        span: &Range<usize>,
        blocks: &Blocks,
    ) -> Option<MovedSpan> {
        let lines = blocks.to.get(span.clone())?;
        let mut weights: HashMap<usize, f32> = HashMap::new();
        for (line, to) in span.clone().zip(lines) {
            if let Some(to) = to {
                *weights.entry(to.file).or_default() += old.weight(line);
            }
        }
        let most = |a: &(usize, f32), b: &(usize, f32)| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0));
        let (file, weight) = weights.into_iter().max_by(most)?;
        let kept = weight / old.all_weight(span.clone()).max(f32::MIN_POSITIVE);
        let there = || lines.iter().flatten().filter(|it| it.file == file);
        let first = there().map(|it| it.line).min()?;
        let last = there().map(|it| it.line).max()?;
        let hull = first..last + 1;
        if kept < ENOUGH_HERE || hull.len() > span.len() * 2 + 8 {
            return None;
        }
        let added = &self.files[file];
        let whole = there().count() == span.len() && hull.len() == span.len();
        let place = if whole {
            judged(old, &added.read.text, span, hull, 0.99)
        } else {
            let alone = Text::of(old.span(span.clone()).to_vec())?;
            let candidate = Candidate {
                file,
                lines: hull,
                votes: weight,
            };
            close_up(&alone, added, &candidate)?
        };
        Some(MovedSpan {
            file: added.file.clone(),
            place,
            ambiguous: there().any(|it| it.ambiguous),
            together: together(old, span, blocks, file),
        })
    }

    /// Returns where the lines of a span of `old` went, if they are found.
    pub(super) fn find(&self, old: &Text, span: &Range<usize>, own: &str) -> Option<MovedSpan> {
        let says = old.all_telling(span.clone()) as f32;
        let alone = Text::of(old.span(span.clone()).to_vec())?;
        let mut found: Vec<(f32, usize, SpanPlace)> = Vec::new();
        for candidate in self.candidates(old, span) {
            let added = &self.files[candidate.file];
            let Some(place) = close_up(&alone, added, &candidate) else {
                continue;
            };
            let here = added.file.path == own;
            let (enough, telling) = match (place.same, here) {
                (true, true) => (0.0, TELLING_EXACT),
                (_, true) => (ENOUGH_HERE, TELLING_HERE),
                (_, false) => (ENOUGH_ELSEWHERE, TELLING_ELSEWHERE),
            };
            if place.kept >= enough && place.kept * says >= telling {
                let around = surroundings(old, span, &added.read.text, &place.lines);
                let score = place.kept + 0.2 * around + if here { 0.05 } else { 0.0 };
                found.push((score, candidate.file, place));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ambiguous = matches!(found.as_slice(), [a, b, ..] if a.0 - b.0 < 0.02);
        let (_, file, place) = found.into_iter().next()?;
        // Two places for only a few words: choose neither.
        if ambiguous && says < TELLING_ELSEWHERE {
            return None;
        }
        Some(MovedSpan {
            file: self.files[file].file.clone(),
            together: place.kept,
            place,
            ambiguous,
        })
    }

    /// Returns the stretches that share the most with the span, the best first.
    fn candidates(&self, old: &Text, span: &Range<usize>) -> Vec<Candidate> {
        let mut hits: Vec<(usize, usize, f32)> = Vec::new();
        for line in span.clone() {
            let places = self.at.get(&old.squeezed(line)).map(Vec::as_slice);
            let places = places
                .filter(|it| it.len() <= MAX_ALIKE)
                .unwrap_or_default();
            let weight = old.weight(line) / places.len().max(1) as f32;
            hits.extend(places.iter().map(|(file, at)| (*file, *at, weight)));
        }
        hits.sort_by_key(|it| (it.0, it.1));
        hits.dedup_by_key(|it| (it.0, it.1));
        let reach = span.len() + span.len() / 3 + 2;
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut next = 0;
        for (at, (file, line, _)) in hits.iter().enumerate() {
            if at < next {
                continue;
            }
            let within = |it: &&(usize, usize, f32)| it.0 == *file && it.1 < line + reach;
            let run: Vec<_> = hits[at..].iter().take_while(within).collect();
            next = at + run.len();
            candidates.push(Candidate {
                file: *file,
                lines: *line..run.last().map_or(*line, |it| it.1) + 1,
                votes: run.iter().map(|it| it.2).sum(),
            });
        }
        candidates.sort_by(|a, b| b.votes.total_cmp(&a.votes));
        candidates.truncate(MAX_TRIED);
        candidates
    }
}

/// Aligns a span with the lines around a candidate.
fn close_up(span: &Text, added: &AddedFile, candidate: &Candidate) -> Option<SpanPlace> {
    let text = &added.read.text;
    let slack = span.len() / 2 + 2;
    let from = candidate.lines.start.saturating_sub(slack);
    let window = from..(candidate.lines.end + slack).min(text.len());
    let around = Text::of(text.span(window.clone()).to_vec())?;
    let map = LineMap::between(span, &around);
    let whole = 0..span.len();
    let found = place_by_map(span, &around, &map, &whole, false)?;
    // Only what the change added counts.
    let kept = whole
        .clone()
        .filter_map(|it| Some((it, map.get(it)?)))
        .filter(|(_, it)| !text.is_telling(from + it.first) || added.is_added(from + it.first))
        .map(|(line, it)| span.weight(line) * it.likeness)
        .sum::<f32>()
        / span.all_weight(whole.clone()).max(f32::MIN_POSITIVE);
    let lines = from + found.lines.start..from + found.lines.end;
    let new = lines.clone().filter(|it| added.is_added(*it));
    let fresh = text.all_weight(lines.clone()) * 0.6 <= new.map(|it| text.weight(it)).sum::<f32>();
    fresh.then(|| {
        if found.same {
            judged(span, &around, &whole, found.lines, 1.0).with_lines(lines)
        } else {
            SpanPlace {
                lines,
                kept: kept.clamp(0.0, 0.999),
                ..found
            }
        }
    })
}

/// Returns the share of a span and its surrounding lines that the blocks moved to a file.
fn together(old: &Text, span: &Range<usize>, blocks: &Blocks, file: usize) -> f32 {
    let wide = span.start.saturating_sub(AROUND)..(span.end + AROUND).min(old.len());
    let went = |line: &usize| {
        let to = blocks.to.get(*line).copied().flatten();
        to.is_some_and(|it| it.file == file)
    };
    let kept: f32 = wide.clone().filter(went).map(|it| old.weight(it)).sum();
    kept / old.all_weight(wide).max(f32::MIN_POSITIVE)
}

/// Returns the share of the lines around a span that also surround its new place.
fn surroundings(old: &Text, span: &Range<usize>, new: &Text, place: &Range<usize>) -> f32 {
    const NEAR: usize = 4;
    let around = |text: &Text, lines: &Range<usize>| -> Vec<u64> {
        let above = lines.start.saturating_sub(NEAR)..lines.start;
        let below = lines.end..(lines.end + NEAR).min(text.len());
        above
            .chain(below)
            .filter(|it| text.is_telling(*it))
            .map(|it| text.squeezed(it))
            .collect()
    };
    let (before, after) = (around(old, span), around(new, place));
    let common = before.iter().filter(|it| after.contains(it)).count();
    common as f32 / before.len().max(1) as f32
}
