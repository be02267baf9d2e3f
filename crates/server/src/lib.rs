//! The surfaces that other programs call: MCP over standard streams and over HTTP, the HTTP API of
//! the dashboard, and the bus of agents. Each translates to the engine's one `Request` and back.
//!
//! **Never:** decides anything (budgets, scopes, validation are the engine's), writes anything but
//! protocol messages to standard output, or listens unencrypted beyond the loopback interface.

mod http;
mod http_caller;
mod mcp;
mod permits;
mod resolution_type;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use http::{Certificate, HttpOptions, HttpServer, Pages, listen_http};
pub use mcp::{Toolset, mcp_over, mcp_stdio};

/// The maximum number of engrams in an answer of the bus and of the tools `less_*`
/// (docs/design.md#limits-and-defaults).
const MOST_ENGRAMS: usize = 12;

/// Takes a lock. A poisoned lock is safe to use: no change behind one is ever left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
