//! Tables `message`, `delivery`, `delivered`, `inline`, `unsent` and `narrowed`: what agents sent
//! each other, and the results.

use std::collections::BTreeMap;

use engram_model::{AgentId, ProjectId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{Reader, Result, StoreError, journal::parse_id};

/// Totals of a project's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageTotals {
    /// How many were sent.
    pub messages: u64,
    /// How many of them replaced a refused message.
    pub resends: u64,
    /// Tokens, counted once for each recipient.
    pub tokens: u64,
}

/// The files behind the pointers of a project's messages, counted once for each recipient.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveredFiles {
    /// How many files there are.
    pub all: u64,
    /// How many of them have a token count.
    pub counted: u64,
    /// The tokens of the counted files.
    pub tokens: u64,
}

/// Queries about messages between agents and the user.
pub struct Messages<'a>(&'a Connection);

impl Reader<'_> {
    /// Returns the queries about messages.
    pub fn messages(&self) -> Messages<'_> {
        Messages(self.0)
    }
}

impl Messages<'_> {
    /// Returns a message by its id: its project, its place and its text, which is empty after it
    /// was erased.
    pub fn find(&self, id: &str) -> Result<Option<(ProjectId, u64, String)>> {
        let found: Option<(String, i64, Option<String>)> = self
            .0
            .prepare_cached(
                "SELECT project, seq, text FROM message LEFT JOIN said USING (seq) WHERE id = ?1",
            )?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        found
            .map(|(project, seq, text)| {
                Ok((parse_id(&project)?, seq as u64, text.unwrap_or_default()))
            })
            .transpose()
    }

    /// Totals of a project's messages.
    pub fn totals(&self, project: ProjectId) -> Result<MessageTotals> {
        let found = self
            .0
            .prepare_cached("SELECT messages, resends, tokens FROM delivered WHERE project = ?1")?
            .query_row([project.to_string()], |row| {
                Ok(MessageTotals {
                    messages: row.get::<_, i64>(0)? as u64,
                    resends: row.get::<_, i64>(1)? as u64,
                    tokens: row.get::<_, i64>(2)? as u64,
                })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    /// The files behind the pointers of a project's messages.
    pub fn files(&self, project: ProjectId) -> Result<DeliveredFiles> {
        Ok(self
            .0
            .prepare_cached(
                "SELECT count(*), count(*) FILTER (WHERE tokens >= 0),
                   coalesce(sum(tokens) FILTER (WHERE tokens >= 0), 0) FROM delivery WHERE project = ?1",
            )?
            .query_row([project.to_string()], |row| {
                Ok(DeliveredFiles {
                    all: row.get::<_, i64>(0)? as u64,
                    counted: row.get::<_, i64>(1)? as u64,
                    tokens: row.get::<_, i64>(2)? as u64,
                })
            })?)
    }

    /// At most `most` of the files behind a project's messages that have no token count yet.
    pub fn uncounted_files(&self, project: ProjectId, most: usize) -> Result<Vec<String>> {
        self.0
            .prepare_cached(
                "SELECT DISTINCT file FROM delivery WHERE project = ?1 AND tokens IS NULL
                 ORDER BY file LIMIT ?2",
            )?
            .query_map(params![project.to_string(), most as i64], |row| row.get(0))?
            .map(|row| Ok(row?))
            .collect()
    }

    /// Tokens of the messages that an agent sent in a turn.
    pub fn inline_tokens(&self, agent: &AgentId, turn: &str) -> Result<u64> {
        let tokens: Option<i64> = self
            .0
            .prepare_cached("SELECT tokens FROM inline WHERE agent = ?1 AND turn = ?2")?
            .query_row([&agent.0, turn], |row| row.get(0))
            .optional()?;
        Ok(tokens.unwrap_or(0) as u64)
    }

    /// The refusal to which the next message of an agent (or of the user) will be linked.
    pub fn unsent(&self, project: ProjectId, agent: Option<&AgentId>) -> Result<Option<String>> {
        let agent = agent.map_or("", |it| &it.0);
        Ok(self
            .0
            .prepare_cached("SELECT id FROM unsent WHERE project = ?1 AND agent = ?2")?
            .query_row([&project.to_string(), agent], |row| row.get(0))
            .optional()?)
    }

    /// The budgets that its parent's messages set for an agent.
    pub fn budgets_of(&self, agent: &AgentId) -> Result<BTreeMap<String, u64>> {
        let found: Option<String> = self
            .0
            .prepare_cached("SELECT budgets FROM narrowed WHERE agent = ?1")?
            .query_row([&agent.0], |row| row.get(0))
            .optional()?;
        let read = found.as_deref().map(serde_json::from_str).transpose();
        Ok(read
            .map_err(|error| StoreError::Record(format!("budgets of an agent: {error}")))?
            .unwrap_or_default())
    }
}
