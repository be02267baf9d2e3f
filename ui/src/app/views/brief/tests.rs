//! What keys do in the brief.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, LazyLock};

use engram_model::{
    AgentStatus, Code, Engram, EngramId, Filter, PinInstead, Pinnable, Pinning, Refusal, Request,
    SentTo, Unpinning,
};
use jiff::{SignedDuration, Timestamp};
use leptos::prelude::*;
use serde_json::{from_value, json};

use super::{VIEW, detail, list, pins, state};
use crate::{
    app::{
        gallery::made_up::engrams,
        views::{
            feed::{self, gallery::load},
            stage::Stage,
        },
    },
    words::{Clock, say},
};

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
fn undo_pins_again_and_says_what_is_not_undone_before_it_goes_on() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::ShowBrief(_) => Ok(json!({"is": "shown", "with": {
            "most_lines": 30, "most_tokens": 800, "tokens": 20, "lines": [
                {"text": "Ship on Friday.", "part": "pin", "pinned": true, "pin": 7, "pointers": []},
            ],
        }})),
        Request::Unpin(_) | Request::Pin(_) => {
            Ok(json!({"is": "brief", "with": {"lines": [], "tokens": 0}}))
        }
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
    assert!(stage.app.frame.toast.get_untracked().unwrap().undoes);
    assert!(stage.press("z"));
    stage.settle();
    assert_eq!(stage.asked(), [pin_of_line(7, "Ship on Friday.")]);
    assert_eq!(told().as_deref(), Some(say::notice::UNDONE));
    stage.app.frame.say_final("Done");
    assert!(stage.press("z"));
    stage.settle();
    assert_eq!(told().as_deref(), Some(say::notice::NOT_UNDONE));
    assert_eq!(stage.asked(), []);
    assert!(stage.press("z"));
    stage.settle();
    assert!(matches!(
        stage.asked()[..],
        [Request::Feed(_), Request::Feed(_)]
    ));
    assert_eq!(told().as_deref(), Some(say::notice::NO_UNDO));
    let toast = stage.app.frame.toast.get_untracked();
    assert!(toast.is_some_and(|it| it.is_error), "nothing was done");
}

/// The claim of the feed.
static CLAIM: LazyLock<Arc<Engram>> = LazyLock::new(|| engrams().remove(0));

/// A feed whose only claim was open when the key was pressed.
fn toggled(answer: fn(&Request) -> Result<serde_json::Value, Refusal>) -> (Stage, EngramId) {
    let stage = Stage::open(&feed::VIEW, answer);
    let id = CLAIM.id;
    load(stage.app, std::slice::from_ref(&*CLAIM), Filter::default());
    stage.app.reading.selected.set(Some(id));
    stage.settle();
    stage.asked();
    assert!(stage.press("p"));
    stage.settle();
    (stage, id)
}

fn brief_with(pin: Option<u64>) -> serde_json::Value {
    let id = CLAIM.id;
    let line = |pin: u64| json!({"text": "It holds.", "part": "pin", "pinned": true, "pin": pin, "engram": id, "pointers": []});
    let lines: Vec<_> = pin.into_iter().map(line).collect();
    json!({"lines": lines, "tokens": 0, "most_lines": 30, "most_tokens": 800})
}

#[test]
fn the_same_key_pins_the_open_claim_of_a_list() {
    let (stage, id) = toggled(|request| match request {
        Request::ShowBrief(_) => Ok(json!({"is": "shown", "with": brief_with(None)})),
        Request::Pin(_) | Request::Unpin(_) => {
            Ok(json!({"is": "brief", "with": brief_with(Some(7))}))
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(stage.asked()[1..], [Request::Pin(Pinning::Engram(id))]);
    let toast = stage.app.frame.toast.get_untracked().unwrap();
    assert!(
        toast.undoes && toast.text.starts_with("Pinned"),
        "{toast:?}"
    );
    assert!(stage.press("z"));
    stage.settle();
    assert_eq!(stage.asked(), [Request::Unpin(Unpinning::Pin { pin: 7 })]);
}

#[test]
fn a_claim_that_is_pinned_is_unpinned_and_pinned_again_by_undo() {
    let (stage, id) = toggled(|request| match request {
        Request::ShowBrief(_) => Ok(json!({"is": "shown", "with": brief_with(Some(7))})),
        Request::Pin(_) | Request::Unpin(_) => {
            Ok(json!({"is": "brief", "with": brief_with(Some(8))}))
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(
        stage.asked()[1..],
        [Request::Unpin(Unpinning::Pin { pin: 7 })]
    );
    assert!(stage.press("z"));
    stage.settle();
    let what = Pinnable::Engram(id);
    let again = Pinning::Instead(PinInstead { pin: 7, what });
    assert_eq!(stage.asked(), [Request::Pin(again)]);
}

/// A text in the place of a pin.
fn pin_of_line(pin: u64, text: &str) -> Request {
    let what = Pinnable::Text(text.to_owned());
    Request::Pin(Pinning::Instead(PinInstead { pin, what }))
}

fn line_pinned(pin: u64, text: &str) -> serde_json::Value {
    json!({"text": text, "part": "pin", "pinned": true, "pin": pin, "pointers": []})
}

#[test]
fn a_line_that_is_edited_stays_in_its_place_and_undo_brings_its_words_back() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::ShowBrief(_) => Ok(json!({"is": "shown", "with": {
            "most_lines": 30, "most_tokens": 800, "tokens": 20,
            "lines": [line_pinned(7, "Ship on Friday."), line_pinned(9, "Test first.")],
        }})),
        Request::Pin(_) => Ok(json!({"is": "brief", "with": {
            "lines": [line_pinned(12, "Ship on Monday."), line_pinned(9, "Test first.")], "tokens": 0,
        }})),
        other => panic!("{other:?}"),
    });
    state::read(stage.app);
    stage.settle();
    stage.asked();
    assert!(stage.press_shift("E"));
    let draft = stage.app.views.brief.draft;
    draft.update(|it| it.as_mut().unwrap().text = "Ship on Monday.".to_owned());
    pins::save_draft(stage.app);
    stage.settle();
    assert_eq!(stage.asked()[0], pin_of_line(7, "Ship on Monday."));
    assert!(stage.press("z"));
    stage.settle();
    assert_eq!(stage.asked()[0], pin_of_line(7, "Ship on Friday."));
}

/// A line that reached many agents names the last of them.
#[test]
fn a_line_names_the_agents_that_it_reached_last() {
    let sent = |count: i64| -> Vec<SentTo> {
        let one = |at: i64| {
            let at = Timestamp::UNIX_EPOCH + SignedDuration::from_mins(at);
            from_value(json!({"name": "ada", "agent": format!("a{at}"), "at": at})).unwrap()
        };
        (0..count).map(one).collect()
    };
    let clock = Clock::new(0.0, 0.0);
    let told = |count| detail::sent_in_words(&sent(count), clock);
    assert_eq!(told(0), say::brief::NOT_SENT);
    assert_eq!(told(1), "Sent to ada (1 Jan, 00:00)");
    let many = told(9);
    assert!(many.starts_with("Sent to ada (1 Jan, 00:08), "), "{many}");
    assert!(many.ends_with("ada (1 Jan, 00:04) and 4 more."), "{many}");
}

#[test]
fn agents_of_the_same_name_are_told_apart() {
    let agent = |handle: &str, name: &str, at: &str| -> AgentStatus {
        let meter = json!({"used": 0, "limit": 1});
        let budget = json!({
            "turn": "t", "repo_spans": meter, "artifact_sections": meter, "sam_items": meter,
            "tokens": meter,
        });
        from_value(json!({
            "agent": handle, "label": name, "role": null, "parent": null, "run": format!("{:026}", 1),
            "turn": "t", "last_call": at, "stored": 0, "budget": budget, "inline_tokens": meter,
            "grants": {"open": 0, "spent": 0}, "refusals": 0, "until": at,
        }))
        .unwrap()
    };
    let agents = [
        agent("h1", "codex", "1970-01-01T00:05:00Z"),
        agent("h2", "zed", "1970-01-01T00:04:00Z"),
        agent("h3", "codex", "1970-01-01T00:01:00Z"),
    ];
    let told = list::agents_to_choose(&agents, Clock::new(0.0, 0.0)).into_iter();
    let told: Vec<String> = told.map(|it| it.1).collect();
    let codex = |at| format!("codex · last active 1 Jan, {at}");
    assert_eq!(told, [codex("00:05"), "zed".to_owned(), codex("00:01")]);
}
