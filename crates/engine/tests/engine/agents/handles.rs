//! Identity: opened agents, the tokens that prove them, their parents and their turns.

use engram_engine::Engine;
use engram_model::{
    AgentId, Caller, Code, Draft, Opening, ProvenanceV01, Query, Refusal, Source, ask,
};

use crate::fixture::{
    POINTER, Sandbox, USER,
    agents::{agent_named, is_in_home, open_agent},
    draft, handle_of, make_repository, refused,
};

fn agent_proven_by(engine: &Engine, token: &str) -> Result<String, Refusal> {
    engine.agent_by_token(token).map(|it| it.0)
}

#[test]
fn an_agent_is_opened_with_a_token_that_is_kept_nowhere() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let lead = open_agent(&engine, &USER, "lead", None).unwrap();
    let child = open_agent(&engine, &USER, "programmer-1", Some("lead")).unwrap();
    assert_eq!(child.run, lead.run, "a child belongs to its parent's run");
    assert_eq!(child.parent, Some(lead.agent.clone()));
    assert_eq!(child.role.as_deref(), Some("programmer"));
    assert!(child.token.0.len() >= 64 && child.token != lead.token);
    // Any process of the home can check the token, and none stores it.
    let elsewhere = sandbox.open_at("repo", 2);
    assert_eq!(
        agent_proven_by(&elsewhere.0, &child.token.0).unwrap(),
        "programmer-1"
    );
    assert!(!is_in_home(&sandbox, &child.token.0));
    assert_eq!(format!("{child:?}").matches(&child.token.0).count(), 0);
    for unknown in ["", "programmer-1", &"0".repeat(64)] {
        refused(agent_proven_by(&engine.0, unknown), Code::ScopeDenied);
    }
    let listed = engine.0.ask(&USER, ask::Agents).unwrap();
    let told = serde_json::to_value(&listed.agents[1]).unwrap();
    for (key, is) in [
        ("agent", "programmer-1"),
        ("label", "programmer-1"),
        ("role", "programmer"),
        ("parent", "lead"),
        ("run", &lead.run.to_string()),
    ] {
        assert_eq!(told[key], is, "{key}");
    }
    assert!(told["turn"].is_string());
    assert!(listed.agents.iter().all(|it| it.first_seen.is_some()));
}

/// A lost token is replaced. The old one proves nobody, and spent budget stays spent.
#[test]
fn a_new_token_ends_the_one_before() {
    let engine = Sandbox::open_new();
    let first = open_agent(&engine, &USER, "ada", None).unwrap();
    let ada = agent_named("ada");
    engine.deref(&ada, POINTER).unwrap();
    let again = Opening {
        name: "ada".to_owned(),
        ..Opening::default()
    };
    let second = engine.0.ask(&USER, ask::OpenAgent(again)).unwrap();
    assert_eq!((second.run, &second.role), (first.run, &first.role));
    refused(
        agent_proven_by(&engine.0, &first.token.0),
        Code::ScopeDenied,
    );
    assert_eq!(agent_proven_by(&engine.0, &second.token.0).unwrap(), "ada");
    let spent = engine.status(&ada).unwrap().budget.unwrap();
    assert_eq!(spent.repo_spans.used, 1);
}

#[test]
fn a_tree_has_one_parent_each_no_cycle_and_one_project() {
    let sandbox = Sandbox::new();
    make_repository(&sandbox.path("other"));
    let (engine, there) = (sandbox.open(), sandbox.open_at("other", 2));
    open_agent(&there, &USER, "stranger", None).unwrap();
    for (name, parent) in [("root", None), ("a", Some("root")), ("b", Some("a"))] {
        open_agent(&engine, &USER, name, parent).unwrap();
    }
    for (name, parent, code) in [
        ("root", Some("b"), Code::ScopeDenied),
        ("root", Some("root"), Code::ScopeDenied),
        ("b", Some("root"), Code::ScopeDenied),
        ("b", None, Code::ScopeDenied),
        ("new", Some("new"), Code::NotFound),
        ("new", Some("ghost"), Code::NotFound),
        ("new", Some("stranger"), Code::NotFound),
        ("", None, Code::SchemaInvalid),
        ("a\nb", None, Code::SchemaInvalid),
        ("AKIAIOSFODNN7EXAMPLQ", None, Code::SecretDetected),
    ] {
        let head = engine.status(&USER).unwrap().head;
        refused(open_agent(&engine, &USER, name, parent), code);
        assert_eq!(
            engine.status(&USER).unwrap().head,
            head,
            "{name:?} {parent:?}"
        );
    }
    // A handle of another project is refused here, but its name is free.
    refused(
        engine.deref(&agent_named("stranger"), POINTER),
        Code::ScopeDenied,
    );
    let namesake = open_agent(&engine, &USER, "stranger", None).unwrap();
    assert!(namesake.agent.0.starts_with("stranger-"), "{namesake:?}");
    engine
        .deref(&agent_named(&namesake.agent.0), POINTER)
        .unwrap();
    let again = open_agent(&engine, &USER, "stranger", None).unwrap();
    assert_eq!(again.agent, namesake.agent);
}

/// An agent opens its own children, within its topics, and with a limit on depth.
#[test]
fn a_parent_opens_children_of_its_own() {
    let engine = Sandbox::open_new();
    let topics = |read: &[&str], write: &[&str]| {
        let owned = |them: &[&str]| them.iter().map(|it| (*it).to_owned()).collect();
        Opening {
            read: owned(read),
            write: owned(write),
            ..Opening::default()
        }
    };
    let lead = Opening {
        name: "lead".to_owned(),
        ..topics(&["payments", "auth"], &["payments"])
    };
    engine.0.ask(&USER, ask::OpenAgent(lead)).unwrap();
    open_agent(&engine, &USER, "other", None).unwrap();
    let lead = agent_named("lead");
    refused(
        open_agent(&engine, &lead, "x", Some("other")),
        Code::ScopeDenied,
    );
    let child = open_agent(&engine, &lead, "child", None).unwrap();
    assert_eq!(child.parent, Some(AgentId("lead".to_owned())));
    for (name, asked, ok) in [
        (
            "narrow",
            topics(&["payments/webhooks"], &["payments"]),
            true,
        ),
        ("wide", topics(&["deploy"], &[]), false),
        ("writer", topics(&[], &["auth"]), false),
    ] {
        let opening = Opening {
            name: name.to_owned(),
            ..asked
        };
        let opened = engine.0.ask(&lead, ask::OpenAgent(opening));
        assert_eq!(opened.is_ok(), ok, "{name}: {opened:?}");
    }
    let listed = engine.0.ask(&USER, ask::Agents).unwrap().agents;
    let child = listed.iter().find(|it| it.name == "child").unwrap();
    assert_eq!(child.topics.read, ["payments", "auth"], "its parent's");
    let many = (0..30).find_map(|at| open_agent(&engine, &lead, &format!("c{at}"), None).err());
    assert_eq!(many.unwrap().code, Code::RateLimited);
}

/// Two processes of one agent, or its parent, begin a turn. It is the same turn for all of them at
/// the next call.
#[test]
fn a_turn_that_began_elsewhere_is_the_turn() {
    let sandbox = Sandbox::new();
    let (here, there) = (sandbox.open(), sandbox.open_at("repo", 2));
    open_agent(&here, &USER, "ada", None).unwrap();
    let ada = agent_named("ada");
    for engine in [&here, &there] {
        engine.deref(&ada, POINTER).unwrap();
    }
    // Both processes find that the turn is over, and the first to read begins the next.
    sandbox.clock.turn(601);
    for engine in [&here, &there] {
        engine.status(&ada).unwrap();
    }
    let turn = here.deref(&ada, POINTER).unwrap().budget.unwrap().turn;
    let read = there.deref(&ada, POINTER).unwrap().budget.unwrap();
    assert_eq!((&read.turn, read.repo_spans.used), (&turn, 2));
    here.deref(&ada, POINTER).unwrap();
    refused(there.deref(&ada, POINTER), Code::DerefDenied);
    // A named turn then counts in every process.
    there.deref_in(&ada, POINTER, Some("review")).unwrap();
    let read = here.deref(&ada, POINTER).unwrap().budget.unwrap();
    assert_eq!((read.turn.as_str(), read.repo_spans.used), ("review", 2));
}

/// Whatever name a connection uses, the record shows its handle.
#[test]
fn author_and_source_follow_the_handle() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    open_agent(&engine, &USER, "ada", None).unwrap();
    let claim = engram_model::Draft {
        agent: Some("somebody else".to_owned()),
        provenance: Some(ProvenanceV01 {
            created_at: sandbox.clock.now(),
            created_by: "user".to_owned(),
            source: Source::Tool,
        }),
        ..draft("The parser is slow.")
    };
    let stored = engine.put(&agent_named("ada"), claim).unwrap();
    let record = engine.get(&USER, stored.id).unwrap();
    assert_eq!(record.agent, Some(handle_of(&agent_named("ada"))));
    assert_eq!(record.provenance.source, Source::Agent);
}

/// The name of an opened agent belongs to that agent. Others with that name are marked, in records
/// and lists.
#[test]
fn a_name_that_is_taken_is_told_apart() {
    let engine = Sandbox::open_new();
    let long = "programmer-of-the-ledger";
    open_agent(&engine, &USER, "ada", None).unwrap();
    open_agent(&engine, &USER, long, None).unwrap();
    let stranger = engine.agent("ada\u{200b} ");
    let of_stranger = handle_of(&stranger).0;
    let (_, end) = of_stranger.split_at(of_stranger.len() - 6);
    let bob = engine.agent("bob");
    let as_ada = |claim: &str| Draft {
        agent: Some("ada".to_owned()),
        ..draft(claim)
    };
    for (who, said, name) in [
        (
            &agent_named("ada"),
            draft("The parser is slow."),
            "ada".to_owned(),
        ),
        (
            &stranger,
            draft("The lexer is slow."),
            format!("ada ({end})"),
        ),
        (
            &agent_named(long),
            as_ada("The linker is slow."),
            "ada (ledger)".to_owned(),
        ),
        (&bob, draft("The loader is slow."), "bob".to_owned()),
        (&USER, as_ada("The printer is slow."), "ada".to_owned()),
    ] {
        let stored = engine.put(who, said).unwrap();
        let record = engine.get(&USER, stored.id).unwrap();
        assert_eq!(record.provenance.created_by, name);
        let told = engine.journal().entries;
        let entry = told.iter().find(|it| it.seq == stored.seq).unwrap();
        assert_eq!(entry.by, name);
    }
    let listed = engine.0.ask(&USER, ask::Agents).unwrap().agents;
    let mut names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    let apart = format!("ada ({end})");
    assert_eq!(names, ["ada", &apart, "bob", long]);
}

/// A token used as a handle is refused with a hint, and is stored nowhere.
#[test]
fn a_token_in_place_of_a_handle_is_refused_and_not_kept() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let opened = open_agent(&engine, &USER, "ada", None).unwrap();
    let token = opened.token.0;
    let refusal = refused(
        engine.deref(&agent_named(&token), POINTER),
        Code::ScopeDenied,
    );
    assert!(!refusal.to_string().contains(&token));
    engine.deref(&agent_named("ada"), POINTER).unwrap();
    let calls = std::fs::read_to_string(sandbox.home().join("calls.jsonl")).unwrap();
    assert!(calls.contains("ada") && !calls.contains(&token), "{calls}");
}

/// The user sees that an agent called and asked before any agent stored a claim, even beside the
/// user's own claims and the sample; no agent sees another's, and nobody sees it from another
/// repository.
#[test]
fn a_call_is_a_sign_of_life_until_an_agent_stores_a_claim() {
    let sandbox = Sandbox::new();
    make_repository(&sandbox.path("other"));
    let engine = sandbox.open();
    let elsewhere = sandbox.open_at("other", 2);
    let seen = |of: &Engine, who: &Caller| of.ask(who, ask::Status).unwrap().sign_of_life;
    assert_eq!(seen(&engine.0, &USER), None);
    let register = |name: &str| Caller::Agent(engine.0.register_agent(name).unwrap());
    let (ada, eve) = (register("Claude Code"), register("you"));
    engine.0.ask(&ada, ask::Status).unwrap();
    let sign = seen(&engine.0, &USER).unwrap();
    assert_eq!((&*sign.agent, sign.questions), ("Claude Code", 0));
    let query = |text: &str| {
        ask::Query(Query {
            text: text.to_owned(),
            ..Query::default()
        })
    };
    for text in ["retries", "locks"] {
        engine.0.ask(&ada, query(text)).unwrap();
    }
    let sign = seen(&engine.0, &USER).unwrap();
    assert_eq!((&*sign.agent, sign.questions), ("Claude Code", 2));
    assert_eq!(seen(&engine.0, &ada), None);
    assert_eq!(seen(&elsewhere.0, &USER), None);
    // If an agent uses the user's name, it is shown as an agent's.
    engine.0.ask(&eve, ask::Status).unwrap();
    assert_ne!(seen(&engine.0, &USER).unwrap().agent, "you");
    engine.claim("The user knows this.");
    engine.0.ask(&USER, ask::LoadSample).unwrap();
    assert!(seen(&engine.0, &USER).is_some());
    engine.put(&ada, draft("Retries use full jitter.")).unwrap();
    assert_eq!(seen(&engine.0, &USER), None);
}
