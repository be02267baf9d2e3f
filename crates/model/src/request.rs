//! The one [`Request`] that every surface sends. One table lists for each request who may ask it,
//! what it changes, its answer, and its MCP tool. Dispatch, the surfaces and their tests are
//! derived from the table, so a mismatch does not compile.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, AgentOpened, AgentsReply, BriefReply, Call, CheckReply, Code, Dereferenced, Draft,
    Engram, EngramId, Entry, FactType, FeedPage, Filter, ForgetReply, Kind, LineReply, LineView,
    MetricsReply, ModelsReply, NoteReply, PairVerdict, PointerInput, PromoteReply, PutReply,
    QueryReply, Refusal, Reply, SampleReply, Scope, SentReply, SourceReply, SourceView,
    StatusReply, ValidReply,
};

/// The caller. Surfaces set it from their own knowledge, never from what a client says about
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The person at the machine, through the command line or the window: sees everything,
    /// unmetered.
    User,
    /// An agent, by the handle that the engine issued.
    Agent(AgentId),
}

impl Caller {
    /// The agent; `None` for the user.
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
    /// The user and every agent. An agent sees and changes only what its handle allows.
    Anyone,
    /// The user alone.
    User,
    /// Agents alone; the user does not need it.
    Agent,
}

impl Who {
    /// Whether this caller may ask.
    pub fn may_ask(self, caller: &Caller) -> bool {
        match (self, caller) {
            (Self::Anyone, _) | (Self::User, Caller::User) | (Self::Agent, Caller::Agent(_)) => {
                true
            }
            (Self::User, Caller::Agent(_)) | (Self::Agent, Caller::User) => false,
        }
    }
}

/// What a request does to the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: the journal does not record it.
    Reads,
    /// It changes the home, and the journal records the change.
    Changes,
    /// The journal says what was read, and an agent's turn paid for it. That may take long: a large
    /// file, or an address on the network.
    Spends,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who may ask it.
    pub who: Who,
    /// What it does to the home.
    pub effect: Effect,
    /// Its MCP tool; `None` if agents are not offered one.
    pub tool: Option<&'static str>,
}

/// A request of one kind, as a type that determines its answer.
pub trait Ask: Into<Request> {
    /// The answer.
    type Answer;

    /// What the table says about it.
    const TERMS: Terms;

    /// Extracts the answer if the reply is of the right kind.
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

        /// Each request as a separate type: `engine.ask(&caller, ask::Get(id))` returns an engram.
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

        /// The functions that answer requests: one for each row of the table.
        pub trait Answers {
            $(
                $(#[doc = $doc])+
                fn $method(&self $(, $it: $payload)?) -> Result<$answer, Refusal>;
            )+

            /// Answers any request.
            fn answer(&self, request: Request) -> Result<Reply, Refusal> {
                match request {
                    $(Request::$name $(($it))? => self.$method($($it)?).map(Reply::$reply),)+
                }
            }
        }

        impl Request {
            /// The table, in its order.
            pub const TABLE: &[Terms] = &[$(ask::$name::TERMS),+];

            /// Its row of the table.
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
    /// Store one engram. If it has no pointer, or describes its evidence in words, its pointer
    /// addresses an event, recorded with it, that says it was claimed.
    commit: Commit(commit: Box<crate::Commit>) -> Put(PutReply), Anyone Changes = "engram_commit";
    /// Return one record.
    get: Get(id: EngramId) -> Engram(Box<Engram>), Anyone Reads;
    /// The history of a claim: what was done to it, its versions, and the to-dos that ask about it,
    /// newest first.
    log: Log(id: EngramId) -> Log(Vec<Entry>), Anyone Reads;
    /// Make an ended version hold again, as a new version of its lineage.
    restore: Restore(id: EngramId) -> Put(PutReply), User Changes;
    /// Close a claim's window.
    forget: Forget(id: EngramId) -> Closed(ForgetReply), Anyone Changes;
    /// Erase the words of a claim or a note for good, with everything that only it needs.
    redact: Redact(id: EngramId) -> Closed(ForgetReply), User Changes;
    /// Make an ephemeral claim durable, or give a claim a wider scope.
    promote: Promote(promote: crate::Promote) -> Promoted(PromoteReply), Anyone Changes = "engram_promote";
    /// Find claims.
    query: Query(query: crate::Query) -> Query(QueryReply), Anyone Reads = "engram_query";
    /// Fetch what a pointer addresses.
    deref: Deref(deref: crate::Deref) -> Deref(Box<Dereferenced>), Anyone Spends = "engram_deref";
    /// Record an event.
    note: Note(note: crate::Note) -> Note(NoteReply), Anyone Changes;
    /// A page of the feed.
    feed: Feed(feed: crate::Feed) -> Feed(FeedPage), Anyone Reads;
    /// How many engrams of the feed each value of a filter would leave.
    facets: Facets(filter: Filter) -> Facets(Box<crate::Facets>), User Reads;
    /// Search the claims of the feed for words, best first.
    search: Search(search: crate::Search) -> Search(Box<crate::SearchReply>), User Reads;
    /// The user's view of a pointed source, with its surroundings.
    source: Source(view: SourceView) -> Source(Box<SourceReply>), User Reads;
    /// A part of a line that is too long to be shown with the others.
    line: Line(view: LineView) -> Line(LineReply), User Reads;
    /// Check where the evidence of the holding claims is now.
    check_pointers: CheckPointers(check: Check) -> Checked(CheckReply), Anyone Reads;
    /// Store a new version of a claim, with pointers to where its evidence is at the current
    /// commit.
    repin: Repin(id: EngramId) -> Put(PutReply), Anyone Changes;
    /// Store the user's wording of a claim as its new version, pointed at the lines that the user
    /// saw.
    reword: Reword(rewording: Box<crate::Rewording>) -> Put(PutReply), User Changes;
    /// Store a to-do for agents: find out whether a claim whose evidence changed still holds.
    reverify: Reverify(id: EngramId) -> Put(PutReply), Anyone Changes;
    /// Store a few sample claims that the repository's own history proves.
    load_sample: LoadSample -> Sample(SampleReply), User Changes;
    /// Forget the sample claims that still hold.
    remove_sample: RemoveSample -> Sample(SampleReply), User Changes;
    /// Compare the working tree now with what a pointer was pinned to.
    standing: Standing(pointer: PointerInput) -> Standing(Box<crate::SpanNow>), User Reads;
    /// Find the lines of a pointer in the working tree now; without a path if they are gone.
    track: Track(pointer: PointerInput) -> Tracked(Box<crate::CheckedPointer>), User Reads;
    /// Complete a pointer that the user types: files of the commit that is checked out, and the
    /// names in a file that `test:` resolves.
    complete: Complete(typed: String) -> Completions(Vec<String>), User Reads;
    /// Find out who wrote the lines that a pointer addresses.
    blame: Blame(pointer: PointerInput) -> Blame(crate::Blame), User Reads;
    /// Find the repository of this home that an id, a remote or a commit belongs to.
    locate: Locate(clues: crate::Clues) -> Located(crate::LocateReply), User Reads;
    /// List what is new in all repositories of this home.
    news: News(since: crate::NewsSince) -> News(Box<crate::NewsReply>), User Reads;
    /// Choose the memory for a repository that is a copy, or whose git folder belongs to another.
    adopt: Adopt(how: Adoption) -> Status(Box<StatusReply>), User Changes;
    /// List conflicts: claims that cannot both hold.
    conflicts: Conflicts(filter: crate::ConflictFilter) -> Conflicts(crate::ConflictsReply), Anyone Reads = "engram_conflicts";
    /// Return one conflict.
    conflict: Conflict(id: crate::ConflictId) -> Conflict(Box<crate::Conflict>), Anyone Reads;
    /// Check whether open conflicts block CI.
    gate: Gate(check: crate::GateCheck) -> Gate(crate::GateReply), Anyone Reads;
    /// Settle a conflict, or undo a verdict.
    resolve: Resolve(resolve: Box<crate::Resolve>) -> Resolved(crate::ResolveReply), Anyone Changes = "engram_resolve";
    /// Ask the language model that the user chose how the sides of a conflict relate.
    explain: Explain(id: crate::ConflictId) -> Conflict(Box<crate::Conflict>), User Changes;
    /// Let an open conflict pass the gate.
    allow: Allow(allow: crate::Allow) -> Conflict(Box<crate::Conflict>), User Changes;
    /// Report the state of the home and the project.
    status: Status -> Status(Box<StatusReply>), Anyone Reads = "engram_status";
    /// List the agents of this project, most recent call first.
    agents: Agents -> Agents(Box<AgentsReply>), User Reads;
    /// Open an agent with its own token. A known agent gets a new token.
    open_agent: OpenAgent(opening: Opening) -> Opened(AgentOpened), Anyone Changes;
    /// Rename, hide, show or close an agent.
    change_agent: ChangeAgent(change: crate::AgentChange) -> Answered(crate::Answered), User Changes;
    /// Begin another turn of an agent; only its parent or the user may.
    next_turn: NextTurn(next: crate::NextTurn) -> Turned(crate::Turned), Anyone Changes;
    /// Report what agents have spent of their turns: the user sees all, an agent itself and its
    /// children.
    budget: Budget(of: crate::BudgetOf) -> Budgets(Box<crate::BudgetsReply>), Anyone Reads;
    /// List what an agent did, and estimate what its pointers saved.
    timeline: Timeline(of: crate::TimelineOf) -> Timeline(Box<crate::Timeline>), User Reads;
    /// Report counts and averages of this project for monitoring.
    metrics: Metrics -> Metrics(MetricsReply), User Reads;
    /// The models that judge possible conflicts.
    models: Models -> Models(ModelsReply), User Reads;
    /// Grant an agent one read, or inline code, beyond its budget; only its parent or the user may.
    issue_grant: IssueGrant(wanted: crate::GrantWanted) -> Granted(crate::GrantReply), Anyone Changes;
    /// List grants: the user sees all, an agent those that it got and gave.
    grants: Grants -> Grants(crate::GrantsReply), Anyone Reads;
    /// Take back a grant that is still open.
    revoke_grant: RevokeGrant(id: String) -> Answered(crate::Answered), Anyone Changes;
    /// Ask to read beyond the budget; the parent or the user answers.
    request_deref: RequestDeref(wanted: Box<crate::DerefRequest>) -> Answered(crate::Answered), Agent Changes;
    /// List requests: the user sees all, an agent its own and its children's.
    requests: Requests(which: crate::WhichRequests) -> Requests(crate::RequestsReply), Anyone Reads;
    /// Grant a request.
    grant_request: GrantRequest(answer: crate::GrantAnswer) -> Granted(crate::GrantReply), Anyone Changes;
    /// Deny a request.
    deny_request: DenyRequest(answer: crate::DenyAnswer) -> Answered(crate::Answered), Anyone Changes;
    /// Return the shared brief: what matters now, for the caller and the agents below it.
    brief: Brief -> Brief(BriefReply), Anyone Reads;
    /// Show the user an agent's brief. It does not count as shown to the agent.
    show_brief: ShowBrief(of: crate::BriefOf) -> Shown(Box<crate::ShownBrief>), User Reads;
    /// Pin a claim or a line to the brief; returns the brief.
    pin: Pin(what: Pinning) -> Brief(BriefReply), Anyone Changes;
    /// Unpin a line of the brief; returns the brief.
    unpin: Unpin(what: Unpinning) -> Brief(BriefReply), Anyone Changes;
    /// Send a message from a child to its parent, or from a parent to its children.
    send: Send(sending: Sending) -> Sent(SentReply), Anyone Changes;
    /// Take what an orchestrator reports on its own initiative, for the calling agent or its child.
    hook: Hook(hook: Box<crate::Hook>) -> Hooked(Box<crate::HookReply>), Anyone Changes;
    /// Check one message (docs/design.md#messages) against its contract; stores nothing. A string
    /// is a message as written, in JSON or in the text form.
    validate_message: ValidateMessage(message: serde_json::Value) -> Valid(ValidReply), Anyone Reads;
}

impl Request {
    /// Whether the journal records it.
    pub fn changes(&self) -> bool {
        self.terms().effect != Effect::Reads
    }

    /// Refuses a request that came through the wrong call: reading and changing have separate
    /// permissions.
    pub fn refuse_wrong_call(&self, call: Call) -> Result<(), Refusal> {
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

/// A claim as an agent makes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The claim, with its pointers, if it has any.
    pub draft: Draft,
    /// Its evidence in words, if the evidence is not a pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What its author says of claims of others that it was shown before: by their ids, or by the
    /// keys under which the reply to an earlier commit showed them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<String, PairVerdict>,
}

/// The user's correction of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewording {
    /// The version that the user read.
    pub id: EngramId,
    /// The new words.
    pub claim: String,
    /// The evidence that was edited or deleted, as the user saw it. If any of it is pinned again, so is
    /// evidence whose text is unchanged; all other evidence keeps its pin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenEvidence>,
    /// The pointers, as stored, that do not show the new words, which the new version leaves out; at
    /// least one must stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
}

/// Evidence that was edited or deleted, as the user saw it in the working tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenEvidence {
    /// The pointer, as stored.
    pub pointer: String,
    /// The digest of its lines in the working tree; none if they were gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A claim to promote: to make durable, or to give a wider scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promote {
    /// Its lineage, or a version of it.
    pub id: EngramId,
    /// Who may see it from now on; if absent, it becomes durable.
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
    /// Its parent; absent for a root. An agent opens only its own children, and leaves this out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// The topics that it may read; if empty, its parent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The topics that it may write; if empty, its parent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// The message (docs/design.md#messages). A string is a message as written, in JSON or in the
    /// text form.
    pub message: serde_json::Value,
    /// The child that a parent's message is for; if absent, all children of its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentId>,
}

/// What to pin to the brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pinning {
    /// The claim with this version, always shown in its newest version.
    Engram(EngramId),
    /// One line of text.
    Text(String),
    /// Either, in the place of another pin.
    Instead(PinInstead),
}

/// What to pin in the place of another pin, which ends, unless it was already unpinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinInstead {
    /// The id of the other pin, as shown with its line.
    pub pin: u64,
    /// What to pin.
    pub what: Pinnable,
}

/// What can be pinned as a line of the brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pinnable {
    /// The claim with this version.
    Engram(EngramId),
    /// One line of text.
    Text(String),
}

/// What to unpin from the brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Unpinning {
    /// The line that is now at this number, counted from 1.
    Line(usize),
    /// The pin with this id, wherever its line is, and even if the brief has no room for it.
    Pin {
        /// The id, as shown with the line.
        pin: u64,
    },
}

/// Which memory a copy uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adoption {
    /// Its own memory, which begins empty.
    Own,
    /// The memory of the original.
    Shared,
}

/// Selects whose evidence to check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// A revision: check only claims that the work since then touches, against the files on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Refuse if nothing can be checked, so that a job does not pass for lack of data.
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
    /// Instead of words: the nearest to this embedding, as an answer's `embedding_ref` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_ref: Option<String>,
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
    /// An explicit turn; if absent, the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// A grant beyond the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_token: Option<String>,
    /// Why it is needed: if the budget refuses the read, the refusal becomes a request to the
    /// parent or the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An event to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// `decision`, `preference`, `note`, ...
    pub kind: String,
    /// A name that a `sam:` pointer can use.
    pub slug: String,
    /// The text of the event.
    pub text: String,
    /// Who is speaking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Selects a part of the feed.
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
    /// List the engrams by [`crate::Engram::list_place`] instead of `seq`, with only the last
    /// version at each place. A filter always implies this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
    /// Only engrams that match, and no other entries; an empty filter returns everything.
    #[serde(skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
}

/// A search of the feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Which engrams to search. Its text is a question, not words that must all appear.
    pub filter: Filter,
    /// Most engrams to return; 200 when absent, and at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}
