//! Compares the lines of two texts, in bounded time for any content.
//!
//! If a few kinds of lines make up most of two long texts, a diff takes time quadratic in their
//! number. In that case the rare lines are compared first, and the common ones are paired by their
//! neighbours.

use std::{cmp::Reverse, ops::Range};

use imara_diff::{Algorithm, Diff, InternedInput, Token};

/// A histogram diff best shows what a person did, but takes quadratic time if every line moved. It
/// is not used if the two texts together have more lines than this.
const MAX_FOR_HISTOGRAM: usize = 20_000;
/// The most pairs of equal lines, one from each text, that a full comparison may consider.
const MAX_PAIRS: u64 = 4_000_000;

/// Compares two texts whose lines were interned.
pub(crate) fn compared<T: std::hash::Hash + Eq>(input: &InternedInput<T>) -> Diff {
    let (before, after) = (input.before.as_slice(), input.after.as_slice());
    let kinds = input.interner.num_tokens();
    match rare(before, after, kinds) {
        None => diff(before, after, kinds),
        Some(is_rare) => by_rare(before, after, &is_rare, kinds),
    }
}

fn diff(before: &[Token], after: &[Token], kinds: u32) -> Diff {
    let algorithm = if before.len() + after.len() > MAX_FOR_HISTOGRAM {
        Algorithm::Myers
    } else {
        Algorithm::Histogram
    };
    let mut diff = Diff::default();
    diff.compute_with(algorithm, before, after, kinds);
    diff
}

/// Returns which kinds of lines are rare enough to compare; `None` if all are.
fn rare(before: &[Token], after: &[Token], kinds: u32) -> Option<Vec<bool>> {
    let equal = |(a, b): &(&Token, &Token)| a == b;
    let first = before.iter().zip(after).take_while(equal).count();
    let (old, new) = (before.get(first..)?, after.get(first..)?);
    let last = old.iter().rev().zip(new.iter().rev());
    let last = last.take_while(equal).count();
    let mut counts = vec![(0u64, 0u64); kinds as usize];
    for token in old.get(..old.len() - last)? {
        counts.get_mut(token.0 as usize)?.0 += 1;
    }
    for token in new.get(..new.len() - last)? {
        counts.get_mut(token.0 as usize)?.1 += 1;
    }
    let mut kinds: Vec<(u64, usize)> = counts
        .into_iter()
        .enumerate()
        .map(|(kind, (old, new))| (old.saturating_mul(new), kind))
        .collect();
    let mut pairs = kinds.iter().map(|it| it.0).fold(0, u64::saturating_add);
    if pairs <= MAX_PAIRS {
        return None;
    }
    let mut is_rare = vec![true; kinds.len()];
    kinds.sort_unstable_by_key(|it| Reverse(*it));
    for (common, kind) in kinds {
        if pairs <= MAX_PAIRS {
            break;
        }
        pairs -= common;
        *is_rare.get_mut(kind)? = false;
    }
    Some(is_rare)
}

/// Compares the rare lines, then extends the matches to the others, and returns a diff of all
/// lines.
fn by_rare(before: &[Token], after: &[Token], is_rare: &[bool], kinds: u32) -> Diff {
    // A common line must equal no line of the other text.
    let rare = |side: &[Token], none: u32| -> Vec<Token> {
        let rare = |it: &Token| is_rare.get(it.0 as usize).copied().unwrap_or(true);
        let told = side
            .iter()
            .map(|it| if rare(it) { *it } else { Token(none) });
        told.collect()
    };
    let (none, nothing) = (kinds, kinds.saturating_add(1));
    let first = diff(
        &rare(before, none),
        &rare(after, nothing),
        kinds.saturating_add(2),
    );
    // Each line gets its own number, which its counterpart shares.
    let old: Vec<Token> = (0..before.len() as u32).map(Token).collect();
    let mut new: Vec<Token> = (0..after.len() as u32)
        .map(|it| Token(it.saturating_add(before.len() as u32)))
        .collect();
    let mut pair = |olds: Range<usize>, news: Range<usize>| {
        for (from, to) in olds.zip(news) {
            if let (Some(number), Some(counterpart)) = (old.get(from), new.get_mut(to)) {
                *counterpart = *number;
            }
        }
    };
    let (mut at, mut there) = (0, 0);
    for hunk in first.hunks() {
        let (olds, news) = (range(&hunk.before), range(&hunk.after));
        pair(at..olds.start, there..news.start);
        let (head, tail) = ends(before, after, &olds, &news);
        pair(olds.start..olds.start + head, news.start..news.start + head);
        pair(olds.end - tail..olds.end, news.end - tail..news.end);
        (at, there) = (olds.end, news.end);
    }
    pair(at..before.len(), there..after.len());
    diff(&old, &new, (before.len() + after.len()) as u32)
}

fn range(lines: &Range<u32>) -> Range<usize> {
    lines.start as usize..lines.end as usize
}

/// Returns how many lines are equal at the beginning and at the end of two stretches.
fn ends(
    before: &[Token],
    after: &[Token],
    olds: &Range<usize>,
    news: &Range<usize>,
) -> (usize, usize) {
    let old = before.get(olds.clone()).unwrap_or_default();
    let new = after.get(news.clone()).unwrap_or_default();
    let equal = |(a, b): &(&Token, &Token)| a == b;
    let head = old.iter().zip(new).take_while(equal).count();
    let (old, new) = (
        old.get(head..).unwrap_or_default(),
        new.get(head..).unwrap_or_default(),
    );
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(equal);
    (head, tail.count())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fmt::Write;

    use super::*;

    fn hunks(before: &str, after: &str) -> Vec<(Range<u32>, Range<u32>)> {
        let input = InternedInput::new(before, after);
        let mut diff = compared(&input);
        diff.postprocess_lines(&input);
        diff.hunks().map(|it| (it.before, it.after)).collect()
    }

    /// A long file in which every other line is blank or a brace, with a function here and there.
    fn long(name: &str) -> String {
        let mut text = String::new();
        for number in 0..9_000 {
            write!(text, "fn {name}_{number}() {{\n\n}}\n\n").unwrap();
        }
        text
    }

    #[test]
    fn common_lines_are_equal_where_what_stands_beside_them_is() {
        let old = long("it");
        let new = old.replacen("fn it_100()", "fn first()", 1);
        let new = new.replacen("fn it_8000()", "fn last()", 1);
        let new = format!("// above\n{new}");
        let input = InternedInput::new(old.as_str(), new.as_str());
        let kinds = input.interner.num_tokens();
        let is_rare = rare(&input.before, &input.after, kinds).unwrap();
        assert_eq!(is_rare.iter().filter(|it| !**it).count(), 2);
        assert_eq!(
            hunks(&old, &new),
            [
                (0..0, 0..1),
                (400..401, 401..402),
                (32_000..32_001, 32_001..32_002)
            ]
        );
    }

    #[test]
    fn short_texts_are_compared_whole() {
        let input = InternedInput::new("a\n\nb\n\nc\n", "a\n\nc\n\nb\n");
        let kinds = input.interner.num_tokens();
        assert_eq!(rare(&input.before, &input.after, kinds), None);
    }

    /// A comparison of eight kinds of lines in two unrelated orders, which would take minutes
    /// without the limits.
    #[test]
    fn a_few_kinds_of_lines_take_no_longer_than_many() {
        let text = |seed: u64| -> String {
            let mut state = seed;
            let mut line = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                format!("{}\n", state >> 61)
            };
            (0..100_000).map(|_| line()).collect()
        };
        let (old, new) = (text(1), text(2));
        let changed: u32 = hunks(&old, &new)
            .iter()
            .map(|(it, _)| it.end - it.start)
            .sum();
        assert!(changed > 90_000, "{changed}");
    }
}
