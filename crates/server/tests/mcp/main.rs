//! The MCP server over an in-memory pair of streams, in both protocol eras, on a real repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounds;
mod calls;
mod client;
mod conflicts;
mod criteria;
mod descriptions;
mod hostile;
mod less;
mod refusals;
mod resources;
mod steering;
mod surface;
mod wire;
