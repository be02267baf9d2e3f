//! The state of a home and a project, for those who work there and for monitoring.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Budget, Spending, is_zero};
use crate::ProjectId;

/// The state of the home and the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusReply {
    /// `ready`, or `empty` while nothing is stored.
    pub status: String,
    /// What to do next, in one sentence.
    pub next: String,
    /// The repository, where one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectStatus>,
    /// Engrams that hold now in this project.
    pub engrams: u64,
    /// Newest place in the journal.
    pub head: u64,
    /// How far the index has read.
    pub indexed: u64,
    /// Agents that did something in this project, without those that the user hid or closed.
    /// Successive connections of one client count once. An agent counts itself and those whose
    /// claims it sees.
    pub agents: u64,
    /// The caller's budget; absent for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// For an agent only: the lines of its brief, each with its author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brief: Vec<String>,
    /// For the user only: the agent in a turn that is nearest to a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub spending: Option<Spending>,
    /// Claims whose evidence was edited or is gone in this working tree, without those about which
    /// agents were asked.
    #[serde(default)]
    pub drifted: u64,
    /// Conflicts that wait for a verdict; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub conflicts: Option<u64>,
    /// How many comparisons are still due; absent if none. An agent sees only those of its own
    /// claims.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub due: u64,
    /// Requests to read beyond a budget that wait for an answer; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub requests: Option<u64>,
    /// The agent that called last from this repository; for the user only, until an agent
    /// stores a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub sign_of_life: Option<SignOfLife>,
    /// Why only part of the working tree is watched, or why changes by other processes are polled
    /// instead of watched; absent if all is watched, or if nobody watches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watching: Option<String>,
    /// Where data lives; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// This build.
    pub version: String,
}

/// The last call of an agent that may have stored nothing yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignOfLife {
    /// What it calls itself; display only.
    pub agent: String,
    /// When it called.
    pub at: Timestamp,
    /// How many questions it asked.
    pub questions: u64,
}

/// The repository that is being worked on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectStatus {
    /// Its identity; absent until something is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ProjectId>,
    /// The name of its folder.
    pub name: String,
    /// The branch that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Its root; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The address that its clones share, such as `example.com/team/shop`; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub remote: Option<String>,
    /// Why it cannot be read. The user can still read what the home holds about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

/// What monitoring reports of a project (docs/design.md#what-messages-save).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsReply {
    /// Versions of claims that were stored.
    pub engram_put: u64,
    /// Queries of agents.
    pub engram_query: u64,
    /// Requests to read beyond a budget.
    pub deref_request: u64,
    /// Grants that were issued.
    pub deref_grant: u64,
    /// How often a budget refused something.
    pub budget_reject: u64,
    /// Average tokens of messages in a turn, by role.
    pub inline_tokens_per_turn: BTreeMap<String, f64>,
    /// Average dereferences that a turn paid for, by role.
    pub derefs_per_turn: BTreeMap<String, f64>,
    /// Claims in the list, by kind.
    pub engrams: BTreeMap<String, u64>,
    /// The fraction, 0 to 1, of the claims that are risks reporting a conflict.
    pub contradiction_rate: f64,
    /// The fraction, 0 to 1, of the accepted messages that were resent after a refusal.
    pub resend_rate: f64,
}
