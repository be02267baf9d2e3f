//! Verdicts on conflicts, and what undoes them.

mod allow;
mod hidden_sides;
mod settle;
mod undo;
