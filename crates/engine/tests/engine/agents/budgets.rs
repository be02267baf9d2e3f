//! What an agent may spend in a turn, and who sees what it has spent.

use engram_model::{AgentId, BudgetOf, Caller, Code, Deref, NextTurn, PointerInput, ask};

use crate::fixture::{
    POINTER, Sandbox, USER,
    agents::{agent_named, grant_wanted, issue_grant, open_agent, open_family, read},
    on_topic, refused,
};

/// What each agent has spent, as seen by its parent, the user and itself.
#[test]
fn budgets_are_seen_by_the_agent_its_parent_and_the_user() {
    let (_sandbox, engine) = open_family();
    issue_grant(&engine, &USER, grant_wanted("ada", POINTER)).unwrap();
    issue_grant(
        &engine,
        &USER,
        grant_wanted("ada", "repo:src/lib.rs#L7@HEAD"),
    )
    .unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    refused(
        engine.deref(&agent_named("ada"), POINTER),
        Code::DerefDenied,
    );
    let budgets = |who: &Caller, agent: Option<&str>| {
        let of = BudgetOf {
            agent: agent.map(|it| AgentId(it.to_owned())),
        };
        engine.0.ask(who, ask::Budget(of)).map(|it| it.agents)
    };
    let ada = budgets(&USER, Some("ada")).unwrap().remove(0);
    assert_eq!((ada.repo_spans.used, ada.repo_spans.limit), (3, 3));
    assert_eq!((ada.grants.open, ada.grants.spent, ada.refusals), (1, 1, 2));
    assert_eq!((ada.inline_tokens.used, ada.inline_tokens.limit), (0, 800));
    assert_eq!(ada.parent, Some(AgentId("lead".to_owned())));
    let names = |who: &Caller| {
        let mut names: Vec<_> = budgets(who, None)
            .unwrap()
            .into_iter()
            .map(|it| it.agent.0)
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&USER), ["ada", "bob", "lead"]);
    assert_eq!(names(&agent_named("lead")), ["ada", "bob", "lead"]);
    assert_eq!(names(&agent_named("bob")), ["bob"]);
    refused(budgets(&agent_named("bob"), Some("ada")), Code::NotFound);
    refused(budgets(&USER, Some("ghost")), Code::NotFound);
}

/// When a parent ends its child's turn, every process of the child is in the next turn at its next
/// call.
#[test]
fn a_parent_begins_the_turn_of_its_child() {
    let (sandbox, engine) = open_family();
    let there = sandbox.open_at("repo", 5);
    refused(there.deref(&agent_named("ada"), POINTER), Code::DerefDenied);
    let next = |who: &Caller, turn: Option<&str>| {
        let next = NextTurn {
            agent: AgentId("ada".to_owned()),
            turn: turn.map(str::to_owned),
        };
        engine.0.ask(who, ask::NextTurn(next))
    };
    for (who, code) in [("ada", Code::ScopeDenied), ("bob", Code::NotFound)] {
        refused(next(&agent_named(who), None), code);
    }
    next(&agent_named("lead"), Some("review")).unwrap();
    let shown = there
        .deref(&agent_named("ada"), POINTER)
        .unwrap()
        .budget
        .unwrap();
    assert_eq!((shown.turn.as_str(), shown.repo_spans.used), ("review", 1));
    let shown = engine
        .deref(&agent_named("ada"), POINTER)
        .unwrap()
        .budget
        .unwrap();
    assert_eq!((shown.turn.as_str(), shown.repo_spans.used), ("review", 2));
    next(&USER, None).unwrap();
    let budget = engine.status(&agent_named("ada")).unwrap().budget.unwrap();
    assert_eq!(budget.repo_spans.used, 0);
}

/// Each turn has its own budget, so an agent that could begin turns at will could read without
/// limit.
#[test]
fn turns_that_a_parent_begins_are_rated() {
    let (sandbox, engine) = open_family();
    let next = |who: &Caller| {
        let next = NextTurn {
            agent: AgentId("ada".to_owned()),
            turn: None,
        };
        engine.0.ask(who, ask::NextTurn(next))
    };
    let begun = (0..40)
        .take_while(|_| next(&agent_named("lead")).is_ok())
        .count();
    assert!((10..=20).contains(&begun), "{begun}");
    refused(next(&agent_named("lead")), Code::RateLimited);
    next(&USER).unwrap();
    sandbox.clock.turn(61);
    next(&agent_named("lead")).unwrap();
}

/// With children, an agent can write at most ten times what one agent may.
#[test]
fn an_agent_and_all_below_it_write_ten_times_its_rates_at_most() {
    let (sandbox, engine) = open_family();
    let mut names = Vec::new();
    for number in 0..15 {
        let name = format!("child-{number}");
        open_agent(&engine, &USER, &name, Some("lead")).unwrap();
        names.push(name);
    }
    let mut stored = 0;
    let mut refused_at_last = None;
    for (at, name) in names.iter().cycle().take(15 * 20).enumerate() {
        let claim = format!("Part {at} of the gateway is blue.");
        match engine.put(&agent_named(name), on_topic("gateway", &claim)) {
            Ok(_) => stored += 1,
            Err(refusal) => refused_at_last = Some(refusal),
        }
    }
    let refusal = refused_at_last.unwrap();
    assert_eq!((stored, refusal.code), (200, Code::RateLimited));
    assert!(refusal.message.contains("all below it"), "{refusal:?}");
    // Others can still write, and so can the tree a minute later.
    engine
        .put(
            &engine.agent("other"),
            on_topic("gateway", "The gateway has a lid."),
        )
        .unwrap();
    sandbox.clock.turn(61);
    let late = on_topic("gateway", "The gateway has a handle.");
    engine.put(&agent_named(&names[0]), late).unwrap();
}

/// An excerpt that is cut says where to go on, and nothing is left out on the way.
#[test]
fn what_is_cut_can_be_read_on() {
    let engine = Sandbox::open_new();
    let whole = engine.deref(&USER, "repo:src/lib.rs@HEAD").unwrap();
    assert_eq!((whole.truncated, whole.rest), (false, None));
    let part = |pointer: &str| {
        let deref = Deref {
            pointer: PointerInput::Text(pointer.to_owned()),
            max_tokens: Some(300),
            turn: None,
            budget_token: None,
            reason: None,
        };
        engine.0.ask(&USER, ask::Deref(deref)).unwrap()
    };
    for first in ["repo:src/lib.rs@HEAD", "repo:src/lib.rs#L3-L400@HEAD"] {
        let whole = engine.deref(&USER, first).unwrap().excerpt;
        let mut read = part(first);
        let mut text = String::new();
        let mut parts = 1;
        while let Some(rest) = &read.rest {
            assert!(read.truncated && rest.contains('@'), "{rest} is pinned");
            let complete = read.excerpt.rfind('\n').unwrap() + 1;
            text.push_str(&read.excerpt[..complete]);
            read = part(rest);
            parts += 1;
        }
        assert!(!read.truncated && parts > 2, "{parts}");
        assert_eq!(text + &read.excerpt, whole);
    }
}

/// A few tokens left are no read: a text that they would cut is refused, with a reason requested,
/// and read by the grant.
#[test]
fn a_remnant_of_the_tokens_is_spent_on_nothing_that_it_would_cut() {
    let (_sandbox, engine) = open_family();
    open_agent(&engine, &USER, "eve", None).unwrap();
    let eve = agent_named("eve");
    let read = |max_tokens: Option<u32>| {
        let deref = Deref {
            pointer: PointerInput::Text("repo:src/lib.rs@HEAD".to_owned()),
            max_tokens,
            turn: None,
            budget_token: None,
            reason: Some("I change its order.".to_owned()),
        };
        engine.0.ask(&eve, ask::Deref(deref))
    };
    read(Some(600)).unwrap();
    let spent = read(Some(590)).unwrap().budget.unwrap();
    let used = spent.tokens.used;
    assert!((1169..1200).contains(&used), "{used}");
    let refusal = refused(read(None), Code::DerefDenied);
    let remedy = refusal.remedy.unwrap();
    assert_eq!(remedy.figures["tokens"].used, u64::from(used));
    assert!(remedy.request.is_some(), "it becomes a request");
    let told = engine.status(&eve).unwrap().budget.unwrap();
    assert_eq!(told.repo_spans.used, 2, "a refusal costs nothing");
    assert!(read(Some(10)).is_ok(), "it asked for no more");
    issue_grant(&engine, &USER, grant_wanted("eve", "repo:src/lib.rs@HEAD")).unwrap();
    let granted = read(None).unwrap();
    assert!(granted.grant.is_some() && granted.tokens > 300);
}

/// A grant that allows more than the rest of the turn pays, so that what was granted is read.
#[test]
fn a_grant_pays_for_what_the_rest_of_the_turn_would_cut() {
    let (_sandbox, engine) = open_family();
    open_agent(&engine, &USER, "eve", None).unwrap();
    let eve = agent_named("eve");
    let whole = "repo:src/lib.rs@HEAD";
    issue_grant(&engine, &USER, grant_wanted("eve", whole)).unwrap();
    let read = |pointer: &str, max_tokens: Option<u32>| {
        let deref = Deref {
            pointer: PointerInput::Text(pointer.to_owned()),
            max_tokens,
            turn: None,
            budget_token: None,
            reason: None,
        };
        engine.0.ask(&eve, ask::Deref(deref)).unwrap()
    };
    let first = read(whole, Some(900));
    assert_eq!(first.grant, None, "the budget pays for what it was asked");
    let granted = read(whole, None);
    assert!(
        granted.grant.is_some() && granted.tokens > 300,
        "{granted:?}"
    );
    let line = read(POINTER, None);
    assert_eq!(line.grant, None, "and for a line, whole");
}
