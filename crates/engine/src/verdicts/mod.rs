//! Verdicts on conflicts: settled, dismissed, allowed for a while, and undone.

pub(crate) mod allow;
mod dismissals;
mod merge;
pub(crate) mod settle;
mod undo;
