//! Two texts side by side: which lines pair up, where they differ, and what is folded.

use std::{collections::HashMap, ops::Range, ptr};

use engram_model::{DiffSide, SourceLine};

use crate::align::{best_pairs, shared_words};

/// Unchanged rows that stay above and below a change.
const AROUND: usize = 3;
/// Fewer rows than this are not worth a fold.
const FEWEST: usize = 4;
/// The most pairs of replaced lines that are all compared; beyond this, lines are paired in order.
const MAX_PAIRS: usize = 2_500;
/// The most pairs of words that are all compared; beyond this, only the ends of lines are.
const MAX_WORD_PAIRS: usize = 40_000;
/// The share of the longer line, in percent, that two lines must have in common to be paired.
const ALIKE: usize = 40;

/// A row of the two texts; a line without a counterpart stands alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The line as it was pinned.
    pub then: Option<&'a SourceLine>,
    /// The line as it is now.
    pub now: Option<&'a SourceLine>,
}

/// What a row of the comparison shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonRow<'a> {
    /// Two lines beside each other.
    Pair(Pair<'a>),
    /// Unchanged lines far from any change, hidden until the person asks for them.
    Fold(Vec<Pair<'a>>),
    /// This many unchanged lines that were not sent.
    Gap(u32),
}

/// Returns the rows of two texts: replaced lines are beside the most similar new ones, in order.
pub fn comparison_rows(lines: &[SourceLine]) -> Vec<ComparisonRow<'_>> {
    let pairs = pair_lines(lines);
    let mut rows = Vec::new();
    let mut rest = pairs.as_slice();
    while let Some(first) = rest.first() {
        let is_first = rest.len() == pairs.len();
        let run = rest
            .iter()
            .take_while(|it| it.side() == DiffSide::Both)
            .count();
        if run == 0 {
            rows.push(match first.side() {
                DiffSide::Hunk => {
                    ComparisonRow::Gap(missing_lines(&pairs, pairs.len() - rest.len()))
                }
                _ => ComparisonRow::Pair(*first),
            });
            rest = &rest[1..];
            continue;
        }
        let (same, others) = rest.split_at(run);
        let above = if is_first { 0 } else { AROUND };
        let below = if others.is_empty() { 0 } else { AROUND };
        // Without any change, nothing is far from one: fold nothing.
        let is_all = is_first && others.is_empty();
        if is_all || run < above + below + FEWEST {
            rows.extend(same.iter().copied().map(ComparisonRow::Pair))
        } else {
            let (top, same) = same.split_at(above);
            let (same, bottom) = same.split_at(same.len() - below);
            rows.extend(top.iter().copied().map(ComparisonRow::Pair));
            rows.push(ComparisonRow::Fold(same.to_vec()));
            rows.extend(bottom.iter().copied().map(ComparisonRow::Pair));
        }
        rest = others;
    }
    rows
}

/// Returns the rows, with the lines of open folds in place of the folds. Each has its number in
/// [`comparison_rows`], by which a fold is opened.
pub fn unfolded_rows(
    lines: &[SourceLine],
    is_open: impl Fn(usize) -> bool,
) -> Vec<(usize, ComparisonRow<'_>)> {
    let mut all = Vec::new();
    for (index, row) in comparison_rows(lines).into_iter().enumerate() {
        match row {
            ComparisonRow::Fold(pairs) if is_open(index) => {
                all.extend(pairs.into_iter().map(|it| (index, ComparisonRow::Pair(it))));
            }
            row => all.push((index, row)),
        }
    }
    all
}

/// Returns how many of these rows to draw for about `most`: a change that was cut would look like
/// deleted lines.
pub fn drawn_count(rows: &[(usize, ComparisonRow<'_>)], most: usize) -> usize {
    let is_change = |(_, row): &(usize, ComparisonRow<'_>)| matches!(row, ComparisonRow::Pair(pair) if pair.side() != DiffSide::Both);
    let (shown, rest) = rows.split_at(most.min(rows.len()));
    let more = if shown.last().is_some_and(is_change) {
        rest.iter().take_while(|it| is_change(it)).count()
    } else {
        0
    };
    shown.len() + more
}

/// Returns the lines for the one-column form, with a sign in place of each fold.
pub fn fold_unchanged(lines: &[SourceLine], say: impl Fn(u32) -> String) -> Vec<SourceLine> {
    let sign = |count: u32| SourceLine {
        side: DiffSide::Hunk,
        text: if count > 0 { say(count) } else { String::new() },
        ..SourceLine::default()
    };
    let hidden: Vec<(u32, u32)> = comparison_rows(lines)
        .into_iter()
        .filter_map(|row| match row {
            ComparisonRow::Fold(pairs) => {
                let number = |it: &Pair<'_>| it.then.map(|it| it.before);
                Some((number(pairs.first()?)?, number(pairs.last()?)?))
            }
            _ => None,
        })
        .collect();
    let mut gaps = comparison_rows(lines)
        .into_iter()
        .filter_map(|it| match it {
            ComparisonRow::Gap(count) => Some(count),
            _ => None,
        });
    let mut folded = Vec::with_capacity(lines.len());
    for line in lines {
        if line.side == DiffSide::Hunk {
            folded.push(sign(gaps.next().unwrap_or(0)));
            continue;
        }
        let within = |it: &&(u32, u32)| (it.0..=it.1).contains(&line.before);
        match hidden
            .iter()
            .find(within)
            .filter(|_| line.side == DiffSide::Both)
        {
            Some((first, last)) if line.before == *first => folded.push(sign(last - first + 1)),
            Some(_) => {}
            None => folded.push(line.clone()),
        }
    }
    folded
}

impl Pair<'_> {
    /// The side of its lines: a line that is unpaired, or beside a different one, was changed.
    fn side(&self) -> DiffSide {
        let line = self.then.or(self.now);
        line.map_or(DiffSide::Both, |it| it.side)
    }
}

/// Returns how many lines were not sent at the pair `at`; 0 if unknown.
fn missing_lines(pairs: &[Pair<'_>], at: usize) -> u32 {
    let number = |it: &Pair<'_>| it.then.map(|it| it.before).filter(|it| *it > 0);
    let before = pairs.iter().take(at).rev().find_map(number);
    let after = pairs.iter().skip(at).find_map(number);
    match (before, after) {
        (Some(before), Some(after)) => after.saturating_sub(before + 1),
        _ => 0,
    }
}

fn pair_lines(lines: &[SourceLine]) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    let (mut removed, mut added): (Vec<&SourceLine>, Vec<&SourceLine>) = (Vec::new(), Vec::new());
    for line in lines {
        match line.side {
            DiffSide::Removed => removed.push(line),
            DiffSide::Added => added.push(line),
            DiffSide::Both | DiffSide::Hunk => {
                add_matched(&mut pairs, &mut removed, &mut added);
                pairs.push(Pair {
                    then: Some(line),
                    now: Some(line),
                });
            }
        }
    }
    add_matched(&mut pairs, &mut removed, &mut added);
    pairs
}

/// Adds the matched lines beside each other; the lines between them pair up in order, as far as
/// they go.
fn add_matched<'a>(
    pairs: &mut Vec<Pair<'a>>,
    removed: &mut Vec<&'a SourceLine>,
    added: &mut Vec<&'a SourceLine>,
) {
    let end = (removed.len(), added.len());
    let (mut then, mut now) = (0, 0);
    for (left, right) in match_lines(removed, added).into_iter().chain([end]) {
        for at in 0..(left - then).max(right - now) {
            pairs.push(Pair {
                then: removed.get(then + at..left).and_then(<[_]>::first).copied(),
                now: added.get(now + at..right).and_then(<[_]>::first).copied(),
            });
        }
        if let (Some(left), Some(right)) = (removed.get(left), added.get(right)) {
            pairs.push(Pair {
                then: Some(left),
                now: Some(right),
            });
        }
        (then, now) = (left + 1, right + 1);
    }
    removed.clear();
    added.clear();
}

/// Returns which line became which, in order, with the highest total similarity.
fn match_lines(removed: &[&SourceLine], added: &[&SourceLine]) -> Vec<(usize, usize)> {
    let (height, width) = (removed.len(), added.len());
    if height * width > MAX_PAIRS {
        return (0..height.min(width)).map(|at| (at, at)).collect();
    }
    let sorted = |line: &&SourceLine| -> Vec<String> {
        let words = words_of(&line.text).into_iter();
        let mut words: Vec<String> = words
            .filter(|it| !it.trim().is_empty())
            .map(str::to_owned)
            .collect();
        words.sort_unstable();
        words
    };
    let left: Vec<Vec<String>> = removed.iter().map(sorted).collect();
    let right: Vec<Vec<String>> = added.iter().map(sorted).collect();
    best_pairs(height, width, |then, now| {
        likeness(&left[then], &right[now])
    })
}

/// Returns the share of the longer line that both have in common, in percent; 0 if too small.
fn likeness(then: &[String], now: &[String]) -> usize {
    let length = |words: &[String]| words.iter().map(String::len).sum::<usize>();
    let (mut left, mut right) = (then.iter().peekable(), now.iter().peekable());
    let mut common = 0;
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => left.next(),
            std::cmp::Ordering::Greater => right.next(),
            std::cmp::Ordering::Equal => {
                common += a.len();
                left.next();
                right.next()
            }
        };
    }
    let most = length(then).max(length(now)).max(1);
    let alike = common * 100 / most;
    if alike < ALIKE { 0 } else { alike }
}

/// Where two lines differ, in bytes of each.
pub type DifferingRanges = (Vec<Range<usize>>, Vec<Range<usize>>);

/// Returns the words in which two lines differ; none if the lines share too little for marks to
/// help.
pub fn differing_ranges(then: &str, now: &str) -> Option<DifferingRanges> {
    let (a, b) = (words_of(then), words_of(now));
    let same = shared_words(&a, &b, MAX_WORD_PAIRS);
    let is_blank = |word: &str| word.trim().is_empty();
    let length = |words: &[&str]| -> usize {
        let words = words.iter().filter(|it| !is_blank(it));
        words.map(|it| it.len()).sum()
    };
    let kept = a.iter().zip(&same.0).filter(|(_, same)| **same);
    let kept: Vec<&str> = kept.map(|(word, _)| *word).collect();
    let most = length(&a).max(length(&b));
    (length(&kept) * 100 >= most * ALIKE)
        .then(|| (join_differing(&a, &same.0), join_differing(&b, &same.1)))
}

/// Returns for each line where it differs from its pair.
pub fn marks_of(lines: &[SourceLine]) -> Vec<Vec<Range<usize>>> {
    let mut found: HashMap<*const SourceLine, Vec<Range<usize>>> = HashMap::new();
    for pair in pair_lines(lines) {
        if let (Some(then), Some(now)) = (pair.then, pair.now)
            && then.side == DiffSide::Removed
            && let Some((before, after)) = differing_ranges(&then.text, &now.text)
        {
            found.insert(ptr::from_ref(then), before);
            found.insert(ptr::from_ref(now), after);
        }
    }
    let marks = lines.iter().map(|it| found.remove(&ptr::from_ref(it)));
    marks.map(Option::unwrap_or_default).collect()
}

/// Returns the ranges of differing words, with the blanks between two of them.
fn join_differing(words: &[&str], same: &[bool]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let (mut at, mut is_near) = (0, false);
    for (word, is_same) in words.iter().zip(same) {
        let end = at + word.len();
        if *is_same {
            is_near &= word.trim().is_empty()
        } else {
            match ranges.last_mut().filter(|_| is_near) {
                Some(range) => range.end = end,
                None => ranges.push(at..end),
            }
            is_near = true;
        }
        at = end;
    }
    ranges
}

/// Splits a text into words, blanks and single signs.
fn words_of(text: &str) -> Vec<&str> {
    let sort = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 0,
        _ if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let (mut start, mut last) = (0, None);
    for (at, c) in text.char_indices() {
        let sort = sort(c);
        if last.is_some_and(|last| last != sort || sort == 2) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(sort);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init)]
    use super::*;

    /// Lines as a comparison has them: ` same`, `-removed`, `+added`, `~` for what was not sent.
    fn lines(texts: &[&str]) -> Vec<SourceLine> {
        let (mut before, mut number) = (0, 0);
        let line = |text: &&str| {
            let side = match text.chars().next() {
                Some('-') => DiffSide::Removed,
                Some('+') => DiffSide::Added,
                Some('~') => DiffSide::Hunk,
                _ => DiffSide::Both,
            };
            let step = if side == DiffSide::Hunk { 10 } else { 1 };
            before += if side == DiffSide::Added { 0 } else { step };
            number += if side == DiffSide::Removed { 0 } else { step };
            let is_line = side != DiffSide::Hunk;
            SourceLine {
                before: if is_line && side != DiffSide::Added {
                    before
                } else {
                    0
                },
                number: if is_line && side != DiffSide::Removed {
                    number
                } else {
                    0
                },
                text: text[1..].to_owned(),
                side,
                ..SourceLine::default()
            }
        };
        texts.iter().map(line).collect()
    }

    fn told(lines: &[SourceLine]) -> Vec<String> {
        let text = |it: Option<&SourceLine>| it.map_or("", |it| it.text.as_str()).to_owned();
        let tell = |row: ComparisonRow<'_>| match row {
            ComparisonRow::Pair(pair) if pair.side() == DiffSide::Both => text(pair.then),
            ComparisonRow::Pair(pair) => format!("{}|{}", text(pair.then), text(pair.now)),
            ComparisonRow::Fold(folded) => format!("fold {}", folded.len()),
            ComparisonRow::Gap(count) => format!("gap {count}"),
        };
        comparison_rows(lines).into_iter().map(tell).collect()
    }

    #[test]
    fn what_was_replaced_stands_beside_what_replaced_it() {
        for (given, want) in [
            (&[" a", "-b", "+c", " d"][..], &["a", "b|c", "d"][..]),
            (&["-a", "-b", "+c"], &["a|c", "b|"]),
            (&["+a", " b"], &["|a", "b"]),
            (
                &[
                    "-let a = 1;",
                    "-let b = 2;",
                    "+// why",
                    "+let a = 10;",
                    "+let b = 2 + 1;",
                ],
                &[
                    "|// why",
                    "let a = 1;|let a = 10;",
                    "let b = 2;|let b = 2 + 1;",
                ],
            ),
            (
                &["-gone entirely", "-call(one, two)", "+call(one, three)"],
                &["gone entirely|", "call(one, two)|call(one, three)"],
            ),
            (&[], &[]),
        ] {
            assert_eq!(told(&lines(given)), want, "{given:?}");
        }
        let many: Vec<String> = (0..200).map(|it| format!("-{it}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).chain(["+x"; 100]).collect();
        assert_eq!(
            comparison_rows(&lines(&many)).len(),
            200,
            "too many to be matched"
        );
    }

    #[test]
    fn what_is_far_from_a_change_is_folded() {
        let same = |count: usize| vec![" same"; count];
        for (given, want) in [
            (
                [same(3), vec!["-a"], same(6)].concat(),
                &[
                    "same", "same", "same", "a|", "same", "same", "same", "same", "same", "same",
                ][..],
            ),
            (
                [same(7), vec!["-a"], same(8)].concat(),
                &[
                    "fold 4", "same", "same", "same", "a|", "same", "same", "same", "fold 5",
                ],
            ),
            (
                [vec!["-a"], same(10), vec!["+b"]].concat(),
                &[
                    "a|", "same", "same", "same", "fold 4", "same", "same", "same", "|b",
                ],
            ),
            (
                [same(3), vec!["~"], same(1)].concat(),
                &["same", "same", "same", "gap 10", "same"],
            ),
            (same(20), &["same"; 20]),
        ] {
            let given = lines(&given);
            assert_eq!(told(&given), want);
            let below = fold_unchanged(&given, |it| it.to_string());
            let signs = |all: &[String]| -> Vec<String> {
                let signs = all.iter().filter_map(|it| it.split_once(' '));
                signs.map(|(_, count)| count.to_owned()).collect()
            };
            let shown = below.iter().filter(|it| it.side == DiffSide::Hunk);
            let shown: Vec<String> = shown.map(|it| it.text.clone()).collect();
            assert_eq!(shown, signs(&told(&given)));
        }
    }

    #[test]
    fn what_is_drawn_ends_after_a_change_not_within() {
        let given = lines(&[" a", "-b", "-c", "+B", "+C", "+D", " e", "-f", " g"]);
        let rows = unfolded_rows(&given, |_| false);
        assert_eq!(rows.len(), 7, "a, b|B, c|C, |D, e, f|, g");
        for (most, want) in [
            (0, 0),
            (1, 1),
            (2, 4),
            (3, 4),
            (4, 4),
            (5, 5),
            (6, 6),
            (9, 7),
        ] {
            assert_eq!(drawn_count(&rows, most), want, "{most}");
        }
        assert_eq!(drawn_count(&[], 3), 0);
        // Unchanged lines far from the change are drawn once their fold is open.
        let given = lines(&[vec!["-a"], vec![" same"; 9]].concat());
        let count = |is_open: bool| unfolded_rows(&given, |_| is_open).len();
        assert_eq!((count(false), count(true)), (5, 10));
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        for (then, now, want) in [
            ("retry(3)", "retry(5)", Some((vec![6..7], vec![6..7]))),
            (
                "let a = 1;",
                "let a = 100;",
                Some((vec![8..9], vec![8..11])),
            ),
            (
                "    größe = 1",
                "    größe = 2",
                Some((vec![14..15], vec![14..15])),
            ),
            (
                "f(a, b, c)",
                "g(a, b, d)",
                Some((vec![0..1, 8..9], vec![0..1, 8..9])),
            ),
            (
                "keep(old name)",
                "keep(new title)",
                Some((vec![5..13], vec![5..14])),
            ),
            ("same(a)", "same(a, b)", Some((vec![], vec![6..9]))),
            ("  deep()", "deep()", Some((vec![0..2], vec![]))),
            ("one thing", "quite another", None),
            ("", "x", None),
        ] {
            assert_eq!(differing_ranges(then, now), want, "{then:?} {now:?}");
        }
        let told = lines(&[" a", "-unlike", "-retry(3)", "+retry(5)", " b"]);
        let none = Vec::new;
        assert_eq!(
            marks_of(&told),
            [none(), none(), vec![6..7], vec![6..7], none()]
        );
        let long = "word ".repeat(2_000);
        let other = "term ".repeat(2_000);
        assert_eq!(differing_ranges(&long, &other), None);
    }
}
