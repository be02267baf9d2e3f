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

pub use http::{Certificate, HttpOptions, HttpServer, Pages, listen_http};
pub use mcp::{Toolset, mcp_over, mcp_stdio};

/// The maximum number of engrams in an answer of the bus and of the tools `less_*`
/// (docs/design.md#limits-and-defaults).
const MAX_ENGRAMS: usize = 12;
