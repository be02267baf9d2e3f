//! All that can happen to a home. Each operation is appended to the journal and applied to the tables
//! by one function of the store, in one transaction; replaying them rebuilds every table.
//!
//! Bodies carry digests and addresses. Words (a claim, the text of an event, the bytes of a snapshot)
//! ride along in the type and are kept beside the journal, never in it. A redaction takes topic, author
//! and addresses out of a body; nothing else rewrites one.

mod agents;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    AgentId, Anchored, Code, ConflictId, ConflictStatus, EngramId, EventId, Granted, How,
    LineageId, ProjectId, Record, Refusal, Severity, Tier, words::words,
};

pub use agents::*;

macro_rules! operations {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($it:ident: $payload:ty) = $word:literal, $readers:ident $($mark:ident)* $(, $how:ident $subject:expr)?;
    )+) => {
        /// One change of a home.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($(#[doc = $doc])+ $name($payload),)+
        }

        words!(
            /// The name of an operation in the journal.
            OperationKind {
                $($(#[doc = $doc])+ $name = $word,)+
            }
        );

        impl OperationKind {
            fn readers(self) -> Readers {
                match self { $(Self::$name => Readers::$readers,)+ }
            }

            fn is(self, mark: Mark) -> bool {
                let marks: &[Mark] = match self { $(Self::$name => &[$(Mark::$mark),*],)+ };
                marks.contains(&mark)
            }
        }

        #[allow(unused_variables)]
        impl Operation {
            /// Its name in the journal.
            pub fn kind(&self) -> OperationKind {
                match self { $(Self::$name(_) => OperationKind::$name,)+ }
            }

            /// The engram, event or conflict that it is about; beside the body, so that it can be looked up.
            pub fn subject(&self) -> Option<String> {
                match self { $(Self::$name($it) => operations!(@subject $($how $subject)?),)+ }
            }

            /// Its body, without the words that can be erased and without what is derived from them.
            pub fn body(&self) -> Result<String, serde_json::Error> {
                match self { $(Self::$name($it) => operations!(@body $it $(, $how $subject)?),)+ }
            }

            /// Parses an entry; the text kept beside the journal is not filled in.
            ///
            /// # Errors
            /// `STORE_CORRUPT` for a body that is not what its kind promises.
            pub fn read(kind: OperationKind, subject: Option<&str>, body: &str) -> Result<Self, Refusal> {
                let subject = subject.unwrap_or_default();
                Ok(match kind {
                    $(OperationKind::$name => {
                        Self::$name(operations!(@read subject, body, $it: $payload $(, $how $subject)?))
                    })+
                })
            }
        }
    };
    (@subject) => { None };
    (@subject key $key:expr) => { None };
    (@subject $how:ident $subject:expr) => { Some($subject.to_string()) };
    (@body $it:ident, is $subject:expr) => { Ok("{}".to_owned()) };
    (@body $it:ident, key $key:expr) => { serde_json::to_string(&json!({ $key: $it })) };
    (@body $it:ident $($rest:tt)*) => { serde_json::to_string($it) };
    (@read $text:ident, $body:ident, $it:ident: $payload:ty, is $subject:expr) => { $text.parse()? };
    (@read $text:ident, $body:ident, $it:ident: $payload:ty, beside $subject:expr) => {{
        let mut $it: $payload = parse($body)?;
        $subject = $text.parse()?;
        $it
    }};
    (@read $text:ident, $body:ident, $it:ident: $payload:ty, key $key:expr) => {
        serde_json::from_value(parse::<Value>($body)?[$key].take()).map_err(unreadable)?
    };
    (@read $text:ident, $body:ident, $($rest:tt)*) => { parse($body)? };
}

// All operations. A row says what one carries, its word in the journal, who reads of it, and how it is marked;
// then, where it is about something, what that is, and where the journal has it: `of` what its body says too,
// `beside` the body alone, or that it `is` all there is. Where a body is no object, `key` makes it one.
operations! {
    /// A version of a claim holds from now on; the one that it supersedes no longer does.
    Stored(body: Box<Record>) = "stored", All News Rated, of body.id;
    /// Another voice said the same as this version.
    Corroborated(body: EngramId) = "corroborated", All News Rated, is body;
    /// The window of a version was closed.
    Forgotten(body: EngramId) = "forgotten", All News Rated, is body;
    /// Lineages left the list with all their versions: those of a sample that was removed.
    Unlisted(body: Vec<LineageId>) = "unlisted", All News;
    /// Text was erased for good, and the windows of its versions closed.
    Redacted(body: Redaction) = "redacted", All News, beside body.id;
    /// An ephemeral version became durable.
    Promoted(body: Promotion) = "promoted", All News Rated, beside body.id;
    /// Something was fetched.
    Dereferenced(body: Read) = "dereferenced", All;
    /// An event was noted.
    Noted(body: Event) = "noted", All Rated, beside body.id;
    /// The evidence of claims stands otherwise than it did. Its tables are a follower's.
    Anchored(body: Anchoring) = "anchored", All;
    /// The project's repository was seen at a place for the first time.
    Located(body: Located) = "located", Nobody;
    /// The user let the repository at another place use the project's memory too.
    Admitted(body: Admitted) = "admitted", Nobody;
    /// An agent called for the first time, or in a new turn.
    Joined(body: Box<Agent>) = "joined", User Rated;
    /// The user or a parent opened an agent, or gave one of theirs a new token.
    Opened(body: Box<Opened>) = "opened", User Rated, of body.agent.handle.0;
    /// An agent asked to read beyond its budget.
    Requested(body: Box<Requested>) = "requested", User Rated, beside body.id;
    /// Its parent or the user said no.
    Denied(body: Denied) = "denied", User Rated, beside body.id;
    /// Something beyond the budget was permitted.
    Granted(body: Box<NewGrant>) = "granted", User Rated, of body.grant.id;
    /// A grant was taken back.
    Revoked(body: String) = "revoked", User, is body;
    /// A budget refused an agent something.
    Refused(body: Refused) = "refused", User;
    /// A file of a working tree was kept as evidence.
    Kept(body: Snapshot) = "kept", Nobody;
    /// Queries returned these versions, so often; as builds before [`Operation::Served`] said it.
    Counted(body: Vec<(EngramId, u64)>) = "counted", Nobody, key "hits";
    /// An agent was shown something.
    Served(body: Served) = "served", Nobody;
    /// A parent or the user pinned something to the brief.
    Pinned(body: BriefPin) = "pinned", User Rated;
    /// What the entry at this place pinned is pinned no longer.
    Unpinned(body: u64) = "unpinned", User Rated, key "pin";
    /// A message was sent.
    Sent(body: Box<Sent>) = "sent", User Rated, beside body.id;
    /// A message was refused.
    Unsent(body: Unsent) = "unsent", Nobody Rated, beside body.id;
    /// What tables held that the journal of an earlier schema does not say; by a migration.
    Carried(body: Box<Carried>) = "carried", Nobody;
    /// What could be read of a damaged database was saved.
    Recovered(body: LostEntries) = "recovered", Nobody;
    /// Two sides were found that cannot both hold: for the first time, again after a verdict, or worse
    /// than before.
    Conflicted(body: Box<Contradiction>) = "conflict", All News, beside body.id;
    /// A conflict was settled, or its verdict was undone.
    Resolved(body: Box<Ruling>) = "resolved", All News Rated, beside body.id;
    /// The user let an open conflict pass the gate, or took that back.
    Allowed(body: Permit) = "allowed", All News, beside body.id;
}

/// Who may read of an operation.
#[derive(PartialEq, Eq)]
enum Readers {
    /// Nobody: it is bookkeeping.
    Nobody,
    /// The user: it is between agents, or between them and the user.
    User,
    /// Whoever may see what it is about.
    All,
}

/// What else holds of an operation.
#[derive(PartialEq, Eq)]
enum Mark {
    /// The feed shows it unasked.
    News,
    /// It counts in the rates of the agent that causes it: all that an agent stores, closes, settles or asks of
    /// others. What reads, and what is recorded along with something else, does not. Of turns, those count that an
    /// agent begins for others: its own begins with a call.
    Rated,
}

impl OperationKind {
    /// Whether readers of the journal see it; the others are bookkeeping.
    pub fn is_told(self) -> bool {
        self.readers() != Readers::Nobody
    }

    /// Whether it is between agents, or between them and the user: only the user is told of it.
    pub fn is_between(self) -> bool {
        self.readers() == Readers::User
    }

    /// Whether the feed shows it unasked.
    pub fn is_news(self) -> bool {
        self.is(Mark::News)
    }

    /// Whether it counts in the rates of the agent that causes it.
    pub fn is_rated(self) -> bool {
        self.is(Mark::Rated)
    }
}

/// What [`Operation::Conflicted`] found. What is told of two sides is in the order of `sides`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// Which conflict: a function of the sides and the project.
    #[serde(skip)]
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
    #[serde(skip)]
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
    #[serde(skip)]
    pub id: ConflictId,
    /// The reason that was given; kept beside the journal.
    #[serde(skip)]
    pub why: String,
    /// It was taken back: the conflict blocks the gate again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// What [`Operation::Redacted`] erased.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Redaction {
    /// The engram or event that was named.
    #[serde(skip)]
    pub id: EngramId,
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
    #[serde(skip)]
    pub id: EngramId,
    /// Whether its term ended with it: the one that every ephemeral claim has.
    #[serde(default)]
    pub ends_term: bool,
}

/// The kind of an event whose address was erased.
pub const ERASED: &str = "erased";

/// An event of the episodic plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its identity.
    #[serde(skip)]
    pub id: EventId,
    /// The `sam:` pointer that addresses it.
    pub pointer: String,
    /// Hex of the sha256 of its text.
    pub digest: String,
    /// What happened; kept beside the journal.
    #[serde(skip)]
    pub text: String,
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
pub struct LostEntries {
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
    /// The same without what was erased: topic, author and addresses of a claim, the address of an event,
    /// the path of a kept file.
    #[must_use]
    pub fn without(self, erased: &Redaction) -> Self {
        let without_path = |mut snapshot: Snapshot| {
            if erased.digests.contains(&snapshot.digest_hex) {
                snapshot.path.clear();
            }
            snapshot
        };
        match self {
            Self::Stored(mut record) if erased.ids.contains(&record.id) => {
                record.topic.clear();
                record.topic_key = None;
                record.pointers.clear();
                record.provenance.created_by.clear();
                record.engineer = None;
                Self::Stored(record)
            }
            Self::Noted(event) => {
                let day = event.pointer.rsplit_once('@').map_or("", |(_, day)| day);
                let slug = event.id.to_string().to_lowercase();
                Self::Noted(Event {
                    pointer: format!("sam:{ERASED}:{slug}@{day}"),
                    ..event
                })
            }
            Self::Kept(snapshot) => Self::Kept(without_path(snapshot)),
            Self::Carried(carried) => Self::Carried(Box::new(Carried {
                snapshots: carried.snapshots.into_iter().map(without_path).collect(),
                ..*carried
            })),
            Self::Dereferenced(read) => Self::Dereferenced(Read {
                pointer: String::new(),
                ..read
            }),
            Self::Requested(mut request) => {
                request.pointer.clear();
                Self::Requested(request)
            }
            Self::Granted(mut new_grant) => {
                if let Granted::Read { pointer, .. } = &mut new_grant.grant.what {
                    pointer.clear();
                }
                Self::Granted(new_grant)
            }
            Self::Anchored(mut anchoring) => {
                anchoring.engrams.retain(|it| !erased.ids.contains(&it.id));
                Self::Anchored(anchoring)
            }
            other => other,
        }
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
