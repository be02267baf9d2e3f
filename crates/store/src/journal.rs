//! Table `journal`: the truth. Everything else here can be rebuilt from it and the erasable text.

use engram_model::{AgentId, ChangeKind, ProjectId, SCHEMA_VERSION};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use crate::{Reader, Result, StoreError, Writer};

/// A change to append; its time, origin and place are the transaction's.
pub struct NewEntry<'a> {
    /// Where it happened.
    pub project: ProjectId,
    /// What happened.
    pub kind: ChangeKind,
    /// Whether it may ever leave this machine.
    pub shareable: bool,
    /// Who did it, by handle; none for the user.
    pub agent: Option<&'a AgentId>,
    /// Who did it, as a person would name them; empty for the user.
    pub by: &'a str,
    /// The engram or event that it is about.
    pub subject: Option<String>,
    /// What a replay needs; digests, never text.
    pub body: Value,
}

/// An entry as it is stored.
#[derive(Debug, Clone)]
pub struct Journalled {
    /// Cursor in this home.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// Where it happened.
    pub project: ProjectId,
    /// What happened, by name; a newer build's names are kept, not understood.
    pub kind: String,
    /// Who did it.
    pub by: String,
    /// The engram or event that it is about.
    pub subject: Option<String>,
    /// What a replay needs.
    pub body: Value,
}

impl Writer<'_> {
    /// Appends one entry and returns its place.
    pub fn append(&self, entry: &NewEntry<'_>) -> Result<u64> {
        let mut insert = self.0.prepare_cached(
            "INSERT INTO journal (origin, origin_seq, hlc, schema, project, kind, shareable, recorded_at, agent, by, subject, body)
             VALUES (?1,
                     (SELECT coalesce(max(origin_seq), 0) + 1 FROM journal WHERE origin = ?1),
                     max(?2, (SELECT coalesce(max(hlc), 0) + 1 FROM journal WHERE seq = (SELECT max(seq) FROM journal))),
                     ?3, ?4, ?5, ?6, ?2, ?7, ?8, ?9, ?10)",
        )?;
        insert.execute(params![
            self.origin.to_string(),
            self.now.as_microsecond(),
            SCHEMA_VERSION,
            entry.project.to_string(),
            entry.kind.as_str(),
            entry.shareable,
            entry.agent.map(|agent| &agent.0),
            entry.by,
            entry.subject,
            entry.body.to_string(),
        ])?;
        Ok(self.0.last_insert_rowid() as u64)
    }
}

impl Reader<'_> {
    /// The newest place in the journal; 0 when it is empty.
    pub fn head(&self) -> Result<u64> {
        let head: Option<i64> = self
            .0
            .prepare_cached("SELECT max(seq) FROM journal")?
            .query_row([], |row| row.get(0))?;
        Ok(head.unwrap_or(0) as u64)
    }

    /// `now`, or the time of the newest entry where the clock jumped back: time only goes on here.
    pub fn time(&self, now: Timestamp) -> Result<Timestamp> {
        let last: Option<i64> = self
            .0
            .prepare_cached("SELECT recorded_at FROM journal ORDER BY seq DESC LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(last
            .map(timestamp)
            .transpose()?
            .map_or(now, |last| last.max(now)))
    }

    /// Entries after `after` of every project, oldest first: what a follower reads.
    pub fn journal_after(&self, after: u64, limit: usize) -> Result<Vec<Journalled>> {
        self.0
            .prepare_cached(
                "SELECT seq, recorded_at, project, kind, by, subject, body FROM journal
                 WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            )?
            .query_map(params![after as i64, limit as i64], raw_entry)?
            .map(|row| journalled(row?))
            .collect()
    }

    /// How many entries of `kind` this agent made since `since`.
    pub fn count_by_agent(
        &self,
        agent: &AgentId,
        kind: ChangeKind,
        since: Timestamp,
    ) -> Result<u32> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT count(*) FROM journal WHERE agent = ?1 AND kind = ?2 AND recorded_at > ?3",
            )?
            .query_row(
                params![agent.0, kind.as_str(), since.as_microsecond()],
                |row| row.get(0),
            )?)
    }
}

pub(crate) type RawEntry = (i64, i64, String, String, String, Option<String>, String);

pub(crate) fn raw_entry(row: &Row<'_>) -> rusqlite::Result<RawEntry> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
    ))
}

pub(crate) fn journalled(raw: RawEntry) -> Result<Journalled> {
    let (seq, at, project, kind, by, subject, body) = raw;
    Ok(Journalled {
        seq: seq as u64,
        at: timestamp(at)?,
        project: parse_id(&project)?,
        kind,
        by,
        subject,
        body: serde_json::from_str(&body)
            .map_err(|e| StoreError::Record(format!("entry {seq}: {e}")))?,
    })
}

/// Microseconds from a row.
pub(crate) fn timestamp(micros: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|_| StoreError::Record(format!("time {micros}")))
}

/// An id from a row.
pub(crate) fn parse_id<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse()
        .map_err(|_| StoreError::Record(format!("id {text:?}")))
}
