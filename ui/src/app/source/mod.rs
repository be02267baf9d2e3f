//! A source, as its card shows it: lines, documents, pictures, and what became of them.

mod card;
pub(super) mod code;
pub(super) mod document;
pub(super) mod long_line;
pub(super) mod media;
pub(super) mod sides;

pub(crate) use self::card::{SourceCard, panel_node};
