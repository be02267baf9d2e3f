//! What keys do among requests.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{Code, Refusal, Request};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, answer, gallery, state};
use crate::app::views::stage::Stage;

/// The requests as an engine lists them: two wait, one has an open grant, one was denied.
fn requests_reply() -> Value {
    let all = gallery::all();
    let wanted = [801, 802, 803, 807].map(|it| format!("{it:026}"));
    let all: Vec<_> = all
        .into_iter()
        .filter(|it| wanted.contains(&it.id))
        .collect();
    json!({"is": "requests", "with": {"requests": all, "omitted": null}})
}

#[test]
fn a_request_is_answered_by_a_key() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Requests(_) => Ok(requests_reply()),
        Request::GrantRequest(_) | Request::DenyRequest(_) => {
            Err(Refusal::new(Code::NotFound, "gone", ""))
        }
        other => panic!("{other:?}"),
    });
    let all = stage.app.views.requests;
    state::read(stage.app);
    stage.settle();
    let first = format!("{:026}", 801);
    assert_eq!(all.inbox.open.get_untracked().as_ref(), Some(&first));
    stage.asked();
    assert!(!stage.press("u"), "there is no grant to take back");
    assert!(stage.press("y"));
    let Some(Request::GrantRequest(answer)) = stage.asked().into_iter().next() else {
        panic!("nothing was granted");
    };
    assert_eq!((answer.id, answer.cap_tokens), (first, Some(500)));
    assert!(all.answer_refused.get_untracked().is_some());
    // A denial waits for its reason, and nothing is sent.
    assert!(stage.press("x"));
    assert_eq!(stage.asked(), []);
    assert!(all.wants_reason.get_untracked());
    assert!(stage.press("j"));
    let second = format!("{:026}", 802);
    assert_eq!(all.inbox.open.get_untracked().as_ref(), Some(&second));
    assert!(!all.wants_reason.get_untracked());
    // The reason is optional: a second press denies without one.
    stage.press("x");
    stage.press("x");
    let Some(Request::DenyRequest(answer)) = stage.asked().into_iter().next() else {
        panic!("nothing was denied");
    };
    assert_eq!((answer.id, answer.why), (second, None));
}

/// A person who returns finds the request that waits.
#[test]
fn an_answered_request_does_not_stay_open() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Requests(_) => Ok(requests_reply()),
        other => panic!("{other:?}"),
    });
    let open = stage.app.views.requests.inbox.open;
    state::read(stage.app);
    stage.settle();
    let [waiting, denied] = [801, 807].map(|it| format!("{it:026}"));
    state::select_request(stage.app, denied);
    state::close_answered(stage.app);
    state::read(stage.app);
    stage.settle();
    assert_eq!(open.get_untracked().as_ref(), Some(&waiting));
    state::close_answered(stage.app);
    assert_eq!(open.get_untracked(), Some(waiting), "it waits");
}

/// An undo that was overtaken is not tried for ever: the next one asks for the step before.
#[test]
fn undo_goes_past_a_grant_that_is_used() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Requests(_) => Ok(requests_reply()),
        Request::RevokeGrant(_) | Request::Feed(_) => Err(Refusal::new(
            Code::NotFound,
            "the grant is already spent",
            "",
        )),
        other => panic!("{other:?}"),
    });
    state::read(stage.app);
    stage.settle();
    let undo = answer::undo_of(format!("{:026}", 803));
    stage
        .app
        .frame
        .say_all_done("Granted", "", false, vec![undo]);
    stage.asked();
    let undone = || {
        stage.press("z");
        stage.asked().into_iter().next()
    };
    assert!(matches!(undone(), Some(Request::RevokeGrant(_))));
    assert!(
        matches!(undone(), Some(Request::Feed(_))),
        "the step before"
    );
}

#[test]
fn a_request_of_another_repository_is_looked_for_there() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Requests(_) => Ok(requests_reply()),
        Request::Locate(_) => {
            let found = json!({"name": "flask", "path": "/code/flask", "is_here": false});
            Ok(json!({"is": "located", "with": {"found": found}}))
        }
        other => panic!("{other:?}"),
    });
    let app = stage.app;
    app.views
        .requests
        .inbox
        .open
        .set(Some("elsewhere".to_owned()));
    state::read(app);
    stage.settle();
    let told = app.frame.toast.get_untracked().unwrap();
    assert!(told.hint.contains("/code/flask"), "{}", told.hint);
}
