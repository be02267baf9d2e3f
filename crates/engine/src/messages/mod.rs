//! Messages between parents and children, the shared brief, and the hooks of an orchestrator.

pub(crate) mod brief;
pub(crate) mod hooks;
pub(crate) mod message;
pub(crate) mod pack;
pub(crate) mod parent_message;
pub(crate) mod reached;
pub(crate) mod send;

use crate::Engine;
use engram_model::{AgentId, Refusal};

impl Engine {
    /// Returns the pins and to-dos that an agent was not sent yet, each with its author, as many as
    /// fit into this many tokens. They count as sent from then on.
    pub fn take_new_lines(&self, agent: &AgentId, tokens: usize) -> Result<Vec<String>, Refusal> {
        reached::send_new_lines(self, agent, tokens)
    }
}
