//! What keys do among requests.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{Code, Refusal, Request};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, state};
use crate::app::{gallery::team, views::stage::Stage};

/// Requests as an engine lists them: two wait, one is open to be read, one was denied.
fn requests_reply() -> Value {
    let all = team::all();
    let wanted = [801, 802, 803, 807].map(|it| format!("{it:026}"));
    let all: Vec<_> = all
        .into_iter()
        .filter(|it| wanted.contains(&it.id))
        .collect();
    json!({"is": "requests", "with": {"requests": all, "omitted": null}})
}

#[test]
fn a_request_is_answered_by_a_key_and_the_next_opens() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Requests(_) => Ok(requests_reply()),
        Request::GrantRequest(_) => Err(Refusal::new(Code::NotFound, "gone", "")),
        other => panic!("{other:?}"),
    });
    let all = stage.app.views.requests;
    state::read(stage.app);
    stage.settle();
    assert_eq!(
        all.inbox.open.get_untracked().unwrap(),
        format!("{:026}", 801)
    );
    println!("{:?}", stage.asked());
    assert!(stage.press("g"));
    println!("{:?}", stage.asked());
    assert!(all.answer_refused.get_untracked().is_some());
    assert!(stage.press("j"));
    assert_eq!(
        all.inbox.open.get_untracked().unwrap(),
        format!("{:026}", 802)
    );
}
