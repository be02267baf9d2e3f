//! Which agent is open.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{AgentEdit, Request};
use leptos::prelude::*;
use serde_json::json;

use super::{VIEW, state};
use crate::app::views::stage::Stage;

#[test]
fn an_agent_that_there_is_not_is_said_to_be_gone() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Agents => Ok(json!({"is": "agents", "with": {"agents": [], "more": 0}})),
        other => panic!("{other:?}"),
    });
    let app = stage.app;
    let open = app.views.agents.inbox.open;
    // Until the agents are read, any name may be one of theirs.
    (VIEW.address.open)(app, Some("ada"));
    assert!(open.get_untracked().is_some());
    state::read(app);
    stage.settle();
    assert_eq!(open.get_untracked(), None);
    let is_error = |app: crate::app::state::App| app.frame.toast.get_untracked().unwrap().is_error;
    assert!(is_error(app));
    // An address may also name one later.
    app.frame.toast.set(None);
    (VIEW.address.open)(app, Some("ada"));
    assert_eq!(open.get_untracked(), None);
    assert!(is_error(app));
}

#[test]
fn a_hidden_agent_is_shown_again_by_undo() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Agents => {
            let meter = json!({"used": 0, "limit": 1});
            let budget = json!({
                "turn": "", "repo_spans": meter, "artifact_sections": meter, "sam_items": meter,
                "tokens": meter,
            });
            let at = "2026-11-20T10:00:00Z";
            Ok(json!({"is": "agents", "with": {"more": 0, "agents": [{
                "agent": "ada", "label": "ada", "role": null, "parent": null,
                "run": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "turn": "", "first_seen": at, "last_call": at,
                "stored": 0, "budget": budget, "inline_tokens": meter,
                "grants": {"open": 0, "spent": 0}, "refusals": 0, "until": at,
            }]}}))
        }
        Request::ChangeAgent(_) => {
            Ok(json!({"is": "answered", "with": {"id": "ada", "state": "hidden"}}))
        }
        other => panic!("{other:?}"),
    });
    let changes = || {
        let asked = stage.asked().into_iter();
        let change = asked.filter_map(|it| match it {
            Request::ChangeAgent(change) => Some(change.what),
            _ => None,
        });
        change.collect::<Vec<_>>()
    };
    state::read(stage.app);
    stage.settle();
    assert!(stage.press_shift("H"));
    assert_eq!(changes(), [AgentEdit::Hide]);
    let toast = stage.app.frame.toast.get_untracked().unwrap();
    assert!(
        toast.undoes && toast.hint.contains("F to list"),
        "{toast:?}"
    );
    assert!(stage.press("z"));
    assert_eq!(changes(), [AgentEdit::Show]);
    let toast = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(toast.text, "Shown again: ada");
}
