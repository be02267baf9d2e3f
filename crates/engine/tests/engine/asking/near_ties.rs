//! The order of claims that answer about equally well, and repeats.

use engram_model::{Draft, FactType, Query};

use crate::fixture::{Sandbox, USER, claims_in, draft, evidence, on_topic, query};

/// Of claims that answer about equally well, those with more to speak for them come first, whatever
/// their age.
#[test]
fn near_ties_are_ordered_by_what_speaks_for_a_claim() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let put = |draft: Draft| {
        sandbox.clock.turn(60);
        at.put(&USER, draft).unwrap().id
    };
    let of = |claim: &str, fact_type: FactType| Draft {
        fact_type: Some(fact_type),
        ..draft(claim)
    };
    let bare = |draft: Draft| Draft {
        pointers: vec![evidence("url:https://example.org/seen")],
        ..draft
    };
    let pointed = put(of("Parsers are slow in 1.", FactType::Observation));
    let guessed = put(of("Parsers are slow in 2.", FactType::Inference));
    let observed = put(bare(of("Parsers are slow in 3.", FactType::Observation)));
    let found = at.query(&USER, "slow parsers").engrams;
    let found: Vec<_> = found.iter().map(|it| it.id).collect();
    assert_eq!(found, [pointed, guessed, observed]);
    // Relevance is never outweighed.
    let better = put(bare(of(
        "Slow parsers block the parser queue.",
        FactType::Inference,
    )));
    let found = at.query(&USER, "slow parsers block the queue").engrams;
    assert_eq!(found[0].id, better);
}

/// A claim that many said in the same words takes one place among the first.
#[test]
fn what_is_said_again_makes_room_for_others() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.put(
        &USER,
        on_topic("relay/other", "The relay also retries in 3 s."),
    )
    .unwrap();
    for (n, claim) in [
        "The relay retries in 2 s.",
        "the relay retries in 2 s",
        "Relay retries in 2 s.",
        "The relay retries in 2 s.",
    ]
    .iter()
    .enumerate()
    {
        sandbox.clock.turn(60);
        at.put(&USER, on_topic(&format!("relay/{n}"), claim))
            .unwrap();
    }
    let ask = |k: usize| {
        let asked = Query {
            k: Some(k),
            ..query("relay retries")
        };
        claims_in(&at.ask(&USER, asked).unwrap())
    };
    assert_eq!(
        ask(3)[..2],
        [
            "The relay retries in 2 s.",
            "The relay also retries in 3 s."
        ]
    );
    assert_eq!(ask(5).len(), 5, "nothing is left out");
}

/// Claims that differ in a negation, or in the order of their numbers, repeat nothing.
#[test]
fn the_other_side_of_a_contradiction_keeps_its_place() {
    let at = Sandbox::open_new();
    for claim in [
        "The relay can retry on a closed socket.",
        "The relay can not retry on a closed socket.",
        "The relay logs a closed socket pool.",
        "The relay also opens a socket.",
        "A socket of the relay is closed at night.",
    ] {
        at.claim(claim);
    }
    let asked = Query {
        k: Some(2),
        ..query("can the relay retry on a closed socket")
    };
    let mut found = claims_in(&at.ask(&USER, asked).unwrap());
    found.sort();
    assert_eq!(
        found,
        [
            "The relay can not retry on a closed socket.",
            "The relay can retry on a closed socket."
        ]
    );
}

/// Words that stand only in a claim's tags and topic count less than those that it says.
#[test]
fn tags_do_not_answer_a_question() {
    let at = Sandbox::open_new();
    at.claim("The gateway retries a vendor call twice an hour.");
    let stuffed = Draft {
        tags: ["times", "call", "often", "gateway", "retry"]
            .map(str::to_owned)
            .into(),
        ..on_topic("gateway/retry/vendor", "Yes.")
    };
    at.put(&USER, stuffed).unwrap();
    let found = at.query(&USER, "how often does the gateway retry a vendor call");
    assert!(
        found.engrams[0].claim.starts_with("The gateway"),
        "{found:?}"
    );
}

/// However many claims have every word of the question, it finds them.
#[test]
fn a_word_of_every_claim_is_found() {
    let at = Sandbox::open_new();
    for n in 0..40 {
        at.claim(&format!("Worker w{n}x waits 30 seconds for its lock."));
    }
    for question in ["30", "waits"] {
        assert_eq!(at.query(&USER, question).engrams.len(), 10, "{question}");
    }
}

/// A claim and a question of small words alone are compared with nothing.
#[test]
fn small_words_alone_find_nothing() {
    let at = Sandbox::open_new();
    at.claim("The relay retries in 2 s.");
    at.claim("It is what it is.");
    assert_eq!(claims_in(&at.query(&USER, "is it what it was")).len(), 0);
}

/// The hint of a refusal leads to a query that passes.
#[test]
fn a_query_for_no_engram_is_told_to_ask_for_more() {
    let at = Sandbox::open_new();
    for (k, wanted) in [(0, "Ask for at least one"), (51, "Ask for fewer")] {
        let query = Query {
            k: Some(k),
            ..query("ledger")
        };
        let refusal = at.ask(&USER, query).unwrap_err();
        assert!(refusal.hint.starts_with(wanted), "{k}: {refusal:?}");
    }
}
