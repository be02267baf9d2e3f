//! The circumstances under which a clause holds: its environment, conditions and exceptions.

use crate::claim::{
    values::quantity::Words,
    words::{
        lexicon::{self, Meaning},
        name,
        token::Token,
        vocabulary,
    },
};

use super::read::Reader;

/// Takes a phrase that comes before the subject: "in production, ...", "on Node 18 the suite ...".
pub(crate) fn take_leading(reader: &mut Reader<'_>) {
    if !vocabulary::list_has(vocabulary::LEADS, reader.words.lower(0)) || is_phrase(&reader.words) {
        return;
    }
    let tokens = reader.words.0;
    let is_determiner =
        |it: &Token| ["the", "a", "an", "we", "it", "this"].contains(&it.lower.as_str());
    let comma = tokens.iter().position(|it| it.is(","));
    let next = tokens
        .iter()
        .enumerate()
        .skip(2)
        .find(|it| is_determiner(it.1))
        .map(|it| it.0);
    let Some(end) = comma.or(next) else {
        return;
    };
    if super::clause::verb_position(tokens.get(end..).unwrap_or_default()).is_none() {
        return;
    }
    for token in tokens.get(..end).unwrap_or_default() {
        note_word(reader, token);
    }
    reader.at = end + usize::from(comma.is_some());
}

/// Whether the clause begins with a phrase of the lexicon, such as "in the past" or "for example".
fn is_phrase(words: &Words<'_>) -> bool {
    let pair = format!("{} {}", words.lower(0), words.lower(1));
    let three = format!("{pair} {}", words.lower(2));
    lexicon::meaning_of(&pair).is_some() || lexicon::meaning_of(&three).is_some()
}

/// Takes a condition: up to the next comma if it comes first, or else to the end.
pub(crate) fn take_condition(reader: &mut Reader<'_>, word: &str) {
    let first = reader.sketch.places.is_empty();
    if ["unless", "without"].contains(&word) {
        reader.said.conditions.insert("not".to_owned());
    }
    let begun = reader.at;
    while let Some(token) = reader.words.get(reader.at) {
        let determiner =
            ["the", "a", "an"].contains(&token.lower.as_str()) && reader.at > begun + 1;
        let over = first && (token.is(",") || (determiner && !has_comma(reader)));
        if over {
            break;
        }
        note_word(reader, token);
        reader.at += 1;
    }
    // "While in use" has no word of its own, but is still a condition.
    if reader.said.conditions.is_empty() && reader.said.environment.is_empty() && reader.at > begun
    {
        reader.said.conditions.insert(word.to_owned());
    }
}

fn has_comma(reader: &Reader<'_>) -> bool {
    let rest = reader.words.0.get(reader.at..).unwrap_or_default();
    rest.iter().any(|it| it.is(","))
}

/// Notes one word of a circumstance.
fn note_word(reader: &mut Reader<'_>, token: &Token) {
    if token.mark {
        return;
    }
    let meaning = if token.quoted {
        None
    } else {
        lexicon::meaning_of(&token.lower)
    };
    match meaning {
        Some(Meaning::Environment(key)) if token.lower != "ci" || token.text == "CI" => {
            reader.said.environment.insert(key.to_owned());
        }
        Some(Meaning::Noise | Meaning::Preposition | Meaning::Light) => {}
        Some(Meaning::Past | Meaning::Plan | Meaning::Example) => reader.said.aside = true,
        _ if is_region(&token.lower) => drop(reader.said.environment.insert(token.lower.clone())),
        _ => {
            for part in name::name_parts(&token.text) {
                reader.said.conditions.insert(name::key_of_word(&part));
            }
        }
    }
}

/// Takes a quantifier's exceptions, up to the verb.
pub(crate) fn take_exceptions(reader: &mut Reader<'_>) {
    while let Some(token) = reader.words.get(reader.at) {
        let meaning = lexicon::meaning_of(&token.lower);
        let verb = matches!(
            meaning,
            Some(Meaning::Light | Meaning::Open | Meaning::Negation)
        );
        let stem = lexicon::meaning_of_stem(&lexicon::stem(&token.lower));
        let bent = token.lower.ends_with('s') || token.lower.ends_with("ed");
        let known = matches!(
            stem,
            Some(Meaning::Verb | Meaning::Filled(_) | Meaning::Hold(_))
        ) && !bent
            && !reader.said.except.is_empty();
        if token.mark || verb || known {
            break;
        }
        if meaning.is_none() {
            let parts = name::name_parts(&token.text);
            reader
                .said
                .except
                .extend(parts.iter().map(|it| name::key_of_word(it)));
        }
        reader.at += 1;
    }
}

/// Whether "was" is followed by something still in effect: was raised, was removed.
pub(crate) fn is_event(words: &Words<'_>, at: usize) -> bool {
    (at..at + 3).any(|next| {
        let word = words.lower(next);
        let pair = format!("{word} {}", words.lower(next + 1));
        let gone = [word, &pair]
            .iter()
            .any(|it| matches!(lexicon::meaning_of(it), Some(Meaning::Alive(false))));
        gone || matches!(
            lexicon::meaning_of_stem(&lexicon::stem(word)),
            Some(Meaning::Change | Meaning::End("remove" | "delete"))
        )
    })
}

/// `eu-west-1`, `us-central-2b`.
pub(crate) fn is_region(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let letters = |it: &&str| it.len() >= 2 && it.bytes().all(|it| it.is_ascii_lowercase());
    match parts.as_slice() {
        [land, middle @ .., last] if !middle.is_empty() => {
            land.len() == 2
                && letters(land)
                && middle.iter().all(letters)
                && last.starts_with(|it: char| it.is_ascii_digit())
                && last.len() <= 2
        }
        _ => false,
    }
}

/// The word that a prefix denies: unencrypted, non-nullable.
pub(crate) fn denied_word(word: &str) -> Option<String> {
    let rest = word
        .strip_prefix("non-")
        .or_else(|| word.strip_prefix("non").filter(|it| it.len() > 5))
        .or_else(|| word.strip_prefix("un").filter(|it| it.len() > 5))?;
    let letters = rest.chars().all(|it| it.is_ascii_alphabetic() || it == '-');
    (letters && rest.len() > 3).then(|| rest.to_owned())
}
