//! What an agent did, as shown to the user.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentId, Code, ConflictId, EngramId, Figure, How};

/// Selects agents: the connections of one client, or one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineOf {
    /// At most [`TimelineOf::MAX_AGENTS`].
    pub agents: Vec<AgentId>,
}

impl TimelineOf {
    /// The most agents of one timeline; a longer list is refused.
    pub const MAX_AGENTS: usize = 200;
}

/// What agents did, and what their pointers saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Newest first.
    pub acts: Vec<AgentAct>,
    /// What reading by pointers saved.
    pub saved: Saved,
}

/// One thing that an agent did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentAct {
    /// When.
    pub at: Timestamp,
    /// The turn in which it did this; empty if it began before the listed acts.
    pub turn: String,
    /// What it did.
    pub what: ActOf,
}

/// What an agent did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActOf {
    /// It began a turn.
    Began,
    /// It read something.
    Read {
        /// The exact pointer, pinned; empty if it was erased.
        pointer: String,
        /// Tokens of the excerpt.
        tokens: u32,
        /// Whether the excerpt ended before the span did.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
        /// The grant that paid; if absent, the turn's budget paid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<String>,
    },
    /// It sent a message.
    Message {
        /// Its tokens.
        tokens: u64,
    },
    /// A budget refused it.
    Refused {
        /// The code that it got.
        code: Code,
        /// The budgets that were exceeded, by their names.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        figures: BTreeMap<String, Figure>,
    },
    /// It asked to read more.
    Asked {
        /// The request.
        request: String,
        /// The exact pointer, pinned; empty if it was erased.
        pointer: String,
    },
    /// It stored a version of a claim.
    Stored {
        /// The version.
        id: EngramId,
        /// Its words as of now.
        claim: String,
    },
    /// What it stored contradicts another claim.
    Contradicted {
        /// The conflict.
        conflict: ConflictId,
    },
    /// It settled a conflict, or undid its verdict.
    Settled {
        /// The conflict.
        conflict: ConflictId,
        /// How; absent if it undid a verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
        /// The claims that this ended, in their words as of now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ended: Vec<String>,
    },
}

/// What reading by pointers saved: an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// How many files are behind the reads, each at its pin, counted once.
    pub files: u64,
    /// Tokens of those files as a whole.
    pub full_tokens: u64,
    /// Tokens of the excerpts that were delivered from them.
    pub delivered: u64,
}

impl Saved {
    /// The tokens that were not delivered.
    pub fn tokens(self) -> u64 {
        self.full_tokens.saturating_sub(self.delivered)
    }
}
