//! Geometry of the windowed list: which rows are on the screen, and where.

use std::ops::Range;

/// Where each row is, in CSS pixels from the top of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The top of every row, and at the end the total height.
    tops: Vec<u32>,
}

impl Default for Layout {
    fn default() -> Self {
        Self::new([])
    }
}

impl Layout {
    /// Makes a layout from the heights of the rows, first to last.
    pub fn new(heights: impl IntoIterator<Item = u32>) -> Self {
        let mut tops = vec![0];
        let mut at = 0u32;
        for height in heights {
            at = at.saturating_add(height);
            tops.push(at);
        }
        Self { tops }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.tops.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Height of all rows.
    pub fn total(&self) -> u32 {
        self.tops.last().copied().unwrap_or(0)
    }

    /// Top of a row; the end of the list if the index is beyond it.
    pub fn top(&self, index: usize) -> u32 {
        self.tops.get(index).copied().unwrap_or(self.total())
    }

    /// Returns the rows to draw: those on the screen and `spare` more on each side.
    pub fn window(&self, scroll: u32, viewport: u32, spare: usize) -> Range<usize> {
        let rows = self.tops.get(1..).unwrap_or_default();
        let first = rows.partition_point(|&bottom| bottom <= scroll);
        let last =
            self.tops[..self.len()].partition_point(|&top| top < scroll.saturating_add(viewport));
        first.saturating_sub(spare)..last.max(first).saturating_add(spare).min(self.len())
    }

    /// Returns where to scroll so that a row is entirely on the screen; none if it already is.
    pub fn reveal(&self, index: usize, scroll: u32, viewport: u32) -> Option<u32> {
        if index >= self.len() {
            return None;
        }
        let (top, bottom) = (self.top(index), self.top(index + 1));
        if top < scroll {
            Some(top)
        } else if bottom > scroll.saturating_add(viewport) {
            Some(bottom.saturating_sub(viewport))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_is_on_the_screen_and_little_more() {
        let list = Layout::new(std::iter::repeat_n(50, 1000));
        for (scroll, viewport, spare, want) in [
            (0, 200, 0, 0..4),
            (0, 201, 0, 0..5),
            (49, 200, 0, 0..5),
            (50, 200, 0, 1..5),
            (50, 200, 2, 0..7),
            (49_900, 200, 3, 995..1000),
            (90_000, 200, 3, 997..1000),
            (0, 0, 0, 0..0),
        ] {
            assert_eq!(
                list.window(scroll, viewport, spare),
                want,
                "scroll {scroll} viewport {viewport}"
            );
        }
        assert_eq!(Layout::default().window(0, 500, 5), 0..0);
        assert_eq!(list.total(), 50_000);
    }

    #[test]
    fn scrolls_only_when_a_row_is_not_whole_on_the_screen() {
        let list = Layout::new([60, 80, 60, 80]);
        for (index, scroll, want) in [
            (0, 0, None),
            (0, 10, Some(0)),
            (1, 0, None),
            (2, 0, Some(60)),
            (3, 140, None),
            (4, 0, None),
        ] {
            assert_eq!(
                list.reveal(index, scroll, 140),
                want,
                "row {index} at {scroll}"
            );
        }
    }
}
