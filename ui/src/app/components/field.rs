//! One-line fields, such as the one for the reason for a verdict or an answer.

use leptos::{ev, prelude::*};

use crate::app::{frame::room, state::App};

/// The id of the field for a reason.
pub(crate) const REASON: &str = "reason";

/// Handles the keys of a field: Enter and Escape.
pub(crate) fn keys_of_line(
    enter: impl Fn() + Copy,
    leave: impl Fn() + Copy,
) -> impl Fn(ev::KeyboardEvent) + Copy {
    move |event| {
        if event.is_composing() {
            return;
        }
        match event.key().as_str() {
            "Enter" => enter(),
            "Escape" => leave(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }
}

/// The field for a reason. Enter calls `enter`; Escape returns to the pane.
#[component]
pub(crate) fn ReasonField(
    #[prop(into)] reason: Signal<String>,
    set: impl Fn(String) + 'static,
    /// Whether something waits for the reason.
    wants: RwSignal<bool>,
    /// Its usual label and hint; `wanted` replaces them while something waits for the reason.
    usual: (&'static str, &'static str),
    wanted: (&'static str, &'static str),
    enter: impl Fn() + Copy + 'static,
    #[prop(optional)] maxlength: Option<&'static str>,
) -> impl IntoView {
    let app = App::here();
    let leave = move || {
        wants.set(false);
        room::focus_pane(app);
    };
    let keys = keys_of_line(enter, leave);
    let texts = move || if wants.get() { wanted } else { usual };
    view! {
        <div class="why-field" class:wanted=wants>
            <label for=REASON>{move || texts().0}" "<kbd class="enters" aria-hidden="true">"⇧ W"</kbd><kbd class="leaves" aria-hidden="true">"Esc"</kbd></label>
            <input id=REASON data-testid="reason" dir="auto" autocomplete="off" maxlength=maxlength placeholder=move || texts().1 required=wants
                prop:value=reason on:input=move |event| set(event_target_value(&event)) on:keydown=keys />
        </div>
    }
}
