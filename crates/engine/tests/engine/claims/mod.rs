//! Claims, from the first version to the last.

mod decisions;
mod echoes;
mod erasure;
mod lifecycle;
mod promotion;
mod rewording;
mod same_words;
mod sample;
mod updates;
