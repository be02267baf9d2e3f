//! The whole window: the rail, the panes, the status line and what lies over them; and what the
//! page reports while they are shown.

use std::time::Duration;

use engram_model::StatusReply;
use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*, task::spawn_local};

use super::{rail, room, states, status_line::StatusLine};
use crate::app::{
    act, dom,
    engine::{backend::Backend, connection, stale},
    overlay::{self, connect, menu, palette, settings, steps},
    repositories::{self, pick, start},
    state::{App, Phase},
    views::{View, feed},
    write,
};
use crate::words;

#[component]
pub(crate) fn Window() -> impl IntoView {
    let app = App::new(Backend::here());
    provide_context(app);
    stale::follow_stale(app);
    app.write.follow();
    room::follow_width(app);
    connection::start(app);
    follow_time(app);
    act::follow_keys(app);
    menu::follow_pointer(app);
    follow_page(app);
    feed::follow_presence(app);
    follow_address(app);
    follow_title(app);
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
        <steps::StepsSheet />
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

/// Ends the connection of a page that the browser keeps for *back*: a browser allows six
/// connections to one server, for all pages together.
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

/// Titles the page after its repository, with what waits, for the tabs of a browser.
fn follow_title(app: App) {
    Effect::new(move |_| {
        let named = |it: &StatusReply| it.project.as_ref().map(|it| words::visible(&it.name));
        let name = app.status.with(|it| it.as_ref().and_then(named));
        document().set_title(&words::title(
            name.as_deref(),
            repositories::count_waiting(app),
        ));
    });
}

/// Follows *back* and *forward* through what was shown, in other repositories too.
fn follow_address(app: App) {
    let went = window_event_listener(ev::popstate, move |event| {
        app.frame.drop_warning();
        repositories::follow_history(app, event.state().as_string());
    });
    on_cleanup(move || went.remove());
}
