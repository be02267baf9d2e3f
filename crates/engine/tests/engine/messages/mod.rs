//! Messages between a parent and its children, and the brief that they share.

mod brief;
mod grants;
mod metrics;
mod reached;
mod send;
