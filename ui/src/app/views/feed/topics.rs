//! The names of topics above their rows, in a list by topic, and of the claims that are about to
//! end, which come first.

use std::{ops::Range, sync::Arc};

use engram_model::Engram;

use crate::words::{say, topic_name};

/// The name of a topic, above its first row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicHeading {
    pub(crate) first_row: usize,
    pub(crate) name: String,
    /// How many rows it has.
    pub(crate) count: usize,
}

/// The headings, in the order of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TopicHeadings(Vec<TopicHeading>);

impl TopicHeadings {
    /// Makes the headings of rows in their order; `ends_first` says which come before all topics.
    pub(crate) fn of(rows: &[Arc<Engram>], ends_first: impl Fn(&Engram) -> bool) -> Self {
        let mut first_row = 0;
        let topic = |it: &Engram| (!ends_first(it)).then(|| it.topic.clone());
        let groups = rows.chunk_by(|a, b| topic(a) == topic(b));
        let headings = groups.map(|group| {
            let topic = group.first().map(|it| topic(it)).unwrap_or_default();
            let heading = TopicHeading {
                first_row,
                name: topic.map_or(say::knowledge::EXPIRES_SOON.to_owned(), |it| {
                    topic_name(&it)
                }),
                count: group.len(),
            };
            first_row += group.len();
            heading
        });
        Self(headings.collect())
    }

    /// Returns the heading above this row, if a topic begins with it.
    pub(crate) fn above(&self, row: usize) -> Option<&TopicHeading> {
        let at = self.0.binary_search_by_key(&row, |it| it.first_row).ok()?;
        self.0.get(at)
    }

    /// Returns the headings that begin within these rows.
    pub(crate) fn within(&self, rows: &Range<usize>) -> impl Iterator<Item = &TopicHeading> {
        self.0.iter().filter(|it| rows.contains(&it.first_row))
    }
}
