//! Agents: opened, what each may still read, what it was granted and shown, and what it did.

pub(crate) mod budgets;
pub(crate) mod delivered;
pub(crate) mod grants;
pub(crate) mod metrics;
pub(crate) mod opened;
pub(crate) mod served;
