//! Counts for monitoring, from tables that are small compared with the journal.

use std::collections::BTreeMap;

use engram_model::ProjectId;
use rusqlite::{Connection, types::FromSql};

use crate::{Reader, Result};

/// The activity of a project's agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectActivity {
    /// Versions that were stored.
    pub stored: u64,
    /// Requests to read beyond the budget.
    pub requests: u64,
    /// Grants that were issued.
    pub grants: u64,
    /// How often a budget refused something.
    pub refusals: u64,
    /// Versions in the list, by kind.
    pub kinds: BTreeMap<String, u64>,
    /// Conflicts that a risk reports.
    pub risks: u64,
    /// Average tokens of messages in a turn, by role.
    pub inline_tokens: BTreeMap<String, f64>,
    /// Average dereferences that a turn paid for, by role.
    pub derefs: BTreeMap<String, f64>,
}

impl Reader<'_> {
    /// Counts the activity of a project's agents.
    pub fn counts(&self, project: ProjectId) -> Result<ProjectActivity> {
        let count = |sql| -> Result<u64> {
            let counted: i64 = self
                .0
                .prepare_cached(sql)?
                .query_row([project.to_string()], |row| row.get(0))?;
            Ok(counted as u64)
        };
        let kinds = "SELECT kind, sum(versions) FROM tally WHERE project = ?1 GROUP BY kind";
        let kinds: BTreeMap<String, i64> = by_word(self.0, project, kinds)?;
        Ok(ProjectActivity {
            stored: count("SELECT count(*) FROM engram WHERE project = ?1")?,
            requests: count("SELECT count(*) FROM request WHERE project = ?1")?,
            grants: count("SELECT count(*) FROM grant WHERE project = ?1")?,
            refusals: count(
                "SELECT coalesce(sum(times), 0) FROM refused JOIN agent ON handle = refused.agent
                 WHERE project = ?1",
            )?,
            kinds: kinds.into_iter().map(|it| (it.0, it.1 as u64)).collect(),
            risks: count("SELECT count(*) FROM conflict WHERE project = ?1")?,
            inline_tokens: by_word(self.0, project,
                "SELECT coalesce(role, ''), avg(tokens) FROM inline JOIN agent ON handle = inline.agent
                 WHERE project = ?1 GROUP BY 1",
            )?,
            derefs: by_word(self.0, project,
                "SELECT coalesce(role, ''), avg(repo_spans + artifact_sections + sam_items)
                 FROM spend JOIN agent ON handle = spend.agent WHERE project = ?1 GROUP BY 1",
            )?,
        })
    }
}

fn by_word<T: FromSql>(
    connection: &Connection,
    project: ProjectId,
    sql: &str,
) -> Result<BTreeMap<String, T>> {
    connection
        .prepare_cached(sql)?
        .query_map([project.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .map(|row| Ok(row?))
        .collect()
}
