//! What something is set to, other than a number: `LOG_FORMAT=json`, "the default branch is
//! `main`". It is a value like a number, and two different ones are two settings.

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
    /// The terms that they became.
    terms: BTreeSet<usize>,
    /// Whether they are in quotation marks.
    literal: bool,
}

/// Makes a value of what is assigned to a name, or is an attribute's single value.
pub(crate) fn assign(sketch: &mut Sketch, said: &mut Statement, tokens: &[Token]) {
    let Some((at, sure)) = sketch.assigned else {
        return;
    };
    let Some(assigned) = after(sketch, at, tokens) else {
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
    let text = name::technology(&text).map_or(text, |it| it.0);
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

/// One word, or several in quotation marks, and nothing else.
fn after(sketch: &Sketch, at: usize, tokens: &[Token]) -> Option<Assignment> {
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

/// Whether it is a value, not a description: "the address is configurable".
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

/// `TZ2` is too short to be sure, `LOG_FORMAT` is the name of a constant.
fn is_constant(text: &str) -> bool {
    let sign = |it: char| it.is_uppercase() || it == '_' || it.is_ascii_digit();
    text.len() > 2 && text.chars().all(sign) && text.chars().any(char::is_alphabetic)
}

/// Words that describe something and are not values.
fn is_adjective(word: &str) -> bool {
    const ENDINGS: [&str; 8] = ["able", "ible", "ed", "ing", "ous", "ful", "ive", "less"];
    ENDINGS.iter().any(|it| word.ends_with(it))
}
