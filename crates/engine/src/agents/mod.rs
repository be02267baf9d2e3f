//! Agents: who calls, under which name, what each may still read, and what it did.

pub(crate) mod budgets;
pub(crate) mod calls;
pub(crate) mod delivered;
pub(crate) mod grants;
pub(crate) mod known;
pub(crate) mod metrics;
pub(crate) mod names;
pub(crate) mod served;
