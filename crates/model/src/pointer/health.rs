//! Pointer health: whether the evidence of a claim still reads as it did
//! (docs/design.md#how-evidence-stands).

use serde::{Deserialize, Serialize};

use crate::{EngramId, Lines, Refusal, words::words};

words!(
    /// What became of the evidence of one claim.
    Evidence {
        /// Every pointer that could be checked is unchanged, ignoring whitespace.
        Holds = "holds",
        /// Evidence was edited: someone should check whether the claim is still true.
        NeedsReverification = "needs_reverification",
        /// Evidence is gone.
        EvidenceGone = "evidence_gone",
        /// No pointer could be checked. That is not the same as changed.
        Unknown = "unknown",
    }
);

impl Evidence {
    /// States in which someone should check the claim.
    pub const DRIFTED: [Self; 2] = [Self::NeedsReverification, Self::EvidenceGone];

    /// The state in words, as every surface shows it.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Holds => "evidence unchanged",
            Self::NeedsReverification => "edited: review",
            Self::EvidenceGone => "evidence gone",
            Self::Unknown => "could not check",
        }
    }
}

words!(
    /// What became of the lines of a pointer.
    PointerState {
        /// The same path, lines and bytes.
        Unchanged = "unchanged",
        /// The same bytes on other lines.
        Moved = "moved",
        /// The same bytes at another path.
        Renamed = "renamed",
        /// Still there, with changed bytes.
        Edited = "edited",
        /// Gone.
        Deleted = "deleted",
    }
);

words!(
    /// How far the bytes of edited lines differ.
    PointerEdit {
        /// In whitespace only, line breaks and their kind included.
        Whitespace = "whitespace",
        /// In what can be read.
        Text = "text",
    }
);

/// Where the evidence of one pointer is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedPointer {
    /// The pointer as stored.
    pub pointer: String,
    /// `unchanged`, `moved`, `renamed`, `edited` or `deleted`; absent if it could not be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub state: Option<PointerState>,
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
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub change: Option<PointerEdit>,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What was read when the claim was made differs from what it is pinned to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub phantom: bool,
    /// Why it could not be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

impl CheckedPointer {
    /// Whether it matches its pin: the same path, lines and bytes.
    pub fn is_unchanged(&self) -> bool {
        self.state == Some(PointerState::Unchanged) && !self.phantom
    }

    /// Whether more than whitespace was edited.
    fn is_reworded(&self) -> bool {
        (self.state, self.change) == (Some(PointerState::Edited), Some(PointerEdit::Text))
    }

    /// The state in words: `moved, now src/a.rs#L3-L9`.
    pub fn in_words(&self) -> String {
        let mut words = match (self.state, &self.error) {
            (Some(PointerState::Edited), _) if self.change == Some(PointerEdit::Whitespace) => {
                "reformatted".to_owned()
            }
            (Some(state), _) => state.to_string(),
            (None, Some(error)) => format!("could not check: {}", error.message),
            (None, None) => "could not check".to_owned(),
        };
        if let (Some(path), Some(start), Some(end), false) = (
            &self.path,
            self.start,
            self.end,
            self.state == Some(PointerState::Unchanged),
        ) {
            words.push_str(&format!(", now {path}#{}", Lines { start, end }));
        }
        if self.phantom {
            words.push_str("; differs from what the author read");
        }
        words
    }

    /// Whether it differs from an earlier check by more than line numbers.
    pub fn is_news_after(&self, before: &Self) -> bool {
        (self.state, &self.path, self.change) != (before.state, &before.path, before.change)
            || (self.phantom, self.error.is_some()) != (before.phantom, before.error.is_some())
    }
}

/// The state of a claim's evidence in one working tree, as last checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// What that means for the claim.
    pub standing: Evidence,
    /// Its pointers to source, in order; empty if all are unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pointers: Vec<CheckedPointer>,
}

impl Health {
    /// The health of a claim with these pointers: the worst state of those that could be checked.
    pub fn of(pointers: Vec<CheckedPointer>) -> Self {
        let any = |is: fn(&CheckedPointer) -> bool| pointers.iter().any(is);
        let standing = if any(|it| it.state == Some(PointerState::Deleted)) {
            Evidence::EvidenceGone
        } else if any(|it| it.is_reworded() || it.phantom) {
            Evidence::NeedsReverification
        } else if any(|it| it.state.is_some()) {
            Evidence::Holds
        } else {
            Evidence::Unknown
        };
        if pointers.iter().all(CheckedPointer::is_unchanged) && !pointers.is_empty() {
            Self::unchanged()
        } else {
            Self { standing, pointers }
        }
    }

    /// The health of unchanged evidence.
    pub fn unchanged() -> Self {
        Self {
            standing: Evidence::Holds,
            pointers: Vec::new(),
        }
    }

    /// Whether it differs from an earlier check by more than line numbers.
    pub fn is_news_after(&self, before: &Self) -> bool {
        let pairs = || self.pointers.iter().zip(&before.pointers);
        self.standing != before.standing
            || self.pointers.len() != before.pointers.len()
            || pairs().any(|(now, then)| now.is_news_after(then))
    }

    /// The pointer whose evidence changed most; `None` if there is nothing to report.
    pub fn worst(&self) -> Option<&CheckedPointer> {
        let rank = |it: &&CheckedPointer| match it.state {
            Some(PointerState::Deleted) => 0,
            _ if it.phantom || it.is_reworded() => 1,
            None => 2,
            Some(PointerState::Edited) => 3,
            Some(PointerState::Renamed) => 4,
            Some(PointerState::Moved) => 5,
            Some(PointerState::Unchanged) => 6,
        };
        self.pointers.iter().min_by_key(rank)
    }
}

/// The new health of one claim, as recorded in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchored {
    /// The claim.
    pub id: EngramId,
    /// The state of its evidence before.
    pub before: Evidence,
    /// Its health now.
    pub health: Health,
}

/// One claim and the state of its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedEngram {
    /// The version that holds.
    pub id: EngramId,
    /// Its words.
    pub claim: String,
    /// The state of its evidence.
    pub standing: Evidence,
    /// Its pointers to source, in order.
    pub pointers: Vec<CheckedPointer>,
}

/// The answer to [`crate::Request::CheckPointers`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReply {
    /// How many claims with evidence in source were checked.
    pub checked: u64,
    /// All checked claims; with `since`, only those whose evidence the work since then touches.
    pub engrams: Vec<CheckedEngram>,
}
