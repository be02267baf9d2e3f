//! The value of an attribute: a quantity, a version, days, a time of day, a name; and
//! whether two values can both be right.

use crate::claim::words::lexicon::Form;

use super::{date::Days, number::Ratio, unit::Dimension};

/// A value, and its place in the claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Whether it is exact, or a bound.
    pub form: Form,
    /// Whether it is approximate.
    pub about: bool,
    /// Whether it is part of the subject's name: "step 2", "Node 18".
    pub(crate) label: bool,
    /// The seconds of a rate's period: 60 in "100 requests per minute".
    pub(crate) window: Option<Ratio>,
    /// Its first character in the claim.
    pub from: usize,
    /// The character after its last.
    pub to: usize,
}

/// The kind of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// A quantity, in the base unit of its dimension.
    Quantity {
        /// The least.
        low: Ratio,
        /// The most; equal to the least unless it is a range.
        high: Ratio,
        /// Its other reading, if the notation is ambiguous.
        or: Option<Ratio>,
        /// What it measures.
        dimension: Dimension,
    },
    /// Numbers from the most to the least significant: 18.2 matches 18.2.1, since only the common
    /// part counts.
    Version(Vec<u64>),
    /// A day, a month, a quarter or a year.
    Days(Days),
    /// Minutes since midnight.
    Clock(u16),
    /// A word, a path, an address: as written, in lower case.
    Name(String),
}

/// How two values relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueRelation {
    /// They are the same.
    Same,
    /// They cannot both be right.
    Apart,
    /// They can both be right.
    Open,
}

impl ValueKind {
    /// One amount, neither a range nor a choice.
    pub(crate) fn amount(amount: Ratio, dimension: Dimension) -> Self {
        Self::Quantity {
            low: amount,
            high: amount,
            or: None,
            dimension,
        }
    }
}

impl Value {
    /// A value exactly as written between these characters: neither a bound nor approximate.
    pub(crate) fn exact(kind: ValueKind, from: usize, to: usize) -> Self {
        Self {
            kind,
            form: Form::Exact,
            about: false,
            label: false,
            window: None,
            from,
            to,
        }
    }

    /// Returns how this value relates to another of the same attribute. `allowed` means that both
    /// say what is allowed; then even overlapping ranges are two different rules.
    pub(crate) fn relation_to(&self, other: &Self, allowed: bool) -> ValueRelation {
        match (&self.kind, &other.kind) {
            (ValueKind::Version(left), ValueKind::Version(right)) => {
                self.compare_versions(left, other, right)
            }
            (ValueKind::Version(left), ValueKind::Quantity { .. }) => match other.as_version() {
                Some(right) => self.compare_versions(left, other, &right),
                None => ValueRelation::Open,
            },
            (ValueKind::Quantity { .. }, ValueKind::Version(right)) => match self.as_version() {
                Some(left) => self.compare_versions(&left, other, right),
                None => ValueRelation::Open,
            },
            (ValueKind::Days(left), ValueKind::Days(right)) => {
                if left.may_be(*right) {
                    ValueRelation::Same
                } else {
                    ValueRelation::Apart
                }
            }
            (ValueKind::Clock(left), ValueKind::Clock(right)) => same_or_apart(left == right),
            (ValueKind::Name(left), ValueKind::Name(right)) => same_or_apart(left == right),
            (ValueKind::Quantity { .. }, ValueKind::Quantity { .. }) => {
                self.compare_quantities(other, allowed)
            }
            _ => ValueRelation::Open,
        }
    }

    fn compare_versions(&self, left: &[u64], other: &Self, right: &[u64]) -> ValueRelation {
        let same = left.iter().zip(right).all(|(left, right)| left == right);
        match (self.form, other.form) {
            (one, two) if one == two => same_or_apart(same),
            (form, Form::Exact) if allows(form, left, right) => ValueRelation::Open,
            (Form::Exact, form) if allows(form, right, left) => ValueRelation::Open,
            (Form::Exact, _) | (_, Form::Exact) => ValueRelation::Apart,
            // One requires at least a version that is above everything the other allows.
            (form, Form::AtLeast) if ends_before(form, left, right) => ValueRelation::Apart,
            (Form::AtLeast, form) if ends_before(form, right, left) => ValueRelation::Apart,
            _ => ValueRelation::Open,
        }
    }

    fn compare_quantities(&self, other: &Self, allowed: bool) -> ValueRelation {
        let (Some(left), Some(right)) = (self.quantity_parts(), other.quantity_parts()) else {
            return ValueRelation::Open;
        };
        if !measured_alike(left.3, right.3) {
            return ValueRelation::Open;
        }
        if self.is_same_as(other) {
            return ValueRelation::Same;
        }
        if self.is_near(other) || self.is_beside(other) {
            return ValueRelation::Open;
        }
        let exact = |it: &(Ratio, Ratio, Option<Ratio>, Dimension)| it.0 == it.1;
        let below = |left: Ratio, right: Ratio| left.compare(right).is_lt();
        use Form::{AtLeast, AtMost, Exact, Less, More};
        match (self.form, other.form) {
            (AtMost, AtMost) | (AtLeast, AtLeast) => ValueRelation::Apart,
            (Exact, Exact) if exact(&left) && exact(&right) => ValueRelation::Apart,
            (Exact, Exact) => {
                let apart = below(left.1, right.0) || below(right.1, left.0);
                let ranges = !exact(&left) && !exact(&right);
                if apart || (allowed && ranges) {
                    ValueRelation::Apart
                } else {
                    ValueRelation::Open
                }
            }
            (Exact, AtMost | Less) if below(right.1, left.0) => ValueRelation::Apart,
            (AtMost | Less, Exact) if below(left.1, right.0) => ValueRelation::Apart,
            (Exact, AtLeast | More) if below(left.1, right.0) => ValueRelation::Apart,
            (AtLeast | More, Exact) if below(right.1, left.0) => ValueRelation::Apart,
            (Less | AtMost, More) | (Less, AtLeast) if !below(right.0, left.1) => {
                ValueRelation::Apart
            }
            (More, Less | AtMost) | (AtLeast, Less) if !below(left.0, right.1) => {
                ValueRelation::Apart
            }
            _ => ValueRelation::Open,
        }
    }

    /// Whether two quantities are equal, in any reading.
    fn is_same_as(&self, other: &Self) -> bool {
        let (Some(left), Some(right)) = (self.quantity_parts(), other.quantity_parts()) else {
            return false;
        };
        let readings =
            |it: (Ratio, Ratio, Option<Ratio>, Dimension)| [Some(it.0), it.2].into_iter().flatten();
        let same_form = self.form == other.form || self.about || other.about;
        let ends = left.0 == right.0 && left.1 == right.1;
        let either = left.0 == left.1
            && right.0 == right.1
            && readings(left).any(|it| readings(right).any(|other| it == other));
        same_form && (ends || either)
    }

    /// Whether two quantities are close enough, if one of them is approximate.
    fn is_near(&self, other: &Self) -> bool {
        let (Some(left), Some(right)) = (self.quantity_parts(), other.quantity_parts()) else {
            return false;
        };
        (self.about || other.about) && left.0.is_about(right.0) && left.1.is_about(right.1)
    }

    /// Whether two rates with different periods can both hold: 60 in a minute, and 1000 in an hour.
    /// The shorter period must allow fewer; otherwise the same limit is given in two ways.
    fn is_beside(&self, other: &Self) -> bool {
        let counted = |rate: &Self| {
            let (low, window) = (rate.quantity_parts()?.0, rate.window?);
            Some((window, low.times(window)?))
        };
        let (Some(one), Some(two)) = (counted(self), counted(other)) else {
            return false;
        };
        let (window, count) = (one.0.compare(two.0), one.1.compare(two.1));
        window.is_ne() && window == count
    }

    pub(crate) fn quantity_parts(&self) -> Option<(Ratio, Ratio, Option<Ratio>, Dimension)> {
        match self.kind {
            ValueKind::Quantity {
                low,
                high,
                or,
                dimension,
            } => Some((low, high, or, dimension)),
            _ => None,
        }
    }

    /// Reads a whole number as a version, to compare it with one: Node 18 and Node 18.2.
    fn as_version(&self) -> Option<Vec<u64>> {
        let (low, high, _, dimension) = self.quantity_parts()?;
        let whole = u64::try_from(low.as_whole()?).ok()?;
        (low == high && dimension == Dimension::Count).then(|| vec![whole])
    }

    /// What it measures, if anything.
    pub(crate) fn dimension(&self) -> Option<Dimension> {
        Some(self.quantity_parts()?.3)
    }

    /// Comparable kinds have the same letter.
    pub(crate) fn comparable_kind(&self) -> (u8, Option<Dimension>) {
        match &self.kind {
            // A share and a bare number, a version and a whole number may be the same.
            ValueKind::Quantity {
                dimension: Dimension::Share | Dimension::Count,
                ..
            }
            | ValueKind::Version(_) => (0, None),
            ValueKind::Quantity { dimension, .. } => (1, Some(*dimension)),
            ValueKind::Days(_) => (2, None),
            ValueKind::Clock(_) => (3, None),
            ValueKind::Name(_) => (4, None),
        }
    }
}

/// Whether two dimensions are comparable: equal, or a share and a bare number, since a share is a
/// part of one.
fn measured_alike(left: Dimension, right: Dimension) -> bool {
    let bare = |it| matches!(it, Dimension::Count | Dimension::Share);
    left == right || (bare(left) && bare(right))
}

/// Whether a bound allows a version, comparing only the parts that both give.
fn allows(form: Form, bound: &[u64], version: &[u64]) -> bool {
    let alike = |parts: usize| bound.iter().zip(version).take(parts).all(|it| it.0 == it.1);
    let (same, above) = (alike(usize::MAX), version >= bound);
    let first = bound.iter().position(|it| *it != 0).unwrap_or(0);
    match form {
        Form::AtLeast => above || same,
        Form::AtMost => version <= bound || same,
        Form::Compatible => (above || same) && alike(first + 1),
        Form::Patched => (above || same) && alike(2),
        Form::More => version > bound,
        Form::Less => version < bound,
        Form::Exact => same,
    }
}

/// Whether all versions that a bound allows are below another.
fn ends_before(form: Form, bound: &[u64], other: &[u64]) -> bool {
    let endless = matches!(form, Form::AtLeast | Form::More);
    !endless && bound < other && !allows(form, bound, other)
}

fn same_or_apart(same: bool) -> ValueRelation {
    if same {
        ValueRelation::Same
    } else {
        ValueRelation::Apart
    }
}
