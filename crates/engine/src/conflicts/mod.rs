//! Conflicts: found, raised, listed, settled.

pub(crate) mod candidates;
pub(crate) mod detect;
pub(crate) mod due;
pub(crate) mod findings;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod parsed;
pub(crate) mod risks;
pub(crate) mod settle;
