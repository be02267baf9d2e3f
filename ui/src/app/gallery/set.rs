//! Puts an app of the gallery into a state.

use std::sync::Arc;

use engram_model::{Change, Engram, Entry, FeedPage, Filter, StatusReply};
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
        views::{self, drift},
        write,
    },
    words::State,
};

fn entry(seq: u64, engram: &Arc<Engram>, change: Change) -> Entry {
    Entry {
        seq,
        at: engram.recorded_at,
        agent: None,
        by: String::new(),
        change,
    }
}

fn stored(engram: &Arc<Engram>) -> Change {
    Change::Stored(Box::new(Engram::clone(engram)))
}

pub(crate) fn load(app: App, all: &[Arc<Engram>], filter: Filter) {
    load_page(app, all, filter, None);
}

pub(crate) fn load_page(app: App, all: &[Arc<Engram>], filter: Filter, next: Option<u64>) {
    let entries = all.iter().rev().map(|it| entry(it.seq, it, stored(it)));
    let page = FeedPage {
        entries: entries.collect(),
        head: all.len() as u64,
        engrams: all.len() as u64,
        next,
        ..FeedPage::default()
    };
    app.list.filter.set(filter);
    app.list
        .feed
        .update(|feed| feed.load(page, untrack(|| views::asked(app))));
}

pub(crate) fn full(app: App) {
    load(app, &engrams(), Filter::default());
}

pub(crate) fn paused(app: App) {
    let all = engrams();
    load(app, &all[..3], Filter::default());
    let news = all[3..].iter().map(|it| entry(it.seq, it, stored(it)));
    app.list.feed.update(|feed| {
        feed.live(news.collect(), true);
    });
    app.list.at_top.set(false);
    app.connection.link.set(Link::Live);
}

/// Lists one claim for each way to end, and the claim that replaced the last one.
pub(crate) fn past(app: App) {
    let mut all = engrams();
    let [forgotten, erased, expired, replaced, newer, ..] = &mut all[..] else {
        return;
    };
    Arc::make_mut(expired).expires_at = Some(app.clock.get_untracked().now);
    Arc::make_mut(newer).supersedes = Some(replaced.id);
    let news = vec![
        entry(5, newer, stored(newer)),
        entry(6, forgotten, Change::Forgotten(forgotten.id)),
        entry(7, erased, Change::Redacted(erased.id)),
    ];
    load(app, &all[..4], Filter::default());
    app.list.feed.update(|feed| {
        feed.live(news, false);
    });
}

/// Opens the first claim in this state.
pub(crate) fn read(app: App, state: State) {
    past(app);
    let now = app.clock.get_untracked().now;
    let id = app.list.feed.with_untracked(|feed| {
        let found = feed.iter().find(|it| feed.state(it, now) == state);
        found.map(|it| it.id)
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
    }));
}
