//! Table `blob`: immutable bytes, addressed by the sha256 of what they are.

use rusqlite::{OptionalExtension, params};

use crate::{Reader, Result, Writer};

impl Reader<'_> {
    /// The bytes with this digest (lower-case hex).
    pub fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>> {
        Ok(self
            .0
            .prepare_cached("SELECT bytes FROM blob WHERE digest = ?1")?
            .query_row([digest], |row| row.get(0))
            .optional()?)
    }
}

impl Writer<'_> {
    /// Keeps bytes under their digest; keeping them twice keeps them once.
    pub fn keep_blob(&self, digest: &str, bytes: &[u8]) -> Result<()> {
        self.0
            .prepare_cached("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![digest, bytes])?;
        Ok(())
    }
}
