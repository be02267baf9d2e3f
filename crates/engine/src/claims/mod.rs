//! Claims: stored, read, corrected, closed, promoted, erased; and the evidence that they rest on.

pub(crate) mod close;
pub(crate) mod evidence;
pub(crate) mod lineage;
pub(crate) mod note;
pub(crate) mod outdated;
pub(crate) mod promote;
pub(crate) mod put;
pub(crate) mod quotations;
pub(crate) mod read;
pub(crate) mod sample;
