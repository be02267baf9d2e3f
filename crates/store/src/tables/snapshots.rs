//! Tables `snapshot` and `pinned`: where a file of a working tree was when it was stored, and which
//! versions refer to it. Its bytes lie beside the journal.

use engram_model::{EngramId, ProjectId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Reader, Result};

/// SQL: a project may read a stored file. Either the file was stored in it, or an earlier schema
/// did not record the project and a version of this project refers to the file.
const OF_PROJECT: &str = "digest = ?1 AND path = ?2 AND (project = ?3 OR (project = '' AND EXISTS
     (SELECT 1 FROM pinned JOIN engram ON engram.id = pinned.engram
      WHERE pinned.digest = ?1 AND engram.project = ?3)))";

/// Queries about stored files of working trees.
pub struct Snapshots<'a>(&'a Connection);

impl Reader<'_> {
    /// Returns the queries about stored files.
    pub fn snapshots(&self) -> Snapshots<'_> {
        Snapshots(self.0)
    }
}

impl Snapshots<'_> {
    /// The bytes with this digest (lower-case hex), if a file with this path had them in this
    /// project.
    pub fn bytes(
        &self,
        project: ProjectId,
        digest_hex: &str,
        path: &str,
    ) -> Result<Option<Vec<u8>>> {
        Ok(self
            .0
            .prepare_cached(&format!(
                "SELECT bytes FROM blob JOIN snapshot USING (digest) WHERE {OF_PROJECT} LIMIT 1"
            ))?
            .query_row(params![digest_hex, path, project.to_string()], |row| {
                row.get(0)
            })
            .optional()?)
    }

    /// The commit that was checked out when a file of the working tree was stored.
    pub fn base(&self, project: ProjectId, digest_hex: &str, path: &str) -> Result<Option<String>> {
        Ok(self
            .0
            .prepare_cached(&format!(
                "SELECT base FROM snapshot WHERE {OF_PROJECT} ORDER BY project DESC LIMIT 1"
            ))?
            .query_row(params![digest_hex, path, project.to_string()], |row| {
                row.get(0)
            })
            .optional()?
            .flatten())
    }

    /// Whether this file of this project is already stored.
    pub fn has(&self, project: ProjectId, digest_hex: &str, path: &str) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM snapshot WHERE digest = ?1 AND path = ?2 AND project = ?3",
            )?
            .query_row(params![digest_hex, path, project.to_string()], |_| Ok(()))
            .optional()?
            .is_some())
    }

    /// The digests of stored files to which only these versions refer, not counting erased ones.
    pub fn only_for(&self, ids: &[EngramId]) -> Result<Vec<String>> {
        let ids = serde_json::json!(ids).to_string();
        self.0
            .prepare_cached(
                "SELECT DISTINCT digest FROM pinned WHERE engram IN (SELECT value FROM json_each(?1))
                 AND NOT EXISTS (SELECT 1 FROM pinned AS other
                     WHERE other.digest = pinned.digest
                       AND other.engram NOT IN (SELECT value FROM json_each(?1)))
                 ORDER BY digest",
            )?
            .query_map([ids], |row| row.get(0))?
            .map(|row| Ok(row?))
            .collect()
    }
}
