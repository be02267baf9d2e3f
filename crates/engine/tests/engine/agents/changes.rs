//! What the user changes about an agent: its name, whether the list shows it, and whether it may
//! still call.

use engram_engine::Treatment;
use engram_model::{
    AgentChange, AgentEdit, AgentId, AgentRow, AgentStatus, Answered, Caller, Code, Deref, Draft,
    GrantState, Opening, PointerInput, Query, Refusal, RequestState, WhichRequests, agent_rows,
    ask,
};

use super::read_requests::request;
use crate::fixture::{
    Asked, POINTER, Sandbox, USER,
    agents::{agent_named, grant_wanted, issue_grant, open_agent, open_family},
    draft, handle_of, query, refused,
};

fn change(engine: &Asked, who: &Caller, name: &str, what: AgentEdit) -> Result<Answered, Refusal> {
    let agent = AgentId(name.to_owned());
    engine
        .0
        .ask(who, ask::ChangeAgent(AgentChange { agent, what }))
}

fn rename(engine: &Asked, agent: &str, name: &str) -> Result<Answered, Refusal> {
    change(engine, &USER, agent, AgentEdit::Rename(name.to_owned()))
}

fn listed(engine: &Asked) -> Vec<AgentStatus> {
    engine.0.ask(&USER, ask::Agents).unwrap().agents
}

fn status_of(engine: &Asked, handle: &str) -> AgentStatus {
    let mut all = listed(engine).into_iter();
    all.find(|it| it.handle.0 == handle).unwrap()
}

fn assert_replays(engine: &Asked) {
    let replay = Treatment {
        replay: true,
        ..Treatment::default()
    };
    assert!(engine.0.doctor(replay).unwrap().ok);
}

#[test]
fn a_renamed_agent_keeps_its_handle_and_what_it_stored() {
    let (_sandbox, engine) = open_family();
    let ada = agent_named("ada");
    let before = engine.put(&ada, draft("The port is 8080.")).unwrap();
    assert_eq!(
        rename(&engine, "ada", " backend ").unwrap().state,
        "renamed"
    );
    let after = engine
        .put(&ada, draft("The ledger is append-only."))
        .unwrap();
    let author = |id| engine.get(&USER, id).unwrap().provenance.created_by;
    assert_eq!(author(before.id), "ada");
    assert_eq!(author(after.id), "backend");
    let told = status_of(&engine, "ada");
    assert_eq!(
        (&*told.name, told.earlier_names),
        ("backend", vec!["ada".to_owned()])
    );
    // The same name again changes nothing.
    let head = engine.journal().head;
    rename(&engine, "ada", "backend").unwrap();
    assert_eq!(engine.journal().head, head);
    assert_replays(&engine);
}

#[test]
fn no_agent_gets_a_name_that_is_anothers_or_looks_like_it() {
    let (_sandbox, engine) = open_family();
    for name in [
        "bob",
        "B0b",
        "bоb",
        "lead",
        "the user",
        "Engram",
        "",
        "  ",
        "a\nb",
        "a\u{202e}b",
    ] {
        let refusal = rename(&engine, "ada", name).unwrap_err();
        assert_eq!(refusal.code, Code::SchemaInvalid, "{name:?}: {refusal}");
    }
    let secret = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cE3gI5");
    refused(rename(&engine, "ada", &secret), Code::SecretDetected);
    // A command is a name like any other: nothing runs it.
    rename(&engine, "ada", "$(rm -rf /)").unwrap();
    for what in [AgentEdit::Hide, AgentEdit::Close] {
        refused(
            change(&engine, &USER, "nobody", what.clone()),
            Code::NotFound,
        );
        refused(
            change(&engine, &agent_named("lead"), "ada", what),
            Code::ScopeDenied,
        );
    }
    // The name stays taken after its agent was closed.
    change(&engine, &USER, "bob", AgentEdit::Close).unwrap();
    let refusal = rename(&engine, "ada", "bob").unwrap_err();
    assert!(refusal.message.contains("the agent \"bob\""), "{refusal}");
}

/// A query is no entry, but the list says when an agent last called, and orders by it.
#[test]
fn an_agent_that_only_asks_has_called() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let (ada, bob) = (engine.agent("ada"), engine.agent("bob"));
    for (agent, claim) in [(&ada, "The port is 8080."), (&bob, "The cache is warm.")] {
        engine.put(agent, draft(claim)).unwrap();
        sandbox.clock.turn(60);
    }
    let order = || -> Vec<String> { listed(&engine).into_iter().map(|it| it.name).collect() };
    assert_eq!(order(), ["bob", "ada"]);
    let before = status_of(&engine, &handle_of(&ada).0).last_call;
    engine.query(&ada, "Which port?");
    assert_eq!(order(), ["ada", "bob"]);
    let after = status_of(&engine, &handle_of(&ada).0).last_call;
    assert_eq!(after.duration_since(before).as_secs(), 120);
    // A call that was refused, and one of a clock that was ahead, say nothing of it.
    sandbox.clock.turn(60);
    let refused_call = Query {
        k: Some(0),
        ..query("Which port?")
    };
    engine.ask(&bob, refused_call).unwrap_err();
    sandbox.clock.turn(3_600);
    engine.query(&bob, "Which port?");
    sandbox.clock.turn(-3_600);
    assert_eq!(order(), ["ada", "bob"]);
    engine.query(&bob, "Which port?");
    assert_eq!(order(), ["bob", "ada"]);
}

/// A client that connects again after the user closed its last connection is called as before.
#[test]
fn a_closed_connection_leaves_its_name_to_the_next_one() {
    let engine = Sandbox::open_new();
    let author = |name: &str| {
        let agent = engine.agent(name);
        let claim = format!("The ledger is append-only, says {}.", handle_of(&agent).0);
        let id = engine.put(&agent, draft(&claim)).unwrap().id;
        let told = engine.get(&USER, id).unwrap().provenance.created_by;
        (handle_of(&agent).0, told)
    };
    let (first, name) = author("codex");
    assert_eq!(name, "codex");
    change(&engine, &USER, &first, AgentEdit::Close).unwrap();
    assert_eq!(author("codex").1, "codex");
}

/// The name that the user gave a row is that of the client's next connections, until they close it.
#[test]
fn a_given_name_stays_with_the_client_until_its_row_is_closed() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let number = std::cell::Cell::new(0);
    let connect = || {
        sandbox.clock.turn(1);
        let agent = engine.agent("codex");
        number.set(number.get() + 1);
        let claim = format!("Part {} is read.", number.get());
        let id = engine.put(&agent, draft(&claim)).unwrap().id;
        let author = engine.get(&USER, id).unwrap().provenance.created_by;
        sandbox.clock.turn(1);
        (handle_of(&agent).0, author)
    };
    let rows = || {
        let row = |it: AgentRow| (it.agent.name, it.handles.len(), it.agent.is_closed);
        agent_rows(listed(&engine))
            .into_iter()
            .map(row)
            .collect::<Vec<_>>()
    };
    let name = "Codex on the refund branch";
    rename(&engine, &connect().0, name).unwrap();
    let (second, author) = connect();
    assert_eq!(author, name);
    assert_eq!(status_of(&engine, &second).name, name);
    assert_eq!(status_of(&engine, &second).earlier_names, ["codex"]);
    assert_eq!(rows(), [(name.to_owned(), 2, false)]);
    // Another name, and back: no other row has it.
    rename(&engine, &second, "Codex elsewhere").unwrap();
    rename(&engine, &second, name).unwrap();
    // A connection that only called is no row.
    engine.0.ask(&engine.agent("codex"), ask::Status).unwrap();
    assert_eq!(rows(), [(name.to_owned(), 2, false)]);
    change(&engine, &USER, &second, AgentEdit::Close).unwrap();
    let (third, author) = connect();
    assert_eq!(author, "codex");
    let told = [("codex".to_owned(), 1, false), (name.to_owned(), 2, true)];
    assert_eq!(rows(), told);
    refused(rename(&engine, &third, name), Code::SchemaInvalid);
    assert_replays(&engine);
}

/// Claims are listed by the names of their authors, so a name is never that of two.
#[test]
fn a_name_that_an_agent_gave_itself_or_had_before_is_taken() {
    let (_sandbox, engine) = open_family();
    engine
        .put(&engine.agent("zed"), draft("The ledger is append-only."))
        .unwrap();
    refused(rename(&engine, "ada", "zed"), Code::SchemaInvalid);
    rename(&engine, "ada", "backend").unwrap();
    let refusal = rename(&engine, "bob", "ada").unwrap_err();
    let taken = "the agent \"backend\" (ada) has or had it";
    assert!(refusal.message.contains(taken), "{refusal}");
    rename(&engine, "ada", "ada").unwrap();
    assert_eq!(status_of(&engine, "ada").name, "ada");
    let by_hand = Draft {
        agent: Some("max".to_owned()),
        ..draft("The port is 8080.")
    };
    engine.put(&USER, by_hand).unwrap();
    let refusal = rename(&engine, "ada", "max").unwrap_err();
    assert!(refusal.message.contains("a person signed"), "{refusal}");
}

#[test]
fn a_hidden_agent_comes_last_and_has_no_line_in_the_brief() {
    let (_sandbox, engine) = open_family();
    let is_in_brief = || {
        let lines = engine.0.ask(&USER, ask::Brief).unwrap().lines;
        lines.iter().any(|it| it.text.starts_with("ada has read"))
    };
    assert!(is_in_brief());
    change(&engine, &USER, "ada", AgentEdit::Hide).unwrap();
    assert!(!is_in_brief());
    let last = listed(&engine).pop().unwrap();
    assert_eq!((&*last.handle.0, last.is_hidden), ("ada", true));
    change(&engine, &USER, "ada", AgentEdit::Show).unwrap();
    assert!(is_in_brief() && !status_of(&engine, "ada").is_hidden);
    assert_replays(&engine);
}

#[test]
fn closing_ends_the_token_the_grants_and_the_requests_and_leaves_the_children() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let token = open_agent(&engine, &USER, "lead", None).unwrap().token;
    open_agent(&engine, &USER, "ada", Some("lead")).unwrap();
    let is_proof = || engine.0.agent_by_token(&token.0).is_ok();
    assert!(is_proof());
    issue_grant(&engine, &USER, grant_wanted("lead", POINTER)).unwrap();
    let asked = request(&engine, "lead", "repo:src/lib.rs#L7@HEAD").unwrap();
    assert_eq!(
        change(&engine, &USER, "lead", AgentEdit::Close)
            .unwrap()
            .state,
        "closed"
    );

    assert!(!is_proof());
    let grants = engine.0.ask(&USER, ask::Grants).unwrap().grants;
    assert!(grants.iter().all(|it| it.state == GrantState::Revoked));
    let all = ask::Requests(WhichRequests { all: true });
    let requests = engine.0.ask(&USER, all).unwrap().requests;
    let of = requests.iter().find(|it| it.id == asked).unwrap();
    assert_eq!(of.state, RequestState::Denied);
    let child = status_of(&engine, "ada");
    assert_eq!((child.parent, child.started_by), (None, None));
    engine
        .put(&agent_named("ada"), draft("The port is 8080."))
        .unwrap();

    // Whatever the closed agent asks is refused, and its refusal says what to do.
    let lead = agent_named("lead");
    let deref = Deref {
        pointer: PointerInput::Text(POINTER.to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: None,
        reason: None,
    };
    refused(engine.0.ask(&lead, ask::Deref(deref)), Code::ScopeDenied);
    refused(
        engine.put(&lead, draft("The port is 9090.")),
        Code::ScopeDenied,
    );
    refused(engine.0.ask(&lead, ask::Status), Code::ScopeDenied);
    refused(open_agent(&engine, &lead, "kid", None), Code::ScopeDenied);
    refused(
        open_agent(&engine, &USER, "kid", Some("lead")),
        Code::ScopeDenied,
    );
    assert_replays(&engine);

    // The user may open it again.
    open_agent(&engine, &USER, "lead", None).unwrap();
    engine
        .put(&lead, draft("The ledger is append-only."))
        .unwrap();
    assert!(!status_of(&engine, "lead").is_closed);
    assert_replays(&engine);
}

/// A parent neither opens again what the user closed, nor widens what its child may read.
#[test]
fn a_parent_does_not_reopen_or_widen_its_child() {
    let engine = Sandbox::open_new();
    open_agent(&engine, &USER, "lead", None).unwrap();
    let opening = |read: &str| Opening {
        name: "kid".to_owned(),
        parent: Some(AgentId("lead".to_owned())),
        read: vec![read.to_owned()],
        ..Opening::default()
    };
    engine.0.ask(&USER, ask::OpenAgent(opening("pay"))).unwrap();
    let lead = agent_named("lead");
    let again = |read: &str| engine.0.ask(&lead, ask::OpenAgent(opening(read)));
    refused(again("secret"), Code::ScopeDenied);
    again("pay/cards").unwrap();
    // A list that is left out does not mean all topics.
    let left_out = Opening {
        read: Vec::new(),
        write: vec!["pay".to_owned()],
        ..opening("pay")
    };
    engine.0.ask(&lead, ask::OpenAgent(left_out)).unwrap();
    let agents = engine.0.ask(&USER, ask::Agents).unwrap().agents;
    let kid = agents.iter().find(|it| it.name == "kid").unwrap();
    assert_eq!(kid.topics.read, ["pay/cards"]);
    assert_eq!(kid.topics.write, ["pay"]);
    change(&engine, &USER, "kid", AgentEdit::Close).unwrap();
    refused(again("pay/cards"), Code::ScopeDenied);
    engine.0.ask(&USER, ask::OpenAgent(opening("pay"))).unwrap();
}

/// A connection that only called and got lines of the brief is not listed.
#[test]
fn an_agent_that_did_nothing_is_not_listed() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let agent = engine.agent("claude-code");
    let pin = engram_model::Pinning::Text("Ship on Friday.".to_owned());
    engine.0.ask(&USER, ask::Pin(pin)).unwrap();
    engine
        .0
        .take_new_lines(agent.agent().unwrap(), 150)
        .unwrap();
    engine.0.leave_in_order().unwrap();
    assert!(listed(&engine).is_empty());
    engine.put(&agent, draft("The port is 8080.")).unwrap();
    assert_eq!(listed(&engine).len(), 1);
}

/// The number of agents is that of the rows that the window shows.
#[test]
fn connections_of_one_client_count_once_and_hidden_agents_do_not() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let count = || engine.status(&USER).unwrap().agents;
    for claim in ["The port is 8080.", "The ledger is append-only."] {
        engine
            .put(&engine.agent("claude-code"), draft(claim))
            .unwrap();
        sandbox.clock.turn(1);
    }
    assert_eq!((listed(&engine).len(), count()), (2, 1));
    // They are hidden and closed together.
    let newest = listed(&engine).remove(0).handle.0;
    change(&engine, &USER, &newest, AgentEdit::Hide).unwrap();
    assert!(listed(&engine).iter().all(|it| it.is_hidden));
    change(&engine, &USER, &newest, AgentEdit::Show).unwrap();
    change(&engine, &USER, &newest, AgentEdit::Close).unwrap();
    assert!(
        listed(&engine)
            .iter()
            .all(|it| it.is_closed && !it.is_hidden)
    );
    engine
        .put(&engine.agent("codex"), draft("A retry waits 5 s."))
        .unwrap();
    assert_eq!(count(), 1);
    open_agent(&engine, &USER, "ada", None).unwrap();
    assert_eq!(count(), 2);
    change(&engine, &USER, "ada", AgentEdit::Hide).unwrap();
    assert_eq!(count(), 1);
    change(&engine, &USER, "ada", AgentEdit::Close).unwrap();
    change(&engine, &USER, "ada", AgentEdit::Show).unwrap();
    assert_eq!(count(), 1);
}

/// A query, which only the log of calls has, shows that two connections are simultaneous.
#[test]
fn a_connection_that_only_asks_counts_as_in_the_list() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let two = ["The port is 8080.", "The ledger is append-only."].map(|claim| {
        sandbox.clock.turn(1);
        let agent = engine.agent("claude-code");
        engine.put(&agent, draft(claim)).unwrap();
        agent
    });
    let count = || {
        let rows = agent_rows(listed(&engine)).len() as u64;
        (rows, engine.status(&USER).unwrap().agents)
    };
    assert_eq!(count(), (1, 1));
    sandbox.clock.turn(1);
    engine.query(&two[0], "port");
    assert_eq!(count(), (2, 2));
}

/// The brief names an agent as the list does.
#[test]
fn the_brief_tells_an_agent_from_one_whose_name_it_took() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let budgets = || -> Vec<String> {
        let lines = engine.0.ask(&USER, ask::Brief).unwrap().lines;
        let budgets = lines
            .into_iter()
            .filter(|it| it.text.contains(" has read "));
        budgets
            .map(|it| it.text.split(" has read").next().unwrap().to_owned())
            .collect()
    };
    open_agent(&engine, &USER, "ada", None).unwrap();
    let other = engine.agent("ada");
    engine.deref(&other, POINTER).unwrap();
    engine.deref(&agent_named("ada"), POINTER).unwrap();
    let told = budgets();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&"ada".to_owned()), "{told:?}");
    assert!(told.iter().any(|it| it.starts_with("ada · ")), "{told:?}");
    change(&engine, &USER, "ada", AgentEdit::Close).unwrap();
    let left = budgets();
    assert!(left.len() == 1 && left[0].starts_with("ada · "), "{left:?}");
}
