//! All operations on a home. One function of the store appends each to the journal and applies it
//! to the tables, in one transaction. Replaying them rebuilds every table.
//!
//! Bodies carry digests and addresses. The type also holds the words (a claim, the text of an
//! event, the bytes of a snapshot), but the store keeps them beside the journal, never in it. A
//! redaction removes topic, author and addresses from a body; nothing else rewrites one.

mod agents;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    AgentChange, AgentId, Anchored, Code, ConflictId, ConflictStatus, EngramId, EventId, GrantKind,
    How, LineageId, PairVerdict, ProjectId, Record, Refusal, Severity, Tier, words::words,
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

            /// The id of its engram, event or conflict. It is stored beside the body so that it can
            /// be looked up.
            pub fn subject(&self) -> Option<String> {
                match self { $(Self::$name($it) => operations!(@subject $($how $subject)?),)+ }
            }

            /// Its body, without erasable words and without what is derived from them.
            pub fn body(&self) -> Result<String, serde_json::Error> {
                match self { $(Self::$name($it) => operations!(@body $it $(, $how $subject)?),)+ }
            }

            /// Parses an entry. Text stored beside the journal is not filled in.
            ///
            /// # Errors
            /// `STORE_CORRUPT` if the body does not fit its kind.
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

// All operations. A row lists the operation's body, its word in the journal, its readers, and its
// marks. If the operation has a subject, the row ends with the subject and where the journal stores
// it: `of` means both in the body and beside it, `beside` means only beside it, and `is` means that
// the operation has no other data. `key` wraps a body that is not an object in one.
operations! {
    /// A version of a claim holds from now on; the version that it supersedes no longer does.
    Stored(body: Box<Record>) = "stored", All News Rated, of body.id;
    /// Another agent or person said the same as this version.
    Corroborated(body: EngramId) = "corroborated", All News Rated, is body;
    /// The window of a version was closed.
    Forgotten(body: EngramId) = "forgotten", All News Rated, is body;
    /// Lineages were taken off the list with all their versions: those of a removed sample.
    Unlisted(body: Vec<LineageId>) = "unlisted", All News;
    /// Text was erased for good, and the windows of its versions closed.
    Redacted(body: Redaction) = "redacted", All News, beside body.id;
    /// An ephemeral version became durable.
    Promoted(body: Promotion) = "promoted", All News Rated, beside body.id;
    /// A pointer was dereferenced.
    Dereferenced(body: Read) = "dereferenced", All;
    /// An event was noted.
    Noted(body: Event) = "noted", All Rated, beside body.id;
    /// The state of claims' evidence changed. A follower owns the tables for it.
    Anchored(body: Anchoring) = "anchored", All;
    /// The project's repository was seen at this place for the first time.
    Located(body: Located) = "located", Nobody;
    /// The user let the repository at another place use the project's memory too.
    Admitted(body: Admitted) = "admitted", Nobody;
    /// An agent called for the first time, or in a new turn.
    Joined(body: Box<Agent>) = "joined", User Rated;
    /// The user or a parent opened an agent, or gave one of theirs a new token.
    Opened(body: Box<Opened>) = "opened", User Rated, of body.agent.handle.0;
    /// The user renamed, hid, showed or closed an agent.
    AgentChanged(body: Box<AgentChange>) = "agent_changed", User, of body.agent.0;
    /// An agent asked to read beyond its budget.
    Requested(body: Box<Requested>) = "requested", User Rated, beside body.id;
    /// The parent or the user denied a request.
    Denied(body: Denied) = "denied", User Rated, beside body.id;
    /// The user or a parent granted something beyond the budget.
    Granted(body: Box<NewGrant>) = "granted", User Rated, of body.grant.id;
    /// A grant was taken back. Not rated: a parent can always take back what it granted.
    Revoked(body: String) = "revoked", User, is body;
    /// A budget refused an agent something.
    Refused(body: Refused) = "refused", User;
    /// A file of a working tree was kept as evidence.
    Kept(body: Snapshot) = "kept", Nobody;
    /// Queries returned these versions this often; builds before [`Operation::Served`] wrote it.
    Counted(body: Vec<(EngramId, u64)>) = "counted", Nobody, key "hits";
    /// An agent was shown something.
    Served(body: Served) = "served", Nobody;
    /// A parent or the user pinned something to the brief.
    Pinned(body: BriefPin) = "pinned", User Rated;
    /// The pin of the entry at this place was removed.
    Unpinned(body: u64) = "unpinned", User Rated, key "pin";
    /// A message was sent.
    Sent(body: Box<Sent>) = "sent", User Rated, beside body.id;
    /// A message was refused.
    Unsent(body: Unsent) = "unsent", Nobody Rated, beside body.id;
    /// Data from the tables that the journal of an earlier schema lacks; a migration writes it.
    Carried(body: Box<Carried>) = "carried", Nobody;
    /// The readable part of a damaged database was recovered.
    Recovered(body: LostEntries) = "recovered", Nobody;
    /// Two sides were found that cannot both hold: for the first time, again after a verdict, or
    /// worse than before.
    Conflicted(body: Box<Contradiction>) = "conflict", All News, beside body.id;
    /// A claim was stored near another one, and its author was shown that one.
    Proposed(body: Box<Contradiction>) = "proposed", Nobody, beside body.id;
    /// Somebody said whether two near claims contradict each other. Not rated: it has a rate of its
    /// own.
    Judged(body: PairJudgment) = "judged", Nobody, beside body.id;
    /// A conflict was settled, or its verdict was undone.
    Resolved(body: Box<Ruling>) = "resolved", All News Rated, beside body.id;
    /// The user let an open conflict pass the gate, or withdrew that permission.
    Allowed(body: Permit) = "allowed", All News, beside body.id;
    /// Lines of the brief were sent to an agent for the first time: the pins and to-dos that the
    /// entries at these places made.
    Reached(body: Vec<u64>) = "reached", User, key "lines";
}

/// Who may see an operation.
#[derive(PartialEq, Eq)]
enum Readers {
    /// Nobody: it is bookkeeping.
    Nobody,
    /// The user: it is between agents, or between them and the user.
    User,
    /// Everybody who may see its subject.
    All,
}

/// Other properties of an operation.
#[derive(PartialEq, Eq)]
enum Mark {
    /// The feed shows it by default.
    News,
    /// It counts against the rate limits of the agent that causes it. This holds for everything
    /// that an agent stores, closes, settles or asks of others, but not for reads or for entries
    /// that accompany another entry. Only the turns that an agent begins for others count: its own
    /// begin with a call.
    Rated,
}

impl OperationKind {
    /// What an agent did that caused such an entry, for people; empty for bookkeeping.
    pub fn act_in_words(self) -> &'static str {
        match self {
            Self::Stored => "stored a claim",
            Self::Corroborated => "repeated a claim",
            Self::Forgotten => "forgot a claim",
            Self::Promoted => "made a claim durable",
            Self::Dereferenced => "read a source",
            Self::Noted => "recorded an event",
            Self::Joined => "began a turn",
            Self::Opened => "opened an agent",
            Self::AgentChanged => "changed an agent",
            Self::Requested => "asked to read more",
            Self::Granted => "granted a request",
            Self::Denied => "denied a request",
            Self::Revoked => "revoked a grant",
            Self::Refused => "was refused",
            Self::Pinned => "pinned a line of the brief",
            Self::Unpinned => "unpinned a line of the brief",
            Self::Sent => "sent a message",
            Self::Reached => "got a line of the brief",
            Self::Conflicted => "contradicted a claim",
            Self::Judged => "judged a possible conflict",
            Self::Resolved => "settled a conflict",
            Self::Allowed => "let a conflict pass the gate",
            Self::Unlisted => "removed claims",
            Self::Redacted => "erased a claim",
            Self::Anchored => "checked evidence",
            Self::Located
            | Self::Admitted
            | Self::Kept
            | Self::Counted
            | Self::Served
            | Self::Unsent
            | Self::Carried
            | Self::Recovered
            | Self::Proposed => "",
        }
    }

    /// Whether readers of the journal see it. Other operations are bookkeeping.
    pub fn is_told(self) -> bool {
        self.readers() != Readers::Nobody
    }

    /// Whether it is between agents, or between them and the user. Only the user sees these.
    pub fn is_between(self) -> bool {
        self.readers() == Readers::User
    }

    /// Whether the feed shows it by default.
    pub fn is_news(self) -> bool {
        self.is(Mark::News)
    }

    /// Whether it counts against the rate limits of the agent that causes it.
    pub fn is_rated(self) -> bool {
        self.is(Mark::Rated)
    }
}

/// What [`Operation::Conflicted`] found or [`Operation::Proposed`] showed. Pairs of values are in the order of `sides`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The conflict's id, derived from the sides, the project and the run.
    #[serde(skip)]
    pub id: ConflictId,
    /// Digests of the two sides, the lesser first.
    pub sides: [String; 2],
    /// The two engrams whose comparison found it.
    pub engrams: [EngramId; 2],
    /// Which tier found it.
    pub tier: Tier,
    /// How much it matters.
    pub severity: Severity,
    /// Confidence that both are about the same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What differs in the claim of each engram: `[from, to)` in characters.
    #[serde(default)]
    pub differs: [Vec<(usize, usize)>; 2],
    /// The risk engram that was stored with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<EngramId>,
    /// Of a proposed pair: whether the other claim did not fit into the reply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// The reason in a sentence; stored beside the journal.
    #[serde(skip)]
    pub why: String,
}

/// The word of [`Operation::Judged`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairJudgment {
    /// The conflict, or the possible one.
    #[serde(skip)]
    pub id: ConflictId,
    /// What was said of its sides.
    pub verdict: PairVerdict,
    /// The model that said it; `None` for agents and people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How sure the model is, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure: Option<f64>,
    /// The reason that was given; stored beside the journal.
    #[serde(skip)]
    pub why: Option<String>,
}

/// The decision of [`Operation::Resolved`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The conflict.
    #[serde(skip)]
    pub id: ConflictId,
    /// Its new status: open if a verdict was undone.
    pub status: ConflictStatus,
    /// How it was settled; `None` if a verdict was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<How>,
    /// The digest of the side that won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The engram that replaced both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<EngramId>,
    /// The versions that this closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<EngramId>,
    /// The versions that this stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<EngramId>,
    /// The reason that was given; stored beside the journal.
    #[serde(skip)]
    pub why: Option<String>,
}

/// The permission that [`Operation::Allowed`] gives or withdraws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// The conflict.
    #[serde(skip)]
    pub id: ConflictId,
    /// The reason that was given; stored beside the journal.
    #[serde(skip)]
    pub why: String,
    /// Whether it was withdrawn: the conflict blocks the gate again.
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
    /// Every version with these words.
    #[serde(default)]
    pub ids: Vec<EngramId>,
    /// Their places in the journal.
    #[serde(default)]
    pub seqs: Vec<u64>,
    /// The places of events that repeated the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u64>,
    /// Digests of stored files that nothing else refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
    /// The places of entries that lose only their words: the reasons for the claim's conflicts, and
    /// pins, requests, denials, verdicts and allowances that quote what was erased.
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
    /// Whether this removed its expiry, which every ephemeral claim has.
    #[serde(default)]
    pub ends_term: bool,
}

/// The kind of an event whose address was erased.
pub const ERASED: &str = "erased";

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its identity.
    #[serde(skip)]
    pub id: EventId,
    /// The `sam:` pointer that addresses it.
    pub pointer: String,
    /// The hex sha256 of its text.
    pub digest: String,
    /// What happened; stored beside the journal.
    #[serde(skip)]
    pub text: String,
}

/// A change in the state of evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchoring {
    /// The working tree that was checked; empty for the main one.
    #[serde(default)]
    pub worktree: String,
    /// The commit that is checked out; `None` before the first.
    #[serde(default)]
    pub head: Option<String>,
    /// The claims, with the new state of their evidence.
    #[serde(default)]
    pub engrams: Vec<Anchored>,
}

/// Where a project's repository is: a hint, not an identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// The common git folder.
    pub common_dir: String,
    /// The name of its folder.
    pub name: String,
}

/// Entries that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostEntries {
    /// Their places in the journal: the first and the last of each range.
    #[serde(default)]
    pub places: Vec<(u64, u64)>,
}

/// A place from which the user allowed the use of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// The common git folder of a copy, or the working tree if it does not own its git folder.
    pub place: String,
}

/// The content of a file of a working tree at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The sha256 of its bytes, in lower-case hex.
    #[serde(rename = "digest")]
    pub digest_hex: String,
    /// Its path, relative to the root of the working tree.
    pub path: String,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The id of the git blob with these bytes.
    pub blob: String,
    /// The whole file; stored beside the journal.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// Data that was in the tables but in no entry.
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
    /// Stored files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<Snapshot>,
    /// How often queries returned each version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<(EngramId, u64)>,
}

impl Operation {
    /// Removes what was erased: the topic, author and addresses of a claim, the address of an
    /// event, the path of a stored file.
    #[must_use]
    pub fn without_erased(self, erased: &Redaction) -> Self {
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
                if let GrantKind::Read { pointer, .. } = &mut new_grant.grant.what {
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
