//! What the user changes about an agent.

use serde::{Deserialize, Serialize};

use crate::AgentId;

/// A change of an agent by the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentChange {
    /// The agent.
    pub agent: AgentId,
    /// The change.
    pub what: AgentEdit,
}

/// What changes about an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEdit {
    /// It is called this from now on. What it stored keeps the name that it had then.
    Rename(String),
    /// The window's list and the brief leave it out.
    Hide,
    /// The window's list and the brief show it again.
    Show,
    /// It may no longer call. Its token, its open grants and its waiting requests end, and the user
    /// becomes the parent of its children. Opening it again only lets it call again.
    Close,
}

impl AgentEdit {
    /// What the agent is afterwards, in a word.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Rename(_) => "renamed",
            Self::Hide => "hidden",
            Self::Show => "shown",
            Self::Close => "closed",
        }
    }
}
