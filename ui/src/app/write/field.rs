//! A field for a claim, and why it was refused.

use engram_model::{Limits, Refusal};
use leptos::{ev, html, prelude::*};

use crate::words::{self, say, sentence};

/// Characters per line of the field, to estimate how many lines a text takes.
const ACROSS: usize = 64;
/// Fewest lines of the field, and most before it scrolls.
const ROWS: (usize, usize) = (3, 12);

/// A field for a claim; counts its characters against the default limit.
#[component]
pub(crate) fn ClaimField(
    id: &'static str,
    label: &'static str,
    #[prop(optional)] hint: &'static str,
    #[prop(into)] text: Signal<String>,
    set: impl Fn(String) + Copy + 'static,
    /// Whether the text is being sent: the field is then read-only, as typed text would be lost.
    #[prop(into)]
    is_saving: Signal<bool>,
) -> impl IntoView {
    let most = Limits::default().claim_chars;
    let length = Memo::new(move |_| text.with(|it| it.trim().chars().count()));
    let rows = move || {
        let taken = |line: &str| line.chars().count() / ACROSS + 1;
        let taken: usize = text.with(|it| it.split('\n').map(taken).sum());
        taken.clamp(ROWS.0, ROWS.1).to_string()
    };
    let node = NodeRef::<html::Textarea>::new();
    // Puts the caret at the end.
    node.on_load(|field| {
        let end = u32::try_from(field.value().encode_utf16().count()).unwrap_or(u32::MAX);
        // A browser that refuses leaves the caret where it was.
        let _ = field.set_selection_range(end, end);
    });
    view! {
        <textarea node_ref=node id=id data-testid=id dir="auto" rows=rows aria-label=label placeholder=hint spellcheck="true"
            aria-describedby=format!("{id}-length {id}-refusal")
            prop:value=text prop:readOnly=is_saving on:input=move |event| set(event_target_value(&event))></textarea>
        <span class="length" id=format!("{id}-length") data-testid="length" class:over=move || { length.get() > most }>
            {move || say::write::length(&words::thousands(length.get() as u64), &words::thousands(most as u64))}
        </span>
    }
}

/// Why nothing was stored, below the text.
#[component]
pub(crate) fn WriteRefused(
    id: &'static str,
    #[prop(into)] refusal: Signal<Option<Refusal>>,
) -> impl IntoView {
    view! {
        <div role="alert" id=format!("{id}-refusal")>
            {move || refusal.get().map(|it| view! {
                <p class="why" data-testid="write-refused" data-code=it.code.as_str()>
                    <b>{sentence(&it.message)}"."</b>" "{words::visible(&it.hint)}
                </p>
            })}
        </div>
    }
}

/// Handles the keys of the field: the chord that saves, and the key that leaves.
pub(crate) fn handle_keys(
    event: &ev::KeyboardEvent,
    save: impl FnOnce(),
    leave: Option<impl FnOnce()>,
) {
    // During a composition, Enter and Esc end that first.
    if event.is_composing() {
        return;
    }
    let is_mod = event.ctrl_key() || event.meta_key();
    match (event.key().as_str(), leave) {
        ("Enter", _) if is_mod => save(),
        ("Escape", Some(leave)) => leave(),
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}
