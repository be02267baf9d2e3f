//! Measures the time for one pair of claims by the rule that found it, over all pairs of the tests:
//! parsing a claim, making its keys, and comparing it with another.
//!
//! `cargo run --release -p engram-consistency --example rules`. Never part of the product.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../tests/claims/pairs.rs"]
#[allow(dead_code, reason = "only their words matter here")]
mod pairs;

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use engram_consistency::{
    claim::Claim,
    tier::{self, Said, Tier},
};
use engram_model::FactType;

/// The number of runs; the fastest counts, since the machine does other work too.
const TIMES: u32 = 200;

fn main() {
    let mut read = Vec::new();
    let mut keys = Vec::new();
    let mut compared: BTreeMap<Option<Tier>, Vec<Duration>> = BTreeMap::new();
    for pair in pairs::developed().iter().chain(&pairs::unseen()) {
        let (a, b) = (Claim::read(&pair.a), Claim::read(&pair.b));
        read.push(time(|| Claim::read(&pair.a)));
        keys.push(time(|| tier::claim_keys(&a, &pair.topic_a)));
        let (left, right) = (said(&a, &pair.topic_a), said(&b, &pair.topic_b));
        let found = tier::compare(&left, &right).map(|it| it.tier);
        let took = time(|| tier::compare(&left, &right));
        compared.entry(found).or_default().push(took);
    }
    println!("| what | pairs | p50 | p95 |\n|---|---|---|---|");
    row("a claim is read", read);
    row("its keys", keys);
    for (tier, times) in compared {
        let rule = tier.map_or("nothing", Tier::as_str);
        row(&format!("two claims are compared, {rule} found"), times);
    }
}

fn said<'a>(claim: &'a Claim, topic: &'a str) -> Said<'a> {
    Said {
        claim,
        topic,
        fact_type: FactType::Observation,
        confidence: 0.9,
        valid_from: jiff::Timestamp::UNIX_EPOCH,
        valid_until: None,
    }
}

fn time<T>(work: impl Fn() -> T) -> Duration {
    let times = (0..TIMES).map(|_| {
        let begun = Instant::now();
        black_box(work());
        begun.elapsed()
    });
    times.min().unwrap_or_default()
}

fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e6;
    println!(
        "| {what} | {} | {:.1} µs | {:.1} µs |",
        times.len(),
        at(0.5),
        at(0.95)
    );
}
