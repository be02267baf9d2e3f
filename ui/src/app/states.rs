//! What is shown instead of rows: that they are on their way, that the connection broke, that a filter
//! leaves none. An empty home has a page of its own, `first_run.rs`.

use std::sync::Arc;

use engram_model::{Code, Engram, Filter};
use leptos::prelude::*;

use super::{
    drift::drifted,
    icons::Icon,
    state::{App, Link, sentence},
};

/// The shape of what comes.
#[component]
pub(crate) fn Loading() -> impl IntoView {
    let ghosts = (0..12).map(|_| view! { <div class="ghost"><i></i><i></i><i></i></div> });
    view! {
        <main class="loading" aria-busy="true" data-testid="loading">
            <div class="ghosts" aria-hidden="true"><i class="title"></i><i class="field"></i>{ghosts.collect_view()}</div>
            <h1>"Reading the journal…"</h1>
        </main>
    }
}

/// What is listed may be old; what is stored is safe.
#[component]
pub(crate) fn Disconnected() -> impl IntoView {
    let app = App::here();
    let since = move || {
        let lost = app.lost_at.get();
        lost.map(|it| app.clock.get().moment(it))
            .unwrap_or_default()
    };
    let is_lost = Memo::new(move |_| app.link.get() == Link::Lost);
    move || {
        is_lost.get().then(|| view! {
            <div class="lost" role="alert" data-testid="disconnected">
                {Icon::Alert.draw()}
                {move || match app.lost_why.get() {
                    Some(it) if it.code == Code::ScopeDenied => view! { <p>"This page's token is no longer valid"<span>"Engram was started again. Open the address that "<code>"engram serve"</code>" printed. What you see is from "{since}"."</span></p> }.into_any(),
                    Some(it) if it.code == Code::StoreGone => view! { <p>"Engram's home folder is gone"<span>{sentence(&it.message)}". Put it back and the window goes on; to begin an empty one, restart Engram. What you see is from "{since}"."</span></p> }.into_any(),
                    _ => view! { <p>"Engram does not answer"<span>"What you see is from "{since}". The window keeps trying."</span></p> }.into_any(),
                }}
                <button data-testid="reconnect" on:click=move |_| app.reconnect()>"Try now"</button>
            </div>
        })
    }
}

/// That nothing is like what is asked for, and what to ask less of.
#[component]
pub(crate) fn End(rows: Memo<Vec<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let empty = move || !app.filter.with(Filter::is_empty) && rows.with(Vec::is_empty);
    let nothing = move || empty() && app.feed.with(|it| it.next_page().is_none());
    let none = move || {
        nothing().then(|| match app.filter.get() == drifted() {
            true => view! {
                <div class="none" data-testid="no-drift">
                    <span class="sign">{Icon::Check.draw()}</span>
                    <h2>"No claim is in doubt"</h2>
                    <p>"All evidence stands as it was pinned."</p>
                    <button on:click=move |_| app.show_drift(false)>"Back to the feed"</button>
                </div>
            }
            .into_any(),
            false => no_match(app).into_any(),
        })
    };
    view! { <Searching />{none} }
}

/// How far a long search is, and a way to end it.
#[component]
fn Searching() -> impl IntoView {
    let app = App::here();
    let done = Memo::new(move |_| app.search.get().map_or(0, |it| it.done));
    let is_stopped = Memo::new(move |_| app.search.get().map(|it| it.is_stopped));
    move || {
        is_stopped.get().map(|is_stopped| {
            let (word, verb) = match is_stopped {
                true => ("Stopped looking: ", "Go on"),
                false => ("Looking further back: ", "Stop"),
            };
            let press = move |_| match is_stopped {
                true => app.go_on(),
                false => app.stop_search(),
            };
            view! {
                <div class="search" aria-busy=(!is_stopped).to_string() data-testid="searching">
                    <progress max="100" value=move || done.get().to_string() aria-label="Of the journal looked at"></progress>
                    <p>{word}{move || done.get()}" % of the journal"</p>
                    <button data-testid="search-button" on:click=press>{verb}{(!is_stopped).then(|| view! { " "<kbd>"Esc"</kbd> })}</button>
                </div>
            }
        })
    }
}

fn no_match(app: App) -> impl IntoView {
    let words = app.filter.with_untracked(|it| !it.text.trim().is_empty());
    let others = untrack(|| !app.conditions().is_empty());
    let why = match words && others {
        true => "Nothing that was stored has these words and fits the filter.",
        false if words => "Nothing that was stored has all of these words.",
        false => "Nothing that was stored fits the filter.",
    };
    let less = (words && others).then(|| {
        let without = move |_| {
            let text = String::new();
            let filter = app.filter.get_untracked();
            app.set_filter(Filter { text, ..filter }, true);
        };
        view! { <button on:click=without>"Without the words"</button> }
    });
    view! {
        <div class="none" data-testid="no-match">
            <span class="sign">{Icon::Search.draw()}</span>
            <h2>"No engram matches"</h2>
            <p>{why}</p>
            <div class="answers">
                {less}
                <button on:click=move |_| app.set_filter(app.unfiltered(), true)>"Clear the filter"</button>
            </div>
        </div>
    }
}
