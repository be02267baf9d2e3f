//! Guards what the documents promise: the edges between crates, the sources, licences, the map.
//!
//! Reads manifests and text only, so it needs no webview and never builds anything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod documents;
mod edges;
mod licences;
mod sources;
mod workspace;
