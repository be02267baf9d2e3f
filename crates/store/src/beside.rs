//! Tables `content`, `said` and `blob`: what lies beside the journal: the words of claims and
//! events, which can be erased for good, and the bytes of kept files.

use engram_model::{Operation, operation::Redaction};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use crate::{Reader, Result};

/// Keeps the words of an operation that was just appended at `seq`.
pub(crate) fn keep(connection: &Connection, seq: i64, operation: &Operation) -> Result<()> {
    match operation {
        Operation::Stored(engram) => connection
            .prepare_cached("INSERT INTO content (engram, claim, tags) VALUES (?1, ?2, ?3)")?
            .execute(params![
                engram.id.to_string(),
                engram.claim,
                json!(engram.tags).to_string()
            ])?,
        Operation::Noted(event) => connection
            .prepare_cached("INSERT INTO said (seq, text) VALUES (?1, ?2)")?
            .execute(params![seq, event.text])?,
        Operation::Kept(snapshot) => connection
            .prepare_cached("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![snapshot.digest_hex, snapshot.bytes])?,
        _ => 0,
    };
    Ok(())
}

/// Erases the words of claims and of the events that repeat them.
pub(crate) fn erase(connection: &Connection, it: &Redaction) -> Result<()> {
    let mut claims = connection.prepare_cached("DELETE FROM content WHERE engram = ?1")?;
    for id in &it.ids {
        claims.execute([id.to_string()])?;
    }
    let mut events = connection.prepare_cached("DELETE FROM said WHERE seq = ?1")?;
    for seq in &it.events {
        events.execute([*seq as i64])?;
    }
    Ok(())
}

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
