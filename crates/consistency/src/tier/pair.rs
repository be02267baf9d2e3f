//! Compares two statements: whether they are about the same thing, and whether they
//! say the same about it.

use crate::claim::{
    Aspect, Dimension, Form, Ratio, Reach, Statement, TOOL, Term, Value, ValueKind, ValueRelation,
    is_form_of, is_negotiated, is_part_of_product, live_together,
};

use super::{
    Tier,
    difference::Difference,
    fit::{self, Fit},
    topics::{TopicPair, TopicRelation},
};

/// The result of a comparison.
pub(crate) enum Comparison {
    /// They say the same.
    Same,
    /// They are about the same thing, and both can hold.
    Open,
    /// They cannot both hold.
    Apart(Difference),
}

pub(crate) struct WeighedPair {
    pub(crate) outcome: Comparison,
    pub(crate) score: f64,
}

/// Compares two statements; `None` if they are not known to be about the same thing.
pub(crate) fn weigh_pair(
    left: &Statement,
    right: &Statement,
    topics: &TopicPair,
) -> Option<WeighedPair> {
    if left.environment != right.environment || left.conditions != right.conditions {
        return None;
    }
    // Of two changes, the later one may have changed the earlier.
    if left.event && right.event {
        return None;
    }
    let all = |it: &Statement| matches!(it.reach, Reach::All { .. });
    let vague = left.reach == Reach::Some || right.reach == Reach::Some;
    if vague || left.also || right.also {
        return None;
    }
    match (all(left), all(right)) {
        (true, false) if fit::covers_member(left, right, true, topics) => {
            weigh_member(left, &fit::without_member(left, right), topics)
        }
        (false, true) if fit::covers_member(right, left, false, topics) => {
            weigh_member(&fit::without_member(right, left), right, topics)
        }
        // A statement about all is not compared with one that may be outside of that class.
        (true, false) | (false, true) if topics.relation != TopicRelation::Same => None,
        (true, true) if left.except != right.except => None,
        _ => weigh_same(left, right, topics, true),
    }
}

/// Compares a statement about all with one about a member.
fn weigh_member(left: &Statement, right: &Statement, topics: &TopicPair) -> Option<WeighedPair> {
    let mut weighed = weigh_same(left, right, topics, false)?;
    if let Comparison::Apart(difference) = &mut weighed.outcome
        && topics.relation != TopicRelation::Same
    {
        difference.tier = Tier::CrossScope;
    }
    // A member that agrees with the statement about all adds nothing: no corroboration.
    if matches!(weighed.outcome, Comparison::Same) {
        weighed.outcome = Comparison::Open;
    }
    Some(weighed)
}

fn weigh_same(
    left: &Statement,
    right: &Statement,
    topics: &TopicPair,
    placed: bool,
) -> Option<WeighedPair> {
    let fit = Fit::new(left, right, topics);
    let keyed = !left.settings.is_empty() && !right.settings.is_empty();
    if keyed && left.settings != right.settings {
        return None;
    }
    // A setting of the same name within one topic is one setting, whatever the other words.
    let named = keyed && topics.relation == TopicRelation::Same;
    let known = !placed || named || fit.identifies_subject(topics);
    let outcome = compare_existence(left, right, &fit)
        .or_else(|| compare_substitutes(left, right, &fit, placed))
        .or_else(|| compare_values(left, right, &fit, keyed))
        .or_else(|| compare_denied_value(left, right, &fit))
        .or_else(|| compare_poles(left, right, &fit, placed))
        .filter(|_| known)?;
    let outcome = match outcome {
        Comparison::Apart(mut difference) if placed && topics.relation != TopicRelation::Same => {
            difference.tier = Tier::CrossScope;
            Comparison::Apart(difference)
        }
        outcome => outcome,
    };
    Some(WeighedPair {
        outcome,
        score: fit.score(),
    })
}

/// Tier 2, temporal: one says it is gone, the other that it still exists.
fn compare_existence(left: &Statement, right: &Statement, fit: &Fit<'_>) -> Option<Comparison> {
    let (one, other) = (left.alive?, right.alive?);
    if !(fit.left.is_empty() && fit.right.is_empty()) || fit.shared.is_empty() {
        return None;
    }
    let versions = |it: &Statement| {
        it.values
            .iter()
            .filter(|it| matches!(it.kind, ValueKind::Version(_)))
            .cloned()
            .collect::<Vec<_>>()
    };
    let (a, b) = (versions(left), versions(right));
    if a.iter().any(|one| {
        b.iter()
            .any(|other| one.relation_to(other, false) == ValueRelation::Apart)
    }) {
        return None;
    }
    if one == other {
        None
    } else {
        Some(Comparison::Apart(Difference::of_life(
            left,
            right,
            &fit.shared,
        )))
    }
}

/// Tier 0: another technology, file or name in the same place.
fn compare_substitutes(
    left: &Statement,
    right: &Statement,
    fit: &Fit<'_>,
    placed: bool,
) -> Option<Comparison> {
    let ([one], [other]) = (fit.left.as_slice(), fit.right.as_slice()) else {
        return None;
    };
    let open = left.open || right.open || left.negative || right.negative;
    let alike = |of: fn(&Term) -> bool| of(one) && of(other);
    if open
        || !are_of_one_verb(fit, one)
        || !are_exclusive(left, right, one, other)
        || !alike(|it| it.traits.object)
        || fit.shared.is_empty()
    {
        return None;
    }
    // The subject of a statement about all is the class.
    let subject = !placed || fit.shared.iter().any(|it| !it.traits.verb);
    subject.then(|| Comparison::Apart(Difference::of_terms(one, other, &fit.shared, left, right)))
}

/// Whether two statements are about the same action, judging by a technology: what is written in
/// Rust uses Rust, but what reads from one store may write to another, and what is built on Debian
/// may run on Alpine.
fn are_of_one_verb(fit: &Fit<'_>, of: &Term) -> bool {
    let part = of.kind.is_some_and(is_part_of_product);
    let tells = |it: &Term| FILLED.contains(&it.key.as_str()) && (part || it.key != "build");
    let mut verbs = fit.verbs();
    verbs.next().is_none_or(tells) && verbs.next().is_none()
}

/// Whether using one technology, file or name excludes using the other.
fn are_exclusive(left: &Statement, right: &Statement, one: &Term, other: &Term) -> bool {
    let alike = |of: fn(&Term) -> bool| of(one) && of(other);
    if let (Some(kind), true) = (one.kind, one.kind == other.kind) {
        let said = left.sole && right.sole;
        let negotiated = is_negotiated(kind) && left.has("respons") && right.has("respons");
        return kind != TOOL
            && !is_form_of(&one.key, &other.key)
            && (said || !live_together(kind))
            && !negotiated;
    }
    let filled = has_filled_verb(left) && has_filled_verb(right);
    let stores = alike(|it| it.kind.is_some_and(|it| STORES.contains(&it)));
    let named =
        one.kind == other.kind && alike(|it| it.traits.literal || it.traits.name || it.traits.path);
    (filled && named) || (stores && says_kept(left) && says_kept(right))
}

/// Kinds of data stores: data kept in one is not kept in another.
pub(crate) const STORES: &[&str] = &["database", "cache", "objectstore", "search"];

fn says_kept(said: &Statement) -> bool {
    ["store", "keep", "hold"].iter().any(|it| said.has(it))
}

/// Verbs that take only one object: "branches off", "is written in".
const FILLED: &[&str] = &[
    "branch", "own", "place", "sign", "write", "build", "store", "deploy", "manage", "encrypt",
    "hash", "compress", "back",
];

fn has_filled_verb(said: &Statement) -> bool {
    let verb = |it: &Term| it.traits.verb && FILLED.contains(&it.key.as_str());
    said.terms.iter().any(verb)
}

/// Tiers 0 and 2: different values of the same attribute.
fn compare_values(
    left: &Statement,
    right: &Statement,
    fit: &Fit<'_>,
    keyed: bool,
) -> Option<Comparison> {
    let about_one = fit.is_about_one() && are_done_alike(left, right, fit);
    if left.values.is_empty() || !about_one || !are_of_one_kind(left.aspect, right.aspect) {
        return None;
    }
    let pairs = pair_values(&left.values, &right.values)?;
    let allowed = left.allowed && right.allowed;
    // A dependency has one version, but several versions may be supported.
    let several = |it: &Statement| it.open && !it.has("depend");
    let open = several(left) || several(right);
    let stands: Vec<ValueRelation> = pairs
        .iter()
        .map(|(a, b)| a.relation_to(b, allowed))
        .collect();
    let others = pairs
        .iter()
        .zip(&stands)
        .any(|it| it.0.0.label && it.0.1.label && *it.1 == ValueRelation::Apart);
    if others {
        return None;
    }
    let apart: Vec<(&Value, &Value)> = pairs
        .iter()
        .zip(&stands)
        .filter(|it| *it.1 == ValueRelation::Apart)
        .map(|it| *it.0)
        .collect();
    if apart.is_empty() {
        // With equal values, only affirming or denying can differ.
        let same = stands.iter().all(|it| *it == ValueRelation::Same);
        return if same && left.negative != right.negative {
            compare_exact_poles(left, right, fit, true)
        } else if same {
            Some(Comparison::Same)
        } else {
            Some(Comparison::Open)
        };
    }
    // If several are possible, another version or name is just one more.
    let one_more = open
        && apart
            .iter()
            .all(|it| matches!(it.0.kind, ValueKind::Version(_) | ValueKind::Name(_)));
    // If several values differ at once, each set may be right: 99% in 100 ms, 50% in 20 ms.
    let several = apart.len() > 1;
    if left.negative || right.negative || one_more || several {
        return Some(Comparison::Open);
    }
    let tier = tier_of(&apart, keyed);
    Some(Comparison::Apart(Difference::of_values(
        tier,
        &apart,
        &fit.shared,
        left,
        right,
    )))
}

/// Whether two statements are about the same action. One that names an interval may leave out what
/// recurs.
fn are_done_alike(left: &Statement, right: &Statement, fit: &Fit<'_>) -> bool {
    match (fit.left_verbs.len(), fit.right_verbs.len()) {
        (0, 0) => true,
        (0, 1) => left.interval && !right.interval,
        (1, 0) => right.interval && !left.interval,
        _ => false,
    }
}

/// Whether two times are of the same kind: a period differs from a duration.
pub(super) fn are_of_one_kind(left: Option<Aspect>, right: Option<Aspect>) -> bool {
    let recurs = |it| it == Some(Aspect::Interval);
    left.zip(right).is_none_or(|it| it.0 == it.1) && recurs(left) == recurs(right)
}

pub(super) fn tier_of(apart: &[(&Value, &Value)], keyed: bool) -> Tier {
    let Some((one, other)) = apart.first() else {
        return Tier::Entity;
    };
    let is = |of: fn(&ValueKind) -> bool| (of(&one.kind), of(&other.kind));
    let dated = is(|it| matches!(it, ValueKind::Days(_) | ValueKind::Clock(_)));
    let counted = is(|it| matches!(it, ValueKind::Quantity { .. }));
    let share = [one, other].map(|it| it.dimension() == Some(Dimension::Share));
    match (dated, counted) {
        ((true, true), _) => Tier::Temporal,
        (_, (true, true)) if !keyed || share.contains(&true) => Tier::Numeric,
        _ => Tier::Entity,
    }
}

/// Pairs values of the same kind, in order; `None` if one claim gives more of a kind than the
/// other, since then the pairs are unclear.
fn pair_values<'a>(left: &'a [Value], right: &'a [Value]) -> Option<Vec<(&'a Value, &'a Value)>> {
    if left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|it| it.0.comparable_kind() == it.1.comparable_kind())
    {
        return Some(left.iter().zip(right).collect());
    }
    None
}

/// Tier 0: one gives an amount, a frequency or a limit, the other denies it: "expires after 5
/// minutes", "never expires".
fn compare_denied_value(left: &Statement, right: &Statement, fit: &Fit<'_>) -> Option<Comparison> {
    let denies = |it: &Statement| it.negative && it.values.is_empty();
    let (no, said, verbs, own) = match (denies(left), denies(right)) {
        (true, false) => (left, right, &fit.left_verbs, &fit.right_verbs),
        (false, true) => (right, left, &fit.right_verbs, &fit.left_verbs),
        _ => return None,
    };
    let [value] = said.values.as_slice() else {
        return None;
    };
    let bounded = matches!(value.form, Form::AtMost | Form::Less);
    let limited = fit.shared.iter().any(|it| it.key == "limit");
    let some = match &value.kind {
        ValueKind::Quantity { low, .. } => *low != Ratio::whole(0) && (limited || !bounded),
        ValueKind::Version(_) => true,
        _ => false,
    };
    // The denied verb must be the one that the value replaced.
    let until = &said.until;
    let verb = own.is_empty()
        && verbs.is_empty() == until.is_empty()
        && verbs.iter().all(|it| until.contains(it.key.as_str()));
    // "The cache is not used" denies nothing about its size.
    let told = |it: &Term| (it.traits.verb || it.traits.object) && said.has(&it.key);
    let denied = limited || !verbs.is_empty() || no.terms.iter().any(told);
    let sure = denied && !(said.negative || left.open || right.open || value.label);
    (some && verb && sure && fit.is_about_one() && !fit.shared.is_empty())
        .then(|| Comparison::Apart(Difference::of_denied(left, right, &fit.shared)))
}

/// Tier 0: one affirms what the other denies.
fn compare_poles(
    left: &Statement,
    right: &Statement,
    fit: &Fit<'_>,
    placed: bool,
) -> Option<Comparison> {
    if !(left.values.is_empty() && right.values.is_empty()) {
        return None;
    }
    compare_exact_poles(left, right, fit, placed)
}

fn compare_exact_poles(
    left: &Statement,
    right: &Statement,
    fit: &Fit<'_>,
    placed: bool,
) -> Option<Comparison> {
    if !fit.is_exact() || left.alive.is_some() != right.alive.is_some() {
        return None;
    }
    let enough = (!placed && !fit.shared.is_empty())
        || fit.shared.len() >= 2
        || fit.shared.iter().any(|it| it.traits.name);
    if !enough {
        return None;
    }
    // "A before B" equals "B after A", so what comes first matters too.
    let swapped = left.first != right.first;
    let apart = (left.negative != right.negative) != swapped;
    if apart {
        Some(Comparison::Apart(Difference::of_poles(
            left,
            right,
            &fit.shared,
        )))
    } else {
        Some(Comparison::Same)
    }
}
