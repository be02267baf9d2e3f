//! Messages between parents and children, the shared brief, and the hooks of an orchestrator.

mod answers;
pub(crate) mod brief;
pub(crate) mod hooks;
pub(crate) mod message;
pub(crate) mod pack;
pub(crate) mod parent_message;
pub(crate) mod pins;
pub(crate) mod reached;
pub(crate) mod send;
