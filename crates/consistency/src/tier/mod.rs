//! The tiers without a model (docs/design.md#tiers-and-severity): 0, entities by name; 2, numbers
//! and times by rules; 2b, statements about all against statements about one, across topics.
//!
//! Precision comes first: claims not known to be about the same thing, in the same environment and
//! under the same conditions, are not compared. Every rule is symmetric.

mod difference;
mod fit;
mod keys;
mod named;
mod other_words;
mod pair;
mod topics;
mod wording;

use std::{cmp::Reverse, collections::BTreeSet};

use engram_model::FactType;
use jiff::Timestamp;

use crate::{
    claim::{Claim, Statement},
    near::Gist,
};
use difference::Difference;
use pair::{Comparison, WeighedPair};
use topics::TopicPair;

pub use engram_model::{Severity, Tier};
pub use keys::{Keys, claim_keys};

/// A claim with what its record says about it.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// What it says.
    pub claim: &'a Claim,
    /// Its topic; empty for the whole project.
    pub topic: &'a str,
    /// How it came to be known.
    pub fact_type: FactType,
    /// 0 to 1.
    pub confidence: f64,
    /// When it starts to hold.
    pub valid_from: Timestamp,
    /// When it stops, if known.
    pub valid_until: Option<Timestamp>,
}

/// Returns high for what the tiers without a model find, or one step lower between two inferences,
/// which count less than observations (docs/design.md#tiers-and-severity).
fn severity_of(left: FactType, right: FactType) -> Severity {
    if left == FactType::Inference && right == FactType::Inference {
        Severity::Medium
    } else {
        Severity::High
    }
}

/// Two claims that cannot both hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Which tier found it.
    pub tier: Tier,
    /// How much it matters.
    pub severity: Severity,
    /// Confidence that both are about the same thing, 0 to 1.
    pub score: f64,
    /// Why, in a sentence for people.
    pub why: String,
    /// Where the first claim differs: `[from, to)` in characters.
    pub differs_a: Vec<(usize, usize)>,
    /// Where the second claim differs.
    pub differs_b: Vec<(usize, usize)>,
}

/// Compares two claims, and reports whether they contradict each other. In the other order,
/// only the sides and the order of the values in the sentence change.
pub fn compare(a: &Said<'_>, b: &Said<'_>) -> Option<Disagreement> {
    let (score, difference) = if a.claim.folded <= b.claim.folded {
        difference_in_order(a, b)?
    } else {
        let (score, difference) = difference_in_order(b, a)?;
        (score, difference.swapped())
    };
    let worded = difference.in_words(a.claim, b.claim);
    Some(Disagreement {
        tier: difference.tier,
        severity: severity_of(a.fact_type, b.fact_type),
        score,
        why: worded.why,
        differs_a: worded.left,
        differs_b: worded.right,
    })
}

impl Disagreement {
    /// Swaps the sides; keeps the sentence.
    pub fn swapped(self) -> Self {
        Self {
            differs_a: self.differs_b,
            differs_b: self.differs_a,
            ..self
        }
    }
}

fn difference_in_order(a: &Said<'_>, b: &Said<'_>) -> Option<(f64, Difference)> {
    if !at_one_time(a, b) || a.claim.folded == b.claim.folded {
        return None;
    }
    let topics = TopicPair::new(a.topic, b.topic);
    let mut apart: Vec<(usize, usize, f64, Difference)> = Vec::new();
    let mut agreed = (BTreeSet::new(), BTreeSet::new());
    for (left, right, weighed) in all_pairs(a, b, &topics) {
        match weighed.outcome {
            Comparison::Apart(difference) => apart.push((left, right, weighed.score, difference)),
            Comparison::Same => {
                agreed.0.insert(left);
                agreed.1.insert(right);
            }
            Comparison::Open => {}
        }
    }
    // If a claim gives several values of one thing, and one agrees with the other claim, they do
    // not differ.
    apart.retain(|it| !agreed.0.contains(&it.0) && !agreed.1.contains(&it.1));
    let is_agreed = !agreed.0.is_empty();
    // The most confident one; among equals, that of the first tier.
    let best = apart.into_iter().reduce(|best, it| {
        if (it.2, Reverse(it.3.tier)) > (best.2, Reverse(best.3.tier)) {
            it
        } else {
            best
        }
    });
    match best {
        Some((.., score, difference)) => Some((score, difference)),
        None if is_agreed => None,
        None => named::compare_settings(a, b, &topics)
            .or_else(|| other_words::compare_other_words(a, b, &topics))
            .or_else(|| other_words::compare_denials(a, b, &topics)),
    }
}

/// Whether a claim may contradict one that shares none of its keys ([`claim_keys`]), only words.
pub fn reads_other_words(claim: &Claim) -> bool {
    other_words::may_be_compared(claim)
}

/// Whether the rules for other words may find anything between two claims, each a text and its gist.
/// Far cheaper than reading the claims for the rules.
pub fn may_differ_in_other_words(a: (&str, &Gist), b: (&str, &Gist)) -> bool {
    let denies = |it: (&str, &Gist)| other_words::may_deny(it.0);
    other_words::share_enough(a.1, b.1) || denies(a) || denies(b)
}

/// Confidence that two claims say the same in other words, 0 to 1; `None` if one says more or less.
/// If the agents differ, this is corroboration (docs/design.md#repeats-and-corroboration). Needs no
/// model.
pub fn corroborates(a: &Said<'_>, b: &Said<'_>) -> Option<f64> {
    if !at_one_time(a, b) {
        return None;
    }
    let same_topic = a.topic == b.topic;
    if same_topic && a.claim.folded == b.claim.folded {
        return Some(1.0);
    }
    let topics = TopicPair::new(a.topic, b.topic);
    let (left, right) = (&a.claim.statements, &b.claim.statements);
    if left.is_empty() || left.len() != right.len() {
        return None;
    }
    let mut least: f64 = 1.0;
    let mut free: Vec<_> = right.iter().collect();
    for one in left {
        let said_so = |other: &&Statement| {
            let weighed = pair::weigh_pair(one, other, &topics)?;
            matches!(weighed.outcome, Comparison::Same).then_some(weighed.score)
        };
        let at = free.iter().position(|it| said_so(it).is_some())?;
        least = least.min(said_so(&free.swap_remove(at))?);
    }
    Some(least)
}

/// Confidence that two claims are about the same attribute of the same subject, whatever they say
/// about it. Finds the claim that an update without a lineage replaces
/// (docs/design.md#what-a-version-may-replace).
pub fn same_matter(a: &Said<'_>, b: &Said<'_>) -> Option<f64> {
    let topics = TopicPair::new(a.topic, b.topic);
    if a.claim.folded == b.claim.folded && a.topic == b.topic {
        return Some(1.0);
    }
    let scores = all_pairs(a, b, &topics).map(|it| it.2.score);
    scores.max_by(f64::total_cmp)
}

/// All pairs of statements about the same thing, each by its position in its claim.
fn all_pairs<'a>(
    a: &'a Said<'_>,
    b: &'a Said<'_>,
    topics: &'a TopicPair,
) -> impl Iterator<Item = (usize, usize, WeighedPair)> + 'a {
    a.claim.statements.iter().enumerate().flat_map(move |left| {
        let right = b.claim.statements.iter().enumerate();
        right.filter_map(move |right| {
            let weighed = pair::weigh_pair(left.1, right.1, topics)?;
            Some((left.0, right.0, weighed))
        })
    })
}

/// Whether there is a time at which both hold.
fn at_one_time(a: &Said<'_>, b: &Said<'_>) -> bool {
    let before = |end: Option<Timestamp>, from: Timestamp| end.is_some_and(|end| end <= from);
    !before(a.valid_until, b.valid_from) && !before(b.valid_until, a.valid_from)
}
