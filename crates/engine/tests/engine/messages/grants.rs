//! Grants and requests in messages.

use engram_model::{Caller, Code, Deref, Outcome, PointerInput, ask};
use serde_json::json;

use crate::fixture::{
    USER, handle_of,
    messages::{engram, open_team, order, report},
    refused,
};

#[test]
fn a_childs_requests_wait_for_its_parent() {
    let (_sandbox, engine, [lead, ada, _]) = open_team();
    let want = |reason: &str| json!({ "pointer": "repo:src/lib.rs#L1-L40@HEAD", "reason": reason });
    let mut message = report(vec![engram("Retries use full jitter.")], "One.");
    message["deref_requests"] = json!([want("To confirm."), want("Once more.")]);
    let Outcome::Reported { requests, .. } = engine.send(&ada, message).unwrap().outcome else {
        panic!("a child's message");
    };
    assert_eq!(requests[0], requests[1], "the same pointer is one request");
    let waiting = |who: &Caller| {
        let which = engram_model::WhichRequests::default();
        engine.0.ask(who, ask::Requests(which)).unwrap().requests
    };
    let asked = waiting(&lead);
    assert_eq!((asked.len(), &asked[0].id), (1, &requests[0]));
    assert!(asked[0].reason == "To confirm." && asked[0].tokens > 100);
}

#[test]
fn a_parents_grants_are_issued_for_each_child() {
    let (_sandbox, engine, [lead, ada, bob]) = open_team();
    let pointer = "repo:src/lib.rs#L1-L4@HEAD";
    let mut message = order(json!({ "max_repo_spans": 0 }));
    message["grants"] = json!([{ "budget_token": "", "pointer": pointer, "cap_tokens": 400 }]);
    let Outcome::Told { sent } = engine.send(&lead, message.clone()).unwrap().outcome else {
        panic!("a parent's message");
    };
    let token = |at: usize| {
        sent[at].message["grants"][0]["budget_token"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(token(0) != token(1) && token(0).len() > 20);
    let read = |who: &Caller, token: String| {
        engine.0.ask(
            who,
            ask::Deref(Deref {
                pointer: PointerInput::Text(pointer.to_owned()),
                max_tokens: None,
                turn: None,
                budget_token: Some(token),
                reason: None,
            }),
        )
    };
    refused(read(&ada, token(1)), Code::DerefDenied);
    read(&ada, token(0)).unwrap();
    refused(read(&ada, token(0)), Code::DerefDenied);
    // A token that was issued before is passed on if it is valid.
    message["grants"][0]["budget_token"] = json!(token(1));
    engine.send_to(&lead, message.clone(), Some(&bob)).unwrap();
    refused(
        engine.send_to(&lead, message, Some(&ada)),
        Code::DerefDenied,
    );
}

#[test]
fn inline_code_needs_a_grant_that_one_message_spends() {
    let (_sandbox, engine, [_, ada, bob]) = open_team();
    let code = || {
        report(
            vec![],
            "The fix is `let a = f(x); let b = g(a); store(a, b);` in the loop.",
        )
    };
    refused(engine.send(&ada, code()), Code::BudgetExceeded);
    let grant = engram_model::GrantWanted {
        to: handle_of(&ada),
        code_chars: Some(200),
        pointer: None,
        cap_tokens: None,
        ttl: None,
        by: None,
        replaces: None,
    };
    engine.0.ask(&USER, ask::IssueGrant(grant)).unwrap();
    refused(engine.send(&bob, code()), Code::BudgetExceeded);
    engine.send(&ada, code()).unwrap();
    refused(engine.send(&ada, code()), Code::BudgetExceeded);
}
