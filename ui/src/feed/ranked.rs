//! What a search says about the engrams of the list, which are then best first.

use std::{collections::HashMap, ops::Range};

use engram_model::{AnswerQuality, EngramId, FeedPage, Filter, SearchReply};

use super::EngramList;

/// What a search says about its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// How well the first engram answers.
    pub verdict: AnswerQuality,
    /// How many engrams were found but are not listed.
    pub omitted: u64,
    /// Whether older versions are not searched yet.
    pub is_unfinished: bool,
    /// Where each claim has what was searched for, in bytes.
    marks: HashMap<EngramId, Vec<Range<usize>>>,
}

impl EngramList {
    /// Starts again with what a search found.
    pub fn load_ranked(&mut self, reply: SearchReply, filter: Filter) {
        let SearchReply {
            verdict,
            omitted,
            unread,
            page,
            marks,
        } = reply;
        self.load(FeedPage { next: None, ..page }, filter);
        self.ranked = Some(Ranked {
            verdict,
            omitted: omitted.unwrap_or_default(),
            is_unfinished: unread.is_some(),
            marks: marks.into_iter().collect(),
        });
    }

    /// What a search says about the list; none if the list is in the order of time.
    pub fn ranked(&self) -> Option<&Ranked> {
        self.ranked.as_ref()
    }

    /// Where the claim of an engram has what was searched for.
    pub fn marks(&self, id: EngramId) -> &[Range<usize>] {
        let marks = self.ranked.as_ref().and_then(|it| it.marks.get(&id));
        marks.map_or(&[], Vec::as_slice)
    }
}
