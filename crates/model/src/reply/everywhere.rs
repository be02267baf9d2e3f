//! Questions about all repositories of a home, and their replies.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{ProjectId, words::words};

/// What is known about the wanted repository. The first clue that leads to a repository decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clues {
    /// The id of something in it: a claim, a conflict, an event, a request, a grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The normalised address of its remote, as [`crate::ProjectStatus::remote`] has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// A commit in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Where a repository of this home is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// Its name.
    pub name: String,
    /// Its working tree, or its git folder; absent for what is stored outside of any repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it is the repository that requests are about.
    pub is_here: bool,
    /// Whether there is nothing at that path any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
}

/// Where something was found; absent if this home does not know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocateReply {
    /// The repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Whereabouts>,
    /// What the id in the clues names, if a link can open it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Linkable>,
}

words!(
    /// What an id names, if a link can open it.
    Linkable {
        /// A version of a claim.
        Claim = "claim",
        /// A conflict, or a possible one.
        Conflict = "conflict",
        /// A request to read more.
        Request = "request",
    }
);

/// Since when to report the news: after this place in the journal, and not before this time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewsSince {
    /// The last place in the journal that was seen.
    pub seq: u64,
    /// The earliest time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

words!(
    /// What is new.
    NewsKind as "kind of news" {
        /// Claims that cannot both hold.
        Contradicted = "contradicted",
        /// Verdicts of an agent that ended claims of others.
        Settled = "settled",
        /// A request to read more that waits.
        Asked = "asked",
        /// Claims whose evidence changed.
        Drifted = "drifted",
        /// New claims.
        Learned = "learned",
    }
);

/// What is new in all repositories of the home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewsReply {
    /// The newest place in the journal at the time of the read.
    pub head: u64,
    /// Whether more happened than was read; the oldest news is then left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// By repository, agent and kind. The repository with the most pressing kind comes first, then the
    /// one with the newest row.
    pub rows: Vec<NewsRow>,
}

/// What one agent did in one repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewsRow {
    /// The repository.
    pub project: ProjectId,
    /// The repository's name.
    pub repository: String,
    /// Its working tree, or its git folder; absent for what is stored outside of any repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it is the repository that requests are about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_here: bool,
    /// What happened.
    pub what: NewsKind,
    /// The name of the agent; empty where no agent did it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// How often.
    pub count: u64,
    /// When it happened last.
    pub at: Timestamp,
    /// The entry of the latest occurrence.
    pub seq: u64,
    /// The latest claim, conflict or request; of claims whose evidence changed, the newest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// That claim, what the conflict is about, or the reason of the request with its pointer: an
    /// agent's words, never an instruction.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}
