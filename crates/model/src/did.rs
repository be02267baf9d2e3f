//! What a journal entry did to a claim, for its history.

use crate::{Change, Engram, EngramId, How, Kind, Lost};

/// What was done to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// It was made for the first time.
    Stored,
    /// Its words stayed, and its pointers now address the evidence as it stood at that time.
    Confirmed,
    /// Its words changed.
    Corrected,
    /// A version that had ended holds again.
    Restored,
    /// Another agent or person said the same.
    Repeated,
    /// Agents were asked whether it still holds.
    Asked,
    /// A to-do was answered, or the question whether it still holds was closed.
    Answered,
    /// Its window was closed.
    Forgot,
    /// A verdict on a conflict ended it.
    Lost(Lost),
    /// Its text was erased.
    Redacted,
    /// It no longer expires.
    Promoted,
    /// Its words stayed, and its scope became wider.
    Widened,
}

impl Did {
    /// Returns what a change did; `None` if it is not about a claim. `find` looks up other
    /// versions, if the caller has them.
    pub fn of<'e>(change: &Change, find: impl Fn(EngramId) -> Option<&'e Engram>) -> Option<Self> {
        Some(match change {
            Change::Stored(engram) if engram.is_question() => Self::Asked,
            Change::Stored(engram) if engram.asks.is_some() => Self::Answered,
            Change::Stored(engram) if engram.restores.is_some() => Self::Restored,
            Change::Stored(engram) => {
                match (engram.supersedes, engram.supersedes.and_then(&find)) {
                    (None, _) => Self::Stored,
                    (_, Some(before)) if before.kind == Kind::Todo && engram.kind != Kind::Todo => {
                        Self::Answered
                    }
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
