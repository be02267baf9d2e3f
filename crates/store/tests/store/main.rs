//! The store over a real folder: its locks, its schema versions, its index.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents;
mod due;
mod earlier_schemas;
mod feed;
mod fixture;
mod home;
mod index;
mod locks;
mod messages;
mod ours;
mod place;
mod recover;
mod replay;
mod served;
mod vectors;
