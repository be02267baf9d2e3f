//! The feed in every state, for the gallery.

use std::sync::Arc;

use engram_model::{
    AnswerQuality, Change, Code, Engram, Entry, Evidence, Facets, FeedPage, Filter, Kind, Refusal,
    SAMPLE, SearchReply, literal_marks,
};
use leptos::prelude::*;

use super::{ChosenClaimsBar, List, state::listed_rows, toggle_row};
use crate::{
    app::{
        batch::Progress,
        dom,
        engine::connection::{Link, LossReason},
        gallery::{
            Frame, Part,
            made_up::engrams,
            set::{self, lost},
        },
        state::App,
        views,
    },
    feed::EngramList,
    selection::ClaimAction,
    words::say::many,
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Feed">
            <Frame title="each kind, each standing" set=full><List /></Frame>
            <Frame title="forgotten, erased, expired, replaced" set=past><List /></Frame>
            <Frame title="a row that is open" set=open><List /></Frame>
            <Frame title="several are selected" set=|app| picked(app, None)><List /></Frame>
            <Frame title="paused, with news" set=paused><List /></Frame>
            <Frame title="a sample" set=sample><List /></Frame>
            <Frame title="what a search found" set=|app| search(app, AnswerQuality::Strong)><List /></Frame>
            <Frame title="only what is related" set=|app| search(app, AnswerQuality::Weak)><List /></Frame>
            <Frame title="filtered to nothing" set=no_match><List /></Frame>
            <Frame title="no claim in doubt" set=set::no_drift><List /></Frame>
            <Frame title="what it can be limited to" set=panel><List /></Frame>
            <Frame title="disconnected" set=set::lost><List /></Frame>
            <Frame title="started again, with another token" set=stale><List /></Frame>
            <Frame title="its home is gone" set=homeless><List /></Frame>
        </Part>
    }
}

/// The actions on several rows, below the panes.
#[component]
pub(crate) fn ChosenExhibits() -> impl IntoView {
    view! {
        <Part title="Several at once">
            <Frame title="what can be done" set=|app| picked(app, None) is_wide=true><ChosenClaimsBar /></Frame>
            <Frame title="to be forgotten" set=|app| picked(app, Some(ClaimAction::Forget)) is_wide=true><ChosenClaimsBar /></Frame>
            <Frame title="while it is done" set=busy is_wide=true><ChosenClaimsBar /></Frame>
        </Part>
    }
}

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
    let entries = all.iter().rev().map(|it| entry(it.seq, it, stored(it)));
    let page = FeedPage {
        entries: entries.collect(),
        head: all.len() as u64,
        engrams: all.len() as u64,
        ..FeedPage::default()
    };
    app.list.filter.set(filter);
    app.list
        .feed
        .update(|feed| feed.load(page, untrack(|| views::asked_filter(app))));
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

/// Shows a list that is on its way.
pub(crate) fn clear_list(app: App) {
    app.list.feed.update(EngramList::clear);
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

fn sample(app: App) {
    let mut all = engrams();
    all.truncate(3);
    for engram in &mut all {
        Arc::make_mut(engram).tags.push(SAMPLE.to_owned());
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

fn no_match(app: App) {
    load(app, &[], no_such_words());
}

/// Shows the answer of a search.
fn search(app: App, verdict: AnswerQuality) {
    let all = engrams();
    let filter = Filter {
        text: "how do retries back off".to_owned(),
        ..Filter::default()
    };
    let words = ["retr".to_owned(), "back".to_owned()];
    let marks = all
        .iter()
        .map(|it| (it.id, literal_marks(&it.claim, &words)));
    let reply = SearchReply {
        verdict,
        omitted: Some(1_034),
        unread: None,
        page: FeedPage {
            entries: all.iter().map(|it| entry(it.seq, it, stored(it))).collect(),
            head: all.len() as u64,
            ..FeedPage::default()
        },
        marks: marks.collect(),
    };
    app.list.filter.set(filter.clone());
    app.list.feed.update(|feed| feed.load_ranked(reply, filter));
}

fn panel(app: App) {
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
        kinds: Kind::ALL.iter().map(|it| (*it, 1)).collect(),
        roles: vec![("programmer".to_owned(), 2)],
        authors: vec![("architect".to_owned(), 1), (String::new(), 1)],
        verified: vec![(true, 2)],
        health: vec![(Evidence::EvidenceGone, 1)],
        topics: vec![("payments/retries".to_owned(), 1_204)],
        ..Facets::default()
    }));
    app.list.facets_open.set(true);
}

/// Selects the first rows and shows this question about them.
fn picked(app: App, asking: Option<ClaimAction>) {
    let all = engrams();
    load(app, &all, Filter::default());
    let rows = untrack(|| listed_rows(app));
    app.list.choice.rows.update(|it| it.add(&rows, |_| true));
    app.list.choice.asking.set(asking);
}

/// Shows a run over many claims.
fn busy(app: App) {
    picked(app, None);
    app.batch.progress.set(Some(Progress {
        verb: many::CONFIRM.0,
        done: 212,
        of: 1_000,
    }));
}

/// Shows the first row whole.
fn open(app: App) {
    let all = engrams();
    load(app, &all[..3], Filter::default());
    app.reading.selected.set(all.first().map(|it| it.id));
    toggle_row(app);
}

fn stale(app: App) {
    lost(app);
    app.connection.lost_why.set(Some(LossReason::Token));
}

fn homeless(app: App) {
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
