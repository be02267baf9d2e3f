//! The shared brief as every surface shows it (docs/design.md#the-shared-brief).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentId, EngramId, words::words};

words!(
    /// What a line of the brief is about, in the order in which the brief has them.
    BriefPart {
        /// Pinned by a parent or the user.
        Pin = "pin",
        /// What somebody is asked to do; for the user, also the answers of agents.
        Todo = "todo",
        /// What counts at this moment.
        Matter = "matter",
        /// What must stay as it is.
        Constraint = "constraint",
        /// What may go wrong.
        Risk = "risk",
        /// Where a role should look first.
        Pointer = "pointer",
        /// What may still be spent.
        Budget = "budget",
        /// What may be read beyond that.
        Grant = "grant",
    }
);

/// One line of a brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefLine {
    /// The line as sent: no line end, nothing hidden, a claim in double quotes.
    pub text: String,
    /// What it is about.
    pub part: BriefPart,
    /// The claim that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engram: Option<EngramId>,
    /// Where its evidence is: canonical addresses.
    #[serde(default)]
    pub pointers: Vec<String>,
    /// Whether a parent or the user pinned it.
    #[serde(default)]
    pub pinned: bool,
    /// The role whose pack of pointers this line lists; not sent.
    #[serde(skip)]
    pub role: Option<String>,
    /// The id of the pin, for unpinning the line wherever the line is; only on a pinned line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<u64>,
    /// The agent that pinned it, by its display name; absent if the user did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_by: Option<String>,
    /// The agents that it was sent to, the last one first. Only for the user, on a pin or a to-do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<SentTo>,
    /// The entry that made the line what it is, or that answered the request; not sent.
    #[serde(skip)]
    pub entry: Option<u64>,
    /// Whether its claim is a to-do of the user that nobody answered yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_todo: bool,
}

/// An agent that a line was sent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SentTo {
    /// Its display name.
    pub name: String,
    /// Its handle.
    pub agent: AgentId,
    /// When it was sent for the first time.
    pub at: Timestamp,
}

/// A brief: at most 30 lines and 800 tokens unless configured otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefReply {
    /// Its lines, pins first.
    pub lines: Vec<BriefLine>,
    /// Tokens (o200k_base) of the texts as a compact JSON list, as a message carries them.
    pub tokens: u64,
}

/// Selects whose brief to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BriefOf {
    /// The agent whose brief it is; if absent, the user's own brief, which covers all agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
}

/// A brief as shown to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownBrief {
    /// The brief.
    #[serde(flatten)]
    pub brief: BriefReply,
    /// The most lines that it may have.
    pub most_lines: u64,
    /// The most tokens that it may have.
    pub most_tokens: u64,
}
