//! Agents: how they are opened, what they may still read, their grants, what they were shown, and
//! what they did.

pub(crate) mod budgets;
pub(crate) mod delivered;
pub(crate) mod grants;
pub(crate) mod metrics;
pub(crate) mod opened;
pub(crate) mod served;
