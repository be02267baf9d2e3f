//! The words of Engram as types: engrams, pointers, refusals, and the one [`Request`]
//! that every surface sends.
//!
//! Input is parsed once, here, and invalid input cannot exist past that: a [`Draft`] is what
//! somebody sent, a [`NewEngram`] is what survived [`Draft::validate`].
//!
//! **Never:** no I/O, no clock, no randomness, no tokio. Builds for wasm, because the window
//! sees nothing but this crate.

mod brief;
mod call;
mod change;
mod conflict;
mod connection;
mod did;
mod engram;
mod entity;
mod filter;
mod grant;
mod hash_keys;
mod health;
mod hook;
mod id;
mod limits;
mod message;
pub mod operation;
mod permission;
mod pointer;
mod refusal;
mod reply;
mod request;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod source;
mod text;
mod time;
mod ttl;
mod wire;

pub use brief::{BriefLine, BriefOf, BriefPart, BriefReply, ShownBrief};
pub use call::Call;
pub use change::{Change, Entry};
pub use conflict::{
    Allow, Allowed, Conflict, ConflictFilter, ConflictSide, ConflictStatus, ConflictsReply, Gate,
    GateCheck, GateReply, How, Listed, Lost, RISK_POINTERS, Resolve, ResolveReply, Settle, Settled,
    Severity, Tier,
};
pub use connection::{
    AdviceShown, ChangeShown, ChangedLine, Client, ConnectHint, ConnectReply, Connected,
    Connection, FileChange, FileShown, LineChange, quoted,
};
pub use did::Did;
pub use engram::{
    Draft, Durability, Engram, FactType, Figures, Kind, MemoryOp, NewEngram, Place, Provenance,
    Record, Scope, Source, check_claim, check_topic, holds, is_over,
};
pub use entity::{Entity, EntityKind, EntityValue};
pub use filter::{Facets, Filter, is_on_topic};
pub use grant::{GrantState, Granted, IssuedGrant};
pub use hash_keys::{HashKeys, Sign, Spelling, concept_keys, hash_keys, spellings, wire_hash_keys};
pub use health::{Anchored, CheckReply, CheckedEngram, CheckedPointer, Evidence, Health};
pub use hook::{
    Hook, HookEvent, HookReply, RagExcerpt, RagFound, RagReply, RagResult, SamRead, SamReply,
};
pub use id::{AgentId, ConflictId, EngramId, EventId, LineageId, ProjectId, RunId, Secret};
pub use limits::{DerefLimits, GrantLimits, Limits, MessageLimits, RateLimits, Scopes};
pub use message::{
    BUDGETS, ChildMessage, ChildOutput, DerefRequest, Grant, Message, ParentMessage,
};
pub use operation::{Operation, OperationKind, Spend};
pub use permission::{
    AgentBudget, Answered, AnsweredBy, BudgetOf, BudgetsReply, Cost, CostOf, DenyAnswer,
    GrantAnswer, GrantCount, GrantIssued, GrantTold, GrantWanted, GrantsReply, NextTurn,
    RequestState, RequestTold, RequestsReply, Turned, WhichRequests,
};
pub use pointer::{Lines, Pin, Pointer, PointerInput, PointerType, Target};
pub use refusal::{Cause, Code, Cut, Figure, Refusal, Remedy};
pub use reply::{
    AgentOpened, AgentStatus, AgentsReply, Budget, Delivered, Delivery, Dereferenced, FeedPage,
    Finding, ForgetReply, Meter, MetricsReply, NoteReply, Noticed, Outcome, ProjectStatus,
    PromoteReply, PutReply, QueryReply, REVERIFY, Reply, SAMPLE, SampleReply, SentReply, Spending,
    StatusReply, ValidReply, Verdict,
};
pub use request::{
    Adoption, Answers, Ask, Caller, Check, Commit, Deref, Effect, Feed, Note, Opening, Pinning,
    Promote, Query, Request, Sending, Terms, Unpinning, Who, ask,
};
#[cfg(feature = "schema")]
pub use schema::schemas;
pub use settings::{
    Density, EditorFound, Handed, Looked, Motion, OpenedReply, Recent, Settings, Surroundings,
    Theme, Zoom,
};
pub use source::{
    Blame, BlamePart, Block, Class, FoundIn, Inline, LineReply, LineView, Media, MediaKind, Piece,
    Reading, Recorded, Side, SourceLine, SourceReply, SourceView, Standing,
};
pub use text::{Noun, count, fold, is_hidden, shorten, thousands, unseen, visible};
pub use time::{JournalTime, parse_time};
pub use ttl::Ttl;
pub use wire::{EngramV01, PointerV01, ProvenanceV01};

/// Kind of the event that records a claim which came without evidence
/// (docs/design.md#rule-1-every-claim-points-at-its-evidence).
pub const OWN_EVENT: &str = "claim";

/// Version of the record and journal body written by this build.
pub const SCHEMA_VERSION: u32 = 1;
