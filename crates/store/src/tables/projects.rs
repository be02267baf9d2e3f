//! Tables `project` and `admitted`: the repositories that this home knows, where they were last
//! seen, and the other places from which the user allows their use.

use engram_model::{ProjectId, operation::Located};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Reader, Result, journal::parse_id};

/// Queries about the projects that this home knows.
pub struct Projects<'a>(&'a Connection);

impl Reader<'_> {
    /// Returns the queries about projects.
    pub fn projects(&self) -> Projects<'_> {
        Projects(self.0)
    }
}

impl Projects<'_> {
    /// The project that was last seen at this common git folder.
    pub fn id_at(&self, common_dir: &str) -> Result<Option<ProjectId>> {
        let id: Option<String> = self
            .0
            .prepare_cached("SELECT id FROM project WHERE common_dir = ?1 ORDER BY id LIMIT 1")?
            .query_row([common_dir], |row| row.get(0))
            .optional()?;
        id.map(|id| parse_id(&id)).transpose()
    }

    /// The common git folder where a project was last seen.
    pub fn place_of(&self, project: ProjectId) -> Result<Option<String>> {
        Ok(self
            .0
            .prepare_cached("SELECT common_dir FROM project WHERE id = ?1")?
            .query_row([project.to_string()], |row| row.get(0))
            .optional()?)
    }

    /// Where a project was last seen, and its name there.
    pub fn located(&self, project: ProjectId) -> Result<Option<Located>> {
        Ok(self
            .0
            .prepare_cached("SELECT common_dir, name FROM project WHERE id = ?1")?
            .query_row([project.to_string()], |row| {
                Ok(Located {
                    common_dir: row.get(0)?,
                    name: row.get(1)?,
                })
            })
            .optional()?)
    }

    /// The common git folders where projects were last seen, newest project first.
    pub fn places(&self, most: usize) -> Result<Vec<String>> {
        let mut places = self
            .0
            .prepare_cached("SELECT common_dir FROM project ORDER BY id DESC LIMIT ?1")?;
        let rows = places.query_map([most as i64], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether the user allowed the use of a project from a place other than its own.
    pub fn is_admitted(&self, place: &str, project: ProjectId) -> Result<bool> {
        Ok(self
            .0
            .prepare_cached("SELECT 1 FROM admitted WHERE place = ?1 AND project = ?2")?
            .query_row(params![place, project.to_string()], |_| Ok(()))
            .optional()?
            .is_some())
    }
}
