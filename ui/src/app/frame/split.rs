//! The edge between list and detail, which is moved by pointer or keys and remembered.

use leptos::{ev, html, prelude::*};

use crate::{
    app::{dom, overlay::settings, state::App},
    words::say,
};

/// Narrowest list and narrowest detail, in CSS pixels.
const LIST: u32 = 300;
const DETAIL: u32 = 340;
/// How far a key moves the edge.
const STEP: u32 = 24;

/// Limits a width so that both panes have room.
fn limit_width(width: u32, room: u32) -> u32 {
    width.min(room.saturating_sub(DETAIL)).max(LIST)
}

#[component]
pub(crate) fn Split(panes: NodeRef<html::Main>) -> impl IntoView {
    let app = App::here();
    let handle = NodeRef::<html::Div>::new();
    let (is_held, now) = (RwSignal::new(false), RwSignal::new((LIST, LIST)));
    // An animation frame may come after the view was left.
    let room = move || {
        panes
            .try_get_untracked()
            .flatten()
            .map_or(0, |it| it.client_width().max(0) as u32)
    };
    let width = move || {
        let list = handle
            .try_get_untracked()
            .flatten()
            .and_then(|it| it.previous_element_sibling());
        list.map_or(LIST, |it| it.client_width().max(0) as u32)
    };
    // Reports the actual width to screen readers, however it was set.
    let told = move || {
        now.try_set((width(), room().saturating_sub(DETAIL).max(LIST)));
    };
    let set = move |to: u32| {
        app.frame.list_width.set(Some(limit_width(to, room())));
        dom::next_frame(told);
    };
    handle.on_load(move |_| dom::next_frame(told));
    let keep = move || {
        let width = app.frame.list_width.get_untracked();
        settings::change_settings(app, |it| it.list_width = width);
    };
    let hold = move |event: ev::PointerEvent| {
        if let Some(handle) = handle.get_untracked() {
            // If the capture fails, the edge moves only while the pointer is on it.
            let _ = handle.set_pointer_capture(event.pointer_id());
        }
        is_held.set(true);
    };
    let drag = move |event: ev::PointerEvent| {
        if let (true, Some(panes)) = (is_held.get_untracked(), panes.get_untracked()) {
            let left = panes.get_bounding_client_rect().left();
            set((f64::from(event.client_x()) - left).max(0.0) as u32);
        }
    };
    let release = move |_: ev::PointerEvent| {
        if is_held.get_untracked() {
            is_held.set(false);
            keep();
        }
    };
    let keys = move |event: ev::KeyboardEvent| {
        match event.key().as_str() {
            "ArrowLeft" => set(width().saturating_sub(STEP)),
            "ArrowRight" => set(width() + STEP),
            "Home" => set(0),
            "End" => set(u32::MAX),
            "Escape" => return dom::focus(dom::LIST),
            _ => return,
        }
        event.prevent_default();
        keep();
    };
    let reset = move |_| {
        app.frame.list_width.set(None);
        dom::next_frame(told);
        keep();
    };
    view! {
        <div class="split" node_ref=handle role="separator" tabindex="0" aria-orientation="vertical" aria-label=say::list::WIDTH
            data-testid="split" class:held=is_held title=say::list::RESIZE
            aria-valuemin=LIST.to_string() aria-valuemax=move || now.get().1.to_string() aria-valuenow=move || now.get().0.to_string()
            aria-valuetext=move || format!("{} pixels", now.get().0)
            on:pointerdown=hold on:pointermove=drag on:pointerup=release on:pointercancel=release
            on:keydown=keys on:focus=move |_| told() on:dblclick=reset></div>
    }
}
