//! What a search of the list needs from the tables: which versions contain its words literally,
//! which of the versions that the index found pass its filter, and the entries of these.

use std::collections::HashSet;

use engram_model::{Entry, Filter, ProjectId};
use jiff::Timestamp;
use rusqlite::params_from_iter;

use super::{entry, filter::Where};
use crate::{
    Reader, Result,
    journal::{ENTRY, journalled},
};

impl Reader<'_> {
    /// Returns versions that contain all words of a filter and match the rest of it, newest first.
    pub fn versions_containing(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<u64>> {
        // A word that many versions have is found fastest among the newest.
        let mut wanted = Where::rows(project, worktree, filter, now);
        let is_limited = wanted.limit_to_newest(self, project, filter)?;
        let newest = find_seqs(self, wanted, most)?;
        if !is_limited || newest.len() >= most {
            return Ok(newest);
        }
        let mut wanted = Where::rows(project, worktree, filter, now);
        wanted.start_from_longest_word(project, filter);
        find_seqs(self, wanted, most)
    }

    /// Returns which of these versions a filter admits.
    pub fn admitted_versions(
        &self,
        project: ProjectId,
        worktree: &str,
        filter: &Filter,
        now: Timestamp,
        seqs: &[u64],
    ) -> Result<HashSet<u64>> {
        let mut wanted = Where::rows(project, worktree, filter, now);
        wanted.among(seqs);
        Ok(find_seqs(self, wanted, seqs.len())?.into_iter().collect())
    }

    /// Returns the entries that stored these versions, in this order; without those that readers do
    /// not see.
    pub fn stored_entries(&self, seqs: &[u64]) -> Result<Vec<Entry>> {
        let mut statement = self
            .0
            .prepare_cached(&format!("SELECT {ENTRY} FROM journal WHERE seq = ?1"))?;
        let mut entries = Vec::with_capacity(seqs.len());
        for seq in seqs {
            let rows = statement.query_map([*seq as i64], |row| Ok(journalled(row)))?;
            for row in rows {
                entries.extend(entry(self, row?)?);
            }
        }
        Ok(entries)
    }
}

/// Returns versions that match, newest first.
fn find_seqs(reader: &Reader<'_>, mut wanted: Where, most: usize) -> Result<Vec<u64>> {
    let most = wanted.value(most as i64);
    let sql = format!(
        "SELECT engram.seq FROM {} WHERE {} ORDER BY {} DESC LIMIT {most}",
        wanted.tables, wanted.sql, wanted.order
    );
    let mut statement = reader.0.prepare_cached(&sql)?;
    let seqs = statement.query_map(params_from_iter(wanted.values), |row| row.get::<_, i64>(0))?;
    seqs.map(|it| Ok(it? as u64)).collect()
}
