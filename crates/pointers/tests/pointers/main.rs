//! Pointers against real repositories in temporary folders.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod big;
mod bounds;
mod completions;
mod definition_sources;
mod definitions;
mod diffs;
mod encodings;
mod fixture;
mod fuzzed;
mod hostile;
mod kept;
mod layouts;
mod links;
mod named;
mod sections;
mod spans;
mod standings;
mod tracked;
mod tracked_badly;
mod tracked_histories;
mod views;
mod worktrees;
