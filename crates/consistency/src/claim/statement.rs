//! What one clause of a claim says, in a comparable form: its subject, its
//! circumstances, its values, and whether it affirms or denies.

use std::collections::BTreeSet;

use super::{values::value::Value, words::lexicon};

/// One word of a clause's subject, or a part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The key of all its forms and spellings.
    pub key: String,
    /// As written, in lower case; for a longer name, this part of it.
    pub text: String,
    /// Its first character in the claim.
    pub from: usize,
    /// The character after its last.
    pub to: usize,
    pub(crate) traits: Traits,
    /// The preposition that leads to it, if any.
    pub(crate) led: &'static str,
    /// The kind of technology that it names.
    pub(crate) kind: Option<&'static str>,
}

impl Term {
    /// A name between these characters.
    pub(crate) fn of_name(key: &str, (from, to): (usize, usize)) -> Self {
        Self {
            key: key.to_owned(),
            text: key.to_owned(),
            from,
            to,
            traits: Traits {
                name: true,
                ..Traits::default()
            },
            led: "",
            kind: None,
        }
    }

    /// Whether a value may imply it, so that one of two claims may leave it out.
    pub(crate) fn may_be_implied(&self) -> bool {
        const WORDS: [&str; 12] = [
            "limit",
            "minimum",
            "count",
            "length",
            "durat",
            "size",
            "larg",
            "rate",
            "throughput",
            "version",
            "releas",
            "=mandatory",
        ];
        WORDS.contains(&self.key.as_str())
    }

    /// Whether prepositions distinguish it from the same word in another statement: what is true
    /// within a zone need not be true across zones.
    pub(crate) fn is_led_elsewhere(&self, other: &Self) -> bool {
        const OPPOSED: [(&[&str], &[&str]); 2] = [
            (&["within", "inside"], &["across", "between"]),
            (&["from"], &["to", "into"]),
        ];
        OPPOSED.iter().any(|(one, two)| {
            let apart = |it: &str, by: &str| one.contains(&it) && two.contains(&by);
            apart(self.led, other.led) || apart(other.led, self.led)
        })
    }

    /// Whether it is the path of an endpoint.
    pub(crate) fn is_endpoint(&self) -> bool {
        self.traits.path && self.key.starts_with('/')
    }

    /// Whether it identifies the subject.
    pub(crate) fn identifies(&self) -> bool {
        !self.traits.generic && !self.traits.implied
    }

    /// Whether it is a verb, or a noun that can be one.
    pub(crate) fn may_be_verb(&self) -> bool {
        self.traits.verb || lexicon::meaning_of_stem(&self.key).is_some_and(|it| it.is_verb())
    }
}

/// The kind of a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// A name: an identifier, a literal, a word with a capital, a technology.
    pub(crate) name: bool,
    /// A verb.
    pub(crate) verb: bool,
    /// A noun that adds nothing to a name.
    pub(crate) generic: bool,
    /// What the value already implies: its bound, its period.
    pub(crate) implied: bool,
    /// It follows the first verb.
    pub(crate) object: bool,
    /// It is in quotation marks.
    pub(crate) literal: bool,
    /// A file, a folder, an address.
    pub(crate) path: bool,
}

/// The kinds of times, which are never compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// How long something lasts.
    Lasting,
    /// How often something recurs.
    Interval,
}

/// How many of its subjects a clause is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The one it names.
    #[default]
    Named,
    /// Every one: the key of their class, and the words that narrow it.
    All {
        class: String,
        narrowed: Vec<String>,
    },
    /// Some that it does not name.
    Some,
}

/// What a clause says about the present. Clauses about the past or the future and examples are
/// parsed too, but say nothing about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// Its subject, in order of appearance, each key once.
    pub terms: Vec<Term>,
    /// Its values, in order of appearance.
    pub values: Vec<Value>,
    /// Names of settings, with their parts joined by a space.
    pub settings: Vec<String>,
    /// Whether it denies.
    pub(crate) negative: bool,
    /// The words that affirm or deny.
    pub(crate) poles: Vec<(usize, usize)>,
    /// Where it holds: production, linux, eu-west-1.
    pub(crate) environment: BTreeSet<String>,
    /// When it holds.
    pub(crate) conditions: BTreeSet<String>,
    pub(crate) reach: Reach,
    /// A quantifier's exceptions.
    pub(crate) except: BTreeSet<String>,
    /// Whether its subject still exists.
    pub(crate) alive: Option<bool>,
    pub(crate) aspect: Option<Aspect>,
    /// Whether it names an interval without what recurs: "the heartbeat interval".
    pub(crate) interval: bool,
    /// Verbs that its value also implies: "expires after 5 minutes".
    pub(crate) until: BTreeSet<&'static str>,
    /// The keys of the terms to the left of "before" or "after".
    pub(crate) first: Option<BTreeSet<String>>,
    /// Whether it names one of several possibilities.
    pub(crate) open: bool,
    /// Whether it says "also".
    pub(crate) also: bool,
    /// Whether its words say that what it names is the only one: "is PostgreSQL", "is written in",
    /// "only".
    pub(crate) sole: bool,
    /// Whether it says what is allowed.
    pub(crate) allowed: bool,
    /// Whether it reports a change: "was raised to 5", "is now 5". What it says may have changed
    /// again since.
    pub(crate) event: bool,
    /// Whether it is about the past, a plan or an example.
    pub(crate) aside: bool,
}

impl Statement {
    /// Whether it has anything to compare.
    pub(crate) fn says_something(&self) -> bool {
        !self.aside && (!self.terms.is_empty() || !self.values.is_empty())
    }

    /// The terms that identify the subject.
    pub(crate) fn identifying_terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|it| it.identifies())
    }

    /// Whether a key is among its terms.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.terms.iter().any(|it| it.key == key)
    }
}
