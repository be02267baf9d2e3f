//! The plan of a request, before it is recorded.

use engram_model::{Engram, Operation, Record, Scope};
use engram_store::Due;
use sha2::{Digest, Sha256};

/// The hash by which equal claims are found: of the claim's words, as they are stored.
pub(crate) fn content_hash(claim: &str) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(claim)))
}

/// The entries to record, and the answer.
pub(crate) struct Plan<T> {
    pub(crate) entries: Vec<Planned>,
    pub(crate) answer: T,
}

impl<T> Plan<T> {
    pub(crate) fn of(entries: Vec<Planned>, answer: T) -> Self {
        Self { entries, answer }
    }
}

/// An operation to record.
pub(crate) struct Planned {
    pub(crate) operation: Operation,
    /// Who is recorded as its author.
    pub(crate) by: String,
    /// Whether it may ever leave this machine.
    pub(crate) shareable: bool,
    pub(crate) due: Option<DueOf>,
    /// Whether the answer is about this entry.
    pub(crate) is_answer: bool,
}

/// The comparisons that an entry makes due.
#[derive(Clone, Copy)]
pub(crate) enum DueOf {
    /// Those of the version that it stores.
    Own(Due),
    /// Those of the version at this place.
    At(u64, Due),
}

impl Planned {
    pub(crate) fn new(operation: Operation, by: &str, shareable: bool) -> Self {
        Self {
            operation,
            by: by.to_owned(),
            shareable,
            due: None,
            is_answer: false,
        }
    }

    /// The entry that the answer is about.
    pub(crate) fn for_answer(self) -> Self {
        Self {
            is_answer: true,
            ..self
        }
    }

    /// An operation that never leaves this machine.
    pub(crate) fn private(operation: Operation, by: &str) -> Self {
        Self::new(operation, by, false)
    }

    /// A version to store, with the comparisons that are due.
    pub(crate) fn stored(engram: Engram, by: &str, due: Option<Due>) -> Self {
        let shareable = engram.scope != Scope::Run;
        Self {
            due: due.map(DueOf::Own),
            ..Self::new(Operation::Stored(Box::new(engram.into())), by, shareable)
        }
    }

    /// The end of a version.
    pub(crate) fn ended(engram: &Engram, by: &str) -> Self {
        Self::new(
            Operation::Forgotten(engram.id),
            by,
            engram.scope != Scope::Run,
        )
    }

    /// Another author for a version.
    pub(crate) fn corroborated(engram: &Engram, by: &str) -> Self {
        Self::new(
            Operation::Corroborated(engram.id),
            by,
            engram.scope != Scope::Run,
        )
    }

    /// The version that it stores.
    pub(crate) fn version(&self) -> Option<Engram> {
        match &self.operation {
            Operation::Stored(record) => Some(Record::clone(record).into()),
            _ => None,
        }
    }
}
