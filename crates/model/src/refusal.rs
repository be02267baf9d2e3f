//! Refusals and failures: a stable code that clients branch on, a sentence, and what to do next.

use std::{collections::BTreeMap, convert::Infallible, fmt};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::visible;

/// Stable codes (docs/design.md#refusals). The first block refuses input; the second reports a
/// failure of what lies under Engram. The spelling of a code never changes.
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
    /// Too many writes, connections, streams or requests in too short a time, or an answer that
    /// took too long.
    RateLimited,
    /// Something that only the user may do, or that nobody may do here.
    ScopeDenied,
    /// A grant or engram past its time.
    Expired,
    /// No such engram, event, artifact, conflict, grant, request, agent or address, for this caller;
    /// or one that has ended, so that the request has nothing to act on.
    NotFound,
    /// A conflict that has another verdict already, or that ended with one of its sides; or a to-do that
    /// another agent has answered.
    AlreadySettled,
    /// The files or the endpoint of a model that cannot be used.
    ModelInvalid,

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
    /// Anything else: a bug in Engram or a fault of the machine.
    Internal,
}

impl Code {
    /// The code as spelled on every surface.
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
            Code::AlreadySettled => "ALREADY_SETTLED",
            Code::ModelInvalid => "MODEL_INVALID",
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
    /// Figures and fixes for a program; its fields are flattened into this object.
    #[serde(
        flatten,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "remedy"
    )]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub remedy: Option<Box<Remedy>>,
    /// What failed below; for the log only.
    #[serde(skip)]
    pub cause: Cause,
}

/// How to pass next time, for a program (docs/design.md#refusals). Empty fields are not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// Each budget concerned, by its name: `inline_tokens`, `engrams`, `repo_spans`, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Figure>,
    /// What to cut of a message, the most costly first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<Cut>,
    /// A message of the same kind that passes the same check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<Value>,
    /// The id of the refusal, to which a resend refers; set by the one who stores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The id of the request that a refused read became, because it gave a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// What a budget allows and what was asked of it, in its own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// What was used, or asked for.
    pub used: u64,
    /// What is allowed.
    pub limit: u64,
}

/// A part of a message that costs too much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cut {
    /// JSON pointer (RFC 6901) into the message: `/output/summary`.
    pub at: String,
    /// Tokens (o200k_base) of the text there; a quarter of its bytes if it is too long to
    /// count.
    pub tokens: u64,
}

/// Reads an empty remedy as `None`, so that a refusal reads back as it was written.
fn remedy<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<Remedy>>, D::Error> {
    let remedy = Remedy::deserialize(from)?;
    Ok((remedy != Remedy::default()).then(|| Box::new(remedy)))
}

/// The underlying error, in its own words. It may name what a reader must not see, so it is never
/// sent, and two refusals that differ only in it are equal. It is text rather than the refusal's
/// `source`: nobody branches on it, and a caller that prints the chain of sources would show it.
#[derive(Clone, Debug, Default)]
pub struct Cause(Option<Box<str>>);

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl From<Infallible> for Refusal {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl Refusal {
    /// A refusal with its hint. Both texts are full sentences for a reader. They may quote what the
    /// caller sent: invisible characters in it are named.
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: visible(&message.into()),
            hint: visible(&hint.into()),
            remedy: None,
            cause: Cause::default(),
        }
    }

    /// The refusal for a case that cannot happen.
    pub fn bug(what: impl Into<String>) -> Self {
        let hint = "This is a bug in Engram: please report it.";
        Self::new(Code::Internal, what, hint)
    }

    /// Refuses a text with an [invisible character](crate::unseen); `what` names the place.
    pub fn unseen(what: &str, character: char) -> Self {
        let code = u32::from(character);
        Self::new(
            Code::SchemaInvalid,
            format!("{what} contains U+{code:04X}, an invisible character"),
            "Remove all invisible characters: tags, variation selectors, direction marks.",
        )
    }

    /// Adds a figure of a budget: the amount used or asked for, and the limit.
    #[must_use]
    pub fn figure(mut self, name: impl Into<String>, used: u64, limit: u64) -> Self {
        let figures = &mut self.remedy.get_or_insert_default().figures;
        figures.insert(name.into(), Figure { used, limit });
        self
    }

    /// Whether it reports this figure.
    pub fn has_figure(&self, figure: &str) -> bool {
        let remedy = self.remedy.as_ref();
        remedy.is_some_and(|it| it.figures.contains_key(figure))
    }

    /// Adds parts to cut.
    #[must_use]
    pub fn cut(mut self, cut: impl IntoIterator<Item = Cut>) -> Self {
        let mut cut = cut.into_iter().peekable();
        if cut.peek().is_some() {
            self.remedy.get_or_insert_default().cut.extend(cut);
        }
        self
    }

    /// Adds a message that would pass.
    #[must_use]
    pub fn skeleton(mut self, skeleton: Value) -> Self {
        self.remedy.get_or_insert_default().skeleton = Some(skeleton);
        self
    }

    /// Names the place in a message to which the refusal applies, such as `engrams[0]`.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self {
            message: format!("`{place}`: {}", self.message),
            ..self
        }
    }

    /// Adds the underlying error.
    #[must_use]
    pub fn because(self, error: &impl fmt::Debug) -> Self {
        let cause = Cause(Some(format!("{error:?}").into()));
        Self { cause, ..self }
    }

    /// The underlying error, if known.
    pub fn cause(&self) -> Option<&str> {
        self.cause.0.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_stands_beside_the_sentences_and_reads_back() {
        let plain = Refusal::new(Code::BudgetExceeded, "too long", "cut it");
        assert_eq!(
            serde_json::to_string(&plain).unwrap_or_default(),
            r#"{"code":"BUDGET_EXCEEDED","message":"too long","hint":"cut it"}"#
        );
        let full = plain
            .clone()
            .figure("inline_tokens", 1200, 800)
            .cut([Cut {
                at: "/output/summary".to_owned(),
                tokens: 700,
            }])
            .skeleton(serde_json::json!({ "role": "programmer" }));
        let text = serde_json::to_string(&full).unwrap_or_default();
        assert_eq!(
            text,
            r#"{"code":"BUDGET_EXCEEDED","message":"too long","hint":"cut it","figures":{"inline_tokens":{"used":1200,"limit":800}},"cut":[{"at":"/output/summary","tokens":700}],"skeleton":{"role":"programmer"}}"#
        );
        for refusal in [plain, full] {
            let text = serde_json::to_string(&refusal).unwrap_or_default();
            assert_eq!(serde_json::from_str::<Refusal>(&text).ok(), Some(refusal));
        }
    }
}
