//! What is new in every state, for the gallery.

use std::sync::Arc;

use engram_model::{NewsReply, Refusal};
use jiff::SignedDuration;
use leptos::prelude::*;
use serde_json::json;

use super::{
    VIEW,
    detail::Detail,
    list::List,
    state::{RowKey, key_of},
};
use crate::app::{
    gallery::{
        Frame, Part,
        made_up::{engrams, refusal},
        set,
    },
    state::App,
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Today">
            <Frame title="two repositories" set=show><List /></Frame>
            <Frame title="nothing new" set=none><List /></Frame>
            <Frame title="nothing new, but something waits" set=waiting><List /></Frame>
            <Frame title="on its way" set=|app| unread(app, None)><List /></Frame>
            <Frame title="not read" set=|app| unread(app, Some(refusal()))><List /></Frame>
            <Frame title="claims that expire soon" set=ending><List /></Frame>
            <Frame title="a row" set=show><Detail /></Frame>
            <Frame title="the row about claims that expire soon" set=ending><Detail /></Frame>
        </Part>
    }
}

/// Shows news of each kind in two repositories.
fn show(app: App) {
    set::status(app, 0);
    app.view.set(&VIEW);
    let row = |project: u32, what: &str, by: &str, count: u64, text: &str| {
        let name = if project == 0 { "shop" } else { "ledger" };
        json!({"project": format!("{project:026}"), "repository": name, "path": "~/code/shop", "what": what, "by": by, "count": count, "at": app.clock.get_untracked().now,
            "seq": 9, "id": format!("{:026}", 7), "text": text})
    };
    let reply = json!({"head": 9, "is_cut": true, "rows": [
        row(0, "contradicted", "programmer-1", 2, "The wallet lock is released after 3 minutes."),
        row(0, "asked", "reviewer", 1, "repo:src/ledger.rs#L1-L40"),
        row(0, "drifted", "", 4, ""),
        row(0, "learned", "programmer-1", 12, "Retries use full jitter, 20 s at most; whoever waits longer gives up and leaves the payment to a person."),
        row(1, "learned", "מתכנת-2", 1, "הקובץ retry.rs קורא ל-delay פעמיים."),
    ]});
    let reply: Option<NewsReply> = serde_json::from_value(reply).ok();
    let first = reply.as_ref().and_then(|it| it.rows.first().map(key_of));
    app.views.today.known.set(reply);
    app.views.today.inbox.open.set(first.map(RowKey::News));
}

/// Shows claims that are about to end above the news.
fn ending(app: App) {
    show(app);
    let now = app.clock.get_untracked().now;
    let mut all = engrams();
    for (engram, hours) in all.iter_mut().zip([5, 3, 20]) {
        let engram = Arc::make_mut(engram);
        engram.ttl = "P7D".parse().ok();
        engram.valid_from = now - SignedDuration::from_hours(7 * 24 - hours);
        engram.expires_at = Some(now + SignedDuration::from_hours(hours));
    }
    app.views.today.with_ttl.set(Some(all));
    app.views.today.inbox.open.set(Some(RowKey::Ending));
}

/// Shows that nothing is new.
fn none(app: App) {
    set::status(app, 0);
    app.view.set(&VIEW);
    app.views.today.known.set(Some(NewsReply::default()));
}

/// Shows that nothing is new while earlier conflicts wait.
fn waiting(app: App) {
    none(app);
    app.repositories.others.set(3);
}

fn unread(app: App, refusal: Option<Refusal>) {
    app.view.set(&VIEW);
    app.views.today.inbox.refused.set(refusal);
}
