//! The one [`Request`] that every surface sends. One table says of each who may ask it, what it
//! changes, what answers it, and which MCP tool offers it. Dispatch, the surfaces and their tests
//! follow from the table, so that what does not match does not compile.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, AgentOpened, AgentsReply, BriefReply, Call, CheckReply, Code, Dereferenced, Draft,
    Engram, EngramId, Entry, FactType, FeedPage, Filter, ForgetReply, Kind, LineReply, LineView,
    MetricsReply, NoteReply, PointerInput, PromoteReply, PutReply, QueryReply, Refusal, Reply,
    SampleReply, Scope, SentReply, SourceReply, SourceView, StatusReply, ValidReply,
};

/// Who is asking. Surfaces set it from what they know, never from what a client says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The person at the machine, by command line or window: sees all, unmetered.
    User,
    /// An agent, by the handle that the engine issued.
    Agent(AgentId),
}

impl Caller {
    /// The agent; none for the user.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::User => None,
            Self::Agent(agent) => Some(agent),
        }
    }
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The user and every agent; an agent sees and changes what its handle allows.
    Anyone,
    /// The user alone.
    User,
    /// Agents alone; the user has no need of it.
    Agent,
}

impl Who {
    /// Whether this caller may ask.
    pub fn is(self, caller: &Caller) -> bool {
        match (self, caller) {
            (Self::Anyone, _) | (Self::User, Caller::User) | (Self::Agent, Caller::Agent(_)) => {
                true
            }
            (Self::User, Caller::Agent(_)) | (Self::Agent, Caller::User) => false,
        }
    }
}

/// What asking does to the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: the journal knows nothing of it afterwards.
    Reads,
    /// The journal says what was changed.
    Changes,
    /// The journal says what was read, and an agent's turn paid for it. That may take long: a large
    /// file, or an address on the network.
    Spends,
}

/// What the table says of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who may ask it.
    pub who: Who,
    /// What it does to the home.
    pub effect: Effect,
    /// The MCP tool that is this request; none where agents are not offered it.
    pub tool: Option<&'static str>,
}

/// A request of one kind, as a type that knows its answer.
pub trait Ask: Into<Request> {
    /// What comes back.
    type Answer;

    /// What the table says of it.
    const TERMS: Terms;

    /// That answer, where the reply is of its kind.
    fn answer(reply: Reply) -> Option<Self::Answer>;
}

macro_rules! requests {
    ($(
        $(#[doc = $doc:literal])+
        $method:ident: $name:ident $(($it:ident: $payload:ty))? -> $reply:ident($answer:ty),
            $who:ident $effect:ident $(= $tool:literal)?;
    )+) => {
        /// Everything that can be asked of the engine.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "do", content = "with", rename_all = "snake_case")]
        pub enum Request {
            $($(#[doc = $doc])+ $name $(($payload))?,)+
        }

        /// Each request as a type of its own: `engine.ask(&caller, ask::Get(id))` is an engram.
        pub mod ask {
            use super::*;

            $(
                $(#[doc = $doc])+
                #[derive(Clone, Debug)]
                pub struct $name $((pub $payload))?;

                impl From<$name> for Request {
                    #[allow(unused_variables)]
                    fn from(ask: $name) -> Self {
                        $(let $name($it) = ask;)?
                        Self::$name $(($it))?
                    }
                }

                impl Ask for $name {
                    type Answer = $answer;

                    const TERMS: Terms = Terms {
                        name: stringify!($method),
                        who: Who::$who,
                        effect: Effect::$effect,
                        tool: requests!(@tool $($tool)?),
                    };

                    fn answer(reply: Reply) -> Option<$answer> {
                        match reply {
                            Reply::$reply(answer) => Some(answer),
                            _ => None,
                        }
                    }
                }
            )+
        }

        /// What answers requests: one function for each row of the table.
        pub trait Answers {
            $(
                $(#[doc = $doc])+
                fn $method(&self $(, $it: $payload)?) -> Result<$answer, Refusal>;
            )+

            /// Answers any of them.
            fn answer(&self, request: Request) -> Result<Reply, Refusal> {
                match request {
                    $(Request::$name $(($it))? => self.$method($($it)?).map(Reply::$reply),)+
                }
            }
        }

        impl Request {
            /// The table, in its order.
            pub const TABLE: &[Terms] = &[$(ask::$name::TERMS),+];

            /// What the table says of it.
            pub fn terms(&self) -> Terms {
                match self {
                    $(Self::$name { .. } => ask::$name::TERMS,)+
                }
            }
        }
    };
    (@tool) => { None };
    (@tool $tool:literal) => { Some($tool) };
}

requests! {
    /// Store one engram.
    put: Put(draft: Box<Draft>) -> Put(PutReply), Anyone Changes;
    /// Store one engram; without a pointer, or with its evidence in words, it points at the event of
    /// saying so, which is recorded with it.
    commit: Commit(commit: Box<crate::Commit>) -> Put(PutReply), Anyone Changes = "engram_commit";
    /// One record.
    get: Get(id: EngramId) -> Engram(Box<Engram>), Anyone Reads;
    /// What was done to a claim, its versions, and the to-dos that ask about it, newest first.
    log: Log(id: EngramId) -> Log(Vec<Entry>), Anyone Reads;
    /// Make a version that no longer holds hold again, as a new one of its lineage.
    restore: Restore(id: EngramId) -> Put(PutReply), User Changes;
    /// Close a claim's window.
    forget: Forget(id: EngramId) -> Closed(ForgetReply), Anyone Changes;
    /// Erase the words of a claim or a note for good, with what nothing else needs of it.
    redact: Redact(id: EngramId) -> Closed(ForgetReply), User Changes;
    /// Make an ephemeral claim durable.
    promote: Promote(promote: crate::Promote) -> Promoted(PromoteReply), Anyone Changes = "engram_promote";
    /// Find claims.
    query: Query(query: crate::Query) -> Query(QueryReply), Anyone Reads = "engram_query";
    /// Fetch what a pointer addresses.
    deref: Deref(deref: crate::Deref) -> Deref(Box<Dereferenced>), Anyone Spends = "engram_deref";
    /// Append an event to the episodic plane.
    note: Note(note: crate::Note) -> Note(NoteReply), Anyone Changes;
    /// A page of the feed.
    feed: Feed(feed: crate::Feed) -> Feed(FeedPage), Anyone Reads;
    /// How many engrams of the feed each value of a filter would leave.
    facets: Facets(filter: Filter) -> Facets(Box<crate::Facets>), User Reads;
    /// The user's view of a pointed source, with its surroundings.
    source: Source(view: SourceView) -> Source(Box<SourceReply>), User Reads;
    /// A part of a line that is too long to be shown with the others.
    line: Line(view: LineView) -> Line(LineReply), User Reads;
    /// Where the evidence of the claims that hold is now.
    check_pointers: CheckPointers(check: Check) -> Checked(CheckReply), Anyone Reads;
    /// A new version of a claim whose pointers are where its evidence is at the current commit.
    repin: Repin(id: EngramId) -> Put(PutReply), Anyone Changes;
    /// A todo for agents: to find out whether a claim whose evidence changed still holds.
    reverify: Reverify(id: EngramId) -> Put(PutReply), Anyone Changes;
    /// Store a few claims that the repository's own history proves, to look around in.
    load_sample: LoadSample -> Sample(SampleReply), User Changes;
    /// Forget those that still hold.
    remove_sample: RemoveSample -> Sample(SampleReply), User Changes;
    /// How the working tree reads now where a pointer was pinned.
    standing: Standing(pointer: PointerInput) -> Standing(Box<crate::Standing>), User Reads;
    /// Where the lines of a pointer are in the working tree now; without a path where they are gone.
    track: Track(pointer: PointerInput) -> Tracked(Box<crate::CheckedPointer>), User Reads;
    /// Who wrote the lines that a pointer addresses.
    blame: Blame(pointer: PointerInput) -> Blame(crate::Blame), User Reads;
    /// Whose memory a repository uses that is a copy of another, or whose git folder is another's.
    adopt: Adopt(how: Adoption) -> Status(Box<StatusReply>), User Changes;
    /// Conflicts: claims that cannot both hold.
    conflicts: Conflicts(filter: crate::ConflictFilter) -> Conflicts(crate::ConflictsReply), Anyone Reads = "engram_conflicts";
    /// One of them.
    conflict: Conflict(id: crate::ConflictId) -> Conflict(Box<crate::Conflict>), Anyone Reads;
    /// Whether open conflicts block CI.
    gate: Gate(check: crate::GateCheck) -> Gate(crate::GateReply), Anyone Reads;
    /// Settle a conflict, or undo a verdict.
    resolve: Resolve(resolve: Box<crate::Resolve>) -> Resolved(crate::ResolveReply), Anyone Changes = "engram_resolve";
    /// Let an open conflict pass the gate.
    allow: Allow(allow: crate::Allow) -> Conflict(Box<crate::Conflict>), User Changes;
    /// Where things stand.
    status: Status -> Status(Box<StatusReply>), Anyone Reads = "engram_status";
    /// The agents of this project, most recent call first.
    agents: Agents -> Agents(Box<AgentsReply>), User Reads;
    /// Open an agent with a token of its own; one that is known gets a new token.
    open_agent: OpenAgent(opening: Opening) -> Opened(AgentOpened), Anyone Changes;
    /// Begin another turn of an agent: its parent or the user.
    next_turn: NextTurn(next: crate::NextTurn) -> Turned(crate::Turned), Anyone Changes;
    /// What agents have spent of their turns: all for the user, an agent's own and its children's.
    budget: Budget(of: crate::BudgetOf) -> Budgets(Box<crate::BudgetsReply>), Anyone Reads;
    /// What monitoring asks: counts and averages of this project.
    metrics: Metrics -> Metrics(MetricsReply), User Reads;
    /// Permit an agent one read, or inline code, beyond its budget: for its parent or the user.
    issue_grant: IssueGrant(wanted: crate::GrantWanted) -> Granted(crate::GrantIssued), Anyone Changes;
    /// Grants: all for the user; what an agent got and gave.
    grants: Grants -> Grants(crate::GrantsReply), Anyone Reads;
    /// Take a grant back that is still open.
    revoke_grant: RevokeGrant(id: String) -> Answered(crate::Answered), Anyone Changes;
    /// Ask to read beyond the budget; the parent or the user answers.
    request_deref: RequestDeref(wanted: Box<crate::DerefRequest>) -> Answered(crate::Answered), Agent Changes;
    /// Requests: all for the user; an agent's own and its children's.
    requests: Requests(which: crate::WhichRequests) -> Requests(crate::RequestsReply), Anyone Reads;
    /// Grant what was requested.
    grant_request: GrantRequest(answer: crate::GrantAnswer) -> Granted(crate::GrantIssued), Anyone Changes;
    /// Deny what was requested.
    deny_request: DenyRequest(answer: crate::DenyAnswer) -> Answered(crate::Answered), Anyone Changes;
    /// The shared brief: what matters now, for whoever asks and the agents below.
    brief: Brief -> Brief(BriefReply), Anyone Reads;
    /// The brief as an agent gets it, for the user to look at: nobody is served by that.
    show_brief: ShowBrief(of: crate::BriefOf) -> Shown(Box<crate::ShownBrief>), User Reads;
    /// Pin a claim or a line to the brief; returns the brief.
    pin: Pin(what: Pinning) -> Brief(BriefReply), Anyone Changes;
    /// Unpin a line of the brief; returns the brief.
    unpin: Unpin(what: Unpinning) -> Brief(BriefReply), Anyone Changes;
    /// Send a message: a child's to its parent, or a parent's to its children.
    send: Send(sending: Sending) -> Sent(SentReply), Anyone Changes;
    /// What an orchestrator passes on of its own accord, in the name of the agent that calls or its child.
    hook: Hook(hook: Box<crate::Hook>) -> Hooked(Box<crate::HookReply>), Anyone Changes;
    /// Check one message (docs/design.md#messages) against its contract; stores nothing. A string is a message as
    /// it was written, as JSON or in the text form.
    validate_message: ValidateMessage(message: serde_json::Value) -> Valid(ValidReply), Anyone Reads;
}

impl Request {
    /// Whether the journal knows of it afterwards.
    pub fn changes(&self) -> bool {
        self.terms().effect != Effect::Reads
    }

    /// Refuses a request sent by the wrong call: reading and changing have separate permissions.
    pub fn sent_by(&self, call: Call) -> Result<(), Refusal> {
        let (right, does) = if self.changes() {
            (Call::Change, "changes something")
        } else {
            (Call::Read, "changes nothing")
        };
        if call == right {
            Ok(())
        } else {
            Err(Refusal::new(
                Code::SchemaInvalid,
                format!("this request {does}"),
                format!("Send it with {} instead.", right.name()),
            ))
        }
    }
}

/// A claim as an agent says it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The claim, with its pointers, if there are any.
    pub draft: Draft,
    /// Its evidence in words, if that is not a pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// A claim that is to reach further, in time or in scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promote {
    /// A version of it, or its lineage.
    pub id: EngramId,
    /// Who may see it from now on; without, it becomes durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// An agent to be opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// What it is called.
    pub name: String,
    /// Its role, a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its parent; a root without one. An agent opens its own children, and names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// The topics that it may read; its parent's without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The topics that it may write; its parent's without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// The message (docs/design.md#messages); a string is one as it was written, as JSON or in the text form.
    pub message: serde_json::Value,
    /// The child that a parent's message is for; all children of its role without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentId>,
}

/// What to pin to the brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pinning {
    /// The claim that has this version, in its newest one.
    Engram(EngramId),
    /// One line of text.
    Text(String),
}

/// What to unpin from the brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Unpinning {
    /// The line that is there now, counted from 1.
    Line(usize),
    /// The line that has this id, wherever it stands, and even where the brief has no room for it.
    Pin {
        /// As the line says it.
        pin: u64,
    },
}

/// Whose memory a copy uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adoption {
    /// One of its own, which begins empty.
    Own,
    /// That of the original.
    Shared,
}

/// Whose evidence to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// A revision: only claims that the work since then touches, compared with what is on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Refuse where nothing can be checked: a job must not pass for that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gate: bool,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// What to search for.
    pub text: String,
    /// Most engrams to return; 10 when absent, at most 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Only this scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Only this topic and those below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Only this fact type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact_type: Option<FactType>,
    /// What was known at this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    /// Ephemeral engrams too.
    pub include_ephemeral: bool,
}

/// A dereference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deref {
    /// What to fetch.
    pub pointer: PointerInput,
    /// Most tokens of excerpt wanted; what is left of the turn's budget when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// An explicit turn; else the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// A grant beyond the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_token: Option<String>,
}

/// An event for the episodic plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// `decision`, `preference`, `note`, ...
    pub kind: String,
    /// A name that a `sam:` pointer can use.
    pub slug: String,
    /// What happened.
    pub text: String,
    /// Who is speaking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Which part of the feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Feed {
    /// Only entries before this one (older), newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Only entries after this one (newer), oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Most entries to return; 100 when absent, at least 1, at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Every kind of entry, not only engrams.
    pub all: bool,
    /// The engrams in the order of a list: by [`crate::Engram::placed`] instead of `seq`, and only the
    /// last version at each place. Always so with a filter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Only engrams like these, and no other entries; everything when it asks nothing.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
}
