//! The plan of a request, before it is recorded.

use engram_model::{Engram, Operation, Record, Scope};
use engram_store::Due;

/// The entries to record, and the answer.
pub(crate) struct Plan<T> {
    pub(crate) entries: Vec<Planned>,
    pub(crate) answer: T,
    /// The entry that the answer is about, by its position among them.
    pub(crate) about: Option<usize>,
}

impl<T> Plan<T> {
    /// A plan whose answer is about none of its entries.
    pub(crate) fn of(entries: Vec<Planned>, answer: T) -> Self {
        Self {
            entries,
            answer,
            about: None,
        }
    }

    /// Says which entry the answer is about, by its position.
    pub(crate) fn about(mut self, at: usize) -> Self {
        self.about = Some(at);
        self
    }
}

/// An operation to record.
pub(crate) struct Planned {
    pub(crate) operation: Operation,
    /// Who is recorded as its author.
    pub(crate) by: String,
    /// Whether it may ever leave this machine.
    pub(crate) shareable: bool,
    /// The comparisons due for the version that it stores, or for the version at this place.
    pub(crate) due: Option<(Option<u64>, Due)>,
}

impl Planned {
    pub(crate) fn new(operation: Operation, by: &str, shareable: bool) -> Self {
        Self {
            operation,
            by: by.to_owned(),
            shareable,
            due: None,
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
            due: due.map(|due| (None, due)),
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
