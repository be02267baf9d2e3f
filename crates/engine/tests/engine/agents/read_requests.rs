//! Requests to read beyond the budget: made by a child, answered by its parent or the user.

use engram_model::{
    AgentId, Caller, Change, Code, DenyAnswer, DerefRequest, Feed, GrantAnswer, GrantState,
    NewsKind, NewsSince, OperationKind, PointerInput, Refusal, RequestState, WhichRequests, ask,
};

use crate::fixture::{
    Asked, POINTER, USER,
    agents::{agent_named, grant_wanted, is_in_home, issue_grant, open_agent, open_family, read},
    refused,
};

pub(crate) fn request(engine: &Asked, who: &str, pointer: &str) -> Result<String, Refusal> {
    let wanted = DerefRequest {
        pointer: PointerInput::Text(pointer.to_owned()),
        reason: "Is the lock held while it posts?".to_owned(),
        intended_use: "To judge the fix of the retry.".to_owned(),
    };
    let settled = engine
        .0
        .ask(&agent_named(who), ask::RequestDeref(Box::new(wanted)))?;
    assert_eq!(settled.state, "waiting");
    Ok(settled.id)
}

/// The user sees who has the grant of a request, however often it was transferred; the agent that
/// asked learns nothing of others.
#[test]
fn a_request_tells_the_user_who_has_its_grant() {
    let (_sandbox, engine) = open_family();
    let id = request(&engine, "ada", POINTER).unwrap();
    let answer = GrantAnswer {
        id: id.clone(),
        cap_tokens: None,
        ttl: None,
    };
    engine.0.ask(&USER, ask::GrantRequest(answer)).unwrap();
    let told = |who: &Caller| {
        let all = WhichRequests { all: true };
        let requests = engine.0.ask(who, ask::Requests(all)).unwrap().requests;
        let grant = requests
            .into_iter()
            .find(|it| it.id == id)
            .unwrap()
            .grant
            .unwrap();
        (grant.id, grant.state, grant.holder)
    };
    assert_eq!(told(&USER), (id.clone(), GrantState::Open, None));
    let mut last = id.clone();
    for to in ["bob", "lead"] {
        let wanted = engram_model::GrantWanted {
            replaces: Some(last),
            ..grant_wanted(to, POINTER)
        };
        last = issue_grant(&engine, &USER, wanted).unwrap().id;
        assert_eq!(
            told(&USER),
            (last.clone(), GrantState::Open, Some(to.to_owned()))
        );
    }
    let own = told(&agent_named("ada"));
    assert_eq!(own, (id.clone(), GrantState::Revoked, None));
}

/// Today lists what agents asked for, until it is answered.
#[test]
fn a_request_is_news_while_it_waits() {
    let (_sandbox, engine) = open_family();
    let id = request(&engine, "ada", POINTER).unwrap();
    let asked = || {
        let news = engine
            .0
            .ask(&USER, ask::News(NewsSince::default()))
            .unwrap();
        let rows = news
            .rows
            .into_iter()
            .filter(|it| it.what == NewsKind::Asked);
        rows.map(|it| (it.by, it.count, it.id, it.text))
            .collect::<Vec<_>>()
    };
    let rows = asked();
    assert_eq!(rows.len(), 1);
    let (by, count, named, text) = &rows[0];
    assert_eq!((by.as_str(), *count, named), ("ada", 1, &id));
    assert!(
        text.ends_with(" (repo:src/lib.rs#L2)") && text.len() > 25,
        "{text}"
    );
    let denied = DenyAnswer { id, why: None };
    engine.0.ask(&USER, ask::DenyRequest(denied)).unwrap();
    assert_eq!(asked(), []);
}

#[test]
fn a_child_asks_and_its_parent_or_the_user_answers() {
    let (_sandbox, engine) = open_family();
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
        "a request already waits"
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
        assert_eq!(asked(&agent_named(who), false).len(), count, "{who}");
    }
    let answer = |id: &str| GrantAnswer {
        id: id.to_owned(),
        cap_tokens: Some(300),
        ttl: None,
    };
    for (who, code) in [("ada", Code::ScopeDenied), ("bob", Code::NotFound)] {
        refused(
            engine
                .0
                .ask(&agent_named(who), ask::GrantRequest(answer(&first))),
            code,
        );
    }
    let given = engine
        .0
        .ask(&agent_named("lead"), ask::GrantRequest(answer(&first)))
        .unwrap();
    assert_eq!((given.to.0.as_str(), given.cap_tokens), ("ada", Some(300)));
    let deny = DenyAnswer {
        id: second.clone(),
        why: Some("The claims say it.".to_owned()),
    };
    refused(
        engine
            .0
            .ask(&agent_named("bob"), ask::DenyRequest(deny.clone())),
        Code::NotFound,
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
    let (_sandbox, engine) = open_family();
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
        let asked = engine.0.ask(
            &agent_named("ada"),
            ask::RequestDeref(Box::new(wanted.clone())),
        );
        refused(asked, code);
        refused(
            engine.0.ask(&USER, ask::RequestDeref(Box::new(wanted))),
            Code::ScopeDenied,
        );
        assert_eq!(engine.status(&USER).unwrap().head, head);
    }
    // A request is a write, so it is rate limited.
    let asked = (0..30)
        .find_map(|at| request(&engine, "bob", &format!("repo:src/lib.rs#L{}@HEAD", at + 1)).err());
    assert_eq!(asked.unwrap().code, Code::RateLimited);
}

/// Erasing something also erases the requests and grants for it.
#[test]
fn what_was_asked_for_and_granted_is_erased_with_it() {
    let (sandbox, engine) = open_family();
    let note = engine.note(&USER, "the-vendor-contract", "We pay in cents.");
    let asked = request(&engine, "ada", &note.pointer).unwrap();
    let given = issue_grant(&engine, &USER, grant_wanted("ada", &note.pointer)).unwrap();
    assert!(
        is_in_home(&sandbox, "the-vendor-contract") && is_in_home(&sandbox, "Is the lock held")
    );
    let id = engram_model::EngramId(note.id.0);
    engine.redact(&USER, id).unwrap();
    for words in ["the-vendor-contract", "We pay in cents", "Is the lock held"] {
        assert!(!is_in_home(&sandbox, words), "{words}");
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

/// What a window lists: who asked and when, who answered, and the state of the grant, which has the
/// request's id.
#[test]
fn a_request_tells_who_answered_it_and_what_became_of_the_grant() {
    let (sandbox, engine) = open_family();
    let all = || {
        let which = WhichRequests { all: true };
        engine.0.ask(&USER, ask::Requests(which)).unwrap().requests
    };
    let id = request(&engine, "ada", POINTER).unwrap();
    let waiting = all().remove(0);
    assert_eq!(waiting.parent, Some(AgentId("lead".to_owned())));
    assert_eq!((waiting.label.as_str(), waiting.answer), ("ada", None));
    assert_eq!(waiting.asked_at, sandbox.clock.now());
    let count = || engine.status(&USER).unwrap().requests;
    assert_eq!(count(), Some(1));
    assert_eq!(engine.status(&agent_named("ada")).unwrap().requests, None);
    let answer = GrantAnswer {
        id: id.clone(),
        cap_tokens: None,
        ttl: None,
    };
    let given = engine
        .0
        .ask(&agent_named("lead"), ask::GrantRequest(answer))
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

/// Only the user sees what happens between agents, and only the fact that it happened.
#[test]
fn only_the_user_is_told_what_happens_between_agents() {
    let (_sandbox, engine) = open_family();
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
    assert_eq!(told(&agent_named("ada")), []);
    assert_eq!(told(&agent_named("bob")), []);
}

/// With more requests than fit the list, those that wait come first, and the user sees how many
/// others there are.
#[test]
fn what_does_not_fit_a_list_of_requests_is_counted() {
    const MANY: usize = 205;
    let (_sandbox, engine) = open_family();
    let ids: Vec<String> = (0..MANY)
        .map(|number| {
            let name = format!("asker-{number}");
            open_agent(&engine, &USER, &name, None).unwrap();
            request(&engine, &name, POINTER).unwrap()
        })
        .collect();
    let list = |who: &Caller, all| {
        let which = WhichRequests { all };
        let reply = engine.0.ask(who, ask::Requests(which)).unwrap();
        let ids: Vec<String> = reply.requests.into_iter().map(|it| it.id).collect();
        (ids, reply.omitted)
    };
    // The two newest are answered; others that wait take their places.
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
    let own = list(&agent_named("asker-100"), false);
    assert_eq!(own, (vec![ids[100].clone()], None));
    let oldest = list(&agent_named("asker-0"), true);
    assert_eq!(
        oldest,
        (vec![ids[0].clone()], None),
        "newer ones are others'"
    );
}
