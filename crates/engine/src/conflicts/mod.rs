//! Conflicts: finding, raising and listing them, and the gate that they shut.
//!
//! A stored version is compared in three steps (`findings.rs`): its candidates are found
//! (`candidates.rs`), each one is judged (`judging.rs`), and some of the sides that it contradicts
//! (`sides.rs`) are raised (`raising.rs`).

pub(crate) mod candidates;
pub(crate) mod conflict_view;
pub(crate) mod detect;
pub(crate) mod findings;
pub(crate) mod gate;
pub(crate) mod judging;
pub(crate) mod lifecycle;
pub(crate) mod list;
pub(crate) mod near;
pub(crate) mod near_threshold;
pub(crate) mod parsed;
mod promising;
mod raising;
pub(crate) mod rights;
pub(crate) mod risks;
pub(crate) mod shown_near;
mod sides;
