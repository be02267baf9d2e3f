//! Verdicts on conflicts: settling, dismissing, allowing and undoing.

pub(crate) mod allow;
pub(crate) mod beside;
pub(crate) mod by_model;
mod dismissals;
pub(crate) mod explain;
pub(crate) mod high_stakes;
pub(crate) mod judge;
mod merge;
pub(crate) mod settle;
mod undo;
