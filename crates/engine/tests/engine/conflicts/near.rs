//! The claims of others that a reply proposes, because they may be about the same thing.

use engram_model::{ConflictId, Draft, NearClaim, PairVerdict, Scope, Settle};

use crate::fixture::{
    Asked, REINDEX, Sandbox, USER, draft, embed_if_asked, lines_of, on_topic, scoped_draft,
};

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
/// Contradicts it in other words, which no rule decides.
const OTHER: &str = "The relay service, behind its proxy, listens on a Unix socket.";
/// Contradicts it in other words, which the rules decide.
const OTHER_PORT: &str = "Behind its proxy, the relay service is reached at 9090.";

fn near(at: &Asked, who: &engram_model::Caller, draft: Draft) -> Vec<NearClaim> {
    at.put(who, draft).unwrap().near
}

/// With and without an index, which lags behind.
#[test]
fn a_claim_of_another_in_other_words_is_proposed() {
    for is_indexed in [false, true] {
        let at = Sandbox::open_new();
        let (ada, bob) = (at.agent("ada"), at.agent("bob"));
        at.put(&ada, draft("Retries use full jitter.")).unwrap();
        let first = at.put(&ada, draft(PORT)).unwrap();
        assert!(first.near.is_empty(), "{:?}", first.near);
        if is_indexed {
            assert!(at.0.doctor(REINDEX).unwrap().ok);
        }
        // Nobody is shown their own claim.
        let own = near(
            &at,
            &ada,
            on_topic("net", "The relay of the proxy has one port."),
        );
        assert!(own.is_empty(), "{own:?}");
        let found = near(&at, &bob, draft(OTHER));
        let told: Vec<_> = found.iter().map(|it| (it.id, it.by.as_str())).collect();
        assert_eq!(told, [(first.id, "ada")], "one of an author: {found:?}");
        assert_eq!(found[0].claim, PORT);
        assert!((0.31..=1.0).contains(&found[0].score), "{found:?}");
    }
}

/// Claims that share few words are compared, with and without an index.
#[test]
fn another_value_in_other_words_is_a_conflict() {
    // The denial shares one word with the case; that the others mean the same, only its rule knows.
    let case = "The db is vacuumed at startup.";
    let pairs = [(PORT, OTHER_PORT), (case, "Databases are never vacuumed.")];
    for (is_indexed, (said, other)) in [false, true]
        .into_iter()
        .flat_map(|it| pairs.map(|pair| (it, pair)))
    {
        let at = Sandbox::open_new();
        let (ada, bob) = (at.agent("ada"), at.agent("bob"));
        for n in 0..10 {
            at.put(&ada, draft(&format!("The queue of worker {n} is short.")))
                .unwrap();
        }
        let first = at.put(&ada, draft(said)).unwrap();
        if is_indexed {
            assert!(at.0.doctor(REINDEX).unwrap().ok);
        }
        let stored = at.put(&bob, draft(other)).unwrap();
        let found: Vec<_> = stored.findings.iter().map(|it| it.id).collect();
        assert_eq!((stored.conflicts, found), (1, vec![first.id]), "{stored:?}");
    }
}

#[test]
fn what_ended_or_is_hidden_or_in_conflict_is_not_proposed() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    let run = "The relay keeps a proxy warm for this test.";
    at.put(&ada, scoped_draft(run, Scope::Run)).unwrap();
    let gone = at.put(&ada, draft(PORT)).unwrap();
    at.forget(&ada, gone.id).unwrap();
    assert_eq!(near(&at, &bob, draft(OTHER)), []);
    // The user sees every run, so the run's claim is proposed.
    let seen = near(
        &at,
        &USER,
        draft("For this test, the relay has a warm proxy."),
    );
    assert!(seen.iter().any(|it| it.claim == run), "{seen:?}");
    at.put(&ada, draft("The wallet lock lasts 3 minutes."))
        .unwrap();
    let found = at
        .put(&bob, draft("The wallet lock lasts 30 minutes."))
        .unwrap();
    assert_eq!((found.conflicts, found.near.len()), (1, 0), "{found:?}");
}

/// However many are near, a reply proposes three, of different authors.
#[test]
fn a_reply_proposes_three_of_different_authors() {
    let at = Sandbox::open_new();
    for name in ["ada", "bob", "eve", "joe", "kim"] {
        let who = at.agent(name);
        for what in ["behind", "before", "beside"] {
            let claim = format!("The relay of {name} listens {what} the proxy.");
            at.put(&who, draft(&claim)).unwrap();
        }
    }
    let found = near(
        &at,
        &at.agent("max"),
        draft("The relay listens at the proxy."),
    );
    let mut by: Vec<_> = found.iter().map(|it| it.by.clone()).collect();
    by.sort();
    by.dedup();
    assert_eq!((found.len(), by.len()), (3, 3), "{found:?}");
    assert!(found.is_sorted_by(|a, b| a.score >= b.score));
}

/// Agents are told apart by who they are, whatever they call themselves.
#[test]
fn agents_of_one_name_are_several_authors() {
    let at = Sandbox::open_new();
    for (name, what) in [("ada", "behind"), ("bob", "before"), ("eve", "beside")] {
        let named = Draft {
            agent: Some("claude-code".to_owned()),
            ..draft(&format!("The relay of {name} listens {what} the proxy."))
        };
        at.put(&at.agent(name), named).unwrap();
    }
    let asked = draft("The relay listens at the proxy.");
    assert_eq!(near(&at, &at.agent("max"), asked).len(), 3);
}

/// What an author may not see takes no place among what is compared.
#[test]
fn hidden_claims_push_none_out_of_a_reply() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    for n in 0..30 {
        let who = at.agent(&format!("run{n}"));
        let claim = format!("Behind its proxy, the relay is reached at {n} for run {n}.");
        at.put(&who, scoped_draft(&claim, Scope::Run)).unwrap();
    }
    let first = at.put(&ada, draft(PORT)).unwrap();
    let found = near(&at, &bob, draft(OTHER));
    assert!(found.iter().any(|it| it.id == first.id), "{found:?}");
    // It was shown to bob, who would only repeat it.
    let bare = Draft {
        pointers: Vec::new(),
        ..draft(PORT)
    };
    let commit = engram_model::Commit {
        draft: bare,
        ..engram_model::Commit::default()
    };
    let repeated = at.0.ask(&bob, engram_model::ask::Commit(Box::new(commit)));
    crate::fixture::refused(repeated, engram_model::Code::Echo);
}

/// Three words that no other number has.
fn words_of(n: usize) -> [String; 3] {
    const SYLLABLES: [&str; 10] = ["ba", "ke", "lo", "mi", "tu", "za", "ri", "no", "pe", "gu"];
    let stem = format!("{}{}", SYLLABLES[n / 10], SYLLABLES[n % 10]);
    ["ran", "dor", "vel"].map(|it| format!("{stem}{it}"))
}

/// With a hundred words of a person who finds pairs compatible, the barely near are left out; with
/// one less, they are not.
#[test]
fn false_alarms_raise_the_threshold() {
    let at = Sandbox::open_new();
    let put = |name: &str, claim: &str| {
        let agent = Some(name.to_owned());
        let draft = Draft {
            agent,
            ..draft(claim)
        };
        at.put(&USER, draft).unwrap()
    };
    let mut pairs: Vec<ConflictId> = Vec::new();
    for n in 0..100 {
        let [a, b, c] = words_of(n);
        put("ada", &format!("The {a} of {b} waits for {c}."));
        let stored = put("bob", &format!("Nothing but {c} starts the {a} of {b}."));
        pairs.push(stored.near[0].conflict);
    }
    let first = put(
        "eve",
        "Leases of the janitor end after a minute of silence.",
    );
    let is_proposed = |when: &str| {
        let stored = put(
            "max",
            &format!("The janitor takes back the old leases of the hall at {when} without a word."),
        );
        at.forget(&USER, stored.id).unwrap();
        let near: Vec<_> = stored.near.iter().map(|it| it.id).collect();
        assert!(near.is_empty() || near == [first.id], "{stored:?}");
        !near.is_empty()
    };
    let settle = |pair: &ConflictId, how: Settle| at.settle(&USER, *pair, how).unwrap();
    let dismiss = || Settle::judge(PairVerdict::Compatible);
    assert!(is_proposed("noon"));
    pairs[1..].iter().for_each(|it| drop(settle(it, dismiss())));
    assert!(is_proposed("dusk"), "99 words move nothing");
    settle(&pairs[0], dismiss());
    assert!(!is_proposed("dawn"));
    settle(&pairs[0], Settle::Undo);
    assert!(is_proposed("night"));
}

/// Over pairs of claims by two authors who never saw each other's wording: how often the reply to the
/// second names the first, as a conflict or as a claim that may be about the same thing
/// (docs/accuracy.md).
#[test]
fn the_contradicted_claim_is_shown_or_found() {
    for set in ["strangers", "other_classes"] {
        assert_shown_or_found(set);
    }
}

fn assert_shown_or_found(set: &str) {
    let lines = lines_of(&format!("../consistency/tests/claims/{set}.jsonl"));
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let authors = ["ada", "bob", "eve", "kim"].map(|it| at.agent(it));
    let put = |n: usize, line: &serde_json::Value, side: &str| {
        sandbox.clock.turn(60);
        let claim = line[side].as_str().unwrap();
        at.put(&authors[n % authors.len()], on_topic("pairs", claim))
            .unwrap()
    };
    let firsts: Vec<_> = (0..)
        .zip(&lines)
        .map(|(n, line)| put(n, line, "a").id)
        .collect();
    embed_if_asked(&sandbox, &at);
    let (mut pairs, mut shown, mut found, mut named) = (0, 0, 0, 0);
    for (n, (line, first)) in lines.iter().zip(&firsts).enumerate() {
        // By another author than the first side.
        let stored = put(n + 1, line, "b");
        if line["label"] != "contradiction" {
            continue;
        }
        pairs += 1;
        named += stored.near.len();
        let is_found = stored.findings.iter().any(|it| it.id == *first);
        found += usize::from(is_found);
        shown += usize::from(!is_found && stored.near.iter().any(|it| it.id == *first));
    }
    let share = |of: usize| of as f64 / pairs as f64;
    // Claims about other projects, by somebody who said nothing before.
    let (lou, mut silent, mut others) = (at.agent("lou"), 0, 0);
    for line in lines_of("tests/engine/asking/questions.jsonl") {
        if let Some(claim) = line["claim"].as_str() {
            // As fast as one agent may write.
            sandbox.clock.turn(80);
            let stored = at.put(&lou, on_topic("others", claim)).unwrap();
            others += 1;
            silent += usize::from(stored.near.is_empty());
        }
    }
    let silent = f64::from(silent as u32) / f64::from(others);
    println!(
        "{set}: shown {:.2}, found {:.2}, together {:.2}; {:.2} claims named; silent {silent:.2}",
        share(shown),
        share(found),
        share(shown + found),
        share(named)
    );
    assert!(share(shown + found) >= 0.70 && share(named) <= 2.0 && silent >= 0.75);
}
