//! Tables `content`, `said` and `blob`, beside the journal: the words of claims, of events and about
//! conflicts, and the bytes of kept files, which can be erased for good.

use engram_model::{Operation, operation::Redaction};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use crate::{
    Result, StoreError,
    journal::{ENTRY, journalled},
    sides::side,
};

/// Keeps the words of an operation that was just appended at `seq`.
pub(crate) fn keep(connection: &Connection, seq: i64, operation: &Operation) -> Result<()> {
    match operation {
        Operation::Stored(engram) => connection
            .prepare_cached(
                "INSERT INTO content (engram, claim, tags, side) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                engram.id.to_string(),
                engram.claim,
                json!(engram.tags).to_string(),
                side(&engram.topic, &engram.claim)
            ])?,
        Operation::Noted(event) => say(connection, seq, Some(&event.text))?,
        Operation::Conflicted(it) => say(connection, seq, Some(&it.why))?,
        Operation::Resolved(it) => say(connection, seq, it.why.as_deref())?,
        Operation::Allowed(it) => say(connection, seq, Some(&it.why))?,
        Operation::Requested(it) => say(connection, seq, Some(&it.words()))?,
        Operation::Denied(it) if !it.why.is_empty() => say(connection, seq, Some(&it.why))?,
        Operation::Kept(snapshot) => connection
            .prepare_cached("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![snapshot.digest_hex, snapshot.bytes])?,
        _ => 0,
    };
    Ok(())
}

fn say(connection: &Connection, seq: i64, text: Option<&str>) -> Result<usize> {
    let Some(text) = text else {
        return Ok(0);
    };
    Ok(connection
        .prepare_cached("INSERT INTO said (seq, text) VALUES (?1, ?2)")?
        .execute(params![seq, text])?)
}

/// Erases the words of claims and of the events that repeat them, kept files that nothing else rests on,
/// and what entries of the journal say of them.
pub(crate) fn erase(connection: &Connection, it: &Redaction) -> Result<()> {
    let mut claims = connection.prepare_cached("DELETE FROM content WHERE engram = ?1")?;
    for id in &it.ids {
        claims.execute([id.to_string()])?;
    }
    let mut said = connection.prepare_cached("DELETE FROM said WHERE seq = ?1")?;
    for seq in it.events.iter().chain(&it.reasons) {
        said.execute([*seq as i64])?;
    }
    // A request says why it wants to read what was erased.
    let mut requests = connection.prepare_cached(
        "DELETE FROM said WHERE seq = ?1 AND seq IN (SELECT seq FROM request WHERE seq = ?1)",
    )?;
    for seq in &it.entries {
        requests.execute([*seq as i64])?;
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
