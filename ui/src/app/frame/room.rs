//! A window with room for one pane shows the list or the open engram: which one is in front, and
//! the ways between them. The other keeps its place and size, hidden and out of reach of keys, so
//! that its scroll position stays. The list's address then names no engram, so that *back* leads to
//! it.

use leptos::{html, prelude::*};
use wasm_bindgen::{JsCast, prelude::Closure};

use super::split::Split;
use crate::{
    app::{
        components::icons::Icon,
        dom,
        state::{App, Phase},
    },
    commands::{self, Act},
    words::say,
};

/// Matches a window with room for one pane only; `3-frame.css` has the same width.
const NARROW: &str = "(max-width: 719.98px)";
/// The ids of the open engram's pane and of the part of it that scrolls.
pub(crate) const DETAIL: &str = "detail";
pub(crate) const READ: &str = "engram";

/// Whether an item of the list on the screen is open.
fn is_any_open(app: App) -> bool {
    (app.view.get().is_any_open)(app)
}

/// Whether the open item is in front of the list.
pub(crate) fn covers_list(app: App) -> bool {
    app.frame.is_narrow.get() && app.reading.is_in_front.get() && is_any_open(app)
}

/// Whether the detail pane is behind the list.
pub(crate) fn is_covered(app: App) -> bool {
    untrack(|| app.frame.is_narrow.get() && !covers_list(app))
}

/// Brings the open item in front of the list, as a step in the history; returns whether it was
/// behind.
pub(crate) fn bring_forward(app: App) -> bool {
    let was_covered = untrack(|| is_any_open(app)) && come_forward(app);
    if was_covered {
        app.write_address(true);
    }
    was_covered
}

/// Brings the detail pane to the front before another address is written; returns whether it was
/// behind.
pub(crate) fn come_forward(app: App) -> bool {
    if !is_covered(app) {
        return false;
    }
    // Saves the address to come back to.
    app.write_address(false);
    app.reading.is_in_front.set(true);
    dom::next_frame(|| dom::focus(READ));
    true
}

/// Brings the open item to the front, then acts on it.
pub(crate) fn act_in_detail(app: App, act: impl FnOnce() + 'static) {
    if bring_forward(app) {
        dom::next_frame(act)
    } else {
        act()
    }
}

/// Brings the list to the front, then acts in it.
pub(crate) fn act_in_list(app: App, act: impl FnOnce() + 'static) {
    if untrack(|| covers_list(app)) {
        app.reading.is_in_front.set(false);
        app.write_address(false);
        dom::next_frame(act);
    } else {
        act();
    }
}

/// Returns to the list and focuses it.
pub(crate) fn go_to_list(app: App) {
    act_in_list(app, || dom::focus(dom::LIST));
}

/// Focuses the pane that keys act on.
pub(crate) fn focus_pane(app: App) {
    if untrack(|| covers_list(app)) {
        dom::focus(READ)
    } else {
        dom::focus(dom::LIST)
    }
}

/// Brings what an address names to the front: an engram or the list.
pub(crate) fn show_as_addressed(app: App, names_engram: bool) {
    let was_in_front = untrack(|| covers_list(app));
    app.reading.is_in_front.set(names_engram);
    if untrack(|| covers_list(app)) != was_in_front {
        dom::next_frame(move || focus_pane(app));
    }
}

/// Focuses redrawn content in front, if the old content had the focus.
pub(crate) fn refocus_redrawn(app: App, element: &web_sys::HtmlDivElement) {
    let element = element.clone();
    dom::next_frame(move || {
        if untrack(|| covers_list(app)) && dom::is_nowhere() {
            dom::focus_on(Some(element.into()));
        }
    });
}

/// Tracks whether there is room for one pane only; the pane with the focus then stays in front.
pub(crate) fn follow_width(app: App) {
    let Ok(Some(query)) = window().match_media(NARROW) else {
        return;
    };
    app.frame.is_narrow.set(query.matches());
    let seen = query.clone();
    let turn = Closure::<dyn FnMut()>::new(move || {
        let is_narrow = seen.matches();
        if is_narrow {
            let is_read = dom::focused_in(DETAIL).is_some();
            app.reading.is_in_front.set(is_read);
        }
        app.frame.is_narrow.set(is_narrow);
        // Until the list is read, the address decides which pane is in front.
        if app.phase.get_untracked() == Phase::Ready {
            app.write_address(false);
        }
    });
    let each = turn.as_ref().unchecked_ref();
    // A browser that does not report changes leaves the panes as they are.
    let _ = query.add_event_listener_with_callback("change", each);
    let kept = StoredValue::new_local((query, turn));
    on_cleanup(move || {
        kept.with_value(|(query, turn)| {
            let each = turn.as_ref().unchecked_ref();
            let _ = query.remove_event_listener_with_callback("change", each);
        });
    });
}

/// The panes of a view: its list, with what lies above both panes, and the open item beside it. The
/// list must come right before the edge.
pub(crate) fn panes(list: impl IntoView + 'static, detail: impl IntoView + 'static) -> AnyView {
    let app = App::here();
    let panes = NodeRef::<html::Main>::new();
    let width = move || app.frame.list_width.get().map(|it| format!("{it}px"));
    view! {
        <main class="panes" class:one=app.frame.is_narrow class:read=move || covers_list(app) node_ref=panes style=("--list", width)>
            {list}
            <Split panes />
            {detail}
        </main>
    }
    .into_any()
}

/// Whether a key of the list scrolls the open engram instead, because that is in front or has the
/// focus.
pub(crate) fn scrolls_open_item(app: App, key: &str) -> bool {
    let is_one = matches!(
        key,
        "ArrowDown" | "ArrowUp" | "PageDown" | "PageUp" | "Home" | "End" | " "
    );
    // To the sides, code that is too wide scrolls.
    let is_side = matches!(key, "ArrowLeft" | "ArrowRight");
    is_one && untrack(|| covers_list(app)) || is_side && dom::focused_in(DETAIL).is_some()
}

/// The way back to the list, above the open engram.
#[component]
pub(crate) fn ToList() -> impl IntoView {
    let app = App::here();
    let tip = commands::command_of(Act::Back).map(|it| commands::tooltip(it, dom::is_mac()));
    let title = move || app.view.get().title;
    let read = move || app.view.get().one;
    let label = move || say::engram::back_to(title());
    view! {
        <header class="to-list" hidden=move || !app.frame.is_narrow.get()>
            // The list's own heading is hidden.
            <h1 class="offscreen">{read}</h1>
            <button class="plain" data-testid="to-list" aria-label=label title=tip on:click=move |_| go_to_list(app)>
                <span class="turn">{Icon::Chevron.draw()}</span>{title}
            </button>
        </header>
    }
}
