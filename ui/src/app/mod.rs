//! The part that runs in a web view: start, panics, keys, and the frame around the panes.

mod act;
mod batch;
mod components;
mod dom;
mod engine;
mod first_run;
mod frame;
#[cfg(feature = "gallery")]
mod gallery;
mod outside;
mod overlay;
mod part;
mod reading;
mod repositories;
mod source;
mod state;
mod views;
mod write;

use std::time::Duration;

use engram_model::Meter;
use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*, task::spawn_local};
use wasm_bindgen::prelude::wasm_bindgen;

use self::{
    backend::Backend, connection::Link, frame::Over, icons::Icon, palette::keycaps, state::Phase,
};
// Each module is reached by its own name, whatever folder it is in.
use self::{
    components::{icons, inbox, prose, refused},
    engine::{backend, connection, stale},
    frame::{rail, room, states},
    overlay::{connect, menu, palette, settings},
    reading::detail,
    repositories::{pick, start},
    source::code,
};
pub(crate) use self::{
    state::App,
    views::{VIEWS, View},
};
use crate::{
    app::views::feed,
    words::{self, say},
};

/// Called by the page once this module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| show_fault(&panic.to_string())));
    #[cfg(feature = "gallery")]
    if dom::hash() == "#/gallery" {
        return mount_to_body(gallery::Gallery);
    }
    mount_to_body(Window);
}

/// Shows the page's notice of a fault and its reload button. After a panic, nothing of this module
/// runs any more.
fn show_fault(what: &str) {
    dom::log(what);
    if let Some(text) = document().get_element_by_id("fault-text") {
        text.set_text_content(Some(what));
    }
    if let Some(page) = document().get_element_by_id("fault") {
        // If even this fails, the console has the message.
        let _ = page.remove_attribute("hidden");
    }
}

#[component]
fn Window() -> impl IntoView {
    let app = App::new(Backend::here());
    provide_context(app);
    stale::follow_stale(app);
    app.write.follow();
    room::follow(app);
    connection::start(app);
    follow_time(app);
    act::follow_keys(app);
    menu::follow_pointer(app);
    follow_page(app);
    views::feed::follow_eyes(app);
    follow_address(app);
    spawn_local(async move {
        dom::fonts_ready().await;
        app.backend().ready().await;
        repositories::follow_opened(app, 0);
        let follow = move |it: engram_model::Handed| repositories::follow_handed(app, &it);
        app.backend().follow_handed(follow).await;
    });
    view! {
        <rail::Rail />
        {move || match app.phase.get() {
            Phase::Loading => view! { <states::Loading /> }.into_any(),
            Phase::Failed(refusal) => view! { <overlay::Failure refusal /> }.into_any(),
            Phase::Ready => view! { <Panes /> }.into_any(),
        }}
        <StatusLine />
        <overlay::Shortcuts />
        <palette::Palette />
        <settings::SettingsSheet />
        <connect::ConnectSheet />
        <pick::Repositories />
        <write::Adding />
        <start::Offer />
        // A dialog over the window shows the notice itself.
        {move || app.frame.over.get().is_none().then(|| view! { <overlay::Notice /> })}
        <div class="offscreen" role="status" aria-live="polite" data-testid="announcement">
            {move || app.frame.announcement.get()}
        </div>
    }
}

#[component]
fn Panes() -> impl IntoView {
    let app = App::here();
    let is_outside = Memo::new(move |_| repositories::is_outside(app));
    // A switch between views with the same panes keeps the content of the panes.
    let is_other = |a: Option<&&'static View>, b: Option<&&'static View>| {
        let both = a.zip(b);
        !both.is_some_and(|(a, b)| std::ptr::fn_addr_eq(a.panes, b.panes))
    };
    let view = Memo::new_with_compare(move |_| app.view.get(), is_other);
    move || {
        if is_outside.get() {
            view! { <start::Start /> }.into_any()
        } else {
            (view.get().panes)()
        }
    }
}

#[component]
pub(crate) fn StatusLine() -> impl IntoView {
    let app = App::here();
    let failed = move || matches!(app.phase.get(), Phase::Failed(_));
    let is_paused = move || !app.list.at_top.get();
    let held = Memo::new(move |_| feed::waits_for_pointer(app));
    let link = move || match (app.connection.link.get(), held.get()) {
        (Link::Connecting, _) if failed() => ("lost", say::status::NOT_CONNECTED.to_owned()),
        (Link::Connecting, _) => ("connecting", say::status::CONNECTING.to_owned()),
        (Link::Live, _) if is_paused() => ("paused", say::status::PAUSED.to_owned()),
        (Link::Live, Some(new)) => ("paused", say::status::held(new)),
        (Link::Live, None) => ("live", say::status::LIVE.to_owned()),
        (Link::Lost, _) => ("lost", say::status::LOST.to_owned()),
    };
    let project = move || app.status.get().and_then(|status| status.project);
    let told = move |what: fn(&engram_model::StatusReply) -> String| {
        move || app.status.get().map(|it| what(&it)).unwrap_or_default()
    };
    // The budget of the working agent that is nearest to a limit.
    let spent = move || {
        let now = app.clock.get().now;
        let spending = app.status.get()?.spending.filter(|it| it.until > now)?;
        let budget = &spending.budget;
        let (what, pointers) = words::fullest(budget);
        // A small window shows only the fuller meter.
        let is_less = budget.tokens.share() < pointers.share();
        let meters = [
            (say::status::TOKENS, budget.tokens, is_less),
            (what, pointers, !is_less),
        ];
        let meter = |(what, it, is_less): (&'static str, Meter, bool)| {
            view! { <span class:more=is_less class:spent={it.used >= it.limit}><i>{what}</i>" "{words::meter(it)}</span> }
        };
        Some(view! {
            <span class="budget" data-testid="budget" title=words::spent(&spending)>
                <b>{words::visible(&spending.agent)}</b>
                {meters.map(meter)}
            </span>
        })
    };
    view! {
        <footer class="status">
            <span class="link" data-testid="link" data-state=move || link().0>{move || link().1}</span>
            <button class="plain where" data-testid="repo" title=say::status::OTHER_REPOSITORY hidden=move || app.status.with(Option::is_none) on:click=move |_| app.frame.over.set(Some(Over::Repositories))>
                {Icon::Repository.draw()}
                {move || match project() {
                    Some(project) if project.unavailable.is_some() => view! {
                        <b>{words::visible(&project.name)}</b>
                        <i class="word bad" data-testid="gone" title=words::visible(project.unavailable.as_deref().unwrap_or_default())>" "{say::status::GONE}</i>
                    }.into_any(),
                    Some(project) => view! {
                        <b>{words::visible(&project.name)}</b>
                        {words::checkout(&project).map(|(how, what)| view! { <i>{how}</i><b data-testid="checkout">{what}</b> })}
                    }.into_any(),
                    None => view! { <span>{say::status::NO_REPOSITORY}</span> }.into_any(),
                }}
            </button>
            <span data-testid="count">{told(|it| words::count(it.engrams, say::ENGRAMS))}</span>
            <button class="plain" data-testid="agents" title=say::status::SHOW_AGENTS hidden=move || app.status.with(|it| it.as_ref().is_none_or(|it| it.agents == 0))
                on:click=move |_| views::show_view(app, &views::agents::VIEW)>
                {told(|it| words::count(it.agents, say::AGENTS))}
            </button>
            {spent}
            {move || app.status.get().and_then(|it| it.watching).map(|why| view! { <span class="unwatched" title=why>{say::status::UNWATCHED}</span> })}
            <span class="space"></span>
            <button class="plain log" data-testid="log-button" title=say::status::OPEN_LOG hidden=!app.backend().opens_editors()
                on:click=move |_| outside::open_log(app)>{say::status::LOG}</button>
            <button class="plain" data-testid="shortcuts-button" on:click=move |_| app.frame.over.set(Some(Over::Sheet))>
                <kbd>"?"</kbd>" "{say::status::SHORTCUTS}
            </button>
            <button class="plain" data-testid="palette-button" title=say::sheet::FIND on:click=move |_| app.frame.over.set(Some(Over::Palette))>
                {keycaps("Mod+k")}" "<span class="find">{say::status::FIND}</span>
            </button>
        </footer>
    }
}

/// Updates the times once a minute, and when the page becomes visible again.
fn follow_time(app: App) {
    let minute = set_interval_with_handle(move || app.tick(), Duration::from_secs(60));
    let focus = window_event_listener(ev::focus, move |_| {
        app.tick();
        connection::start_again(app);
        stale::recheck(app);
        connection::catch_up(app);
    });
    on_cleanup(move || {
        focus.remove();
        if let Ok(minute) = minute {
            minute.clear();
        }
    });
}

/// Ends the connection of a page that the browser keeps for *back*: a browser allows six for all
/// pages.
fn follow_page(app: App) {
    let gone = window_event_listener(ev::pagehide, move |_| app.connection.end());
    let back = window_event_listener(ev::pageshow, move |event| {
        if event.persisted() {
            connection::reconnect(app);
            connection::catch_up(app);
        }
    });
    on_cleanup(move || {
        gone.remove();
        back.remove();
    });
}

/// Follows *back* and *forward* through what was shown, in other repositories too.
fn follow_address(app: App) {
    let went = window_event_listener(ev::popstate, move |event| {
        repositories::follow_history(app, event.state().as_string());
    });
    on_cleanup(move || went.remove());
}
