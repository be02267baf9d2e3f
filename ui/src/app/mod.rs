//! The part that runs in a web view: start, panics, keys, and the frame around the panes.

mod backend;
mod code;
mod detail;
mod document;
mod dom;
mod drift;
mod filter;
mod first_run;
mod history;
mod icons;
mod list;
mod overlay;
mod sides;
mod source;
mod state;

mod http;
mod tauri;

use std::time::Duration;

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*, task::spawn_local};
use wasm_bindgen::prelude::wasm_bindgen;

use self::{
    backend::Backend,
    drift::Verdict,
    icons::Icon,
    state::{App, Closing, Link, Panel, Phase},
};
use crate::words;

/// Called by the page once this module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| show_fault(&panic.to_string())));
    if let Some(theme) = dom::theme() {
        dom::set_theme(Some(&theme));
    }
    mount_to_body(Window);
}

/// After a panic nothing of this module runs any more: the page says so and offers to load again.
fn show_fault(what: &str) {
    dom::log(what);
    if let Some(text) = document().get_element_by_id("fault-text") {
        text.set_text_content(Some(what));
    }
    if let Some(page) = document().get_element_by_id("fault") {
        // Where even this fails the console has it.
        let _ = page.remove_attribute("hidden");
    }
}

#[component]
fn Window() -> impl IntoView {
    let app = App::new(Backend::here());
    provide_context(app);
    app.start();
    follow_time(app);
    follow_keys(app);
    follow_address(app);
    spawn_local(async move {
        dom::fonts_ready().await;
        app.backend().ready().await;
    });
    view! {
        <Rail />
        {move || match app.phase.get() {
            Phase::Loading => view! { <main class="whole" aria-busy="true"><p class="quiet">"Reading the journal…"</p></main> }.into_any(),
            Phase::Failed(refusal) => view! { <overlay::Failure refusal /> }.into_any(),
            Phase::Ready => view! { <Panes /> }.into_any(),
        }}
        <StatusLine />
        <overlay::Shortcuts />
        <overlay::Notice />
        <div class="offscreen" role="status" aria-live="polite" data-testid="announcement">
            {move || app.announcement.get()}
        </div>
    }
}

#[component]
fn Panes() -> impl IntoView {
    let app = App::here();
    let is_empty = Memo::new(move |_| app.feed.with(crate::feed::Feed::is_empty));
    move || match is_empty.get() {
        true => view! { <first_run::FirstRun /> }.into_any(),
        false => view! {
            <main class="panes">
                <list::List />
                <detail::Detail />
            </main>
        }
        .into_any(),
    }
}

#[component]
fn Rail() -> impl IntoView {
    let app = App::here();
    view! {
        <nav class="rail" aria-label="Views">
            <button class="view" data-testid="feed-view" aria-label="Feed" title="Feed"
                aria-current=move || (!app.is_drift()).then_some("page")
                on:click=move |_| if untrack(|| app.is_drift()) { app.show_drift(false) } else { dom::focus("feed") }>
                {Icon::Feed.draw()}
            </button>
            <drift::DriftView />
        </nav>
    }
}

#[component]
fn StatusLine() -> impl IntoView {
    let app = App::here();
    let failed = move || matches!(app.phase.get(), Phase::Failed(_));
    let link = move || match app.link.get() {
        Link::Connecting if failed() => ("lost", "not connected"),
        Link::Connecting => ("connecting", "connecting"),
        Link::Live => ("live", "live"),
        Link::Lost => ("lost", "reconnecting"),
    };
    let project = move || app.status.get().and_then(|status| status.project);
    let engrams = move || {
        let count = app
            .status
            .get()
            .map(|it| words::count(it.engrams, "engram", "engrams"));
        count.unwrap_or_default()
    };
    view! {
        <footer class="status">
            <span class="link" data-testid="link" data-state=move || link().0>{move || link().1}</span>
            {move || project().map(|it| view! {
                <span class="where" data-testid="repo">
                    <b>{it.name}</b>
                    {it.branch.map(|branch| view! { <i>" on "</i><b>{branch}</b> })}
                </span>
            })}
            <span data-testid="count">{engrams}</span>
            <span class="space"></span>
            <button class="plain" data-testid="shortcuts-button" on:click=move |_| app.shortcuts.set(true)>
                <kbd>"?"</kbd>" shortcuts"
            </button>
        </footer>
    }
}

/// Times are told anew once a minute, and when the page is seen again.
fn follow_time(app: App) {
    let minute = set_interval_with_handle(move || app.tick(), Duration::from_secs(60));
    let focus = window_event_listener(ev::focus, move |_| {
        app.tick();
        app.returned.update(|it| *it = it.wrapping_add(1));
        app.catch_up();
    });
    on_cleanup(move || {
        focus.remove();
        if let Ok(minute) = minute {
            minute.clear();
        }
    });
}

/// Back and forward lead through the filters that were chosen.
fn follow_address(app: App) {
    let went = window_event_listener(ev::popstate, move |_| app.follow_address());
    on_cleanup(move || went.remove());
}

/// The keys of the window, as the sheet of shortcuts lists them.
fn follow_keys(app: App) {
    let keys = window_event_listener(ev::keydown, move |event| {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
            return;
        }
        if app.shortcuts.get_untracked() || app.phase.get_untracked() != Phase::Ready {
            return; // the sheet is a modal dialog and has its own keys
        }
        if !dom::is_typing(&event) && press(app, &event) {
            event.prevent_default();
        }
    });
    on_cleanup(move || keys.remove());
}

/// Does what a key stands for; says whether it stands for anything.
fn press(app: App, event: &web_sys::KeyboardEvent) -> bool {
    match event.key().as_str() {
        "?" => app.shortcuts.set(true),
        "/" => dom::focus("filter"),
        "j" | "J" | "ArrowDown" => app.step(1),
        "k" | "K" | "ArrowUp" => app.step(-1),
        "PageDown" => app.step(8),
        "PageUp" => app.step(-8),
        "Home" => app.step(isize::MIN),
        "End" => app.step(isize::MAX),
        "n" | "N" => app.show_new(),
        "o" | "O" => app.open_editor(),
        "b" | "B" => app.toggle_panel(Panel::Blame),
        "d" | "D" => app.toggle_panel(Panel::Changes),
        "c" | "C" => app.copy_pointer(),
        "f" | "F" => app.toggle_facets(),
        "y" | "Y" => app.judge(Verdict::True),
        "x" | "X" => app.judge(Verdict::False),
        "a" | "A" => app.judge(Verdict::Unsure),
        "h" | "H" => app.history.update(|it| *it = !*it),
        "Delete" | "Backspace" if event.shift_key() => app.ask_to_close(Closing::Redact),
        "Delete" | "Backspace" => app.ask_to_close(Closing::Forget),
        "Enter" if !dom::is_control(event) => dom::focus("pointer-0"),
        "Escape" if app.closing.get_untracked().is_some() => app.closing.set(None),
        "Escape" if app.toast.get_untracked().is_some() => app.toast.set(None),
        "Escape" => dom::focus("feed"),
        digit => match digit.parse::<usize>() {
            Ok(number @ 1..=9) => dom::focus(&format!("pointer-{}", number - 1)),
            _ => return false,
        },
    }
    true
}
