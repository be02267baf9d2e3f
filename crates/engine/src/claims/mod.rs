//! Claims: stored, read, corrected, closed, promoted, erased, and pointed at other evidence.

pub(crate) mod close;
pub(crate) mod lineage;
pub(crate) mod note;
pub(crate) mod outdated;
pub(crate) mod pointers;
pub(crate) mod promote;
pub(crate) mod put;
pub(crate) mod quotations;
pub(crate) mod read;
pub(crate) mod sample;
