//! Checks what the documents promise about the edges between crates, the sources, licences and the
//! map.
//!
//! It only reads manifests and text, so it needs no webview and builds nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ceilings;
mod documents;
mod edges;
mod licences;
// Only `xtask/examples/shape.rs` uses the sizes.
#[allow(dead_code)]
mod shape;
mod sources;
mod workspace;
