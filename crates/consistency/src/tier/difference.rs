//! What differs between two statements: the tier that finds it, and the words of each.

use crate::claim::{Claim, Statement, Term, Value, ValueKind, plural_of};

use super::{
    Tier,
    wording::{self, Contrast, Part, Span, Worded},
};

pub(crate) struct Difference {
    pub(crate) tier: Tier,
    contrast: Contrast,
    left: Part,
    right: Part,
}

impl Difference {
    fn new(
        tier: Tier,
        contrast: Contrast,
        sides: [(&Statement, Vec<Span>); 2],
        shared: &[&Term],
    ) -> Self {
        let [(left, left_marks), (right, right_marks)] = sides;
        let (left, right) = (
            Part::new(left, right, left_marks, shared),
            Part::new(right, left, right_marks, shared),
        );
        Self {
            tier,
            contrast,
            left,
            right,
        }
    }

    pub(crate) fn of_values(
        tier: Tier,
        apart: &[(&Value, &Value)],
        shared: &[&Term],
        left: &Statement,
        right: &Statement,
    ) -> Self {
        let kinds = apart.first().map(|it| (&it.0.kind, &it.1.kind));
        let what = match kinds {
            Some((ValueKind::Version(_), _) | (_, ValueKind::Version(_))) => "versions",
            Some((ValueKind::Days(_), _)) => "dates",
            Some((ValueKind::Clock(_), _)) => "times",
            Some((ValueKind::Name(_), _)) => "values",
            _ => "numbers",
        };
        let marks = |of: fn(&(&Value, &Value)) -> Span| apart.iter().map(of).collect();
        let sides = [
            (left, marks(|it| (it.0.from, it.0.to))),
            (right, marks(|it| (it.1.from, it.1.to))),
        ];
        Self::new(tier, Contrast::Values(what), sides, shared)
    }

    pub(crate) fn of_terms(
        one: &Term,
        other: &Term,
        shared: &[&Term],
        left: &Statement,
        right: &Statement,
    ) -> Self {
        let kind = match (one.kind, other.kind) {
            (Some(kind), Some(another)) if kind == another => plural_of(kind),
            (Some(_), Some(_)) => Some("stores"),
            _ => None,
        };
        let sides = [
            (left, vec![(one.from, one.to)]),
            (right, vec![(other.from, other.to)]),
        ];
        Self::new(Tier::Entity, Contrast::Names(kind), sides, shared)
    }

    pub(crate) fn of_life(left: &Statement, right: &Statement, shared: &[&Term]) -> Self {
        let sides = [(left, left.poles.clone()), (right, right.poles.clone())];
        Self::new(Tier::Temporal, Contrast::Life, sides, shared)
    }

    pub(crate) fn of_poles(left: &Statement, right: &Statement, shared: &[&Term]) -> Self {
        let sides = [(left, left.poles.clone()), (right, right.poles.clone())];
        Self::new(Tier::Entity, Contrast::Opposite, sides, shared)
    }

    /// One gives a value of what the other denies.
    pub(crate) fn of_denied(left: &Statement, right: &Statement, shared: &[&Term]) -> Self {
        let marks = |said: &Statement| match said.values.as_slice() {
            [value] => vec![(value.from, value.to)],
            _ => said.poles.clone(),
        };
        let sides = [(left, marks(left)), (right, marks(right))];
        Self::new(Tier::Entity, Contrast::Opposite, sides, shared)
    }

    /// The difference of the claims in the other order.
    pub(crate) fn swapped(self) -> Self {
        Self {
            left: self.right,
            right: self.left,
            ..self
        }
    }

    /// The difference in the words of the claims.
    pub(crate) fn in_words(&self, left: &Claim, right: &Claim) -> Worded {
        wording::describe(self.contrast, [&self.left, &self.right], [left, right])
    }
}
