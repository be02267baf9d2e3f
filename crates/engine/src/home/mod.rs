//! The home: its files, its settings, and the log of agents' calls.

pub(crate) mod calls;
pub(crate) mod config;
pub(crate) mod failures;
pub(crate) mod files;
pub(crate) mod models;
pub(crate) mod questions;
