//! The effects of conflicts: an agent whose claims lose ranks lower, and reports of conflicts
//! change neither its rate nor the counts that people see. Also, how well each engram answers.

use engram_model::{
    AnswerQuality, Caller, Code, ConflictId, Draft, Durability, FactType, Query, Settle, ask,
};

use crate::fixture::{
    Asked, Sandbox, USER, conflicts::open_conflicts, correction_of, draft, on_topic, query, refused,
};

fn draft_with_confidence(claim: &str, confidence: f64) -> Draft {
    Draft {
        confidence: Some(confidence),
        fact_type: Some(FactType::Observation),
        ..on_topic("wallet", claim)
    }
}

/// Makes ada's claim of this confidence lose against bob's, by a verdict of `judge`.
fn make_ada_lose(
    at: &Asked,
    [ada, bob]: [&Caller; 2],
    nth: u32,
    confidence: f64,
    judge: &Caller,
) -> ConflictId {
    let said = |minutes: u32| format!("The vault{nth} lock lasts {minutes} minutes.");
    at.put(ada, draft_with_confidence(&said(3), confidence))
        .unwrap();
    let winner = at.put(bob, draft_with_confidence(&said(30), 0.9)).unwrap();
    let found = winner.findings.iter().find_map(|it| it.conflict).unwrap();
    at.settle(judge, found, Settle::Winner(winner.id)).unwrap();
    found
}

/// The authors of the results, best first.
fn authors_in_order(at: &Asked, text: &str) -> Vec<String> {
    let found = at.query(&USER, text).engrams;
    found
        .into_iter()
        .map(|it| it.provenance.created_by)
        .collect()
}

#[test]
fn who_lost_is_answered_with_after_others() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    at.put(
        &bob,
        draft_with_confidence("Kerning reads glyph tables (1).", 0.9),
    )
    .unwrap();
    sandbox.clock.turn(60);
    // Of two that answer equally well, the newer comes first.
    at.put(
        &ada,
        draft_with_confidence("Kerning reads glyph tables (2).", 0.9),
    )
    .unwrap();
    let before = ["ada", "bob"];
    assert_eq!(authors_in_order(&at, "kerning glyph"), before);
    // A verdict for the judge's own claim does not count against the other.
    make_ada_lose(&at, [&ada, &bob], 1, 0.9, &bob);
    assert_eq!(authors_in_order(&at, "kerning glyph"), before);
    let lost = make_ada_lose(&at, [&ada, &bob], 2, 0.9, &USER);
    assert_eq!(authors_in_order(&at, "kerning glyph"), ["bob", "ada"]);
    // A query about the past is not affected, nor is one after the verdict was undone; also in
    // another process.
    let then = Query {
        as_of: Some(sandbox.clock.now()),
        ..query("kerning glyph")
    };
    sandbox.clock.turn(60);
    let then = at.ask(&USER, then).unwrap().engrams;
    assert_eq!(then[0].provenance.created_by, "ada");
    at.settle(&USER, lost, Settle::Undo).unwrap();
    for at in [&at, &sandbox.open_at("repo", 9)] {
        assert_eq!(authors_in_order(at, "kerning glyph"), before);
    }
}

/// A claim ranks lower still if many claims of similar confidence lost.
#[test]
fn it_is_kept_by_confidence() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    for nth in 0..4 {
        sandbox.clock.turn(60);
        make_ada_lose(&at, [&ada, &bob], nth, 0.95, &USER);
    }
    for (at_place, confidence) in [(1, 0.6), (2, 0.95)] {
        sandbox.clock.turn(60);
        let claim = format!("Kerning reads glyph tables ({at_place}).");
        at.put(&ada, draft_with_confidence(&claim, confidence))
            .unwrap();
    }
    let found = at.query(&USER, "kerning glyph").engrams;
    let found: Vec<_> = found.iter().map(|it| (it.confidence, it.score)).collect();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].0, 0.6, "although the other is newer: {found:?}");
    assert!(found[0].1 > found[1].1, "{found:?}");
    // It takes at most a fifth.
    assert!(found[1].1.unwrap() >= 0.8, "{found:?}");
}

#[test]
fn each_answer_says_how_well_it_answers() {
    let at = Sandbox::open_new();
    for claim in [
        "The parser keeps `MAX_DEPTH` at 64 levels of nesting.",
        "The parser stops at too many levels of nesting.",
        "The lexer counts levels of nesting.",
    ] {
        at.claim(claim);
    }
    let scratch = Draft {
        durability: Some(Durability::Ephemeral),
        ..draft("The scanner counts levels of nesting.")
    };
    at.put(&USER, scratch).unwrap();
    for text in ["levels of nesting", "parser MAX_DEPTH nesting levels"] {
        let asked = Query {
            include_ephemeral: true,
            ..query(text)
        };
        let found = at.ask(&USER, asked).unwrap().engrams;
        let scores: Vec<f64> = found.iter().map(|it| it.score.unwrap()).collect();
        assert!(scores.len() > 2, "{text}: {scores:?}");
        assert!(
            scores.is_sorted_by(|one, two| one >= two),
            "{text}: {scores:?}"
        );
        assert!(
            scores.iter().all(|it| (0.0..=1.0).contains(it)),
            "{scores:?}"
        );
        // Ephemeral claims come last, with three fifths of the weight.
        let last = found.last().unwrap();
        assert_eq!(last.durability, Durability::Ephemeral, "{text}");
    }
    let all = at.query(&USER, "levels of nesting").engrams;
    assert_eq!(all[0].score, Some(1.0), "it has every term of the question");
    // Without a question, nothing is scored; nor is a single record.
    let newest = at.query(&USER, "");
    assert_eq!(newest.verdict, AnswerQuality::Weak);
    assert!(newest.engrams.iter().all(|it| it.score.is_none()));
    assert_eq!(at.get(&USER, all[0].id).unwrap().score, None);
}

/// Sixteen conflicts at once count as one claim of the agent that made it, and so does their end.
#[test]
fn what_tells_of_a_conflict_is_counted_with_no_claims() {
    let at = Sandbox::open_new();
    let bob = at.agent("bob");
    let value = |number: u32| on_topic("gateway", &format!("The retry limit is {number}."));
    for number in 0..16 {
        at.put(&USER, value(number)).unwrap();
        at.0.leave_in_order().unwrap();
    }
    let status = || at.0.ask(&USER, ask::Status).unwrap();
    let stored = || {
        let all = at.0.ask(&USER, ask::Agents).unwrap().agents;
        all.iter().find(|it| it.name == "bob").unwrap().stored
    };
    assert_eq!(status().engrams, 16);
    let said = at.put(&bob, value(99)).unwrap();
    at.0.leave_in_order().unwrap();
    assert_eq!((said.conflicts, said.due), (5, 11));
    assert_eq!(open_conflicts(&at).len(), 17 * 16 / 2);
    assert_eq!((status().engrams, stored()), (17, 1));
    let other = Draft {
        topic: Some("gateway".to_owned()),
        ..correction_of(said.id, "The gateway retries as long as its caller waits.")
    };
    at.put(&bob, other).unwrap();
    assert_eq!(open_conflicts(&at).len(), 16 * 15 / 2);
    assert_eq!((status().engrams, stored()), (17, 2));
    // Two of twenty in a minute are used.
    for number in 0..18 {
        let claim = format!("Module number {number} parses its own settings.");
        at.put(&bob, draft(&claim)).unwrap();
    }
    refused(at.put(&bob, draft("One too many.")), Code::RateLimited);
}
