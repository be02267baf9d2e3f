//! What common words mean for a comparison: general software English, not fitted to particular
//! claims. A word not listed here belongs to the subject, and must occur in the other claim too.

use std::{collections::HashMap, sync::LazyLock};

use rust_stemmers::{Algorithm, Stemmer};

use super::vocabulary::{EXACT, STEMMED};

/// How a number limits its attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Exactly the number.
    Exact,
    /// "At most", "up to": the highest allowed.
    AtMost,
    /// "At least", "or newer": the lowest allowed.
    AtLeast,
    /// "More than", as observed.
    More,
    /// "Less than", as observed.
    Less,
    /// `^1.2.3`: this version, or a later one that is compatible with it.
    Compatible,
    /// `~1.2.3`: this version, or a later patch of it.
    Patched,
}

/// What a word does in a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A word that makes no difference.
    Noise,
    /// A preposition: the following words depend on the preceding ones.
    Preposition,
    /// A verb without meaning of its own: is, has, runs.
    Light,
    /// A verb that allows several values: supports, depends on.
    Open,
    /// A verb that allows only one value: written in, deployed to.
    Filled(&'static str),
    /// A verb after which something ends: expires, is deleted.
    End(&'static str),
    /// A verb during which something lasts: is kept, stays.
    Hold(&'static str),
    /// Any other common verb.
    Verb,
    /// A verb that changes its subject: raised, migrated.
    Change,
    /// A noun that adds nothing to a name: setting, value.
    Generic,
    Negation,
    /// One of two opposites: the word that names the pair, and which of the two it is.
    Opposite(&'static str, bool),
    /// A synonym of another word.
    Concept(&'static str),
    Form(Form),
    About,
    Environment(&'static str),
    All,
    NoneOf,
    Some,
    Except,
    Also,
    Past,
    Plan,
    Example,
    Default,
    Condition,
    Alive(bool),
}

impl Meaning {
    /// Whether it is a verb when not used as a noun.
    pub(crate) fn is_verb(self) -> bool {
        matches!(self, Light | Filled(_) | End(_) | Hold(_) | Verb | Change)
    }
}

use Meaning::*;

static EXACT_WORDS: LazyLock<HashMap<&'static str, Meaning>> = LazyLock::new(|| {
    // The first row that lists a word decides.
    let rows = EXACT.iter().rev();
    rows.flat_map(|(meaning, words)| words.split(", ").map(|it| (it, *meaning)))
        .collect()
});
static STEMS: LazyLock<HashMap<String, Meaning>> = LazyLock::new(|| {
    let rows = STEMMED
        .iter()
        .rev()
        .flat_map(|(meaning, words)| words.split(", ").map(|it| (stem(it), *meaning)));
    rows.collect()
});

static IRREGULAR: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    const FORMS: &str = "kept keep, held hold, sent send, written write, wrote write, built build, \
         shown show, thrown throw, split split, read read, bound bind, paid pay, made make, taken take, \
         given give, grown grow, chosen choose, hidden hide, frozen freeze, broken break, driven drive, \
         found find, lost lose, left leave, forbidden forbid, rewritten rewrite, rebuilt rebuild, \
         spoken speak, shut shut, set set, run run, ran run, cut cut, put put, drawn draw, begun begin, \
         won win, fed feed, spent spend, met meet, overridden override, withdrawn withdraw";
    FORMS
        .split(", ")
        .filter_map(|it| it.split_once(' '))
        .collect()
});

/// The most words of an entry of [`EXACT`].
pub(crate) const MAX_WORDS_OF_FORM: usize = 4;

/// The meaning of these words in exactly this form, in lower case and separated by one space.
pub(crate) fn meaning_of(words: &str) -> Option<Meaning> {
    EXACT_WORDS.get(words).copied()
}

/// The meaning of a word in any form.
pub(crate) fn meaning_of_stem(stem: &str) -> Option<Meaning> {
    STEMS.get(stem).copied()
}

/// Whether a word denies what is said, or says it of none.
pub(crate) fn denies(word: &str) -> bool {
    meaning_of(word).is_some_and(|it| matches!(it, Meaning::Negation | Meaning::NoneOf))
}

/// The base form of an irregular verb form.
pub(crate) fn base_of_irregular(word: &str) -> Option<&'static str> {
    IRREGULAR.get(word).copied()
}

/// The stem that all forms of a word share.
pub(crate) fn stem(word: &str) -> String {
    // No word is this long; a longer text has only one form.
    const LONG: usize = 48;
    if word.is_ascii() && word.len() <= LONG {
        Stemmer::create(Algorithm::English).stem(word).into_owned()
    } else {
        word.to_owned()
    }
}

/// Whether a noun has a single value: if two claims give two, one is wrong.
pub(crate) fn has_one_value(key: &str) -> bool {
    static NOUNS: LazyLock<Vec<String>> = LazyLock::new(|| {
        [
            "level",
            "mode",
            "format",
            "branch",
            "region",
            "zone",
            "timezone",
            "tz",
            "locale",
            "encoding",
            "charset",
            "algorithm",
            "cipher",
            "strategy",
            "provider",
            "engine",
            "backend",
            "driver",
            "host",
            "hostname",
            "url",
            "uri",
            "path",
            "bucket",
            "owner",
            "type",
            "protocol",
            "scheme",
            "language",
            "theme",
            "color",
            "colour",
            "currency",
            "tier",
            "shell",
            "license",
            "licence",
            "dialect",
            "collation",
            "role",
            "prefix",
            "suffix",
            "separator",
            "delimiter",
            "image",
            "samesite",
            "style",
            "policy",
            "scheduler",
            "author",
            "maintainer",
        ]
        .map(stem)
        .to_vec()
    });
    NOUNS.iter().any(|it| it == key)
}

/// Whether a noun names parts of a project: "all services" means every one of them, wherever the
/// claim is filed.
pub(crate) fn is_everywhere(key: &str) -> bool {
    static NOUNS: LazyLock<Vec<String>> = LazyLock::new(|| {
        [
            "service",
            "microservice",
            "repository",
            "package",
            "crate",
            "team",
            "cluster",
            "environment",
            "application",
            "module",
            "component",
            "container",
            "deployment",
        ]
        .map(stem)
        .to_vec()
    });
    NOUNS.iter().any(|it| it == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_mean_the_same() {
        for word in ["limits", "limited", "limit"] {
            assert_eq!(
                meaning_of_stem(&stem(word)),
                Option::Some(Concept("limit")),
                "{word}"
            );
        }
        assert_eq!(
            meaning_of("at most"),
            Option::Some(Form(self::Form::AtMost))
        );
        assert_eq!(meaning_of("wallet"), None);
    }

    #[test]
    fn no_entry_is_longer_than_what_is_looked_up() {
        let longest = EXACT
            .iter()
            .flat_map(|it| it.1.split(", "))
            .map(|it| it.split(' ').count())
            .max();
        assert!(longest <= Option::Some(MAX_WORDS_OF_FORM));
    }
}
