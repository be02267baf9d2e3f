//! Table `event`: immutable records of acts. The text lies beside the journal; only the text can be
//! erased.

use engram_model::{AgentId, EventId, ProjectId};
use jiff::civil::Date;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    Attribution, Reader, Result,
    journal::{parse_id, timestamp},
};

/// Queries about events.
pub struct Events<'a>(&'a Connection);

impl Reader<'_> {
    /// Returns the queries about events.
    pub fn events(&self) -> Events<'_> {
        Events(self.0)
    }
}

impl Events<'_> {
    /// The text of the event at this place, who said it, and when; `None` after it was erased.
    pub fn text_at(&self, seq: u64) -> Result<Option<(String, Attribution)>> {
        let found = self
            .0
            .prepare_cached(
                "SELECT said.text, journal.agent, journal.by, event.recorded_at
                 FROM event JOIN journal USING (seq) LEFT JOIN said USING (seq) WHERE event.seq = ?1",
            )?
            .query_row([seq as i64], |row| {
                Ok((
                    row.get::<_, Option<String>>(0)?,
                    row.get::<_, Option<String>>(1)?,
                    row.get(2)?,
                    row.get(3)?,
                ))
            })
            .optional()?;
        let Some((Some(text), agent, by, at)) = found else {
            return Ok(None);
        };
        let attribution = Attribution {
            agent: agent.map(AgentId),
            by,
            at: timestamp(at)?,
            why: None,
        };
        Ok(Some((text, attribution)))
    }

    /// The newest days that have events of this kind and slug, newest first.
    pub fn days(
        &self,
        project: ProjectId,
        kind: &str,
        slug: &str,
        most: usize,
    ) -> Result<Vec<String>> {
        self.0
            .prepare_cached(
                "SELECT DISTINCT day FROM event WHERE project = ?1 AND kind = ?2 AND slug = ?3
                 ORDER BY day DESC LIMIT ?4",
            )?
            .query_map(
                params![project.to_string(), kind, slug, most as i64],
                |row| row.get(0),
            )?
            .map(|day| Ok(day?))
            .collect()
    }

    /// The event with this id: its project, its place, its address and the digest (hex) of its
    /// text.
    pub fn find(&self, id: EventId) -> Result<Option<(ProjectId, u64, String, String)>> {
        let found = self
            .0
            .prepare_cached(
                "SELECT project, seq, kind || ':' || slug, digest FROM event WHERE id = ?1",
            )?
            .query_row([id.to_string()], |row| {
                let project: String = row.get(0)?;
                Ok((project, row.get::<_, i64>(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        found
            .map(|(project, seq, address, digest)| {
                Ok((parse_id(&project)?, seq as u64, address, digest))
            })
            .transpose()
    }

    /// The places of the events of a project whose text has this digest (hex).
    pub fn with_digest(&self, project: ProjectId, digest: &str) -> Result<Vec<u64>> {
        seqs(
            self.0,
            "SELECT seq FROM event WHERE project = ?1 AND digest = ?2 ORDER BY seq",
            params![project.to_string(), digest],
        )
    }

    /// The places of all events at an address.
    pub fn at_address(
        &self,
        project: ProjectId,
        kind: &str,
        slug: &str,
        day: Date,
    ) -> Result<Vec<u64>> {
        seqs(
            self.0,
            "SELECT seq FROM event WHERE project = ?1 AND kind = ?2 AND slug = ?3 AND day = ?4
             ORDER BY seq",
            params![project.to_string(), kind, slug, day.to_string()],
        )
    }
}

fn seqs(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<Vec<u64>> {
    let mut found = connection.prepare_cached(sql)?;
    let rows = found.query_map(values, |row| row.get::<_, i64>(0))?;
    rows.map(|seq| Ok(seq? as u64)).collect()
}
