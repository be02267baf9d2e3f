//! Puts an app of the gallery into a state.

use std::sync::Arc;

use engram_model::{
    Change, Code, ConflictFilter, ConflictsReply, Engram, Entry, Evidence, Facets, FeedPage,
    Filter, Kind, Listed, Refusal, SAMPLE, StatusReply,
};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{
    super::{
        batch::Progress,
        connection::{Link, LossReason},
        dom,
        frame::Toast,
        reading::{Closing, Panel},
        state::App,
        views::{drift, feed::Search, knowledge},
    },
    KINDS,
    made_up::{self, engrams, repositories},
};
use crate::{
    app::{
        views::{
            self,
            conflicts::{
                self,
                queue::{Queue, Verdict},
            },
            feed,
        },
        write,
    },
    feed::EngramList,
    selection::ClaimAction,
    words::{State, say::many},
};

fn entry(seq: u64, it: &Arc<Engram>, change: Change) -> Entry {
    Entry {
        seq,
        at: it.recorded_at,
        agent: None,
        by: String::new(),
        change,
    }
}

fn stored(it: &Arc<Engram>) -> Change {
    Change::Stored(Box::new(Engram::clone(it)))
}

fn load(app: App, all: &[Arc<Engram>], filter: Filter) {
    load_page(app, all, filter, None);
}

fn load_page(app: App, all: &[Arc<Engram>], filter: Filter, next: Option<u64>) {
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

pub(super) fn full(app: App) {
    load(app, &engrams(), Filter::default());
}

pub(super) fn paused(app: App) {
    let all = engrams();
    load(app, &all[..3], Filter::default());
    let news = all[3..].iter().map(|it| entry(it.seq, it, stored(it)));
    app.list.feed.update(|feed| {
        feed.live(news.collect(), true);
    });
    app.list.at_top.set(false);
    app.connection.link.set(Link::Live);
}

/// A claim for each way to be past, and the one that took the place of the last.
pub(super) fn past(app: App) {
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

/// Reads the first claim of which this became.
pub(super) fn read(app: App, state: State) {
    past(app);
    let now = app.clock.get_untracked().now;
    let id = app.list.feed.with_untracked(|feed| {
        let found = feed.iter().find(|it| feed.state(it, now) == state);
        found.map(|it| it.id)
    });
    app.reading.selected.set(id);
}

pub(super) fn sample(app: App) {
    let mut all = engrams();
    all.truncate(3);
    for it in &mut all {
        Arc::make_mut(it).tags.push(SAMPLE.to_owned());
    }
    load(app, &all, Filter::default());
}

fn no_such_words() -> Filter {
    Filter {
        text: "no such words".to_owned(),
        kinds: vec![Kind::Fact],
        ..Filter::default()
    }
}

pub(super) fn no_match(app: App) {
    load(app, &[], no_such_words());
}

/// A search that found nothing so far.
pub(super) fn search(app: App, is_stopped: bool) {
    load_page(app, &[], no_such_words(), Some(630_000));
    app.list.page_is_coming.set_value(true); // for ever
    app.list.search.set(Some(Search {
        done: 37,
        is_stopped,
    }));
}

pub(super) fn panel(app: App) {
    let all = engrams();
    let day = dom::clock().now;
    let filter = Filter {
        kinds: vec![Kind::Fact, Kind::Risk],
        until: Some(day),
        ..Filter::default()
    };
    load(app, &all[..2], filter);
    app.list.facets.set(Some(Facets {
        total: 2,
        kinds: KINDS.iter().map(|it| (*it, 1)).collect(),
        roles: vec![("programmer".to_owned(), 2)],
        authors: vec![("architect".to_owned(), 1), (String::new(), 1)],
        verified: vec![(true, 2)],
        health: vec![(Evidence::EvidenceGone, 1)],
        topics: vec![("payments/retries".to_owned(), 1_204)],
        ..Facets::default()
    }));
    app.list.facets_open.set(true);
}

pub(super) fn no_drift(app: App) {
    app.view.set(&drift::VIEW);
    load(app, &[], Filter::default());
    status(app, 0);
}

/// What holds, by topic.
pub(super) fn known(app: App) {
    app.view.set(&knowledge::VIEW);
    full(app);
}

/// What held when the last of these was stored.
pub(super) fn held(app: App, all: &[Arc<Engram>]) {
    app.view.set(&knowledge::VIEW);
    let filter = Filter {
        held_at: engrams().iter().map(|it| it.valid_from).max(),
        ..Filter::default()
    };
    load(app, all, filter);
    app.reading.selected.set(all.first().map(|it| it.id));
}

/// The same, on its way.
pub(super) fn held_unread(app: App) {
    held(app, &[]);
    app.list.feed.update(EngramList::clear);
}

/// The conflicts, the one at this place open.
pub(super) fn conflicts(app: App, at: usize) {
    status(app, 0);
    app.view.set(&conflicts::VIEW);
    let conflicts = made_up::conflicts();
    let it = app.views.conflicts;
    it.inbox.open.set(conflicts.get(at).map(|it| it.id));
    it.queue.set(Some(Queue::of(ConflictsReply {
        open: 4,
        conflicts,
        omitted: None,
        ..ConflictsReply::default()
    })));
}

/// A wording of both claims is written.
pub(super) fn merging(app: App) {
    conflicts(app, 0);
    if let Some(it) = untrack(|| conflicts::conflict(app)) {
        conflicts::begin_merge(app, &it);
    }
}

/// A verdict waits for its reason.
pub(super) fn allowing(app: App) {
    conflicts(app, 1);
    app.views.conflicts.wants_reason.set(true);
}

/// A verdict was refused.
pub(super) fn judged_before(app: App) {
    conflicts(app, 0);
    app.views.conflicts.verdict_refused.set(Some(Refusal::new(
        Code::AlreadySettled,
        "this conflict was settled by programmer-2",
        "Read the verdict; undo it to give another.",
    )));
}

/// Some rows are selected.
pub(super) fn conflicts_chosen(app: App) {
    conflicts(app, 0);
    let rows = app.views.conflicts.queue.with_untracked(|it| {
        let rows = it.iter().flat_map(Queue::rows);
        rows.take(3).cloned().collect::<Vec<_>>()
    });
    app.views
        .conflicts
        .chosen
        .update(|it| it.add(&rows, |it| Verdict::First.fits(it)));
}

/// Nothing waits.
pub(super) fn no_conflicts(app: App) {
    status(app, 0);
    app.view.set(&conflicts::VIEW);
    app.views.conflicts.queue.set(Some(Queue::default()));
}

/// Nothing passes the filter.
pub(super) fn no_such_conflicts(app: App) {
    no_conflicts(app);
    app.views.conflicts.filter.set(ConflictFilter {
        topic: Some("payments/webhooks".to_owned()),
        status: Listed::Dismissed,
        ..ConflictFilter::default()
    });
}

/// The list is on its way, or was refused.
pub(super) fn unread_conflicts(app: App, refusal: Option<Refusal>) {
    app.view.set(&conflicts::VIEW);
    app.views.conflicts.inbox.refused.set(refusal);
}

fn reply(engrams: u64, drifted: u64, spending: &Value) -> Option<StatusReply> {
    let status = json!({
        "status": "ready", "next": "", "engrams": engrams, "head": 8, "indexed": 8, "agents": 4, "version": "1.0",
        "project": {"name": "shop", "branch": "main"}, "home": "~/.engram",
        "drifted": drifted, "conflicts": 4, "requests": 2, "spending": spending,
    });
    serde_json::from_value(status).ok()
}

/// A home with this many claims in doubt.
pub(super) fn status(app: App, drifted: u64) {
    app.status.set(reply(1_284, drifted, &Value::Null));
}

/// Several repositories, one of them in front.
pub(super) fn several(app: App) {
    status(app, 3);
    app.repositories.front.set(Some("~/code/shop".to_owned()));
    app.repositories.opened.set(repositories());
}

/// A home without anything in it.
pub(super) fn empty(app: App) {
    app.status.set(reply(0, 0, &Value::Null));
    app.connection.link.set(Link::Live);
}

/// An agent that has read so many spans.
pub(super) fn spending(app: App, spans: u32) {
    let spending = json!({"agent": "programmer-2", "until": "2100-01-01T00:00:00Z", "budget": {
        "turn": "1", "repo_spans": {"used": spans, "limit": 3}, "artifact_sections": {"used": 0, "limit": 2},
        "sam_items": {"used": 1, "limit": 2}, "tokens": {"used": 206 * spans, "limit": 1_200}}});
    app.status.set(reply(8, 0, &spending));
    app.connection.link.set(Link::Live);
}

pub(super) fn lost(app: App) {
    load(app, &engrams()[..2], Filter::default());
    app.connection.link.set(Link::Lost);
    app.connection.lost_at.set(Some(dom::clock().now));
}

pub(super) fn stale(app: App) {
    lost(app);
    app.connection.lost_why.set(Some(LossReason::Token));
}

pub(super) fn homeless(app: App) {
    lost(app);
    let message = "the home at /home/ada/.local/share/engram was moved, deleted or replaced";
    app.connection
        .lost_why
        .set(Some(LossReason::Refused(Refusal::new(
            Code::StoreGone,
            message,
            "",
        ))));
}

pub(super) fn chosen(app: App, index: usize) {
    let all = engrams();
    load(app, &all, Filter::default());
    app.reading.selected.set(all.get(index).map(|it| it.id));
}

/// The first rows, selected, and the question about them.
pub(super) fn picked(app: App, asking: Option<ClaimAction>) {
    let all = engrams();
    load(app, &all, Filter::default());
    let rows = untrack(|| feed::rows(app));
    app.list.choice.rows.update(|it| it.add(&rows, |_| true));
    app.list.choice.asking.set(asking);
}

/// A run over many claims.
pub(super) fn busy(app: App) {
    picked(app, None);
    app.batch.progress.set(Some(Progress {
        verb: many::CONFIRM.0,
        done: 212,
        of: 1_000,
    }));
}

/// The first row, shown whole.
pub(super) fn open(app: App) {
    let all = engrams();
    load(app, &all[..3], Filter::default());
    app.reading.selected.set(all.first().map(|it| it.id));
    feed::toggle_row(app);
}

pub(super) fn reading(app: App, panel: Panel) {
    chosen(app, 0);
    app.reading.panel.set(Some(panel));
}

pub(super) fn history(app: App) {
    chosen(app, 0);
    app.reading.history.set(true);
}

pub(super) fn correcting(app: App) {
    chosen(app, 0);
    write::begin_correction(app);
}

pub(super) fn closing(app: App, closing: Closing) {
    chosen(app, 3);
    app.reading
        .closing
        .set(app.reading.selected.get_untracked().map(|it| (it, closing)));
}

pub(super) fn say(app: App, is_error: bool) {
    app.frame.toast.set(Some(Toast {
        text: "What happened".to_owned(),
        hint: "And what to do next.".to_owned(),
        is_error,
        undoes: false,
    }));
}
