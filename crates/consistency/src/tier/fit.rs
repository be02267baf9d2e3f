//! Whether two statements are about the same thing: what only one of them says must be
//! explained, or they are about different things.

use crate::claim::{Reach, Statement, Term, is_everywhere};

use super::ground::{Ground, Lie};

/// What two statements have in common, and what only one of them has.
pub(crate) struct Fit<'a> {
    pub(crate) shared: Vec<&'a Term>,
    /// What only the first says and the topic does not explain, except verbs.
    pub(crate) left: Vec<&'a Term>,
    pub(crate) right: Vec<&'a Term>,
    pub(crate) left_verbs: usize,
    pub(crate) right_verbs: usize,
    /// Words left out because the topic says them.
    explained: usize,
}

impl<'a> Fit<'a> {
    pub(crate) fn new(left: &'a Statement, right: &'a Statement, ground: &Ground) -> Self {
        let mut fit = Fit {
            shared: Vec::new(),
            left: Vec::new(),
            right: Vec::new(),
            left_verbs: 0,
            right_verbs: 0,
            explained: 0,
        };
        for term in &left.terms {
            // What one's value implies and the other says counts as said by both.
            let other = right.terms.iter().find(|it| it.key == term.key);
            if let Some(other) = other.filter(|it| it.tells() || term.tells()) {
                fit.shared.push(more_telling(term, other));
            }
        }
        let (mut left_told, mut right_told) = (Vec::new(), Vec::new());
        for (of, other, topic, rest, verbs, told) in [
            (
                left,
                right,
                &ground.right,
                &mut fit.left,
                &mut fit.left_verbs,
                &mut left_told,
            ),
            (
                right,
                left,
                &ground.left,
                &mut fit.right,
                &mut fit.right_verbs,
                &mut right_told,
            ),
        ] {
            for term in of.telling().filter(|it| !other.has(&it.key)) {
                match (topic.contains(&term.key), term.traits.verb) {
                    (true, _) => told.push(term),
                    (_, true) => *verbs += 1,
                    _ => rest.push(term),
                }
            }
        }
        // If each names another part of the topic, the topic explains neither.
        fit.explained = left_told.len() + right_told.len();
        if !left_told.is_empty() && !right_told.is_empty() {
            fit.left.extend(left_told);
            fit.right.extend(right_told);
        }
        fit
    }

    /// Whether they are about the same thing, except for one verb that only one of them has.
    pub(crate) fn is_close(&self) -> bool {
        let verbs = (self.left_verbs, self.right_verbs);
        self.left.is_empty() && self.right.is_empty() && matches!(verbs, (0, 0..=1) | (1, 0))
    }

    /// Whether nothing is said by only one of them.
    pub(crate) fn is_exact(&self) -> bool {
        self.left.is_empty() && self.right.is_empty() && self.left_verbs + self.right_verbs == 0
    }

    /// Whether what they share is enough to identify the subject, given their topics.
    pub(crate) fn is_known(&self, ground: &Ground) -> bool {
        let nouns = || self.shared.iter().filter(|it| !it.traits.verb);
        let named = nouns().any(|it| it.traits.name);
        let count = nouns().count();
        let rooted = nouns().any(|it| ground.own.contains(&it.key));
        match ground.lie {
            Lie::Same if ground.bare => count >= 2 || named,
            Lie::Same => count >= 1,
            // A statement about the whole is not about a part, unless both name it.
            Lie::Above | Lie::Below => {
                (count >= 1 && self.explained > 0)
                    || (rooted && count >= 2)
                    || (named && count >= 2)
            }
            Lie::Apart => rooted && count >= 2 && self.explained == 0,
        }
    }

    /// Confidence, 0 to 1.
    pub(crate) fn score(&self) -> f64 {
        let shared = self.shared.len() as f64;
        let rest = (self.left_verbs + self.right_verbs + self.explained) as f64;
        let substituted = (self.left.len() + self.right.len()) as f64 / 2.0;
        (shared + 1.0) / (shared + 1.0 + rest * 0.5 + substituted * 0.5)
    }
}

/// The more specific of two forms of a word: a noun before a verb, a name before a noun. So it
/// does not matter which claim comes first.
fn more_telling<'a>(left: &'a Term, right: &'a Term) -> &'a Term {
    let rank = |it: &Term| (it.traits.verb, !it.traits.name);
    match rank(right) < rank(left) {
        true => right,
        false => left,
    }
}

/// Whether the first's statement about all covers what the second names.
pub(crate) fn reaches(
    all: &Statement,
    one: &Statement,
    all_is_left: bool,
    ground: &Ground,
) -> bool {
    let Reach::All { class, narrowed } = &all.reach else {
        return false;
    };
    let above = match ground.lie {
        Lie::Same => true,
        Lie::Above => all_is_left,
        Lie::Below => !all_is_left,
        Lie::Apart => false,
    };
    let is = |it: &Term| it.key == *class;
    let Some(at) = one.terms.iter().position(is) else {
        return false;
    };
    let before = one.terms.get(..at).unwrap_or_default();
    let names = || before.iter().filter(|it| !all.has(&it.key));
    let object = one.terms.get(at).is_none_or(|it| it.traits.object);
    (above || is_everywhere(class))
        && !object
        && names().next().is_some()
        && !names().any(|it| all.except.contains(&it.key) || it.traits.verb)
        && narrowed.iter().all(|it| one.has(it))
}

/// The second statement without the name of the one that a statement about all covers.
pub(crate) fn as_all(all: &Statement, one: &Statement) -> Statement {
    let Reach::All { class, .. } = &all.reach else {
        return one.clone();
    };
    let at = one
        .terms
        .iter()
        .position(|it| it.key == *class)
        .unwrap_or(0);
    let mut place = 0;
    let mut one = one.clone();
    one.terms.retain(|it| {
        place += 1;
        place > at || all.has(&it.key)
    });
    one.settings.clear();
    one
}
