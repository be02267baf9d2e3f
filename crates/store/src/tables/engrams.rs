//! Tables `engram` and `figure`: one row for each version of a claim, and what reads have shown
//! about it. The words are read from beside the journal.

use std::collections::BTreeSet;

use engram_model::{
    AgentId, Durability, Engram, EngramId, FactType, Figures, Kind, LineageId, ProjectId, Record,
    Refusal, RunId, Scope,
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params, types::ValueRef};

use crate::{
    Reader, Result, StoreError,
    conflicts::RISKS,
    journal::{parse_id, timestamp},
};

const COLUMNS: &str = "engram.seq, journal.body, engram.valid_until, content.claim, content.tags,
     coalesce(figure.query_hits, 0), coalesce(figure.corroborations, 0), engram.durability,
     engram.expires_at IS NULL, engram.role
     FROM engram JOIN journal ON journal.seq = engram.seq
     LEFT JOIN content ON content.engram = engram.id
     LEFT JOIN figure ON figure.engram = engram.id";

/// An hour in microseconds, the unit of the table `held`.
const HOUR: i64 = 3_600_000_000;

/// How many engrams a project has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngramCount {
    /// Engrams that hold now, without the reports of conflicts.
    pub holding: u64,
    /// Versions ever stored.
    pub ever: u64,
}

/// The first version has the lineage's id; the SQL index `engram_lineage` holds only the later
/// ones.
const OF_LINEAGE: &str =
    "(engram.id = ?1 OR (engram.lineage = ?1 AND engram.lineage <> engram.id))";

/// SQL: the ttl is not over at `?2`, as in [`engram_model::is_over`].
pub(crate) const NOT_OVER: &str = "(engram.expires_at IS NULL OR (engram.expires_at > ?2
     AND engram.recorded_at - ?2 <= min(engram.expires_at - engram.recorded_at, 86400000000)))";

pub(crate) const TRAITS: &str = "engram.seq, engram.project, engram.run, engram.scope, engram.kind,
     engram.fact_type, engram.durability, engram.topic, engram.recorded_at, engram.valid_from,
     engram.valid_until, engram.expires_at, content.engram IS NULL,
     engram.id, engram.verified, coalesce(figure.corroborations, 0)
     FROM engram LEFT JOIN content ON content.engram = engram.id
     LEFT JOIN figure ON figure.engram = engram.id";

/// The columns that decide whether a version answers a question. They are read for many versions,
/// the full records for few.
#[derive(Debug, Clone)]
pub struct Traits {
    /// Its place in the journal; the rest as in [`Engram`].
    pub seq: u64,
    /// The version.
    pub id: EngramId,
    /// Its project.
    pub project: ProjectId,
    /// The run in which it was made.
    pub run: Option<RunId>,
    /// Who may see it.
    pub scope: Scope,
    /// Its kind.
    pub kind: Kind,
    /// How it came to be known.
    pub fact_type: FactType,
    /// Whether it stays.
    pub durability: Durability,
    /// Its topic.
    pub topic: String,
    /// When it was stored.
    pub recorded_at: Timestamp,
    /// When it starts to hold.
    pub valid_from: Timestamp,
    /// When it was superseded, forgotten or closed by a verdict.
    pub valid_until: Option<Timestamp>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// Whether its words were erased.
    pub redacted: bool,
    /// Whether one of its pointers resolved.
    pub verified: bool,
    /// How many others said the same.
    pub corroborations: u64,
}

impl Traits {
    /// Whether it held at a time in the past, as in [`Engram::holds_at`].
    pub fn holds_at(&self, at: Timestamp) -> bool {
        engram_model::holds(self.valid_from, self.valid_until, self.expires_at, at)
    }

    /// Whether it holds now, as in [`Engram::holds_now`].
    pub fn holds_now(&self, now: Timestamp) -> bool {
        self.valid_until.is_none() && !engram_model::is_over(self.recorded_at, self.expires_at, now)
    }
}

impl From<&Engram> for Traits {
    fn from(engram: &Engram) -> Self {
        Self {
            seq: engram.seq,
            id: engram.id,
            project: engram.project,
            run: engram.run,
            scope: engram.scope,
            kind: engram.kind,
            fact_type: engram.fact_type,
            durability: engram.durability,
            topic: engram.topic.clone(),
            recorded_at: engram.recorded_at,
            valid_from: engram.valid_from,
            valid_until: engram.valid_until,
            expires_at: engram.expires_at,
            redacted: engram.redacted,
            verified: engram.verified,
            corroborations: engram.figures.corroborations,
        }
    }
}

pub(crate) fn traits(row: &Row<'_>) -> Result<Traits> {
    fn of<T: std::str::FromStr<Err = Refusal>>(row: &Row<'_>, at: usize) -> Result<T> {
        parse_id(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?)
    }
    let time = |at: usize| timestamp(row.get(at)?);
    let end = |at: usize| row.get::<_, Option<i64>>(at)?.map(timestamp).transpose();
    Ok(Traits {
        seq: row.get::<_, i64>(0)? as u64,
        project: of(row, 1)?,
        run: match row.get_ref(2)? {
            ValueRef::Null => None,
            _ => Some(of(row, 2)?),
        },
        scope: of(row, 3)?,
        kind: of(row, 4)?,
        fact_type: of(row, 5)?,
        durability: of(row, 6)?,
        topic: row.get(7)?,
        recorded_at: time(8)?,
        valid_from: time(9)?,
        valid_until: end(10)?,
        expires_at: end(11)?,
        redacted: row.get(12)?,
        id: of(row, 13)?,
        verified: row.get(14)?,
        corroborations: row.get::<_, i64>(15)? as u64,
    })
}

type EngramRow = (
    i64,
    String,
    Option<i64>,
    Option<String>,
    Option<String>,
    u64,
    u64,
    String,
    bool,
    String,
);

fn engram_row(row: &Row<'_>) -> rusqlite::Result<EngramRow> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get::<_, i64>(5)? as u64,
        row.get::<_, i64>(6)? as u64,
        row.get(7)?,
        row.get(8)?,
        row.get(9)?,
    ))
}

/// Adds the words to a record. Callers that need keys and entities derive them, because ranking
/// reads many versions and returns few.
fn record(
    (seq, body, until, claim, tags, query_hits, corroborations, durability, is_endless, role): EngramRow,
) -> Result<Engram> {
    let bad = |e: serde_json::Error| StoreError::Record(format!("engram at {seq}: {e}"));
    let mut record: Record = serde_json::from_str(&body).map_err(bad)?;
    // A promotion changes these columns, but no body.
    record.durability = parse_id(&durability)?;
    if is_endless {
        (record.ttl, record.expires_at) = (None, None);
    }
    let redacted = claim.is_none();
    record.claim = claim.unwrap_or_default();
    if let Some(tags) = tags {
        record.tags = serde_json::from_str(&tags).map_err(bad)?;
    }
    Ok(Engram {
        seq: seq as u64,
        role: Some(role).filter(|it| !it.is_empty()),
        valid_until: until.map(timestamp).transpose()?,
        redacted,
        figures: Figures {
            query_hits,
            corroborations,
            conflicts: 0,
        },
        ..record.into()
    })
}

/// Skips a record that cannot be read, so that one damaged row does not hide the others. Any other
/// failure is returned.
pub(crate) fn readable<T>(record: Result<T>) -> Option<Result<T>> {
    match record {
        Err(error) if error.is_of_one_record() => {
            tracing::warn!(%error, "skipped a version");
            None
        }
        other => Some(other),
    }
}

pub(crate) fn engrams_where(
    connection: &Connection,
    tail: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Engram>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} {tail}"))?
        .query_map(values, engram_row)?
        .filter_map(|row| readable(row.map_err(StoreError::from).and_then(record)))
        .collect()
}

fn engram_where(
    connection: &Connection,
    tail: &str,
    values: impl rusqlite::Params,
) -> Result<Option<Engram>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} {tail}"))?
        .query_row(values, engram_row)
        .optional()?
        .map(record)
        .transpose()
}

impl Reader<'_> {
    /// Returns one version.
    pub fn engram(&self, id: EngramId) -> Result<Option<Engram>> {
        engram_where(self.0, "WHERE engram.id = ?1", [id.to_string()])
    }

    /// The version stored by this entry of the journal.
    pub fn engram_at(&self, seq: u64) -> Result<Option<Engram>> {
        engram_where(self.0, "WHERE engram.seq = ?1", [seq as i64])
    }

    /// The versions stored by these entries, in this order; skips those that cannot be read.
    pub fn engrams_at(&self, seqs: impl IntoIterator<Item = u64>) -> Result<Vec<Engram>> {
        seqs.into_iter()
            .filter_map(|seq| self.engram_at(seq).transpose())
            .filter_map(readable)
            .collect()
    }

    /// All versions of a lineage, newest first.
    pub fn lineage(&self, lineage: LineageId) -> Result<Vec<Engram>> {
        engrams_where(
            self.0,
            &format!("WHERE {OF_LINEAGE} ORDER BY engram.seq DESC"),
            [lineage.to_string()],
        )
    }

    /// The to-dos that ask about a claim, newest first, including those that ended.
    pub fn todos_about(&self, lineage: LineageId) -> Result<Vec<Engram>> {
        engrams_where(
            self.0,
            "WHERE engram.asks = ?1 AND engram.kind = 'todo' ORDER BY engram.seq DESC",
            [lineage.to_string()],
        )
    }

    /// The newest answer to a to-do about a claim, if it was given after this entry and holds.
    pub fn answer_about(&self, lineage: LineageId, after: u64) -> Result<Option<Engram>> {
        engram_where(
            self.0,
            "WHERE engram.asks = ?1 AND engram.kind <> 'todo' AND engram.seq > ?2
               AND engram.valid_until IS NULL ORDER BY engram.seq DESC LIMIT 1",
            params![lineage.to_string(), after as i64],
        )
    }

    /// The open to-do that asks about a claim.
    pub fn open_todo_about(&self, lineage: LineageId) -> Result<Option<EngramId>> {
        let id = self
            .0
            .prepare_cached(
                "SELECT id FROM engram WHERE asks = ?1 AND kind = 'todo' AND valid_until IS NULL
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([lineage.to_string()], |row| row.get::<_, String>(0))
            .optional()?;
        id.map(|id| parse_id(&id)).transpose()
    }

    /// The version of the lineage that replaced the one at this place.
    pub fn successor(&self, lineage: LineageId, seq: u64) -> Result<Option<EngramId>> {
        let sql = format!(
            "SELECT id FROM engram WHERE {OF_LINEAGE} AND engram.seq > ?2 ORDER BY engram.seq LIMIT 1"
        );
        let mut statement = self.0.prepare_cached(&sql)?;
        let id = statement
            .query_row((lineage.to_string(), seq as i64), |row| {
                row.get::<_, String>(0)
            })
            .optional()?;
        id.map(|id| parse_id(&id)).transpose()
    }

    /// The traits of the versions stored by these entries, in this order; skips those that cannot be
    /// read.
    pub fn traits_at(&self, seqs: impl IntoIterator<Item = u64>) -> Result<Vec<Traits>> {
        let mut statement = self
            .0
            .prepare_cached(&format!("SELECT {TRAITS} WHERE engram.seq = ?1"))?;
        let mut found = Vec::new();
        for seq in seqs {
            let mut rows = statement.query_and_then([seq as i64], traits)?;
            found.extend(rows.find_map(readable).transpose()?);
        }
        Ok(found)
    }

    /// The traits of one version, for callers that must know if it cannot be read.
    ///
    /// # Errors
    /// [`StoreError::is_of_one_record`] for a damaged version.
    pub fn traits_of(&self, seq: u64) -> Result<Option<Traits>> {
        self.0
            .prepare_cached(&format!("SELECT {TRAITS} WHERE engram.seq = ?1"))?
            .query_and_then([seq as i64], traits)?
            .next()
            .transpose()
    }

    /// The newest versions of this project stored after `after`, oldest first, which the index has
    /// not read; and how many older ones exceed `most`.
    pub fn traits_after(
        &self,
        project: ProjectId,
        after: u64,
        most: usize,
    ) -> Result<(Vec<Traits>, u64)> {
        let mut found: Vec<Traits> = self
            .0
            .prepare_cached(&format!(
                "SELECT {TRAITS} WHERE engram.project = ?1 AND engram.seq > ?2
                 ORDER BY engram.seq DESC LIMIT ?3"
            ))?
            .query_and_then(
                params![project.to_string(), after as i64, most as i64],
                traits,
            )?
            .filter_map(readable)
            .collect::<Result<_>>()?;
        found.reverse();
        let first = match found.first() {
            Some(first) if found.len() == most => first.seq,
            _ => return Ok((found, 0)),
        };
        let older: i64 = self
            .0
            .prepare_cached(
                "SELECT count(*) FROM engram WHERE project = ?1 AND seq > ?2 AND seq < ?3",
            )?
            .query_row(
                params![project.to_string(), after as i64, first as i64],
                |row| row.get(0),
            )?;
        Ok((found, older as u64))
    }

    /// The newest versions that hold now, by the clock, and were stored before this entry of the
    /// journal; newest first.
    pub fn newest_holding(
        &self,
        project: ProjectId,
        now: Timestamp,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Engram>> {
        engrams_where(
            self.0,
            &format!(
                "WHERE engram.project = ?1 AND engram.seq < ?3 AND engram.valid_until IS NULL
                   AND {NOT_OVER} ORDER BY engram.seq DESC LIMIT ?4"
            ),
            params![
                project.to_string(),
                now.as_microsecond(),
                before.map_or(i64::MAX, |it| it as i64),
                limit as i64
            ],
        )
    }

    /// The newest versions that held at a time in the past; newest first.
    pub fn newest_held_at(
        &self,
        project: ProjectId,
        at: Timestamp,
        limit: usize,
    ) -> Result<Vec<Engram>> {
        engrams_where(
            self.0,
            "WHERE engram.project = ?1 AND engram.valid_from <= ?2
               AND (engram.valid_until IS NULL OR engram.valid_until > ?2)
               AND (engram.expires_at IS NULL OR engram.expires_at > ?2)
             ORDER BY engram.seq DESC LIMIT ?3",
            params![project.to_string(), at.as_microsecond(), limit as i64],
        )
    }

    /// The versions with this content that hold at `now`, oldest first.
    pub fn same_content(
        &self,
        project: ProjectId,
        content_hash: &str,
        now: Timestamp,
    ) -> Result<Vec<Engram>> {
        engrams_where(self.0,
            &format!(
                "WHERE engram.project = ?1 AND engram.content_hash = ?3 AND engram.valid_until IS NULL
                   AND {NOT_OVER} ORDER BY engram.seq"
            ),
            params![project.to_string(), now.as_microsecond(), content_hash],
        )
    }

    /// Whether a project ever had a claim.
    pub fn has_claims(&self, project: ProjectId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM engram WHERE project = ?1)")?
            .query_row([project.to_string()], |row| row.get(0))?)
    }

    /// How many engrams a project has, from the counts by the hour of expiry and from the versions
    /// that expire in this hour. Reports of conflicts do not count, because nobody made them.
    pub fn count_engrams(&self, project: ProjectId, now: Timestamp) -> Result<EngramCount> {
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
        let risks: i64 = self
            .0
            .prepare_cached(&format!(
                "SELECT count(*) FROM {RISKS}
                 WHERE conflict.project = ?1 AND conflict.status = 'open'
                   AND engram.valid_until IS NULL AND {NOT_OVER}"
            ))?
            .query_row(params![project.to_string(), now.as_microsecond()], |row| {
                row.get(0)
            })?;
        Ok(EngramCount {
            holding: (later + soon - risks).max(0) as u64,
            ever: ever as u64,
        })
    }

    /// How many holding engrams pass `sees`, by scope, run and topic, and the agents that said
    /// them; at most `most`. Reports of conflicts do not count.
    pub fn count_seen(
        &self,
        project: ProjectId,
        now: Timestamp,
        most: usize,
        sees: &dyn Fn(Scope, Option<RunId>, &str) -> bool,
    ) -> Result<(u64, BTreeSet<AgentId>)> {
        let mut statement = self.0.prepare_cached(&format!(
            "SELECT scope, run, topic, (SELECT agent FROM journal WHERE journal.seq = engram.seq)
             FROM engram
             WHERE project = ?1 AND valid_until IS NULL AND {NOT_OVER}
               AND (kind <> 'risk' OR NOT EXISTS (SELECT 1 FROM report WHERE risk = engram.lineage))"
        ))?;
        let rows = statement.query(params![project.to_string(), now.as_microsecond()])?;
        let mut agents = BTreeSet::new();
        let count = count_rows(rows, most, sees, |row| {
            agents.extend(row.get::<_, Option<String>>(3)?.map(AgentId));
            Ok(())
        })?;
        Ok((count, agents))
    }

    /// Whether this agent (or, without a handle, the user under this name) has said this before, by
    /// the entries about the version. The handle decides, because two agents may have the same
    /// name.
    pub fn has_said(&self, agent: Option<&AgentId>, by: &str, id: EngramId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM journal WHERE subject = ?1 AND kind IN ('stored', 'corroborated')
                 AND agent IS ?2 AND (agent IS NOT NULL OR by = ?3) LIMIT 1",
            )?
            .query_row(params![id.to_string(), agent.map(|it| &it.0), by], |_| {
                Ok(())
            })
            .optional()?
            .is_some())
    }

    /// Every version of a project with these words, closed or not, unless its words were erased.
    pub fn versions_saying(&self, project: ProjectId, content_hash: &str) -> Result<Vec<Engram>> {
        engrams_where(
            self.0,
            "WHERE engram.project = ?1 AND engram.content_hash = ?2 AND content.engram IS NOT NULL
             ORDER BY engram.seq",
            params![project.to_string(), content_hash],
        )
    }
}

/// Counts rows of scope, run and topic that pass `sees`.
pub(crate) fn count_rows(
    mut rows: rusqlite::Rows<'_>,
    most: usize,
    sees: &dyn Fn(Scope, Option<RunId>, &str) -> bool,
    mut note: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<u64> {
    let mut count = 0;
    while count < most
        && let Some(row) = rows.next()?
    {
        let (scope, run): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let run = run.map(|run| parse_id(&run)).transpose()?;
        let topic = row.get_ref(2)?.as_str().unwrap_or_default();
        if parse_id(&scope).is_ok_and(|scope| sees(scope, run, topic)) {
            count += 1;
            note(row)?;
        }
    }
    Ok(count as u64)
}
