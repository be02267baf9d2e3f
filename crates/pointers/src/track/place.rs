//! Finds a span of the old file in the new one, by the map of its lines.

use std::ops::Range;

use super::{
    likeness::likeness,
    linemap::LineMap,
    text::{MAX_COMPARED, Text},
};

/// The least likeness at which a text in the span's old position still counts as the span, edited.
const ALIKE_AS_A_WHOLE: f32 = 0.4;

/// The place of a span.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpanPlace {
    /// Its lines, counted from 0.
    pub(super) lines: Range<usize>,
    /// The share of its content that is still there, from 0 to 1; 1 if all bytes are equal.
    pub(super) kept: f32,
    /// Whether the bytes are equal.
    pub(super) same: bool,
    /// Whether one of its significant lines is still there, with at most changed whitespace.
    pub(super) telling: bool,
    /// Whether the line directly above or below the span is still directly above or below it.
    pub(super) anchored: bool,
}

impl SpanPlace {
    /// Returns the same place in the file from which the text was cut.
    pub(super) fn with_lines(self, lines: Range<usize>) -> Self {
        Self { lines, ..self }
    }
}

/// A line next to a span that has a counterpart, and that counterpart.
struct Edge {
    old: usize,
    new: usize,
}

/// Returns the place of a span in `new`; `None` if nothing of it is there.
pub(super) fn place_of(
    old: &Text,
    new: &Text,
    map: &LineMap,
    span: &Range<usize>,
) -> Option<SpanPlace> {
    match place_by_map(old, new, map, span, true) {
        Some(place) => Some(place),
        None => in_its_gap(old, new, map, span),
    }
}

/// Places a span by its lines that have counterparts. With `edges`, lines that replaced its first
/// and last lines belong to it too.
pub(super) fn place_by_map(
    old: &Text,
    new: &Text,
    map: &LineMap,
    span: &Range<usize>,
    edges: bool,
) -> Option<SpanPlace> {
    let mapped = |it: &usize| map.get(*it).is_some();
    let first = span.clone().find(mapped)?;
    let last = span.clone().rev().find(mapped).unwrap_or(first);
    let (top, bottom) = (map.get(first)?.first, map.get(last)?.last);
    let before = edge_above(map, span.start);
    let after = edge_below(map, span.end, old.len(), new.len());
    let edge = if edges { replaced } else { |_, _, _| 0 };
    let start = top
        - edge(
            first - span.start,
            first - before.old,
            top - before.new.min(top),
        );
    let end = bottom + 1;
    let end = end
        + edge(
            span.end - 1 - last,
            after.old - 1 - last,
            after.new.max(end) - end,
        );
    let kept = span
        .clone()
        .filter_map(|it| Some(old.weight(it) * map.get(it)?.likeness))
        .sum::<f32>()
        / old.all_weight(span.clone()).max(f32::MIN_POSITIVE);
    let telling = span
        .clone()
        .any(|it| old.is_telling(it) && map.get(it).is_some_and(|to| to.likeness >= 0.99));
    Some(SpanPlace {
        telling,
        anchored: is_anchored(map, span, &(start..end), (old.len(), new.len())),
        ..judged(old, new, span, start..end, kept)
    })
}

fn is_anchored(
    map: &LineMap,
    span: &Range<usize>,
    place: &Range<usize>,
    ends: (usize, usize),
) -> bool {
    let at = |line: usize| map.get(line).map(|it| (it.first, it.last));
    let above = match (span.start, place.start) {
        (0, to) => to == 0,
        (_, 0) => false,
        (line, to) => at(line - 1).is_some_and(|it| it.1 == to - 1),
    };
    let below = match (span.end == ends.0, place.end == ends.1) {
        (true, to) => to,
        (false, _) => at(span.end).is_some_and(|it| it.0 == place.end),
    };
    above || below
}

pub(super) fn judged(
    old: &Text,
    new: &Text,
    span: &Range<usize>,
    lines: Range<usize>,
    kept: f32,
) -> SpanPlace {
    let same = old.span(span.clone()) == new.span(lines.clone());
    SpanPlace {
        lines,
        kept: if same { 1.0 } else { kept.clamp(0.0, 0.999) },
        same,
        telling: same,
        anchored: false,
    }
}

/// Returns how many of the new lines in a gap beside an anchored line belong to the span: `ours` of
/// the `old` lines in the gap were the span's.
///
/// Lines that were only inserted beside the span do not belong to it.
fn replaced(ours: usize, old: usize, new: usize) -> usize {
    match (ours, old) {
        (0, _) | (_, 0) => 0,
        // A gap that grew to more than twice its size is new text.
        _ if ours >= old && new > ours * 2 + 2 => 0,
        _ if ours >= old => new,
        _ => (new * ours).div_ceil(old).min(new),
    }
}

/// Returns the nearest line above that has a counterpart. The numbers are one past both lines, so
/// that gaps begin there.
fn edge_above(map: &LineMap, line: usize) -> Edge {
    let found = (0..line).rev().find_map(|it| Some((it, map.get(it)?.last)));
    match found {
        Some((old, new)) => Edge {
            old: old + 1,
            new: new + 1,
        },
        None => Edge { old: 0, new: 0 },
    }
}

/// Returns the nearest line below that has a counterpart, or the end.
fn edge_below(map: &LineMap, line: usize, old: usize, new: usize) -> Edge {
    let found = (line..old).find_map(|it| Some((it, map.get(it)?.first)));
    let (old, new) = found.unwrap_or((old, new));
    Edge { old, new }
}

/// Places a span without counterparts in the gap between its neighbours' counterparts: the text
/// there may be the span, rewritten.
fn in_its_gap(old: &Text, new: &Text, map: &LineMap, span: &Range<usize>) -> Option<SpanPlace> {
    let before = edge_above(map, span.start);
    let after = edge_below(map, span.end, old.len(), new.len());
    let gap = before.new..after.new.max(before.new);
    let around = before.old..after.old;
    if gap.is_empty() {
        return None;
    }
    // The part of the gap that corresponds to the span's position.
    let scale = gap.len() as f32 / around.len().max(1) as f32;
    let from = gap.start + ((span.start - around.start) as f32 * scale).round() as usize;
    let to = gap.start + ((span.end - around.start) as f32 * scale).round() as usize;
    let from = from.min(gap.end - 1);
    let lines = from..to.clamp(from + 1, gap.end);
    if lines.len() > span.len() * 3 + 3 {
        return None;
    }
    let alike = likeness(old.span(span.clone()), new.span(lines.clone()));
    (alike >= ALIKE_AS_A_WHOLE && old.all_telling(span.clone()) > 6)
        .then(|| judged(old, new, span, lines, alike))
}

/// Returns the place of the exact bytes, if a diff paired the span's lines with others beside them.
pub(super) fn exact_nearby(
    old: &Text,
    new: &Text,
    map: &LineMap,
    span: &Range<usize>,
    found: &Range<usize>,
) -> Option<SpanPlace> {
    let bytes = old.span(span.clone());
    let from = found.start.saturating_sub(span.len());
    let to = (found.end + span.len()).min(new.len());
    let own = |it: usize| found.contains(&it) || map.is_added(it);
    let mut fits = (from..to.saturating_sub(span.len() - 1))
        .filter(|at| new.squeezed(*at) == old.squeezed(span.start))
        .take((MAX_COMPARED / bytes.len().max(1)).max(1))
        .filter(|at| new.span(*at..at + span.len()) == bytes)
        .filter(|at| (*at..at + span.len()).all(own));
    let at = fits.next()?;
    // With two matches, neither is certain.
    if fits.next().is_some() {
        return None;
    }
    Some(judged(old, new, span, at..at + span.len(), 1.0))
}
