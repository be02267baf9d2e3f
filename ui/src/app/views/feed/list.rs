//! The list pane: its name, its filter, and the live feed, newest first.

use engram_model::Filter;
use leptos::prelude::*;

use super::{filter, rows::Rows};
use crate::{
    app::{
        components::refused::Refused,
        engine::connection::Link,
        first_run,
        frame::states,
        state::App,
        views::{self, feed::state},
    },
    feed::{EngramList, MAX_ROWS},
    words::{self, say},
};

#[component]
pub(crate) fn List() -> impl IntoView {
    let app = App::here();
    let waiting = move || app.list.feed.with(EngramList::waiting_new);
    let pill = move || {
        (waiting() > 0).then(|| {
            view! {
                <button class="pill" data-testid="new-pill" on:click=move |_| state::show_new(app)>
                    {move || say::list::new_count(waiting())} <kbd>"N"</kbd>
                </button>
            }
        })
    };
    let holding = move || {
        let is_known = app.status.with(Option::is_some);
        is_known.then(|| words::thousands((app.view.get().count)(app)))
    };
    let left = move || {
        // If all is loaded, what the list leaves out is not counted.
        if let Some(listed) = app.list.with_feed(EngramList::count_if_whole) {
            return Some(say::list::found_count(&words::thousands(listed), true));
        }
        let facets = app.list.facets.get()?;
        let is_all = !facets.partial;
        // The search has found nothing yet.
        let is_known = is_all || facets.total > 0;
        is_known.then(|| say::list::found_count(&words::thousands(facets.total), is_all))
    };
    let is_whole = move || app.list.filter.with(Filter::is_empty);
    let count = move || if is_whole() { holding() } else { left() };
    let counted = move || {
        if is_whole() {
            app.view.get().counted
        } else {
            say::list::FOUND
        }
    };
    let title = move || app.view.get().title;
    let is_timeline = Memo::new(move |_| views::is_timeline(app));
    let rows = move || match app.view.get_untracked().timeline {
        Some(timeline) if is_timeline.get() => timeline(),
        _ => view! { <Rows /> }.into_any(),
    };
    view! {
        <section class="pane list" aria-label=title>
            <header>
                <h1>{title}</h1>
                <span class="chip" data-testid="list-count" hidden=move || count().is_none() title=counted>{count}</span>
                <span class="space"></span>
                {pill}
            </header>
            <filter::FilterBar />
            <states::Disconnected />
            <ListRefused />
            <first_run::SampleNote />
            {rows}
            <Beyond />
        </section>
    }
}

/// Why the list could not be read; a lost connection has its own message.
#[component]
fn ListRefused() -> impl IntoView {
    let app = App::here();
    let refusal = Signal::derive(move || {
        let is_lost = app.connection.link.get() == Link::Lost;
        let refused = app.list.refused.get().filter(|_| !is_lost);
        refused.map(|(refusal, _)| refusal)
    });
    let again = move |()| {
        if let Some((_, again)) = app.list.refused.get_untracked() {
            again(app);
        }
    };
    view! { <div class="within-list"><Refused refusal again=Callback::new(again) /></div> }
}

/// A note below a list by topic that only the newest claims are listed.
#[component]
fn Beyond() -> impl IntoView {
    let app = App::here();
    let is_more = Memo::new(move |_| {
        let is_full = |it: &EngramList| it.iter().count() >= MAX_ROWS && it.next_page().is_some();
        state::is_by_topic(app) && app.list.feed.with(is_full)
    });
    let told = say::knowledge::only_newest(&words::thousands(MAX_ROWS as u64));
    move || {
        is_more
            .get()
            .then(|| view! { <p class="quiet more" data-testid="beyond">{told.clone()}</p> })
    }
}
