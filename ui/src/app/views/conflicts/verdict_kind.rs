//! The verdicts that a person may give: which fit a conflict, and what each sends.

use engram_model::{Conflict, ConflictSide, ConflictStatus, PairVerdict, Settle};

/// A person's verdict on a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictVerdict {
    /// The side that was stored first (A) holds.
    First,
    /// The other side holds.
    Second,
    /// The side that was stored last holds.
    Newer,
    /// The side with the higher confidence holds.
    Surer,
    /// One wording replaces both.
    Merge,
    /// It is a conflict: what was only possible, or rested on an agent's word.
    Contradict,
    /// It is not a conflict.
    Dismiss,
    /// It stays open, but no longer blocks CI.
    Allow,
}

impl ConflictVerdict {
    /// All verdicts, in the order in which they are offered.
    pub const ALL: [Self; 8] = [
        Self::First,
        Self::Second,
        Self::Newer,
        Self::Surer,
        Self::Merge,
        Self::Contradict,
        Self::Dismiss,
        Self::Allow,
    ];

    /// The name of the command that gives it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::First => "first-holds",
            Self::Second => "second-holds",
            Self::Newer => "newer-holds",
            Self::Surer => "surer-holds",
            Self::Merge => "merge",
            Self::Contradict => "contradict",
            Self::Dismiss => "dismiss",
            Self::Allow => "allow",
        }
    }

    /// Whether it fits this conflict: a possible one is confirmed, dismissed or merged first, and if
    /// both sides have the same confidence, neither is surer.
    pub fn fits(self, conflict: &Conflict) -> bool {
        let is_possible = conflict.status == ConflictStatus::Possible;
        let is_open = conflict.status == ConflictStatus::Open;
        match self {
            Self::Contradict => is_possible || conflict.is_unconfirmed(),
            Self::Dismiss | Self::Merge => is_possible || is_open,
            Self::Surer => is_open && conflict.a.confidence != conflict.b.confidence,
            // One that nobody confirmed blocks nothing.
            Self::Allow => is_open && conflict.allowed.is_none() && !conflict.is_unconfirmed(),
            _ => is_open,
        }
    }

    /// Whether a button offers it, even if it does not fit: what a possible conflict needs first, or
    /// what an open one waits for.
    pub fn is_offered(self, conflict: &Conflict) -> bool {
        match self {
            Self::Contradict | Self::Dismiss | Self::Merge => self.fits(conflict),
            Self::Allow if conflict.is_unconfirmed() => false,
            _ => conflict.status == ConflictStatus::Open,
        }
    }

    /// Whether it can settle several conflicts at once: each merge needs a wording of its own.
    pub fn is_for_many(self) -> bool {
        self != Self::Merge
    }

    /// Returns the claim that holds after it, if only one does; `merged` is the wording of a merge.
    pub fn holds<'a>(self, conflict: &'a Conflict, merged: Option<&'a str>) -> Option<&'a str> {
        let (a, b) = (&conflict.a, &conflict.b);
        match self {
            Self::First => Some(&a.claim),
            Self::Second | Self::Newer => Some(&b.claim),
            Self::Surer if a.confidence > b.confidence => Some(&a.claim),
            Self::Surer => Some(&b.claim),
            Self::Merge => merged,
            Self::Contradict | Self::Dismiss | Self::Allow => None,
        }
    }

    /// Whether the verdict on one conflict ends a side of another, which then closes by itself.
    pub fn closes(self, conflict: &Conflict, other: &Conflict) -> bool {
        let (a, b) = (&conflict.a, &conflict.b);
        let ended = match self {
            Self::First => vec![b],
            Self::Second | Self::Newer => vec![a],
            Self::Surer if a.confidence > b.confidence => vec![b],
            Self::Surer => vec![a],
            Self::Merge => vec![a, b],
            Self::Contradict | Self::Dismiss | Self::Allow => Vec::new(),
        };
        let is_ended = |side: &ConflictSide| {
            let mut ended = ended.iter();
            ended.any(|it| it.claim == side.claim && it.topic == side.topic)
        };
        is_ended(&other.a) || is_ended(&other.b)
    }

    /// Returns the settlement to send; none if the verdict needs a wording or settles nothing.
    pub fn settle(self, conflict: &Conflict) -> Option<Settle> {
        match self {
            Self::First => Some(Settle::Winner(conflict.a.id)),
            Self::Second => Some(Settle::Winner(conflict.b.id)),
            Self::Newer => Some(Settle::Newer),
            Self::Surer => Some(Settle::Surer),
            Self::Contradict => Some(Settle::judge(PairVerdict::Contradicts)),
            Self::Dismiss if conflict.status == ConflictStatus::Possible => {
                Some(Settle::judge(PairVerdict::Compatible))
            }
            Self::Dismiss => Some(Settle::Dismiss),
            Self::Merge | Self::Allow => None,
        }
    }
}
