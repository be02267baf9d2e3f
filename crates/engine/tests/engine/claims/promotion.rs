//! Ephemeral claims, and what makes them durable.

use engram_model::{Caller, Change, Code, Draft, Durability, EngramId, Listed, Query, Scope, ask};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::{list_conflicts, open_conflicts},
    draft, on_topic, query, refused,
};

const DAY: i64 = 86_400;

fn ephemeral_draft(claim: &str) -> Draft {
    Draft {
        durability: Some(Durability::Ephemeral),
        ..draft(claim)
    }
}

fn promote(
    at: &Asked,
    who: &Caller,
    id: EngramId,
) -> Result<engram_model::PromoteReply, engram_model::Refusal> {
    at.0.ask(who, ask::Promote(engram_model::Promote { id, scope: None }))
}

/// Queries including ephemeral claims, and finishes the background work; returns the number of
/// results.
fn ask_all(at: &Asked, who: &Caller, text: &str) -> usize {
    let found = only_ask(at, who, text);
    at.0.leave_in_order().unwrap();
    found
}

/// Like [`ask_all`], without the background work: the answer itself writes nothing.
fn only_ask(at: &Asked, who: &Caller, text: &str) -> usize {
    let all = Query {
        include_ephemeral: true,
        ..query(text)
    };
    let head = || at.status(&USER).unwrap().head;
    let before = head();
    let found = at.ask(who, all).unwrap().engrams.len();
    assert_eq!(head(), before, "a query wrote");
    found
}

fn is_durable(at: &Asked, id: EngramId) -> bool {
    at.get(&USER, id).unwrap().durability == Durability::Durable
}

#[test]
fn by_hand_it_is_durable_and_its_day_ends() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let agent = at.agent("claude");
    let said = at
        .put(&agent, ephemeral_draft("The cache is cold."))
        .unwrap();
    assert_eq!(at.claims_found("cache"), [""; 0]);
    let reply = promote(&at, &agent, said.id).unwrap();
    assert_eq!(
        (reply.id, reply.lineage_id, reply.durability, reply.scope),
        (
            said.id,
            said.lineage_id,
            Durability::Durable,
            Scope::Project
        )
    );
    assert!(reply.seq > said.seq && reply.findings.is_empty());
    let entries = at.journal().entries;
    let told = entries.iter().find(|it| it.seq == reply.seq).unwrap();
    let promoted = Change::Promoted {
        id: said.id,
        ends_term: true,
    };
    assert_eq!((&told.change, told.by.as_str()), (&promoted, "claude"));
    assert_eq!(at.claims_found("cache"), ["The cache is cold."]);
    assert_eq!(at.status(&USER).unwrap().engrams, 1);

    // Repeating it changes nothing.
    let head = at.status(&USER).unwrap().head;
    let again = promote(&at, &USER, said.id).unwrap();
    assert_eq!((again.id, again.durability), (said.id, Durability::Durable));
    assert_eq!(at.status(&USER).unwrap().head, head);

    sandbox.clock.turn(2 * DAY);
    let held = at.get(&USER, said.id).unwrap();
    assert_eq!(
        (&held.ttl, held.expires_at, held.valid_until),
        (&None, None, None)
    );
    assert_eq!(at.claims_found("cache"), ["The cache is cold."]);
    assert_eq!(at.status(&USER).unwrap().engrams, 1);
    // Another process, another index, and the journal alone agree.
    let other = sandbox.open_at("repo", 7);
    assert_eq!(other.claims_found("cache"), ["The cache is cold."]);
    let checked = other.0.doctor(engram_engine::Treatment {
        reindex: true,
        replay: true,
        rebuild: false,
    });
    assert!(checked.unwrap().ok);
    assert_eq!(other.claims_found("cache"), ["The cache is cold."]);
}

/// A ttl that somebody chose continues.
#[test]
fn a_chosen_term_does_not_end() {
    for ttl in ["P1D", "PT2H"] {
        let sandbox = Sandbox::new();
        let at = sandbox.open();
        let chosen = Draft {
            ttl: Some(ttl.to_owned()),
            ..ephemeral_draft("The cache is cold.")
        };
        let said = at.put(&USER, chosen).unwrap();
        promote(&at, &USER, said.id).unwrap();
        let held = at.get(&USER, said.id).unwrap();
        assert_eq!(held.durability, Durability::Durable);
        assert!(held.ttl.is_some() && held.expires_at.is_some(), "{ttl}");
        sandbox.clock.turn(DAY + 1);
        assert_eq!(at.claims_found("cache"), [""; 0], "{ttl}");
    }
}

#[test]
fn what_cannot_be_promoted() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (ada, bob) = (at.agent("claude"), at.agent("codex"));
    let hidden = Draft {
        scope: Some(Scope::Run),
        ..ephemeral_draft("The cache is cold.")
    };
    let hidden = at.put(&ada, hidden).unwrap();
    refused(promote(&at, &bob, hidden.id), Code::NotFound);
    let wide = Draft {
        scope: Some(Scope::Org),
        ..ephemeral_draft("The org is large.")
    };
    let wide = at.put(&USER, wide).unwrap();
    refused(promote(&at, &ada, wide.id), Code::ScopeDenied);
    let gone = at.put(&ada, ephemeral_draft("The disk is full.")).unwrap();
    at.forget(&ada, gone.id).unwrap();
    refused(promote(&at, &ada, gone.id), Code::NotFound);
    refused(
        promote(&at, &USER, EngramId(hidden.id.0.increment().unwrap())),
        Code::NotFound,
    );
    let late = at.put(&ada, ephemeral_draft("The queue is long.")).unwrap();
    sandbox.clock.turn(DAY);
    refused(promote(&at, &ada, late.id), Code::Expired);
    for id in [hidden.id, wide.id, gone.id, late.id] {
        assert!(!is_durable(&at, id));
    }
}

/// Two answers to other agents. Queries of its author or of the user do not count, nor does one
/// that did not ask for ephemeral claims.
#[test]
fn two_answers_to_others_make_it_durable() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (ada, bob) = (at.agent("claude"), at.agent("codex"));
    let said = at.put(&ada, ephemeral_draft("The cache is cold.")).unwrap();
    for who in [&ada, &USER, &ada, &USER] {
        assert_eq!(ask_all(&at, who, "cache"), 1);
        assert_eq!(at.query(&bob, "cache").engrams.len(), 0);
    }
    assert!(!is_durable(&at, said.id));
    assert_eq!(ask_all(&at, &bob, "cache"), 1);
    assert!(!is_durable(&at, said.id));
    // In a separate process.
    let other = sandbox.open_at("repo", 7);
    let eve = other.agent("cursor");
    assert_eq!(ask_all(&other, &eve, "cache"), 1);
    assert!(is_durable(&at, said.id));
    let held = at.get(&USER, said.id).unwrap();
    assert_eq!((held.expires_at, held.figures.query_hits), (None, 2));
    let entries = at.journal().entries;
    let told = entries
        .iter()
        .find(|it| matches!(it.change, Change::Promoted { .. }))
        .unwrap();
    assert_eq!((told.by.as_str(), &told.agent), ("engram", &None));
    assert_eq!(at.claims_found("cache"), ["The cache is cold."]);

    // From then on, queries again write nothing.
    let head = at.status(&USER).unwrap().head;
    for _ in 0..3 {
        assert_eq!(only_ask(&other, &eve, "cache"), 1);
    }
    assert_eq!(at.status(&USER).unwrap().head, head);
    let promotions = |at: &Asked| {
        let entries = at.journal().entries.into_iter();
        entries
            .filter(|it| matches!(it.change, Change::Promoted { .. }))
            .count()
    };
    assert_eq!(promotions(&at), 1);
}

#[test]
fn the_home_says_how_many_answers_it_takes() {
    for (wanted, asked, durable) in [(0, 5, false), (1, 1, true), (3, 2, false), (3, 3, true)] {
        let sandbox = Sandbox::new();
        let config = format!("[limits]\nephemeral_hits = {wanted}\n");
        std::fs::create_dir(sandbox.home()).unwrap();
        std::fs::write(sandbox.home().join("config.toml"), config).unwrap();
        let at = sandbox.open();
        let (ada, bob) = (at.agent("claude"), at.agent("codex"));
        let said = at.put(&ada, ephemeral_draft("The cache is cold.")).unwrap();
        for _ in 0..asked {
            ask_all(&at, &bob, "cache");
        }
        assert_eq!(is_durable(&at, said.id), durable, "{wanted} {asked}");
    }
}

/// In a long-lived process, a follower promotes; no further query is needed.
#[test]
fn a_process_that_stays_promotes_behind_its_answers() {
    let at = Sandbox::open_new();
    let (ada, bob) = (at.agent("claude"), at.agent("codex"));
    let said = at.put(&ada, ephemeral_draft("The cache is cold.")).unwrap();
    at.0.follow().unwrap();
    let (sender, changes) = std::sync::mpsc::channel();
    let after = at.status(&USER).unwrap().head;
    let _reading = at.0.subscribe(after, move |entries| {
        let _ = sender.send(entries);
    });
    let all = || Query {
        include_ephemeral: true,
        ..query("cache")
    };
    for _ in 0..2 {
        assert_eq!(at.ask(&bob, all()).unwrap().engrams.len(), 1);
    }
    let is_promotion = |entry: engram_model::Entry| matches!(entry.change, Change::Promoted { .. });
    while !changes
        .recv_timeout(std::time::Duration::from_secs(60))
        .expect("the claim is promoted")
        .into_iter()
        .any(is_promotion)
    {}
    assert!(is_durable(&at, said.id));
}

#[test]
fn an_ephemeral_claim_meets_others_once_it_is_promoted() {
    let at = Sandbox::open_new();
    at.put(&at.agent("ada"), on_topic("wallet", SHORT)).unwrap();
    let brief = Draft {
        durability: Some(Durability::Ephemeral),
        ..on_topic("wallet", LONG)
    };
    let second = at.put(&at.agent("bob"), brief).unwrap();
    assert_eq!(open_conflicts(&at), []);
    let promoted =
        at.0.ask(
            &USER,
            ask::Promote(engram_model::Promote {
                id: second.id,
                scope: None,
            }),
        )
        .unwrap();
    assert!(promoted.findings.iter().any(|it| it.conflict.is_some()));
    assert_eq!(open_conflicts(&at).len(), 1);
}

/// Claims of two runs are never compared; once one of them is promoted to the project, they are.
#[test]
fn a_claim_meets_others_where_it_is_promoted_to() {
    let at = Sandbox::open_new();
    let own = |claim: &str| Draft {
        scope: Some(Scope::Run),
        ..on_topic("wallet", claim)
    };
    let (ada, bob) = (at.agent("ada"), at.agent("bob"));
    let first = at.put(&ada, own(SHORT)).unwrap();
    let second = at.put(&bob, own(LONG)).unwrap();
    assert_eq!((second.conflicts, open_conflicts(&at)), (0, Vec::new()));
    let promote = engram_model::Promote {
        id: first.id,
        scope: Some(Scope::Project),
    };
    let promoted = at.0.ask(&USER, ask::Promote(promote)).unwrap();
    let found = promoted.findings.iter().find_map(|it| it.conflict);
    let [known] = &open_conflicts(&at)[..] else {
        panic!("{promoted:?}");
    };
    assert_eq!(found, Some(known.id));
    // The reply's place is that of the claim.
    let entries = at.journal().entries;
    let stored = entries.iter().find(|it| it.seq == promoted.seq).unwrap();
    assert_eq!(stored.change.engram(), Some(promoted.id));
    // Bob sees both, ada only hers.
    assert_eq!(list_conflicts(&at, &bob, Listed::Open).len(), 1);
    assert_eq!(list_conflicts(&at, &ada, Listed::Open).len(), 0);
}
