//! Table `project`: the repositories that this home knows, and where it saw them last.

use engram_model::ProjectId;
use rusqlite::OptionalExtension;

use crate::{Reader, Result, journal::parse_id};

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
