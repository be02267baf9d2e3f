//! Sides: a digest of topic and claim that finds all engrams that say the same.

use engram_model::{ConflictId, Engram, EngramId, ProjectId, RunId, fold};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::{
    Reader, Result,
    feed::with_place,
    tables::{NOT_OVER, engrams_where},
};

/// The most versions of one side that are read, newest first.
const MAX_VERSIONS: usize = 64;

/// How many bytes of a digest are kept.
const BYTES: usize = 16;

/// The side of a claim on a topic, ignoring case and white space.
pub fn side(topic: &str, claim: &str) -> String {
    let words = format!("{}\n{}", fold(topic), fold(claim));
    hex::encode(&Sha256::digest(words)[..BYTES])
}

/// The id of the conflict of two sides, in either order: for everybody, or for a run with a claim
/// on one of them.
pub fn conflict_id(project: ProjectId, run: Option<RunId>, one: &str, other: &str) -> ConflictId {
    let (a, b) = if one <= other {
        (one, other)
    } else {
        (other, one)
    };
    let of_run = run.map_or_else(String::new, |run| format!(" {run}"));
    let digest = Sha256::digest(format!("{project} {a} {b}{of_run}"));
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(&digest[..BYTES]);
    ConflictId(ulid::Ulid::from_bytes(bytes))
}

impl Reader<'_> {
    /// The side of a version; `None` if its words were erased.
    pub fn side_of(&self, id: EngramId) -> Result<Option<String>> {
        let side: Option<Option<String>> = self
            .0
            .prepare_cached("SELECT side FROM content WHERE engram = ?1")?
            .query_row([id.to_string()], |row| row.get(0))
            .optional()?;
        Ok(side.flatten())
    }

    /// The versions on a side that everybody may see, and those of a run, newest first. Includes
    /// versions that no longer hold.
    pub fn versions_on_side(
        &self,
        project: ProjectId,
        side: &str,
        run: Option<RunId>,
    ) -> Result<Vec<Engram>> {
        let versions = engrams_where(
            self.0,
            "WHERE engram.id IN (SELECT engram FROM content WHERE side = ?2) AND +engram.project = ?1
               AND (engram.scope <> 'run' OR coalesce(engram.run, '00000000000000000000000000') = ?4)
             ORDER BY engram.valid_until IS NOT NULL, engram.place DESC, engram.seq DESC LIMIT ?3",
            params![
                project.to_string(),
                side,
                MAX_VERSIONS as i64,
                run.map(|run| run.to_string())
            ],
        )?;
        versions
            .into_iter()
            .map(|engram| with_place(self.0, engram))
            .collect()
    }

    /// All versions on a side that hold now.
    pub fn holding_on_side(
        &self,
        project: ProjectId,
        side: &str,
        now: Timestamp,
    ) -> Result<Vec<Engram>> {
        engrams_where(
            self.0,
            &format!(
                "WHERE engram.id IN (SELECT engram FROM content WHERE side = ?3)
                   AND +engram.project = ?1 AND engram.valid_until IS NULL AND {NOT_OVER}
                 ORDER BY engram.place DESC, engram.seq DESC"
            ),
            params![project.to_string(), now.as_microsecond(), side],
        )
    }
}

/// Fills in the sides of claims that were stored by builds without sides.
pub(crate) fn fill_sides(connection: &Connection) -> Result<()> {
    let mut unfilled = connection.prepare(
        "SELECT content.engram, engram.topic, content.claim
         FROM content JOIN engram ON engram.id = content.engram WHERE content.side IS NULL",
    )?;
    let mut update = connection.prepare("UPDATE content SET side = ?2 WHERE engram = ?1")?;
    let rows = unfilled.query_map([], |row| {
        let claim: (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(claim)
    })?;
    // Reads all rows before it writes any.
    let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    for (engram, topic, claim) in rows {
        update.execute([&engram, &side(&topic, &claim)])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_side_is_the_same_in_any_case_and_spacing_and_another_elsewhere() {
        let one = side("payments/webhooks", "Retries are capped at 3.");
        assert_eq!(one.len(), 2 * BYTES);
        assert_eq!(
            one,
            side("Payments/Webhooks", " RETRIES  are\ncapped at 3. ")
        );
        assert_ne!(one, side("payments", "Retries are capped at 3."));
        assert_ne!(one, side("payments/webhooks", "Retries are capped at 4."));
    }

    #[test]
    fn a_conflict_is_the_same_in_either_order_and_another_in_another_project() {
        let (here, there) = (ProjectId(ulid::Ulid(1)), ProjectId(ulid::Ulid(2)));
        let (a, b) = (side("x", "one"), side("x", "two"));
        let id = conflict_id(here, None, &a, &b);
        assert_eq!(id, conflict_id(here, None, &b, &a));
        assert_ne!(id, conflict_id(there, None, &a, &b));
        assert_ne!(id, conflict_id(here, Some(RunId(ulid::Ulid(1))), &a, &b));
        assert_eq!(id.to_string().parse::<ConflictId>().unwrap(), id);
    }
}
