//! One query of the index: how often the terms of a question occur, and which versions share them.
//!
//! Terms are stored with their project. So the frequency of a term is read, not counted, and only
//! the versions that a question can return are visited.

use std::{cmp::Reverse, collections::BinaryHeap};

use engram_model::ProjectId;
use tantivy::{
    DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
    postings::{SegmentPostings, TermInfo},
    schema::{Field, IndexRecordOption},
};

use super::{Fields, SEQ, SKETCH, guarded, project_term};
use crate::Result;

/// The terms of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchTerms {
    /// Identifiers and files.
    pub exact: Vec<String>,
    /// Stems of words.
    pub words: Vec<String>,
    /// Numbers; they count as words, after `words`.
    pub numbers: Vec<String>,
    /// Runs of neighbouring words.
    pub grams: Vec<String>,
}

/// The weight of each term of [`SearchTerms`], in its order. Weights are whole numbers, so that a
/// sum does not depend on the order of addition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchWeights {
    /// The weights of `exact`.
    pub exact: Vec<u64>,
    /// The weights of `words`, then of `numbers`.
    pub words: Vec<u64>,
    /// The weight of each of `grams`.
    pub gram: u64,
    /// A version without an exact term, and with words worth less than this, may be left out.
    pub floor: u64,
}

/// How often terms occur in the versions of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TermFrequencies {
    /// How many versions there are.
    pub total: u64,
    /// How many versions have each of `exact`.
    pub exact: Vec<u64>,
    /// How many versions have each of `words`, then of `numbers`.
    pub words: Vec<u64>,
    /// How many versions have each of `grams`.
    pub grams: Vec<u64>,
}

/// A version, and which terms it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchMatch {
    /// Its place in the journal.
    pub seq: u64,
    /// How many of `exact` it has.
    pub exact: usize,
    /// The weight of those.
    pub exact_worth: u64,
    /// How many of `words` and `numbers` it has.
    pub words: usize,
    /// The weight of those.
    pub words_worth: u64,
    /// How many of `grams` it has.
    pub grams: usize,
    /// How many of `exact`, `words` and `numbers` are in its claim, rather than in its topic, tags or
    /// pointers.
    pub said: usize,
    /// Its sketch ([`super::Derived`]).
    pub sketch: Vec<u64>,
}

/// Where a term occurs in a segment.
type TermPlace = (Field, Option<TermInfo>);

/// Where the terms of a question occur in a segment, in their order.
struct SegmentTerms {
    total: u64,
    exact: Vec<TermPlace>,
    words: Vec<TermPlace>,
    grams: Vec<TermPlace>,
    /// The places within claims of `exact`, then of `words` and `numbers`.
    said: Vec<TermPlace>,
}

/// A query of the index at one moment, for some terms of one project.
pub struct IndexQuery {
    searcher: Searcher,
    indexed: u64,
    segments: Vec<SegmentTerms>,
}

impl IndexQuery {
    pub(super) fn new(
        searcher: Searcher,
        fields: Fields,
        project: ProjectId,
        terms: &SearchTerms,
        indexed: u64,
    ) -> Result<Self> {
        let segments = searcher
            .segment_readers()
            .iter()
            .map(|segment| SegmentTerms::find(segment, fields, project, terms))
            .collect::<Result<_>>()?;
        Ok(Self {
            searcher,
            indexed,
            segments,
        })
    }

    /// How far the index had read. Later versions must be scanned.
    pub fn indexed(&self) -> u64 {
        self.indexed
    }

    /// Returns in how many versions of the project each term occurs.
    pub fn frequencies(&self) -> TermFrequencies {
        let mut found = TermFrequencies::default();
        for segment in &self.segments {
            found.total += segment.total;
            add(&mut found.exact, &segment.exact);
            add(&mut found.words, &segment.words);
            add(&mut found.grams, &segment.grams);
        }
        found
    }

    /// Returns up to `limit` versions, by weight and then newest first. Versions below
    /// [`SearchWeights::floor`] may be missing. The result does not depend on how the index is cut
    /// into segments.
    pub fn search(&self, worth: &SearchWeights, limit: usize) -> Result<Vec<SearchMatch>> {
        guarded(|| self.best(worth, limit))
    }

    fn best(&self, worth: &SearchWeights, limit: usize) -> Result<Vec<SearchMatch>> {
        let mut best = Best::new(limit.max(1));
        let (needed, others) = worth.split();
        let most: u64 = self.segments.iter().map(|it| it.most(&needed)).sum();
        // If all fit, nothing needs to be ranked.
        let others = (most > limit as u64).then_some(others);
        let segments = || self.searcher.segment_readers().iter().zip(&self.segments);
        for (at, (segment, places)) in segments().enumerate() {
            let (needed, others) = (
                places.needed(segment, worth, &needed)?,
                places.others(segment, worth, others.as_deref())?,
            );
            walk(segment, at, needed, others, &mut best)?;
        }
        let chosen = best.in_order();
        let mut found = vec![SearchMatch::default(); chosen.len()];
        for (at, (segment, places)) in segments().enumerate() {
            let mut own: Vec<(DocId, usize)> = chosen
                .iter()
                .enumerate()
                .filter(|(_, it)| it.segment == at)
                .map(|(place, it)| (it.doc, place))
                .collect();
            own.sort_unstable();
            places.describe(segment, worth, &own, &mut found)?;
        }
        for (found, chosen) in found.iter_mut().zip(&chosen) {
            found.seq = chosen.seq;
        }
        found.sort_by_key(|it| Reverse((worth.of(it), it.seq)));
        Ok(found)
    }
}

fn add(sums: &mut Vec<u64>, places: &[TermPlace]) {
    sums.resize(places.len(), 0);
    for (sum, (_, info)) in sums.iter_mut().zip(places) {
        *sum += info.as_ref().map_or(0, |it| u64::from(it.doc_freq));
    }
}

impl SegmentTerms {
    fn find(
        segment: &SegmentReader,
        fields: Fields,
        project: ProjectId,
        terms: &SearchTerms,
    ) -> Result<Self> {
        let of = |field: Field, key: &str| -> Result<TermPlace> {
            let term = Term::from_field_text(field, key);
            let info = segment.inverted_index(field)?.get_term_info(&term);
            Ok((field, info.map_err(TantivyError::from)?))
        };
        let all = |field: Field, keys: &[String]| -> Result<Vec<TermPlace>> {
            let own = keys
                .iter()
                .map(|key| of(field, &project_term(project, key)));
            own.collect()
        };
        let (_, every) = of(fields.project, &project.to_string())?;
        let mut said = all(fields.said, &terms.exact)?;
        said.extend(all(fields.said, &terms.words)?);
        said.extend(all(fields.said, &terms.numbers)?);
        let mut words = all(fields.words, &terms.words)?;
        words.extend(all(fields.exact, &terms.numbers)?);
        Ok(Self {
            total: every.map_or(0, |it| u64::from(it.doc_freq)),
            exact: all(fields.exact, &terms.exact)?,
            words,
            grams: all(fields.grams, &terms.grams)?,
            said,
        })
    }

    /// An upper bound on the number of versions that have an exact term or one of these words.
    fn most(&self, words: &[usize]) -> u64 {
        let words = words.iter().map(|it| &self.words[*it]);
        let infos = self
            .exact
            .iter()
            .chain(words)
            .filter_map(|(_, it)| it.as_ref());
        infos.map(|it| u64::from(it.doc_freq)).sum()
    }

    fn needed(
        &self,
        segment: &SegmentReader,
        worth: &SearchWeights,
        words: &[usize],
    ) -> Result<Vec<List>> {
        let exact = self.exact.iter().zip(&worth.exact);
        let words = words.iter().map(|it| (&self.words[*it], &worth.words[*it]));
        lists(segment, exact.chain(words))
    }

    fn others(
        &self,
        segment: &SegmentReader,
        worth: &SearchWeights,
        words: Option<&[usize]>,
    ) -> Result<Vec<List>> {
        let Some(words) = words else {
            return Ok(Vec::new());
        };
        let words = words.iter().map(|it| (&self.words[*it], &worth.words[*it]));
        let grams = self.grams.iter().map(|it| (it, &worth.gram));
        lists(segment, words.chain(grams))
    }

    /// Describes which terms these versions have, in the order of their documents.
    fn describe(
        &self,
        segment: &SegmentReader,
        worth: &SearchWeights,
        own: &[(DocId, usize)],
        found: &mut [SearchMatch],
    ) -> Result<()> {
        let mut each =
            |places: &[TermPlace], tell: &dyn Fn(&mut SearchMatch, usize)| -> Result<()> {
                for (term, place) in places.iter().enumerate() {
                    let Some(mut list) = postings_of(segment, place, 1)? else {
                        continue;
                    };
                    for (doc, at) in own {
                        if list.worth_of(*doc) > 0 {
                            tell(&mut found[*at], term);
                        }
                    }
                }
                Ok(())
            };
        if own.is_empty() {
            return Ok(());
        }
        each(&self.exact, &|version, term| {
            version.exact += 1;
            version.exact_worth += worth.exact[term];
        })?;
        each(&self.words, &|version, term| {
            version.words += 1;
            version.words_worth += worth.words[term];
        })?;
        each(&self.grams, &|version, _| version.grams += 1)?;
        each(&self.said, &|version, _| version.said += 1)?;
        let sketches = segment.fast_fields().u64(SKETCH)?;
        for (doc, at) in own {
            found[*at].sketch.extend(sketches.values_for_doc(*doc));
        }
        Ok(())
    }
}

/// Visits the versions of a segment that have a needed term, and adds the weights of the other
/// terms. Skips versions that have only other terms.
fn walk(
    segment: &SegmentReader,
    at: usize,
    mut needed: Vec<List>,
    mut others: Vec<List>,
    best: &mut Best,
) -> Result<()> {
    let most_of_others: u64 = others.iter().map(|it| it.worth).sum();
    let seqs = segment.fast_fields().u64(SEQ)?;
    let next = |lists: &[List]| lists.iter().map(List::doc).min();
    while let Some(doc) = next(&needed).filter(|it| *it != TERMINATED) {
        let mut score = 0;
        for list in needed.iter_mut().filter(|it| it.doc() == doc) {
            score += list.worth;
            list.postings.advance();
        }
        if !best.may_take(score + most_of_others) || segment.is_deleted(doc) {
            continue;
        }
        score += others.iter_mut().map(|it| it.worth_of(doc)).sum::<u64>();
        if let Some(seq) = seqs.first(doc) {
            best.offer(Chosen {
                score,
                seq,
                segment: at,
                doc,
            });
        }
    }
    Ok(())
}

impl SearchWeights {
    /// The weight of all terms that a version has.
    pub fn of(&self, found: &SearchMatch) -> u64 {
        found.exact_worth + found.words_worth + self.gram * found.grams as u64
    }

    /// Splits the words. A version without an exact term needs at least one of the first list. The
    /// weights of the second list add up to less than the floor.
    fn split(&self) -> (Vec<usize>, Vec<usize>) {
        let mut least: Vec<usize> = (0..self.words.len()).collect();
        least.sort_by_key(|it| self.words[*it]);
        let mut sum = 0;
        let below = least
            .iter()
            .take_while(|word| {
                sum += self.words[**word];
                sum < self.floor
            })
            .count();
        let needed = least.split_off(below);
        (needed, least)
    }
}

/// The versions of a segment that have a term.
struct List {
    postings: SegmentPostings,
    worth: u64,
}

impl List {
    fn doc(&self) -> DocId {
        self.postings.doc()
    }

    /// The weight of the term in this document, 0 if it lacks the term. Documents must be asked for
    /// in order.
    fn worth_of(&mut self, doc: DocId) -> u64 {
        let at = if self.doc() < doc {
            self.postings.seek(doc)
        } else {
            self.doc()
        };
        if at == doc { self.worth } else { 0 }
    }
}

fn postings_of(
    segment: &SegmentReader,
    (field, info): &TermPlace,
    worth: u64,
) -> Result<Option<List>> {
    let Some(info) = info else {
        return Ok(None);
    };
    let postings = segment
        .inverted_index(*field)?
        .read_postings_from_terminfo(info, IndexRecordOption::Basic)
        .map_err(TantivyError::from)?;
    Ok(Some(List { postings, worth }))
}

fn lists<'p>(
    segment: &SegmentReader,
    places: impl Iterator<Item = (&'p TermPlace, &'p u64)>,
) -> Result<Vec<List>> {
    places
        .filter_map(|(place, worth)| postings_of(segment, place, *worth).transpose())
        .collect()
}

/// Ordered by weight, then by age: the newer is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Chosen {
    score: u64,
    seq: u64,
    segment: usize,
    doc: DocId,
}

/// The best matches so far, the least of them on top.
struct Best {
    heap: BinaryHeap<Reverse<Chosen>>,
    limit: usize,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self {
            heap: BinaryHeap::new(),
            limit,
        }
    }

    fn is_full(&self) -> bool {
        self.heap.len() >= self.limit
    }

    /// Whether a version of at most this weight can be among the best.
    fn may_take(&self, most: u64) -> bool {
        !self.is_full() || self.heap.peek().is_none_or(|it| most >= it.0.score)
    }

    fn offer(&mut self, chosen: Chosen) {
        if !self.is_full() {
            self.heap.push(Reverse(chosen));
        } else if let Some(mut least) = self.heap.peek_mut()
            && chosen > least.0
        {
            *least = Reverse(chosen);
        }
    }

    fn in_order(self) -> Vec<Chosen> {
        let best = self.heap.into_sorted_vec();
        best.into_iter().map(|it| it.0).collect()
    }
}
