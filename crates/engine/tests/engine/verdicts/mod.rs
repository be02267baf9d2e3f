//! Verdicts on conflicts, and what undoes them.

mod allow;
mod beside;
mod hidden_sides;
mod high_stakes;
mod judge;
mod settle;
mod undo;
