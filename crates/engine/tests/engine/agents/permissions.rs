//! What an agent may see, spend and write. The user may see and grant anything.

use engram_model::{
    AgentId, AgentsReply, AnswerQuality, Caller, Code, Draft, MemoryOp, OperationKind, Query,
    Scope, ask,
};

use crate::fixture::{
    Asked, POINTER, REINDEX, Sandbox, USER, claims_in, correction_of, draft, handle_of,
    make_repository, query, refused, scoped_draft,
};

#[test]
fn a_run_is_seen_by_its_own() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    let secret = engine
        .put(
            &ada,
            scoped_draft("The plan is to rewrite the parser.", Scope::Run),
        )
        .unwrap();
    for indexed in [false, true] {
        assert_eq!(engine.query(&ada, "parser plan").engrams.len(), 1);
        assert_eq!(engine.query(&USER, "parser plan").engrams.len(), 1);
        let hidden = engine.query(&bob, "parser plan");
        assert_eq!(
            (hidden.verdict, hidden.engrams.len()),
            (AnswerQuality::None, 0),
            "indexed: {indexed}"
        );
        assert!(engine.query(&bob, "?").engrams.is_empty());
        let narrow = Query {
            scope: Some(Scope::Run),
            as_of: Some(sandbox.clock.now()),
            ..query("parser")
        };
        assert!(engine.ask(&bob, narrow).unwrap().engrams.is_empty());
        assert!(engine.0.doctor(REINDEX).unwrap().ok);
    }
    refused(engine.get(&bob, secret.id), Code::NotFound);
    refused(engine.forget(&bob, secret.id), Code::NotFound);
    refused(
        engine.put(&bob, correction_of(secret.lineage_id, "Mine now.")),
        Code::NotFound,
    );
    let delete = Draft {
        operation: Some(MemoryOp::Delete),
        ..correction_of(secret.id, "")
    };
    refused(engine.put(&bob, delete), Code::NotFound);
    assert_eq!(engine.get(&ada, secret.id).unwrap().valid_until, None);
}

/// The same words in another run are stored as a separate claim and do not reveal the first.
#[test]
fn the_same_claim_in_another_run_is_its_own() {
    let engine = Sandbox::open_new();
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    let first = engine
        .put(&ada, scoped_draft("The parser is slow.", Scope::Run))
        .unwrap();
    let second = engine
        .put(&bob, scoped_draft("The parser is slow.", Scope::Run))
        .unwrap();
    assert_ne!(first.id, second.id);
    assert!(second.findings.is_empty(), "{:?}", second.findings);
    assert_eq!(engine.query(&bob, "parser").engrams[0].id, second.id);
    let again = engine
        .put(&bob, scoped_draft("The parser is slow.", Scope::Run))
        .unwrap();
    assert_eq!(
        (again.id, again.findings[0].what.as_str()),
        (second.id, "duplicate")
    );
    let shared = engine.put(&bob, draft("The parser is slow.")).unwrap();
    let told: Vec<_> = shared.findings.iter().map(|it| it.id).collect();
    assert_eq!(told, [second.id], "nothing from another run");
}

#[test]
fn agents_write_run_and_project_alone() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    for (scope, may) in [
        (Scope::Run, true),
        (Scope::Project, true),
        (Scope::Org, false),
        (Scope::Global, false),
    ] {
        let claim = format!("Written into {scope}.");
        let result = engine.put(&ada, scoped_draft(&claim, scope));
        if may {
            assert_eq!(engine.get(&ada, result.unwrap().id).unwrap().scope, scope)
        } else {
            refused(result, Code::ScopeDenied);
            let users = engine.put(&USER, scoped_draft(&claim, scope)).unwrap();
            refused(engine.forget(&ada, users.id), Code::ScopeDenied);
            let correction = correction_of(users.id, "Narrower.");
            refused(engine.put(&ada, correction), Code::ScopeDenied);
            let delete = Draft {
                operation: Some(MemoryOp::Delete),
                ..correction_of(users.id, "")
            };
            refused(engine.put(&ada, delete), Code::ScopeDenied);
            assert_eq!(engine.get(&ada, users.id).unwrap().valid_until, None);
        }
    }
}

/// Only the user ends the user's claims. An agent may replace another agent's claim, but retire
/// only its own and its children's.
#[test]
fn an_agent_closes_no_claim_of_the_user() {
    let engine = Sandbox::open_new();
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    let delete = |id| Draft {
        operation: Some(MemoryOp::Delete),
        ..correction_of(id, "")
    };
    let users = engine.claim("The parser is slow.");
    refused(engine.redact(&ada, users.id), Code::ScopeDenied);
    refused(engine.forget(&ada, users.id), Code::ScopeDenied);
    refused(engine.put(&ada, delete(users.id)), Code::ScopeDenied);
    refused(
        engine.put(&ada, correction_of(users.id, "It is fast.")),
        Code::ScopeDenied,
    );
    assert_eq!(engine.get(&ada, users.id).unwrap().valid_until, None);
    let adas = engine.put(&ada, draft("The lexer is slow.")).unwrap();
    let newer = engine
        .put(&bob, correction_of(adas.id, "The lexer is fast."))
        .unwrap();
    refused(engine.put(&ada, delete(newer.id)), Code::ScopeDenied);
    refused(engine.forget(&ada, newer.id), Code::ScopeDenied);
    engine.put(&bob, delete(newer.id)).unwrap();
    let lead = engine.agent_in_role("lead", "architect", None);
    let child = engine.agent_in_role("child", "programmer", Some(&lead));
    let of_child = engine.put(&child, draft("The child is quick.")).unwrap();
    refused(engine.forget(&ada, of_child.id), Code::ScopeDenied);
    engine.forget(&lead, of_child.id).unwrap();
    // When the user repins a claim, it stays with its author.
    let adas = engine.put(&ada, draft("Line two computes.")).unwrap();
    let repinned = engine.0.ask(&USER, ask::Repin(adas.id)).unwrap();
    engine
        .put(&ada, correction_of(repinned.id, "Line two computes alpha."))
        .unwrap();
}

/// Such an event would bypass the rate limit and have a claim's rights.
#[test]
fn nobody_makes_the_event_of_a_claim_alone() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    for kind in ["claim", " claim ", "Claim"] {
        let note = engram_model::Note {
            kind: kind.to_owned(),
            slug: "d1".to_owned(),
            text: "We publish.".to_owned(),
            agent: None,
        };
        for who in [&ada, &USER] {
            refused(
                engine.0.ask(who, ask::Note(note.clone())),
                Code::SchemaInvalid,
            );
        }
    }
}

#[test]
fn projects_of_one_home_are_apart() {
    let sandbox = Sandbox::new();
    make_repository(&sandbox.path("other"));
    let (here, there) = (sandbox.open(), sandbox.open_at("other", 2));
    let claim = here.claim("The parser is slow.");
    let (ada, bob) = (here.agent("ada"), there.agent("bob"));
    for indexed in [false, true] {
        assert_eq!(here.query(&ada, "parser").engrams.len(), 1);
        for who in [&bob, &USER] {
            assert_eq!(
                there.query(who, "parser").verdict,
                AnswerQuality::None,
                "indexed: {indexed}"
            );
            assert!(there.journal().entries.is_empty());
        }
        assert!(here.0.doctor(REINDEX).unwrap().ok);
    }
    refused(there.get(&bob, claim.id), Code::NotFound);
    refused(there.forget(&bob, claim.id), Code::NotFound);
    refused(
        there.put(&bob, correction_of(claim.id, "Mine.")),
        Code::NotFound,
    );
    refused(
        there.put(&USER, correction_of(claim.id, "Mine.")),
        Code::NotFound,
    );
    let same = there.put(&bob, draft("The parser is slow.")).unwrap();
    assert!(same.id != claim.id && same.findings.is_empty());
    // The content of one project does not affect ranking in another.
    let alone = there.query(&bob, "slow parser");
    for at in 0..50 {
        here.claim(&format!("Parser {at} is slow."));
    }
    assert_eq!(there.query(&bob, "slow parser"), alone);
    assert!(there.0.doctor(REINDEX).unwrap().ok);
    assert_eq!(there.query(&bob, "slow parser").verdict, alone.verdict);
}

#[test]
fn a_turn_has_its_budget() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.note(&USER, "one", "We use one.");
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    let sam = "sam:decision:one@2026-01-08";
    let artifact = "artifact:README.md#sec=Rules@HEAD";
    for (pointer, allowed) in [(POINTER, 3), (artifact, 2), (sam, 2)] {
        for at in 0..allowed {
            let read = engine.deref(&ada, pointer).unwrap();
            let budget = read.budget.unwrap();
            let used =
                budget.repo_spans.used + budget.artifact_sections.used + budget.sam_items.used;
            assert!(used > at && budget.tokens.used >= read.tokens, "{budget:?}");
        }
        let refusal = refused(engine.deref(&ada, pointer), Code::DerefDenied);
        assert!(
            refusal.message.contains(&format!("{allowed} of {allowed}")),
            "{refusal}"
        );
        // Neither another agent nor the user is affected, nor is another process.
        engine.deref(&bob, pointer).unwrap();
        assert_eq!(engine.deref(&USER, pointer).unwrap().budget, None);
    }
    // The handle identifies the agent in every process.
    let elsewhere = sandbox.open_at("repo", 9);
    refused(elsewhere.deref(&ada, POINTER), Code::DerefDenied);
    // A refused read costs nothing, calls keep the turn open, and silence ends it.
    sandbox.clock.turn(599);
    assert_eq!(
        engine.status(&ada).unwrap().budget.unwrap().repo_spans.used,
        3
    );
    sandbox.clock.turn(600);
    refused(engine.deref(&ada, POINTER), Code::DerefDenied);
    sandbox.clock.turn(601);
    engine.deref(&ada, POINTER).unwrap();
    // Each turn that the parent names has its own budget.
    for turn in ["a", "b"] {
        for _ in 0..3 {
            engine.deref_in(&ada, POINTER, Some(turn)).unwrap();
        }
        refused(
            engine.deref_in(&ada, POINTER, Some(turn)),
            Code::DerefDenied,
        );
    }
}

#[test]
fn the_user_sees_who_is_nearest_to_a_limit() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    let nearest = || {
        let spending = engine.status(&USER).unwrap().spending?;
        Some((spending.agent, spending.budget.repo_spans.used))
    };
    let says = |agent: &str, spans| Some((agent.to_owned(), spans));
    engine.deref(&USER, POINTER).unwrap();
    assert_eq!(nearest(), None, "nobody spent anything");
    engine.deref(&ada, POINTER).unwrap();
    assert_eq!(nearest(), says("ada", 1));
    engine.deref(&bob, POINTER).unwrap();
    engine.deref(&bob, POINTER).unwrap();
    assert_eq!(nearest(), says("bob", 2));
    assert_eq!(engine.status(&ada).unwrap().spending, None);
    // A turn that ended is not reported.
    sandbox.clock.turn(300);
    engine.deref(&ada, POINTER).unwrap();
    sandbox.clock.turn(301);
    assert_eq!(nearest(), says("ada", 2));
    sandbox.clock.turn(300);
    assert_eq!(nearest(), None);
}

/// A client that connects again is one agent with a fresh budget; two at once are two.
#[test]
fn a_reconnected_client_counts_once() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let counted = |who: &Caller| engine.status(who).unwrap().agents;
    let says = |agent: &Caller, claim: &str| {
        sandbox.clock.turn(1);
        engine.put(agent, draft(claim)).unwrap();
    };
    let first = engine.agent("codex");
    says(&first, "The port is 8080.");
    engine.deref(&first, POINTER).unwrap();
    engine.deref(&first, POINTER).unwrap();
    let second = engine.agent("codex");
    says(&second, "The ledger is append-only.");
    assert_eq!((counted(&USER), counted(&second)), (1, 1));
    assert_eq!(engine.status(&USER).unwrap().spending, None);
    engine.deref(&second, POINTER).unwrap();
    let spending = engine.status(&USER).unwrap().spending.unwrap();
    assert_eq!(
        spending.budget.repo_spans.used, 1,
        "of the connection that is open"
    );
    let (other, third) = (engine.agent("zed"), engine.agent("codex"));
    says(&other, "The queue holds 64 jobs.");
    says(&third, "The lexer is slow.");
    says(&second, "The parser is fast.");
    assert_eq!(
        (counted(&USER), counted(&other)),
        (3, 3),
        "two of three at once"
    );
}

/// A person may configure any number.
#[test]
fn a_turn_that_never_ends_is_told_like_any_other() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.home()).unwrap();
    let config = format!("[limits.deref]\nturn_idle_seconds = {}\n", i64::MAX);
    std::fs::write(sandbox.home().join("config.toml"), config).unwrap();
    let engine = sandbox.open();
    let ada = engine.agent("ada");
    engine.deref(&ada, POINTER).unwrap();
    let spending = engine.status(&USER).unwrap().spending;
    assert_eq!(spending.unwrap().until, jiff::Timestamp::MAX);
}

#[test]
fn tokens_run_out() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    let whole = "repo:src/lib.rs@HEAD";
    let read = engine.deref(&ada, whole).unwrap();
    assert!(
        read.truncated && read.tokens <= 1_200 && read.tokens > 1_000,
        "{}",
        read.tokens
    );
    let full = engine.deref(&USER, whole).unwrap();
    assert!(!full.truncated && full.excerpt.starts_with(&read.excerpt));
    assert_eq!(
        full.content_digest, read.content_digest,
        "the digest is of the full span"
    );
    let mut left = 1_200 - read.tokens;
    for _ in 0..2 {
        match engine.deref(&ada, whole) {
            Ok(read) => {
                assert!(read.tokens <= left, "{} of {left}", read.tokens);
                left -= read.tokens;
            }
            Err(refusal) => {
                assert_eq!(refusal.code, Code::DerefDenied, "{refusal}");
                assert!(left < 32, "so little is not worth a read: {left}");
            }
        }
    }
}

/// Two processes spend for one agent at the same time; together they get no more than the turn
/// allows.
#[test]
fn a_budget_cannot_be_spent_twice_at_once() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ada = engine.agent("ada");
    engine.deref_in(&ada, POINTER, Some("t")).unwrap();
    let engines: Vec<_> = (0..4).map(|at| sandbox.open_at("repo", 10 + at)).collect();
    let read: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = engines
            .iter()
            .map(|engine| {
                scope.spawn(|| {
                    (0..3)
                        .filter(|_| engine.deref_in(&ada, POINTER, Some("t")).is_ok())
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(read, 2);
}

#[test]
fn agents_are_slowed_and_the_user_is_not() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    let mut made = 0;
    let mut commit = |who: &Caller| {
        made += 1;
        engine.put(who, draft(&format!("Claim number {made}.")))
    };
    for _ in 0..20 {
        commit(&ada).unwrap();
    }
    refused(commit(&ada), Code::RateLimited);
    commit(&bob).unwrap();
    for _ in 0..60 {
        commit(&USER).unwrap();
    }
    // The limit holds for the handle in every process.
    refused(
        sandbox
            .open_at("repo", 5)
            .put(&ada, draft("From elsewhere.")),
        Code::RateLimited,
    );
    sandbox.clock.turn(60);
    for _ in 0..20 {
        commit(&ada).unwrap();
    }
    sandbox.clock.turn(60);
    for _ in 0..10 {
        commit(&ada).unwrap();
    }
    let refusal = refused(commit(&ada), Code::RateLimited);
    assert!(
        refusal.message.contains("50 of 50") && refusal.hint.contains("hour"),
        "{refusal}"
    );
    sandbox.clock.turn(3_600);
    commit(&ada).unwrap();
}

/// A label is only displayed: two agents with one name are two agents.
#[test]
fn a_name_is_not_an_identity() {
    let engine = Sandbox::open_new();
    let (one, two) = (engine.agent("claude"), engine.agent("claude"));
    assert_ne!(handle_of(&one), handle_of(&two));
    engine
        .put(&one, scoped_draft("The plan is mine.", Scope::Run))
        .unwrap();
    assert!(claims_in(&engine.query(&two, "plan")).is_empty());
    for _ in 0..3 {
        engine.deref(&one, POINTER).unwrap();
    }
    engine.deref(&two, POINTER).unwrap();
    let odd = engine.agent("\u{1b}[31m\nred\u{0}".repeat(50).as_str());
    let stored = engine.put(&odd, draft("Said by an odd one.")).unwrap();
    let by = engine.get(&USER, stored.id).unwrap().provenance.created_by;
    assert!(
        by.chars().count() <= 80 && !by.contains(char::is_control),
        "{by:?}"
    );
}

/// The list shows what the journal records about each agent, and nothing else.
#[test]
fn the_user_sees_who_called() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let listed = |engine: &Asked| engine.0.ask(&USER, ask::Agents).unwrap();
    assert_eq!(*listed(&engine), AgentsReply::default());
    let (ada, bob) = (engine.agent("ada"), engine.agent("user"));
    engine.query(&ada, "anything");
    assert_eq!(listed(&engine).agents, [], "reading leaves no trace");
    let began = sandbox.clock.now();
    engine.put(&ada, draft("The parser is slow.")).unwrap();
    sandbox.clock.turn(60);
    engine.put(&bob, draft("The lexer is slow.")).unwrap();
    sandbox.clock.turn(60);
    engine.deref(&ada, POINTER).unwrap();
    engine.claim("The user is no agent.");
    let reply = listed(&engine);
    let names: Vec<&str> = reply.agents.iter().map(|it| it.name.as_str()).collect();
    // With the names in records: no agent can pass for the user.
    assert_eq!((names, reply.more), (vec!["ada", "user (agent)"], 0));
    let [first, second] = reply.agents.as_slice() else {
        panic!("{reply:?}");
    };
    assert_eq!(first.handle, handle_of(&ada));
    assert_eq!(first.first_seen, Some(began));
    assert_eq!(first.last_call, sandbox.clock.now());
    assert_eq!(first.did, Some(OperationKind::Dereferenced));
    assert_eq!((first.stored, second.stored), (1, 1));
    assert_eq!(second.did, Some(OperationKind::Stored));
    assert_eq!(first.budget.repo_spans.used, 1);
    assert_eq!(second.budget.repo_spans.used, 0);
    let idle = jiff::SignedDuration::from_secs(600);
    assert_eq!(first.until, sandbox.clock.now() + idle);
    // Another process lists the same, and an agent may not ask.
    assert_eq!(listed(&sandbox.open_at("repo", 7)), reply);
    refused(engine.0.ask(&ada, ask::Agents), Code::ScopeDenied);
}

/// More connections do not allow more writes, and take nothing from an agent that somebody opened.
#[test]
fn agents_without_a_token_share_the_rates_of_four() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let opening = engram_model::Opening {
        name: "opened".to_owned(),
        ..engram_model::Opening::default()
    };
    engine.0.ask(&USER, ask::OpenAgent(opening)).unwrap();
    let mut stored = 0;
    for connection in 0..10 {
        let agent = engine.agent(&format!("connection-{connection}"));
        for at in 0..20 {
            let said = draft(&format!("Part {at} of file {connection} is read."));
            match engine.put(&agent, said) {
                Ok(_) => stored += 1,
                Err(refusal) => assert_eq!(refusal.code, Code::RateLimited),
            }
        }
    }
    assert_eq!(stored, 4 * 20);
    let opened = Caller::Agent(AgentId("opened".to_owned()));
    engine
        .put(&opened, draft("It has rates of its own."))
        .unwrap();
    sandbox.clock.turn(61);
    let agent = engine.agent("later");
    engine.put(&agent, draft("The minute is over.")).unwrap();
}

/// Writes still count, however many agents without a token call and read meanwhile.
#[test]
fn strangers_who_read_push_no_writer_out_of_the_rates() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    for connection in 0..4 {
        let agent = engine.agent(&format!("writer-{connection}"));
        for at in 0..20 {
            let said = draft(&format!("Part {at} of file {connection} is read."));
            engine.put(&agent, said).unwrap();
        }
    }
    sandbox.clock.turn(1);
    for reader in 0..201 {
        let reader = engine.agent(&format!("reader-{reader}"));
        engine.deref(&reader, POINTER).unwrap();
    }
    let next = engine.agent("next");
    refused(engine.put(&next, draft("One more.")), Code::RateLimited);
    sandbox.clock.turn(60);
    engine.put(&next, draft("The minute is over.")).unwrap();
}

/// If many agents called, the latest are listed and the others counted.
#[test]
fn of_many_agents_the_latest_are_listed() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    for at in 0..203 {
        let agent = Caller::Agent(AgentId(format!("agent-{at}")));
        engine
            .put(&agent, draft(&format!("Said by {at}.")))
            .unwrap();
        sandbox.clock.turn(30);
    }
    let reply = engine.0.ask(&USER, ask::Agents).unwrap();
    assert_eq!((reply.agents.len(), reply.more), (200, 3));
    let name = |at: usize| reply.agents[at].name.as_str();
    assert_eq!((name(0), name(199)), ("agent-202", "agent-3"));
}
