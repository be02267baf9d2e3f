//! What belongs to another repository, and the way there.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{EngramId, Recent, Refusal, Request};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{follow_link, open_by_number};
use crate::app::{
    reading,
    state::App,
    views::{feed, stage::Stage},
};

const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn here(app: App) {
    let status = json!({"status": "ready", "next": "", "engrams": 1, "head": 8, "indexed": 8, "agents": 0, "version": "1",
        "project": {"id": format!("{:026}", 1), "name": "shop", "root": "/code/shop"}});
    let status: engram_model::StatusReply = serde_json::from_value(status).unwrap();
    app.repositories.show(status.project.as_ref());
    app.status.set(Some(status));
}

/// The claim belongs to the repository at `/code/flask`.
fn answer(request: &Request) -> Result<Value, Refusal> {
    Ok(match request {
        Request::Get(id) => json!({"is": "engram", "with": {
            "id": id, "seq": 2, "lineage_id": id, "project": format!("{:026}", 2), "claim": "It is there.", "kind": "fact",
            "fact_type": "observation", "scope": "project", "topic": "",
            "pointers": [{"type": "repo", "ref": "src/a.rs@HEAD"}],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": "2026-11-20T10:00:00Z", "created_by": "", "source": "agent"},
            "content_hash": "sha256:1", "valid_from": "2026-11-20T10:00:00Z",
            "recorded_at": "2026-11-20T10:00:00Z", "memory_op": "add", "verified": true,
        }}),
        Request::Locate(clues) => {
            let is_known = clues.id.as_deref() == Some(ID) || clues.remote.is_some();
            let found = json!({"name": "flask", "path": "/code/flask", "is_here": false});
            json!({"is": "located", "with": {"found": is_known.then_some(found)}})
        }
        other => panic!("{other:?}"),
    })
}

fn toast(app: App) -> String {
    let toast = app.frame.toast.get_untracked().unwrap();
    format!("{} {}", toast.text, toast.hint)
}

#[test]
fn a_claim_of_another_repository_is_not_shown_here() {
    let stage = Stage::open(&feed::VIEW, answer);
    let app = stage.app;
    here(app);
    let id: EngramId = ID.parse().unwrap();
    app.reading.selected.set(Some(id));
    reading::visit_engram(app, id);
    stage.settle();
    assert!(app.reading.visited.get_untracked().is_none());
    assert_eq!(app.reading.selected.get_untracked(), None);
    let told = toast(app);
    assert!(
        told.contains("flask") && told.contains("/code/flask"),
        "{told}"
    );
    // A link does not open it either: a page in a browser shows one repository.
    app.frame.toast.set(None);
    follow_link(app, &format!("engram://feed/{ID}"));
    stage.settle();
    assert!(toast(app).contains("/code/flask"));
    assert_eq!(app.repositories.root().as_deref(), Some("/code/shop"));
}

#[test]
fn a_link_leads_to_the_repository_that_it_names() {
    for link in [
        format!("engram://feed/{ID}"),
        // The path may come from another machine.
        format!("engram://feed/{ID}?repo=/home/ada/flask"),
        "engram://drift?remote=example.com/team/flask".to_owned(),
    ] {
        let stage = Stage::open_window(&feed::VIEW, answer);
        here(stage.app);
        let opened = opened_after(&stage, |app| follow_link(app, &link));
        assert_eq!(opened.as_deref(), Some("/code/flask"), "{link}");
    }
}

#[test]
fn a_repository_is_brought_in_front_by_its_number_in_the_rail() {
    let stage = Stage::open_window(&feed::VIEW, answer);
    let app = stage.app;
    here(app);
    let recent = |path: &str| -> Recent {
        serde_json::from_value(json!({"name": "x", "path": path})).unwrap()
    };
    let all = vec![recent("/code/shop"), recent("/code/flask")];
    app.repositories.opened.set(all);
    assert_eq!(opened_after(&stage, |app| open_by_number(app, 3)), None);
    let opened = opened_after(&stage, |app| open_by_number(app, 1));
    assert_eq!(opened.as_deref(), Some("/code/shop"));
    let opened = opened_after(&stage, |app| open_by_number(app, 2));
    assert_eq!(opened.as_deref(), Some("/code/flask"));
}

/// A link may name a claim that was never here, or a remote that no repository of this home has.
#[test]
fn a_link_to_what_is_nowhere_opens_nothing_and_says_so() {
    let nowhere = |request: &Request| match request {
        Request::Locate(_) => Ok(json!({"is": "located", "with": {"found": null}})),
        other => answer(other),
    };
    let stage = Stage::open_window(&feed::VIEW, nowhere);
    here(stage.app);
    for link in [
        "engram://drift?remote=example.com/team/gone",
        &format!("engram://feed/{ID}?remote=example.com/team/gone"),
    ] {
        stage.app.frame.toast.set(None);
        let opened = opened_after(&stage, |app| follow_link(app, link));
        assert_eq!(opened, None, "{link}");
        let told = toast(stage.app);
        assert!(told.contains("example.com/team/gone"), "{link}: {told}");
    }
}

#[test]
fn a_link_to_a_repository_that_is_gone_says_where_it_was() {
    let gone = |request: &Request| match request {
        Request::Locate(_) => {
            let found =
                json!({"name": "flask", "path": "/code/flask", "is_here": false, "is_gone": true});
            Ok(json!({"is": "located", "with": {"found": found}}))
        }
        other => answer(other),
    };
    let stage = Stage::open_window(&feed::VIEW, gone);
    here(stage.app);
    let link = format!("engram://feed/{ID}");
    let opened = opened_after(&stage, |app| follow_link(app, &link));
    assert_eq!(opened, None);
    let told = toast(stage.app);
    assert!(
        told.contains("flask") && told.contains("/code/flask"),
        "{told}"
    );
}

/// The repository that is to be opened next; nothing is opened.
fn opened_after(stage: &Stage, act: impl FnOnce(App)) -> Option<String> {
    let app = stage.app;
    // Acts as if another one were being opened.
    app.repositories.is_switching.set_value(true);
    act(app);
    stage.settle();
    let wanted = app
        .repositories
        .wanted
        .try_update_value(Option::take)
        .flatten();
    app.repositories.is_switching.set_value(false);
    wanted.map(|it| it.path)
}
