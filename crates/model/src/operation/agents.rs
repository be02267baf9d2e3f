//! What operations record about agents: identity, requests, spending, messages, and what they were
//! shown.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{AgentId, Code, EngramId, Figure, GrantRecord, LineageId, ProjectId, RunId};

/// What one agent has spent in one turn (docs/design.md#budgets).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// `repo`, `diff` and `test` pointers.
    pub repo_spans: u32,
    /// `artifact` and `url` pointers.
    pub artifact_sections: u32,
    /// `sam` pointers.
    pub sam_items: u32,
    /// Tokens of all excerpts.
    pub tokens: u32,
}

/// What all descendants of an agent have read in its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBelow {
    /// The agent above them.
    pub agent: AgentId,
    /// Its turn.
    pub turn: String,
    /// What they have read.
    pub spent: Spend,
}

/// A dereference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Read {
    /// The exact pointer, pinned.
    #[serde(default)]
    pub pointer: String,
    /// `sha256:HEX` of the full span.
    #[serde(default)]
    pub digest: String,
    /// Tokens of the excerpt.
    #[serde(default)]
    pub tokens: u32,
    /// Whether the excerpt ends before the span does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The turn that paid; `None` for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// What the agent has spent in that turn, including this read; `None` if a grant paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spend>,
    /// The grant that paid; this read spends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// For each agent above the reader: what its descendants have read in its turn, including this
    /// read. Empty if the user granted the read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<ReadBelow>,
    /// Fingerprints of what the agent was shown; stored beside the journal.
    #[serde(skip)]
    pub prints: Vec<u64>,
}

/// A message of the bus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Its id; stored beside the body.
    #[serde(skip)]
    pub id: String,
    /// Its recipients; if empty, the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<AgentId>,
    /// Its tokens.
    #[serde(default)]
    pub tokens: u64,
    /// The sender's turn; `None` for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The grant that its inline code spends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The refused message that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resend_of: Option<String>,
    /// The addresses of the files behind its pointers, at their pins; stored beside the journal.
    #[serde(skip)]
    pub files: Vec<String>,
    /// The hex sha256 of its text.
    #[serde(default)]
    pub digest: String,
    /// The budgets that it gives its recipients.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<String, u64>,
    /// The message as compact JSON, with ids in place of its claims and without grant tokens;
    /// stored beside the journal.
    #[serde(skip)]
    pub text: String,
}

/// A message that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unsent {
    /// The id of the refusal; stored beside the body.
    #[serde(skip)]
    pub id: String,
    /// The reason.
    pub code: Code,
    /// The budgets that it exceeded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Figure>,
}

/// A pin on the brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefPin {
    /// The pinned claim; `None` for a line of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<LineageId>,
    /// The line; stored beside the journal.
    #[serde(skip)]
    pub text: Option<String>,
    /// The hex sha256 of the line; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// The id of the first pin in this position; absent for a new line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u64>,
}

/// What an agent was shown since the last entry, apart from dereferences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The agent.
    pub to: AgentId,
    /// Its run.
    pub run: RunId,
    /// The versions that queries returned to it, each with its count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engrams: Vec<(EngramId, u64)>,
    /// Fingerprints of the words and addresses that it was shown; stored beside the journal.
    #[serde(skip)]
    pub prints: Vec<u64>,
}

impl Served {
    /// Records what an agent was shown without asking. It counts as a read of no claim.
    pub fn of_unasked(to: &Agent, prints: Vec<u64>) -> Self {
        Self {
            to: to.handle.clone(),
            run: to.run,
            engrams: Vec::new(),
            prints,
        }
    }
}

/// An agent that the engine knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The handle; only the engine makes handles.
    pub handle: AgentId,
    /// What it calls itself, or what a person or its parent named it; display only.
    pub label: String,
    /// What its client calls itself, if `label` is the name that the user gave the client's last
    /// connection; only in the entry with which it joins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The role, given by the person or agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// The run that it belongs to.
    pub run: RunId,
    /// Where it works.
    pub project: ProjectId,
    /// The topics that it may read and write.
    #[serde(default, skip_serializing_if = "Topics::are_all")]
    pub topics: Topics,
    /// Its current turn.
    pub turn: String,
    /// When it last called.
    pub last_call: Timestamp,
    /// Whether the window's list leaves it out, as the user decided; stored beside the body.
    #[serde(skip)]
    pub is_hidden: bool,
    /// Whether the user closed it; stored beside the body.
    #[serde(skip)]
    pub is_closed: bool,
}

impl Agent {
    /// Whether its name is its handle, because a person called it so in a command. The engine's own
    /// handles are not names, and the opener of an agent names it.
    pub fn is_named_by_handle(&self) -> bool {
        self.parent.is_none() && self.handle.0 == self.label
    }
}

/// What an agent may read and write: these topics and those below them. An empty list allows all
/// topics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topics {
    /// The topics that may be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The topics that may be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
}

impl Topics {
    /// Whether every topic is allowed.
    pub fn are_all(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }
}

/// An agent that the user or a parent opened, with the digest of its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The agent.
    pub agent: Agent,
    /// The hex sha256 of its token. The token itself is stored nowhere.
    pub token: String,
}

/// What an agent asks to read beyond its budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// Its identity.
    #[serde(skip)]
    pub id: String,
    /// The exact pointer, pinned.
    #[serde(default)]
    pub pointer: String,
    /// Tokens (o200k_base) of the full span.
    #[serde(default)]
    pub tokens: u32,
    /// The reason; stored beside the journal.
    #[serde(skip)]
    pub reason: String,
    /// The intended use; stored beside the journal.
    #[serde(skip)]
    pub intended_use: String,
    /// The hex sha256 of [`Requested::stored_text`].
    #[serde(default)]
    pub digest: String,
}

impl Requested {
    /// Returns the reason and the intended use as stored.
    pub fn stored_text(&self) -> String {
        json!({ "reason": self.reason, "intended_use": self.intended_use }).to_string()
    }
}

/// A request that was denied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// The request.
    #[serde(skip)]
    pub id: String,
    /// The reason; stored beside the journal.
    #[serde(skip)]
    pub why: String,
    /// The hex sha256 of the reason; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A grant, with the digest of its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGrant {
    /// The grant.
    pub grant: GrantRecord,
    /// The hex sha256 of its token. The token itself is stored nowhere.
    pub token: String,
    /// The request that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The grant that it replaces, which ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// A refusal because of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The turn.
    pub turn: String,
    /// The code that the agent got.
    pub code: Code,
    /// The budgets that were exceeded, by name; empty if there was another reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Figure>,
}
