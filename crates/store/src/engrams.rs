//! Tables `engram`, `content` and `figure`: one row for each version of a claim, its erasable words,
//! and what reading has taught about it.

use engram_model::{AgentId, Engram, EngramId, Figures, LineageId, ProjectId};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Value, json};

use crate::{Reader, Result, StoreError, Writer, journal::timestamp};

const COLUMNS: &str = "engram.seq, journal.body, engram.valid_until, content.claim, content.tags,
     coalesce(figure.query_hits, 0), coalesce(figure.corroborations, 0)
     FROM engram JOIN journal ON journal.seq = engram.seq
     LEFT JOIN content ON content.engram = engram.id
     LEFT JOIN figure ON figure.engram = engram.id";

/// Microseconds, as the table `held` counts by them.
const HOUR: i64 = 3_600_000_000;

/// What a project holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitCount {
    /// Engrams that hold now.
    pub holding: u64,
    /// Versions ever stored.
    pub ever: u64,
}

/// The record as the journal carries it: without the words, and without what is derived from them.
pub(crate) fn body_of(engram: &Engram) -> Result<Value> {
    let bare = Engram {
        claim: String::new(),
        tags: Vec::new(),
        hash_keys: Vec::new(),
        entities: Vec::new(),
        valid_until: None,
        figures: Figures::default(),
        health: None,
        ..engram.clone()
    };
    serde_json::to_value(bare).map_err(|e| StoreError::Record(e.to_string()))
}

type Raw = (
    i64,
    String,
    Option<i64>,
    Option<String>,
    Option<String>,
    u64,
    u64,
);

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get::<_, i64>(5)? as u64,
        row.get::<_, i64>(6)? as u64,
    ))
}

/// Puts the words back. Keys and entities are left to who needs them ([`Engram::derive_keys`]):
/// ranking reads many versions and returns few.
fn record((seq, body, until, claim, tags, query_hits, corroborations): Raw) -> Result<Engram> {
    let bad = |e: serde_json::Error| StoreError::Record(format!("engram at {seq}: {e}"));
    let mut engram: Engram = serde_json::from_str(&body).map_err(bad)?;
    engram.seq = seq as u64;
    engram.valid_until = until.map(timestamp).transpose()?;
    engram.redacted = claim.is_none();
    engram.claim = claim.unwrap_or_default();
    engram.tags = match tags {
        Some(tags) => serde_json::from_str(&tags).map_err(bad)?,
        None => Vec::new(),
    };
    engram.figures = Figures {
        query_hits,
        corroborations,
        conflicts: 0,
    };
    Ok(engram)
}

impl Reader<'_> {
    fn engrams_where(&self, tail: &str, values: impl rusqlite::Params) -> Result<Vec<Engram>> {
        self.0
            .prepare_cached(&format!("SELECT {COLUMNS} {tail}"))?
            .query_map(values, raw)?
            .map(|row| record(row?))
            .collect()
    }

    /// One version.
    pub fn engram(&self, id: EngramId) -> Result<Option<Engram>> {
        Ok(self
            .engrams_where("WHERE engram.id = ?1", [id.to_string()])?
            .pop())
    }

    /// The version stored by this entry of the journal.
    pub fn engram_at(&self, seq: u64) -> Result<Option<Engram>> {
        Ok(self
            .engrams_where("WHERE engram.seq = ?1", [seq as i64])?
            .pop())
    }

    /// All versions of a lineage, newest first.
    pub fn lineage(&self, lineage: LineageId) -> Result<Vec<Engram>> {
        self.engrams_where(
            "WHERE engram.lineage = ?1 ORDER BY engram.seq DESC",
            [lineage.to_string()],
        )
    }

    /// The version that replaced the one at this place of a lineage.
    pub fn successor(&self, lineage: LineageId, seq: u64) -> Result<Option<EngramId>> {
        let sql = "SELECT id FROM engram WHERE lineage = ?1 AND seq > ?2 ORDER BY seq LIMIT 1";
        let mut statement = self.0.prepare_cached(sql)?;
        let id = statement
            .query_row((lineage.to_string(), seq as i64), |row| {
                row.get::<_, String>(0)
            })
            .optional()?;
        id.map(|id| crate::journal::parse_id(&id)).transpose()
    }

    /// Versions stored after `after` in this project, oldest first: what the index has not read.
    pub fn engrams_after(
        &self,
        project: ProjectId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Engram>> {
        self.engrams_where(
            "WHERE engram.project = ?1 AND engram.seq > ?2 ORDER BY engram.seq LIMIT ?3",
            params![project.to_string(), after as i64, limit as i64],
        )
    }

    /// The newest versions that hold at `at`, of those that were stored before an entry of the
    /// journal; newest first.
    pub fn newest_holding(
        &self,
        project: ProjectId,
        at: Timestamp,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Engram>> {
        self.engrams_where(
            "WHERE engram.project = ?1 AND engram.recorded_at <= ?2 AND engram.seq < ?3
               AND (engram.valid_until IS NULL OR engram.valid_until > ?2)
               AND (engram.expires_at IS NULL OR engram.expires_at > ?2)
             ORDER BY engram.seq DESC LIMIT ?4",
            params![
                project.to_string(),
                at.as_microsecond(),
                before.map_or(i64::MAX, |it| it as i64),
                limit as i64
            ],
        )
    }

    /// The versions of this content that hold at `now`, oldest first.
    pub fn same_content(
        &self,
        project: ProjectId,
        content_hash: &str,
        now: Timestamp,
    ) -> Result<Vec<Engram>> {
        self.engrams_where(
            "WHERE engram.project = ?1 AND engram.content_hash = ?2 AND engram.valid_until IS NULL
               AND (engram.expires_at IS NULL OR engram.expires_at > ?3)
             ORDER BY engram.seq",
            params![project.to_string(), content_hash, now.as_microsecond()],
        )
    }

    /// How many engrams a project holds: from the counts of the hours in which they expire, and the
    /// versions of this hour.
    pub fn count_engrams(&self, project: ProjectId, now: Timestamp) -> Result<CommitCount> {
        let hour = now.as_microsecond().div_euclid(HOUR);
        let (ever, later): (i64, i64) = self
            .0
            .prepare_cached(
                "SELECT coalesce(sum(ever), 0), coalesce(sum(open) FILTER (WHERE hour > ?2), 0)
                 FROM held WHERE project = ?1",
            )?
            .query_row(params![project.to_string(), hour], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let soon: i64 = self
            .0
            .prepare_cached(
                "SELECT count(*) FROM engram INDEXED BY engram_open
                 WHERE project = ?1 AND valid_until IS NULL AND expires_at > ?2 AND expires_at < ?3",
            )?
            .query_row(
                params![
                    project.to_string(),
                    now.as_microsecond(),
                    hour.saturating_add(1).saturating_mul(HOUR)
                ],
                |row| row.get(0),
            )?;
        Ok(CommitCount {
            holding: (later + soon) as u64,
            ever: ever as u64,
        })
    }
}

impl Writer<'_> {
    /// Stores a version under its journal entry; `engram.seq` is that entry's place.
    pub fn add_engram(&self, engram: &Engram) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT INTO engram (seq, id, lineage, project, run, scope, kind, fact_type, topic,
                   durability, content_hash, valid_from, valid_until, expires_at, recorded_at, by, verified)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, NULL, ?13, ?14, ?15, ?16)",
            )?
            .execute(params![
                engram.seq as i64,
                engram.id.to_string(),
                engram.lineage_id.to_string(),
                engram.project.to_string(),
                engram.run.map(|run| run.to_string()),
                engram.scope.as_str(),
                engram.kind.as_str(),
                engram.fact_type.as_str(),
                engram.topic,
                engram.durability.as_str(),
                engram.content_hash,
                engram.valid_from.as_microsecond(),
                engram.expires_at.map(|at| at.as_microsecond()),
                engram.recorded_at.as_microsecond(),
                engram.provenance.created_by,
                engram.verified,
            ])?;
        self.0
            .prepare_cached("INSERT INTO content (engram, claim, tags) VALUES (?1, ?2, ?3)")?
            .execute(params![
                engram.id.to_string(),
                engram.claim,
                json!(engram.tags).to_string()
            ])?;
        Ok(())
    }

    /// The body that [`Writer::append`] journals for a version.
    pub fn journal_body(&self, engram: &Engram) -> Result<Value> {
        body_of(engram)
    }

    /// Closes a window; false when it was closed already.
    pub fn close(&self, id: EngramId) -> Result<bool> {
        let closed = self
            .0
            .prepare_cached(
                "UPDATE engram SET valid_until = ?2 WHERE id = ?1 AND valid_until IS NULL",
            )?
            .execute(params![id.to_string(), self.now.as_microsecond()])?;
        Ok(closed > 0)
    }

    /// Erases the words of every version with this content in this project, and the events whose
    /// text they repeat. The versions whose words were erased.
    pub fn erase(&self, project: ProjectId, content_hash: &str) -> Result<Vec<(u64, EngramId)>> {
        let project = project.to_string();
        let rows: Vec<(i64, String)> = self
            .0
            .prepare_cached(
                "SELECT engram.seq, engram.id FROM engram JOIN content ON content.engram = engram.id
                 WHERE project = ?1 AND content_hash = ?2 ORDER BY engram.seq",
            )?
            .query_map(params![project, content_hash], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        self.0
            .prepare_cached(
                "DELETE FROM content WHERE engram IN
                   (SELECT id FROM engram WHERE project = ?1 AND content_hash = ?2)",
            )?
            .execute(params![project, content_hash])?;
        let digest = content_hash.strip_prefix("sha256:").unwrap_or(content_hash);
        self.0
            .prepare_cached("UPDATE event SET text = NULL WHERE project = ?1 AND digest = ?2")?
            .execute(params![project, digest])?;
        rows.into_iter()
            .map(|(seq, id)| Ok((seq as u64, crate::journal::parse_id(&id)?)))
            .collect()
    }

    /// Counts queries that returned these versions.
    pub fn add_hits(&self, ids: &[EngramId]) -> Result<()> {
        let mut add = self.0.prepare_cached(
            "INSERT INTO figure (engram, query_hits) VALUES (?1, 1)
             ON CONFLICT (engram) DO UPDATE SET query_hits = query_hits + 1",
        )?;
        for id in ids {
            add.execute([id.to_string()])?;
        }
        Ok(())
    }

    /// Counts one more agent that said the same.
    pub fn add_corroboration(&self, id: EngramId) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT INTO figure (engram, corroborations) VALUES (?1, 1)
                 ON CONFLICT (engram) DO UPDATE SET corroborations = corroborations + 1",
            )?
            .execute([id.to_string()])?;
        Ok(())
    }

    /// Whether this agent (or, without a handle, the user under this name) has said this before, by
    /// the entries about the version. Two agents may bear one name.
    pub fn has_said(&self, agent: Option<&AgentId>, by: &str, id: EngramId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal WHERE subject = ?1 AND agent IS ?2
                 AND (agent IS NOT NULL OR by = ?3) LIMIT 1",
            )?
            .query_row(params![id.to_string(), agent.map(|it| &it.0), by], |_| {
                Ok(())
            })
            .optional()?
            .is_some())
    }
}
