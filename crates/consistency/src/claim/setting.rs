//! The settings that a claim names: variables, options and keys, each known by its own name,
//! whatever the sentence around it.

use super::{
    parse::assigned::{is_adjective, is_constant},
    values::value::{Value, ValueKind},
    words::{
        name,
        token::Token,
        vocabulary::{LINKS, UNSET, list_has},
    },
};

/// The most settings of one claim.
const MAX_SETTINGS: usize = 8;

/// A setting that a claim names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    /// The parts of its name, joined by a space.
    pub(crate) key: String,
    /// Its first character in the claim.
    pub(crate) from: usize,
    /// The character after its last.
    pub(crate) to: usize,
    /// Whether its name is one that only settings have: `MAX_CONN`, `--jobs`.
    pub(crate) is_certain: bool,
    /// The word that it is set to: `debug` in "exports `RUST_LOG` as `debug`".
    pub(crate) word: Option<Value>,
}

/// The settings that a claim names, each once.
pub(crate) fn settings(tokens: &[Token]) -> Vec<Setting> {
    let mut found: Vec<Setting> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if found.len() == MAX_SETTINGS || !is_setting(token) {
            continue;
        }
        let key = name::name_parts(&token.text).join(" ");
        let word = word_after(tokens.get(at + 1..).unwrap_or_default());
        match found.iter_mut().find(|it| it.key == key) {
            Some(known) => known.word = known.word.take().or(word),
            None => found.push(Setting {
                key,
                from: token.from,
                to: token.to,
                is_certain: is_certain(&token.text),
                word,
            }),
        }
    }
    found
}

/// Whether a word is the name of a setting. Prose has compounds and abbreviations that look like
/// one, unless they are quoted.
fn is_setting(token: &Token) -> bool {
    let text = &token.text;
    let is_name = !token.mark
        && name::is_setting(text)
        && !name::is_path(text)
        && name::technology_of(text).is_none();
    is_name
        && (token.quoted || text.contains('_') || text.starts_with("--") || name::has_hump(text))
}

/// Whether a name is in capitals with an underscore, or an option of a command.
fn is_certain(text: &str) -> bool {
    is_constant(text) && text.contains('_') || text.starts_with("--")
}

/// The word that follows "is", "to", "as" or "=", if nothing of the same phrase follows it.
fn word_after(tokens: &[Token]) -> Option<Value> {
    let [link, word, rest @ ..] = tokens else {
        return None;
    };
    let is_linked = !link.quoted && list_has(LINKS, &link.lower);
    let ends = rest
        .first()
        .is_none_or(|it| it.mark || (word.quoted && !it.quoted) || list_has(LINKS, &it.lower));
    let is_word = !word.mark
        && word.text.chars().any(char::is_alphabetic)
        && (word.quoted || !list_has(UNSET, &word.lower) && !is_adjective(&word.lower));
    (is_linked && is_word && ends)
        .then(|| Value::exact(ValueKind::Name(word.lower.clone()), word.from, word.to))
}
