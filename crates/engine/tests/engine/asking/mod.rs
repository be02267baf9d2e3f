//! Questions: which claims answer them, in what order, and in what time.

mod list_search;
mod near_ties;
mod questions;
mod ranking;
mod time_limits;
mod track_record;
