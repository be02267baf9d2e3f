//! What a claim says (docs/design.md#what-a-claim-names): its statements, each with its subject,
//! circumstances and values. Parsed once, by rules alone: the same words
//! always give the same result.
//!
//! A word that is not understood belongs to the subject. So a claim in any language can be read, and two
//! that differ in more than a value are about different things.

mod assigned;
mod circumstance;
mod clause;
mod date;
mod entity;
mod given;
mod lexicon;
mod name;
mod number;
mod quantity;
mod range;
mod read;
mod sketch;
mod statement;
mod technology;
mod token;
mod unit;
mod value;
mod vocabulary;
mod word;

use engram_model::Entity;

pub use date::Days;
pub use engram_model::fold;
pub use lexicon::Form;
pub use number::Ratio;
pub use statement::{Statement, Term};
pub use unit::{Dimension, Unit, unit};
pub use value::{Reading, Value};

pub(crate) use lexicon::is_everywhere;
pub(crate) use name::{key, parts};
pub(crate) use statement::{Aspect, Reach};
pub(crate) use technology::{TOOL, is_form_of, is_negotiated, is_part_of_product, live_together};
pub(crate) use value::Stand;

/// Most statements kept per claim.
const STATEMENTS: usize = 12;

/// A parsed claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// What it says about the present.
    pub statements: Vec<Statement>,
    /// Its words in lower case with single spaces: what duplicates have in common
    /// (docs/design.md#repeats-and-corroboration).
    pub folded: String,
    entities: Vec<Entity>,
}

impl Claim {
    /// Parses a claim.
    pub fn read(text: &str) -> Self {
        let tokens = token::tokens(text);
        let clauses = clause::clauses(&tokens);
        let read: Vec<Statement> = clauses
            .iter()
            .take(STATEMENTS)
            .map(|it| read::read(it))
            .collect();
        let entities = entity::entities(&tokens, &read);
        Self {
            statements: read.into_iter().filter(Statement::says_something).collect(),
            folded: fold(text),
            entities,
        }
    }

    /// What it names, and the values it gives (docs/design.md#what-a-claim-names).
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }
}
