//! Two texts side by side: which lines stand beside which, and in what they differ.

use std::ops::Range;

use engram_model::{Side, SourceLine};

/// A row of the two texts; what has no counterpart stands alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<'a> {
    /// As it was pinned.
    pub then: Option<&'a SourceLine>,
    /// As it is.
    pub now: Option<&'a SourceLine>,
}

/// Lines that were replaced stand beside what replaced them, in their order.
pub fn pairs(lines: &[SourceLine]) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    let (mut removed, mut added): (Vec<&SourceLine>, Vec<&SourceLine>) = (Vec::new(), Vec::new());
    for line in lines {
        match line.side {
            Side::Removed => removed.push(line),
            Side::Added => added.push(line),
            Side::Both | Side::Hunk => {
                beside(&mut pairs, &mut removed, &mut added);
                pairs.push(Pair {
                    then: Some(line),
                    now: Some(line),
                });
            }
        }
    }
    beside(&mut pairs, &mut removed, &mut added);
    pairs
}

fn beside<'a>(
    pairs: &mut Vec<Pair<'a>>,
    removed: &mut Vec<&'a SourceLine>,
    added: &mut Vec<&'a SourceLine>,
) {
    for at in 0..removed.len().max(added.len()) {
        pairs.push(Pair {
            then: removed.get(at).copied(),
            now: added.get(at).copied(),
        });
    }
    removed.clear();
    added.clear();
}

/// The bytes in which two lines differ: all but what they begin and end with alike. None where
/// they have next to nothing in common, so that nothing would stand out.
pub fn differing(then: &str, now: &str) -> Option<(Range<usize>, Range<usize>)> {
    let common = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| -> usize {
        a.zip(b)
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    };
    let start = common(&mut then.chars(), &mut now.chars());
    let (a, b) = (&then[start..], &now[start..]);
    let end = common(&mut a.chars().rev(), &mut b.chars().rev());
    let alike = then[..start].trim().len() + a[a.len() - end..].trim().len();
    let most = then.trim().len().max(now.trim().len());
    (alike * 3 >= most).then(|| (start..then.len() - end, start..now.len() - end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_marked() {
        for (then, now, want) in [
            ("retry(3)", "retry(5)", Some((6..7, 6..7))),
            ("let a = 1;", "let a = 100;", Some((9..9, 9..11))),
            ("    größe = 1", "    größe = 2", Some((14..15, 14..15))),
            ("one thing", "quite another", None),
            ("", "x", None),
        ] {
            assert_eq!(differing(then, now), want, "{then:?} {now:?}");
        }
    }
}
