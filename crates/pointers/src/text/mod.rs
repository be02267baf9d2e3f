//! Reads files as text, and finds in them what pointers name.

mod blocks;
pub(crate) mod definition;
pub(crate) mod encoding;
pub(crate) mod landmarks;
mod languages;
pub(crate) mod media;
pub(crate) mod section;
