//! Splits a claim into clauses, each with its subject: "the pool has 10 connections
//! and waits 30 s" are two statements about the pool.

use crate::claim::{
    values::quantity,
    words::{
        lexicon::{self, Meaning},
        token::Token,
    },
};

/// The clauses of a claim, without questions, which state nothing.
pub(crate) fn clauses(tokens: &[Token]) -> Vec<Vec<Token>> {
    let ends = |it: &Token| {
        !it.quoted
            && [".", "!", "?", ";", "\n", "。", "؟", "！", "？"]
                .iter()
                .any(|end| it.is(end))
    };
    let mut found = Vec::new();
    for sentence in tokens.split_inclusive(|it| ends(it)) {
        let asks = sentence
            .last()
            .is_some_and(|it| it.is("?") || it.is("？") || it.is("؟"));
        if !asks {
            split(sentence, &mut found);
        }
    }
    found
}

/// The most conjunctions of a sentence that are examined.
const CONJUNCTIONS: usize = 16;

/// Splits a sentence where a conjunction joins two verbs, or two numbers of one subject.
fn split(sentence: &[Token], found: &mut Vec<Vec<Token>>) {
    let (mut from, mut tried) = (0, 0);
    let mut subject: Vec<Token> = Vec::new();
    for at in 1..sentence.len() {
        let Some((left, right)) = sentence.get(from..at).zip(sentence.get(at..)) else {
            continue;
        };
        let Some(skipped) = conjunction_length(right) else {
            continue;
        };
        if is_inside_value(sentence, from, at) {
            continue;
        }
        tried += 1;
        if tried > CONJUNCTIONS || found.len() >= CONJUNCTIONS {
            break;
        }
        let right = right.get(skipped..).unwrap_or_default();
        let next = right
            .iter()
            .position(|it| it.is(","))
            .unwrap_or(right.len());
        let right = right.get(..next).unwrap_or_default();
        let two_verbs = verb_position(left).is_some() && verb_of_any(right).is_some();
        let two_numbers = verb_position(left).is_some()
            && has_number(left)
            && has_number(right)
            && !is_range(left);
        if !(two_verbs || two_numbers) {
            continue;
        }
        if let Some(verb) = verb_position(left) {
            subject = left.get(..verb).unwrap_or_default().to_vec();
        }
        found.push(left.to_vec());
        from = at + skipped;
        // A part without a subject of its own continues with the same one.
        if verb_position(right).is_none() {
            let rest = sentence.get(from..).unwrap_or_default();
            let whole: Vec<Token> = subject.iter().chain(rest).cloned().collect();
            return split(&whole, found);
        }
    }
    let rest = sentence.get(from..).unwrap_or_default();
    if !rest.is_empty() {
        found.push(rest.to_vec());
    }
}

/// Whether the conjunction here is part of a number: "one hundred and fifty", "1 h and 30 min".
fn is_inside_value(sentence: &[Token], from: usize, at: usize) -> bool {
    const BACK: usize = 6;
    let words = quantity::Words(sentence);
    (at.saturating_sub(BACK).max(from)..at)
        .any(|it| quantity::value_at(&words, it).is_some_and(|found| it + found.words > at))
}

/// The number of words of a conjunction that starts here.
fn conjunction_length(tokens: &[Token]) -> Option<usize> {
    let is = |at: usize, word: &str| {
        tokens
            .get(at)
            .is_some_and(|it| !it.quoted && it.lower == word)
    };
    let word = |at: usize| {
        ["and", "but", "while", "whereas"]
            .iter()
            .any(|it| is(at, it))
    };
    // "While in use" is a condition.
    let is_preposition =
        tokens.get(1).and_then(|it| lexicon::meaning_of(&it.lower)) == Some(Meaning::Preposition);
    if is(0, "while") && is_preposition {
        return None;
    }
    match (is(0, ","), word(0), word(1)) {
        (true, _, true) => Some(2),
        (false, true, _) => Some(1),
        _ => None,
    }
}

/// The position of the first verb with something before it.
pub(crate) fn verb_position(tokens: &[Token]) -> Option<usize> {
    let verb = |sure: bool| {
        tokens
            .iter()
            .enumerate()
            .skip(1)
            .position(|(_, it)| is_verb(it, sure))
            .map(|it| it + 1)
    };
    verb(true).or_else(|| verb(false))
}

fn verb_of_any(tokens: &[Token]) -> Option<usize> {
    tokens
        .iter()
        .position(|it| is_verb(it, true))
        .or_else(|| tokens.iter().position(|it| is_verb(it, false)))
}

/// Whether a word is a verb: certainly, like "is" and "uses", or possibly by its form, like
/// "retries".
pub(crate) fn is_verb(token: &Token, sure: bool) -> bool {
    if token.mark || token.quoted {
        return false;
    }
    if let Some(meaning) = lexicon::meaning_of(&token.lower) {
        let needs = ["needs", "requires", "need", "require"].contains(&token.lower.as_str());
        let sure_verb = needs
            || matches!(meaning, Meaning::Light | Meaning::Open)
            || token.lower.ends_with("n't");
        let maybe = matches!(
            meaning,
            Meaning::Concept("retry" | "timeout" | "port" | "lasting")
        ) && token.lower.ends_with('s');
        return if sure { sure_verb } else { maybe };
    }
    let base = lexicon::base_of_irregular(&token.lower);
    let bent = base.is_some()
        || token.lower.ends_with("ed")
        || (token.lower.ends_with('s') && !token.lower.ends_with("ss"));
    let known = matches!(
        lexicon::meaning_of_stem(&lexicon::stem(base.unwrap_or(&token.lower))),
        Some(
            Meaning::Verb
                | Meaning::Light
                | Meaning::Filled(_)
                | Meaning::End(_)
                | Meaning::Hold(_)
                | Meaning::Change
                | Meaning::Opposite(..)
        )
    );
    !sure && bent && known
}

fn has_number(tokens: &[Token]) -> bool {
    let words = quantity::Words(tokens);
    (0..tokens.len()).any(|at| quantity::value_at(&words, at).is_some())
}

fn is_range(tokens: &[Token]) -> bool {
    tokens.iter().any(|it| it.lower == "between")
}
