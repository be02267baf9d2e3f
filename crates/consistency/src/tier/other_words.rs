//! Tiers 0 and 2 in other words: two claims about the same thing, whatever their words, that give it
//! different values.
//!
//! Nearness (`near/`) tells whether two claims are about the same thing. That is less certain than
//! equal words, so nothing else may be unclear: each claim speaks only of the present, denies nothing,
//! and gives one value of its own. A general denial is compared with an affirmed case.

use std::collections::BTreeSet;

use engram_model::is_stop_word;

use crate::{
    claim::{
        Claim, Dimension, Form, Ratio, Reach, Statement, Term, Value, ValueKind, ValueRelation,
        denies, stem, unit,
    },
    near::{Gist, Sought},
};

use super::{
    Said,
    difference::Difference,
    named::{environment, is_bound},
    pair::{are_of_one_kind, tier_of},
    topics::{TopicPair, TopicRelation},
};

/// Claims less near than this are not known to be about the same thing.
const NEAR_ENOUGH: f32 = 0.4;

/// Confidence that a general denial covers a case that is affirmed.
const DENIED: f64 = 0.75;
/// The fewest words that both claims have, besides stop words.
const MIN_SHARED: usize = 3;
/// Two claims are worded alike if they share more than this part of the shorter one's words, in the
/// same order.
const ALIKE: f32 = 0.6;
/// Longer claims are not compared; a home accepts far shorter ones.
const MAX_BYTES: usize = 4_096;

/// Finds that two claims give one thing different values, in whatever words.
pub(super) fn compare_other_words(
    a: &Said<'_>,
    b: &Said<'_>,
    topics: &TopicPair,
) -> Option<(f64, Difference)> {
    let (left, right) = (a.claim, b.claim);
    if topics.relation != TopicRelation::Same
        || left.text.len().max(right.text.len()) > MAX_BYTES
        || !is_clear(left)
        || !is_clear(right)
        || environment(left) != environment(right)
        || is_bound(left) != is_bound(right)
        || have_names_of_their_own(left, right)
    {
        return None;
    }
    let (one, other) = only_difference(left, right)?;
    let (gist, there) = (Gist::of(&left.text), Gist::of(&right.text));
    // "In the relay service" says where, not of what.
    let (here, others) = (conditions(left), conditions(right));
    let is_place = |stem: &&str| here.contains(stem) && others.contains(stem);
    let shared = shared_words(&gist, &there)
        .filter(|it| !is_place(it))
        .count();
    let near = Sought::without_home(&gist).nearness(&there);
    let is_known = if are_worded_alike(left, right) {
        shared + 1 >= MIN_SHARED && says_more(left, right) && !topics.bare
    } else {
        shared >= MIN_SHARED
    };
    if near < NEAR_ENOUGH || !is_known {
        return None;
    }
    let sides = [sketch(left, one), sketch(right, other)];
    let [one_side, other_side] = &sides;
    if !are_of_one_kind(one_side.aspect, other_side.aspect) {
        return None;
    }
    let apart = [(one, other)];
    let names: Vec<&Term> = one_side.terms.iter().collect();
    let difference =
        Difference::of_values(tier_of(&apart, false), &apart, &names, one_side, other_side);
    Some(((f64::from(near) * 100.0).round() / 100.0, difference))
}

/// Finds that one claim denies in general what the other affirms of a case: "are never run
/// automatically", "run automatically at startup".
pub(super) fn compare_denials(
    a: &Said<'_>,
    b: &Said<'_>,
    topics: &TopicPair,
) -> Option<(f64, Difference)> {
    if topics.relation != TopicRelation::Same || !a.claim.is_whole || !b.claim.is_whole {
        return None;
    }
    let right = &b.claim.statements;
    let mut pairs = a
        .claim
        .statements
        .iter()
        .flat_map(|one| right.iter().map(move |other| (one, other)));
    let (one, other) =
        pairs.find(|(one, other)| denies_all(one, other) || denies_all(other, one))?;
    let shared: Vec<&Term> = one.terms.iter().filter(|it| other.has(&it.key)).collect();
    Some((DENIED, Difference::of_poles(one, other, &shared)))
}

fn denies_all(no: &Statement, yes: &Statement) -> bool {
    let is_plain = |it: &Statement| {
        it.values.is_empty()
            && !it.open
            && !it.also
            && !it.event
            && it.alive.is_none()
            && it.reach == Reach::Named
    };
    let verbs = |it: &Statement| -> BTreeSet<String> {
        it.terms
            .iter()
            .filter(|it| it.may_be_verb())
            .map(|it| it.key.clone())
            .collect()
    };
    let is_there = |term: &Term| {
        yes.terms
            .iter()
            .any(|it| it.key == term.key && !it.is_led_elsewhere(term))
    };
    // What the other adds stands at its end: "comments on public issues are indexed" is an exception.
    let is_shared = |it: &&Term| no.has(&it.key);
    let last = yes.terms.iter().filter(is_shared).map(|it| it.from).max();
    let is_at_end = |it: &Term| no.has(&it.key) || last.is_some_and(|last| it.from > last);
    no.negative
        && !yes.negative
        && yes.terms.iter().all(is_at_end)
        && is_plain(no)
        && is_plain(yes)
        && no.terms.len() >= 2
        && no.first == yes.first
        && no.except.is_empty()
        && no.conditions.is_empty()
        && no.environment == yes.environment
        && verbs(no) == verbs(yes)
        && no.terms.iter().all(is_there)
}

/// Whether a claim may contradict another in other words: it gives a value, or denies something.
pub(super) fn may_be_compared(claim: &Claim) -> bool {
    claim.is_whole
        && claim
            .statements
            .iter()
            .any(|it| it.negative || !it.values.is_empty())
}

/// Whether no statement that gives a value is denied, open, an event or about only some.
fn is_clear(claim: &Claim) -> bool {
    let is_bounded = |it: &Value| it.form != Form::Exact;
    let vague = |said: &Statement| {
        let is_open = said.open && !said.values.iter().all(is_bounded);
        said.negative || said.also || is_open || said.event || said.reach == Reach::Some
    };
    let mut saying = claim.statements.iter().filter(|it| !it.values.is_empty());
    claim.is_whole && !saying.any(vague)
}

/// Whether two claims share the fewest words with which [`compare_other_words`] finds anything.
pub(super) fn share_enough(left: &Gist, right: &Gist) -> bool {
    shared_words(left, right).count() + 1 >= MIN_SHARED
}

/// Whether a text may deny something. [`compare_denials`] knows more words than those that two texts
/// share as written.
pub(super) fn may_deny(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '\'');
    words.any(denies)
}

/// The words that both claims have, besides stop words and units.
fn shared_words<'g>(left: &'g Gist, right: &Gist) -> impl Iterator<Item = &'g str> {
    let there: BTreeSet<&str> = right.stems().collect();
    let shared = left.stems().filter(move |it| there.contains(it));
    shared.filter(|it| unit(it).is_none())
}

/// Whether one claim says all that the other says, and perhaps more.
fn says_more(left: &Claim, right: &Claim) -> bool {
    let has_subject = |claim: &Claim| {
        let nouns =
            terms(claim).filter(|it| it.identifies() && !it.may_be_verb() && !it.may_be_implied());
        nouns.count() >= 2
    };
    // What narrows the subject stands before the value: "Requests to /export time out after".
    let has_all = |one: &Claim, other: &Claim| {
        if words_before_value(one) != words_before_value(other) {
            return false;
        }
        let there = words(other);
        let is_led_elsewhere = |it: &&Term| terms(other).any(|other| other.is_led_elsewhere(it));
        has_subject(one)
            && words(one).is_subset(&there)
            && !terms(one).any(|it| is_led_elsewhere(&it))
    };
    let verbs = |claim: &Claim| -> BTreeSet<String> {
        let verbs = terms(claim).filter(|it| it.may_be_verb());
        verbs.map(|it| it.key.clone()).collect()
    };
    verbs(left) == verbs(right)
        && asks_for(left) == asks_for(right)
        && conditions(left) == conditions(right)
        && (has_all(left, right) || has_all(right, left))
}

fn terms(claim: &Claim) -> impl Iterator<Item = &Term> {
    claim.statements.iter().flat_map(|it| &it.terms)
}

/// The words of a claim with a letter, besides stop words and units.
fn words(claim: &Claim) -> BTreeSet<String> {
    words_of(&claim.folded)
}

/// The words of a claim before its first value.
fn words_before_value(claim: &Claim) -> BTreeSet<String> {
    let first = values(claim).map(|it| it.from).min().unwrap_or_default();
    let before: String = claim.text.chars().take(first).collect();
    words_of(&before.to_lowercase())
}

fn words_of(text: &str) -> BTreeSet<String> {
    let parts = text.split(|it: char| !it.is_alphanumeric());
    // "daily" counts no days: "daily backups" are not "weekly backups".
    let is_unit = |word: &str| unit(word).is_some() && !word.ends_with("ly");
    let words = parts.filter(|it| it.contains(char::is_alphabetic) && !is_unit(it));
    let said = words.filter(|it| it.len() == 1 || !is_stop_word(it));
    said.map(stem).collect()
}

/// Whether a claim says what something needs, not what it has.
fn asks_for(claim: &Claim) -> bool {
    claim
        .folded
        .split(' ')
        .any(|it| matches!(it, "need" | "needs" | "require" | "requires"))
}

/// When a claim holds, whichever of its statements says so.
fn conditions(claim: &Claim) -> BTreeSet<&str> {
    let all = claim.statements.iter().flat_map(|it| &it.conditions);
    all.map(String::as_str)
        .filter(|it| *it != "default")
        .collect()
}

/// Whether each claim names something that the other does not: two files, two settings.
fn have_names_of_their_own(left: &Claim, right: &Claim) -> bool {
    has_name_of_its_own(left, right) && has_name_of_its_own(right, left)
}

fn has_name_of_its_own(claim: &Claim, other: &Claim) -> bool {
    let letters =
        |text: &str| -> String { text.chars().filter(|it| it.is_alphanumeric()).collect() };
    let there = letters(&other.folded);
    let terms = claim.statements.iter().flat_map(|it| &it.terms);
    let names = terms.filter(|it| it.traits.literal || it.traits.path);
    let settings = claim.settings.iter().map(|it| it.key.as_str());
    let mut all = names.map(|it| it.text.as_str()).chain(settings);
    all.any(|it| !there.contains(&letters(it)))
}

/// Whether most words of the shorter claim come in the other in the same order. Such claims differ
/// in what few words they do not share: the rules for equal words decide.
fn are_worded_alike(left: &Claim, right: &Claim) -> bool {
    let words = |claim: &Claim| -> Vec<String> {
        let parts = claim.folded.split(|it: char| !it.is_alphabetic());
        parts.filter(|it| !it.is_empty()).map(stem).collect()
    };
    let (one, other) = (words(left), words(right));
    let mut longest = vec![0_usize; other.len() + 1];
    for word in &one {
        let mut diagonal = 0;
        for (at, theirs) in other.iter().enumerate() {
            let above = longest[at + 1];
            longest[at + 1] = if word == theirs {
                diagonal + 1
            } else {
                above.max(longest[at])
            };
            diagonal = above;
        }
    }
    let common = longest.last().copied().unwrap_or_default();
    common as f32 > ALIKE * one.len().min(other.len()) as f32
}

/// The one value of each claim that the other does not give; `None` unless these cannot both hold.
fn only_difference<'c>(left: &'c Claim, right: &'c Claim) -> Option<(&'c Value, &'c Value)> {
    let own = |claim: &'c Claim, other: &'c Claim| -> Option<&'c Value> {
        let is_same = |value: &Value, theirs: &Value| {
            theirs.relation_to(value, false) == ValueRelation::Same
                && (value.dimension() != Some(Dimension::Count)
                    || count_the_same((claim, value), (other, theirs)))
        };
        let is_said = |value: &Value| values(other).any(|it| is_same(value, it));
        let is_one = |it: &Value| it.kind == ValueKind::amount(Ratio::whole(1), Dimension::Count);
        let mut own = values(claim).filter(|it| !is_said(it) && !is_one(it));
        let value = own.next()?;
        own.next().is_none().then_some(value)
    };
    let (one, other) = (own(left, right)?, own(right, left)?);
    let is_year = |value: &Value| {
        let parts = value.quantity_parts();
        let amount = parts.filter(|it| it.3 == Dimension::Count);
        let whole = amount.and_then(|it| it.0.as_whole());
        whole.is_some_and(|it| (1990..2100).contains(&it))
    };
    let is_judged = |it: &Value| {
        !it.label
            && !it.about
            && !is_year(it)
            && matches!(it.kind, ValueKind::Quantity { .. } | ValueKind::Version(_))
    };
    let are_alike = one.comparable_kind() == other.comparable_kind();
    let are_apart = one.relation_to(other, false) == ValueRelation::Apart;
    (is_judged(one) && is_judged(other) && are_alike && are_apart).then_some((one, other))
}

/// Whether two bare numbers have the same word before or after them: "4 connections" and "tenant 4" are
/// not one thing.
fn count_the_same(one: (&Claim, &Value), other: (&Claim, &Value)) -> bool {
    let beside = |(claim, value): (&Claim, &Value)| {
        let text: Vec<char> = claim.text.chars().collect();
        let word = |part: &[char], is_last: bool| -> Option<String> {
            let part: String = part.iter().collect();
            let mut words = part
                .split(|it: char| !it.is_alphabetic())
                .filter(|it| !it.is_empty());
            let word = if is_last {
                words.next_back()
            } else {
                words.next()
            };
            word.map(|it| stem(&it.to_lowercase()))
        };
        let before = text.get(..value.from).and_then(|it| word(it, true));
        let after = text.get(value.to..).and_then(|it| word(it, false));
        (before, after)
    };
    let (one, other) = (beside(one), beside(other));
    let is_shared = |a: Option<String>, b: Option<String>| a.is_some() && a == b;
    is_shared(one.0, other.0) || is_shared(one.1, other.1)
}

fn values(claim: &Claim) -> impl Iterator<Item = &Value> {
    claim.statements.iter().flat_map(|it| &it.values)
}

/// A statement of what a claim is about, with this value alone.
fn sketch(claim: &Claim, value: &Value) -> Statement {
    let of = claim.statements.iter().find(|it| it.values.contains(value));
    Statement {
        terms: of.map(|it| it.terms.clone()).unwrap_or_default(),
        aspect: of.and_then(|it| it.aspect),
        values: vec![value.clone()],
        ..Statement::default()
    }
}
