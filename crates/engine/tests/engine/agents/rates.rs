//! How often an agent may write.

use std::collections::BTreeSet;

use engram_model::{
    Caller, Code, DenyAnswer, DerefRequest, Draft, Durability, Effect, GrantAnswer, Hook,
    HookEvent, NextTurn, Note, Opening, Pinning, PointerInput, Promote, Request, Resolve, Sending,
    Settle, Unpinning, ask,
};
use serde_json::json;

use crate::fixture::{
    Asked, POINTER, Sandbox,
    agents::{grant_wanted, issue_grant},
    conflicts::contradict,
    draft, handle_of,
    messages::{open_team, order},
    refused,
};

fn note(slug: &str) -> Note {
    Note {
        kind: "decision".to_owned(),
        slug: slug.to_owned(),
        text: "We publish.".to_owned(),
        agent: None,
    }
}

/// One valid request of each kind that changes something and that an agent may ask, by `lead`.
fn changes_of(engine: &Asked, lead: &Caller, ada: &Caller) -> Vec<Request> {
    let own = engine.put(lead, draft("The parser is quick.")).unwrap();
    let note_of_today = Draft {
        durability: Some(Durability::Ephemeral),
        ..draft("The parser was slow today.")
    };
    let today = engine.put(lead, note_of_today).unwrap();
    let (conflict, ..) = contradict(engine);
    let wanted = |reason: &str| DerefRequest {
        pointer: PointerInput::Text(POINTER.to_owned()),
        reason: reason.to_owned(),
        intended_use: "A test.".to_owned(),
    };
    let asked = engine
        .0
        .ask(ada, ask::RequestDeref(Box::new(wanted("Why?"))));
    let id = asked.unwrap().id;
    let pinned = engine
        .0
        .ask(lead, ask::Pin(Pinning::Text("Ship.".to_owned())));
    assert!(pinned.unwrap().lines[0].pinned);
    let name = handle_of(ada).0;
    vec![
        ask::Put(Box::new(draft("Line one parses."))).into(),
        ask::Commit(Box::new(engram_model::Commit {
            draft: draft("Line two parses."),
            ..engram_model::Commit::default()
        }))
        .into(),
        ask::Forget(own.id).into(),
        ask::Promote(Promote {
            id: today.id,
            scope: None,
        })
        .into(),
        ask::Note(note("d1")).into(),
        ask::Repin(own.id).into(),
        ask::Reverify(own.id).into(),
        ask::Resolve(Box::new(Resolve {
            conflict,
            how: Settle::Dismiss,
            why: Some("Read again.".to_owned()),
        }))
        .into(),
        ask::OpenAgent(Opening {
            name: "eve".to_owned(),
            ..Opening::default()
        })
        .into(),
        ask::NextTurn(NextTurn {
            agent: handle_of(ada),
            turn: None,
        })
        .into(),
        ask::IssueGrant(grant_wanted(&name, POINTER)).into(),
        ask::RequestDeref(Box::new(wanted("How?"))).into(),
        ask::GrantRequest(GrantAnswer {
            id: id.clone(),
            cap_tokens: None,
            ttl: None,
        })
        .into(),
        ask::DenyRequest(DenyAnswer { id, why: None }).into(),
        ask::Pin(Pinning::Text("Test.".to_owned())).into(),
        ask::Unpin(Unpinning::Line(1)).into(),
        ask::Send(Sending {
            message: order(json!({})),
            to: None,
        })
        .into(),
        ask::Hook(Box::new(Hook {
            agent: None,
            event: HookEvent::ParentBroadcast(order(json!({}))),
        }))
        .into(),
    ]
}

/// Taking back a grant is always possible.
#[test]
fn every_change_of_an_agent_is_bound_by_its_rate() {
    let (sandbox, engine, [lead, ada, _]) = open_team();
    let changes = changes_of(&engine, &lead, &ada);
    let table = Request::TABLE
        .iter()
        .filter(|it| it.who.may_ask(&lead) && it.effect == Effect::Changes);
    let mut known: BTreeSet<&str> = table.map(|it| it.name).collect();
    assert!(known.remove("revoke_grant"));
    let tried: BTreeSet<&str> = changes.iter().map(|it| it.terms().name).collect();
    assert_eq!(tried, known, "one of each");

    sandbox.clock.turn(3_600);
    let given = issue_grant(&engine, &lead, grant_wanted(&handle_of(&ada).0, POINTER)).unwrap();
    for at in 0..19 {
        engine
            .0
            .ask(&lead, ask::Note(note(&format!("n{at}"))))
            .unwrap();
    }
    for change in changes {
        let name = change.terms().name;
        let answer = engine.0.handle(&lead, change);
        let code = answer.err().map(|it| it.code);
        assert_eq!(code, Some(Code::RateLimited), "{name}");
    }
    engine.0.ask(&lead, ask::RevokeGrant(given.id)).unwrap();
}

/// Everything that an agent stores or closes counts against its rates; its reads do not.
#[test]
fn a_write_beyond_the_rate_waits_for_the_next_minute() {
    for what in 0..4 {
        let sandbox = Sandbox::new();
        let engine = sandbox.open();
        let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
        let mut others = Vec::new();
        for at in 0..30 {
            // At two a minute, the other agent is not limited.
            sandbox.clock.turn(120);
            let claim = draft(&format!("Setting_{at} is {at} ms."));
            let whose = if what == 1 { &ada } else { &bob };
            others.push((engine.put(whose, claim.clone()).unwrap(), claim));
        }
        sandbox.clock.turn(3_600);
        let write = |at: usize| -> Result<(), engram_model::Refusal> {
            let (other, claim) = &others[at];
            match what {
                0 => engine.put(&ada, draft(&format!("Found {at}."))).map(drop),
                1 => engine.forget(&ada, other.id).map(drop),
                2 => engine.put(&ada, claim.clone()).map(drop),
                _ => {
                    let note = engram_model::Note {
                        kind: "decision".to_owned(),
                        slug: format!("d{at}"),
                        text: "We publish.".to_owned(),
                        agent: None,
                    };
                    engine.0.ask(&ada, ask::Note(note)).map(drop)
                }
            }
        };
        for at in 0..20 {
            write(at).unwrap_or_else(|it| panic!("{what} {at}: {it}"));
        }
        refused(write(20), Code::RateLimited);
        engine.query(&ada, "decision");
        sandbox.clock.turn(61);
        write(21).unwrap();
    }
}

/// The event of making a claim without evidence is not a second write.
#[test]
fn a_claim_with_its_event_counts_once() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    let commit = |at: usize| {
        let commit = engram_model::Commit {
            draft: Draft {
                claim: format!("Seen in a log: {at}."),
                ..Draft::default()
            },
            words: Some("the log of today".to_owned()),
            ..engram_model::Commit::default()
        };
        engine.0.ask(&ada, ask::Commit(Box::new(commit)))
    };
    for at in 0..20 {
        commit(at).unwrap();
    }
    refused(commit(20), Code::RateLimited);
}
