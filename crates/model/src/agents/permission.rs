//! Requests and replies about permissions: budgets, grants, and requests for grants
//! (docs/design.md#grants-and-requests).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentId, GrantState, Meter, PointerInput, Secret, Ttl, words::words};

/// The agent whose turn ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextTurn {
    /// The agent.
    pub agent: AgentId,
    /// The name of the turn that begins; a new name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// A turn that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Turned {
    /// The agent.
    pub agent: AgentId,
    /// Its turn.
    pub turn: String,
}

/// Selects whose budget to report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetOf {
    /// One agent; if absent, all agents that the caller may see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
}

/// What agents have spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetsReply {
    /// Most recent call first.
    pub agents: Vec<AgentBudget>,
    /// What the messages of the project cost.
    #[serde(default)]
    pub delivered: crate::Delivered,
}

/// What one agent has spent of its turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentBudget {
    /// Its handle.
    pub agent: AgentId,
    /// What it calls itself; display only.
    pub label: String,
    /// Its role.
    pub role: Option<String>,
    /// Its parent; none is a root.
    pub parent: Option<AgentId>,
    /// The turn that all of this counts for.
    pub turn: String,
    /// Tokens of the messages that it sent.
    pub inline_tokens: Meter,
    /// `repo`, `diff` and `test` pointers.
    pub repo_spans: Meter,
    /// `artifact` and `url` pointers.
    pub artifact_sections: Meter,
    /// `sam` pointers.
    pub sam_items: Meter,
    /// Tokens of all excerpts.
    pub tokens: Meter,
    /// Its grants beyond the budget.
    pub grants: GrantCount,
    /// How often a budget refused it in this turn.
    pub refusals: u32,
    /// When the turn ended, or ends unless the agent calls again; not part of the JSON.
    #[serde(skip)]
    pub until: Timestamp,
}

/// How many grants an agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantCount {
    /// It can use these.
    pub open: u32,
    /// It used these.
    pub spent: u32,
}

/// A grant that somebody wants to give: a read of a pointer, or characters of inline code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GrantWanted {
    /// Who may use it.
    pub to: AgentId,
    /// What may be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<PointerInput>,
    /// Maximum tokens of the excerpt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_tokens: Option<u32>,
    /// Or: most characters of inline code in one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_chars: Option<u32>,
    /// How long it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ttl>,
    /// In whose name the user gives it; an agent gives it in its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentId>,
    /// The open grant that it replaces: that one ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// A grant that was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "GrantIssued")
)]
pub struct GrantReply {
    /// Its name, which is not secret.
    pub id: String,
    /// What proves it; shown this once.
    pub budget_token: Secret,
    /// The only agent that may use it.
    pub to: AgentId,
    /// What may be read, with its full pin; null for inline code.
    pub pointer: Option<String>,
    /// Maximum tokens of the excerpt; null for inline code.
    pub cap_tokens: Option<u32>,
    /// Most characters of inline code; absent for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_chars: Option<u32>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Who gave it; null is the user.
    pub by: Option<AgentId>,
}

/// A list of grants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrantsReply {
    /// Newest first.
    pub grants: Vec<GrantTold>,
}

/// A grant, without what proves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrantTold {
    /// Its name.
    pub id: String,
    /// The only agent that may use it.
    pub to: AgentId,
    /// What may be read; null for inline code.
    pub pointer: Option<String>,
    /// Maximum tokens of the excerpt; null for inline code.
    pub cap_tokens: Option<u32>,
    /// Most characters of inline code; absent for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_chars: Option<u32>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Who gave it; null is the user.
    pub by: Option<AgentId>,
    /// Its status.
    pub state: GrantState,
    /// The grant that was issued in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// The name of the agent that has it, if the grant of a request was transferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

words!(
    /// The status of a request.
    RequestState {
        /// Nobody has answered it.
        Waiting = "waiting",
        /// It was granted.
        Granted = "granted",
        /// It was denied.
        Denied = "denied",
    }
);

/// Selects which requests to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WhichRequests {
    /// Whether to include requests that were answered.
    pub all: bool,
}

/// Requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestsReply {
    /// Those that wait, then those that were answered; the newest first.
    pub requests: Vec<RequestTold>,
    /// How many did not fit, for the user; absent where all did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<u64>,
}

/// What an agent asks to read beyond its budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestTold {
    /// Its name.
    pub id: String,
    /// Who asks.
    pub agent: AgentId,
    /// What it calls itself; display only.
    pub label: String,
    /// Its role.
    pub role: Option<String>,
    /// Its parent, which may answer as the user may; none is a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// When it asked.
    pub asked_at: Timestamp,
    /// What it wants to read.
    pub pointer: String,
    /// Why.
    pub reason: String,
    /// What for.
    pub intended_use: String,
    /// Tokens (o200k_base) of the full span.
    pub tokens: u32,
    /// Its status.
    pub state: RequestState,
    /// Why it was denied, if a reason was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Who answered it, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnsweredBy>,
    /// The grant that answers it, which has the request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantTold>,
}

/// Who answered a request, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnsweredBy {
    /// As a surface names them; `user` is the user.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// Grants a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantAnswer {
    /// The request.
    pub id: String,
    /// The most tokens; the home's default cap if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_tokens: Option<u32>,
    /// How long the grant holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ttl>,
}

/// Denies a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DenyAnswer {
    /// The request.
    pub id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The new status of a request, a grant or an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answered {
    /// Which.
    pub id: String,
    /// `waiting`, `denied` or `revoked`; of an agent, `renamed`, `hidden`, `shown` or `closed`.
    pub state: String,
}
