//! Questions: which claims answer them, in which order, and what their pointers address.

pub(crate) mod deref;
pub(crate) mod keys;
pub(crate) mod query;
pub(crate) mod rank;
pub(crate) mod track_record;
