//! Recognises what happened, as opposed to what holds: entries of a changelog, subjects of commits,
//! changes. Two events do not contradict each other.

use crate::claim::words::{
    lexicon,
    token::Token,
    vocabulary::{AUXILIARIES, CHANGES, COPULAS, HAPPENED, HEADS, list_has},
};

use super::clause;

/// The most tokens between a kind of change and its colon.
const SCOPE: usize = 8;
/// A verb this early makes the first word a noun: "update checks run daily".
const SUBJECT: usize = 3;

/// Whether a claim is headed by a kind of change: `fix(cli): ...`, `**Added:** ...`, `BUG #12: ...`.
pub(crate) fn is_headed(tokens: &[Token]) -> bool {
    let mut rest = tokens.iter().skip_while(|it| it.mark);
    if !rest.next().is_some_and(|it| list_has(HEADS, &it.lower)) {
        return false;
    }
    let mut is_within = false;
    for token in rest.take(SCOPE) {
        if token.is(":") {
            return true;
        }
        is_within = token.is("(") || is_within && !token.is(")");
        let is_number = token.lower.starts_with(|it: char| it.is_ascii_digit());
        if !(token.mark || is_within || is_number) {
            return false;
        }
    }
    false
}

/// Whether a clause says what happened once: "562 days passed", "step 3 took 9 ms".
pub(crate) fn tells_past(tokens: &[Token]) -> bool {
    (1..tokens.len()).any(|at| {
        let lower = |at: usize| tokens.get(at).map_or("", |it| it.lower.as_str());
        let before = lower(at - 1);
        let is_number = |word: &str| word.starts_with(|it: char| it.is_ascii_digit());
        let is_alone = !list_has(COPULAS, before) && !list_has(AUXILIARIES, before);
        // In "5 failed attempts", it only says which attempts.
        let ends = !is_number(before)
            && tokens.get(at + 1).is_none_or(|it| {
                it.mark || is_number(&it.lower) || lexicon::meaning_of(&it.lower).is_some()
            });
        let is_quoted = tokens.get(at).is_some_and(|it| it.quoted);
        is_alone && ends && !is_quoted && list_has(HAPPENED, lower(at))
    })
}

/// Whether a clause begins with what was done: "bump serde to 2", "added a cache".
pub(crate) fn tells_change(tokens: &[Token]) -> bool {
    // The part that was changed: "net: fix a leak".
    let skipped = match tokens {
        [part, colon, ..] if !part.mark && colon.is(":") => 2,
        _ => 0,
    };
    let mut words = tokens.iter().skip(skipped).skip_while(|it| it.mark);
    let is_change = words
        .next()
        .is_some_and(|it| !it.quoted && list_has(CHANGES, &it.lower));
    let early = words.take(SUBJECT).take_while(|it| !it.quoted);
    is_change && !early.into_iter().any(|it| clause::is_verb(it, true))
}
