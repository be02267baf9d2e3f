//! How the page reaches the engine: requests over one of two transports, the journal, and what
//! it makes stale.

pub(super) mod backend;
pub(super) mod connection;
mod http;
pub(super) mod stale;
mod tauri;
