//! The components that views share: icons, texts with code in them, refusals, and lists.

pub(super) mod icons;
pub(super) mod inbox;
pub(super) mod prose;
pub(super) mod refused;
