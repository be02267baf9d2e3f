//! One look at the index: what its terms are worth, and which engrams share them.

use engram_model::ProjectId;
use tantivy::{
    Searcher, Term,
    collector::{
        Count, TopDocs,
        sort_key::{SortBySimilarityScore, SortByStaticFastValue},
    },
    query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery},
    schema::{Field, IndexRecordOption},
};

use super::{Fields, SEQ};
use crate::Result;

/// Weights are whole multiples of this, so that their sum does not depend on the order of adding.
const GRAIN: f64 = 1.0 / 1024.0;

/// What a query looks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Identifiers, numbers, files.
    pub exact: Vec<String>,
    /// Stems.
    pub words: Vec<String>,
    /// Neighbouring words.
    pub grams: Vec<String>,
}

/// What finding a term is worth, for each term of [`Terms`] in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worth {
    /// Of `exact`.
    pub exact: Vec<f64>,
    /// Of `words`.
    pub words: Vec<f64>,
    /// Of each of `grams`.
    pub gram: f64,
}

/// How often terms occur in the versions of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// How many versions there are.
    pub total: u64,
    /// For each of `exact`.
    pub exact: Vec<u64>,
    /// For each of `words`.
    pub words: Vec<u64>,
}

/// The index as it was at one moment.
pub struct Look {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    pub(super) project: ProjectId,
    pub(super) indexed: u64,
}

impl Look {
    /// How far the index had read; anything after must be looked at by scan.
    pub fn indexed(&self) -> u64 {
        self.indexed
    }

    /// In how many versions of the project each term occurs.
    pub fn frequencies(&self, terms: &Terms) -> Result<Frequencies> {
        let count = |field: Field, keys: &[String]| -> Result<Vec<u64>> {
            keys.iter().map(|key| self.count(field, key)).collect()
        };
        Ok(Frequencies {
            total: self.searcher.search(&*self.own(), &Count)? as u64,
            exact: count(self.fields.exact, &terms.exact)?,
            words: count(self.fields.words, &terms.words)?,
        })
    }

    fn count(&self, field: Field, key: &str) -> Result<u64> {
        let term = Term::from_field_text(field, key);
        if self.searcher.doc_freq(&term)? == 0 {
            return Ok(0);
        }
        let both = BooleanQuery::new(vec![
            (Occur::Must, self.own()),
            (Occur::Must, has(field, key)),
        ]);
        Ok(self.searcher.search(&both, &Count)? as u64)
    }

    /// Places in the journal of up to `limit` versions that share a term, those that share most
    /// worth first, the newest first among equals: the same however the index is cut into segments.
    pub fn search(&self, terms: &Terms, worth: &Worth, limit: usize) -> Result<Vec<u64>> {
        let mut any: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut add = |field: Field, key: &str, worth: f64| {
            let score = ((worth / GRAIN).round() * GRAIN) as f32;
            let query = ConstScoreQuery::new(has(field, key), score);
            any.push((Occur::Should, Box::new(query)));
        };
        for (key, worth) in terms.exact.iter().zip(&worth.exact) {
            add(self.fields.exact, key, *worth);
        }
        for (key, worth) in terms.words.iter().zip(&worth.words) {
            add(self.fields.words, key, *worth);
        }
        for key in &terms.grams {
            add(self.fields.grams, key, worth.gram);
        }
        let query = BooleanQuery::new(vec![
            (
                Occur::Must,
                Box::new(ConstScoreQuery::new(self.own(), 0.0)) as Box<dyn Query>,
            ),
            (Occur::Must, Box::new(BooleanQuery::new(any))),
        ]);
        let order = (
            SortBySimilarityScore,
            SortByStaticFastValue::<u64>::for_field(SEQ),
        );
        let found = self
            .searcher
            .search(&query, &TopDocs::with_limit(limit.max(1)).order_by(order))?;
        Ok(found.into_iter().filter_map(|((_, seq), _)| seq).collect())
    }

    fn own(&self) -> Box<dyn Query> {
        has(self.fields.project, &self.project.to_string())
    }
}

fn has(field: Field, key: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, key);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}
