//! Evidence: gathered for what is stored, shown within budgets, and how it stands now.

pub(crate) mod excerpt;
pub(crate) mod gather;
pub(crate) mod health;
pub(crate) mod pins;
