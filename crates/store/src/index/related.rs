//! Finds the versions that are indexed under the same keys: candidates for a comparison. A key is a
//! number that the opener of the index computes from a version; this module does not interpret it.

use engram_model::Engram;
use tantivy::{
    DocSet, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
    schema::{Field, IndexRecordOption},
};

use super::{SEQ, guarded};
use crate::Result;

/// The most versions of a segment that are read under one key.
const LONG: u64 = 20_000;

/// What the opener of the index computes from a version.
#[derive(Debug, Clone, Default)]
pub struct Derived {
    /// The keys under which it is related to others ([`RelatedVersions`]).
    pub keys: Vec<u64>,
    /// Numbers that come back with the version as an answer ([`super::SearchMatch`]).
    pub sketch: Vec<u64>,
}

/// Computes [`Derived`].
pub type Derive = fn(&Engram) -> Derived;

/// The index at one moment.
pub struct RelatedVersions {
    searcher: Searcher,
    field: Field,
    indexed: u64,
}

impl RelatedVersions {
    pub(super) fn new(searcher: Searcher, field: Field, indexed: u64) -> Self {
        Self {
            searcher,
            field,
            indexed,
        }
    }

    /// How far the index had read. Later versions must be scanned.
    pub fn indexed(&self) -> u64 {
        self.indexed
    }

    /// How many versions the index holds, of all projects.
    pub fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// How many versions lie under a key, those that were deleted since included.
    pub fn count(&self, key: u64) -> Result<u64> {
        guarded(|| {
            Ok(self
                .searcher
                .doc_freq(&Term::from_field_u64(self.field, key))?)
        })
    }

    /// The places of the `most` newest versions under a key that were stored before `below`, newest
    /// first; and whether there are more.
    pub fn of(&self, key: u64, below: u64, most: usize) -> Result<(Vec<u64>, bool)> {
        guarded(|| {
            let mut found = Vec::new();
            let mut has_more = false;
            // A caller that continues from a place reads a long list to its end, in the background.
            let is_first = below > self.indexed;
            for segment in self.searcher.segment_readers() {
                has_more |= self.in_segment(segment, key, is_first, &mut found)?;
            }
            found.retain(|seq| *seq < below);
            has_more |= found.len() > most;
            if found.len() > most {
                found.select_nth_unstable_by(most, |a, b| b.cmp(a));
                found.truncate(most);
            }
            found.sort_unstable_by(|a, b| b.cmp(a));
            Ok((found, has_more))
        })
    }

    /// Adds the matches of a segment; returns whether some were skipped.
    fn in_segment(
        &self,
        segment: &SegmentReader,
        key: u64,
        may_skip: bool,
        found: &mut Vec<u64>,
    ) -> Result<bool> {
        let term = Term::from_field_u64(self.field, key);
        let list = segment
            .inverted_index(self.field)?
            .read_postings(&term, IndexRecordOption::Basic)
            .map_err(TantivyError::from)?;
        let Some(mut list) = list else {
            return Ok(false);
        };
        let seqs = segment.fast_fields().u64(SEQ)?;
        // Segments are merged in any order, so the newest version may be anywhere. The whole list
        // is read, unless it is so long that its key says nothing.
        let (documents, length) = (u64::from(segment.max_doc()), u64::from(list.size_hint()));
        let skips = may_skip && length > LONG;
        if skips {
            let first = documents - documents * LONG / length;
            let first = u32::try_from(first).unwrap_or_default();
            if list.doc() < first {
                list.seek(first);
            }
        }
        while list.doc() != TERMINATED {
            if !segment.is_deleted(list.doc()) {
                found.extend(seqs.first(list.doc()));
            }
            list.advance();
        }
        Ok(skips)
    }
}
