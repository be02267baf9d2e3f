//! Conflicts: found, raised, listed.

pub(crate) mod candidates;
pub(crate) mod detect;
pub(crate) mod findings;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod parsed;
pub(crate) mod risks;
