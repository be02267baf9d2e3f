//! Tables `agent` and `spend`: the handles that were issued, their turns, and what those cost.

use engram_model::{AgentId, ProjectId, RunId};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use crate::{
    Reader, Result, Writer,
    journal::{parse_id, timestamp},
};

/// An agent that the engine knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The handle; only the engine makes one.
    pub handle: AgentId,
    /// What it calls itself; display only.
    pub label: String,
    /// The agent that started it.
    pub parent: Option<AgentId>,
    /// The run that it belongs to.
    pub run: RunId,
    /// Where it works.
    pub project: ProjectId,
    /// Its current turn.
    pub turn: String,
    /// When it last called.
    pub last_call: Timestamp,
}

/// What one agent has spent in the turn that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spender {
    /// What it calls itself; display only.
    pub label: String,
    /// Its turn.
    pub turn: String,
    /// When it last called.
    pub last_call: Timestamp,
    /// What it spent.
    pub spend: SpendRow,
}

/// What one agent spent in one turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendRow {
    /// `repo`, `diff` and `test` pointers.
    pub repo_spans: u32,
    /// `artifact` and `url` pointers.
    pub artifact_sections: u32,
    /// `sam` pointers.
    pub sam_items: u32,
    /// Tokens of all excerpts.
    pub tokens: u32,
}

impl Reader<'_> {
    /// The agent behind a handle.
    pub fn agent(&self, handle: &AgentId) -> Result<Option<Agent>> {
        let row: Option<(String, Option<String>, String, String, String, i64)> = self
            .0
            .prepare_cached(
                "SELECT label, parent, run, project, turn, last_call FROM agent WHERE handle = ?1",
            )?
            .query_row([&handle.0], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                ))
            })
            .optional()?;
        row.map(|(label, parent, run, project, turn, last_call)| {
            Ok(Agent {
                handle: handle.clone(),
                label,
                parent: parent.map(AgentId),
                run: parse_id(&run)?,
                project: parse_id(&project)?,
                turn,
                last_call: timestamp(last_call)?,
            })
        })
        .transpose()
    }

    /// How many agents this project has seen.
    pub fn count_agents(&self, project: ProjectId) -> Result<u64> {
        let count: i64 = self
            .0
            .prepare_cached("SELECT count(*) FROM agent WHERE project = ?1")?
            .query_row([project.to_string()], |row| row.get(0))?;
        Ok(count as u64)
    }

    /// The agents of a project that called at this time or later and spent anything in their turn, the
    /// latest first and no more than `most`.
    pub fn spenders(
        &self,
        project: ProjectId,
        since: Timestamp,
        most: usize,
    ) -> Result<Vec<Spender>> {
        let mut found = self.0.prepare_cached(
            "SELECT label, agent.turn, last_call, repo_spans, artifact_sections, sam_items, tokens
             FROM agent JOIN spend ON spend.agent = agent.handle AND spend.turn = agent.turn
             WHERE project = ?1 AND last_call >= ?2 ORDER BY last_call DESC LIMIT ?3",
        )?;
        let rows = found.query_map(
            params![project.to_string(), since.as_microsecond(), most as i64],
            |row| {
                let spend = SpendRow {
                    repo_spans: row.get(3)?,
                    artifact_sections: row.get(4)?,
                    sam_items: row.get(5)?,
                    tokens: row.get(6)?,
                };
                Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?, spend))
            },
        )?;
        rows.map(|row| {
            let (label, turn, last_call, spend) = row?;
            Ok(Spender {
                label,
                turn,
                last_call: timestamp(last_call)?,
                spend,
            })
        })
        .collect()
    }

    /// What an agent spent in a turn.
    pub fn spend(&self, agent: &AgentId, turn: &str) -> Result<SpendRow> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT repo_spans, artifact_sections, sam_items, tokens FROM spend WHERE agent = ?1 AND turn = ?2",
            )?
            .query_row(params![agent.0, turn], |row| {
                Ok(SpendRow {
                    repo_spans: row.get(0)?,
                    artifact_sections: row.get(1)?,
                    sam_items: row.get(2)?,
                    tokens: row.get(3)?,
                })
            })
            .optional()?
            .unwrap_or_default())
    }
}

impl Writer<'_> {
    /// Registers an agent, or renews its turn and the time of its last call.
    pub fn keep_agent(&self, agent: &Agent) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT INTO agent (handle, label, parent, run, project, turn, last_call)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (handle) DO UPDATE SET turn = ?6, last_call = ?7",
            )?
            .execute(params![
                agent.handle.0,
                agent.label,
                agent.parent.as_ref().map(|it| &it.0),
                agent.run.to_string(),
                agent.project.to_string(),
                agent.turn,
                agent.last_call.as_microsecond(),
            ])?;
        Ok(())
    }

    /// Replaces what an agent spent in a turn.
    pub fn keep_spend(&self, agent: &AgentId, turn: &str, spend: &SpendRow) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT OR REPLACE INTO spend (agent, turn, repo_spans, artifact_sections, sam_items, tokens)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                agent.0,
                turn,
                spend.repo_spans,
                spend.artifact_sections,
                spend.sam_items,
                spend.tokens
            ])?;
        Ok(())
    }
}
