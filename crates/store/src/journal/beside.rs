//! Tables `content`, `said`, `blob`, `delivery` and `served`, beside the journal: the words of
//! claims and events, the words about conflicts, the bytes of stored files, messages as they were
//! delivered, and fingerprints of what agents were shown. All can be erased for good.

use engram_model::{
    AgentId, Operation, ProjectId,
    operation::{Redaction, Sent},
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::{ENTRY, NewEntry, journalled};
use crate::{Result, StoreError, Writer, conflicts::side};

/// The token count of a file that could not be read.
const UNREADABLE: i64 = -1;
/// How many showings count for each agent.
pub(crate) const SHOWN: i64 = 64;

/// Stores the words of an operation that was just appended at `seq`.
pub(crate) fn store_words(connection: &Connection, seq: i64, entry: &NewEntry<'_>) -> Result<()> {
    match entry.operation {
        Operation::Served(served) => {
            store_prints(connection, seq, Some(&served.to), &served.prints)?
        }
        Operation::Dereferenced(read) => store_prints(connection, seq, entry.agent, &read.prints)?,
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
        Operation::Noted(event) => store_text(connection, seq, Some(&event.text))?,
        Operation::Conflicted(contradiction) => {
            store_text(connection, seq, Some(&contradiction.why))?
        }
        Operation::Judged(judgment) => store_text(connection, seq, judgment.why.as_deref())?,
        Operation::Resolved(ruling) => store_text(connection, seq, ruling.why.as_deref())?,
        Operation::Allowed(permit) => store_text(connection, seq, Some(&permit.why))?,
        Operation::Requested(requested) => {
            store_text(connection, seq, Some(&requested.stored_text()))?
        }
        Operation::Denied(denied) if !denied.why.is_empty() => {
            store_text(connection, seq, Some(&denied.why))?
        }
        Operation::Pinned(pin) => store_text(connection, seq, pin.text.as_deref())?,
        Operation::Sent(sent) => store_delivery(connection, seq, entry.project, sent)?,
        Operation::Unpinned(pin) => connection
            .prepare_cached("DELETE FROM said WHERE seq = ?1")?
            .execute([*pin as i64])?,
        Operation::Kept(snapshot) => connection
            .prepare_cached("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![snapshot.digest_hex, snapshot.bytes])?,
        _ => 0,
    };
    Ok(())
}

fn store_text(connection: &Connection, seq: i64, text: Option<&str>) -> Result<usize> {
    let Some(text) = text else {
        return Ok(0);
    };
    Ok(connection
        .prepare_cached("INSERT INTO said (seq, text) VALUES (?1, ?2)")?
        .execute(params![seq, text])?)
}

/// Stores a message, and the files to which it points its recipients.
fn store_delivery(
    connection: &Connection,
    seq: i64,
    project: ProjectId,
    sent: &Sent,
) -> Result<usize> {
    let user = [AgentId(String::new())];
    let to = if sent.to.is_empty() {
        &user[..]
    } else {
        &sent.to
    };
    let mut files = connection.prepare_cached(
        "INSERT OR IGNORE INTO delivery (project, file, recipient, seq, tokens) VALUES (?1, ?2, ?3, ?4,
           (SELECT tokens FROM delivery WHERE project = ?1 AND file = ?2 AND tokens IS NOT NULL LIMIT 1))",
    )?;
    for (recipient, file) in to
        .iter()
        .flat_map(|to| sent.files.iter().map(move |it| (to, it)))
    {
        files.execute(params![project.to_string(), file, recipient.0, seq])?;
    }
    store_text(connection, seq, Some(&sent.text))
}

impl Writer<'_> {
    /// Stores the token count of a file behind the pointers of messages; `None` if the file could
    /// not be read.
    pub fn count_file(&self, project: ProjectId, file: &str, tokens: Option<u64>) -> Result<()> {
        let tokens = tokens.map_or(UNREADABLE, |it| i64::try_from(it).unwrap_or(i64::MAX));
        self.0
            .prepare_cached("UPDATE delivery SET tokens = ?3 WHERE project = ?1 AND file = ?2")?
            .execute(params![project.to_string(), file, tokens])?;
        Ok(())
    }
}

/// Stores sorted fingerprints of what an entry showed to an agent, and deletes its old ones.
fn store_prints(
    connection: &Connection,
    seq: i64,
    agent: Option<&AgentId>,
    prints: &[u64],
) -> Result<usize> {
    let Some(agent) = agent.filter(|_| !prints.is_empty()) else {
        return Ok(0);
    };
    let mut sorted = prints.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let bytes: Vec<u8> = sorted.iter().flat_map(|it| it.to_be_bytes()).collect();
    connection
        .prepare_cached("INSERT INTO served (seq, agent, prints) VALUES (?1, ?2, ?3)")?
        .execute(params![seq, agent.0, bytes])?;
    if forgets(seq) {
        connection
            .prepare_cached(
                "DELETE FROM served WHERE agent = ?1 AND seq <=
                   (SELECT seq FROM served WHERE agent = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
            )?
            .execute(params![agent.0, SHOWN])?;
    }
    Ok(1)
}

/// Whether to delete old showings at this place: about one in sixteen places, chosen by a hash, so
/// that no agent's showings can always miss them.
fn forgets(seq: i64) -> bool {
    (seq as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 == 0
}

/// Erases the words of claims and of events that repeat them, stored files that nothing else refers
/// to, and what journal entries say about them.
pub(crate) fn erase(connection: &Connection, redaction: &Redaction) -> Result<()> {
    let mut claims = connection.prepare_cached("DELETE FROM content WHERE engram = ?1")?;
    let mut vectors = connection
        .prepare_cached("DELETE FROM vector WHERE seq = (SELECT seq FROM engram WHERE id = ?1)")?;
    for id in &redaction.ids {
        claims.execute([id.to_string()])?;
        vectors.execute([id.to_string()])?;
    }
    let mut said = connection.prepare_cached("DELETE FROM said WHERE seq = ?1")?;
    for seq in redaction.events.iter().chain(&redaction.reasons) {
        said.execute([*seq as i64])?;
    }
    // The reason for a request describes what was erased.
    let mut requests = connection.prepare_cached(
        "DELETE FROM said WHERE seq = ?1 AND seq IN (SELECT seq FROM request WHERE seq = ?1)",
    )?;
    for seq in &redaction.entries {
        requests.execute([*seq as i64])?;
    }
    let mut blobs = connection.prepare_cached("DELETE FROM blob WHERE digest = ?1")?;
    for digest in &redaction.digests {
        blobs.execute([digest])?;
    }
    // A message may point to what was erased.
    for seq in &redaction.entries {
        connection
            .prepare_cached(
                "DELETE FROM said WHERE seq IN (SELECT seq FROM message WHERE seq = ?1)",
            )?
            .execute([*seq as i64])?;
        connection
            .prepare_cached("DELETE FROM delivery WHERE seq = ?1")?
            .execute([*seq as i64])?;
    }
    // Showings may repeat the words, and fingerprints can partly be guessed.
    connection.execute("DELETE FROM served", [])?;
    let told = redaction
        .seqs
        .iter()
        .chain(&redaction.events)
        .chain(&redaction.entries);
    told.copied()
        .try_for_each(|seq| blank(connection, seq, redaction))
}

/// The only way in which an entry is rewritten: without what was erased.
fn blank(connection: &Connection, seq: u64, redaction: &Redaction) -> Result<()> {
    let entry = connection
        .prepare_cached(&format!("SELECT {ENTRY} FROM journal WHERE seq = ?1"))?
        .query_row([seq as i64], |row| Ok(journalled(row)))
        .optional()?;
    let Some(operation) = entry.and_then(|it| it.readable_operation()) else {
        return Ok(());
    };
    let is_kept = matches!(operation, Operation::Kept(_));
    let body = operation
        .without_erased(redaction)
        .body()
        .map_err(StoreError::Unwritable)?;
    let is_said = is_kept || redaction.seqs.contains(&seq) || redaction.events.contains(&seq);
    connection
        .prepare_cached(
            "UPDATE journal SET body = ?2, by = CASE WHEN ?3 THEN '' ELSE by END WHERE seq = ?1",
        )?
        .execute(params![seq as i64, body, is_said])?;
    Ok(())
}
