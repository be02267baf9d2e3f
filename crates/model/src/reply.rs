//! The one [`Reply`] that every surface gets; which of its variants follows from the request.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Blame, BriefReply, ConflictId, Durability, Engram, EngramId, Entry, EventId, Facets,
    LineReply, LineageId, MemoryOp, OperationKind, ProjectId, RunId, Scope, Secret, Severity,
    SourceReply, Standing, Tier, engram::words, operation::Topics,
};

/// What the engine answers; the variant follows from the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", content = "with", rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Put`], [`Request::Commit`], [`Request::Repin`] and [`Request::Reverify`].
    Put(PutReply),
    /// To [`Request::Get`].
    Engram(Box<Engram>),
    /// To [`Request::Forget`] and [`Request::Redact`].
    Closed(ForgetReply),
    /// To [`Request::Promote`].
    Promoted(PromoteReply),
    /// To [`Request::Query`].
    Query(QueryReply),
    /// To [`Request::Deref`].
    Deref(Box<Dereferenced>),
    /// To [`Request::Note`].
    Note(NoteReply),
    /// To [`Request::Feed`].
    Feed(FeedPage),
    /// To [`Request::Facets`].
    Facets(Box<Facets>),
    /// To [`Request::Log`].
    Log(Vec<Entry>),
    /// To [`Request::Track`].
    Tracked(Box<crate::CheckedPointer>),
    /// To [`Request::Source`].
    Source(Box<SourceReply>),
    /// To [`Request::Line`].
    Line(LineReply),
    /// To [`Request::LoadSample`] and [`Request::RemoveSample`].
    Sample(SampleReply),
    /// To [`Request::CheckPointers`].
    Checked(crate::CheckReply),
    /// To [`Request::Standing`].
    Standing(Box<Standing>),
    /// To [`Request::Blame`].
    Blame(Blame),
    /// To [`Request::Status`].
    Status(Box<StatusReply>),
    /// To [`Request::Agents`].
    Agents(Box<AgentsReply>),
    /// To [`Request::OpenAgent`].
    Opened(AgentOpened),
    /// To [`Request::NextTurn`].
    Turned(crate::Turned),
    /// To [`Request::Budget`].
    Budgets(Box<crate::BudgetsReply>),
    /// To [`Request::Metrics`].
    Metrics(MetricsReply),
    /// To [`Request::IssueGrant`] and [`Request::GrantRequest`].
    Granted(crate::GrantIssued),
    /// To [`Request::Grants`].
    Grants(crate::GrantsReply),
    /// To [`Request::RevokeGrant`], [`Request::RequestDeref`] and [`Request::DenyRequest`].
    Answered(crate::Answered),
    /// To [`Request::Requests`].
    Requests(crate::RequestsReply),
    /// To [`Request::Brief`], [`Request::Pin`] and [`Request::Unpin`].
    Brief(BriefReply),
    /// To [`Request::ShowBrief`].
    Shown(Box<crate::ShownBrief>),
    /// To [`Request::Send`].
    Sent(SentReply),
    /// To [`Request::Hook`].
    Hooked(Box<crate::HookReply>),
    /// To [`Request::ValidateMessage`].
    Valid(ValidReply),
    /// To [`Request::Conflicts`].
    Conflicts(crate::ConflictsReply),
    /// To [`Request::Conflict`] and [`Request::Allow`].
    Conflict(Box<crate::Conflict>),
    /// To [`Request::Gate`].
    Gate(crate::GateReply),
    /// To [`Request::Resolve`].
    Resolved(crate::ResolveReply),
}

impl Reply {
    /// The records that it returns whole, with what is derived from their words.
    pub fn records(&mut self) -> &mut [Engram] {
        match self {
            Self::Engram(engram) => std::slice::from_mut(engram),
            Self::Query(QueryReply { engrams, .. }) => engrams,
            _ => &mut [],
        }
    }
}

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
    pub stale: Vec<crate::CheckedPointer>,
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
    #[serde(default, skip_serializing_if = "is_none")]
    pub uncounted: u64,
    /// The first of the second; 0 without files.
    pub share: f64,
    /// How many of the accepted messages were sent again after a refusal, 0 to 1.
    pub resend_rate: f64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What monitoring is told of a project (docs/design.md#what-messages-save).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsReply {
    /// Versions of claims that were stored.
    pub engram_put: u64,
    /// Queries of agents.
    pub engram_query: u64,
    /// Requests to read beyond a budget.
    pub deref_request: u64,
    /// Grants that were given.
    pub deref_grant: u64,
    /// How often a budget refused.
    pub budget_reject: u64,
    /// Tokens of messages in a turn, by role, on average.
    pub inline_tokens_per_turn: BTreeMap<String, f64>,
    /// Dereferences that a turn paid for, by role, on average.
    pub derefs_per_turn: BTreeMap<String, f64>,
    /// Claims in the list, by kind.
    pub engrams: BTreeMap<String, u64>,
    /// How many of the claims are risks that tell of a conflict, 0 to 1.
    pub contradiction_rate: f64,
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

/// The tag of what a sample consists of.
pub const SAMPLE: &str = "sample";

/// The tag of a to-do that asks whether a claim is still true: it shows the evidence in doubt, and rests
/// on none.
pub const REVERIFY: &str = "reverify";

/// Which claims of the sample were stored, or forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleReply {
    /// Each of them.
    pub ids: Vec<EngramId>,
}

/// Answer to a commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutReply {
    /// The stored version; for a repeat, the one that was there; absent where nothing was stored.
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
    /// When the version was recorded; where nothing was stored, when that was said.
    pub committed_at: Timestamp,
    /// How many open conflicts it is part of; `findings` tells the worst.
    #[serde(default)]
    pub conflicts: u64,
    /// How many comparisons are still due; absent if none. The gate is shut until they are done.
    #[serde(default, skip_serializing_if = "is_none")]
    pub due: u64,
    /// What the engine noticed; never a reason for failure.
    pub findings: Vec<Finding>,
}

impl PutReply {
    /// What is answered about a version; `seq` is 0 until it has a place in the journal.
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
        }
    }

    /// Nothing was new, so nothing was stored.
    pub fn nothing(at: Timestamp) -> Self {
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
        }
    }

    /// Whether it names a version.
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
    /// Of a conflict: what the other engram claims. It is data of somebody else, never an order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// Of a conflict: who said that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Finding {
    /// A finding that is no conflict.
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
    /// Where erased words still are, and why; empty once they are gone. What others said and quotes them is named
    /// here by its id.
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
    /// The journal entry of the promotion; that of the version where there was nothing to promote.
    pub seq: u64,
    /// How many comparisons are still due; absent if none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub due: u64,
    /// What the engine noticed; never a reason for failure.
    pub findings: Vec<Finding>,
}

/// How well a query was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The first engram is about what was asked.
    Strong,
    /// Something related was found.
    Weak,
    /// Nothing is known.
    None,
}

/// Answer to a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryReply {
    /// How well the first result answers.
    pub verdict: Verdict,
    /// Whether no engram had every term, so that some were given up.
    pub relaxed: bool,
    /// Older versions that were not searched, since there is no index; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
    /// How many more matched than were asked for, of those that were looked at; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<u64>,
    /// Best first.
    pub engrams: Vec<Engram>,
}

/// What a pointer addresses, provably.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dereferenced {
    /// The exact pointer that was used, pinned.
    pub pointer: String,
    /// The text, from its beginning, within the budget.
    pub excerpt: String,
    /// `sha256:HEX` of the bytes of the full span.
    pub content_digest: String,
    /// Tokens (o200k_base) of the excerpt.
    pub tokens: u32,
    /// Whether the excerpt ends before the span does.
    pub truncated: bool,
    /// How many credentials are masked in an agent's excerpt; absent where none is. The user's is never
    /// masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<u32>,
    /// How it has changed since it was pinned; absent if unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<crate::CheckedPointer>,
    /// What is left for the agent; absent for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The grant that paid, in place of the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

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
    /// How much of it is used: 1 is all.
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
    /// What is counted, by its name for people.
    pub fn meters(&self) -> [(&'static str, Meter); 4] {
        [
            ("tokens", self.tokens),
            ("spans", self.repo_spans),
            ("sections", self.artifact_sections),
            ("events", self.sam_items),
        ]
    }

    /// How much of the fullest meter is used: 1 is all.
    pub fn fullest(&self) -> f64 {
        let shares = self.meters().map(|(_, it)| it.share());
        shares.into_iter().fold(0.0, f64::max)
    }
}

/// An agent in its turn, and what it has spent there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// What it calls itself; display only.
    pub agent: String,
    /// What it has spent.
    pub budget: Budget,
    /// When the turn ends, unless it calls again.
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

/// What the home recorded about an agent. One that only queried is in no table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStatus {
    /// Its handle.
    #[serde(rename = "agent")]
    pub handle: AgentId,
    /// What it calls itself, as records name it; display only.
    #[serde(rename = "label")]
    pub name: String,
    /// The role that whoever opened it gave it.
    pub role: Option<String>,
    /// The agent that opened it, or for which it was opened; none is a root.
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
    /// The time of its last entry in the journal.
    pub last_call: Timestamp,
    /// What that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<OperationKind>,
    /// How many versions of claims it stored.
    pub stored: u64,
    /// What it has spent in its latest turn, of what it may.
    pub budget: Budget,
    /// Tokens of the messages that it sent there.
    pub inline_tokens: Meter,
    /// What it was permitted beyond.
    pub grants: crate::GrantCount,
    /// How often a budget refused it there.
    pub refusals: u32,
    /// When that turn ends, unless it calls again.
    pub until: Timestamp,
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

/// Answer to a note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteReply {
    /// The event.
    pub id: EventId,
    /// Its place in the journal.
    pub seq: u64,
    /// The pointer that addresses it.
    pub pointer: String,
}

/// A page of the feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedPage {
    /// The entries, in the order that was asked for. Fewer than were asked for, or none, are no
    /// sign of the end: a filter is looked for a stretch at a time.
    pub entries: Vec<Entry>,
    /// The place at which the next page begins; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// The newest place in the journal when this was read.
    pub head: u64,
    /// How many engrams hold now.
    pub engrams: u64,
    /// Versions among the entries that a newer one replaced, and that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<(EngramId, EngramId)>,
}

/// Where things stand.
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
    /// Agents that have called in this project.
    pub agents: u64,
    /// The caller's budget; absent for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Of the agents that are in a turn, the one that is nearest to a limit; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub spending: Option<Spending>,
    /// Claims whose evidence was edited or is gone in this working tree.
    #[serde(default)]
    pub drifted: u64,
    /// Conflicts that wait for a verdict; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub conflicts: Option<u64>,
    /// How many comparisons are still due; absent if none. An agent is told of those of its own claims.
    #[serde(default, skip_serializing_if = "is_none")]
    pub due: u64,
    /// Requests to read beyond a budget that wait for an answer; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub requests: Option<u64>,
    /// Why not all of the working tree is watched, or why changes by other processes are looked for instead of
    /// watched; absent if all is watched, or if nobody watches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watching: Option<String>,
    /// Where data lives; for the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// This build.
    pub version: String,
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
    /// Why it cannot be looked at; what the home holds of it is read all the same, by the user only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}
