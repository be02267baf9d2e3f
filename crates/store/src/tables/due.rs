//! Tables `due`, versions that must still be compared with others, and `series`, sides that
//! contradict too many others. They lie beside the journal: only the conflicts that they lead to are
//! recorded, and after a replay of its journal a home compares everything again.

use engram_model::{AgentId, ProjectId};
use rusqlite::{Connection, params};

use crate::{Reader, Result, Writer};

/// Which comparisons of a version are still due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The version was compared with everything stored at this place or later.
    pub below: u64,
    /// How many contradictions are known to be left, at least 1; 0 if everything was compared.
    pub pairs: u64,
    /// How many of them its author may see.
    pub told: u64,
    /// Whether only conflicts of runs are left. The versions that everybody sees were compared and
    /// are not looked at again.
    pub of_runs: bool,
    /// Whether the version was compared with only some values of a series. It is compared again
    /// when one of those ends.
    pub is_cut: bool,
}

impl Due {
    /// The state of a version that was compared with nothing.
    pub const ALL: Self = Self {
        below: i64::MAX as u64,
        pairs: 1,
        told: 1,
        of_runs: false,
        is_cut: false,
    };

    /// The state of a version with nothing left to compare.
    pub const NONE: Self = Self {
        below: 0,
        pairs: 0,
        told: 0,
        of_runs: false,
        is_cut: false,
    };
}

impl Reader<'_> {
    /// How many comparisons of holding versions are due in a project. With `agent`, only those of
    /// its own versions whose results it may see.
    pub fn count_due(&self, project: ProjectId, agent: Option<&AgentId>) -> Result<u64> {
        let count: i64 = match agent {
            None => self
                .0
                .prepare_cached(
                    "SELECT coalesce(sum(pairs), 0) FROM due JOIN engram USING (seq)
                     WHERE due.project = ?1 AND valid_until IS NULL",
                )?
                .query_row([project.to_string()], |row| row.get(0))?,
            Some(agent) => self
                .0
                .prepare_cached(
                    "SELECT coalesce(sum(told), 0) FROM due JOIN engram USING (seq) JOIN journal USING (seq)
                     WHERE due.project = ?1 AND valid_until IS NULL AND journal.agent = ?2",
                )?
                .query_row(params![project.to_string(), agent.0], |row| row.get(0))?,
        };
        Ok(count as u64)
    }

    /// Whether a version was compared with only some values of a series, or is still being
    /// compared.
    pub fn is_cut(&self, seq: u64) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT 1 FROM series WHERE seq = ?1 UNION ALL SELECT 1 FROM due WHERE seq = ?1",
            )?
            .exists([seq as i64])?)
    }

    /// The next versions after this place with comparisons due, in the order of the journal.
    pub fn next_due(&self, after: u64, most: usize) -> Result<Vec<(u64, Due)>> {
        self.0
            .prepare_cached(
                "SELECT seq, below, pairs, told, of_runs FROM due WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            )?
            .query_and_then(params![after as i64, most as i64], |row| {
                let number = |at: usize| Ok::<_, crate::StoreError>(row.get::<_, i64>(at)? as u64);
                let (below, pairs, told) = (number(1)?, number(2)?, number(3)?);
                let due = Due {
                    below,
                    pairs,
                    told,
                    of_runs: row.get(4)?,
                    is_cut: false,
                };
                Ok((number(0)?, due))
            })?
            .collect()
    }
}

impl Writer<'_> {
    /// Stores which comparisons of a version are due.
    pub fn keep_due(&self, project: ProjectId, seq: u64, due: Due) -> Result<()> {
        if due.is_cut {
            self.0
                .prepare_cached("INSERT OR IGNORE INTO series (seq) VALUES (?1)")?
                .execute([seq as i64])?;
        }
        if due.pairs == 0 {
            return self.drop_due(seq);
        }
        self.0
            .prepare_cached(
                "INSERT OR REPLACE INTO due (seq, project, below, pairs, told, of_runs)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                seq as i64,
                project.to_string(),
                due.below as i64,
                due.pairs as i64,
                due.told as i64,
                due.of_runs
            ])?;
        Ok(())
    }

    /// Like [`Self::keep_due`], if the stored state is still `before`. Returns whether it was.
    pub fn replace_due(
        &self,
        project: ProjectId,
        seq: u64,
        before: Due,
        left: Option<Due>,
    ) -> Result<bool> {
        let is_as_before = self
            .0
            .prepare_cached(
                "SELECT 1 FROM due
                 WHERE seq = ?1 AND below = ?2 AND pairs = ?3 AND told = ?4 AND of_runs = ?5",
            )?
            .exists(params![
                seq as i64,
                before.below as i64,
                before.pairs as i64,
                before.told as i64,
                before.of_runs
            ])?;
        if is_as_before {
            self.keep_due(project, seq, left.unwrap_or(Due::NONE))?;
        }
        Ok(is_as_before)
    }

    /// Marks a version for a new comparison with everything, in the background and with no notice
    /// to anybody. A comparison that is under way then finds that the state has changed.
    pub fn compare_again(&self, project: ProjectId, seq: u64) -> Result<()> {
        self.0
            .prepare_cached("DELETE FROM series WHERE seq = ?1")?
            .execute([seq as i64])?;
        self.0
            .prepare_cached(
                "INSERT INTO due (seq, project, below, pairs, told, of_runs) VALUES (?1, ?2, ?3, 1, 0, 0)
                 ON CONFLICT (seq) DO UPDATE SET below = ?3, pairs = pairs + 1, of_runs = 0",
            )?
            .execute(params![
                seq as i64,
                project.to_string(),
                Due::ALL.below as i64
            ])?;
        Ok(())
    }

    /// Records that a version was compared with everything.
    pub fn drop_due(&self, seq: u64) -> Result<()> {
        self.0
            .prepare_cached("DELETE FROM due WHERE seq = ?1")?
            .execute([seq as i64])?;
        Ok(())
    }
}

/// Marks everything that holds for a new comparison.
pub(crate) fn all_are_due(connection: &Connection) -> Result<()> {
    connection.execute(
        "INSERT OR REPLACE INTO due SELECT seq, project, ?1, 1, 0, 0 FROM engram
         WHERE valid_until IS NULL AND durability = 'durable'
           AND lineage NOT IN (SELECT risk FROM report)",
        [Due::ALL.below as i64],
    )?;
    Ok(())
}
