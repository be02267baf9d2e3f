//! The tables of followers: `follower`, how far each has read the journal; `health` and `look`, the
//! state of claims' evidence in each working tree. They can be deleted at any time and are then
//! rebuilt.

use engram_model::{EngramId, Evidence, Health, ProjectId, RunId, Scope};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};
use serde_json::json;

use super::engrams::count_rows;
use crate::{Reader, Result, Store, StoreError, Writer};

/// The state of a working tree when it was last checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeState {
    /// The commit that was checked out; `None` before the first.
    pub head: Option<String>,
    /// Why only part of the tree is watched.
    pub note: Option<String>,
}

/// Holding claims with evidence in this state that no open to-do asks about.
const WAITING: &str = "health JOIN engram ON engram.id = health.engram
    WHERE worktree = ?1 AND standing = ?2 AND project = ?3 AND valid_until IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM engram AS todo
        WHERE todo.asks = engram.lineage AND todo.kind = 'todo' AND todo.valid_until IS NULL
    )";

impl Reader<'_> {
    /// How far a follower has read the journal; 0 if it has not begun.
    pub fn cursor(&self, follower: &str) -> Result<u64> {
        let cursor: Option<i64> = self
            .0
            .prepare_cached("SELECT cursor FROM follower WHERE name = ?1")?
            .query_row([follower], |row| row.get(0))
            .optional()?;
        Ok(cursor.unwrap_or(0) as u64)
    }

    /// The state at the last check; `None` if the tree was never checked.
    pub fn worktree_state(
        &self,
        project: ProjectId,
        worktree: &str,
    ) -> Result<Option<WorktreeState>> {
        Ok(self
            .0
            .prepare_cached("SELECT head, note FROM look WHERE project = ?1 AND worktree = ?2")?
            .query_row(params![project.to_string(), worktree], |row| {
                Ok(WorktreeState {
                    head: row.get(0)?,
                    note: row.get(1)?,
                })
            })
            .optional()?)
    }

    /// The health of a claim, if there is something to report; a claim without a row is unchanged.
    pub fn health(&self, id: EngramId, worktree: &str) -> Result<Option<Health>> {
        let row: Option<(String, String)> = self
            .0
            .prepare_cached(
                "SELECT standing, pointers FROM health WHERE engram = ?1 AND worktree = ?2",
            )?
            .query_row(params![id.to_string(), worktree], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        row.map(|(standing, pointers)| {
            Ok(Health {
                standing: standing
                    .parse::<Evidence>()
                    .map_err(|e| StoreError::Record(e.message))?,
                pointers: serde_json::from_str(&pointers)
                    .map_err(|e| StoreError::Record(format!("health of {id}: {e}")))?,
            })
        })
        .transpose()
    }

    /// How many holding claims of a project have evidence in one of these states, without those
    /// about which an open to-do asks.
    pub fn count_standing(
        &self,
        project: ProjectId,
        worktree: &str,
        standing: &[Evidence],
    ) -> Result<u64> {
        let mut count = 0;
        for way in standing {
            let found: i64 = self
                .0
                .prepare_cached(&format!("SELECT count(*) FROM {WAITING}"))?
                .query_row(
                    params![worktree, way.as_str(), project.to_string()],
                    |row| row.get(0),
                )?;
            count += found as u64;
        }
        Ok(count)
    }

    /// How many of these claims pass `sees`, by scope, run and topic; at most `most`.
    pub fn count_standing_seen(
        &self,
        project: ProjectId,
        worktree: &str,
        standing: &[Evidence],
        most: usize,
        sees: &dyn Fn(Scope, Option<RunId>, &str) -> bool,
    ) -> Result<u64> {
        let mut statement = self
            .0
            .prepare_cached(&format!("SELECT scope, run, topic FROM {WAITING}"))?;
        let mut count = 0;
        for way in standing {
            let rows = statement.query(params![worktree, way.as_str(), project.to_string()])?;
            count += count_rows(rows, most, sees, |_| Ok(()))?;
        }
        Ok(count)
    }
}

impl Store {
    /// Stores how far a follower has read, in a separate transaction. It makes no entry, so it
    /// needs no time.
    pub(crate) fn keep_cursor(&self, follower: &str, cursor: u64) -> Result<()> {
        self.write(Timestamp::UNIX_EPOCH, |it| it.keep_cursor(follower, cursor))
    }
}

impl Writer<'_> {
    /// Stores how far a follower has read.
    pub fn keep_cursor(&self, follower: &str, cursor: u64) -> Result<()> {
        self.0
            .prepare_cached("INSERT OR REPLACE INTO follower VALUES (?1, ?2)")?
            .execute(params![follower, cursor as i64])?;
        Ok(())
    }

    /// Stores the state of a working tree.
    pub fn keep_looked(
        &self,
        project: ProjectId,
        worktree: &str,
        looked: &WorktreeState,
    ) -> Result<()> {
        self.0
            .prepare_cached("INSERT OR REPLACE INTO look (project, worktree, head, note) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                project.to_string(),
                worktree,
                looked.head,
                looked.note
            ])?;
        Ok(())
    }

    /// Stores the health of a claim; no row for an unchanged one.
    pub fn keep_health(&self, id: EngramId, worktree: &str, health: &Health) -> Result<()> {
        if *health == Health::unchanged() {
            return self.drop_health(id, worktree);
        }
        self.0
            .prepare_cached("INSERT OR REPLACE INTO health VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                id.to_string(),
                worktree,
                health.standing.as_str(),
                json!(health.pointers).to_string()
            ])?;
        Ok(())
    }

    /// Deletes the health of a claim that is unchanged or no longer holds.
    pub fn drop_health(&self, id: EngramId, worktree: &str) -> Result<()> {
        self.0
            .prepare_cached("DELETE FROM health WHERE engram = ?1 AND worktree = ?2")?
            .execute(params![id.to_string(), worktree])?;
        Ok(())
    }
}
