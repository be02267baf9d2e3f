//! The engine over a real home and a real repository, with a clock that the tests turn.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents;
mod asking;
mod claims;
mod clock_jumps;
mod conflicts;
mod context;
mod evidence;
mod fixture;
mod follow;
mod home;
mod messages;
mod requests;
mod simulation;
mod verdicts;
