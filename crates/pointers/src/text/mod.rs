//! What a file says: bytes as text, and where in it the things are that pointers name.

mod blocks;
pub(crate) mod definition;
pub(crate) mod encoding;
pub(crate) mod landmarks;
mod languages;
pub(crate) mod media;
pub(crate) mod section;
