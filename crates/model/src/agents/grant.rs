//! A grant as stored: permission from a parent or the user for one thing beyond the budget
//! (docs/design.md#grants-and-requests). Its token is not stored here: only the holder has it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AgentId, is_over, words::words};

words!(
    /// The status of a grant.
    GrantState {
        /// It can be used.
        Open = "open",
        /// It was used.
        Spent = "spent",
        /// Its time is over.
        Expired = "expired",
        /// Its issuer or the user took it back.
        Revoked = "revoked",
    }
);

/// What a grant allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// One read of one pointer.
    Read {
        /// The canonical address, with a full pin.
        pointer: String,
        /// The most tokens (o200k_base) of the excerpt.
        cap_tokens: u32,
    },
    /// Inline code in one message.
    Code {
        /// The most characters of code.
        chars: u32,
    },
}

/// A grant that was issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRecord {
    /// Its name, which is not secret.
    pub id: String,
    /// The only agent that may use it.
    pub to: AgentId,
    /// Who issued it; `None` is the user.
    pub by: Option<AgentId>,
    /// What it allows.
    pub what: GrantKind,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Whether it was used.
    pub spent: bool,
    /// Whether it was taken back.
    pub revoked: bool,
    /// The grant that was issued in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

impl GrantRecord {
    /// Returns its state at a time. A used grant stays used, and setting the clock back does not
    /// extend a grant.
    pub fn state(&self, now: Timestamp) -> GrantState {
        if self.spent {
            GrantState::Spent
        } else if self.revoked {
            GrantState::Revoked
        } else if is_over(self.issued_at, Some(self.expires_at), now) {
            GrantState::Expired
        } else {
            GrantState::Open
        }
    }
}
