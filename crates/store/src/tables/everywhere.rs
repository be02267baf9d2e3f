//! Queries about all projects of the home at once.

use engram_model::{ConflictStatus, OperationKind, ProjectId, operation::Located};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use crate::{
    Reader, Result,
    journal::{ENTRY, Journalled, journalled, parse_id},
};

/// How far back the news is read, in entries of the whole home.
const REACH: u64 = 20_000;

/// The news of all projects, newest first.
#[derive(Debug)]
pub struct NewsEntries {
    /// The entries.
    pub entries: Vec<Journalled>,
    /// Whether older entries were left out.
    pub is_cut: bool,
}

/// What waits for the user in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectWaiting {
    /// The project.
    pub project: ProjectId,
    /// Conflicts that wait for a verdict.
    pub conflicts: u64,
    /// Requests that wait for an answer.
    pub requests: u64,
}

impl Reader<'_> {
    /// The project of the version, event, conflict, request or grant with this id, and the kind of
    /// the entry that made it, unless only a newer build knows that kind.
    pub fn origin_of_id(&self, id: &str) -> Result<Option<(ProjectId, Option<OperationKind>)>> {
        let found: Option<(String, String)> = self
            .0
            .prepare_cached(
                "SELECT project, kind FROM journal WHERE subject = ?1 ORDER BY seq LIMIT 1",
            )?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        found
            .map(|(project, kind)| Ok((parse_id(&project)?, kind.parse().ok())))
            .transpose()
    }

    /// Where the projects were last seen, newest project first.
    pub fn located_projects(&self, most: usize) -> Result<Vec<(ProjectId, Located)>> {
        self.0
            .prepare_cached("SELECT id, common_dir, name FROM project ORDER BY id DESC LIMIT ?1")?
            .query_and_then([most as i64], |row| {
                let located = Located {
                    common_dir: row.get(1)?,
                    name: row.get(2)?,
                };
                Ok((parse_id(&row.get::<_, String>(0)?)?, located))
            })?
            .collect()
    }

    /// The projects in which something waits for the user.
    pub fn waiting_projects(&self, now: Timestamp) -> Result<Vec<ProjectWaiting>> {
        let projects: Vec<String> = self
            .0
            .prepare_cached(
                "SELECT DISTINCT project FROM conflict WHERE status = 'open'
                 UNION SELECT project FROM request WHERE state = 'waiting'",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut all = Vec::with_capacity(projects.len());
        for project in projects {
            let project = parse_id(&project)?;
            let waiting = ProjectWaiting {
                project,
                conflicts: self.count_conflicts(project, ConflictStatus::Open, now)?,
                requests: self.grants().count_requests(project, None, false)?,
            };
            if waiting.conflicts + waiting.requests > 0 {
                all.push(waiting);
            }
        }
        Ok(all)
    }

    /// Entries of these kinds in all projects after this place and not before this time, at most
    /// `most`. Versions that confirm or restore a claim, and to-dos about one, are left out.
    pub fn news(
        &self,
        after: u64,
        since: Option<Timestamp>,
        kinds: &[OperationKind],
        most: usize,
    ) -> Result<NewsEntries> {
        let since = since.map_or(i64::MIN, Timestamp::as_microsecond);
        let floor = self.head()?.saturating_sub(REACH);
        let words: Vec<String> = kinds.iter().map(|it| format!("'{it}'")).collect();
        let mut entries: Vec<Journalled> = self
            .0
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM journal WHERE seq > ?1 AND recorded_at >= ?2 AND kind IN ({})
                   AND (kind <> 'stored' OR EXISTS
                     (SELECT 1 FROM engram WHERE engram.seq = journal.seq
                        AND engram.place = engram.seq AND engram.asks IS NULL))
                 ORDER BY seq DESC LIMIT ?3",
                words.join(", ")
            ))?
            .query_map(
                params![after.max(floor) as i64, since, most as i64 + 1],
                |row| Ok(journalled(row)),
            )?
            .collect::<rusqlite::Result<_>>()?;
        let is_cut = entries.len() > most || (after < floor && self.is_after(floor, since)?);
        entries.truncate(most);
        Ok(NewsEntries { entries, is_cut })
    }

    /// Whether an entry was recorded at this time or later.
    fn is_after(&self, seq: u64, since: i64) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached("SELECT 1 FROM journal WHERE seq = ?1 AND recorded_at >= ?2")?
            .query_row(params![seq as i64, since], |_| Ok(()))
            .optional()?
            .is_some())
    }
}
