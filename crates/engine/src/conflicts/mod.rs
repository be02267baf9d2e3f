//! Conflicts: found, raised, listed, settled.

pub(crate) mod allow;
pub(crate) mod candidates;
pub(crate) mod detect;
mod dismissals;
pub(crate) mod due;
pub(crate) mod findings;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod parsed;
pub(crate) mod risks;
pub(crate) mod settle;
