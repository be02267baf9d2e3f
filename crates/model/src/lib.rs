//! The vocabulary of Engram as types: engrams, pointers, refusals, and the one [`Request`] that
//! every surface sends.
//!
//! Input is parsed once, here, and invalid input gets no further: a [`Draft`] is what a client
//! sent, a [`NewEngram`] is a draft that passed [`Draft::validate`].
//!
//! **Never:** no I/O, no clock, no randomness, no tokio. It builds for wasm, because the window
//! uses no other crate of Engram's core.

mod agents;
mod call;
mod change;
mod conflict;
mod connection;
mod did;
mod engram;
mod filter;
mod id;
mod limits;
mod models;
pub mod operation;
mod pointer;
mod refusal;
mod reply;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod text;
mod time;
mod words;

pub use agents::{
    ActOf, AgentAct, AgentBudget, AgentChange, AgentEdit, AgentRow, Answered, AnsweredBy, BUDGETS,
    BriefLine, BriefOf, BriefPart, BriefReply, BudgetOf, BudgetsReply, ChildMessage, ChildOutput,
    DenyAnswer, DerefRequest, GrantAnswer, GrantCount, GrantKind, GrantRecord, GrantReply,
    GrantState, GrantTold, GrantWanted, GrantsReply, Hook, HookEvent, HookReply, Message,
    MessageGrant, NextTurn, ParentMessage, RagExcerpt, RagFound, RagReply, RagResult, RequestState,
    RequestTold, RequestsReply, SamRead, SamReply, Saved, SentTo, ShownBrief, Timeline, TimelineOf,
    Turned, WhichRequests, agent_rows, handles_of_row, newest_of_rows, successor_of,
};
pub use call::Call;
pub use change::{Change, Entry};
pub use conflict::{
    Allow, Allowed, CONFLICTS_ON_PAGE, Conflict, ConflictFilter, ConflictSide, ConflictStatus,
    ConflictsReply, Gate, GateCheck, GateReply, How, Listed, Lost, MAX_CONFLICTS_ON_PAGE,
    PairAnswer, PairVerdict, RISK_POINTERS, Resolve, ResolveReply, Settle, Settled, Severity, Tier,
};
pub use connection::{
    ChangeShown, ChangedLine, Client, ConnectHint, ConnectReply, Connected, Connection, FileChange,
    FileLeft, FileShown, LineChange, shell_quoted,
};
pub use did::Did;
pub use engram::{
    Draft, Durability, Engram, EngramV01, Entity, EntityKind, EntityValue, FactType, Figures,
    HashKeys, Kind, MemoryOp, NewEngram, Place, PointerV01, Provenance, ProvenanceV01, Record,
    Scope, Sign, Source, Spelling, TodoAnswer, Ttl, check_claim, check_topic, hash_keys, holds,
    is_over, is_stop_word, literal_marks, marks, merge_marks, spellings, wire_hash_keys,
};
pub use filter::{Facets, Filter, LEAST_ID, is_on_topic};
pub use id::{AgentId, ConflictId, EngramId, EventId, LineageId, ProjectId, RunId, Secret};
pub use limits::{DerefLimits, GrantLimits, Limits, MessageLimits, RateLimits, Scopes};
pub use models::{ListedModel, ModelState, ModelTask, ModelsReply};
pub use operation::{Operation, OperationKind, Spend};
pub use pointer::{
    Anchored, Blame, BlamePart, Block, CheckReply, CheckedEngram, CheckedPointer, Class, DiffSide,
    Evidence, FoundIn, Health, Inline, LineReply, LineView, Lines, Media, MediaKind, Piece, Pin,
    Pointer, PointerEdit, PointerInput, PointerState, PointerType, Reading, Recorded, SourceLine,
    SourceReply, SourceView, SpanNow, Target,
};
pub use refusal::{Cause, Code, Cut, Figure, Refusal, Remedy};
pub use reply::{
    AgentOpened, AgentRecord, AgentStatus, AgentsReply, AnswerQuality, AskedPair, Budget, Clues,
    Delivered, Delivery, Dereferenced, FeedPage, Finding, ForgetReply, Linkable, LocateReply,
    MAX_NEAR, Meter, MetricsReply, NearClaim, NewsKind, NewsReply, NewsRow, NewsSince, NoteReply,
    Noticed, Outcome, ProjectStatus, PromoteReply, PutReply, QueryReply, REVERIFY, Reply, SAMPLE,
    SampleReply, SearchReply, SentReply, SignOfLife, Spending, StatusReply, ValidReply,
    Whereabouts,
};
pub use request::{
    Adoption, Answers, Ask, Caller, Check, Commit, Deref, Effect, Feed, Note, Opening, PinInstead,
    Pinnable, Pinning, Promote, Query, Request, Rewording, Search, SeenEvidence, Sending, Terms,
    Unpinning, Who, ask,
};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use settings::{
    Density, EditorFound, Handed, Looked, Motion, OpenedReply, Recent, Settings, Surroundings,
    Theme, Zoom,
};
pub use text::{Noun, find_unseen, fold, format_count, is_hidden, shorten, thousands, visible};
pub use time::{JournalTime, parse_past_time, parse_time};

/// The kind of the event that records a claim without evidence
/// (docs/design.md#rule-1-every-claim-points-at-its-evidence).
pub const OWN_EVENT: &str = "claim";

/// The version of the record and of the journal body that this build writes.
pub const SCHEMA_VERSION: u32 = 1;
