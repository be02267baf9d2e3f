//! Pointer health: whether the evidence of a claim still reads as it did (DESIGN section 8, states).

use serde::{Deserialize, Serialize};

use crate::{EngramId, Refusal};

/// What became of the evidence of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Every pointer that could be looked at reads the same; whitespace does not count.
    Holds,
    /// Evidence was edited: somebody should look whether the claim is still true.
    NeedsReverification,
    /// Evidence is gone.
    EvidenceGone,
    /// No pointer could be looked at. That is not the same as changed.
    Unknown,
}

impl Evidence {
    /// In words, as every surface shows it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "evidence unchanged",
            Self::NeedsReverification => "needs re-verification",
            Self::EvidenceGone => "evidence gone",
            Self::Unknown => "could not look",
        }
    }
}

/// Where the evidence of one pointer is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedPointer {
    /// The pointer as it is stored.
    pub pointer: String,
    /// `unchanged`, `moved`, `renamed`, `edited` or `deleted`; absent where nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Where it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// First line now, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// Last line now, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
    /// `whitespace` or `text`, for an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

/// One claim and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedEngram {
    /// The version that holds.
    pub id: EngramId,
    /// What it says.
    pub claim: String,
    /// What became of its evidence.
    pub standing: Evidence,
    /// Its pointers that address source, in their order.
    pub pointers: Vec<CheckedPointer>,
}

/// Answer to [`crate::Request::CheckPointers`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReply {
    /// How many claims with evidence in source were looked at.
    pub checked: u64,
    /// All of them; or, with `changed`, those whose evidence the uncommitted work touches.
    pub engrams: Vec<CheckedEngram>,
}
