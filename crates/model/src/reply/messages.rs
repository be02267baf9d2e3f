//! Replies about messages of the bus: the outcome of one, and the totals of a project.

use serde::{Deserialize, Serialize};

use super::{PutReply, is_zero};
use crate::{AgentId, CheckedPointer};

/// The cost of a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidReply {
    /// Always true; an invalid message gets a refusal.
    pub ok: bool,
    /// Tokens (o200k_base) of the compact JSON.
    pub tokens: usize,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SentReply {
    /// Its id.
    pub id: String,
    /// Tokens (o200k_base) of the compact JSON, or of the text as written if those are more.
    pub tokens: usize,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The refused message that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resend_of: Option<String>,
    /// Pointers of its pack whose content changed since they were pinned, and where it is now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<CheckedPointer>,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Outcome {
    /// A child's was stored.
    Reported {
        /// Its engrams, in their order.
        engrams: Vec<PutReply>,
        /// The ids of its dereference requests, in their order.
        requests: Vec<String>,
    },
    /// A parent's was given to its children.
    Told {
        /// Each of them.
        sent: Vec<Delivery>,
    },
}

/// What the messages of a project cost (docs/design.md#what-messages-save), compared with the
/// content behind their pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivered {
    /// Tokens of accepted messages, counted once for each recipient.
    pub tokens: u64,
    /// Tokens of the files behind their pointers, at their pins, counted once for each recipient.
    /// For a file of more than a million characters, the rest is estimated from its beginning.
    pub full_tokens: u64,
    /// How many of these files are estimated as the average of the others, because they cannot be
    /// read or were not counted yet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted: u64,
    /// `tokens` divided by `full_tokens`; 0 without files.
    pub share: f64,
    /// The fraction, 0 to 1, of the accepted messages that were resent after a refusal.
    pub resend_rate: f64,
}

/// A message as one recipient gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivery {
    /// The recipient.
    pub to: AgentId,
    /// The message: its pointers pinned, its grants issued.
    pub message: serde_json::Value,
}
