//! Candidates for an answer: which versions may answer a question, and where each ranks.

use std::collections::HashSet;

use engram_model::Refusal;
use engram_store::{Reader, SearchMatch, Traits};

use crate::asking::{
    meaning::MeaningCompared,
    query::QueryFilter,
    rank::{RankedEngram, TermWeights},
};

/// How many of the nearest in meaning are candidates.
const NEAREST: usize = 50;

/// What decides whether a version is a candidate, and where it ranks.
pub(crate) struct CandidateRules<'a> {
    pub(crate) tx: &'a Reader<'a>,
    pub(crate) filter: &'a QueryFilter<'a>,
    pub(crate) weights: TermWeights,
    pub(crate) meaning: MeaningCompared<'a>,
}

/// A version that may answer.
pub(crate) struct Recalled {
    /// The weight of the terms that it has, and its place in the journal. The index returns those that
    /// are highest by this; so what it has not read is cut in the same way.
    pub(crate) place: (u64, u64),
    /// `None` if it is noise.
    pub(crate) ranked: Option<RankedEngram>,
}

impl CandidateRules<'_> {
    /// A version that has enough of the words, if it passes.
    pub(crate) fn by_words(
        &self,
        found: &SearchMatch,
        traits: &Traits,
    ) -> Result<Option<Recalled>, Refusal> {
        if !self.weights.reaches_floor(found) || !self.filter.admits(self.tx, traits) {
            return Ok(None);
        }
        self.rank(found, traits).map(Some)
    }

    /// Adds the versions that are nearest in meaning, with or without a word of the question.
    pub(crate) fn add_nearest(&self, ranked: &mut Vec<Recalled>) -> Result<(), Refusal> {
        let known: HashSet<u64> = ranked.iter().map(|it| it.place.1).collect();
        let mut admitted = 0;
        for seq in self.meaning.nearest() {
            if admitted == NEAREST {
                break;
            }
            if known.contains(&seq) {
                admitted += 1;
                continue;
            }
            let found = SearchMatch {
                seq,
                ..SearchMatch::default()
            };
            if let Some(traits) = self.tx.traits_at(seq)?
                && self.filter.admits(self.tx, &traits)
            {
                admitted += 1;
                ranked.push(self.rank(&found, &traits)?);
            }
        }
        Ok(())
    }

    fn rank(&self, found: &SearchMatch, traits: &Traits) -> Result<Recalled, Refusal> {
        let filter = self.filter;
        let holds = filter.query.as_of.is_some() || traits.holds_now(filter.now);
        let run = filter.visibility.run();
        let meaning = self.meaning.of(self.tx, found)?;
        let ranked = RankedEngram::new(found, traits, &self.weights, meaning, run);
        Ok(Recalled {
            place: (self.weights.worth().of(found), found.seq),
            ranked: ranked.map(|it| it.with_state(holds)),
        })
    }
}
