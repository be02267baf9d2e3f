//! Measures what the rules find among pairs of claims, against three baselines, and tests
//! properties of any two claims. `cargo test -p engram-consistency --test claims -- --nocapture`
//! prints the tables.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod examples;
mod measure;
mod nearness;
mod other_words;
mod pairs;
mod properties;

use engram_consistency::{
    claim::Claim,
    tier::{self, Disagreement, Said},
};
use engram_model::FactType;

/// A claim as if committed by an agent.
fn side_of<'a>(claim: &'a Claim, topic: &'a str) -> Said<'a> {
    Said {
        claim,
        topic,
        fact_type: FactType::Observation,
        confidence: 0.9,
        valid_from: jiff::Timestamp::UNIX_EPOCH,
        valid_until: None,
    }
}

fn compare(a: &str, b: &str) -> Option<Disagreement> {
    compare_in(a, "misc", b, "misc")
}

fn compare_in(a: &str, topic_a: &str, b: &str, topic_b: &str) -> Option<Disagreement> {
    let (left, right) = (Claim::read(a), Claim::read(b));
    tier::compare(&side_of(&left, topic_a), &side_of(&right, topic_b))
}
