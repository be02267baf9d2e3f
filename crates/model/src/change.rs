//! One closed enum of changes: what a journal entry says happened, for the feed and the window.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Anchored, Engram, EngramId, EventId};

/// One entry of the journal as a reader sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Place in this home's journal.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// Who did it, as a person would name them; empty for the user.
    pub by: String,
    /// What happened.
    pub change: Change,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "with", rename_all = "snake_case")]
pub enum Change {
    /// An engram was stored; as it is now, closed or redacted since or not.
    Stored(Box<Engram>),
    /// Another agent committed the same claim.
    Corroborated(EngramId),
    /// A window was closed.
    Forgotten(EngramId),
    /// Text was erased for good.
    Redacted(EngramId),
    /// Something was fetched.
    Dereferenced {
        /// The exact pointer, pinned.
        pointer: String,
        /// `sha256:HEX` of the full span.
        digest: String,
        /// Tokens that it cost.
        tokens: u32,
    },
    /// An event was noted.
    Noted {
        /// The event.
        id: EventId,
        /// The pointer that addresses it.
        pointer: String,
    },
    /// The evidence of claims stands otherwise than it did.
    Anchored {
        /// The working tree that was looked at; empty for the main one.
        worktree: String,
        /// The commit that was checked out; none before the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        /// The claims, with what was found.
        engrams: Vec<Anchored>,
    },
}

/// The name of a change in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// [`Change::Stored`]
    Stored,
    /// [`Change::Corroborated`]
    Corroborated,
    /// [`Change::Forgotten`]
    Forgotten,
    /// [`Change::Redacted`]
    Redacted,
    /// [`Change::Dereferenced`]
    Dereferenced,
    /// [`Change::Noted`]
    Noted,
    /// [`Change::Anchored`]
    Anchored,
}

impl ChangeKind {
    /// As it is spelled in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Corroborated => "corroborated",
            Self::Forgotten => "forgotten",
            Self::Redacted => "redacted",
            Self::Dereferenced => "dereferenced",
            Self::Noted => "noted",
            Self::Anchored => "anchored",
        }
    }
}
