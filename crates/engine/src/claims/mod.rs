//! Claims: storing, reading, correcting, closing, promoting and erasing them, and moving their
//! pointers.

pub(crate) mod close;
pub(crate) mod lineage;
pub(crate) mod note;
pub(crate) mod outdated;
pub(crate) mod pointers;
pub(crate) mod promote;
pub(crate) mod put;
pub(crate) mod quotations;
pub(crate) mod read;
pub(crate) mod reword;
pub(crate) mod sample;
pub(crate) mod search;
