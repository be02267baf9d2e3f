//! Followers: what they store, and that it can be rebuilt.

mod anchors;
mod indexing;
mod models;
mod vectors;
