//! What keys do among conflicts.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{Code, ConflictId, Refusal, Request, Settle};
use leptos::prelude::*;
use serde_json::json;

use super::{VIEW, gallery, state};
use crate::app::views::stage::Stage;

fn stage() -> Stage {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Conflicts(_) => Ok(json!({
            "is": "conflicts", "with": {"conflicts": gallery::all(), "open": 4, "omitted": null, "due": 0},
        })),
        Request::Resolve(_) => Err(Refusal::new(Code::AlreadySettled, "settled", "")),
        other => panic!("{other:?}"),
    });
    state::read(stage.app);
    stage.settle();
    stage.asked();
    stage
}

fn open(stage: &Stage) -> Option<ConflictId> {
    stage.app.views.conflicts.inbox.open.get_untracked()
}

#[test]
fn a_verdict_is_sent_for_the_one_that_is_open_and_a_refusal_stands_beside_it() {
    let stage = stage();
    let first = gallery::all().remove(0);
    assert_eq!(open(&stage), Some(first.id));
    assert!(stage.press("a"));
    let asked = stage.asked();
    let Some(Request::Resolve(resolve)) = asked.first() else {
        panic!("{asked:?}");
    };
    assert_eq!(resolve.conflict, first.id);
    assert_eq!(resolve.how, Settle::Winner(first.a.id));
    let all = stage.app.views.conflicts;
    let refused = all.verdict_refused.get_untracked();
    assert_eq!(refused.map(|it| it.code), Some(Code::AlreadySettled));
    assert_eq!(open(&stage), Some(first.id), "it is still open");
    stage.press("j");
    assert_ne!(open(&stage), Some(first.id));
    assert_eq!(all.verdict_refused.get_untracked(), None);
}

#[test]
fn selected_conflicts_are_judged_one_after_the_other() {
    let stage = stage();
    let all = stage.app.views.conflicts;
    for key in ["v", "j", "v"] {
        assert!(stage.press(key), "{key}");
    }
    assert!(all.is_any_chosen());
    assert!(!stage.press("m"), "each merge needs words of its own");
    assert!(stage.press("x"));
    let dismissed = stage.asked().into_iter().filter(|request| match request {
        Request::Resolve(resolve) => resolve.how == Settle::Dismiss,
        _ => false,
    });
    assert_eq!(dismissed.count(), 2);
    assert!(stage.press("Escape"));
    assert!(!all.is_any_chosen());
}
