//! Replies to storing, widening or closing a claim, and to noting an event.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::{
    ConflictId, Durability, Engram, EngramId, EventId, LineageId, MemoryOp, Scope, Severity, Tier,
    words::words,
};

/// The tag of sample claims.
pub const SAMPLE: &str = "sample";

/// The tag of a to-do that asks whether a claim is still true. Its pointers show the evidence in
/// doubt and are not evidence for the to-do.
pub const REVERIFY: &str = "reverify";

/// Which claims of the sample were stored or forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleReply {
    /// Their ids.
    pub ids: Vec<EngramId>,
}

/// Answer to a commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutReply {
    /// The stored version; for a repeat, the existing one; absent if nothing was stored.
    #[serde(default = "no_engram", skip_serializing_if = "is_no_engram")]
    pub id: EngramId,
    /// Its place in the journal; 0 where nothing was stored.
    pub seq: u64,
    /// All versions of the claim; absent where nothing was stored.
    #[serde(default = "no_lineage", skip_serializing_if = "is_no_lineage")]
    pub lineage_id: LineageId,
    /// Whether a repo, artifact, test or diff pointer resolved.
    pub verified: bool,
    /// What was done: `none` for a repeat too.
    pub memory_op: MemoryOp,
    /// The version that this one replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<EngramId>,
    /// When the version was recorded; if nothing was stored, when the claim was made.
    pub committed_at: Timestamp,
    /// How many open conflicts it is part of; `findings` lists the worst.
    #[serde(default)]
    pub conflicts: u64,
    /// How many comparisons are still due; absent if none. The gate is shut until they are done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub due: u64,
    /// What the engine noticed; never a reason for failure.
    pub findings: Vec<Finding>,
    /// Claims of others that may be about the same thing, best first, at most [`MAX_NEAR`]; absent
    /// if there are none. Nobody has judged them against this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<NearClaim>,
}

/// The most near claims in a reply.
pub const MAX_NEAR: usize = 3;

/// A claim that may be about the same thing as another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearClaim {
    /// Its current version.
    pub id: EngramId,
    /// The id that a conflict of the two claims would have.
    pub conflict: ConflictId,
    /// Its words.
    pub claim: String,
    /// Its author.
    pub by: String,
    /// How near the two are, from 0 to 1.
    pub score: f64,
}

impl PutReply {
    /// The reply for a version; `seq` stays 0 until the version has a place in the journal.
    pub fn of(engram: &Engram, findings: Vec<Finding>) -> Self {
        Self {
            id: engram.id,
            seq: engram.seq,
            lineage_id: engram.lineage_id,
            verified: engram.verified,
            memory_op: engram.memory_op,
            supersedes: engram.supersedes,
            committed_at: engram.recorded_at,
            conflicts: 0,
            due: 0,
            findings,
            near: Vec::new(),
        }
    }

    /// The reply when nothing was new, so nothing was stored.
    pub fn of_no_change(at: Timestamp) -> Self {
        Self {
            id: no_engram(),
            seq: 0,
            lineage_id: no_lineage(),
            verified: false,
            memory_op: MemoryOp::None,
            supersedes: None,
            committed_at: at,
            conflicts: 0,
            due: 0,
            findings: Vec::new(),
            near: Vec::new(),
        }
    }

    /// Whether the reply names a version.
    pub fn is_of_version(&self) -> bool {
        !is_no_engram(&self.id)
    }
}

fn no_engram() -> EngramId {
    EngramId(ulid::Ulid::nil())
}

fn is_no_engram(id: &EngramId) -> bool {
    id.0.is_nil()
}

fn no_lineage() -> LineageId {
    LineageId(ulid::Ulid::nil())
}

fn is_no_lineage(id: &LineageId) -> bool {
    id.0.is_nil()
}

words!(
    /// What the engine may notice about a commit.
    Noticed {
        /// The claim was held already, on this evidence.
        Duplicate = "duplicate",
        /// The claim is held with other evidence.
        SameClaim = "same_claim",
        /// The version that this one replaced.
        Superseded = "superseded",
        /// The claim no longer holds, and has no successor.
        Retired = "retired",
        /// A source does not read as the digest that came with it.
        PhantomRead = "phantom_read",
        /// Somebody else said the same in other words.
        Corroborates = "corroborates",
        /// Another claim cannot hold together with this one.
        Conflict = "conflict",
    }
);

/// Something the engine noticed about a commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What it is.
    pub what: Noticed,
    /// The other engram.
    pub id: EngramId,
    /// One sentence for a reader.
    pub note: String,
    /// Of a conflict: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<ConflictId>,
    /// Of a conflict: how much it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Of a conflict: which tier found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Of a conflict: the claim of the other engram. It is somebody else's data, never an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// Of a conflict: who said that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Finding {
    /// A finding other than a conflict.
    pub fn new(what: Noticed, id: EngramId, note: impl Into<String>) -> Self {
        Self {
            what,
            id,
            note: note.into(),
            conflict: None,
            severity: None,
            tier: None,
            claim: None,
            by: None,
        }
    }
}

/// Answer to forget and redact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetReply {
    /// The engram or event.
    pub id: EngramId,
    /// The journal entry of the change.
    pub seq: u64,
    /// Where erased words still are, and why; empty once they are gone. Claims by others that quote
    /// them are listed here by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// What quoted erased words and was erased with them, such as pins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

/// Answer to a promotion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromoteReply {
    /// The version that holds.
    pub id: EngramId,
    /// Whether it stays.
    pub durability: Durability,
    /// Who may see it.
    pub scope: Scope,
    /// All versions of the claim.
    pub lineage_id: LineageId,
    /// The journal entry of the promotion; if there was nothing to promote, that of the version.
    pub seq: u64,
    /// How many comparisons are still due; absent if none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub due: u64,
    /// What the engine noticed; never a reason for failure.
    pub findings: Vec<Finding>,
}

/// The answer to a note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteReply {
    /// The event.
    pub id: EventId,
    /// Its place in the journal.
    pub seq: u64,
    /// The pointer that addresses it.
    pub pointer: String,
}
