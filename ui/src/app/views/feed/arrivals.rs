//! What arrives while the list is shown.

use engram_model::{Code, ConflictStatus, Entry, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{look, state};
use crate::{
    app::{dom, state::App, views::feed},
    feed::EngramList,
};

/// Adds entries of the journal to the list and to whatever else they change.
pub(crate) fn take_entries(app: App, entries: Vec<Entry>) {
    app.clock.set(dom::clock());
    let hold = look::holds_back(app);
    let was_first_run = untrack(|| feed::is_first_run(app));
    let was_nothing_new = look::is_nothing_new(app);
    let read = look::listed_open_engram(app);
    app.stale.follow(&entries);
    let new = app
        .list
        .feed
        .try_update(|feed| feed.live(entries, hold))
        .unwrap_or(0);
    ask_about_conflicts(app);
    // The first claim opens, even in place of a claim of a removed sample.
    if was_first_run && new > 0 && !untrack(|| state::is_listed(app)) {
        state::select_newest(app);
    }
    look::see_arrived(app, was_nothing_new);
    look::follow_open_version(app, read);
    app.frame.announce(new);
}

/// Asks whether conflicts that were settled, reopened or lost a side are still open.
fn ask_about_conflicts(app: App) {
    let doubtful = app
        .list
        .feed
        .try_update_untracked(EngramList::take_doubtful);
    for id in doubtful.unwrap_or_default() {
        spawn_local(async move {
            let between = match app.ask(ask::Conflict(id)).await {
                Ok(conflict) if conflict.status == ConflictStatus::Open => {
                    vec![conflict.a.id, conflict.b.id]
                }
                Ok(_) => Vec::new(),
                Err(refusal) if refusal.code == Code::NotFound => Vec::new(),
                Err(refusal) => return dom::log(&refusal.to_string()),
            };
            app.list.feed.update(|it| it.learn_conflict(id, &between));
        });
    }
}
