//! Refusals and failures: a stable code that clients branch on, a sentence, and what to do next.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Stable codes. The first block refuses input (DESIGN section 8); the second reports a failure
/// of what lies under Engram. Neither ever changes its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// A message or dereference exceeds its budget.
    BudgetExceeded,
    /// A dereference that is neither within the budget nor granted.
    DerefDenied,
    /// An engram without a pointer.
    Unanchored,
    /// A pointer that does not follow the grammar.
    PointerInvalid,
    /// A pointer without a commit, digest or date.
    PointerUnpinned,
    /// A pointer to something that is not there.
    PointerNotFound,
    /// A claim over its length.
    ClaimTooLong,
    /// Input of the wrong shape.
    SchemaInvalid,
    /// Text that looks like a credential.
    SecretDetected,
    /// A claim that only repeats what was served to the same agent.
    Echo,
    /// Too many writes, connections or streams in too short a time.
    RateLimited,
    /// Something that only the user, or nobody here, may do.
    ScopeDenied,
    /// A grant or engram past its time.
    Expired,
    /// No such engram, event or artifact.
    NotFound,

    /// No git repository, or it was moved or deleted.
    RepoUnavailable,
    /// The disk is full.
    StoreFull,
    /// Another process kept the database locked for too long.
    StoreLocked,
    /// The home cannot be written.
    StoreReadOnly,
    /// The database is damaged.
    StoreCorrupt,
    /// The home was written by a newer Engram.
    StoreNewer,
    /// The home was moved, deleted or replaced under a running process.
    StoreGone,
    /// Anything else: a defect of ours or of the machine.
    Internal,
}

impl Code {
    /// The code as it is written on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::BudgetExceeded => "BUDGET_EXCEEDED",
            Code::DerefDenied => "DEREF_DENIED",
            Code::Unanchored => "UNANCHORED",
            Code::PointerInvalid => "POINTER_INVALID",
            Code::PointerUnpinned => "POINTER_UNPINNED",
            Code::PointerNotFound => "POINTER_NOT_FOUND",
            Code::ClaimTooLong => "CLAIM_TOO_LONG",
            Code::SchemaInvalid => "SCHEMA_INVALID",
            Code::SecretDetected => "SECRET_DETECTED",
            Code::Echo => "ECHO",
            Code::RateLimited => "RATE_LIMITED",
            Code::ScopeDenied => "SCOPE_DENIED",
            Code::Expired => "EXPIRED",
            Code::NotFound => "NOT_FOUND",
            Code::RepoUnavailable => "REPO_UNAVAILABLE",
            Code::StoreFull => "STORE_FULL",
            Code::StoreLocked => "STORE_LOCKED",
            Code::StoreReadOnly => "STORE_READ_ONLY",
            Code::StoreCorrupt => "STORE_CORRUPT",
            Code::StoreNewer => "STORE_NEWER",
            Code::StoreGone => "STORE_GONE",
            Code::Internal => "INTERNAL",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why something was refused or failed, and how to pass next time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{code}: {message}")]
pub struct Refusal {
    /// What clients branch on.
    pub code: Code,
    /// One sentence: what is wrong.
    pub message: String,
    /// One sentence: what to do next.
    pub hint: String,
    /// What failed below, for the log alone.
    #[serde(skip)]
    pub cause: Cause,
}

/// What failed below, as it says so itself. It may name what a reader must not see, so it is on no
/// wire, and refusals that say the same are the same whatever it is.
#[derive(Clone, Debug, Default)]
pub struct Cause(Option<Box<str>>);

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl Refusal {
    /// A refusal with its hint; both are sentences for a reader.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: hint.into(),
            cause: Cause::default(),
        }
    }

    /// The same, with what failed below.
    #[must_use]
    pub fn because(self, error: &impl fmt::Debug) -> Self {
        let cause = Cause(Some(format!("{error:?}").into()));
        Self { cause, ..self }
    }

    /// What failed below, where it is known.
    pub fn cause(&self) -> Option<&str> {
        self.cause.0.as_deref()
    }
}
