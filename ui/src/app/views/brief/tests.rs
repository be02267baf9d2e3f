//! What keys do in the brief.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{Code, Refusal, Request, Unpinning};
use leptos::prelude::*;
use serde_json::json;

use super::{VIEW, state};
use crate::{app::views::stage::Stage, words::say};

#[test]
fn a_line_that_is_pinned_is_unpinned_and_one_of_nobody_is_not() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::ShowBrief(_) => Ok(json!({"is": "shown", "with": {
            "most_lines": 30, "most_tokens": 800, "tokens": 20, "lines": [
                {"text": "Ship on Friday.", "part": "pin", "pinned": true, "pin": 7, "pointers": []},
                {"text": "tokens 412/1200", "part": "budget", "pinned": false, "pointers": []},
            ],
        }})),
        Request::Unpin(_) => Err(Refusal::new(Code::NotFound, "gone", "")),
        other => panic!("{other:?}"),
    });
    state::read(stage.app);
    stage.settle();
    stage.asked();
    let all = stage.app.views.brief;
    let open = || all.inbox.open.get_untracked();
    assert_eq!(open().as_deref(), Some("Ship on Friday."));
    assert!(!stage.press("o"), "it has no source");
    assert!(stage.press("p"));
    let asked = stage.asked();
    assert_eq!(asked, [Request::Unpin(Unpinning::Pin { pin: 7 })]);
    assert!(all.pin_refused.get_untracked().is_some());
    assert!(stage.press("j"));
    assert_eq!(open().as_deref(), Some("tokens 412/1200"));
    assert!(!stage.press("p"));
    // The person begins a line of their own, which stays while others come.
    assert!(stage.press_shift("P"));
    assert!(all.draft.get_untracked().is_some());
}

/// If the last change cannot be undone, the first press of the undo key says so and undoes nothing.
#[test]
fn undo_says_that_a_pin_is_not_undone_before_it_goes_on() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::ShowBrief(_) => Ok(json!({"is": "shown", "with": {
            "most_lines": 30, "most_tokens": 800, "tokens": 20, "lines": [
                {"text": "Ship on Friday.", "part": "pin", "pinned": true, "pin": 7, "pointers": []},
            ],
        }})),
        Request::Unpin(_) => Ok(json!({"is": "brief", "with": {"lines": [], "tokens": 0}})),
        Request::Feed(_) => {
            Ok(json!({"is": "feed", "with": {"entries": [], "head": 1, "engrams": 0}}))
        }
        other => panic!("{other:?}"),
    });
    let told = || stage.app.frame.toast.get_untracked().map(|it| it.text);
    state::read(stage.app);
    stage.settle();
    assert!(stage.press("p"));
    stage.settle();
    stage.asked();
    assert!(stage.press("z"));
    stage.settle();
    assert_eq!(told().as_deref(), Some(say::notice::NOT_UNDONE));
    assert_eq!(stage.asked(), []);
    assert!(stage.press("z"));
    stage.settle();
    assert!(matches!(stage.asked()[..], [Request::Feed(_)]));
    assert_eq!(told().as_deref(), Some(say::notice::NO_UNDO));
    let toast = stage.app.frame.toast.get_untracked();
    assert!(toast.is_some_and(|it| it.is_error), "nothing was done");
}
