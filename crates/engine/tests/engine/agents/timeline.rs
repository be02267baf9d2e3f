//! What the user is shown of what an agent did.

use engram_model::{
    ActOf, AgentId, Code, Deref, How, OperationKind, PointerInput, Settle, Timeline, TimelineOf,
    ask,
};

use super::read_requests::request;
use crate::fixture::{
    Asked, LONG, POINTER, SHORT, Sandbox, USER,
    agents::{MINUTE, agent_named, grant_wanted, issue_grant, open_family, read},
    handle_of, on_topic, refused,
};

fn timeline(engine: &Asked, agents: &[&str]) -> Timeline {
    let agents = agents.iter().map(|it| AgentId((*it).to_owned())).collect();
    *engine
        .0
        .ask(&USER, ask::Timeline(TimelineOf { agents }))
        .unwrap()
}

/// The kinds of what was done, newest first.
fn kinds(timeline: &Timeline) -> Vec<&'static str> {
    let kind = |what: &ActOf| match what {
        ActOf::Began => "began",
        ActOf::Read { .. } => "read",
        ActOf::Message { .. } => "message",
        ActOf::Refused { .. } => "refused",
        ActOf::Asked { .. } => "asked",
        ActOf::Stored { .. } => "stored",
        ActOf::Contradicted { .. } => "contradicted",
        ActOf::Settled { .. } => "settled",
    };
    timeline.acts.iter().map(|it| kind(&it.what)).collect()
}

#[test]
fn a_timeline_tells_what_an_agent_did_turn_by_turn() {
    let (sandbox, engine) = open_family();
    let ada = agent_named("ada");
    let told = timeline(&engine, &["ada"]);
    assert_eq!(kinds(&told), ["refused", "read", "read", "read"]);
    let ActOf::Refused { code, figures } = &told.acts[0].what else {
        panic!("{told:?}");
    };
    assert_eq!(*code, Code::DerefDenied);
    assert_eq!(figures["repo_spans"].limit, 3);

    issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    let told = timeline(&engine, &["ada"]);
    let ActOf::Read { grant, tokens, .. } = &told.acts[0].what else {
        panic!("{told:?}");
    };
    assert!(grant.is_some() && *tokens > 0);

    request(&engine, "ada", POINTER).unwrap();
    engine
        .put(&ada, on_topic("wallet", "The wallet lock lasts 3 minutes."))
        .unwrap();
    engine
        .put(
            &ada,
            on_topic("wallet", "The wallet lock lasts 30 minutes."),
        )
        .unwrap();
    let told = timeline(&engine, &["ada"]);
    assert_eq!(
        kinds(&told)[..4],
        ["contradicted", "stored", "stored", "asked"]
    );
    let first = &told.acts[0].turn;
    assert!(told.acts.iter().all(|it| it.turn == *first), "{told:?}");

    // Silence ends the turn: the next call begins another.
    sandbox.clock.turn(60 * MINUTE);
    engine.deref(&ada, POINTER).unwrap();
    let told = timeline(&engine, &["ada"]);
    assert_eq!(kinds(&told)[..2], ["read", "began"]);
    assert_ne!(told.acts[0].turn, told.acts[2].turn);
    assert!(told.acts.windows(2).all(|it| it[0].at >= it[1].at));

    let is_cut = |told: &Timeline| matches!(told.acts[0].what, ActOf::Read { cut: true, .. });
    assert!(!is_cut(&told));
    let some = Deref {
        pointer: PointerInput::Text("repo:src/lib.rs#L1-L12@HEAD".to_owned()),
        max_tokens: Some(2),
        turn: None,
        budget_token: None,
        reason: None,
    };
    assert!(engine.0.ask(&ada, ask::Deref(some)).unwrap().truncated);
    assert!(is_cut(&timeline(&engine, &["ada"])));

    // Connections of one client are reported as one.
    engine.deref(&agent_named("bob"), POINTER).unwrap();
    let both = timeline(&engine, &["ada", "bob"]);
    assert!(both.acts.len() > told.acts.len());
    let of = |agent: &str| {
        let agents = vec![AgentId(agent.to_owned())];
        ask::Timeline(TimelineOf { agents })
    };
    refused(engine.0.ask(&USER, of("ghost")), Code::NotFound);
    refused(engine.0.ask(&ada, of("ada")), Code::ScopeDenied);
    let agents = vec![AgentId("ada".to_owned()); TimelineOf::MAX_AGENTS + 1];
    let many = ask::Timeline(TimelineOf { agents });
    refused(engine.0.ask(&USER, many), Code::SchemaInvalid);
}

/// A verdict of an agent ends the claim of another: its timeline and its row say so.
#[test]
fn a_verdict_is_an_act_like_any_other() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    engine.put(&ada, on_topic("wallet", SHORT)).unwrap();
    let said = engine
        .put(&engine.agent("bob"), on_topic("wallet", LONG))
        .unwrap();
    let conflict = said.findings[0].conflict.unwrap();
    let by = &handle_of(&ada);
    engine.settle(&ada, conflict, Settle::Newer).unwrap();
    let told = timeline(&engine, &[&by.0]);
    let settled = |how, ended: &[&str]| ActOf::Settled {
        conflict,
        how,
        ended: ended.iter().map(|it| (*it).to_owned()).collect(),
    };
    assert_eq!(told.acts[0].what, settled(Some(How::Winner), &[SHORT]));
    let row = |engine: &Asked| {
        let agents = engine.0.ask(&USER, ask::Agents).unwrap().agents;
        agents.into_iter().find(|it| it.handle == *by).unwrap()
    };
    assert_eq!(row(&engine).did, Some(OperationKind::Resolved));
    engine.settle(&ada, conflict, Settle::Undo).unwrap();
    let told = timeline(&engine, &[&by.0]);
    assert!(
        told.acts.iter().any(|it| it.what == settled(None, &[])),
        "{told:?}"
    );
}

#[test]
fn what_pointers_saved_counts_each_file_once() {
    let sandbox = Sandbox::new();
    let whole = std::fs::read_to_string(sandbox.path("repo/src/lib.rs")).unwrap();
    let whole = engram_gateway::count_tokens(&whole) as u64;
    let engine = sandbox.open();
    let ada = agent_named("ada");
    for lines in ["L1-L3", "L10-L12"] {
        let pointer = format!("repo:src/lib.rs#{lines}@HEAD");
        engine.deref(&ada, &pointer).unwrap();
    }
    let saved = timeline(&engine, &["ada"]).saved;
    assert_eq!(saved.files, 1);
    assert_eq!(saved.full_tokens, whole);
    assert!(saved.delivered > 0 && saved.tokens() == whole - saved.delivered);
    // What was counted is kept.
    assert_eq!(timeline(&engine, &["ada"]).saved, saved);
}
