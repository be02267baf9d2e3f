//! Table `snapshot`: where a file of a working tree was when it was kept. Its bytes lie beside the journal.

use rusqlite::{OptionalExtension, params};

use crate::{Reader, Result};

impl Reader<'_> {
    /// The commit that was checked out when a file of the working tree was kept.
    pub fn snapshot_base(&self, digest_hex: &str, path: &str) -> Result<Option<String>> {
        Ok(self
            .0
            .prepare_cached("SELECT base FROM snapshot WHERE digest = ?1 AND path = ?2")?
            .query_row(params![digest_hex, path], |row| row.get(0))
            .optional()?
            .flatten())
    }

    /// Whether this file is kept already.
    pub fn has_snapshot(&self, digest_hex: &str, path: &str) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached("SELECT 1 FROM snapshot WHERE digest = ?1 AND path = ?2")?
            .query_row(params![digest_hex, path], |_| Ok(()))
            .optional()?
            .is_some())
    }
}
