//! What a claim says (docs/design.md#what-a-claim-names): its statements, each with its subject,
//! circumstances and values. A claim is parsed once, by rules alone: the same words always give the
//! same result.
//!
//! An unknown word belongs to the subject. So a claim in any language can be read, and two claims
//! that differ in more than a value are about different things.

mod entity;
mod parse;
mod setting;
mod statement;
mod values;
mod words;

use std::borrow::Cow;

use engram_model::Entity;

pub use engram_model::fold;
pub use statement::{Statement, Term};
pub use values::{
    date::Days,
    number::Ratio,
    unit::{Dimension, Unit, unit},
    value::{Value, ValueKind},
};
pub use words::lexicon::Form;

pub(crate) use setting::Setting;
pub(crate) use statement::{Aspect, Reach};
pub(crate) use values::value::ValueRelation;
pub(crate) use words::{
    lexicon::{denies, is_everywhere, stem},
    name::{key_of_word, name_parts},
    technology::{TOOL, is_form_of, is_negotiated, is_part_of_product, live_together, plural_of},
    vocabulary::{BOUNDS, list_has},
};

use parse::{clause, event, read};
use words::token;

/// The most statements kept per claim.
const STATEMENTS: usize = 12;

/// A parsed claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// What it says about the present.
    pub statements: Vec<Statement>,
    /// The words in lower case with single spaces; duplicates have the same
    /// (docs/design.md#repeats-and-corroboration).
    pub folded: String,
    /// The words as written.
    pub(crate) text: String,
    entities: Vec<Entity>,
    /// The settings that it names.
    pub(crate) settings: Vec<Setting>,
    /// Whether it speaks of the present alone, not also of the past, of plans or of examples.
    pub(crate) is_whole: bool,
}

impl Claim {
    /// Parses a claim.
    pub fn read(text: &str) -> Self {
        let tokens = token::tokenize(&without_answer(text));
        let clauses = clause::clauses(&tokens);
        let mut read: Vec<Statement> = clauses
            .iter()
            .take(STATEMENTS)
            .map(|it| read::parse_clause(it))
            .collect();
        if event::is_headed(&tokens) {
            read.iter_mut().for_each(|it| it.aside = true);
        }
        let entities = entity::entities(&tokens, &read);
        Self {
            settings: setting::settings(&tokens),
            is_whole: read.len() < STATEMENTS && !read.iter().any(|it| it.aside),
            statements: read.into_iter().filter(Statement::says_something).collect(),
            folded: fold(text),
            text: text.to_owned(),
            entities,
        }
    }

    /// The entities that it names, with the values it gives (docs/design.md#what-a-claim-names).
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }
}

/// A text with spaces in place of a leading answer, such as "No:" in "No: the port is 8443.", so that
/// character offsets stay the same.
fn without_answer(text: &str) -> Cow<'_, str> {
    let begun = text.trim_start();
    for word in ["yes", "no"] {
        let rest = begun
            .get(..word.len())
            .filter(|it| it.eq_ignore_ascii_case(word))
            .and_then(|_| begun.get(word.len()..));
        if let Some(rest) = rest.and_then(|it| it.strip_prefix([':', ',', ';'])) {
            let left_out = text.chars().count() - rest.chars().count();
            return Cow::Owned(" ".repeat(left_out) + rest);
        }
    }
    Cow::Borrowed(text)
}
