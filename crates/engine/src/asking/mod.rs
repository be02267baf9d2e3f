//! Questions: which claims answer them, in which order, and what their pointers address.

pub(crate) mod by_embedding;
mod candidates;
pub(crate) mod deref;
pub(crate) mod keys;
pub(crate) mod meaning;
pub(crate) mod query;
pub(crate) mod rank;
pub(crate) mod track_record;
