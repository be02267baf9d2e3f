//! Walks the table of requests: each request by each kind of caller, and what it leaves behind.

use engram_kit::requests;
use engram_model::{Caller, Code, Commit, Draft, Effect, EngramId, Request, ask};

use serde_json::{Value, json};

use crate::fixture::{Sandbox, draft, refused};

#[test]
fn each_request_does_to_the_home_what_the_table_says_for_each_caller() {
    for terms in Request::TABLE {
        if requests::needs_more(terms.name) {
            continue;
        }
        for is_user in [true, false] {
            let engine = Sandbox::open_new();
            let caller = if is_user {
                Caller::User
            } else {
                engine.agent("programmer-1")
            };
            let id = engine.put(&caller, draft("The first claim.")).unwrap().id;
            let mut id = id.to_string();
            for first in requests::first(terms.name, &id) {
                let first = serde_json::from_value(first).unwrap();
                let reply = engine.0.handle(&caller, first).unwrap();
                id = requests::about(&id, &serde_json::to_value(reply).unwrap());
            }
            let request = requests::good(terms.name, &id);
            let request: Request = serde_json::from_value(request).unwrap();
            assert_eq!(request.terms(), *terms);
            let before = engine.head();
            let answer = engine.0.handle(&caller, request);
            let moved = engine.head() - before;
            let name = terms.name;
            if !terms.who.may_ask(&caller) {
                refused(answer, Code::ScopeDenied);
                assert_eq!(moved, 0, "{name}");
                continue;
            }
            assert!(answer.is_ok(), "{name}: {answer:?}");
            match terms.effect {
                Effect::Reads => assert_eq!(moved, 0, "{name}"),
                // There is no sample to remove.
                Effect::Changes if name == "remove_sample" => assert_eq!(moved, 0, "{name}"),
                Effect::Changes | Effect::Spends => assert!(moved > 0, "{name}"),
            }
            let used = engine
                .status(&caller)
                .unwrap()
                .budget
                .map(|it| it.repo_spans.used);
            let spends = terms.effect == Effect::Spends && !is_user;
            assert_eq!(used.unwrap_or(0), u32::from(spends), "{name}");
        }
    }
}

/// A refused commit leaves nothing: no claim, no event, no place of a repository.
#[test]
fn a_claim_and_the_event_that_it_points_at_are_one_commit() {
    let engine = Sandbox::open_new();
    let agent = engine.agent("programmer-1");
    let said = |claim: &str, words: &str| {
        ask::Commit(Box::new(Commit {
            draft: Draft {
                pointers: Vec::new(),
                ..draft(claim)
            },
            words: Some(words.to_owned()),
            ..Commit::default()
        }))
    };
    let long = "a".repeat(501);
    for (claim, words, code) in [
        (long.as_str(), "seen", Code::ClaimTooLong),
        ("", "seen", Code::SchemaInvalid),
        (
            "The key is set.",
            "AKIAIOSFODNN7EXAMPLQ",
            Code::SecretDetected,
        ),
    ] {
        refused(engine.0.ask(&agent, said(claim, words)), code);
        assert_eq!(engine.head(), 0, "{claim}");
    }
    let stored = engine
        .0
        .ask(&agent, said("Retries use jitter.", "seen in a log"))
        .unwrap();
    assert!(!stored.verified);
    let before = engine.head();
    let again = engine
        .0
        .ask(&agent, said("Retries use jitter.", "seen in a log"))
        .unwrap();
    assert_eq!(
        (again.id, engine.head()),
        (stored.id, before),
        "nothing new"
    );
    let mut refusal = None;
    for at in 0..100 {
        let claim = format!("Retry {at} uses jitter.");
        if let Err(refused) = engine.0.ask(&agent, said(&claim, "seen")) {
            refusal = Some((refused.code, at));
            break;
        }
    }
    let (code, at) = refusal.expect("a limit");
    assert_eq!(code, Code::RateLimited);
    // Each claim has two entries, the event and the claim; the refused one has none.
    assert_eq!(engine.head(), before + 2 * at);
}

/// The author of a record follows the handle, whatever name an agent uses.
#[test]
fn an_agent_that_calls_itself_engram_is_told_from_it() {
    for label in ["engram", " Engram", "en\u{200b}gram"] {
        let engine = Sandbox::open_new();
        let id = engine.put(&engine.agent(label), draft("Mine.")).unwrap().id;
        let by = engine.get(&Caller::User, id).unwrap().provenance.created_by;
        assert_eq!(by.to_lowercase(), "engram (agent)");
    }
}

#[test]
fn an_agent_that_calls_itself_the_user_is_not() {
    for label in ["user", " User", "you", "", "User\u{200b}", "us\u{2060}er"] {
        let engine = Sandbox::open_new();
        let agent = engine.agent(label);
        let put = Draft {
            agent: Some("user".to_owned()),
            ..draft("An agent's claim.")
        };
        let id = engine.put(&agent, put).unwrap().id;
        let engram = engine.get(&Caller::User, id).unwrap();
        assert_eq!(engram.provenance.created_by, "user (agent)");
        let mine = engine.claim("My claim.").id;
        engine.put(&agent, draft("My claim.")).unwrap();
        let log = engine.0.ask(&Caller::User, ask::Log(mine)).unwrap();
        let voice = log.iter().find(|it| it.agent.is_some()).unwrap();
        assert!(!["", "user", "you"].contains(&voice.by.as_str()), "{log:?}");
        let entries = engine.journal().entries;
        assert!(
            entries
                .iter()
                .all(|it| it.agent.is_some() || it.by == "user" || it.by.is_empty())
        );
        assert_eq!(
            engine
                .get(&Caller::User, mine)
                .unwrap()
                .provenance
                .created_by,
            "user"
        );
    }
}

/// Closing, erasing and looking back need no repository, and do not check evidence.
#[test]
fn what_needs_no_repository_is_done_without_one() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ids: Vec<EngramId> = (0..2)
        .map(|at| engine.claim(&format!("Claim {at}.")).id)
        .collect();
    std::fs::rename(sandbox.path("repo"), sandbox.path("away")).unwrap();
    let user = Caller::User;
    engine.0.ask(&user, ask::Log(ids[0])).unwrap();
    engine.forget(&user, ids[0]).unwrap();
    engine.redact(&user, ids[1]).unwrap();
    let project = engine.status(&user).unwrap().project.unwrap();
    assert!(project.unavailable.is_some(), "{project:?}");
}

/// Invisible text is refused wherever a surface takes text: tags, direction marks and selectors.
#[test]
fn words_that_nobody_sees_are_refused_wherever_words_are_taken() {
    let words = [
        ("put", "/claim"),
        ("put", "/topic"),
        ("put", "/tags/0"),
        ("put", "/agent"),
        ("commit", "/draft/claim"),
        ("commit", "/words"),
        ("request_deref", "/reason"),
        ("request_deref", "/intended_use"),
        ("open_agent", "/name"),
        ("open_agent", "/role"),
        ("note", "/text"),
        ("resolve", "/why"),
        ("allow", "/why"),
        ("pin", "/text"),
        ("send", "/message/instructions/0"),
        ("hook", "/event/child_response/output/summary"),
        ("validate_message", "/instructions/0"),
    ];
    for (name, place) in words {
        let engine = Sandbox::open_new();
        let said = engine.claim("The first claim.").id;
        let mut id = said.to_string();
        let caller = match name {
            "request_deref" => engine.agent("ada"),
            _ => Caller::User,
        };
        for first in requests::first(name, &id) {
            let request = serde_json::from_value(first).unwrap();
            let reply = engine.0.handle(&Caller::User, request).unwrap();
            id = requests::about(&id, &serde_json::to_value(reply).unwrap());
        }
        for hidden in ["a\u{E0041}", "\u{202E}b", "c\u{FE01}"] {
            let mut request = requests::good(name, &id);
            match place.rsplit_once('/').unwrap() {
                ("/tags", _) => request["with"]["tags"] = json!([hidden]),
                (within, key) => match &mut request["with"].pointer_mut(within).unwrap() {
                    Value::Array(items) => *items = vec![json!(hidden)],
                    object => object[key] = json!(hidden),
                },
            }
            if name == "pin" {
                request["with"] = json!({ "text": hidden });
            }
            let request = serde_json::from_value(request).unwrap();
            let refusal = engine.0.handle(&caller, request).unwrap_err();
            assert_eq!(
                refusal.code,
                Code::SchemaInvalid,
                "{name} {place}: {refusal}"
            );
        }
    }
}
