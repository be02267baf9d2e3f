//! Verdicts on conflicts: settled, dismissed, allowed for a while, and undone.

pub(crate) mod allow;
mod dismissals;
pub(crate) mod settle;
