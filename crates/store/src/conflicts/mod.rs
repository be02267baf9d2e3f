//! Table `conflict`: pairs of sides that cannot both hold. A row names the entries that found,
//! settled or allowed the pair; whether a side still holds follows from table `engram`.

mod entries;
mod list;
mod near_pairs;
mod reports;
mod sides;

use engram_model::{ConflictId, ConflictStatus, Engram, ProjectId, RunId, Scope, Severity};
use rusqlite::{Row, params};

pub use entries::Attribution;
pub use list::ListedConflict;
pub use near_pairs::{NearPairs, PairToJudge};
pub use reports::Report;
pub(crate) use reports::{REPORTED, RISKS};
pub(crate) use sides::fill_sides;
pub use sides::{conflict_id, side};

use crate::{Reader, Result, StoreError, journal::parse_id};

/// The run that a version is for; `None` if it is for everybody. A version of scope `run` without a
/// run is for the user alone; its run is 0.
pub fn audience(engram: &Engram) -> Option<RunId> {
    let run = engram.run.unwrap_or(RunId(ulid::Ulid::nil()));
    (engram.scope == Scope::Run).then_some(run)
}

/// A pair of sides, and the entries about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Its id.
    pub id: ConflictId,
    /// Its project.
    pub project: ProjectId,
    /// The digests of its sides, in ascending order.
    pub sides: [String; 2],
    /// Its status by verdict alone: never [`ConflictStatus::Closed`], which follows from the sides.
    pub status: ConflictStatus,
    /// The entry that first found it.
    pub first: u64,
    /// The entry that last found it.
    pub last: u64,
    /// The entry of the last verdict, or of its undoing.
    pub verdict: Option<u64>,
    /// The entry that let it pass the gate; `None` once that was taken back.
    pub allowed: Option<u64>,
    /// The last verdict, if it was not undone. `status` is open again if the pair was found after
    /// the verdict.
    pub ruled: Option<ConflictStatus>,
    /// The run that it is for; `None` if it is for everybody in the project.
    pub run: Option<RunId>,
    /// The severity with which it was last found.
    pub severity: Severity,
}

impl Pair {
    /// A pair that nothing is recorded about yet.
    pub fn new(id: ConflictId, project: ProjectId, run: Option<RunId>, sides: [String; 2]) -> Self {
        Self {
            id,
            project,
            sides,
            status: ConflictStatus::Open,
            first: 0,
            last: 0,
            verdict: None,
            allowed: None,
            ruled: None,
            run,
            severity: Severity::Low,
        }
    }

    /// Whether the conflict can be about this version: everybody whom the conflict concerns may see
    /// it.
    pub fn is_about(&self, engram: &Engram) -> bool {
        let audience = audience(engram);
        audience.is_none() || audience == self.run
    }
}

const PAIR: &str =
    "conflict.id, conflict.project, conflict.a, conflict.b, conflict.status, conflict.first,
     conflict.last, conflict.verdict, conflict.allowed, conflict.ruled, conflict.run,
     conflict.severity FROM conflict";

/// The conflicts of a project (`+` keeps SQLite from reading all of them) with a side.
const OF_SIDE: &str = "WHERE +project = ?1 AND id IN
    (SELECT id FROM conflict WHERE a = ?2 UNION ALL SELECT id FROM conflict WHERE b = ?2)";

fn pair(row: &Row<'_>) -> Result<Pair> {
    let text = |at: usize| row.get::<_, String>(at);
    let place = |at: usize| Ok::<_, StoreError>(row.get::<_, Option<i64>>(at)?.map(|it| it as u64));
    Ok(Pair {
        id: parse_id(&text(0)?)?,
        project: parse_id(&text(1)?)?,
        sides: [text(2)?, text(3)?],
        status: parse_id(&text(4)?)?,
        first: place(5)?.unwrap_or_default(),
        last: place(6)?.unwrap_or_default(),
        verdict: place(7)?,
        allowed: place(8)?,
        ruled: row
            .get::<_, Option<String>>(9)?
            .map(|it| parse_id(&it))
            .transpose()?,
        run: row
            .get::<_, Option<String>>(10)?
            .map(|it| parse_id(&it))
            .transpose()?,
        severity: severity(row.get(11)?),
    })
}

fn severity(stored: i64) -> Severity {
    let known = Severity::ALL.iter().copied();
    known
        .clone()
        .find(|it| *it as i64 == stored)
        .unwrap_or(Severity::High)
}

fn pairs(reader: &Reader<'_>, tail: &str, values: impl rusqlite::Params) -> Result<Vec<Pair>> {
    reader
        .0
        .prepare_cached(&format!("SELECT {PAIR} {tail}"))?
        .query_and_then(values, pair)?
        .collect()
}

impl Reader<'_> {
    /// Returns one conflict.
    pub fn conflict(&self, id: ConflictId) -> Result<Option<Pair>> {
        Ok(pairs(self, "WHERE id = ?1", [id.to_string()])?.pop())
    }

    /// The conflicts that a side is part of.
    pub fn conflicts_of(&self, project: ProjectId, side: &str) -> Result<Vec<Pair>> {
        pairs(self, OF_SIDE, params![project.to_string(), side])
    }

    /// The conflicts of these two sides, both for everybody and for runs.
    pub fn conflicts_between(&self, project: ProjectId, sides: &[String; 2]) -> Result<Vec<Pair>> {
        pairs(
            self,
            "WHERE a = ?2 AND b = ?3 AND project = ?1",
            params![project.to_string(), sides[0], sides[1]],
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Store, home::DATABASE};

    /// A project has thousands of possible conflicts, and each claim of an answer names its own.
    #[test]
    fn the_conflicts_of_a_side_are_found_without_reading_those_of_the_project() {
        let home = tempfile::tempdir().unwrap();
        let _store = Store::open(home.path(), ulid::Ulid(1)).unwrap();
        let connection = rusqlite::Connection::open(home.path().join(DATABASE)).unwrap();
        let mut plan = connection
            .prepare(&format!("EXPLAIN QUERY PLAN SELECT {PAIR} {OF_SIDE}"))
            .unwrap();
        let how: String = plan.query_row(["a", "b"], |row| row.get("detail")).unwrap();
        assert_eq!(how, "SEARCH conflict USING PRIMARY KEY (id=?)");
    }
}
