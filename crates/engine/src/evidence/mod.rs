//! Evidence: gathering it for claims, showing it within budgets, and checking its health.

pub(crate) mod excerpt;
pub(crate) mod gather;
pub(crate) mod health;
pub(crate) mod pins;
