//! The engram: the full record. The submodules hold what a client sends to make one (`draft.rs`),
//! the published forms (`wire.rs`), and what is derived from its words.

mod draft;
mod entity;
mod hash_keys;
mod marks;
mod ttl;
mod wire;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    AgentId, ConflictId, EngramId, Health, JournalTime, LineageId, Lost, Pointer, ProjectId, RunId,
    words::words,
};

pub use draft::*;
pub use entity::*;
pub use hash_keys::*;
pub use marks::{literal_marks, marks, merge_marks};
pub use ttl::*;
pub use wire::*;

words!(
    /// What sort of claim it is (docs/design.md#kinds-types-and-sources).
    Kind {
        /// Something that holds.
        Fact = "fact",
        /// Something that was chosen.
        Decision = "decision",
        /// Something that may go wrong.
        Risk = "risk",
        /// Something to do.
        Todo = "todo",
        /// Something that must stay as it is.
        Constraint = "constraint",
        /// Something that changed.
        Diff = "diff",
        /// Something a test shows.
        Test = "test",
        /// Something measured.
        Perf = "perf",
        /// Something agreed on for everybody.
        Policy = "policy",
    }
);
words!(
    /// How a claim came to be known (docs/design.md#kinds-types-and-sources).
    FactType {
        /// Seen in code, tests or logs.
        Observation = "observation",
        /// Concluded from observations.
        Inference = "inference",
        /// Decided by a person or an agent.
        Decision = "decision",
    }
);
words!(
    /// Who may see an engram.
    Scope {
        /// The agents of one run.
        Run = "run",
        /// Everybody on the project.
        Project = "project",
        /// Everybody in the organisation, where enabled.
        Org = "org",
        /// Everybody, where enabled.
        Global = "global",
    }
);
words!(
    /// Whether an engram stays (docs/design.md#durability-and-promotion).
    Durability {
        /// Until it is superseded or expires.
        Durable = "durable",
        /// For a day, unless it is asked for.
        Ephemeral = "ephemeral",
    }
);
words!(
    /// What a commit means for its lineage (docs/design.md#what-a-version-may-replace).
    MemoryOp as "operation" {
        /// A new lineage.
        Add = "add",
        /// A new version of a lineage.
        Update = "update",
        /// The end of a lineage.
        Delete = "delete",
        /// Nothing new.
        None = "none",
    }
);
words!(
    /// What an engram was made from (docs/design.md#kinds-types-and-sources).
    Source {
        /// Retrieval over the repository.
        Rag = "rag",
        /// Events.
        Sam = "sam",
        /// An agent's own finding.
        Agent = "agent",
        /// A tool, an import, or the user.
        Tool = "tool",
    }
);

/// The confidence of a claim that gives none: observed.
const CONFIDENCE: f64 = 0.7;

/// Who made an engram, when, from what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it, as a person would name them.
    pub created_by: String,
    /// What it was made from.
    pub source: Source,
}

/// What use has shown about an engram. Never part of its identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// How often a query returned it.
    pub query_hits: u64,
    /// How many other agents committed the same claim.
    pub corroborations: u64,
    /// How many open conflicts it is part of.
    pub conflicts: u64,
}

macro_rules! versions {
    ($(
        recorded { $($(#[$recorded:meta])* $own:ident: $kept:ty,)+ }
        told { $($(#[$told:meta])* $name:ident: $of:ty,)+ }
    )+) => {
        /// What the journal keeps of a version: what was said, by whom, on what evidence.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Record {
            $($($(#[$recorded])* pub $own: $kept,)+)+
        }

        /// The full record (docs/design.md#the-record): one version of one claim.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Engram {
            $($($(#[$recorded])* pub $own: $kept,)+ $($(#[$told])* pub $name: $of,)+)+
        }

        /// An engram whose derived fields are still empty.
        impl From<Record> for Engram {
            fn from(record: Record) -> Self {
                Self { $($($own: record.$own,)+ $($name: Default::default(),)+)+ }
            }
        }

        impl From<Engram> for Record {
            fn from(told: Engram) -> Self {
                Self { $($($own: told.$own,)+)+ }
            }
        }
    };
}

// The fields of a version in the order of the wire: first the recorded fields, then those that the
// tables of this home and the answers add. The journal stores a [`Record`]; readers get an
// [`Engram`].
versions! {
    recorded {
        /// This version.
        id: EngramId,
    }
    told {
        /// Its place in this home's journal; a cursor, not an identity.
        seq: u64,
    }
    recorded {
        /// All versions of this claim.
        lineage_id: LineageId,
        /// The repository it belongs to.
        project: ProjectId,
        /// The run it belongs to, where one is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        /// One to three sentences; empty once redacted.
        #[cfg_attr(feature = "schema", schemars(length(max = 500)))]
        claim: String,
        /// What sort of claim it is.
        kind: Kind,
        /// How it came to be known.
        fact_type: FactType,
        /// Who may see it.
        scope: Scope,
        /// Hierarchical path such as `payments/webhooks`; empty when none was given.
        topic: String,
        /// Canonical upsert key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic_key: Option<String>,
        /// Where its evidence is: pinned, and digested where it was read.
        #[cfg_attr(
            feature = "schema",
            schemars(with = "Vec<crate::PointerV01>", length(min = 1, max = 12))
        )]
        pointers: Vec<Pointer>,
        /// 0 to 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
        confidence: f64,
        /// How long it holds from `valid_from`; forever when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttl: Option<Ttl>,
        /// Whether it stays.
        durability: Durability,
        /// Free labels.
        #[cfg_attr(
            feature = "schema",
            schemars(length(max = 12), inner(length(max = 40)))
        )]
        tags: Vec<String>,
    }
    told {
        /// The most telling recall keys, at most 32.
        #[cfg_attr(
            feature = "schema",
            schemars(length(max = 32), inner(length(max = 80)))
        )]
        hash_keys: Vec<String>,
        /// What its claim names, and the values that it gives; at most 32.
        #[cfg_attr(feature = "schema", schemars(length(max = 32)))]
        entities: Vec<Entity>,
    }
    recorded {
        /// Who made it, when, from what.
        provenance: Provenance,
        /// The agent handle behind it; absent for the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<AgentId>,
    }
    told {
        /// The role that this agent had when the version was stored; absent where it had none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    }
    recorded {
        /// The person behind it, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        engineer: Option<String>,
        /// `sha256:HEX` of the claim.
        content_hash: String,
        /// When it starts to hold.
        valid_from: Timestamp,
    }
    told {
        /// When it was superseded, forgotten or closed by a verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_until: Option<Timestamp>,
    }
    recorded {
        /// When it expires.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// When this home learned of it.
        recorded_at: Timestamp,
        /// What it meant for its lineage.
        memory_op: MemoryOp,
        /// The version that it replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        supersedes: Option<EngramId>,
        /// The earlier version that it makes hold again
        /// (docs/design.md#rule-3-nothing-is-undone-by-reopening-a-window).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restores: Option<EngramId>,
        /// Of a to-do: the claim that it asks about. Of any other kind: the claim that it answers a
        /// to-do about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asks: Option<LineageId>,
        /// Whether a repo, artifact, test or diff pointer resolved.
        verified: bool,
    }
    told {
        /// Whether its text was erased for good.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        redacted: bool,
        /// What use has shown about it.
        #[serde(default)]
        figures: Figures,
        /// How well it answers the question, 0 to 1, never more than the result before it; only in
        /// answers to a query.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 1.0)))]
        score: Option<f64>,
        /// Its vector, as `MODEL@VERSION/ID`; only in answers to a query, if a model embedded it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        embedding_ref: Option<String>,
        /// Its open conflicts; only in answers to a query, and in a single record.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<ConflictId>,
        /// The state of its evidence in the reader's working tree; absent if not checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        health: Option<Health>,
        /// The to-do that asks whether it still holds; only in a page or a single record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<EngramId>,
        /// The answer to the to-do that asked whether it still holds; only in a page or a single
        /// record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Box<TodoAnswer>>,
        /// The verdict that ended it; only in a page, a history or a single record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<Lost>,
        /// Its place in a list, if that is not its own `seq`; only in answers of the feed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Place>,
    }
}

/// The body of a journal entry: an engram without the added fields and without its words, which are
/// stored beside the journal.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let without_words = Self {
            claim: String::new(),
            tags: Vec::new(),
            ..self.clone()
        };
        Engram::from(without_words).serialize(to)
    }
}

impl Record {
    /// The first version of a claim: an observed fact with project scope and defaults for the rest.
    pub fn new(
        id: EngramId,
        project: ProjectId,
        claim: String,
        content_hash: String,
        provenance: Provenance,
        now: JournalTime,
    ) -> Self {
        Self {
            id,
            lineage_id: LineageId(id.0),
            project,
            run: None,
            claim,
            kind: Kind::Fact,
            fact_type: FactType::Observation,
            scope: Scope::Project,
            topic: String::new(),
            topic_key: None,
            pointers: Vec::new(),
            confidence: CONFIDENCE,
            ttl: None,
            durability: Durability::Durable,
            tags: Vec::new(),
            recorded_at: provenance.created_at,
            provenance,
            agent: None,
            engineer: None,
            content_hash,
            valid_from: now.0,
            expires_at: None,
            memory_op: MemoryOp::Add,
            supersedes: None,
            restores: None,
            asks: None,
            verified: false,
        }
    }

    /// Another version of the claim, which says the same from now on.
    #[must_use]
    pub fn next_version(self, id: EngramId, clock: Timestamp, now: JournalTime) -> Self {
        Self {
            id,
            valid_from: now.0,
            recorded_at: clock,
            memory_op: MemoryOp::Update,
            ..self
        }
    }
}

/// What an agent answered to a to-do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoAnswer {
    /// The answer.
    pub id: EngramId,
    /// Its words.
    pub claim: String,
    /// Who gave it.
    pub by: String,
    /// When it was stored.
    pub at: Timestamp,
}

/// The place in a list of a version that repeats the words that it confirms or restores: the place
/// of the first version with these words, so that a confirmation moves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The `seq` of the first version with these words.
    pub seq: u64,
    /// When that version started to hold.
    pub at: Timestamp,
}

impl Engram {
    /// Fills in the hash keys, which are derived from the words. A redacted engram has none.
    pub fn derive_keys(&mut self) {
        if self.redacted {
            return;
        }
        let keys = hash_keys(&self.claim, &self.pointers, &self.topic, &self.tags);
        self.hash_keys = wire_hash_keys(&keys);
    }

    /// Returns a draft that repeats this version with the same evidence.
    pub fn draft(&self) -> Draft {
        Draft {
            claim: self.claim.clone(),
            pointers: self.pointers.iter().cloned().map(Into::into).collect(),
            kind: Some(self.kind),
            fact_type: Some(self.fact_type),
            confidence: Some(self.confidence),
            ttl: self.ttl.as_ref().map(ToString::to_string),
            scope: Some(self.scope),
            topic: Some(self.topic.clone()),
            tags: self.tags.clone(),
            durability: Some(self.durability),
            corrects_lineage: Some(self.id.to_string()),
            ..Draft::default()
        }
    }

    /// Whether it is a to-do that asks about a claim, not the answer to one.
    pub fn is_question(&self) -> bool {
        self.asks.is_some() && self.kind == Kind::Todo
    }

    /// Returns its place in a list: its own `seq`, or the place that it took over.
    pub fn list_place(&self) -> u64 {
        self.place.map_or(self.seq, |it| it.seq)
    }

    /// Returns the time of its place in a list.
    pub fn list_time(&self) -> Timestamp {
        self.place.map_or(self.valid_from, |it| it.at)
    }

    /// Whether it belongs to a sample: it is in the user's own run, with the sample's topic and
    /// tag.
    pub fn is_sample(&self) -> bool {
        let is_under = self
            .topic
            .strip_prefix(crate::SAMPLE)
            .is_some_and(|it| it.starts_with('/'));
        self.scope == Scope::Run && is_under && self.tags.iter().any(|it| it == crate::SAMPLE)
    }

    /// Whether it held at a time in the past: its window was open and its ttl was not over.
    pub fn holds_at(&self, at: Timestamp) -> bool {
        holds(self.valid_from, self.valid_until, self.expires_at, at)
    }

    /// Whether it holds now, by the clock: its window is not closed and its ttl is not over.
    pub fn holds_now(&self, now: Timestamp) -> bool {
        self.valid_until.is_none() && !is_over(self.recorded_at, self.expires_at, now)
    }
}

/// Whether a ttl is over. If the clock was set back to before the time of recording, by more than
/// the ttl or a day, nobody knows how much of the ttl is left. It then counts as over, so that
/// nothing outlives its ttl.
pub fn is_over(recorded_at: Timestamp, expires_at: Option<Timestamp>, now: Timestamp) -> bool {
    const DAY: SignedDuration = SignedDuration::from_hours(24);
    expires_at.is_some_and(|end| {
        end <= now || recorded_at.duration_since(now) > end.duration_since(recorded_at).min(DAY)
    })
}

/// Whether something that holds from `from` holds at `at`: its window is open and its ttl is not
/// over.
pub fn holds(
    from: Timestamp,
    until: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    at: Timestamp,
) -> bool {
    from <= at && [until, expires_at].iter().flatten().all(|end| at < *end)
}
