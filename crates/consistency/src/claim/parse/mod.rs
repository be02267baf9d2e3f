//! From words to statements: clauses are split off, and each is parsed word by word.

pub(super) mod assigned;
pub(super) mod circumstance;
pub(super) mod clause;
pub(super) mod event;
pub(super) mod read;
pub(super) mod sketch;
pub(super) mod value;
pub(super) mod word;
