//! Decides whether two statements are about the same thing: a word that only one of them has must
//! be explained, or they are about different things.

use crate::claim::{Reach, Statement, Term, is_everywhere, key_of_word, name_parts};

use super::topics::{TopicPair, TopicRelation};

/// What two statements have in common, and what only one of them has.
pub(crate) struct Fit<'a> {
    pub(crate) shared: Vec<&'a Term>,
    /// The terms that only the first has and the topic does not explain, except verbs.
    pub(crate) left: Vec<&'a Term>,
    pub(crate) right: Vec<&'a Term>,
    /// The verbs that only the first has.
    pub(crate) left_verbs: Vec<&'a Term>,
    pub(crate) right_verbs: Vec<&'a Term>,
    /// The number of words left out because the topic has them.
    explained: usize,
}

impl<'a> Fit<'a> {
    pub(crate) fn new(left: &'a Statement, right: &'a Statement, topics: &TopicPair) -> Self {
        let mut fit = Fit {
            shared: Vec::new(),
            left: Vec::new(),
            right: Vec::new(),
            left_verbs: Vec::new(),
            right_verbs: Vec::new(),
            explained: 0,
        };
        // The order of terms must not depend on which statement comes first.
        let words = |it: &'a Statement| it.terms.iter().map(|it| (&it.text, &it.key));
        let (one, two) = if words(left).le(words(right)) {
            (left, right)
        } else {
            (right, left)
        };
        for term in &one.terms {
            // A word that the value of one implies and the other says counts as shared.
            let other = two.terms.iter().find(|it| it.key == term.key);
            if let Some(other) = other.filter(|it| it.identifies() || term.identifies()) {
                fit.shared.push(more_telling(term, other));
            }
        }
        let (mut left_told, mut right_told) = (Vec::new(), Vec::new());
        for (of, other, topic, rest, verbs, told) in [
            (
                left,
                right,
                &topics.right,
                &mut fit.left,
                &mut fit.left_verbs,
                &mut left_told,
            ),
            (
                right,
                left,
                &topics.left,
                &mut fit.right,
                &mut fit.right_verbs,
                &mut right_told,
            ),
        ] {
            let apart = |term: &Term| {
                let there = other.terms.iter().find(|it| it.key == term.key);
                there.is_none_or(|it| term.is_led_elsewhere(it))
            };
            for term in of.identifying_terms().filter(|it| apart(it)) {
                match (topic.contains(&term.key), term.traits.verb) {
                    (true, _) => told.push(term),
                    (_, true) => verbs.push(term),
                    _ => rest.push(term),
                }
            }
        }
        // If each claim has a noun of its own that adds nothing to a name, they are two things: the
        // keys of a cache, and its entries.
        let (left_nouns, right_nouns) = (own_generic(left, right), own_generic(right, left));
        if !left_nouns.is_empty() && !right_nouns.is_empty() {
            fit.left.extend(left_nouns);
            fit.right.extend(right_nouns);
        }
        // If each names another part of the topic, the topic explains neither.
        fit.explained = left_told.len() + right_told.len();
        if !left_told.is_empty() && !right_told.is_empty() {
            fit.left.extend(left_told);
            fit.right.extend(right_told);
        }
        fit
    }

    /// The verbs that only one of them has.
    pub(crate) fn verbs(&self) -> impl Iterator<Item = &'a Term> {
        self.left_verbs.iter().chain(&self.right_verbs).copied()
    }

    /// Whether neither has a word of its own, except verbs.
    pub(crate) fn is_about_one(&self) -> bool {
        self.left.is_empty() && self.right.is_empty()
    }

    /// Whether neither has a word of its own.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_about_one() && self.verbs().next().is_none()
    }

    /// Whether the shared words identify the subject, given the topics.
    pub(crate) fn identifies_subject(&self, topics: &TopicPair) -> bool {
        let nouns = || self.shared.iter().filter(|it| !it.traits.verb);
        let named = nouns().any(|it| it.traits.name);
        let count = nouns().count();
        let rooted = nouns().any(|it| topics.own.contains(&it.key));
        match topics.relation {
            TopicRelation::Same if topics.bare => count >= 2 || named,
            TopicRelation::Same => count >= 1,
            // A statement about the whole is not about a part, unless both name the part.
            TopicRelation::Above | TopicRelation::Below => {
                (count >= 1 && self.explained > 0)
                    || (rooted && count >= 2)
                    || (named && count >= 2)
            }
            TopicRelation::Apart => rooted && count >= 2 && self.explained == 0,
        }
    }

    /// Confidence, 0 to 1.
    pub(crate) fn score(&self) -> f64 {
        let shared = self.shared.len() as f64;
        let rest = (self.verbs().count() + self.explained) as f64;
        let substituted = (self.left.len() + self.right.len()) as f64 / 2.0;
        (shared + 1.0) / (shared + 1.0 + rest * 0.5 + substituted * 0.5)
    }
}

/// Nouns that add nothing to a name, and that only this statement has.
fn own_generic<'a>(of: &'a Statement, other: &Statement) -> Vec<&'a Term> {
    let generic = |it: &&Term| it.traits.generic && !it.traits.name;
    of.terms
        .iter()
        .filter(generic)
        .filter(|it| !other.has(&it.key))
        .collect()
}

/// The more specific of two forms of a word: a noun before a verb, a name before a noun. The result
/// is the same in either order.
fn more_telling<'a>(left: &'a Term, right: &'a Term) -> &'a Term {
    let rank = |it: &'a Term| (it.traits.verb, !it.traits.name, it.text.as_str());
    if rank(right) < rank(left) {
        right
    } else {
        left
    }
}

/// Whether the first statement, about all, covers what the second names.
pub(crate) fn covers_member(
    all: &Statement,
    one: &Statement,
    all_is_left: bool,
    topics: &TopicPair,
) -> bool {
    let Reach::All { class, narrowed } = &all.reach else {
        return false;
    };
    let above = match topics.relation {
        TopicRelation::Same => true,
        TopicRelation::Above => all_is_left,
        TopicRelation::Below => !all_is_left,
        TopicRelation::Apart => false,
    };
    let Some(at) = member_position(class, one) else {
        return false;
    };
    let path = one.terms.get(at).filter(|it| it.key != *class);
    let listed = |term: &Term| {
        let mut parts = name_parts(&term.key).into_iter();
        parts.any(|it| all.except.contains(&key_of_word(&it)))
    };
    let before = one.terms.get(..at).unwrap_or_default();
    let names = || before.iter().filter(|it| !all.has(&it.key));
    let object = one.terms.get(at).is_none_or(|it| it.traits.object);
    (above || is_everywhere(class))
        && !object
        && (path.is_some() || names().next().is_some())
        && !path.is_some_and(listed)
        && !names().any(|it| all.except.contains(&it.key) || it.traits.verb)
        && narrowed.iter().all(|it| one.has(it))
}

/// The position at which a statement names a member of a class: by its noun, or an endpoint by its
/// path.
fn member_position(class: &str, one: &Statement) -> Option<usize> {
    let noun = one.terms.iter().position(|it| it.key == class);
    let path = || {
        let mut terms = one.terms.iter();
        terms.position(|it| it.is_endpoint() && !it.traits.object)
    };
    noun.or_else(|| path().filter(|_| ENDPOINTS.contains(&class)))
}

/// The classes to which a path such as `/health` belongs.
pub(crate) const ENDPOINTS: [&str; 2] = ["endpoint", "rout"];

/// The second statement without the name of the member that the statement about all covers.
pub(crate) fn without_member(all: &Statement, one: &Statement) -> Statement {
    let Reach::All { class, .. } = &all.reach else {
        return one.clone();
    };
    let at = member_position(class, one).unwrap_or(0);
    let mut place = 0;
    let mut one = one.clone();
    if let Some(named) = one.terms.get_mut(at) {
        named.key.clone_from(class);
    }
    one.terms.retain(|term| {
        place += 1;
        place > at || all.has(&term.key)
    });
    one.settings.clear();
    one
}
