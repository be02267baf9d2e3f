//! Puts an app of the gallery into a state.

use engram_model::{Filter, StatusReply};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::made_up::{engrams, repositories};
use crate::{
    app::{
        dom,
        engine::connection::Link,
        frame::Toast,
        reading::{Closing, Panel},
        state::App,
        views::{
            drift,
            feed::gallery::{load, past},
        },
        write,
    },
    words::State,
};

/// Opens the first claim in this state.
pub(crate) fn read(app: App, state: State) {
    past(app);
    let now = app.clock.get_untracked().now;
    let id = untrack(|| {
        app.list.with_feed(|feed| {
            let found = feed.iter().find(|it| feed.state(it, now) == state);
            found.map(|it| it.id)
        })
    });
    app.reading.selected.set(id);
}

pub(crate) fn no_drift(app: App) {
    app.view.set(&drift::VIEW);
    load(app, &[], Filter::default());
    status(app, 0);
}

fn reply(engrams: u64, drifted: u64, spending: &Value) -> Option<StatusReply> {
    let status = json!({
        "status": "ready", "next": "", "engrams": engrams, "head": 8, "indexed": 8, "agents": 4, "version": "1.0",
        "project": {"name": "shop", "branch": "main"}, "home": "~/.engram",
        "drifted": drifted, "conflicts": 4, "requests": 2, "spending": spending,
    });
    serde_json::from_value(status).ok()
}

/// Sets the status of a home with this many claims in doubt.
pub(crate) fn status(app: App, drifted: u64) {
    app.status.set(reply(1_284, drifted, &Value::Null));
}

/// Opens several repositories, one of them in front.
pub(crate) fn several(app: App) {
    status(app, 3);
    app.repositories.front.set(Some("~/code/shop".to_owned()));
    app.repositories.opened.set(repositories());
}

/// Sets the status of an empty home.
pub(crate) fn empty(app: App) {
    app.status.set(reply(0, 0, &Value::Null));
    app.connection.link.set(Link::Live);
}

/// Shows an agent that has read this many spans.
pub(crate) fn spending(app: App, spans: u32) {
    let spending = json!({"agent": "programmer-2", "until": "2100-01-01T00:00:00Z", "budget": {
        "turn": "1", "repo_spans": {"used": spans, "limit": 3}, "artifact_sections": {"used": 0, "limit": 2},
        "sam_items": {"used": 1, "limit": 2}, "tokens": {"used": 206 * spans, "limit": 1_200}}});
    app.status.set(reply(8, 0, &spending));
    app.connection.link.set(Link::Live);
}

pub(crate) fn lost(app: App) {
    load(app, &engrams()[..2], Filter::default());
    app.connection.link.set(Link::Lost);
    app.connection.lost_at.set(Some(dom::clock().now));
}

pub(crate) fn chosen(app: App, index: usize) {
    let all = engrams();
    load(app, &all, Filter::default());
    app.reading.selected.set(all.get(index).map(|it| it.id));
}

pub(crate) fn reading(app: App, panel: Panel) {
    chosen(app, 0);
    app.reading.panel.set(Some(panel));
}

pub(crate) fn history(app: App) {
    chosen(app, 0);
    app.reading.history.set(true);
}

pub(crate) fn correcting(app: App) {
    chosen(app, 0);
    write::begin_correction(app);
}

pub(crate) fn closing(app: App, closing: Closing) {
    chosen(app, 3);
    app.reading
        .closing
        .set(app.reading.selected.get_untracked().map(|it| (it, closing)));
}

pub(crate) fn say(app: App, is_error: bool) {
    app.frame.toast.set(Some(Toast {
        text: "What happened".to_owned(),
        hint: "And what to do next.".to_owned(),
        is_error,
        undoes: false,
        conflict: None,
    }));
}
