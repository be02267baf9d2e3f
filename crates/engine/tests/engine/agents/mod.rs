//! Agents: who they are, what they may do, and what they may spend.

mod budgets;
mod changes;
mod descendants;
mod grants;
mod handles;
mod names;
mod permissions;
mod rates;
mod read_requests;
mod records;
mod scopes;
mod timeline;
