//! From the first version to the last: expiry, forgetting, correction, and questions about the
//! past.

use engram_model::{
    AnswerQuality, Code, Draft, Durability, Feed, Figures, Filter, MemoryOp, Noticed, Query, ask,
};

use crate::fixture::{REINDEX, Sandbox, USER, claims_in, correction_of, draft, query, refused};

/// What no longer holds never comes back: not at once, not in another process, and not after the
/// index was rebuilt.
#[test]
fn what_ended_never_comes_back() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.claim("The cache holds 64 entries.");
    let brief = Draft {
        ttl: Some("PT1S".into()),
        ..draft("The cache is warm for a second.")
    };
    engine.put(&USER, brief).unwrap();
    let forgotten = engine.claim("The cache evicts at random.");
    let redacted = engine.claim("The cache is owned by nobody.");
    assert_eq!(engine.claims_found("cache").len(), 4);
    engine.forget(&USER, forgotten.id).unwrap();
    engine.redact(&USER, redacted.id).unwrap();
    assert_eq!(engine.claims_found("cache").len(), 2);
    sandbox.clock.turn(1);
    let left = ["The cache holds 64 entries."];
    assert_eq!(
        engine.claims_found("cache"),
        left,
        "it expires on the second"
    );
    assert_eq!(engine.status(&USER).unwrap().engrams, 1);
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
    assert_eq!(engine.claims_found("cache"), left);
    let again = sandbox.open();
    assert_eq!(again.claims_found("cache"), left);
    assert_eq!(again.claims_found("???"), left, "a query without words");
    assert!(again.0.doctor(REINDEX).unwrap().ok);
    assert_eq!(again.claims_found("cache"), left);
    refused(again.forget(&USER, forgotten.id), Code::NotFound);
    let seen = again.get(&USER, redacted.id).unwrap();
    assert_eq!(
        (seen.claim.as_str(), seen.redacted, &seen.tags),
        ("", true, &vec![])
    );
}

#[test]
fn the_past_can_be_asked_for() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let before = sandbox.clock.now();
    sandbox.clock.turn(10);
    let first = engine.claim("The limit is 10.");
    let at_first = sandbox.clock.now();
    sandbox.clock.turn(10);
    let second = engine
        .put(&USER, correction_of(first.lineage_id, "The limit is 20."))
        .unwrap();
    let at_second = sandbox.clock.now();
    sandbox.clock.turn(10);
    engine.forget(&USER, second.id).unwrap();
    let at_end = sandbox.clock.now();
    let brief = Draft {
        ttl: Some("PT5S".into()),
        ..draft("The limit is off for five seconds.")
    };
    engine.put(&USER, brief).unwrap();
    sandbox.clock.turn(10);
    for indexed in [false, true] {
        for (text, at, expected) in [
            ("limit", before, vec![]),
            ("limit", at_first, vec!["The limit is 10."]),
            ("limit", at_second, vec!["The limit is 20."]),
            ("limit", at_end, vec!["The limit is off for five seconds."]),
            ("limit", sandbox.clock.now(), vec![]),
            ("...", at_first, vec!["The limit is 10."]),
            ("...", at_second, vec!["The limit is 20."]),
            ("...", sandbox.clock.now(), vec![]),
        ] {
            let asked = Query {
                as_of: Some(at),
                ..query(text)
            };
            let reply = engine.ask(&USER, asked).unwrap();
            assert_eq!(
                claims_in(&reply),
                expected,
                "{text:?} at {at}, indexed: {indexed}"
            );
            // The list of that time gives the same answer, and shows nothing that was not known
            // then.
            let held = Feed {
                filter: Filter {
                    held_at: Some(at),
                    ..Filter::default()
                },
                ..Feed::default()
            };
            let page = engine.0.ask(&USER, ask::Feed(held)).unwrap();
            let told = page.entries.iter().filter_map(|it| it.change.stored());
            let told: Vec<_> = told
                .map(|it| (it.claim.as_str(), it.health.as_ref(), it.figures.clone()))
                .collect();
            let then = |it: &&'static str| (*it, None, Figures::default());
            assert_eq!(told, expected.iter().map(then).collect::<Vec<_>>());
        }
        assert!(engine.0.doctor(REINDEX).unwrap().ok);
    }
}

#[test]
fn a_correction_takes_the_place_of_what_it_corrects() {
    let engine = Sandbox::open_new();
    let first = engine.claim("The limit is 10.");
    // By lineage, by the newest version, and by an old version.
    let second = engine
        .put(&USER, correction_of(first.lineage_id, "The limit is 20."))
        .unwrap();
    let third = engine
        .put(&USER, correction_of(second.id, "The limit is 30."))
        .unwrap();
    let fourth = engine
        .put(&USER, correction_of(first.id, "The limit is 40."))
        .unwrap();
    for (reply, before) in [
        (&second, first.id),
        (&third, second.id),
        (&fourth, third.id),
    ] {
        assert_eq!(reply.lineage_id, first.lineage_id);
        assert_eq!(
            (reply.findings[0].what.as_str(), reply.findings[0].id),
            ("superseded", before)
        );
        let version = engine.get(&USER, reply.id).unwrap();
        assert_eq!(
            (version.supersedes, version.memory_op),
            (Some(before), MemoryOp::Update)
        );
        let closed = engine.get(&USER, before).unwrap().valid_until;
        assert_eq!(closed, Some(version.valid_from), "no gap and no overlap");
    }
    assert_eq!(engine.claims_found("limit"), ["The limit is 40."]);
    let retire = Draft {
        operation: Some(MemoryOp::Delete),
        ..correction_of(first.lineage_id, "")
    };
    let retired = engine.put(&USER, retire.clone()).unwrap();
    assert_eq!(retired.findings[0].what, Noticed::Retired);
    assert_eq!(engine.query(&USER, "limit").verdict, AnswerQuality::None);
    refused(engine.put(&USER, retire), Code::NotFound);
    refused(
        engine.put(&USER, correction_of(first.lineage_id, "The limit is 50.")),
        Code::NotFound,
    );
}

/// Case and white space do not make another claim; the record keeps the first words.
#[test]
fn a_repeat_may_differ_in_case_and_white_space() {
    let engine = Sandbox::open_new();
    let (ada, bob) = (engine.agent("claude"), engine.agent("codex"));
    let on = |topic: &str, claim: &str| Draft {
        topic: Some(topic.to_owned()),
        ..draft(claim)
    };
    let words = "The Wallet lock  lasts 3 minutes: \u{c4}GYPTEN.";
    let first = engine.put(&ada, on("wallet", words)).unwrap();
    for again in [
        "the wallet lock lasts 3 minutes: \u{e4}gypten.",
        "THE WALLET LOCK LASTS 3 MINUTES: \u{c4}GYPTEN.",
        "\tThe wallet\n lock lasts\u{a0}3 minutes: \u{e4}gypten. ",
    ] {
        let reply = engine.put(&bob, on("wallet", again)).unwrap();
        assert_eq!((reply.id, reply.seq), (first.id, first.seq), "{again}");
        assert_eq!(reply.findings[0].what, Noticed::Duplicate, "{again}");
        assert_eq!(reply.memory_op, MemoryOp::None);
        let held = engine.get(&USER, first.id).unwrap();
        assert_eq!(
            (held.claim.as_str(), held.figures.corroborations),
            (words, 1)
        );
    }
    // Any other difference makes another claim, and so does another topic.
    for (topic, other) in [
        ("wallet", "The wallet lock lasts 3 minutes, \u{c4}gypten."),
        ("wallet", "The walletlock lasts 3 minutes: \u{c4}gypten."),
        ("vault", "the wallet lock lasts 3 minutes: \u{c4}gypten."),
    ] {
        // The reply shows the claim that is near, so the next one comes from somebody else.
        let reply = engine.put(&engine.agent(topic), on(topic, other)).unwrap();
        assert_ne!(reply.id, first.id, "{other}");
        assert_eq!(reply.memory_op, MemoryOp::Add);
    }
}

/// A durable claim does not repeat an ephemeral one, but the reverse does.
#[test]
fn a_durable_claim_does_not_repeat_an_ephemeral_one() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let short = Draft {
        durability: Some(Durability::Ephemeral),
        ..draft("The cache is cold.")
    };
    let first = engine.put(&USER, short.clone()).unwrap();
    let second = engine.put(&USER, draft("The cache is cold.")).unwrap();
    assert_ne!(second.id, first.id);
    let again = engine.put(&USER, short).unwrap();
    assert_eq!(again.findings[0].what, Noticed::Duplicate);
    sandbox.clock.turn(2 * 86_400);
    assert_eq!(engine.claims_found("cache"), ["The cache is cold."]);
}

#[test]
fn the_same_claim_is_held_once_and_counted() {
    let engine = Sandbox::open_new();
    let (ada, bob) = (engine.agent("claude"), engine.agent("claude"));
    let first = engine.put(&ada, draft("The limit is 10.")).unwrap();
    let corroborations = || engine.get(&USER, first.id).unwrap().figures.corroborations;
    for (who, count) in [(&ada, 0), (&bob, 1), (&bob, 1), (&ada, 1)] {
        let again = engine.put(who, draft("  The limit is 10.\n")).unwrap();
        assert_eq!((again.id, again.seq), (first.id, first.seq));
        assert_eq!(again.findings[0].what, Noticed::Duplicate);
        assert_eq!(
            corroborations(),
            count,
            "{who:?}; two agents may bear one name"
        );
    }
    // The user's repetition is the user's own claim, and from then on only the user can repeat it.
    let users = engine.put(&USER, draft("The limit is 10.")).unwrap();
    assert_ne!(users.id, first.id);
    assert_eq!(users.findings[0].what, Noticed::SameClaim);
    let again = engine.put(&USER, draft("The limit is 10.")).unwrap();
    assert_eq!(again.id, users.id);
    engine.forget(&USER, users.id).unwrap();
    // Other evidence or another topic makes another engram that refers to the first.
    let elsewhere = Draft {
        topic: Some("gateway".into()),
        ..draft("The limit is 10.")
    };
    let other = engine.put(&ada, elsewhere).unwrap();
    assert_eq!(
        (other.findings[0].what.as_str(), other.findings[0].id),
        ("same_claim", first.id)
    );
    assert_ne!(other.id, first.id);
    engine.forget(&USER, first.id).unwrap();
    engine.forget(&USER, other.id).unwrap();
    let anew = engine.put(&ada, draft("The limit is 10.")).unwrap();
    assert!(
        anew.id != first.id && anew.findings.is_empty(),
        "an ended claim is not a duplicate"
    );
}

#[test]
fn ephemeral_claims_are_asked_for_and_end_after_a_day() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let brief = Draft {
        durability: Some(Durability::Ephemeral),
        ..draft("The build is red.")
    };
    engine.put(&USER, brief).unwrap();
    assert_eq!(engine.query(&USER, "build").verdict, AnswerQuality::None);
    let asked = Query {
        include_ephemeral: true,
        ..query("build red")
    };
    assert_eq!(
        engine.ask(&USER, asked.clone()).unwrap().verdict,
        AnswerQuality::Strong
    );
    sandbox.clock.turn(86_399);
    assert_eq!(engine.ask(&USER, asked.clone()).unwrap().engrams.len(), 1);
    sandbox.clock.turn(1);
    assert_eq!(engine.ask(&USER, asked).unwrap().engrams.len(), 0);
}

/// A clock that jumps back stops nothing: what is written then is found then.
#[test]
fn a_clock_that_jumps_back_stops_nothing() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.claim("Before the jump.");
    sandbox.clock.turn(-3_600);
    let brief = Draft {
        ttl: Some("PT1H".into()),
        ..draft("After the jump.")
    };
    let after = engine.put(&USER, brief).unwrap();
    assert_eq!(engine.claims_found("jump").len(), 2);
    assert_eq!(engine.claims_found("!").len(), 2);
    assert_eq!(engine.status(&USER).unwrap().engrams, 2);
    engine.forget(&USER, after.id).unwrap();
    assert_eq!(engine.claims_found("jump"), ["Before the jump."]);
    let times: Vec<_> = engine.journal().entries.iter().map(|it| it.at).collect();
    assert!(times.is_sorted(), "{times:?}");
    sandbox.clock.turn(3_600 * 24);
    assert_eq!(engine.claims_found("jump"), ["Before the jump."]);
}
