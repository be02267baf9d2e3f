//! What an orchestrator reports on its own initiative (docs/design.md#hooks). An agent reports for
//! itself or a child, the user for any agent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentId, EngramV01, Scope, SentReply, Ttl};

/// Something that happened to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// The agent that it happened to; the caller if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// What happened.
    pub event: HookEvent,
}

/// The things that can happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    /// A child responded: its message is sent to its parent.
    ChildResponse(Value),
    /// A parent tells its children something: its message is sent, with the additions of the brief.
    ParentBroadcast(Value),
    /// Retrieval over the repository found something.
    RagResult(RagResult),
    /// An agent reads an event.
    SamRead(SamRead),
}

/// What retrieval found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RagResult {
    /// What was asked.
    pub question: String,
    /// The best first.
    pub results: Vec<RagFound>,
}

/// One result of retrieval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RagFound {
    /// The file, relative to the root of the repository.
    pub file_path: String,
    /// What was found in it; its place is looked up.
    pub content: String,
}

/// Which event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SamRead {
    /// Its kind.
    pub kind: String,
    /// Its slug; the newest one of that name.
    pub slug: String,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HookReply {
    /// A message was sent.
    Sent(SentReply),
    /// Results were turned into pointers.
    Rag(RagReply),
    /// An event was turned into a pointer.
    Sam(SamReply),
}

/// Results of retrieval, pointer first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RagReply {
    /// Where the results are, pinned. A result that the repository does not have is left out.
    pub pointers: Vec<String>,
    /// The text of the first of them, as far as the turn's budget pays for it.
    pub excerpts: Vec<RagExcerpt>,
    /// The claims that were stored: which span likely answers the question.
    pub engrams: Vec<EngramV01>,
}

/// A short excerpt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RagExcerpt {
    /// The exact pointer that was used.
    pub pointer: String,
    /// The text, from its beginning.
    pub excerpt: String,
    /// `sha256:HEX` of the bytes of the full span.
    pub content_digest: String,
    /// Tokens (o200k_base) of the excerpt.
    pub tokens: u32,
}

/// An event, pointer first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SamReply {
    /// The pointer that reads all of it.
    pub pointer: String,
    /// How it begins.
    pub statement: String,
    /// Who may see it.
    pub scope: Scope,
    /// How long to rely on it.
    pub ttl: Ttl,
}
