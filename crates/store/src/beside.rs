//! Tables `content`, `said` and `blob`, beside the journal: the words of claims and events, and the
//! bytes of kept files, which can be erased for good.

use engram_model::{Operation, operation::Redaction};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use crate::{
    Result, StoreError,
    journal::{ENTRY, journalled},
};

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

/// Erases the words of claims and of the events that repeat them, kept files that nothing else rests on,
/// and what entries of the journal say of them.
pub(crate) fn erase(connection: &Connection, it: &Redaction) -> Result<()> {
    let mut claims = connection.prepare_cached("DELETE FROM content WHERE engram = ?1")?;
    for id in &it.ids {
        claims.execute([id.to_string()])?;
    }
    let mut events = connection.prepare_cached("DELETE FROM said WHERE seq = ?1")?;
    for seq in &it.events {
        events.execute([*seq as i64])?;
    }
    let mut blobs = connection.prepare_cached("DELETE FROM blob WHERE digest = ?1")?;
    for digest in &it.digests {
        blobs.execute([digest])?;
    }
    let told = it.seqs.iter().chain(&it.events).chain(&it.entries);
    told.copied().try_for_each(|seq| blank(connection, seq, it))
}

/// The one way that an entry is written again: without what was erased.
fn blank(connection: &Connection, seq: u64, it: &Redaction) -> Result<()> {
    let entry = connection
        .prepare_cached(&format!("SELECT {ENTRY} FROM journal WHERE seq = ?1"))?
        .query_row([seq as i64], |row| Ok(journalled(row)))
        .optional()?;
    let Some(operation) = entry.and_then(|it| it.known()) else {
        return Ok(());
    };
    let is_kept = matches!(operation, Operation::Kept(_));
    let body = operation
        .without(it)
        .body()
        .map_err(|error| StoreError::Record(error.to_string()))?;
    let is_said = is_kept || it.seqs.contains(&seq) || it.events.contains(&seq);
    connection
        .prepare_cached(
            "UPDATE journal SET body = ?2, by = CASE WHEN ?3 THEN '' ELSE by END WHERE seq = ?1",
        )?
        .execute(params![seq as i64, body, is_said])?;
    Ok(())
}
