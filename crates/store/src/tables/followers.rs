//! What followers keep: table `follower`, how far each has read the journal; and tables `health`
//! and `look`, how the evidence of claims stands in each working tree. They can be dropped at any
//! time, and are then built anew.

use engram_model::{EngramId, Evidence, Health, ProjectId, RunId, Scope};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};
use serde_json::json;

use super::engrams::count_rows;
use crate::{Reader, Result, Store, StoreError, Writer};

/// What was looked at last in a working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeState {
    /// The commit that was checked out; none before the first.
    pub head: Option<String>,
    /// Why not all of the tree is watched.
    pub note: Option<String>,
}

impl Reader<'_> {
    /// How far a follower has read the journal; 0 for one that has not begun.
    pub fn cursor(&self, follower: &str) -> Result<u64> {
        let cursor: Option<i64> = self
            .0
            .prepare_cached("SELECT cursor FROM follower WHERE name = ?1")?
            .query_row([follower], |row| row.get(0))
            .optional()?;
        Ok(cursor.unwrap_or(0) as u64)
    }

    /// What was looked at last; none in a tree that nobody has looked at.
    pub fn looked(&self, project: ProjectId, worktree: &str) -> Result<Option<WorktreeState>> {
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

    /// How a claim stands, where that is to be said; what has no row was unchanged.
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

    /// How many claims of a project that hold stand in one of these ways.
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
                .prepare_cached(
                    "SELECT count(*) FROM health JOIN engram ON engram.id = health.engram
                     WHERE worktree = ?1 AND standing = ?2 AND project = ?3 AND valid_until IS NULL",
                )?
                .query_row(params![worktree, way.as_str(), project.to_string()], |row| {
                    row.get(0)
                })?;
            count += found as u64;
        }
        Ok(count)
    }

    /// How many of them somebody sees, by their scope, run and topic; at most `most`.
    pub fn count_standing_seen(
        &self,
        project: ProjectId,
        worktree: &str,
        standing: &[Evidence],
        most: usize,
        sees: &dyn Fn(Scope, Option<RunId>, &str) -> bool,
    ) -> Result<u64> {
        let mut statement = self.0.prepare_cached(
            "SELECT scope, run, topic FROM health JOIN engram ON engram.id = health.engram
             WHERE worktree = ?1 AND standing = ?2 AND project = ?3 AND valid_until IS NULL",
        )?;
        let mut count = 0;
        for way in standing {
            let rows = statement.query(params![worktree, way.as_str(), project.to_string()])?;
            count += count_rows(rows, most, sees, |_| Ok(()))?;
        }
        Ok(count)
    }
}

impl Store {
    /// Notes how far a follower has read, where that is not part of a transaction of its own. No
    /// entry is made, so that no time is needed.
    pub(crate) fn keep_cursor(&self, follower: &str, cursor: u64) -> Result<()> {
        self.write(Timestamp::UNIX_EPOCH, |it| it.keep_cursor(follower, cursor))
    }
}

impl Writer<'_> {
    /// Notes how far a follower has read.
    pub fn keep_cursor(&self, follower: &str, cursor: u64) -> Result<()> {
        self.0
            .prepare_cached("INSERT OR REPLACE INTO follower VALUES (?1, ?2)")?
            .execute(params![follower, cursor as i64])?;
        Ok(())
    }

    /// Notes what was looked at.
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

    /// Notes how a claim stands; nothing is kept of what is unchanged.
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

    /// Forgets how a claim stood: it is unchanged, or holds no longer.
    pub fn drop_health(&self, id: EngramId, worktree: &str) -> Result<()> {
        self.0
            .prepare_cached("DELETE FROM health WHERE engram = ?1 AND worktree = ?2")?
            .execute(params![id.to_string(), worktree])?;
        Ok(())
    }
}
