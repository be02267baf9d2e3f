//! What the journal's entries do to agents; a part of `apply.rs`.

use engram_model::{
    AgentChange, AgentEdit,
    operation::{Agent, Opened},
};
use rusqlite::params;

use super::apply::Applied;
use crate::{Result, tables::topics_json as topics};

impl Applied<'_> {
    /// An agent has one token: the latest.
    pub(super) fn open(&self, opened: &Opened) -> Result<()> {
        self.join(&opened.agent)?;
        let agent = &opened.agent;
        // A name that a person gave stays theirs, even if an agent opens this agent again.
        self.run(
            "UPDATE agent SET label = ?2, role = ?3, topics = ?4, given = given OR ?5, hidden = 0, closed = 0
             WHERE handle = ?1",
            params![
                agent.handle.0,
                agent.label,
                agent.role,
                topics(agent),
                self.agent.is_none(),
            ],
        )?;
        self.run(
            "INSERT OR REPLACE INTO token (agent, digest) VALUES (?1, ?2)",
            params![agent.handle.0, opened.token],
        )
    }

    /// The grants and requests of an agent that was closed end by entries of their own.
    pub(super) fn change_agent(&self, change: &AgentChange) -> Result<()> {
        let handle = &change.agent.0;
        match &change.what {
            AgentEdit::Rename(name) => self.run(
                "UPDATE agent SET earlier = json_insert(earlier, '$[#]', label), label = ?2, given = 1
                 WHERE handle = ?1 AND label <> ?2",
                params![handle, name],
            ),
            AgentEdit::Hide => self.run("UPDATE agent SET hidden = 1 WHERE handle = ?1", [handle]),
            AgentEdit::Show => self.run("UPDATE agent SET hidden = 0 WHERE handle = ?1", [handle]),
            AgentEdit::Close => {
                self.run("UPDATE agent SET closed = 1 WHERE handle = ?1", [handle])?;
                self.run("DELETE FROM token WHERE agent = ?1", [handle])?;
                self.run("UPDATE agent SET parent = NULL WHERE parent = ?1", [handle])
            }
        }
    }

    pub(super) fn join(&self, agent: &Agent) -> Result<()> {
        self.run(
            "INSERT INTO agent (handle, label, role, parent, run, project, topics, turn, last_call, given, earlier)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (handle) DO UPDATE SET turn = ?8, last_call = ?9",
            params![
                agent.handle.0,
                agent.label,
                agent.role,
                agent.parent.as_ref().map(|it| &it.0),
                agent.run.to_string(),
                agent.project.to_string(),
                topics(agent),
                agent.turn,
                agent.last_call.as_microsecond(),
                agent.is_named_by_handle(),
                serde_json::json!(agent.client.as_slice()).to_string(),
            ],
        )
    }
}
