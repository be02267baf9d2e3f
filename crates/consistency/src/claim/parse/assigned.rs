//! What something is set to, other than a number: `LOG_FORMAT=json`, "the default branch is
//! `main`". Like a number, it is a value, and two different ones are two different settings.

use std::collections::BTreeSet;

use crate::claim::{
    statement::Statement,
    values::value::{Value, ValueKind},
    words::{lexicon, name, token::Token},
};

use super::sketch::{PlacedWord, Sketch};

/// What follows "is", "=" or "is set to".
struct Assignment {
    /// The words that it takes: the first and the last.
    first: usize,
    last: usize,
    /// The terms made of these words.
    terms: BTreeSet<usize>,
    /// Whether they are in quotation marks.
    literal: bool,
}

/// Makes a value of what is assigned to a name, or is the single value of an attribute.
pub(crate) fn assign(sketch: &mut Sketch, said: &mut Statement, tokens: &[Token]) {
    let Some((at, sure)) = sketch.assigned else {
        return;
    };
    let Some(assigned) = read_assigned(sketch, at, tokens) else {
        return;
    };
    if said.open || !may_be_value(sketch, said, tokens, (at, sure), &assigned) {
        return;
    }
    let taken = tokens
        .get(assigned.first..=assigned.last)
        .unwrap_or_default();
    let words: Vec<&str> = taken.iter().map(|it| it.lower.as_str()).collect();
    let text = words.join(" ");
    let text = name::technology_of(&text).map_or(text, |it| it.0);
    let (Some(from), Some(to)) = (taken.first(), taken.last()) else {
        return;
    };
    sketch.settings.retain(|it| it.2 < from.from);
    let mut place = 0;
    said.terms.retain(|_| {
        place += 1;
        !assigned.terms.contains(&(place - 1))
    });
    said.values
        .push(Value::exact(ValueKind::Name(text), from.from, to.to));
}

/// Reads one word, or several in quotation marks, with nothing after them.
fn read_assigned(sketch: &Sketch, at: usize, tokens: &[Token]) -> Option<Assignment> {
    let after: Vec<&PlacedWord> = sketch.places.iter().filter(|it| it.at > at).collect();
    let (first, last) = (after.first()?.at, after.last()?.at);
    let terms: Option<BTreeSet<usize>> = after.iter().map(|it| it.term).collect();
    let quoted = |it: &&PlacedWord| tokens.get(it.at).is_some_and(|it| it.quoted);
    let literal = after.iter().all(quoted);
    let assigned = Assignment {
        first,
        last,
        terms: terms?,
        literal,
    };
    (first == last || literal).then_some(assigned)
}

/// Whether it can be a value, not a description such as in "the address is configurable".
fn may_be_value(
    sketch: &Sketch,
    said: &Statement,
    tokens: &[Token],
    (at, sure): (usize, bool),
    assigned: &Assignment,
) -> bool {
    let own = |it: &(usize, &crate::claim::statement::Term)| !assigned.terms.contains(&it.0);
    let subject = || said.terms.iter().enumerate().filter(own).map(|it| it.1);
    let taken = || assigned.terms.iter().filter_map(|it| said.terms.get(*it));
    let pole = taken().any(|it| it.key.starts_with('='));
    let word = tokens
        .get(assigned.first)
        .map_or("", |it| it.lower.as_str());
    if pole || subject().next().is_none() || (!assigned.literal && is_adjective(word)) {
        return false;
    }
    let end = tokens.get(at).map_or(0, |it| it.to);
    let setting = sketch.settings.iter().any(|it| it.2 < end);
    let capitals = tokens.iter().take(at + 1).any(|it| is_constant(&it.text));
    let exclusive = subject().any(|it| lexicon::has_one_value(&it.key));
    if sure {
        setting || capitals || exclusive || subject().any(|it| it.traits.generic)
    } else {
        exclusive || assigned.literal || (capitals && setting)
    }
}

/// Whether a name is that of a constant: `LOG_FORMAT` is, `TZ2` is too short to be sure.
pub(crate) fn is_constant(text: &str) -> bool {
    let sign = |it: char| it.is_uppercase() || it == '_' || it.is_ascii_digit();
    text.len() > 2 && text.chars().all(sign) && text.chars().any(char::is_alphabetic)
}

/// Whether a word describes something, and so is not a value.
pub(crate) fn is_adjective(word: &str) -> bool {
    const ENDINGS: [&str; 8] = ["able", "ible", "ed", "ing", "ous", "ful", "ive", "less"];
    ENDINGS.iter().any(|it| word.ends_with(it))
}
