//! What a journal entry did to a claim, as a history tells it.

use crate::{Change, Engram, EngramId, How, Lost};

/// What was done to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It was said first.
    Stored,
    /// Its words stayed, and it points at its evidence as that was then.
    Confirmed,
    /// It got other words.
    Corrected,
    /// An ended version holds again.
    Restored,
    /// Another voice said the same.
    Repeated,
    /// Agents were asked if it still holds.
    Asked,
    /// That question ended.
    Answered,
    /// Its window was closed.
    Forgot,
    /// A verdict on a conflict ended it.
    Lost(Lost),
    /// Its text was erased.
    Redacted,
    /// It no longer ends by itself.
    Promoted,
    /// Its words stayed, and more may see it.
    Widened,
}

impl Did {
    /// What a change did; none where it is about no claim. `find` has other versions, as far as they are at
    /// hand.
    pub fn of<'e>(change: &Change, find: impl Fn(EngramId) -> Option<&'e Engram>) -> Option<Self> {
        Some(match change {
            Change::Stored(engram) if engram.asks.is_some() => Self::Asked,
            Change::Stored(engram) if engram.restores.is_some() => Self::Restored,
            Change::Stored(engram) => {
                match (engram.supersedes, engram.supersedes.and_then(&find)) {
                    (None, _) => Self::Stored,
                    (_, Some(before)) if before.content_hash == engram.content_hash => {
                        if before.scope == engram.scope {
                            Self::Confirmed
                        } else {
                            Self::Widened
                        }
                    }
                    (_, None) if engram.place.is_some() => Self::Confirmed,
                    _ => Self::Corrected,
                }
            }
            Change::Corroborated(_) => Self::Repeated,
            Change::Forgotten(id) => match find(*id).map(|it| (it.asks, it.lost)) {
                Some((Some(_), _)) => Self::Answered,
                Some((_, Some(lost))) => Self::Lost(lost),
                _ => Self::Forgot,
            },
            Change::Redacted(_) => Self::Redacted,
            Change::Promoted { .. } => Self::Promoted,
            Change::Unlisted(_)
            | Change::Dereferenced { .. }
            | Change::Noted { .. }
            | Change::Anchored { .. }
            | Change::Conflict { .. }
            | Change::Resolved { .. }
            | Change::Allowed(_)
            | Change::Disallowed(_)
            | Change::Between { .. } => return None,
        })
    }

    /// The verb for it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Confirmed => "confirmed",
            Self::Corrected => "corrected",
            Self::Restored => "restored",
            Self::Repeated => "repeated",
            Self::Asked => "asked",
            Self::Answered => "answered",
            Self::Forgot => "forgot",
            Self::Lost(lost) if lost.how == How::Merge => "merged",
            Self::Lost(_) => "lost",
            Self::Redacted => "redacted",
            Self::Promoted => "promoted",
            Self::Widened => "widened",
        }
    }
}
