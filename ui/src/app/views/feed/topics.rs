//! The names of topics above their rows, in a list by topic.

use std::{ops::Range, sync::Arc};

use engram_model::Engram;

use crate::words::topic_name;

/// The name of a topic, above its first row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TopicHeading {
    pub(super) first_row: usize,
    pub(super) name: String,
    /// How many rows it has.
    pub(super) count: usize,
}

/// The headings, in the order of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TopicHeadings(Vec<TopicHeading>);

impl TopicHeadings {
    pub(super) fn of(rows: &[Arc<Engram>]) -> Self {
        let mut first_row = 0;
        let groups = rows.chunk_by(|a, b| a.topic == b.topic);
        let headings = groups.map(|group| {
            let heading = TopicHeading {
                first_row,
                name: topic_name(group.first().map_or("", |it| &it.topic)),
                count: group.len(),
            };
            first_row += group.len();
            heading
        });
        Self(headings.collect())
    }

    /// Whether a topic begins with this row.
    pub(super) fn begins(&self, row: usize) -> bool {
        self.0.binary_search_by_key(&row, |it| it.first_row).is_ok()
    }

    /// Returns the headings that begin within these rows.
    pub(super) fn within(&self, rows: &Range<usize>) -> impl Iterator<Item = &TopicHeading> {
        self.0.iter().filter(|it| rows.contains(&it.first_row))
    }
}
