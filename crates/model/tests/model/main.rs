//! The published contracts, and properties of every value.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod draft;
mod pointers;
mod schemas;
mod values;
mod versions;
