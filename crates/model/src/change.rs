//! One closed enum of changes: what a journal entry records, for the feed and the window.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Anchored, ConflictId, ConflictStatus, Engram, EngramId, EventId, How, LineageId,
    OperationKind, Severity, Tier,
};

/// One entry of the journal as a reader sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in this home's journal.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The handle of the agent that did it; absent for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Who did it, as a person would name them; empty for the user.
    pub by: String,
    /// What happened.
    pub change: Change,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "with", rename_all = "snake_case")]
pub enum Change {
    /// An engram was stored; in its current form, even if closed or redacted since.
    Stored(Box<Engram>),
    /// Another agent committed the same claim.
    Corroborated(EngramId),
    /// A window was closed.
    Forgotten(EngramId),
    /// Lineages were taken off the list with all their versions: those of a removed sample.
    Unlisted(Vec<LineageId>),
    /// Text was erased for good.
    Redacted(EngramId),
    /// An ephemeral engram became durable.
    Promoted {
        /// The version that became durable.
        id: EngramId,
        /// Whether this removed its expiry.
        ends_term: bool,
    },
    /// A pointer was dereferenced.
    Dereferenced {
        /// The exact pointer, pinned.
        pointer: String,
        /// `sha256:HEX` of the full span.
        digest: String,
        /// The tokens that it cost.
        tokens: u32,
    },
    /// An event was noted.
    Noted {
        /// The event.
        id: EventId,
        /// The pointer that addresses it.
        pointer: String,
    },
    /// The state of claims' evidence changed.
    Anchored {
        /// The working tree that was checked; empty for the main one.
        worktree: String,
        /// The commit that is checked out; `None` before the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        /// The claims, with the new state of their evidence.
        engrams: Vec<Anchored>,
    },
    /// Two sides were found that cannot both hold.
    Conflict {
        /// The conflict.
        id: ConflictId,
        /// The two engrams whose comparison found it.
        engrams: [EngramId; 2],
        /// The tier that found it.
        tier: Tier,
        /// How much it matters.
        severity: Severity,
        /// The engram of kind risk that was stored with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        risk: Option<EngramId>,
    },
    /// A conflict was settled, or its verdict was undone.
    Resolved {
        /// The conflict.
        id: ConflictId,
        /// Its new status: open if a verdict was undone.
        status: ConflictStatus,
        /// How it was settled; `None` if a verdict was undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<How>,
        /// The versions that were closed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        closed: Vec<EngramId>,
        /// The versions that were stored.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stored: Vec<EngramId>,
    },
    /// The user let an open conflict pass the gate.
    Allowed(ConflictId),
    /// The user withdrew that permission.
    Disallowed(ConflictId),
    /// Something between agents, or between them and the user: a request, a grant, a message, a
    /// pin, a turn. Only the user sees it.
    Between {
        /// The kind of operation.
        what: OperationKind,
        /// The other party and the subject, as far as they fit on one line: handles, a pointer, an
        /// id, a code.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        about: Vec<String>,
    },
}

impl Change {
    /// The version that it is about; `None` if it is about something else, or about several
    /// versions.
    pub fn engram(&self) -> Option<EngramId> {
        match self {
            Self::Stored(engram) => Some(engram.id),
            Self::Corroborated(id)
            | Self::Forgotten(id)
            | Self::Redacted(id)
            | Self::Promoted { id, .. } => Some(*id),
            Self::Unlisted(_)
            | Self::Dereferenced { .. }
            | Self::Noted { .. }
            | Self::Anchored { .. }
            | Self::Conflict { .. }
            | Self::Resolved { .. }
            | Self::Allowed(_)
            | Self::Disallowed(_)
            | Self::Between { .. } => None,
        }
    }

    /// The conflict that it is about, if any.
    pub fn conflict(&self) -> Option<ConflictId> {
        match self {
            Self::Conflict { id, .. }
            | Self::Resolved { id, .. }
            | Self::Allowed(id)
            | Self::Disallowed(id) => Some(*id),
            _ => None,
        }
    }

    /// The version that was stored, if any.
    pub fn stored(&self) -> Option<&Engram> {
        match self {
            Self::Stored(engram) => Some(engram),
            _ => None,
        }
    }

    /// The version that was stored, if it gets a new row in the list. A version that confirms or
    /// restores a claim takes the row of that claim, so it is not an arrival.
    pub fn arrived(&self) -> Option<&Engram> {
        self.stored().filter(|it| it.place.is_none())
    }

    /// Like [`Self::stored`], but mutable, so that the caller can add details.
    pub fn stored_mut(&mut self) -> Option<&mut Engram> {
        match self {
            Self::Stored(engram) => Some(engram),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_version_that_takes_the_row_of_its_claim_does_not_arrive() {
        let id = format!("{:026}", 1);
        for (place, arrives) in [
            (json!(null), true),
            (json!({"seq": 1, "at": "2026-11-20T10:00:00Z"}), false),
        ] {
            let stored = json!({"kind": "stored", "with": {
                "id": id, "seq": 2, "lineage_id": id, "project": id, "claim": "It holds.", "kind": "fact",
                "fact_type": "observation", "scope": "project", "topic": "",
                "pointers": [{"type": "repo", "ref": "src/a.rs@HEAD"}],
                "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
                "provenance": {"created_at": "2026-11-20T10:00:00Z", "created_by": "", "source": "agent"},
                "content_hash": "sha256:1", "valid_from": "2026-11-20T10:00:00Z",
                "recorded_at": "2026-11-20T10:00:00Z", "memory_op": "add", "verified": true, "place": place
            }});
            let change: Change = serde_json::from_value(stored).unwrap();
            assert_eq!(change.arrived().is_some(), arrives, "{place}");
        }
        let id = id.parse().unwrap();
        assert!(Change::Forgotten(id).arrived().is_none());
    }
}
