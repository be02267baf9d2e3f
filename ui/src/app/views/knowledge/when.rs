//! The time of which the knowledge is shown: now, or one that is past. In the past nothing is written.

use engram_model::{Filter, Refusal};
use jiff::Timestamp;
use leptos::{ev, prelude::*};

use super::VIEW;
use crate::{
    app::{dom, state::App},
    route::{local, moment},
    words::say,
};

/// The id of the field of the time.
const FIELD: &str = "held-at";

impl App {
    /// The time of which the list tells what held; none for now.
    pub(crate) fn held_at(self) -> Option<Timestamp> {
        self.list.filter.with(|it| it.held_at)
    }

    /// Whether nothing can be changed, since what is shown is past.
    pub(crate) fn is_past(self) -> bool {
        self.held_at().is_some()
    }

    /// Why nothing can be changed: the past is read.
    pub(crate) fn refused_in_past(self) -> Option<Refusal> {
        untrack(|| self.is_past()).then(|| {
            Refusal::new(
                engram_model::Code::ScopeDenied,
                say::knowledge::LOCKED,
                say::knowledge::LOCKED_HINT,
            )
        })
    }

    /// To the field of the time.
    pub(crate) fn choose_time(self) {
        if !untrack(|| VIEW.is_on(self)) {
            self.limit(&VIEW, Filter::default(), true);
        }
        self.in_list(|| request_animation_frame(|| dom::focus(FIELD)));
    }

    /// What held at a time; at a time that is not past yet, what holds.
    pub(crate) fn show_then(self, at: Option<Timestamp>) {
        let filter = if untrack(|| VIEW.is_on(self)) {
            self.list.filter.get_untracked()
        } else {
            Filter::default()
        };
        let at = at.filter(|at| *at < dom::clock().now);
        // All that is typed of a time is one step.
        let is_step = at.is_none() || !untrack(|| self.is_past());
        let filter = Filter {
            held_at: at,
            ..filter
        };
        self.limit(&VIEW, filter, is_step);
        self.frame.announcement.set(match at {
            Some(at) => say::knowledge::held(&self.clock.get_untracked().moment(at)),
            None => say::knowledge::NOW.to_owned(),
        });
    }

    /// Back to what holds now.
    pub(crate) fn show_now(self) {
        if untrack(|| self.is_past()) {
            self.show_then(None);
        }
        self.to_list();
    }
}

/// Above the panes: of which time the knowledge is, and a field for another; loud while that is past.
#[component]
pub(crate) fn When() -> impl IntoView {
    let app = App::here();
    let is_past = Memo::new(move |_| app.is_past());
    let offset = move || app.clock.get_untracked().offset;
    let value = move || app.held_at().map(|at| local(at, offset()));
    let latest = move || local(app.clock.get().now, offset());
    let told = move || match app.held_at() {
        Some(at) => say::knowledge::held(&app.clock.get().exactly(at)),
        None => say::knowledge::NOW.to_owned(),
    };
    // While a time is typed it is none now and then; what there is stays until it is one.
    let choose = move |event: ev::Event| {
        if let Some(at) = moment(&event_target_value(&event), offset()) {
            app.show_then(Some(at));
        }
    };
    let leave = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "Escape" | "Enter" => {
            event.prevent_default();
            app.to_list();
        }
        _ => {}
    };
    view! {
        <div class="when" class:past=is_past role="region" aria-label=say::knowledge::WHEN data-testid="when">
            <p>
                {VIEW.icon.draw()}
                <b data-testid="when-told">{told}</b>
                {move || is_past.get().then(|| view! { <span>{say::knowledge::READ_ONLY}</span> })}
            </p>
            <label>{say::knowledge::AT}
                <input id=FIELD type="datetime-local" step="1" data-testid="held-at" class:empty=move || !is_past.get()
                    max=latest prop:value=move || value().unwrap_or_default() on:change=choose on:keydown=leave /></label>
            {move || match is_past.get() {
                true => view! { <button class="primary" data-testid="to-now" on:click=move |_| app.show_now()>{say::knowledge::BACK}" "<kbd>"⇧ T"</kbd></button> }.into_any(),
                false => view! { <kbd>"T"</kbd> }.into_any(),
            }}
        </div>
    }
}
