//! What is shown instead of rows: that the list is being read, or that a filter leaves none. An empty
//! home has a page of its own, `first_run.rs`.

use std::sync::Arc;

use engram_model::{Engram, Filter};
use leptos::prelude::*;

use super::filter;
use crate::{
    app::{
        components::icons::Icon,
        state::App,
        views::{self, feed::state},
    },
    feed::EngramList,
    words::say,
};

/// The end of the list: that nothing matches, with ways to limit the list less.
#[component]
pub(crate) fn End(rows: Memo<Vec<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let empty = move || !views::asked_filter(app).is_empty() && rows.with(Vec::is_empty);
    let is_read = Memo::new(move |_| app.list.feed.with(EngramList::is_read));
    let is_refused = Memo::new(move |_| app.list.refused.with(Option::is_some));
    let nothing =
        move || is_read.get() && empty() && app.list.feed.with(|it| it.next_page().is_none());
    let reading = move || {
        let is_coming = !is_read.get() && !is_refused.get();
        is_coming.then(|| view! { <p class="none quiet" aria-busy="true">{say::list::READING}</p> })
    };
    let none = move || {
        nothing().then(|| {
            let is_whole = app.list.filter.with(|it| it.of_now().is_empty());
            match app.view.get().nothing.filter(|_| is_whole) {
                Some(nothing) => nothing(),
                None => view_no_match(app).into_any(),
            }
        })
    };
    view! { {reading}{none} }
}

fn view_no_match(app: App) -> impl IntoView {
    let words = app
        .list
        .filter
        .with_untracked(|it| !it.text.trim().is_empty());
    let others = app.list.filter.with_untracked(|filter| {
        let text = filter.text.clone();
        *filter
            != Filter {
                text,
                held_at: filter.held_at,
                ..Filter::default()
            }
    });
    let why = match (words, others) {
        (true, true) => say::list::NO_WORDS_AND_FILTER,
        (true, false) => say::list::NO_WORDS,
        (false, _) => say::list::NO_FILTER,
    };
    let less = (words && others).then(|| {
        let without = move |_| {
            let text = String::new();
            let filter = app.list.filter.get_untracked();
            state::set_filter(app, Filter { text, ..filter }, true);
        };
        view! { <button on:click=without>{say::list::WITHOUT_WORDS}</button> }
    });
    let all = if words && !others {
        say::list::WITHOUT_WORDS
    } else {
        say::list::CLEAR_FILTER
    };
    view! {
        <div class="none" data-testid="no-match">
            <span class="sign">{Icon::Search.draw()}</span>
            <h2>{say::list::NO_MATCH}</h2>
            <p>{why}</p>
            <div class="answers">
                {less}
                <button on:click=move |_| filter::clear_filter(app)>{all}</button>
            </div>
        </div>
    }
}
