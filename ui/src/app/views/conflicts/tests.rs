//! What keys do among conflicts.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Mutex;

use engram_model::{Code, ConflictFilter, ConflictId, Listed, Refusal, Request, Settle};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, explain, gallery, state};
use crate::app::{engine::stale, views::stage::Stage};

/// What the stage of a language model answers.
static MODEL: Mutex<Value> = Mutex::new(Value::Null);

fn stage() -> Stage {
    stage_with(|request| match request {
        Request::Resolve(_) => Err(Refusal::new(Code::AlreadySettled, "settled", "")),
        _ => list_reply(request),
    })
}

fn list_reply(request: &Request) -> Result<Value, Refusal> {
    match request {
        Request::Conflicts(_) => Ok(json!({
            "is": "conflicts", "with": {"conflicts": gallery::all(), "open": 4, "omitted": null, "due": 0},
        })),
        other => panic!("{other:?}"),
    }
}

fn stage_with(answer: fn(&Request) -> Result<Value, Refusal>) -> Stage {
    let stage = Stage::open(&VIEW, answer);
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

/// The counts of the rail are read again with the list.
#[test]
fn a_verdict_reads_the_counts_again() {
    let stage = stage_with(|request| match request {
        Request::Resolve(resolve) => Ok(json!({"is": "resolved", "with": {
            "conflict": resolve.conflict, "status": "resolved", "seq": 1, "closed": [], "stored": [],
        }})),
        Request::Status => Err(Refusal::new(Code::StoreGone, "gone", "")),
        _ => list_reply(request),
    });
    stale::follow_stale(stage.app);
    stage.settle();
    stage.asked();
    assert!(stage.press("a"));
    stage.settle();
    assert!(stage.asked().contains(&Request::Status));
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

#[test]
fn a_reason_is_of_the_conflicts_for_which_it_was_written() {
    let stage = stage();
    let all = stage.app.views.conflicts;
    stage.press("v");
    all.chosen_reason.set("Two services".to_owned());
    // Nothing is selected any more, and then another.
    stage.press("v");
    assert_eq!(all.chosen_reason.get_untracked(), "");
    // A conflict's own reason stays with it.
    let first = open(&stage).unwrap();
    all.write(first, |it| it.reason = "Measured".to_owned());
    stage.press("j");
    let other = open(&stage).unwrap();
    assert_eq!(untrack(|| all.draft_of(other)).reason, "");
    assert_eq!(untrack(|| all.draft_of(first)).reason, "Measured");
}

#[test]
fn a_notice_quotes_what_holds_now() {
    for (key, holds) in [
        ("a", Some("The auth service allows 1000 req/s per IP.")),
        (
            "b",
            Some("Auth is limited to 2k requests per second per IP."),
        ),
        ("s", Some("The auth service allows 1000 req/s per IP.")),
        ("x", None),
    ] {
        let stage = stage_with(|request| match request {
            Request::Resolve(resolve) => Ok(json!({
                "is": "resolved", "with": {
                    "conflict": resolve.conflict, "status": "resolved", "seq": 1,
                    "closed": [], "stored": [],
                },
            })),
            _ => list_reply(request),
        });
        assert!(stage.press(key));
        let toast = stage.app.frame.toast.get_untracked().unwrap();
        let quoted = holds.map(|it| format!("“{it}”")).unwrap_or_default();
        assert_eq!(toast.hint, quoted, "{key}");
        assert!(toast.title().ends_with('.'), "two sentences");
    }
}

#[test]
fn undo_goes_back_step_by_step_as_the_journal_has_it() {
    let stage = stage_with(|request| match request {
        Request::Feed(_) => Ok(json!({"is": "feed", "with": {
            "entries": [
                {"seq": 3, "at": "2026-01-08T10:03:00Z", "by": "user", "change": {"kind": "resolved",
                    "with": {"id": format!("{:026}", 7), "status": "open"}}},
                {"seq": 2, "at": "2026-01-08T10:02:00Z", "by": "user", "change": {"kind": "resolved",
                    "with": {"id": format!("{:026}", 7), "status": "resolved", "how": "winner"}}},
                {"seq": 1, "at": "2026-01-08T10:01:00Z", "by": "user", "change": {"kind": "resolved",
                    "with": {"id": format!("{:026}", 6), "status": "dismissed", "how": "dismissed"}}},
            ],
            "head": 3, "engrams": 2,
        }})),
        Request::Conflict(_) => Ok(json!({"is": "conflict", "with": gallery::all()[0]})),
        Request::Resolve(resolve) => Ok(json!({"is": "resolved", "with": {
            "conflict": resolve.conflict, "status": "open", "seq": 4, "closed": [], "stored": [],
        }})),
        _ => list_reply(request),
    });
    // Nothing was done in this window; the verdict of entry 2 was undone already.
    assert!(stage.press("z"));
    let undone = stage.asked().into_iter().find_map(|request| match request {
        Request::Resolve(resolve) => Some((resolve.conflict.to_string(), resolve.how)),
        _ => None,
    });
    assert_eq!(undone, Some((format!("{:026}", 6), Settle::Undo)));
    let toast = stage.app.frame.toast.get_untracked().unwrap();
    assert!(
        toast.text.contains(crate::words::say::steps::DISMISSED),
        "{toast:?}"
    );
}

#[test]
fn one_line_says_who_judged_and_how_sure_that_is() {
    use crate::words::say::conflicts::who_judged;
    use engram_model::{
        ConflictStatus::{Open, Possible},
        Tier,
    };
    for (status, tier, by, score, want) in [
        (
            Open,
            Tier::Numeric,
            "",
            Some(0.92),
            "Judged by a rule that compares quantities, 92% sure that both are about the same thing. Found",
        ),
        (
            Open,
            Tier::Entity,
            "",
            None,
            "Judged by a rule that compares values. Found",
        ),
        (
            Open,
            Tier::Llm,
            "",
            Some(0.5),
            "Judged by a large language model, 50% sure. Found",
        ),
        (
            Open,
            Tier::Agent,
            "ada",
            Some(0.83),
            "Judged by ada (nearness 0.83). Found",
        ),
        (
            Possible,
            Tier::Agent,
            "",
            Some(0.83),
            "Proposed because they are near each other (nearness 0.83), and not judged yet. Found",
        ),
        (
            Possible,
            Tier::Agent,
            "ada, you",
            None,
            "Proposed because they are near each other, and judged by ada, you. Found",
        ),
    ] {
        assert_eq!(who_judged(status, tier, by, score), want);
    }
}

#[test]
fn what_was_confirmed_is_opened_by_the_key_of_the_notice() {
    let stage = stage_with(|request| match request {
        Request::Conflicts(_) => {
            let mut possible = json!(gallery::all()[0]);
            possible["status"] = json!("possible");
            Ok(json!({"is": "conflicts", "with": {
                "conflicts": [possible], "open": 0, "omitted": null, "due": 0,
            }}))
        }
        Request::Resolve(resolve) => Ok(json!({"is": "resolved", "with": {
            "conflict": resolve.conflict, "status": "open", "seq": 1, "closed": [], "stored": [],
        }})),
        Request::Conflict(_) => Ok(json!({"is": "conflict", "with": gallery::all()[0]})),
        other => panic!("{other:?}"),
    });
    let all = stage.app.views.conflicts;
    all.filter.update(|it| it.status = Listed::Possible);
    let id = open(&stage);
    assert!(!stage.press("g"), "no notice leads anywhere");
    assert!(stage.press("m"), "one claim may replace both");
    assert!(stage.press_shift("Y"));
    stage.settle();
    let toast = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(toast.conflict, id);
    assert!(toast.undoes);
    assert!(stage.press("g"));
    assert_eq!(open(&stage), id);
    assert_eq!(all.filter.get_untracked().status, Listed::Open);
}

#[test]
fn a_row_says_what_a_rule_found_or_who_judged() {
    use crate::words::say::conflicts::how_found;
    use engram_model::{
        ConflictStatus::{Open, Possible},
        Tier,
    };
    for (status, tier, by, want) in [
        (Possible, Tier::Agent, "", "not judged yet"),
        (Possible, Tier::Agent, "ada", "judged by ada"),
        (Open, Tier::Agent, "ada, you", "judged by ada, you"),
        (Open, Tier::Agent, "", "judged by an agent or you"),
        (Open, Tier::Entity, "you", "values differ"),
    ] {
        assert_eq!(how_found(status, tier, by), want);
    }
}

/// Whoever comes by a key or a link finds it in the list, whatever was listed before.
#[test]
fn a_conflict_that_is_sought_is_listed_though_the_filter_left_it_out() {
    let stage = stage_with(|request| match request {
        Request::Conflicts(filter) if filter.status == Listed::Possible => Ok(json!({
            "is": "conflicts", "with": {"conflicts": [], "open": 4, "omitted": null, "due": 0},
        })),
        Request::Conflict(id) => {
            let mut all = gallery::all().into_iter();
            Ok(json!({"is": "conflict", "with": all.find(|it| it.id == *id)}))
        }
        _ => list_reply(request),
    });
    let all = stage.app.views.conflicts;
    let id = gallery::all()[1].id;
    let possible = ConflictFilter {
        status: Listed::Possible,
        ..ConflictFilter::default()
    };
    all.filter.set(possible.clone());
    state::read(stage.app);
    stage.settle();
    assert_eq!(open(&stage), None);
    // Another list leaves the person's filter alone.
    state::select_conflict(stage.app, id);
    state::read(stage.app);
    stage.settle();
    assert_eq!(all.filter.get_untracked(), possible);
    state::read_no_conflict(stage.app);
    (VIEW.address.open)(stage.app, Some(&id.to_string()));
    state::read(stage.app);
    stage.settle();
    assert_eq!(all.filter.get_untracked(), ConflictFilter::default());
    state::read(stage.app);
    stage.settle();
    assert_eq!(open(&stage), Some(id));
}

#[test]
fn the_undo_of_several_verdicts_returns_to_the_first() {
    let stage = stage_with(|request| match request {
        Request::Resolve(resolve) => Ok(json!({"is": "resolved", "with": {
            "conflict": resolve.conflict, "status": "open", "seq": 1, "closed": [], "stored": [],
        }})),
        _ => list_reply(request),
    });
    let first = open(&stage);
    for key in ["v", "j", "v", "x"] {
        assert!(stage.press(key), "{key}");
    }
    assert_ne!(open(&stage), first);
    state::read(stage.app);
    stage.settle();
    assert!(stage.press("z"));
    assert_eq!(open(&stage), first);
}

#[test]
fn a_language_model_is_offered_if_one_is_chosen() {
    let model = |state: &str| {
        json!({"models": [{"task": "llm", "name": null, "version": null,
        "state": state, "why": null, "how": "engram models"}]})
    };
    let stage = stage_with(|request| match request {
        Request::Models => Ok(json!({"is": "models", "with": MODEL.lock().unwrap().clone()})),
        _ => list_reply(request),
    });
    for (state, want) in [("off", false), ("on", true), ("broken", true)] {
        *MODEL.lock().unwrap() = model(state);
        explain::read_model(stage.app);
        stage.settle();
        assert_eq!(explain::may_explain(stage.app), want, "{state}");
    }
}
