//! Measures how alike two lines are: the share of pairs of neighbouring characters that they have
//! in common.

use super::text::is_blank;

/// Longer lines are judged by this many characters from their beginning.
const MAX_CHARS: usize = 240;

/// The pairs of neighbouring characters of a line, sorted.
pub(super) struct Profile(Vec<u16>);

impl Profile {
    pub(super) fn of(line: &[u8]) -> Self {
        let kept: Vec<u8> = line
            .iter()
            .copied()
            .filter(|it| !is_blank(*it))
            .take(MAX_CHARS)
            .collect();
        let mut pairs: Vec<u16> = kept
            .windows(2)
            .map(|it| u16::from(it[0]) << 8 | u16::from(it[1]))
            .collect();
        // A line of one character has no pair; it is compared by that character.
        if let ([only], true) = (kept.as_slice(), pairs.is_empty()) {
            pairs.push(u16::from(*only));
        }
        pairs.sort_unstable();
        Self(pairs)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the likeness from 0 (nothing in common) to 1; 0 if it would be below `least`.
    pub(super) fn likeness(&self, other: &Self, least: f32) -> f32 {
        let (a, b) = (self.len(), other.len());
        if a + b == 0 {
            return 1.0;
        }
        let share = |common: usize| 2.0 * common as f32 / (a + b) as f32;
        if share(a.min(b)) < least {
            return 0.0;
        }
        let (mut i, mut j, mut common) = (0, 0, 0);
        while let (Some(x), Some(y)) = (self.0.get(i), other.0.get(j)) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    common += 1;
                    i += 1;
                    j += 1;
                }
            }
        }
        let likeness = share(common);
        if likeness < least { 0.0 } else { likeness }
    }
}

/// Returns how alike two texts are as a whole.
pub(super) fn likeness(a: &[u8], b: &[u8]) -> f32 {
    Profile::of(a).likeness(&Profile::of(b), 0.0)
}
