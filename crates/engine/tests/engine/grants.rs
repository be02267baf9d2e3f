//! Beyond the budget: grants, requests for them, and what both cost.

use engram_model::{
    AgentId, BudgetOf, Caller, Change, Code, CostOf, DenyAnswer, Deref, DerefRequest, Dereferenced,
    Feed, GrantAnswer, GrantIssued, GrantState, GrantWanted, NextTurn, OperationKind, PointerInput,
    Refusal, RequestState, WhichRequests, ask,
};

use crate::{
    fixture::{Asked, Ground, POINTER, git, make_repository, refused},
    handles::{called, is_kept, open},
};

const USER: Caller = Caller::User;
const MINUTE: i64 = 60;

/// A parent with two children, one of them with a spent budget of spans.
fn family() -> (Ground, Asked) {
    let ground = Ground::new();
    let engine = ground.open();
    for (name, parent) in [("lead", None), ("ada", Some("lead")), ("bob", Some("lead"))] {
        open(&engine, &USER, name, parent).unwrap();
    }
    for _ in 0..3 {
        engine.deref(&called("ada"), POINTER).unwrap();
    }
    refused(engine.deref(&called("ada"), POINTER), Code::DerefDenied);
    (ground, engine)
}

fn wanted(to: &str, pointer: &str) -> GrantWanted {
    GrantWanted {
        to: AgentId(to.to_owned()),
        pointer: Some(PointerInput::Text(pointer.to_owned())),
        cap_tokens: None,
        code_chars: None,
        ttl: None,
        by: None,
    }
}

fn grant(engine: &Asked, who: &Caller, wanted: GrantWanted) -> Result<GrantIssued, Refusal> {
    engine.0.ask(who, ask::IssueGrant(wanted))
}

fn read(
    engine: &Asked,
    who: &str,
    pointer: &str,
    token: Option<&str>,
) -> Result<Dereferenced, Refusal> {
    let deref = Deref {
        pointer: PointerInput::Text(pointer.to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: token.map(str::to_owned),
    };
    engine.0.ask(&called(who), ask::Deref(deref)).map(|it| *it)
}

fn states(engine: &Asked) -> Vec<GrantState> {
    let grants = engine.0.ask(&USER, ask::Grants).unwrap().grants;
    grants.into_iter().map(|it| it.state).collect()
}

fn request(engine: &Asked, who: &str, pointer: &str) -> Result<String, Refusal> {
    let wanted = DerefRequest {
        pointer: PointerInput::Text(pointer.to_owned()),
        reason: "Is the lock held while it posts?".to_owned(),
        intended_use: "To judge the fix of the retry.".to_owned(),
    };
    let settled = engine
        .0
        .ask(&called(who), ask::RequestDeref(Box::new(wanted)))?;
    assert_eq!(settled.state, "waiting");
    Ok(settled.id)
}

#[test]
fn a_grant_is_for_one_agent_and_one_pointer_and_is_spent_once() {
    let (ground, engine) = family();
    let given = grant(&engine, &called("lead"), wanted("ada", POINTER)).unwrap();
    let commit = crate::fixture::head(&ground.path("repo"));
    let pointer = format!("repo:src/lib.rs#L2@{commit}");
    assert_eq!(given.pointer.as_deref(), Some(pointer.as_str()));
    assert_eq!(
        (given.cap_tokens, given.by),
        (Some(500), Some(AgentId("lead".to_owned())))
    );
    let token = given.budget_token.0.as_str();
    assert!(!is_kept(&ground, token), "only its digest is kept");
    // Named, it must hold: by whoever else, for whatever else, and forged, it does not.
    for (who, pointer, token) in [
        ("bob", POINTER, token),
        ("ada", "repo:src/lib.rs#L3@HEAD", token),
        ("ada", "repo:src/gone.rs#L3@HEAD", token),
        ("ada", POINTER, ""),
        ("ada", POINTER, given.id.as_str()),
        ("bob", POINTER, &"0".repeat(64)),
    ] {
        refused(read(&engine, who, pointer, Some(token)), Code::DerefDenied);
    }
    assert_eq!(
        states(&engine),
        [GrantState::Open],
        "a refused read spends nothing"
    );
    let before = engine.status(&called("ada")).unwrap().budget;
    let shown = read(&engine, "ada", POINTER, Some(token)).unwrap();
    assert_eq!(
        (shown.grant.as_deref(), &shown.budget),
        (Some(given.id.as_str()), &before)
    );
    assert_eq!(states(&engine), [GrantState::Spent]);
    refused(
        read(&engine, "ada", POINTER, Some(token)),
        Code::DerefDenied,
    );
    // The user reads as the user; a grant is no way to be somebody else.
    let deref = Deref {
        pointer: PointerInput::Text(POINTER.to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: Some(token.to_owned()),
    };
    refused(engine.0.ask(&USER, ask::Deref(deref)), Code::DerefDenied);
}

/// Without a name, a grant serves where the budget refuses, and not before; of two, the one that ends first.
#[test]
fn an_open_grant_serves_where_the_budget_refuses() {
    let (_ground, engine) = family();
    let late = GrantWanted {
        ttl: Some("PT1H".parse().unwrap()),
        ..wanted("ada", POINTER)
    };
    grant(&engine, &USER, late).unwrap();
    let soon = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    let unused = grant(&engine, &USER, wanted("bob", POINTER)).unwrap();
    assert_eq!(
        read(&engine, "ada", POINTER, None).unwrap().grant,
        Some(soon.id)
    );
    let other = "repo:src/lib.rs#L7@HEAD";
    for pointer in [other, "repo:src/nowhere.rs#L1@HEAD"] {
        let refusal = refused(read(&engine, "ada", pointer, None), Code::DerefDenied);
        let figure = refusal.remedy.unwrap().figures["repo_spans"];
        assert_eq!(
            (figure.used, figure.limit),
            (3, 3),
            "nothing is told of {pointer}"
        );
    }
    assert_eq!(
        read(&engine, "bob", POINTER, None).unwrap().grant,
        None,
        "its budget pays"
    );
    assert!(read(&engine, "ada", POINTER, None).unwrap().grant.is_some());
    refused(read(&engine, "ada", POINTER, None), Code::DerefDenied);
    // A named one is spent, though the budget would pay.
    let token = unused.budget_token.0;
    assert!(
        read(&engine, "bob", POINTER, Some(&token))
            .unwrap()
            .grant
            .is_some()
    );
    let spent = engine.status(&called("bob")).unwrap().budget.unwrap();
    assert_eq!(spent.repo_spans.used, 1);
}

/// A grant has a cap of its own, whatever is left of the budget.
#[test]
fn a_grant_is_cut_at_its_cap() {
    let (_ground, engine) = family();
    let whole = "repo:src/lib.rs@HEAD";
    let capped = GrantWanted {
        cap_tokens: Some(2_000),
        ..wanted("ada", whole)
    };
    refused(
        grant(&engine, &called("lead"), capped.clone()),
        Code::BudgetExceeded,
    );
    grant(&engine, &USER, capped).unwrap();
    let shown = read(&engine, "ada", whole, None).unwrap();
    assert!(
        shown.truncated && (1_900..=2_000).contains(&shown.tokens),
        "{}",
        shown.tokens
    );
}

#[test]
fn who_may_grant_what_to_whom() {
    let (ground, engine) = family();
    make_repository(&ground.path("other"));
    let there = ground.open_at("other", 2);
    open(&there, &USER, "stranger", None).unwrap();
    let by_lead = GrantWanted {
        by: Some(AgentId("lead".to_owned())),
        ..wanted("ada", POINTER)
    };
    let by_bob = GrantWanted {
        by: Some(AgentId("bob".to_owned())),
        ..wanted("ada", POINTER)
    };
    let long = GrantWanted {
        ttl: Some("P30D".parse().unwrap()),
        ..wanted("ada", POINTER)
    };
    let code = GrantWanted {
        pointer: None,
        code_chars: Some(300),
        ..wanted("ada", POINTER)
    };
    let both = GrantWanted {
        code_chars: Some(300),
        ..wanted("ada", POINTER)
    };
    let none = GrantWanted {
        pointer: None,
        ..wanted("ada", POINTER)
    };
    let lead = called("lead");
    for (who, wanted, code) in [
        (&USER, wanted("lead", POINTER), None),
        (&USER, by_lead.clone(), None),
        (&USER, by_bob, Some(Code::ScopeDenied)),
        (&USER, long.clone(), None),
        (&lead, long, Some(Code::BudgetExceeded)),
        (&lead, by_lead, None),
        (&lead, code, None),
        (&lead, both, Some(Code::SchemaInvalid)),
        (&lead, none, Some(Code::SchemaInvalid)),
        (&lead, wanted("lead", POINTER), Some(Code::ScopeDenied)),
        (
            &called("ada"),
            wanted("ada", POINTER),
            Some(Code::ScopeDenied),
        ),
        (
            &called("ada"),
            wanted("bob", POINTER),
            Some(Code::ScopeDenied),
        ),
        (
            &called("ada"),
            wanted("lead", POINTER),
            Some(Code::ScopeDenied),
        ),
        (&USER, wanted("ghost", POINTER), Some(Code::NotFound)),
        (&USER, wanted("stranger", POINTER), Some(Code::NotFound)),
        (
            &USER,
            wanted("ada", "repo:src/lib.rs#L2"),
            Some(Code::PointerUnpinned),
        ),
        (
            &USER,
            wanted("ada", "repo:src/gone.rs#L2@HEAD"),
            Some(Code::PointerNotFound),
        ),
        (
            &USER,
            wanted("ada", "repo:src/lib.rs#L9999@HEAD"),
            Some(Code::PointerNotFound),
        ),
        (&USER, wanted("ada", "nonsense"), Some(Code::PointerInvalid)),
    ] {
        let head = engine.status(&USER).unwrap().head;
        let given = grant(&engine, who, wanted.clone());
        assert_eq!(
            given.as_ref().err().map(|it| it.code),
            code,
            "{who:?} {wanted:?}"
        );
        if let Err(refusal) = given {
            assert!(!refusal.hint.is_empty());
            let moved = engine.status(&USER).unwrap().head - head;
            // A budget that was too wide is counted, and nothing else is.
            assert_eq!(moved, u64::from(code == Some(Code::BudgetExceeded)));
        }
    }
}

/// Taken back by its giver, its holder's parent or the user; what is not open stays what it is.
#[test]
fn a_grant_is_taken_back_while_it_is_open() {
    let (_ground, engine) = family();
    let revoke = |who: &Caller, id: &str| engine.0.ask(who, ask::RevokeGrant(id.to_owned()));
    let given = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    for who in ["ada", "bob"] {
        refused(revoke(&called(who), &given.id), Code::ScopeDenied);
    }
    assert_eq!(revoke(&called("lead"), &given.id).unwrap().state, "revoked");
    refused(revoke(&USER, &given.id), Code::NotFound);
    refused(revoke(&USER, "nothing"), Code::NotFound);
    for token in [Some(given.budget_token.0.as_str()), None] {
        refused(read(&engine, "ada", POINTER, token), Code::DerefDenied);
    }
    let spent = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    refused(revoke(&USER, &spent.id), Code::NotFound);
    assert_eq!(states(&engine), [GrantState::Spent, GrantState::Revoked]);
}

/// A grant ends with its time. A clock that is set back, by little or by much, once or many times, gives it
/// no more of it; one that jumps ahead and back leaves it usable.
#[test]
fn a_clock_that_is_set_back_extends_no_grant() {
    for (steps, is_over) in [
        (&[9 * MINUTE][..], false),
        (&[10 * MINUTE], true),
        (&[9 * MINUTE, -9 * MINUTE, 9 * MINUTE], true),
        (&[6 * MINUTE, -MINUTE, 6 * MINUTE, -10 * MINUTE], true),
        (&[-MINUTE, 5 * MINUTE], false),
        (&[-1_000 * MINUTE, 11 * MINUTE], true),
        (&[10_000_000 * MINUTE, -10_000_000 * MINUTE, MINUTE], false),
    ] {
        let (ground, engine) = family();
        let given = grant(&engine, &called("lead"), wanted("ada", POINTER)).unwrap();
        for step in steps {
            ground.clock.turn(*step);
            // Somebody does something, at whatever time it is.
            engine.claim(&format!("After {step} it is {}.", ground.clock.now()));
        }
        let state = states(&engine);
        let token = given.budget_token.0.as_str();
        let shown = read(&engine, "ada", POINTER, Some(token));
        if is_over {
            refused(shown, Code::Expired);
            assert_eq!(state, [GrantState::Expired], "{steps:?}");
        } else {
            assert!(
                shown.is_ok() && !state.contains(&GrantState::Expired),
                "{steps:?}"
            )
        }
    }
}

/// A hundred read at once with one grant, from many processes: one of them reads.
#[test]
fn a_grant_is_spent_by_one_of_many() {
    let (ground, engine) = family();
    let given = grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    let engines: Vec<_> = (0..5).map(|at| ground.open_at("repo", 10 + at)).collect();
    let token = given.budget_token.0.as_str();
    let read_ok: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .map(|at| {
                let engine = &engines[at % engines.len()];
                scope.spawn(move || {
                    let named = (at % 2 == 0).then_some(token);
                    (0..5)
                        .filter(|_| read(engine, "ada", POINTER, named).is_ok())
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_eq!(read_ok, 1);
    assert_eq!(states(&engine), [GrantState::Spent]);
}

/// What is uncommitted is kept when it is granted, and read as it was then.
#[test]
fn what_was_granted_of_a_working_tree_is_read_as_it_was() {
    let (ground, engine) = family();
    let file = ground.path("repo").join("src/lib.rs");
    std::fs::write(&file, "fn draft() {}\n").unwrap();
    let given = grant(&engine, &USER, wanted("ada", "repo:src/lib.rs#L1@worktree")).unwrap();
    let pointer = given.pointer.unwrap();
    assert!(pointer.contains("@sha256:"), "{pointer}");
    std::fs::write(&file, "fn later() {}\n").unwrap();
    let token = given.budget_token.0.as_str();
    refused(
        read(&engine, "ada", "repo:src/lib.rs#L1@worktree", Some(token)),
        Code::DerefDenied,
    );
    let shown = read(&engine, "ada", &pointer, Some(token)).unwrap();
    assert_eq!(shown.excerpt, "fn draft() {}\n");
    git(&ground.path("repo"), &["checkout", "-q", "--", "."]);
}

#[test]
fn a_child_asks_and_its_parent_or_the_user_answers() {
    let (_ground, engine) = family();
    let asked = |who: &Caller, all: bool| {
        let reply = engine
            .0
            .ask(who, ask::Requests(WhichRequests { all }))
            .unwrap();
        reply.requests
    };
    let first = request(&engine, "ada", POINTER).unwrap();
    assert_eq!(
        request(&engine, "ada", POINTER).unwrap(),
        first,
        "it waits already"
    );
    let second = request(&engine, "ada", "repo:src/lib.rs#L7@HEAD").unwrap();
    let told = asked(&USER, false);
    assert_eq!(told.len(), 2);
    let newest = &told[1];
    assert_eq!(
        (&newest.id, newest.agent.0.as_str(), newest.role.as_deref()),
        (&first, "ada", Some("programmer"))
    );
    assert!(newest.tokens > 0 && newest.pointer.starts_with("repo:src/lib.rs#L2@"));
    assert!(newest.reason.contains("lock") && newest.intended_use.contains("retry"));
    for (who, count) in [("lead", 2), ("ada", 2), ("bob", 0)] {
        assert_eq!(asked(&called(who), false).len(), count, "{who}");
    }
    let answer = |id: &str| GrantAnswer {
        id: id.to_owned(),
        cap_tokens: Some(300),
        ttl: None,
    };
    for who in ["ada", "bob"] {
        refused(
            engine
                .0
                .ask(&called(who), ask::GrantRequest(answer(&first))),
            Code::ScopeDenied,
        );
    }
    let given = engine
        .0
        .ask(&called("lead"), ask::GrantRequest(answer(&first)))
        .unwrap();
    assert_eq!((given.to.0.as_str(), given.cap_tokens), ("ada", Some(300)));
    let deny = DenyAnswer {
        id: second.clone(),
        why: Some("The claims say it.".to_owned()),
    };
    refused(
        engine.0.ask(&called("bob"), ask::DenyRequest(deny.clone())),
        Code::ScopeDenied,
    );
    engine.0.ask(&USER, ask::DenyRequest(deny.clone())).unwrap();
    for answered in [&first, &second] {
        refused(
            engine.0.ask(&USER, ask::GrantRequest(answer(answered))),
            Code::NotFound,
        );
    }
    refused(engine.0.ask(&USER, ask::DenyRequest(deny)), Code::NotFound);
    assert!(asked(&USER, false).is_empty());
    let states: Vec<_> = asked(&USER, true)
        .into_iter()
        .map(|it| (it.state, it.why))
        .collect();
    assert_eq!(
        states,
        [
            (RequestState::Denied, Some("The claims say it.".to_owned())),
            (RequestState::Granted, None)
        ]
    );
    assert!(read(&engine, "ada", POINTER, None).unwrap().grant.is_some());
    refused(
        read(&engine, "ada", "repo:src/lib.rs#L7@HEAD", None),
        Code::DerefDenied,
    );
    assert_eq!(
        engine.0.doctor(Default::default()).map(|it| it.ok),
        Ok(true)
    );
}

#[test]
fn bad_requests_leave_nothing() {
    let (_ground, engine) = family();
    let long = "a".repeat(501);
    for (pointer, reason, code) in [
        (POINTER, "", Code::SchemaInvalid),
        (POINTER, long.as_str(), Code::SchemaInvalid),
        (POINTER, "AKIAIOSFODNN7EXAMPLQ", Code::SecretDetected),
        ("repo:src/lib.rs#L2", "why", Code::PointerUnpinned),
        ("repo:src/gone.rs@HEAD", "why", Code::PointerNotFound),
    ] {
        let wanted = DerefRequest {
            pointer: PointerInput::Text(pointer.to_owned()),
            reason: reason.to_owned(),
            intended_use: String::new(),
        };
        let head = engine.status(&USER).unwrap().head;
        let asked = engine
            .0
            .ask(&called("ada"), ask::RequestDeref(Box::new(wanted.clone())));
        refused(asked, code);
        refused(
            engine.0.ask(&USER, ask::RequestDeref(Box::new(wanted))),
            Code::ScopeDenied,
        );
        assert_eq!(engine.status(&USER).unwrap().head, head);
    }
    // Asking is writing: it has a rate.
    let asked = (0..30)
        .find_map(|at| request(&engine, "bob", &format!("repo:src/lib.rs#L{}@HEAD", at + 1)).err());
    assert_eq!(asked.unwrap().code, Code::RateLimited);
}

/// What each has spent, as its parent, the user and itself see it.
#[test]
fn budgets_are_seen_by_the_agent_its_parent_and_the_user() {
    let (_ground, engine) = family();
    grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    grant(&engine, &USER, wanted("ada", "repo:src/lib.rs#L7@HEAD")).unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    refused(engine.deref(&called("ada"), POINTER), Code::DerefDenied);
    let budgets = |who: &Caller, agent: Option<&str>| {
        let of = BudgetOf {
            costs: false,
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
    assert_eq!(names(&called("lead")), ["ada", "bob", "lead"]);
    assert_eq!(names(&called("bob")), ["bob"]);
    refused(budgets(&called("bob"), Some("ada")), Code::NotFound);
    refused(budgets(&USER, Some("ghost")), Code::NotFound);
}

/// A parent ends its child's turn: every process of the child is in the next one at its next call.
#[test]
fn a_parent_begins_the_turn_of_its_child() {
    let (ground, engine) = family();
    let there = ground.open_at("repo", 5);
    refused(there.deref(&called("ada"), POINTER), Code::DerefDenied);
    let next = |who: &Caller, turn: Option<&str>| {
        let next = NextTurn {
            agent: AgentId("ada".to_owned()),
            turn: turn.map(str::to_owned),
        };
        engine.0.ask(who, ask::NextTurn(next))
    };
    for who in ["ada", "bob"] {
        refused(next(&called(who), None), Code::ScopeDenied);
    }
    next(&called("lead"), Some("review")).unwrap();
    let shown = there
        .deref(&called("ada"), POINTER)
        .unwrap()
        .budget
        .unwrap();
    assert_eq!((shown.turn.as_str(), shown.repo_spans.used), ("review", 1));
    let shown = engine
        .deref(&called("ada"), POINTER)
        .unwrap()
        .budget
        .unwrap();
    assert_eq!((shown.turn.as_str(), shown.repo_spans.used), ("review", 2));
    next(&USER, None).unwrap();
    let budget = engine.status(&called("ada")).unwrap().budget.unwrap();
    assert_eq!(budget.repo_spans.used, 0);
}

/// Each turn has a budget of its own: who could begin them at will would read without one.
#[test]
fn turns_that_a_parent_begins_are_rated() {
    let (ground, engine) = family();
    let next = |who: &Caller| {
        let next = NextTurn {
            agent: AgentId("ada".to_owned()),
            turn: None,
        };
        engine.0.ask(who, ask::NextTurn(next))
    };
    let begun = (0..40)
        .take_while(|_| next(&called("lead")).is_ok())
        .count();
    assert!((10..=20).contains(&begun), "{begun}");
    refused(next(&called("lead")), Code::RateLimited);
    next(&USER).unwrap();
    ground.clock.turn(61);
    next(&called("lead")).unwrap();
}

/// Children are no way to write more than ten times what an agent may.
#[test]
fn an_agent_and_all_below_it_write_ten_times_its_rates_at_most() {
    let (ground, engine) = family();
    let mut names = Vec::new();
    for number in 0..15 {
        let name = format!("child-{number}");
        open(&engine, &USER, &name, Some("lead")).unwrap();
        names.push(name);
    }
    let mut stored = 0;
    let mut refused_at_last = None;
    for (at, name) in names.iter().cycle().take(15 * 20).enumerate() {
        let claim = format!("Part {at} of the gateway is blue.");
        match engine.put(&called(name), crate::conflicts::on("gateway", &claim)) {
            Ok(_) => stored += 1,
            Err(refusal) => refused_at_last = Some(refusal),
        }
    }
    let refusal = refused_at_last.unwrap();
    assert_eq!((stored, refusal.code), (200, Code::RateLimited));
    assert!(refusal.message.contains("all below it"), "{refusal:?}");
    // Others write on, and so does the tree a minute later.
    engine
        .put(
            &engine.agent("other"),
            crate::conflicts::on("gateway", "The gateway has a lid."),
        )
        .unwrap();
    ground.clock.turn(61);
    let late = crate::conflicts::on("gateway", "The gateway has a handle.");
    engine.put(&called(&names[0]), late).unwrap();
}

/// What is erased leaves neither the requests for it nor the grants.
#[test]
fn what_was_asked_for_and_granted_is_erased_with_it() {
    let (ground, engine) = family();
    let note = engine.note(&USER, "the-vendor-contract", "We pay in cents.");
    let asked = request(&engine, "ada", &note.pointer).unwrap();
    let given = grant(&engine, &USER, wanted("ada", &note.pointer)).unwrap();
    assert!(is_kept(&ground, "the-vendor-contract") && is_kept(&ground, "Is the lock held"));
    let id = engram_model::EngramId(note.id.0);
    engine.redact(&USER, id).unwrap();
    for words in ["the-vendor-contract", "We pay in cents", "Is the lock held"] {
        assert!(!is_kept(&ground, words), "{words}");
    }
    let all = WhichRequests { all: true };
    let told = engine.0.ask(&USER, ask::Requests(all)).unwrap().requests;
    assert_eq!((&told[0].id, told[0].pointer.as_str()), (&asked, ""));
    let told = engine.0.ask(&USER, ask::Grants).unwrap().grants;
    assert_eq!(
        (&told[0].id, told[0].pointer.as_deref()),
        (&given.id, Some(""))
    );
    let replay = engram_engine::Treatment {
        replay: true,
        ..Default::default()
    };
    assert!(engine.0.doctor(replay).unwrap().ok);
}

/// What a window lists: who asked and when, who answered, and how the grant stands, which bears the request's id.
#[test]
fn a_request_tells_who_answered_it_and_what_became_of_the_grant() {
    let (ground, engine) = family();
    let all = || {
        let which = WhichRequests { all: true };
        engine.0.ask(&USER, ask::Requests(which)).unwrap().requests
    };
    let id = request(&engine, "ada", POINTER).unwrap();
    let waiting = all().remove(0);
    assert_eq!(waiting.parent, Some(AgentId("lead".to_owned())));
    assert_eq!((waiting.label.as_str(), waiting.answer), ("ada", None));
    assert_eq!(waiting.asked_at, ground.clock.now());
    let count = || engine.status(&USER).unwrap().requests;
    assert_eq!(count(), Some(1));
    assert_eq!(engine.status(&called("ada")).unwrap().requests, None);
    let answer = GrantAnswer {
        id: id.clone(),
        cap_tokens: None,
        ttl: None,
    };
    let given = engine
        .0
        .ask(&called("lead"), ask::GrantRequest(answer))
        .unwrap();
    assert_eq!((given.id.as_str(), count()), (id.as_str(), Some(0)));
    let granted = all().remove(0);
    assert_eq!(granted.answer.unwrap().by, "lead");
    assert_eq!(granted.grant.unwrap().state, GrantState::Open);
    read(&engine, "ada", POINTER, None).unwrap();
    assert_eq!(all()[0].grant.as_ref().unwrap().state, GrantState::Spent);
    let id = request(&engine, "ada", "repo:src/lib.rs#L3@HEAD").unwrap();
    let answer = DenyAnswer { id, why: None };
    engine.0.ask(&USER, ask::DenyRequest(answer)).unwrap();
    let denied = all().remove(0);
    assert_eq!(denied.answer.unwrap().by, "user");
    assert!(denied.grant.is_none());
}

/// What one agent's turn was spent on, the newest first; another turn begins anew.
#[test]
fn a_budget_tells_what_it_was_spent_on_and_what_it_refused() {
    let (ground, engine) = family();
    let costs = || {
        let agent = Some(AgentId("ada".to_owned()));
        let costs = true;
        let of = ask::Budget(BudgetOf { agent, costs });
        engine.0.ask(&USER, of).unwrap().agents.remove(0).costs
    };
    let told = costs();
    assert_eq!(told.len(), 4);
    let CostOf::Refused { code, figures } = &told[0].what else {
        panic!("{told:?}");
    };
    assert_eq!(*code, Code::DerefDenied);
    assert_eq!(figures["repo_spans"].limit, 3);
    grant(&engine, &USER, wanted("ada", POINTER)).unwrap();
    read(&engine, "ada", POINTER, None).unwrap();
    let CostOf::Read { grant, tokens, .. } = &costs()[0].what else {
        panic!("a read");
    };
    assert!(grant.is_some() && *tokens > 0);
    // All of them at once are told without it, and one where nobody asked for it.
    let all = engine.0.ask(&USER, ask::Budget(BudgetOf::default()));
    assert!(all.unwrap().agents.iter().all(|it| it.costs.is_empty()));
    ground.clock.turn(60 * MINUTE);
    engine.deref(&called("ada"), POINTER).unwrap();
    assert_eq!(costs().len(), 1);
}

/// What happens between agents is told to the user alone, and says no more than that it did.
#[test]
fn only_the_user_is_told_what_happens_between_agents() {
    let (_ground, engine) = family();
    request(&engine, "ada", POINTER).unwrap();
    let told = |who: &Caller| {
        let all = Feed {
            all: true,
            ..Feed::default()
        };
        let entries = engine.0.ask(who, ask::Feed(all)).unwrap().entries;
        let between = entries.into_iter().filter_map(|it| match it.change {
            Change::Between { what, .. } => Some(what),
            _ => None,
        });
        between.collect::<Vec<_>>()
    };
    let seen = told(&USER);
    assert_eq!(seen[0], OperationKind::Requested);
    assert!(seen.contains(&OperationKind::Refused) && seen.contains(&OperationKind::Opened));
    assert_eq!(told(&called("ada")), []);
    assert_eq!(told(&called("bob")), []);
}

/// More than are listed: those that wait come first, and the user is told how many others there are.
#[test]
fn what_does_not_fit_a_list_of_requests_is_counted() {
    const MANY: usize = 205;
    let (_ground, engine) = family();
    let ids: Vec<String> = (0..MANY)
        .map(|number| {
            let name = format!("asker-{number}");
            open(&engine, &USER, &name, None).unwrap();
            request(&engine, &name, POINTER).unwrap()
        })
        .collect();
    let list = |who: &Caller, all| {
        let which = WhichRequests { all };
        let reply = engine.0.ask(who, ask::Requests(which)).unwrap();
        let ids: Vec<String> = reply.requests.into_iter().map(|it| it.id).collect();
        (ids, reply.omitted)
    };
    // The two newest are answered: others that wait take their places.
    for id in &ids[MANY - 2..] {
        let answer = DenyAnswer {
            id: id.clone(),
            why: None,
        };
        engine.0.ask(&USER, ask::DenyRequest(answer)).unwrap();
    }
    let newest: Vec<String> = ids[3..MANY - 2].iter().rev().cloned().collect();
    assert_eq!(list(&USER, true), (newest.clone(), Some(5)));
    assert_eq!(list(&USER, false), (newest, Some(3)));
    let own = list(&called("asker-100"), false);
    assert_eq!(own, (vec![ids[100].clone()], None));
    let oldest = list(&called("asker-0"), true);
    assert_eq!(
        oldest,
        (vec![ids[0].clone()], None),
        "newer ones are others'"
    );
}
