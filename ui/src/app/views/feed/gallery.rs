//! The feed in every state, for the gallery.

use std::sync::Arc;

use engram_model::{Code, Evidence, Facets, Filter, Kind, Refusal, SAMPLE};
use leptos::prelude::*;

use super::{ChosenClaimsBar, List, Search, rows, toggle_row};
use crate::{
    app::{
        batch::Progress,
        dom,
        engine::connection::LossReason,
        gallery::{
            Frame, Part,
            made_up::engrams,
            set::{self, load, load_page, lost},
        },
        state::App,
    },
    selection::ClaimAction,
    words::say::many,
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Feed">
            <Frame title="each kind, each standing" set=set::full><List /></Frame>
            <Frame title="forgotten, erased, expired, replaced" set=set::past><List /></Frame>
            <Frame title="a row that is open" set=open><List /></Frame>
            <Frame title="several are selected" set=|app| picked(app, None)><List /></Frame>
            <Frame title="paused, with news" set=set::paused><List /></Frame>
            <Frame title="a sample" set=sample><List /></Frame>
            <Frame title="a search that takes long" set=|app| search(app, false)><List /></Frame>
            <Frame title="one that was stopped" set=|app| search(app, true)><List /></Frame>
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

/// Shows a search that has found nothing so far.
fn search(app: App, is_stopped: bool) {
    load_page(app, &[], no_such_words(), Some(630_000));
    app.list.page_is_coming.set_value(true); // for ever
    app.list.search.set(Some(Search {
        done: 37,
        is_stopped,
    }));
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
    let rows = untrack(|| rows(app));
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
