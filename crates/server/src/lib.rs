//! The surfaces that other programs call: MCP over standard streams, and the local HTTP API of
//! the dashboard. Both translate to the engine's one `Request` and back.
//!
//! **Never:** decides nothing (budgets, scopes, validation are the engine's), writes nothing but
//! protocol messages to standard output, and listens unencrypted on nothing but the loopback interface.

mod http;
mod http_caller;
mod mcp;
mod permits;
mod resolution_type;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use http::{Certificate, HttpOptions, HttpServer, Pages, http};
pub use mcp::{Toolset, mcp_over, mcp_stdio};

/// Takes a lock. Whoever panicked with it left nothing half done: what is behind one is changed at once.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
