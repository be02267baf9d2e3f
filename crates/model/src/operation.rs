//! All that can happen to a home. Each operation is appended to the journal and applied to the tables
//! by one function of the store, in one transaction; replaying them rebuilds every table.
//!
//! Bodies carry digests and addresses. Words (a claim, the text of an event, the bytes of a snapshot)
//! ride along in the type and are kept beside the journal, never in it. A redaction takes topic, author
//! and addresses out of a body; nothing else rewrites one.

mod agents;
mod kind;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    AgentId, Anchored, Code, ConflictId, ConflictStatus, Engram, EngramId, EventId, Figures,
    Granted, How, LineageId, ProjectId, Refusal, Severity, Tier,
};

pub use agents::*;
pub use kind::OperationKind;

/// One change of a home.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// A version of a claim holds from now on; the one that it supersedes no longer does.
    Stored(Box<Engram>),
    /// Another voice said the same as this version.
    Corroborated(EngramId),
    /// The window of a version was closed.
    Forgotten(EngramId),
    /// Lineages left the list with all their versions: those of a sample that was removed.
    Unlisted(Vec<LineageId>),
    /// Text was erased for good, and the windows of its versions closed.
    Redacted(Redaction),
    /// An ephemeral version became durable.
    Promoted(Promotion),
    /// Something was fetched.
    Dereferenced(Read),
    /// An event was noted.
    Noted(Event),
    /// The evidence of claims stands otherwise than it did. Its tables are a follower's.
    Anchored(Anchoring),
    /// The project's repository was seen at a place for the first time.
    Located(Located),
    /// The user let the repository at another place use the project's memory too.
    Admitted(Admitted),
    /// An agent called for the first time, or in a new turn.
    Joined(Box<Agent>),
    /// The user or a parent opened an agent, or gave one of theirs a new token.
    Opened(Box<Opened>),
    /// An agent asked to read beyond its budget.
    Requested(Box<Requested>),
    /// Its parent or the user said no.
    Denied(Denied),
    /// Something beyond the budget was permitted.
    Granted(Box<NewGrant>),
    /// A grant was taken back.
    Revoked(String),
    /// A budget refused an agent something.
    Refused(Refused),
    /// A file of a working tree was kept as evidence.
    Kept(Snapshot),
    /// Queries returned these versions, so often; as builds before [`Operation::Served`] said it.
    Counted(Vec<(EngramId, u64)>),
    /// An agent was shown something.
    Served(Served),
    /// A parent or the user pinned something to the brief.
    Pinned(Pin),
    /// What the entry at this place pinned is pinned no longer.
    Unpinned(u64),
    /// A message was sent.
    Sent(Box<Sent>),
    /// A message was refused.
    Unsent(Unsent),
    /// What tables held that the journal of an earlier schema does not say; by a migration.
    Carried(Box<Carried>),
    /// What could be read of a damaged database was saved.
    Recovered(Lost),
    /// Two sides were found that cannot both hold: for the first time, again after a verdict, or worse
    /// than before.
    Conflicted(Box<Contradiction>),
    /// A conflict was settled, or its verdict was undone.
    Resolved(Box<Ruling>),
    /// The user let an open conflict pass the gate, or took that back.
    Allowed(Permit),
}

/// What [`Operation::Conflicted`] found. What is told of two sides is in the order of `sides`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// Which conflict: a function of the sides and the project.
    #[serde(skip, default = "no_conflict")]
    pub id: ConflictId,
    /// Digests of the two sides, the lesser first.
    pub sides: [String; 2],
    /// The engrams by which it was found.
    pub engrams: [EngramId; 2],
    /// Which tier found it.
    pub tier: Tier,
    /// How much it matters.
    pub severity: Severity,
    /// Confidence that both are about the same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What differs in the claim of each of these engrams: `[from, to)` in characters.
    #[serde(default)]
    pub differs: [Vec<(usize, usize)>; 2],
    /// The engram of kind risk that was stored with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<EngramId>,
    /// Why, in a sentence; kept beside the journal.
    #[serde(skip)]
    pub why: String,
}

/// What [`Operation::Resolved`] decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// Which conflict.
    #[serde(skip, default = "no_conflict")]
    pub id: ConflictId,
    /// Where it stands from now on: open once a verdict was undone.
    pub status: ConflictStatus,
    /// How it was settled; none once undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<How>,
    /// The digest of the side that won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The engram that replaced both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<EngramId>,
    /// The versions that it closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<EngramId>,
    /// The versions that it stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<EngramId>,
    /// The reason that was given; kept beside the journal.
    #[serde(skip)]
    pub why: Option<String>,
}

/// What [`Operation::Allowed`] lets pass, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// Which conflict.
    #[serde(skip, default = "no_conflict")]
    pub id: ConflictId,
    /// The reason that was given; kept beside the journal.
    #[serde(skip)]
    pub why: String,
    /// It was taken back: the conflict blocks the gate again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

fn no_conflict() -> ConflictId {
    ConflictId(ulid::Ulid::nil())
}

/// What [`Operation::Redacted`] erased.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Redaction {
    /// The engram or event that was named.
    #[serde(skip)]
    pub id: Option<EngramId>,
    /// The digest of the words.
    #[serde(default)]
    pub content_hash: String,
    /// Every version that carried them.
    #[serde(default)]
    pub ids: Vec<EngramId>,
    /// Their places in the journal.
    #[serde(default)]
    pub seqs: Vec<u64>,
    /// The places of events that repeated them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u64>,
    /// Digests of kept files that nothing else rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// The places of entries whose words alone go: what was said about its conflicts, and pins, requests, denials,
    /// verdicts and allowances that quote what was erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<u64>,
    /// The places of other entries that name what was erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<u64>,
}

/// What [`Operation::Promoted`] did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// The version.
    #[serde(skip, default = "no_engram")]
    pub id: EngramId,
    /// Whether its term ended with it: the one that every ephemeral claim has.
    #[serde(default)]
    pub ends_term: bool,
}

fn no_engram() -> EngramId {
    EngramId(ulid::Ulid::nil())
}

/// The kind of an event whose address was erased.
pub const ERASED: &str = "erased";

/// An event of the episodic plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its identity.
    #[serde(skip, default = "no_event")]
    pub id: EventId,
    /// The `sam:` pointer that addresses it.
    pub pointer: String,
    /// Hex of the sha256 of its text.
    pub digest: String,
    /// What happened; kept beside the journal.
    #[serde(skip)]
    pub text: String,
}

fn no_event() -> EventId {
    EventId(ulid::Ulid::nil())
}

/// News of evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchoring {
    /// The working tree that was checked; empty for the main one.
    #[serde(default)]
    pub worktree: String,
    /// The commit that was checked out; none before the first.
    #[serde(default)]
    pub head: Option<String>,
    /// The claims, with what was found.
    #[serde(default)]
    pub engrams: Vec<Anchored>,
}

/// Where a project's repository is; a hint, not an identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// Its common git folder.
    pub common_dir: String,
    /// The name of its folder.
    pub name: String,
}

/// Entries that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Their places: the first and the last of each stretch.
    #[serde(default)]
    pub places: Vec<(u64, u64)>,
}

/// A place from which the user let a project be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// The common git folder of a copy; the working tree where its git folder is not its own.
    pub place: String,
}

/// A file of a working tree as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Lower-case hex of the sha256 of its bytes.
    #[serde(rename = "digest")]
    pub digest_hex: String,
    /// Where it was, from the root of the working tree.
    pub path: String,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The id of the git blob that these bytes would be.
    pub blob: String,
    /// The whole file; kept beside the journal.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// What was in the tables and in no entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Repositories, and where they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<(ProjectId, Located)>,
    /// Agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Agent>,
    /// What they spent in each turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<(AgentId, String, Spend)>,
    /// Files that were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<Snapshot>,
    /// How often queries returned versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<(EngramId, u64)>,
}

impl Operation {
    /// Its name in the journal.
    pub fn kind(&self) -> OperationKind {
        match self {
            Self::Stored(_) => OperationKind::Stored,
            Self::Corroborated(_) => OperationKind::Corroborated,
            Self::Forgotten(_) => OperationKind::Forgotten,
            Self::Unlisted(_) => OperationKind::Unlisted,
            Self::Redacted(_) => OperationKind::Redacted,
            Self::Promoted(_) => OperationKind::Promoted,
            Self::Dereferenced(_) => OperationKind::Dereferenced,
            Self::Noted(_) => OperationKind::Noted,
            Self::Anchored(_) => OperationKind::Anchored,
            Self::Located(_) => OperationKind::Located,
            Self::Admitted(_) => OperationKind::Admitted,
            Self::Joined(_) => OperationKind::Joined,
            Self::Opened(_) => OperationKind::Opened,
            Self::Requested(_) => OperationKind::Requested,
            Self::Denied(_) => OperationKind::Denied,
            Self::Granted(_) => OperationKind::Granted,
            Self::Revoked(_) => OperationKind::Revoked,
            Self::Refused(_) => OperationKind::Refused,
            Self::Kept(_) => OperationKind::Kept,
            Self::Counted(_) => OperationKind::Counted,
            Self::Served(_) => OperationKind::Served,
            Self::Pinned(_) => OperationKind::Pinned,
            Self::Unpinned(_) => OperationKind::Unpinned,
            Self::Sent(_) => OperationKind::Sent,
            Self::Unsent(_) => OperationKind::Unsent,
            Self::Carried(_) => OperationKind::Carried,
            Self::Recovered(_) => OperationKind::Recovered,
            Self::Conflicted(_) => OperationKind::Conflicted,
            Self::Resolved(_) => OperationKind::Resolved,
            Self::Allowed(_) => OperationKind::Allowed,
        }
    }

    /// The engram, event or conflict that it is about; beside the body, so that it can be looked up.
    pub fn subject(&self) -> Option<String> {
        match self {
            Self::Stored(engram) => Some(engram.id.to_string()),
            Self::Corroborated(id) | Self::Forgotten(id) => Some(id.to_string()),
            Self::Redacted(it) => it.id.map(|id| id.to_string()),
            Self::Promoted(it) => Some(it.id.to_string()),
            Self::Noted(it) => Some(it.id.to_string()),
            Self::Conflicted(it) => Some(it.id.to_string()),
            Self::Resolved(it) => Some(it.id.to_string()),
            Self::Allowed(it) => Some(it.id.to_string()),
            Self::Opened(it) => Some(it.agent.handle.0.clone()),
            Self::Requested(it) => Some(it.id.clone()),
            Self::Denied(it) => Some(it.id.clone()),
            Self::Granted(it) => Some(it.grant.id.clone()),
            Self::Revoked(id) => Some(id.clone()),
            Self::Sent(it) => Some(it.id.clone()),
            Self::Unsent(it) => Some(it.id.clone()),
            _ => None,
        }
    }

    /// The same without what was erased: topic, author and addresses of a claim, the address of an event,
    /// the path of a kept file.
    #[must_use]
    pub fn without(self, erased: &Redaction) -> Self {
        let without_path = |mut it: Snapshot| {
            if erased.digests.contains(&it.digest_hex) {
                it.path.clear();
            }
            it
        };
        match self {
            Self::Stored(mut engram) if erased.ids.contains(&engram.id) => {
                engram.topic.clear();
                engram.topic_key = None;
                engram.pointers.clear();
                engram.provenance.created_by.clear();
                engram.engineer = None;
                Self::Stored(engram)
            }
            Self::Noted(event) => {
                let day = event.pointer.rsplit_once('@').map_or("", |(_, day)| day);
                let slug = event.id.to_string().to_lowercase();
                Self::Noted(Event {
                    pointer: format!("sam:{ERASED}:{slug}@{day}"),
                    ..event
                })
            }
            Self::Kept(it) => Self::Kept(without_path(it)),
            Self::Carried(it) => Self::Carried(Box::new(Carried {
                snapshots: it.snapshots.into_iter().map(without_path).collect(),
                ..*it
            })),
            Self::Dereferenced(it) => Self::Dereferenced(Read {
                pointer: String::new(),
                ..it
            }),
            Self::Requested(mut it) => {
                it.pointer.clear();
                Self::Requested(it)
            }
            Self::Granted(mut it) => {
                if let Granted::Read { pointer, .. } = &mut it.grant.what {
                    pointer.clear();
                }
                Self::Granted(it)
            }
            Self::Anchored(mut it) => {
                it.engrams.retain(|it| !erased.ids.contains(&it.id));
                Self::Anchored(it)
            }
            other => other,
        }
    }

    /// Its body, without the words that can be erased and without what is derived from them.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Stored(engram) => serde_json::to_string(&bare(engram)),
            Self::Corroborated(_) | Self::Forgotten(_) | Self::Revoked(_) => Ok("{}".to_owned()),
            Self::Unlisted(all) => serde_json::to_string(all),
            Self::Allowed(it) => serde_json::to_string(it),
            Self::Redacted(it) => serde_json::to_string(it),
            Self::Promoted(it) => serde_json::to_string(it),
            Self::Dereferenced(it) => serde_json::to_string(it),
            Self::Noted(it) => serde_json::to_string(it),
            Self::Anchored(it) => serde_json::to_string(it),
            Self::Located(it) => serde_json::to_string(it),
            Self::Admitted(it) => serde_json::to_string(it),
            Self::Joined(it) => serde_json::to_string(it),
            Self::Opened(it) => serde_json::to_string(it),
            Self::Requested(it) => serde_json::to_string(it),
            Self::Denied(it) => serde_json::to_string(it),
            Self::Granted(it) => serde_json::to_string(it),
            Self::Refused(it) => serde_json::to_string(it),
            Self::Kept(it) => serde_json::to_string(it),
            Self::Served(it) => serde_json::to_string(it),
            Self::Pinned(it) => serde_json::to_string(it),
            Self::Sent(it) => serde_json::to_string(it),
            Self::Unsent(it) => serde_json::to_string(it),
            Self::Unpinned(seq) => serde_json::to_string(&json!({ "pin": seq })),
            Self::Counted(hits) => serde_json::to_string(&json!({ "hits": hits })),
            Self::Carried(it) => serde_json::to_string(it),
            Self::Recovered(it) => serde_json::to_string(it),
            Self::Conflicted(it) => serde_json::to_string(it),
            Self::Resolved(it) => serde_json::to_string(it),
        }
    }

    /// Parses an entry; the text kept beside the journal is not filled in.
    ///
    /// # Errors
    /// `STORE_CORRUPT` for a body that is not what its kind promises.
    pub fn read(kind: OperationKind, subject: Option<&str>, body: &str) -> Result<Self, Refusal> {
        let id = || subject.unwrap_or_default().parse::<EngramId>();
        let name = || subject.unwrap_or_default().to_owned();
        Ok(match kind {
            OperationKind::Stored => Self::Stored(parse(body)?),
            OperationKind::Corroborated => Self::Corroborated(id()?),
            OperationKind::Forgotten => Self::Forgotten(id()?),
            OperationKind::Unlisted => Self::Unlisted(parse(body)?),
            OperationKind::Redacted => Self::Redacted(Redaction {
                id: Some(id()?),
                ..parse(body)?
            }),
            OperationKind::Promoted => Self::Promoted(Promotion {
                id: id()?,
                ..parse(body)?
            }),
            OperationKind::Dereferenced => Self::Dereferenced(parse(body)?),
            OperationKind::Noted => Self::Noted(Event {
                id: subject.unwrap_or_default().parse()?,
                ..parse(body)?
            }),
            OperationKind::Anchored => Self::Anchored(parse(body)?),
            OperationKind::Located => Self::Located(parse(body)?),
            OperationKind::Admitted => Self::Admitted(parse(body)?),
            OperationKind::Joined => Self::Joined(parse(body)?),
            OperationKind::Opened => Self::Opened(parse(body)?),
            OperationKind::Requested => Self::Requested(Box::new(Requested {
                id: name(),
                ..parse(body)?
            })),
            OperationKind::Denied => Self::Denied(Denied {
                id: name(),
                ..parse(body)?
            }),
            OperationKind::Granted => Self::Granted(parse(body)?),
            OperationKind::Revoked => Self::Revoked(name()),
            OperationKind::Refused => Self::Refused(parse(body)?),
            OperationKind::Kept => Self::Kept(parse(body)?),
            OperationKind::Counted => {
                let mut body: Value = parse(body)?;
                Self::Counted(serde_json::from_value(body["hits"].take()).map_err(unreadable)?)
            }
            OperationKind::Served => Self::Served(parse(body)?),
            OperationKind::Pinned => Self::Pinned(parse(body)?),
            OperationKind::Sent => Self::Sent(Box::new(Sent {
                id: subject.unwrap_or_default().to_owned(),
                ..parse(body)?
            })),
            OperationKind::Unsent => Self::Unsent(Unsent {
                id: subject.unwrap_or_default().to_owned(),
                ..parse(body)?
            }),
            OperationKind::Unpinned => {
                let mut body: Value = parse(body)?;
                Self::Unpinned(serde_json::from_value(body["pin"].take()).map_err(unreadable)?)
            }
            OperationKind::Carried => Self::Carried(parse(body)?),
            OperationKind::Recovered => Self::Recovered(parse(body)?),
            OperationKind::Conflicted => Self::Conflicted(Box::new(Contradiction {
                id: subject.unwrap_or_default().parse()?,
                ..parse(body)?
            })),
            OperationKind::Resolved => Self::Resolved(Box::new(Ruling {
                id: subject.unwrap_or_default().parse()?,
                ..parse(body)?
            })),
            OperationKind::Allowed => Self::Allowed(Permit {
                id: subject.unwrap_or_default().parse()?,
                ..parse(body)?
            }),
        })
    }
}

/// The record as the journal carries it.
fn bare(engram: &Engram) -> Engram {
    Engram {
        claim: String::new(),
        tags: Vec::new(),
        hash_keys: Vec::new(),
        entities: Vec::new(),
        valid_until: None,
        figures: Figures::default(),
        conflicts: Vec::new(),
        health: None,
        asked: None,
        lost: None,
        role: None,
        ..engram.clone()
    }
}

fn parse<T: DeserializeOwned>(body: &str) -> Result<T, Refusal> {
    serde_json::from_str(body).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Refusal {
    Refusal::new(
        Code::StoreCorrupt,
        format!("cannot read its body: {error}"),
        "Copy the home before you change anything, then run `engram doctor`.",
    )
}
