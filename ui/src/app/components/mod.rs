//! The components that views share: icons, texts with code in them, refusals, lists, fields, and the
//! bar of selected rows.

pub(super) mod chosen;
pub(super) mod field;
pub(super) mod icons;
pub(super) mod inbox;
pub(super) mod prose;
pub(super) mod refused;
