//! Replies to reads: a query, a pointer, the feed.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Budget;
use crate::{CheckedPointer, ConflictId, Engram, EngramId, Entry};

/// How well a query was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Verdict")
)]
#[serde(rename_all = "lowercase")]
pub enum AnswerQuality {
    /// The first engram is about what was asked.
    Strong,
    /// Something related was found.
    Weak,
    /// Nothing is known.
    None,
}

/// Answer to a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryReply {
    /// How well the first result answers.
    pub verdict: AnswerQuality,
    /// Whether no engram had every term, so that some terms were dropped.
    pub relaxed: bool,
    /// Older versions that were not searched because there is no index; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
    /// How many of the examined engrams matched beyond the limit; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<u64>,
    /// The model that compared meanings with the question; absent if the built-in table of words did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_by: Option<String>,
    /// Best first.
    pub engrams: Vec<Engram>,
    /// The two claims, at least one of them among `engrams`, about which the calling agent is asked,
    /// since it wrote neither; absent if it is asked nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<AskedPair>,
}

/// Two near claims that an agent is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskedPair {
    /// The id that a conflict of the two has.
    pub conflict: ConflictId,
    /// Their words, the older claim first.
    pub claims: [String; 2],
    /// Their authors.
    pub by: [String; 2],
}

/// What a pointer addresses, provably.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dereferenced {
    /// The exact pointer that was used, pinned.
    pub pointer: String,
    /// The text, from its beginning, within the budget.
    pub excerpt: String,
    /// `sha256:HEX` of the bytes of the full span.
    pub content_digest: String,
    /// Tokens (o200k_base) of the excerpt.
    pub tokens: u32,
    /// Whether the excerpt ends before the span does.
    pub truncated: bool,
    /// The pointer to the lines that were left out, pinned, beginning with a line that was cut. Absent
    /// if nothing was cut, if credentials were masked, if less than one line fits, or if the pointer
    /// is neither `repo:` nor `test:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// How many credentials are masked in an agent's excerpt; absent where none is. The user's is
    /// never masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<u32>,
    /// How it has changed since it was pinned; absent if unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<CheckedPointer>,
    /// What is left for the agent; absent for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The grant that paid, in place of the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

/// A page of the feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedPage {
    /// The entries, in the requested order. A short or empty page is not the end: a filter is
    /// applied to one stretch of the journal at a time.
    pub entries: Vec<Entry>,
    /// Where the next page begins; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// The newest place in the journal at the time of the read.
    pub head: u64,
    /// How many engrams hold now.
    pub engrams: u64,
    /// Versions among the entries that a newer one replaced, each with that newer version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<(EngramId, EngramId)>,
    /// Corrections among the entries that were undone: the version that each replaced was restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<EngramId>,
}

/// What a search of the feed found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchReply {
    /// How well the first result answers.
    pub verdict: AnswerQuality,
    /// How many others were found; absent if none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<u64>,
    /// Older versions that were not ranked because there is no index; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
    /// The entries that stored the engrams, best first: what holds, then what has ended.
    pub page: FeedPage,
    /// Where each claim contains what was searched for, in bytes.
    pub marks: Vec<(EngramId, Vec<Range<usize>>)>,
}
