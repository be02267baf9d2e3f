//! What [`engram_model::Operation::Reached`] does to the tables; a part of `apply.rs`.

use rusqlite::params;

use super::apply::Applied;
use crate::Result;

impl Applied<'_> {
    /// Lists lines as sent to the agent of this entry. Only the first time counts.
    pub(super) fn reach(&self, lines: &[u64]) -> Result<()> {
        let mut add = self.connection.prepare_cached(
            "INSERT OR IGNORE INTO reached (line, agent, seq) VALUES (?1, ?2, ?3)",
        )?;
        let agent = self.agent.map_or("", |it| &it.0);
        for line in lines {
            add.execute(params![*line as i64, agent, self.seq])?;
        }
        Ok(())
    }
}
