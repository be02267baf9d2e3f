//! The one [`Reply`] that every surface gets. The request determines its variant.

mod agents;
mod claims;
mod everywhere;
mod messages;
mod reading;
mod status;

use serde::{Deserialize, Serialize};

use crate::{
    Answered, Blame, BriefReply, BudgetsReply, CheckReply, CheckedPointer, Conflict,
    ConflictsReply, Engram, Entry, Facets, GateReply, GrantReply, GrantsReply, HookReply,
    LineReply, RequestsReply, ResolveReply, ShownBrief, SourceReply, SpanNow, Turned,
};

pub use agents::*;
pub use claims::*;
pub use everywhere::*;
pub use messages::*;
pub use reading::*;
pub use status::*;

/// What the engine answers. The request determines the variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", content = "with", rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Put`], [`Request::Commit`], [`Request::Repin`], [`Request::Reword`] and
    /// [`Request::Reverify`].
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
    /// To [`Request::Search`].
    Search(Box<SearchReply>),
    /// To [`Request::Log`].
    Log(Vec<Entry>),
    /// To [`Request::Track`].
    Tracked(Box<CheckedPointer>),
    /// To [`Request::Source`].
    Source(Box<SourceReply>),
    /// To [`Request::Line`].
    Line(LineReply),
    /// To [`Request::LoadSample`] and [`Request::RemoveSample`].
    Sample(SampleReply),
    /// To [`Request::CheckPointers`].
    Checked(CheckReply),
    /// To [`Request::Standing`].
    Standing(Box<SpanNow>),
    /// To [`Request::Complete`].
    Completions(Vec<String>),
    /// To [`Request::Blame`].
    Blame(Blame),
    /// To [`Request::Status`].
    Status(Box<StatusReply>),
    /// To [`Request::Agents`].
    Agents(Box<AgentsReply>),
    /// To [`Request::OpenAgent`].
    Opened(AgentOpened),
    /// To [`Request::NextTurn`].
    Turned(Turned),
    /// To [`Request::Budget`].
    Budgets(Box<BudgetsReply>),
    /// To [`Request::Timeline`].
    Timeline(Box<crate::Timeline>),
    /// To [`Request::Metrics`].
    Metrics(MetricsReply),
    /// To [`Request::Models`].
    Models(crate::ModelsReply),
    /// To [`Request::IssueGrant`] and [`Request::GrantRequest`].
    Granted(GrantReply),
    /// To [`Request::Grants`].
    Grants(GrantsReply),
    /// To [`Request::RevokeGrant`], [`Request::RequestDeref`], [`Request::DenyRequest`] and
    /// [`Request::ChangeAgent`].
    Answered(Answered),
    /// To [`Request::Requests`].
    Requests(RequestsReply),
    /// To [`Request::Brief`], [`Request::Pin`] and [`Request::Unpin`].
    Brief(BriefReply),
    /// To [`Request::ShowBrief`].
    Shown(Box<ShownBrief>),
    /// To [`Request::Send`].
    Sent(SentReply),
    /// To [`Request::Hook`].
    Hooked(Box<HookReply>),
    /// To [`Request::ValidateMessage`].
    Valid(ValidReply),
    /// To [`Request::Conflicts`].
    Conflicts(ConflictsReply),
    /// To [`Request::Conflict`] and [`Request::Allow`].
    Conflict(Box<Conflict>),
    /// To [`Request::Gate`].
    Gate(GateReply),
    /// To [`Request::Resolve`].
    Resolved(ResolveReply),
    /// To [`Request::Locate`].
    Located(LocateReply),
    /// To [`Request::News`].
    News(Box<NewsReply>),
}

impl Reply {
    /// The records that the reply contains in full, with the fields derived from their words.
    pub fn records(&mut self) -> &mut [Engram] {
        match self {
            Self::Engram(engram) => std::slice::from_mut(engram),
            Self::Query(QueryReply { engrams, .. }) => engrams,
            _ => &mut [],
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
