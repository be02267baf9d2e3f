//! The time whose knowledge is shown: now, or a past time, during which nothing can be written.

use engram_model::Filter;
use jiff::Timestamp;
use leptos::{ev, prelude::*};
use web_sys::HtmlInputElement;

use super::VIEW;
use crate::{
    app::{
        dom,
        frame::room,
        overlay::palette::keycaps,
        state::App,
        views::{self, feed},
    },
    days::{local_time, parse_local_time},
    words::say,
};

/// The id of the field for the time.
const FIELD: &str = "held-at";

/// Focuses the field for the time.
pub(crate) fn choose_time(app: App) {
    if !untrack(|| VIEW.is_on(app)) {
        feed::show_filtered(app, &VIEW, Filter::default(), true);
    }
    room::act_in_list(app, || dom::next_frame(|| dom::focus(FIELD)));
}

/// Shows what held at a time; if the time is not past yet, what holds.
pub(crate) fn show_then(app: App, at: Option<Timestamp>) {
    let filter = if untrack(|| VIEW.is_on(app)) {
        untrack(|| app.list.filter())
    } else {
        Filter::default()
    };
    let asked = at;
    let at = asked.filter(|at| *at < dom::clock().now);
    // All that is typed for one time is one step in the history.
    let adds_history = at.is_none() || !untrack(|| app.list.is_past());
    let filter = Filter {
        held_at: at,
        ..filter
    };
    feed::show_filtered(app, &VIEW, filter, adds_history);
    app.frame.announcement.set(match at {
        Some(at) => say::knowledge::held_on(&app.clock.get_untracked().moment(at)),
        None => say::knowledge::NOW.to_owned(),
    });
    if asked.is_some() && at.is_none() {
        app.frame
            .warn(say::knowledge::FUTURE, say::knowledge::FUTURE_HINT);
    }
}

/// Returns to what holds now.
pub(crate) fn show_now(app: App) {
    if untrack(|| app.list.is_past()) {
        show_then(app, None);
    }
    room::go_to_list(app);
}

/// The bar above the panes: the time whose knowledge is shown, and a field for another; conspicuous
/// while that time is past.
#[component]
pub(crate) fn When() -> impl IntoView {
    let app = App::here();
    let is_past = Memo::new(move |_| app.list.is_past());
    let offset = move || app.clock.get_untracked().offset;
    let value = move || app.list.held_at().map(|at| local_time(at, offset()));
    let latest = move || local_time(app.clock.get().now, offset());
    let told = move || match app.list.held_at() {
        Some(at) => say::knowledge::held_on(&app.clock.get().exactly(at)),
        None => say::knowledge::NOW.to_owned(),
    };
    // While a time is typed, it may be invalid for a moment; the list stays until it is valid.
    let choose = move |event: ev::Event| {
        if let Some(at) = parse_local_time(&event_target_value(&event), offset()) {
            show_then(app, Some(at));
        }
    };
    let leave = move |event: ev::KeyboardEvent| {
        let is_partial = || dom::target(&event).is_some_and(|it| is_partial(&it));
        match event.key().as_str() {
            "Enter" if is_partial() => app
                .frame
                .warn(say::knowledge::PARTIAL, say::knowledge::PARTIAL_HINT),
            "Escape" | "Enter" => room::go_to_list(app),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <div class="when" class:past=is_past role="region" aria-label=say::knowledge::WHEN data-testid="when">
            <p>
                {VIEW.icon.draw()}
                <b data-testid="when-told">{told}</b>
                {move || is_past.get().then(|| view! { <span class="read-only">{say::knowledge::READ_ONLY}</span> })}
            </p>
            {move || is_past.get().then(|| view! {
                <button class="primary" data-testid="to-now" on:click=move |_| show_now(app)>{say::knowledge::BACK}" "<kbd>"⇧ T"</kbd></button>
            })}
            <label><span class="go">{say::knowledge::AT}</span>
                <span class="time"><input id=FIELD type="datetime-local" step="1" data-testid="held-at" class:empty=move || !is_past.get()
                    max=latest prop:value=move || value().unwrap_or_default() on:change=choose on:keydown=leave />
                <span class="example" aria-hidden="true">{say::knowledge::EXAMPLE}</span></span></label>
            {move || (!is_past.get()).then(|| view! { <kbd>"T"</kbd> })}
            <Shape />
        </div>
    }
}

/// Whether some parts of a field for a time have a value, and some have none.
fn is_partial(field: &HtmlInputElement) -> bool {
    field.value().is_empty() && field.matches(":invalid").unwrap_or(false)
}

/// The choice between the list and the timeline.
#[component]
fn Shape() -> impl IntoView {
    let app = App::here();
    let shape = move |is_timeline: bool, name: &'static str, testid: &'static str| {
        let is_on = move || views::is_timeline(app) == is_timeline;
        let show = move |_| {
            if !untrack(is_on) {
                feed::show_as_timeline(app, is_timeline);
            }
        };
        let title = is_timeline.then_some(say::knowledge::TIMELINE_MEANS);
        view! { <button aria-pressed=move || is_on().to_string() title=title data-testid=testid on:click=show>{name}</button> }
    };
    view! {
        <div class="segments" role="group" aria-label=say::knowledge::SHAPE>
            {shape(false, say::knowledge::LIST, "as-list")}
            {shape(true, say::knowledge::TIMELINE, "as-timeline")}
            {keycaps(VIEW.chord("timeline"))}
        </div>
    }
}
