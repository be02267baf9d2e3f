//! The kinds of operations, and what follows from each: who reads of it, and whether agents' rates count it.

use serde::{Deserialize, Serialize};

use crate::engram::words;

words!(
    /// The name of an operation in the journal.
    OperationKind {
        /// [`super::Operation::Stored`]
        Stored = "stored",
        /// [`super::Operation::Corroborated`]
        Corroborated = "corroborated",
        /// [`super::Operation::Forgotten`]
        Forgotten = "forgotten",
        /// [`super::Operation::Unlisted`]
        Unlisted = "unlisted",
        /// [`super::Operation::Redacted`]
        Redacted = "redacted",
        /// [`super::Operation::Promoted`]
        Promoted = "promoted",
        /// [`super::Operation::Dereferenced`]
        Dereferenced = "dereferenced",
        /// [`super::Operation::Noted`]
        Noted = "noted",
        /// [`super::Operation::Anchored`]
        Anchored = "anchored",
        /// [`super::Operation::Located`]
        Located = "located",
        /// [`super::Operation::Admitted`]
        Admitted = "admitted",
        /// [`super::Operation::Joined`]
        Joined = "joined",
        /// [`super::Operation::Opened`]
        Opened = "opened",
        /// [`super::Operation::Requested`]
        Requested = "requested",
        /// [`super::Operation::Denied`]
        Denied = "denied",
        /// [`super::Operation::Granted`]
        Granted = "granted",
        /// [`super::Operation::Revoked`]
        Revoked = "revoked",
        /// [`super::Operation::Refused`]
        Refused = "refused",
        /// [`super::Operation::Kept`]
        Kept = "kept",
        /// [`super::Operation::Counted`]
        Counted = "counted",
        /// [`super::Operation::Served`]
        Served = "served",
        /// [`super::Operation::Pinned`]
        Pinned = "pinned",
        /// [`super::Operation::Unpinned`]
        Unpinned = "unpinned",
        /// [`super::Operation::Sent`]
        Sent = "sent",
        /// [`super::Operation::Unsent`]
        Unsent = "unsent",
        /// [`super::Operation::Carried`]
        Carried = "carried",
        /// [`super::Operation::Recovered`]
        Recovered = "recovered",
        /// [`super::Operation::Conflicted`]
        Conflicted = "conflict",
        /// [`super::Operation::Resolved`]
        Resolved = "resolved",
        /// [`super::Operation::Allowed`]
        Allowed = "allowed",
    }
);

/// Who may read of an operation.
#[derive(PartialEq, Eq)]
enum Readers {
    /// Nobody: it is bookkeeping.
    None,
    /// The user: it is between agents, or between them and the user.
    User,
    /// Whoever may see what it is about.
    All,
}

impl OperationKind {
    fn readers(self) -> Readers {
        match self {
            Self::Located
            | Self::Admitted
            | Self::Kept
            | Self::Counted
            | Self::Served
            | Self::Unsent
            | Self::Carried
            | Self::Recovered => Readers::None,
            Self::Joined
            | Self::Opened
            | Self::Requested
            | Self::Denied
            | Self::Granted
            | Self::Revoked
            | Self::Refused
            | Self::Pinned
            | Self::Unpinned
            | Self::Sent => Readers::User,
            Self::Stored
            | Self::Corroborated
            | Self::Forgotten
            | Self::Unlisted
            | Self::Redacted
            | Self::Promoted
            | Self::Dereferenced
            | Self::Noted
            | Self::Anchored
            | Self::Conflicted
            | Self::Resolved
            | Self::Allowed => Readers::All,
        }
    }

    /// Whether readers of the journal see it; the others are bookkeeping.
    pub fn is_told(self) -> bool {
        self.readers() != Readers::None
    }

    /// Whether it is between agents, or between them and the user: only the user is told of it.
    pub fn is_between(self) -> bool {
        self.readers() == Readers::User
    }

    /// Whether the feed shows it unasked.
    pub fn is_news(self) -> bool {
        matches!(
            self,
            Self::Stored
                | Self::Corroborated
                | Self::Forgotten
                | Self::Unlisted
                | Self::Redacted
                | Self::Promoted
                | Self::Conflicted
                | Self::Resolved
                | Self::Allowed
        )
    }

    /// Whether it counts in the rates of the agent that causes it: all that an agent stores, closes, settles or
    /// asks of others. What reads, and what is recorded along with something else, does not.
    pub fn is_rated(self) -> bool {
        match self {
            Self::Stored
            | Self::Corroborated
            | Self::Forgotten
            | Self::Noted
            | Self::Promoted
            // A turn of another's: one's own begins with a call.
            | Self::Joined
            | Self::Opened
            | Self::Requested
            | Self::Denied
            | Self::Granted
            | Self::Pinned
            | Self::Unpinned
            | Self::Sent
            | Self::Unsent
            | Self::Resolved => true,
            Self::Unlisted
            | Self::Redacted
            | Self::Dereferenced
            | Self::Anchored
            | Self::Located
            | Self::Admitted
            | Self::Revoked
            | Self::Refused
            | Self::Kept
            | Self::Counted
            | Self::Served
            | Self::Carried
            | Self::Recovered
            | Self::Conflicted
            | Self::Allowed => false,
        }
    }
}
