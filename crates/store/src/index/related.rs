//! Finds the versions that are indexed under the same keys: candidates for a comparison. A key is a
//! number that the opener of the index computes from a version; this module does not interpret it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, btree_map::Entry},
};

use engram_model::Engram;
use tantivy::{
    DocAddress, DocSet, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
    columnar::Column,
    schema::{Field, IndexRecordOption},
};

use super::{SEQ, SKETCH, guarded};
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

/// A version under a key.
#[derive(Debug, Clone, Copy)]
pub struct RelatedVersion {
    /// Its place in the journal.
    pub seq: u64,
    document: DocAddress,
}

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

    /// The `most` newest versions under a key that were stored before `below`, newest first; and
    /// whether there are more.
    pub fn of(&self, key: u64, below: u64, most: usize) -> Result<(Vec<RelatedVersion>, bool)> {
        guarded(|| {
            let mut found = Vec::new();
            let mut has_more = false;
            // A caller that continues from a place reads a long list to its end, in the background.
            let is_first = below > self.indexed;
            for (at, segment) in (0..).zip(self.searcher.segment_readers()) {
                has_more |= self.in_segment((at, segment), key, is_first, &mut found)?;
            }
            found.retain(|it: &RelatedVersion| it.seq < below);
            has_more |= found.len() > most;
            if found.len() > most {
                found.select_nth_unstable_by_key(most, |it| Reverse(it.seq));
                found.truncate(most);
            }
            found.sort_unstable_by_key(|it| Reverse(it.seq));
            Ok((found, has_more))
        })
    }

    /// The sketches of these versions, in their order.
    pub fn sketches<'v>(
        &self,
        versions: impl IntoIterator<Item = &'v RelatedVersion>,
    ) -> Result<Vec<Vec<u64>>> {
        guarded(|| {
            let mut columns: BTreeMap<u32, Column> = BTreeMap::new();
            let sketch = |version: &RelatedVersion| {
                let DocAddress {
                    segment_ord: at,
                    doc_id,
                } = version.document;
                let column = match columns.entry(at) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => {
                        let fields = self.searcher.segment_reader(at).fast_fields();
                        unknown.insert(fields.u64(SKETCH)?)
                    }
                };
                Ok(column.values_for_doc(doc_id).collect())
            };
            versions.into_iter().map(sketch).collect()
        })
    }

    /// Adds the matches of a segment; returns whether some were skipped.
    fn in_segment(
        &self,
        (at, segment): (u32, &SegmentReader),
        key: u64,
        may_skip: bool,
        found: &mut Vec<RelatedVersion>,
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
                let document = DocAddress::new(at, list.doc());
                let seq = seqs.first(list.doc());
                found.extend(seq.map(|seq| RelatedVersion { seq, document }));
            }
            list.advance();
        }
        Ok(skips)
    }
}
