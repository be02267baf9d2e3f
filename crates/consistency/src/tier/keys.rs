//! Keys for finding claims that may be about the same thing, so that a new claim is compared only
//! with those few. Any two claims that [`compare`](super::compare) could relate share a key: the
//! first looks it up, and the second is stored under it.

use std::collections::BTreeSet;

use crate::claim::{Claim, Reach, Statement, Term};

use super::{fit::ENDPOINTS, pair::STORES, topics::topic_words};

/// The keys under which a claim is stored, and those it looks up; they differ only for statements
/// about all. Each list is sorted, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The keys to store with the claim.
    pub stored: Vec<String>,
    /// The keys to look up when the claim arrives, to find stored claims.
    pub asked: Vec<String>,
}

/// The most words of a statement used for keys, and the most keys per claim.
const WORDS: usize = 14;
const KEYS: usize = 160;
const CHARS: usize = 200;

/// The keys of a claim under a topic.
pub fn claim_keys(claim: &Claim, topic: &str) -> Keys {
    let about = topic_words(topic);
    let root = topic
        .split('/')
        .find(|it| !it.trim().is_empty())
        .unwrap_or_default();
    let root: String = topic_words(root).into_iter().collect::<Vec<_>>().join(" ");
    let (mut stored, mut asked) = (BTreeSet::new(), BTreeSet::new());
    for said in &claim.statements {
        add_statement_keys(said, &about, &root, &mut stored, &mut asked);
    }
    for setting in &claim.settings {
        let key = shorten_key(&format!("setting {}", setting.key));
        stored.insert(key.clone());
        asked.insert(key);
    }
    let list = |it: BTreeSet<String>| it.into_iter().take(KEYS).collect();
    Keys {
        stored: list(stored),
        asked: list(asked),
    }
}

fn add_statement_keys(
    said: &Statement,
    about: &BTreeSet<String>,
    root: &str,
    stored: &mut BTreeSet<String>,
    asked: &mut BTreeSet<String>,
) {
    // Only one side may have a verb or a word of the topic, and a verb in one claim may be a noun
    // in the other.
    let terms: Vec<&Term> = said.identifying_terms().take(WORDS).collect();
    for bag in word_sets(&terms) {
        let about: BTreeSet<&str> = about.iter().map(String::as_str).collect();
        let inner: BTreeSet<&str> = bag.difference(&about).copied().collect();

        // A claim in a topic above may say some or all of what this topic leaves unsaid.
        let mut said = vec![bag, inner.clone()];
        for word in about.iter().copied() {
            let mut more = inner.clone();
            more.insert(word);
            said.push(more);
        }
        said.push(about.union(&inner).copied().collect());
        for bag in said {
            let key = format!("same {}", key_of_words(&bag, root));
            stored.insert(key.clone());
            asked.insert(key);
        }
    }
    add_class_keys(said, stored, asked);
}

/// Adds keys by which statements about all find statements about one, and the reverse.
fn add_class_keys(said: &Statement, stored: &mut BTreeSet<String>, asked: &mut BTreeSet<String>) {
    let rest = |at: usize| -> Vec<&Term> {
        let rest = said
            .terms
            .iter()
            .skip(at + 1)
            .filter(|it| !it.traits.generic && !it.traits.implied);
        rest.take(WORDS).collect()
    };
    let mut add = |class: &str, at: usize, own: &str, other: &str| {
        for bag in word_sets(&rest(at)) {
            let words: Vec<&str> = bag.into_iter().collect();
            stored.insert(shorten_key(&format!("{own} {class}: {}", words.join(" "))));
            asked.insert(shorten_key(&format!(
                "{other} {class}: {}",
                words.join(" ")
            )));
        }
    };
    match &said.reach {
        Reach::All { class, .. } => {
            if let Some(at) = said.terms.iter().position(|it| it.key == *class) {
                add(class, at, "all", "one");
            }
        }
        _ => {
            for (at, term) in said
                .terms
                .iter()
                .enumerate()
                .take(WORDS + 1)
                .filter(|it| !it.1.traits.object && !it.1.traits.verb)
            {
                if at > 0 {
                    add(&term.key, at, "one", "all");
                }
                for class in ENDPOINTS.iter().filter(|_| term.is_endpoint()) {
                    add(class, at, "one", "all");
                }
            }
        }
    }
}

/// The sets of words of a statement: all of them, and those with a kind in place of a replaceable
/// word.
fn word_sets<'a>(terms: &[&'a Term]) -> Vec<BTreeSet<&'a str>> {
    let nouns = terms
        .iter()
        .filter(|it| !it.may_be_verb() && !it.may_be_implied());
    let all: BTreeSet<&str> = nouns.map(|it| it.key.as_str()).collect();
    let mut found = vec![all.clone()];
    for term in terms.iter().filter(|it| it.traits.object) {
        let store = term.kind.is_some_and(|it| STORES.contains(&it));
        let named = term.traits.literal || term.traits.name;
        let kinds = [
            term.kind,
            store.then_some("a store"),
            term.traits.path.then_some("a path"),
            named.then_some("a name"),
        ];
        for kind in kinds.into_iter().flatten() {
            let mut bag = all.clone();
            bag.remove(term.key.as_str());
            bag.insert(kind);
            found.push(bag);
        }
    }
    found
}

/// One key of a few words. A single word says too little, so it counts only within its part of the
/// project.
fn key_of_words(words: &BTreeSet<&str>, root: &str) -> String {
    let text: Vec<&str> = words.iter().copied().collect();
    match words.len() {
        0 | 1 => shorten_key(&format!("{root}: {}", text.join(" "))),
        _ => shorten_key(&text.join(" ")),
    }
}

fn shorten_key(key: &str) -> String {
    key.chars().take(CHARS).collect()
}
