//! Candidates for an answer: which versions may answer a question, and where each ranks.

use std::collections::HashSet;

use engram_model::Refusal;
use engram_store::{Reader, SearchMatch, Traits};

use crate::asking::{
    meaning::MeaningCompared,
    query::QueryFilter,
    rank::{RankedEngram, Relevance, TermWeights},
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
    /// Those of the index's matches that pass; without those that are noise, if `leaves_out_noise`.
    pub(crate) fn of_index<'f>(
        &self,
        found: impl Iterator<Item = &'f SearchMatch>,
        leaves_out_noise: bool,
    ) -> Result<Vec<Recalled>, Refusal> {
        let mut matched = Vec::new();
        for found in found.filter(|it| self.weights.reaches_floor(it)) {
            let relevance = self.relevance(found)?;
            if !leaves_out_noise || relevance.is_some() {
                matched.push((found, relevance));
            }
        }
        let traits = self.tx.traits_at(matched.iter().map(|it| it.0.seq))?;
        let mut traits = traits.into_iter().peekable();
        let mut passed = Vec::with_capacity(matched.len());
        for (found, relevance) in matched {
            let traits = traits.next_if(|it| it.seq == found.seq);
            if let Some(traits) = traits.filter(|it| self.filter.admits(self.tx, it)) {
                passed.push(self.rank(found, &traits, relevance.as_ref()));
            }
        }
        Ok(passed)
    }

    /// A version that has enough of the words, if it passes.
    pub(crate) fn by_words(
        &self,
        found: &SearchMatch,
        traits: &Traits,
    ) -> Result<Option<Recalled>, Refusal> {
        if !self.weights.reaches_floor(found) || !self.filter.admits(self.tx, traits) {
            return Ok(None);
        }
        let relevance = self.relevance(found)?;
        Ok(Some(self.rank(found, traits, relevance.as_ref())))
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
            if let Some(traits) = self.tx.traits_at([seq])?.pop()
                && self.filter.admits(self.tx, &traits)
            {
                admitted += 1;
                let relevance = self.relevance(&found)?;
                ranked.push(self.rank(&found, &traits, relevance.as_ref()));
            }
        }
        Ok(())
    }

    /// How near a version is to the question; `None` if it is noise.
    fn relevance(&self, found: &SearchMatch) -> Result<Option<Relevance>, Refusal> {
        let meaning = self.meaning.of(self.tx, found)?;
        Ok(Relevance::of(found, &self.weights, meaning))
    }

    fn rank(
        &self,
        found: &SearchMatch,
        traits: &Traits,
        relevance: Option<&Relevance>,
    ) -> Recalled {
        let filter = self.filter;
        let holds = filter.query.as_of.is_some() || traits.holds_now(filter.now);
        let run = filter.visibility.run();
        let ranked = relevance.map(|it| RankedEngram::new(found, traits, it, run));
        Recalled {
            place: (self.weights.worth().of(found), found.seq),
            ranked: ranked.map(|it| it.with_state(holds)),
        }
    }
}
