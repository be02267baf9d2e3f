//! What a request comes to, before it is recorded.

use engram_model::Operation;
use engram_store::Due;

/// What is to be recorded, and what is answered then.
pub(crate) struct Plan<T> {
    pub(crate) entries: Vec<Planned>,
    pub(crate) answer: T,
}

/// An operation that is to be recorded.
pub(crate) struct Planned {
    pub(crate) operation: Operation,
    /// Who is said to have done it.
    pub(crate) by: String,
    /// Whether it may ever leave this machine.
    pub(crate) shareable: bool,
    /// What is left to compare of the version that it stores, or of the one at this place.
    pub(crate) due: Option<(Option<u64>, Due)>,
}
