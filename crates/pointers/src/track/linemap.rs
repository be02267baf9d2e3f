//! Matches each line of the old file with its counterpart in the new one.
//!
//! Equal lines come from a histogram diff, with hunks slid to where people expect them. Inside
//! each changed hunk, lines are aligned again: first those equal except for whitespace, then
//! by similarity. The map never runs backward.

use std::ops::Range;

use imara_diff::{Diff, InternedInput};

use super::{
    compare::compared,
    likeness::Profile,
    text::{Text, is_blank, same_but_for_blanks},
};

/// The least similarity of counterparts.
const ALIKE: f32 = 0.5;
/// The least similarity of two lines if one replaces exactly the other.
const ALIKE_ALONE: f32 = 0.35;
/// Hunks with more pairs of lines than this are aligned by equal lines only.
const MAX_PAIRS: usize = 120_000;
/// After this many pairs in one file, further hunks are aligned by equal lines only.
const MAX_PAIRS_OF_ALL: usize = 2_000_000;
/// Bonus for keeping a line's position in a hunk that has kept its length.
const STRAIGHT: f32 = 1.3;
/// The most lines that one line may be split into or joined from.
const MAX_SPLIT: usize = 6;
/// The least similarity that a further line must add to be part of a split or join.
const SPLIT_GAIN: f32 = 0.08;

/// More equal lines than this are no coincidence.
const MAX_CHANCE: usize = 4;

/// The new lines that match one old line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Counterpart {
    /// Its first line.
    pub(super) first: usize,
    /// Its last line; differs from the first if the line was split.
    pub(super) last: usize,
    /// 1 if the bytes are equal.
    pub(super) likeness: f32,
}

/// The counterparts between two versions of a file.
pub(super) struct LineMap {
    to: Vec<Option<Counterpart>>,
    /// For each new line, whether it has no counterpart.
    added: Vec<bool>,
    /// The number of pairs of lines compared so far.
    pairs: usize,
}

impl LineMap {
    pub(super) fn between(old: &Text, new: &Text) -> Self {
        let mut map = Self {
            to: vec![None; old.len()],
            added: vec![true; new.len()],
            pairs: 0,
        };
        let hunks = hunks(old, new);
        let (mut i, mut j) = (0, 0);
        for (before, after) in hunks {
            map.nearly_equal(old, new, i..before.start, j);
            map.align(old, new, before.clone(), after.clone());
            (i, j) = (before.end, after.end);
        }
        map.nearly_equal(old, new, i..old.len(), j);
        map
    }

    /// Its size in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.to.len() * size_of::<Option<Counterpart>>() + self.added.len()
    }

    pub(super) fn get(&self, line: usize) -> Option<Counterpart> {
        self.to.get(line).copied().flatten()
    }

    /// Returns whether this change added a new line.
    pub(super) fn is_added(&self, line: usize) -> bool {
        self.added.get(line).copied().unwrap_or(false)
    }

    fn set(&mut self, old: usize, new: usize, likeness: f32) {
        if let (Some(to), Some(added)) = (self.to.get_mut(old), self.added.get_mut(new)) {
            *to = Some(Counterpart {
                first: new,
                last: new,
                likeness,
            });
            *added = false;
        }
    }

    /// Aligns the lines of a changed hunk, divided by lines that are equal without whitespace.
    fn align(&mut self, old: &Text, new: &Text, before: Range<usize>, after: Range<usize>) {
        if before.is_empty() || after.is_empty() {
            return;
        }
        let mut input = InternedInput::default();
        input.update_before(before.clone().map(|it| old.squeezed(it)));
        input.update_after(after.clone().map(|it| new.squeezed(it)));
        let mut diff = compared(&input);
        diff.postprocess_no_heuristic(&input);
        let (mut i, mut j) = (before.start, after.start);
        for hunk in diff.hunks() {
            let b =
                before.start + hunk.before.start as usize..before.start + hunk.before.end as usize;
            let a = after.start + hunk.after.start as usize..after.start + hunk.after.end as usize;
            self.nearly_equal(old, new, i..b.start, j);
            self.rewritten(old, new, b.clone(), a.clone());
            (i, j) = (b.end, a.end);
        }
        self.nearly_equal(old, new, i..before.end, j);
    }

    fn rewritten(&mut self, old: &Text, new: &Text, before: Range<usize>, after: Range<usize>) {
        let texts = (old.span(before.clone()), new.span(after.clone()));
        if before.is_empty() || after.is_empty() {
            return;
        }
        if same_but_for_blanks(texts.0, texts.1) {
            self.reflow(old, new, before, after)
        } else {
            self.align_by_likeness(old, new, before, after)
        }
    }

    /// Aligns lines by their other characters if only whitespace and line breaks changed.
    fn reflow(&mut self, old: &Text, new: &Text, before: Range<usize>, after: Range<usize>) {
        let solid = |text: &[u8]| text.iter().filter(|it| !is_blank(**it)).count();
        let mut to = after.start;
        // Characters up to the end of the new line `to`, and in the old lines so far.
        let mut reached = solid(new.line(to));
        let mut seen = 0;
        for line in before {
            let count = solid(old.line(line));
            if count == 0 {
                // A blank line matches only the blank line at its place.
                if to < after.end && solid(new.line(to)) == 0 {
                    self.set(line, to, 0.99);
                    to += 1;
                    reached += solid(new.line(to));
                }
                continue;
            }
            while reached <= seen && to + 1 < after.end {
                to += 1;
                reached += solid(new.line(to));
            }
            let first = to;
            seen += count;
            while reached < seen && to + 1 < after.end {
                to += 1;
                reached += solid(new.line(to));
            }
            self.set(line, first, 0.99);
            self.stretch(line, to);
            if reached == seen && to + 1 < after.end {
                to += 1;
                reached += solid(new.line(to));
            }
        }
    }

    /// Extends a line's counterpart to another line.
    fn stretch(&mut self, line: usize, last: usize) {
        if let Some(Some(found)) = self.to.get_mut(line) {
            found.last = last.max(found.first);
            for line in found.first..=found.last {
                if let Some(added) = self.added.get_mut(line) {
                    *added = false;
                }
            }
        }
    }

    fn nearly_equal(&mut self, old: &Text, new: &Text, before: Range<usize>, after: usize) {
        for (offset, line) in before.enumerate() {
            let to = after + offset;
            let same = old.line(line) == new.line(to);
            self.set(line, to, if same { 1.0 } else { 0.99 });
        }
    }

    /// Finds the alignment with the highest total similarity, pairing only similar lines.
    fn align_by_likeness(
        &mut self,
        old: &Text,
        new: &Text,
        before: Range<usize>,
        after: Range<usize>,
    ) {
        let (n, m) = (before.len(), after.len());
        let pairs = n.saturating_mul(m);
        if pairs == 0 || pairs > MAX_PAIRS || self.pairs > MAX_PAIRS_OF_ALL {
            return;
        }
        self.pairs += pairs;
        let least = if n == m { ALIKE_ALONE } else { ALIKE };
        let olds: Vec<Profile> = before.clone().map(|it| Profile::of(old.line(it))).collect();
        let news: Vec<Profile> = after.clone().map(|it| Profile::of(new.line(it))).collect();
        // best[i * (m + 1) + j]: the highest total for the first i old and j new lines.
        let mut best = vec![0f32; (n + 1) * (m + 1)];
        let mut alike = vec![0f32; n * m];
        for i in 0..n {
            for j in 0..m {
                let likeness = olds[i].likeness(&news[j], least);
                alike[i * m + j] = likeness;
                let taken = if likeness > 0.0 {
                    let gain = gain(old, new, before.start + i, after.start + j, likeness);
                    // Same number of lines: prefer to keep each at its own place.
                    let straight = if n == m && i == j { STRAIGHT } else { 1.0 };
                    best[i * (m + 1) + j] + gain * straight
                } else {
                    0.0
                };
                let left = best[(i + 1) * (m + 1) + j].max(best[i * (m + 1) + j + 1]);
                best[(i + 1) * (m + 1) + j + 1] = taken.max(left);
            }
        }
        let (mut i, mut j) = (n, m);
        while i > 0 && j > 0 {
            let here = best[i * (m + 1) + j];
            if here == best[(i - 1) * (m + 1) + j] {
                i -= 1;
            } else if here == best[i * (m + 1) + j - 1] {
                j -= 1;
            } else {
                (i, j) = (i - 1, j - 1);
                self.set(before.start + i, after.start + j, alike[i * m + j]);
            }
        }
        self.split_and_joined(old, new, before, after);
    }

    /// Finds lines that were split, and lines that were joined.
    fn split_and_joined(
        &mut self,
        old: &Text,
        new: &Text,
        before: Range<usize>,
        after: Range<usize>,
    ) {
        for line in before.clone() {
            let Some(mut found) = self.get(line).filter(|it| it.likeness < 0.98) else {
                continue;
            };
            self.widen_new(old, new, line, &mut found, &after);
            if let Some(to) = self.to.get_mut(line) {
                *to = Some(found);
            }
            self.widen_old(old, new, line, found, &before);
        }
    }

    /// Extends a counterpart by neighbouring added lines while they make it more similar.
    fn widen_new(
        &mut self,
        old: &Text,
        new: &Text,
        line: usize,
        found: &mut Counterpart,
        after: &Range<usize>,
    ) {
        let profile = Profile::of(old.line(line));
        for _ in 0..MAX_SPLIT {
            let below = (found.last + 1 < after.end && self.is_added(found.last + 1))
                .then_some(found.first..found.last + 2);
            let above = (found.first > after.start && self.is_added(found.first - 1))
                .then(|| found.first - 1..found.last + 1);
            let wider = [below, above]
                .into_iter()
                .flatten()
                .map(|it| {
                    (
                        profile.likeness(&Profile::of(new.span(it.clone())), 0.0),
                        it,
                    )
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((likeness, lines)) = wider else {
                break;
            };
            if likeness < found.likeness + SPLIT_GAIN {
                break;
            }
            *found = Counterpart {
                first: lines.start,
                last: lines.end - 1,
                likeness: likeness.min(0.98),
            };
            for line in lines {
                if let Some(added) = self.added.get_mut(line) {
                    *added = false;
                }
            }
        }
    }

    /// Gives a line's counterpart to neighbours that have none, while the match improves.
    fn widen_old(
        &mut self,
        old: &Text,
        new: &Text,
        line: usize,
        found: Counterpart,
        before: &Range<usize>,
    ) {
        let profile = Profile::of(new.span(found.first..found.last + 1));
        let (mut first, mut last, mut reached) = (line, line, found.likeness);
        for _ in 0..MAX_SPLIT {
            let below = (last + 1 < before.end && self.get(last + 1).is_none())
                .then_some((first, last + 1));
            let above =
                (first > before.start && self.get(first - 1).is_none()).then(|| (first - 1, last));
            let wider = [below, above]
                .into_iter()
                .flatten()
                .map(|it| {
                    (
                        profile.likeness(&Profile::of(old.span(it.0..it.1 + 1)), 0.0),
                        it,
                    )
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((likeness, lines)) = wider else {
                break;
            };
            if likeness < reached + SPLIT_GAIN {
                break;
            }
            (reached, (first, last)) = (likeness, lines);
            for line in first..=last {
                if let Some(to) = self.to.get_mut(line) {
                    *to = Some(Counterpart {
                        likeness: likeness.min(0.98),
                        ..found
                    });
                }
            }
        }
    }
}

/// The changed lines of the old and the new file.
type Hunks = Vec<(Range<usize>, Range<usize>)>;

/// Compares lines by equal bytes, or ignoring whitespace if that finds clearly more, as after a
/// reindent.
fn hunks(old: &Text, new: &Text) -> Hunks {
    let mut input = InternedInput::default();
    input.update_before((0..old.len()).map(|it| old.line(it)));
    input.update_after((0..new.len()).map(|it| new.line(it)));
    let mut diff = compared(&input);
    diff.postprocess_lines(&input);
    let by_bytes = ranges(&diff);
    let all = old.all_weight(0..old.len());
    let lost = |hunks: &Hunks| -> f32 { hunks.iter().map(|it| old.all_weight(it.0.clone())).sum() };
    let kept = all - lost(&by_bytes);
    if kept > all * 0.8 {
        return without_chance(old, by_bytes);
    }
    let mut input = InternedInput::default();
    input.update_before((0..old.len()).map(|it| old.squeezed(it)));
    input.update_after((0..new.len()).map(|it| new.squeezed(it)));
    let mut diff = compared(&input);
    diff.postprocess_no_heuristic(&input);
    let squeezed = ranges(&diff);
    if all - lost(&squeezed) > kept * 1.15 {
        squeezed
    } else {
        without_chance(old, by_bytes)
    }
}

fn ranges(diff: &Diff) -> Hunks {
    diff.hunks()
        .map(|it| {
            (
                it.before.start as usize..it.before.end as usize,
                it.after.start as usize..it.after.end as usize,
            )
        })
        .collect()
}

/// Joins rewritten stretches that are separated only by brackets and blank lines, since those match
/// by chance. The joined stretch is aligned as one, which places such lines by their surroundings.
fn without_chance(old: &Text, hunks: Hunks) -> Hunks {
    let mut joined = Hunks::new();
    for (before, after) in hunks {
        if let Some((b, a)) = joined.last_mut() {
            let between = b.end..before.start;
            let rewritten = |it: &(&Range<usize>, &Range<usize>)| {
                it.0.len() > between.len() && it.1.len() > between.len()
            };
            if between.len() <= MAX_CHANCE
                && !between.clone().any(|it| old.is_telling(it))
                && [(&*b, &*a), (&before, &after)].iter().all(rewritten)
            {
                b.end = before.end;
                a.end = after.end;
                continue;
            }
        }
        joined.push((before, after));
    }
    joined
}

/// The value of calling two lines counterparts.
fn gain(old: &Text, new: &Text, i: usize, j: usize, likeness: f32) -> f32 {
    (old.weight(i) + new.weight(j)) * (likeness - ALIKE_ALONE * 0.9)
}
