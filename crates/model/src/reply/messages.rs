//! What answers messages of the bus: what became of one, and what all of a project came to.

use serde::{Deserialize, Serialize};

use super::{PutReply, is_zero};
use crate::{AgentId, CheckedPointer};

/// What a message that keeps its contract costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidReply {
    /// Always true; a refusal says otherwise.
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
    /// The refusal that it was sent again after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resend_of: Option<String>,
    /// Pointers of its pack that no longer read as they did when they were pinned, and where they are now.
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

/// What the messages of a project came to (docs/design.md#what-messages-save): how much less was sent than lies behind
/// the pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivered {
    /// Tokens of accepted messages, as often as they had recipients.
    pub tokens: u64,
    /// Tokens of the files behind their pointers, at their pins, each once for each recipient. Of a file of more
    /// than a million characters the rest counts as its beginning does.
    pub full_tokens: u64,
    /// How many of these files count as the average of the others: they cannot be read, or were not counted yet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted: u64,
    /// The first of the second; 0 without files.
    pub share: f64,
    /// How many of the accepted messages were sent again after a refusal, 0 to 1.
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
