//! Replies about agents: who they are, and what they have spent of a turn.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentId, GrantCount, OperationKind, RunId, Secret, operation::Topics};

/// One meter of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Meter {
    /// Spent in this turn.
    pub used: u32,
    /// Allowed in a turn.
    pub limit: u32,
}

impl Meter {
    /// The fraction that is used: 1 is all.
    pub fn share(&self) -> f64 {
        f64::from(self.used) / f64::from(self.limit.max(1))
    }
}

/// What an agent has spent in its turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The turn that this counts for.
    pub turn: String,
    /// `repo`, `diff` and `test` pointers.
    pub repo_spans: Meter,
    /// `artifact` and `url` pointers.
    pub artifact_sections: Meter,
    /// `sam` pointers.
    pub sam_items: Meter,
    /// Tokens of all excerpts.
    pub tokens: Meter,
}

impl Budget {
    /// The meters, each with its name for people.
    pub fn meters(&self) -> [(&'static str, Meter); 4] {
        [
            ("tokens", self.tokens),
            ("spans", self.repo_spans),
            ("sections", self.artifact_sections),
            ("events", self.sam_items),
        ]
    }

    /// The used fraction of the fullest meter: 1 is all.
    pub fn fullest(&self) -> f64 {
        let shares = self.meters().map(|(_, it)| it.share());
        shares.into_iter().fold(0.0, f64::max)
    }
}

/// An agent in a turn, and what it has spent in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// What it calls itself; display only.
    pub agent: String,
    /// What it has spent.
    pub budget: Budget,
    /// When the turn ends if the agent does not call again.
    pub until: Timestamp,
}

/// The agents of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentsReply {
    /// Most recent call first.
    pub agents: Vec<AgentStatus>,
    /// How many more there are.
    pub more: u64,
}

/// What the home recorded about an agent. An agent that only queried is not recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// Its handle.
    #[serde(rename = "agent")]
    pub handle: AgentId,
    /// Its own name for itself, as records show it; display only.
    #[serde(rename = "label")]
    pub name: String,
    /// The names that it had before the user renamed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_names: Vec<String>,
    /// Whether the user hid it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
    /// Whether the user closed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_closed: bool,
    /// Its role, given by whoever opened it.
    pub role: Option<String>,
    /// The agent that opened it, or for which it was opened; `None` for a root.
    pub parent: Option<AgentId>,
    /// That agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// The run that it belongs to.
    pub run: RunId,
    /// Its latest turn.
    pub turn: String,
    /// The topics that it may read and write.
    #[serde(default, skip_serializing_if = "Topics::are_all")]
    pub topics: Topics,
    /// The time of its first entry in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<Timestamp>,
    /// When it last called, as far as is known.
    pub last_call: Timestamp,
    /// The kind of its last entry that readers can see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<OperationKind>,
    /// How many versions of claims it stored.
    pub stored: u64,
    /// How its claims and answers fared.
    #[serde(default)]
    pub record: AgentRecord,
    /// What it has spent in its latest turn, with the limits.
    pub budget: Budget,
    /// Tokens of the messages that it sent in that turn.
    pub inline_tokens: Meter,
    /// Its grants beyond the budget.
    pub grants: GrantCount,
    /// How often a budget refused it in that turn.
    pub refusals: u32,
    /// When that turn ends if the agent does not call again.
    pub until: Timestamp,
}

/// How the claims and answers of an agent fared. Nothing but what people are shown depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// How many of the versions that it stored are looked at: the newest, at most
    /// [`Self::MAX_CLAIMS`].
    pub claims: u64,
    /// How many of these are verified: their evidence was found.
    pub verified: u64,
    /// How many pairs of claims it called a contradiction, by its last word on each.
    pub reported: u64,
    /// How many of these a person called so too, or somebody else settled as conflicts.
    pub upheld: u64,
    /// How many of these are dismissed: both claims can hold.
    pub dismissed: u64,
    /// How many conflicts have a claim of it on a side, without possible ones.
    pub conflicts: u64,
    /// How many of these have a verdict.
    pub settled: u64,
}

impl AgentRecord {
    /// The most versions that are looked at.
    pub const MAX_CLAIMS: u64 = 500;
}

impl std::ops::AddAssign for AgentRecord {
    fn add_assign(&mut self, other: Self) {
        self.claims += other.claims;
        self.verified += other.verified;
        self.reported += other.reported;
        self.upheld += other.upheld;
        self.dismissed += other.dismissed;
        self.conflicts += other.conflicts;
        self.settled += other.settled;
    }
}

/// An agent that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentOpened {
    /// Its handle.
    pub agent: AgentId,
    /// What proves it; shown this once.
    pub token: Secret,
    /// The run that it belongs to: its parent's, or one of its own.
    pub run: RunId,
    /// Its role.
    pub role: Option<String>,
    /// Its parent; none is a root.
    pub parent: Option<AgentId>,
}
