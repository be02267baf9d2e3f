//! One row: its repository, what happened, and the way there.

use engram_model::NewsRow;
use leptos::{html, prelude::*};

use super::{
    VIEW,
    list::{newest_text, repository_name, what_happened},
    state::{self, Ending, Row},
};
use crate::{
    app::{
        components::prose::prose,
        frame::room::{self, ToList},
        overlay::palette::keycaps,
        state::App,
    },
    words::{self, say},
};

#[component]
pub(super) fn Detail() -> impl IntoView {
    let app = App::here();
    let row = Memo::new(move |_| state::current_row(app));
    let is_none = move || row.with(Option::is_none);
    let go = move || match row.get() {
        Some(Row::Ending(_)) => say::today::GO_ENDING,
        _ => say::today::GO,
    };
    view! {
        <section class="pane detail" id=room::DETAIL aria-label=say::today::ONE data-testid="news-detail">
            <ToList />
            {move || row.get().map(|row| match row {
                Row::News(row) => view! { <Whole row /> }.into_any(),
                Row::Ending(ending) => view! { <WholeEnding ending /> }.into_any(),
            })}
            <div class="bar" hidden=is_none>
                <button class="primary" data-testid="news-go" on:click=move |_| VIEW.run(app, "lead")>{go}" "{keycaps(VIEW.chord("lead"))}</button>
            </div>
        </section>
    }
}

#[component]
fn Whole(row: NewsRow) -> impl IntoView {
    let app = App::here();
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |it| room::refocus_redrawn(app, &it));
    let by = (!row.by.is_empty()).then(|| format!("{} ", words::visible(&row.by)));
    let path = row.path.as_deref().map(words::visible);
    view! {
        <div class="scroll" id=room::READ node_ref=node tabindex="-1" data-testid="news-read">
            <p class="quiet"><b>{repository_name(&row)}</b>" "{path}</p>
            <p class="claim long">{by}{what_happened(&row)}</p>
            {newest_text(&row).map(|it| view! { <p class="quiet">{say::today::NEWEST}</p><p class="claim" dir="auto" data-testid="news-text">{prose(&it)}</p> })}
        </div>
    }
}

#[component]
fn WholeEnding(ending: Ending) -> impl IntoView {
    let app = App::here();
    let clock = app.clock.get_untracked();
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |it| room::refocus_redrawn(app, &it));
    let claim = words::claim(&ending.first);
    let count = words::format_count(ending.count, say::ending::ENDING);
    let when = say::ending::soon(&count, &clock.until(ending.end));
    view! {
        <div class="scroll" id=room::READ node_ref=node tabindex="-1" data-testid="news-read">
            <p class="quiet"><b>{say::today::HERE}</b></p>
            <p class="claim long">{when}</p>
            <p class="quiet">{say::today::EXPIRES_FIRST}</p>
            <p class="claim" dir="auto" data-testid="news-text">{prose(&claim)}</p>
            <p class="quiet">{say::today::EXPIRING_MEANS}</p>
        </div>
    }
}
