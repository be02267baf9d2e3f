//! Tier 0, one thing by its own name: a setting has one value in one environment, whatever the
//! sentences around it say.

use std::collections::BTreeSet;

use crate::claim::{
    BOUNDS, Claim, Dimension, Setting, Statement, Term, Value, ValueKind, ValueRelation, list_has,
};

use super::{
    Said, Tier,
    difference::Difference,
    topics::{TopicPair, TopicRelation},
};

/// Confidence that two claims are about the same setting: by a name that only settings have, and by
/// any other name.
const CERTAIN: f64 = 0.9;
const LIKELY: f64 = 0.75;
/// The most characters between a setting and its value: " is now set to ".
const NEAR: usize = 16;
/// By how much two numbers may differ if one lacks its unit: milliseconds, minutes, KiB, ...
const UNITS: [f64; 9] = [
    1.0,
    60.0,
    3600.0,
    86_400.0,
    1e3,
    1e6,
    1e9,
    1024.0,
    1_048_576.0,
];

/// Finds that two claims set one setting to different values.
pub(super) fn compare_settings(
    a: &Said<'_>,
    b: &Said<'_>,
    topics: &TopicPair,
) -> Option<(f64, Difference)> {
    let (left, right) = (a.claim, b.claim);
    let tier = match topics.relation {
        TopicRelation::Same => Tier::Entity,
        TopicRelation::Above | TopicRelation::Below => Tier::CrossScope,
        TopicRelation::Apart => return None,
    };
    let mut shared = left.settings.iter().filter_map(|one| {
        let other = right.settings.iter().find(|it| it.key == one.key)?;
        Some((one, other))
    });
    // With two settings, nobody knows which value belongs to which.
    let (Some((one, other)), None) = (shared.next(), shared.next()) else {
        return None;
    };
    let are_alike = left.is_whole
        && right.is_whole
        && environment(left) == environment(right)
        && is_bound(left) == is_bound(right);
    if !are_alike {
        return None;
    }
    let is_certain = one.is_certain && other.is_certain;
    let (one_value, other_value) = match (only_value(left), only_value(right)) {
        (Some(one), Some(other)) if are_apart(one, other, is_certain) => (one, other),
        _ if has_no_number(left) && has_no_number(right) => {
            let (one, other) = (one.word.as_ref()?, other.word.as_ref()?);
            (one.kind != other.kind).then_some((one, other))?
        }
        _ => return None,
    };
    let is_known = is_certain
        || is_beside(one, one_value)
            && is_beside(other, other_value)
            && are_counted_alike(left, right, one_value, other_value);
    if !is_known {
        return None;
    }
    let sides = [sketch(one, one_value), sketch(other, other_value)];
    let [left, right] = &sides;
    let names: Vec<&Term> = left.terms.iter().collect();
    let apart = [(one_value, other_value)];
    let score = if is_certain { CERTAIN } else { LIKELY };
    let difference = Difference::of_values(tier, &apart, &names, left, right);
    Some((score, difference))
}

/// Where a claim holds, whichever of its statements says so.
pub(super) fn environment(claim: &Claim) -> BTreeSet<&String> {
    let all = claim.statements.iter();
    all.flat_map(|it| &it.environment).collect()
}

fn values(claim: &Claim) -> impl Iterator<Item = &Value> {
    claim.statements.iter().flat_map(|it| &it.values)
}

fn has_no_number(claim: &Claim) -> bool {
    values(claim).all(|it| matches!(it.kind, ValueKind::Name(_)))
}

/// Whether a claim says what a setting may be, not what it is.
pub(super) fn is_bound(claim: &Claim) -> bool {
    claim
        .folded
        .split(|it: char| !it.is_alphanumeric())
        .any(|it| list_has(BOUNDS, it))
}

/// The one number of a claim, however often it gives it.
fn only_value(claim: &Claim) -> Option<&Value> {
    let vague = |it: &Statement| it.negative || it.also || it.open || it.event;
    let first = values(claim).next()?;
    if matches!(first.kind, ValueKind::Days(_) | ValueKind::Clock(_)) {
        return None;
    }
    let amount = |it: &Value| it.quantity_parts().map(|it| it.0);
    let is_same = |one: &Value| amount(one).is_some() && amount(one) == amount(first);
    let is_one =
        values(claim).all(|it| !it.label && !it.about && (is_same(it) || it.kind == first.kind));
    (is_one && !claim.statements.iter().any(vague)).then_some(first)
}

/// Whether two values of one setting cannot both be right. If one lacks its unit, every unit is
/// tried.
fn are_apart(one: &Value, other: &Value, is_certain: bool) -> bool {
    if one.relation_to(other, false) == ValueRelation::Apart {
        return true;
    }
    let (Some(left), Some(right)) = (one.quantity_parts(), other.quantity_parts()) else {
        return false;
    };
    let lacks_unit = (left.3 == Dimension::Count) != (right.3 == Dimension::Count);
    let are_exact = one.form == other.form && left.0 == left.1 && right.0 == right.1;
    let ratio = left.0.as_f64() / right.0.as_f64();
    let is_one_of = |by: f64| (ratio / by - 1.0).abs() < 1e-9 || (ratio * by - 1.0).abs() < 1e-9;
    is_certain
        && lacks_unit
        && are_exact
        && ratio.is_finite()
        && !UNITS.iter().any(|it| is_one_of(*it))
}

/// Whether a value follows its setting within a few words: a name that other things may have too
/// has no value far away.
fn is_beside(setting: &Setting, value: &Value) -> bool {
    (setting.to..=setting.to + NEAR).contains(&value.from)
}

/// Whether two numbers count the same thing, as far as the claims say what they count.
fn are_counted_alike(left: &Claim, right: &Claim, one: &Value, other: &Value) -> bool {
    let counted = |claim: &Claim, value: &Value| {
        let mut terms = claim.statements.iter().flat_map(|it| &it.terms);
        let next = terms.find(|it| (value.to..=value.to + 2).contains(&it.from));
        next.map(|it| it.key.clone())
    };
    match (counted(left, one), counted(right, other)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

/// A statement that says only what a setting is set to.
fn sketch(setting: &Setting, value: &Value) -> Statement {
    let term = Term::of_name(&setting.key, (setting.from, setting.to));
    Statement {
        terms: vec![term],
        values: vec![value.clone()],
        settings: vec![setting.key.clone()],
        ..Statement::default()
    }
}
