//! Which versions are kept under the same keys: candidates for a comparison. A key is a number that
//! whoever opens the index makes of a version, and means nothing here.

use engram_model::Engram;
use tantivy::{
    DocSet, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
    schema::{Field, IndexRecordOption},
};

use super::{SEQ, guarded};
use crate::Result;

/// The keys of a version.
pub type Related = fn(&Engram) -> Vec<u64>;

/// The index as it was at one moment.
pub struct Kin {
    searcher: Searcher,
    field: Field,
    indexed: u64,
}

impl Kin {
    pub(super) fn new(searcher: Searcher, field: Field, indexed: u64) -> Self {
        Self {
            searcher,
            field,
            indexed,
        }
    }

    /// How far the index had read; anything after must be looked at by scan.
    pub fn indexed(&self) -> u64 {
        self.indexed
    }

    /// The places of the versions under these keys, newest first: of each key about the `most` newest.
    pub fn of(&self, keys: &[u64], most: usize) -> Result<Vec<u64>> {
        guarded(|| {
            let mut found = Vec::new();
            for key in keys {
                let mut own = Vec::new();
                for segment in self.searcher.segment_readers() {
                    self.in_segment(segment, *key, most, &mut own)?;
                }
                own.sort_unstable_by(|a, b| b.cmp(a));
                own.truncate(most);
                found.extend(own);
            }
            found.sort_unstable_by(|a, b| b.cmp(a));
            found.dedup();
            Ok(found)
        })
    }

    fn in_segment(
        &self,
        segment: &SegmentReader,
        key: u64,
        most: usize,
        found: &mut Vec<u64>,
    ) -> Result<()> {
        let term = Term::from_field_u64(self.field, key);
        let list = segment
            .inverted_index(self.field)?
            .read_postings(&term, IndexRecordOption::Basic)
            .map_err(TantivyError::from)?;
        let Some(mut list) = list else {
            return Ok(());
        };
        let seqs = segment.fast_fields().u64(SEQ)?;
        // A segment holds versions about in the order in which they came: of a long list only the end is
        // read, and twice as much of it as is wanted.
        let (documents, wanted) = (u64::from(segment.max_doc()), 2 * most as u64);
        let length = u64::from(list.size_hint());
        if length > wanted {
            let first = documents - documents * wanted / length;
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
        Ok(())
    }
}
