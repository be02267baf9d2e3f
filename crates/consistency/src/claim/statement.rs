//! What one clause of a claim says, in a form that can be compared: of what, under which
//! circumstances, which values, and whether it affirms or denies.

use std::collections::BTreeSet;

use super::{lexicon, value::Value};

/// One word of what a clause speaks of, or a part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// What all its forms and spellings are known by.
    pub key: String,
    /// As it was written, in lower case; the part that it is of a longer name.
    pub text: String,
    /// Its first character in the claim.
    pub from: usize,
    /// The character after its last.
    pub to: usize,
    pub(crate) traits: Traits,
    /// The kind of technology that it names.
    pub(crate) kind: Option<&'static str>,
}

impl Term {
    /// Whether it is a word that a value may say by itself, and so may be said by one claim alone.
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

    /// Whether it tells what is spoken of.
    pub(crate) fn tells(&self) -> bool {
        !self.traits.generic && !self.traits.implied
    }

    /// Whether it is a verb, or a noun that is one elsewhere.
    pub(crate) fn may_be_verb(&self) -> bool {
        self.traits.verb || lexicon::stemmed(&self.key).is_some_and(|it| it.is_verb())
    }
}

/// What kind of word a term is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// A name: an identifier, a literal, a word with a capital, a technology.
    pub(crate) name: bool,
    /// A verb.
    pub(crate) verb: bool,
    /// A noun that adds nothing to a name.
    pub(crate) generic: bool,
    /// What the value already says: its bound, its period.
    pub(crate) implied: bool,
    /// It stands after the first verb.
    pub(crate) object: bool,
    /// It stands within quotation marks.
    pub(crate) literal: bool,
    /// A file, a folder, an address.
    pub(crate) path: bool,
}

/// In what respect a time is meant. Times of two respects are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// Until it ends.
    Lasting,
    /// Until it comes again.
    Interval,
}

/// Of how many of its subject a clause speaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Of the one that it names.
    #[default]
    Named,
    /// Of every one: the key of what they are, and what narrows it.
    All {
        class: String,
        narrowed: Vec<String>,
    },
    /// Of some that it does not name.
    Some,
}

/// What a clause says of now. What was, will be or is an example is read, but says nothing of now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// What it speaks of, in order of appearance, each key once.
    pub terms: Vec<Term>,
    /// The values that it gives, in order of appearance.
    pub values: Vec<Value>,
    /// Names of settings, parts joined by a blank.
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
    /// What a quantifier leaves out.
    pub(crate) except: BTreeSet<String>,
    /// Whether what it speaks of is still there.
    pub(crate) alive: Option<bool>,
    pub(crate) aspect: Option<Aspect>,
    /// What stands before "before" or "after".
    pub(crate) first: Option<BTreeSet<String>>,
    /// Whether it names one of several possibilities.
    pub(crate) open: bool,
    /// Whether it says "also".
    pub(crate) also: bool,
    /// Whether its verb has one object, as in "is written in".
    pub(crate) filled: bool,
    /// Whether it says what is allowed.
    pub(crate) allowed: bool,
    /// Whether it says what was, is planned, or is an example.
    pub(crate) aside: bool,
}

impl Statement {
    /// Whether there is anything that could be compared.
    pub(crate) fn says_something(&self) -> bool {
        !self.aside && (!self.terms.is_empty() || !self.values.is_empty())
    }

    /// The terms that tell what is spoken of.
    pub(crate) fn telling(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|it| it.tells())
    }

    /// Whether a key is among its terms.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.terms.iter().any(|it| it.key == key)
    }
}
