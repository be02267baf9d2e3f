//! Guards what the documents promise: the edges between crates, the sources, licences, the map.
//!
//! Reads manifests and text only, so it needs no webview and never builds anything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ceilings;
mod documents;
mod edges;
mod licences;
// The sizes are only printed, by `xtask/examples/shape.rs`.
#[allow(dead_code)]
mod shape;
mod sources;
mod workspace;
