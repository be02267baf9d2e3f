//! What operations say of agents: who they are, what they ask, spend, send and are shown.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{AgentId, Code, EngramId, Figure, IssuedGrant, LineageId, ProjectId, RunId};

/// What one agent spent in one turn (docs/design.md#budgets).
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

/// What all agents below one have read in its turn: its children, theirs, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBelow {
    /// The one above them.
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
    /// The turn that paid; none for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// What the agent has spent in that turn, this included; none where a grant paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spend>,
    /// The grant that paid, and is spent with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// For each agent above the reader: what those below it have read in its turn, this included. None where the
    /// user granted it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<ReadBelow>,
    /// Fingerprints of what the agent was shown; kept beside the journal.
    #[serde(skip)]
    pub prints: Vec<u64>,
}

/// A message of the bus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Its id; beside the body.
    #[serde(skip)]
    pub id: String,
    /// Who gets it; the user where it names nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<AgentId>,
    /// Its tokens.
    #[serde(default)]
    pub tokens: u64,
    /// The sender's turn; none for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The grant that its inline code spends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The refused message that it is sent for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resend_of: Option<String>,
    /// The addresses of the files behind its pointers, at their pins; kept beside the journal.
    #[serde(skip)]
    pub files: Vec<String>,
    /// Hex of the sha256 of its text.
    #[serde(default)]
    pub digest: String,
    /// The budgets that it gives its recipients.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<String, u64>,
    /// The message as compact JSON, with ids in place of its claims and without tokens that prove
    /// something; kept beside the journal.
    #[serde(skip)]
    pub text: String,
}

/// A message that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unsent {
    /// The id of the refusal; beside the body.
    #[serde(skip)]
    pub id: String,
    /// Why.
    pub code: Code,
    /// The budgets that it exceeded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Figure>,
}

/// What was pinned to the brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BriefPin {
    /// The claim; none for a line of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<LineageId>,
    /// The line; kept beside the journal.
    #[serde(skip)]
    pub text: Option<String>,
    /// Hex of the sha256 of that; empty without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// What an agent was shown since the last entry, beside what it dereferenced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// The agent.
    pub to: AgentId,
    /// Its run.
    pub run: RunId,
    /// The versions that queries returned to it, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engrams: Vec<(EngramId, u64)>,
    /// Fingerprints of the words and addresses that it was shown; kept beside the journal.
    #[serde(skip)]
    pub prints: Vec<u64>,
}

impl Served {
    /// What an agent was told unasked: no claim counts as read by that.
    pub fn told(to: &Agent, prints: Vec<u64>) -> Self {
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
    /// The handle; only the engine makes one.
    pub handle: AgentId,
    /// What it calls itself; display only.
    pub label: String,
    /// The role that whoever started it gave it.
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
}

impl Agent {
    /// Whether its name is its handle: a person called it so in a command. The handles that the engine makes up
    /// are nobody's name, and an opened agent is named by whoever opened it.
    pub fn is_named_by_handle(&self) -> bool {
        self.parent.is_none() && self.handle.0 == self.label
    }
}

/// What an agent may read and write: these topics and those below them; all topics where a list is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topics {
    /// May be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// May be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
}

impl Topics {
    /// Whether nothing is closed.
    pub fn are_all(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }
}

/// An agent that somebody opened, with what proves it from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The agent.
    pub agent: Agent,
    /// Hex of the sha256 of its token; the token itself is kept nowhere.
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
    /// Why; kept beside the journal.
    #[serde(skip)]
    pub reason: String,
    /// What it is for; kept beside the journal.
    #[serde(skip)]
    pub intended_use: String,
    /// Hex of the sha256 of [`Requested::words`].
    #[serde(default)]
    pub digest: String,
}

impl Requested {
    /// Reason and intended use as they are kept.
    pub fn words(&self) -> String {
        json!({ "reason": self.reason, "intended_use": self.intended_use }).to_string()
    }
}

/// A request that was denied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// Which.
    #[serde(skip)]
    pub id: String,
    /// Why; kept beside the journal.
    #[serde(skip)]
    pub why: String,
    /// Hex of the sha256 of that; empty without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A grant, with what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGrant {
    /// The grant.
    pub grant: IssuedGrant,
    /// Hex of the sha256 of its token; the token itself is kept nowhere.
    pub token: String,
    /// The request that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// What a budget refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The turn.
    pub turn: String,
    /// The code that the agent got.
    pub code: Code,
    /// The budgets that were exceeded, by their names; none where it was another reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Figure>,
}
