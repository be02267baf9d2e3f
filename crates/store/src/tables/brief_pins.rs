//! Tables `pin` and `reached`, and the claims that a brief may show: a bounded number of each kind.

use engram_model::{AgentId, Durability, Engram, Kind, LineageId, ProjectId};
use jiff::Timestamp;
use rusqlite::params;

use super::engrams::{TRAITS, Traits, readable, traits};
use crate::{
    Reader, Result,
    journal::{parse_id, timestamp},
};

/// The most agents that are read, of those that a line was sent to.
const REACHED: i64 = 20;
/// The most pins of a project that are read.
const PINS: i64 = 500;
/// How many versions are examined for each one returned, since some have ended.
const LOOKED: usize = 8;

/// A pin on a brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPin {
    /// Its place in the journal, which is its id.
    pub seq: u64,
    /// By which pins are ordered: the id of the first pin in this position.
    pub place: u64,
    /// Who pinned it; `None` for the user.
    pub agent: Option<AgentId>,
    /// The claim; `None` for a line of text.
    pub lineage: Option<LineageId>,
    /// The line of text; `None` for a claim, or after it was erased.
    pub text: Option<String>,
}

impl Reader<'_> {
    /// The pins of a project, in order: the oldest first, and each in the place of the one that it
    /// replaced.
    pub fn pins(&self, project: ProjectId) -> Result<Vec<StoredPin>> {
        let mut found = self.0.prepare_cached(
            "SELECT pin.seq, pin.agent, pin.lineage, said.text,
               coalesce(journal.body ->> '$.place', pin.seq) AS place
             FROM pin JOIN journal USING (seq) LEFT JOIN said USING (seq)
             WHERE pin.project = ?1 ORDER BY place, pin.seq LIMIT ?2",
        )?;
        let rows = found.query_map(params![project.to_string(), PINS], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Option<String>>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get(3)?,
                row.get::<_, i64>(4)?,
            ))
        })?;
        rows.map(|row| {
            let (seq, agent, lineage, text, place) = row?;
            Ok(StoredPin {
                seq: seq as u64,
                place: place as u64,
                agent: agent.map(AgentId),
                lineage: lineage.as_deref().map(parse_id).transpose()?,
                text,
            })
        })
        .collect()
    }

    /// Whether this agent was sent the line that this entry made.
    pub fn has_reached(&self, agent: &AgentId, line: u64) -> Result<bool> {
        let mut found = self
            .0
            .prepare_cached("SELECT 1 FROM reached WHERE line = ?1 AND agent = ?2")?;
        Ok(found.exists(params![line as i64, agent.0])?)
    }

    /// The newest entry, and whether an entry after this one can give an agent a line that it did
    /// not have before: a pin, an answer to a request, a claim of the user's, a new version of a pinned claim, an agent that
    /// was opened again, or anything that shows a claim to more readers or makes room for another.
    /// Without `after`, the answer is yes.
    pub fn news_for_brief(&self, after: Option<u64>) -> Result<(u64, bool)> {
        let mut found = self.0.prepare_cached(
            // Without a subquery of its own, `max` would read the whole journal.
            "SELECT (SELECT max(seq) FROM journal), ?1 IS NULL OR EXISTS (
               SELECT 1 FROM journal WHERE seq > ?1 AND (
                 kind IN ('pinned', 'unpinned', 'opened', 'promoted', 'forgotten', 'redacted',
                          'granted', 'denied')
                 OR kind = 'stored'
                 AND (agent IS NULL OR EXISTS (SELECT 1 FROM pin WHERE lineage IS NOT NULL))))",
        )?;
        Ok(found.query_row([after.map(|it| it as i64)], |row| {
            Ok((
                row.get::<_, Option<i64>>(0)?.unwrap_or_default() as u64,
                row.get(1)?,
            ))
        })?)
    }

    /// The agents that were sent the line that this entry made, the last one first, and when.
    pub fn reached_by(&self, line: u64) -> Result<Vec<(AgentId, Timestamp)>> {
        let mut found = self.0.prepare_cached(
            "SELECT reached.agent, journal.recorded_at FROM reached JOIN journal USING (seq)
             WHERE line = ?1 ORDER BY seq DESC LIMIT ?2",
        )?;
        let rows = found.query_map(params![line as i64, REACHED], |row| {
            Ok((AgentId(row.get(0)?), row.get::<_, i64>(1)?))
        })?;
        rows.map(|row| {
            let (agent, at) = row?;
            Ok((agent, timestamp(at)?))
        })
        .collect()
    }

    /// The newest to-dos that hold and pass `seen`.
    pub fn newest_todos(
        &self,
        project: ProjectId,
        now: Timestamp,
        most: usize,
        seen: impl Fn(&Traits) -> bool,
    ) -> Result<Vec<Engram>> {
        newest(
            self,
            "WHERE engram.project = ?1 AND engram.kind = 'todo' AND engram.valid_until IS NULL
             ORDER BY engram.seq DESC",
            params![project.to_string()],
            now,
            most,
            seen,
        )
    }

    /// The newest durable versions that hold and pass `seen`. Versions that do not pass do not
    /// count.
    pub fn newest_lasting(
        &self,
        project: ProjectId,
        now: Timestamp,
        most: usize,
        seen: impl Fn(&Traits) -> bool,
    ) -> Result<Vec<Engram>> {
        newest(
            self,
            "WHERE engram.project = ?1 ORDER BY engram.seq DESC",
            params![project.to_string()],
            now,
            most,
            seen,
        )
    }

    /// The newest versions of one kind: constraint, policy or risk.
    pub fn newest_of_kind(
        &self,
        project: ProjectId,
        kind: Kind,
        now: Timestamp,
        most: usize,
        seen: impl Fn(&Traits) -> bool,
    ) -> Result<Vec<Engram>> {
        newest(
            self,
            "WHERE engram.project = ?1 AND engram.kind = ?2 AND engram.valid_until IS NULL
               AND engram.kind IN ('constraint', 'policy', 'risk')
             ORDER BY engram.seq DESC",
            params![project.to_string(), kind.as_str()],
            now,
            most,
            seen,
        )
    }
}

fn newest(
    reader: &Reader<'_>,
    which: &str,
    values: impl rusqlite::Params,
    now: Timestamp,
    most: usize,
    seen: impl Fn(&Traits) -> bool,
) -> Result<Vec<Engram>> {
    let mut looked = most.saturating_mul(LOOKED);
    let mut found = Vec::new();
    let mut statement = reader
        .0
        .prepare_cached(&format!("SELECT {TRAITS} {which}"))?;
    for row in statement.query_and_then(values, traits)? {
        let Some(traits) = readable(row).transpose()? else {
            continue;
        };
        if !seen(&traits) {
            continue;
        }
        if looked == 0 || found.len() == most {
            break;
        }
        looked -= 1;
        if traits.durability == Durability::Durable && traits.holds_now(now) {
            found.push(traits.seq);
        }
    }
    reader.engrams_at(found)
}
