//! The words of a claim and what they mean: the lexicon, names, technologies.

pub(super) mod lexicon;
pub(super) mod name;
pub(super) mod technology;
pub(super) mod token;
pub(super) mod vocabulary;
