//! Table `project`: the repositories that this home knows, and where it saw them last.

use engram_model::ProjectId;
use rusqlite::{OptionalExtension, params};

use crate::{Reader, Result, Writer, journal::parse_id};

/// A repository that this home knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its identity.
    pub id: ProjectId,
    /// Its common git folder when it was last seen; a hint, not an identity.
    pub common_dir: String,
    /// The name of its folder.
    pub name: String,
}

impl Reader<'_> {
    /// The project last seen at this common git folder.
    pub fn project_at(&self, common_dir: &str) -> Result<Option<ProjectId>> {
        let id: Option<String> = self
            .0
            .prepare_cached("SELECT id FROM project WHERE common_dir = ?1 ORDER BY id LIMIT 1")?
            .query_row([common_dir], |row| row.get(0))
            .optional()?;
        id.map(|id| parse_id(&id)).transpose()
    }
}

impl Writer<'_> {
    /// Remembers a project, or where it moved.
    pub fn see_project(&self, project: &Project) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT INTO project (id, common_dir, name) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET common_dir = ?2, name = ?3
                 WHERE common_dir <> ?2 OR name <> ?3",
            )?
            .execute(params![
                project.id.to_string(),
                project.common_dir,
                project.name
            ])?;
        Ok(())
    }
}
