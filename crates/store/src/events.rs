//! Table `event`: the episodic plane. Append-only; the text alone can be erased.

use engram_model::{EventId, ProjectId, Recorded};
use jiff::civil::Date;
use rusqlite::{OptionalExtension, params};

use crate::{Reader, Result, Writer, journal::timestamp};

/// An event to append.
pub struct Event<'a> {
    /// Its place in the journal.
    pub seq: u64,
    /// Its identity.
    pub id: EventId,
    /// Where it happened.
    pub project: ProjectId,
    /// `decision`, `preference`, `note`, ...
    pub kind: &'a str,
    /// The name in its address.
    pub slug: &'a str,
    /// The day in its address, in UTC.
    pub day: Date,
    /// Hex of the sha256 of the text.
    pub digest: &'a str,
    /// What happened.
    pub text: &'a str,
}

impl Reader<'_> {
    /// The text of the newest event at this address, and who recorded it when; none when there is none
    /// or it was erased.
    pub fn event(
        &self,
        project: ProjectId,
        kind: &str,
        slug: &str,
        day: Date,
    ) -> Result<Option<(String, Recorded)>> {
        let found = self
            .0
            .prepare_cached(
                "SELECT event.text, journal.by, event.recorded_at FROM event JOIN journal USING (seq)
                 WHERE event.project = ?1 AND event.kind = ?2 AND slug = ?3 AND day = ?4
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row(
                params![project.to_string(), kind, slug, day.to_string()],
                |row| Ok((row.get::<_, Option<String>>(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        let Some((Some(text), by, at)) = found else {
            return Ok(None);
        };
        let at = timestamp(at)?;
        Ok(Some((text, Recorded { by, at })))
    }
}

impl Writer<'_> {
    /// Appends an event.
    pub fn add_event(&self, event: &Event<'_>) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT INTO event (seq, id, project, kind, slug, day, digest, text, recorded_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                event.seq as i64,
                event.id.to_string(),
                event.project.to_string(),
                event.kind,
                event.slug,
                event.day.to_string(),
                event.digest,
                event.text,
                self.now.as_microsecond(),
            ])?;
        Ok(())
    }

    /// Erases the text of every event at this address; the event itself stays.
    pub fn erase_events(
        &self,
        project: ProjectId,
        kind: &str,
        slug: &str,
        day: Date,
    ) -> Result<()> {
        self.0
            .prepare_cached(
                "UPDATE event SET text = NULL
                 WHERE project = ?1 AND kind = ?2 AND slug = ?3 AND day = ?4",
            )?
            .execute(params![project.to_string(), kind, slug, day.to_string()])?;
        Ok(())
    }
}
