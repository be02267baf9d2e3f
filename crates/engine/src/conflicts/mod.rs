//! Conflicts: found, raised, listed.
//!
//! A version that is stored is compared in three steps (`findings.rs`): its candidates are looked for
//! (`candidates.rs`), each is judged (`judging.rs`), and of the sides that it contradicts (`sides.rs`) some are raised
//! (`raising.rs`). Another source of candidates is a line of `SOURCES`; a judge that takes longer than the rules is given
//! to the `World`, and asked behind the answers.

pub(crate) mod candidates;
pub(crate) mod detect;
pub(crate) mod findings;
pub(crate) mod judging;
pub(crate) mod list;
pub(crate) mod parsed;
mod raising;
pub(crate) mod rights;
pub(crate) mod risks;
pub(crate) mod rules;
pub(crate) mod shown;
mod sides;
