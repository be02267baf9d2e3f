//! What holds, by topic: the feed's list, limited to claims that hold; or a timeline of when claims
//! held. Or what held at a past time: then nothing can be changed, and a bar above says so until
//! the person returns to now.

#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod lane;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;
mod timeline;
mod when;

use engram_model::Filter;
use leptos::prelude::*;

pub(crate) use self::{
    state::Knowledge,
    when::{When, choose_time, show_now, show_then},
};
use super::{View, feed, is_timeline};
use crate::{
    app::{components::icons::Icon, state::App},
    commands::Command,
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "knowledge",
    title: say::knowledge::TITLE,
    icon: Icon::Own(
        "M12 6.500c-2-1.500-4.500-2-8-2v13.500c3.500 0 6 .500 8 2c2-1.500 4.500-2 8-2V4.500c-3.500 0-6 .500-8 2zM12 6.500v13.500",
    ),
    of: say::ENGRAMS,
    counted: say::rail::FEED_COUNTS,
    count: |app| (feed::VIEW.count)(app),
    by_topic: true,
    tells_of_the_past: true,
    timeline: Some(|| view! { <timeline::Timeline /> }.into_any()),
    within: |filter| Filter {
        ended: filter.held_at.is_none().then_some(false),
        ..filter
    },
    panes,
    nothing: Some(nothing),
    own: Some((say::knowledge::TITLE, COMMANDS)),
    ..feed::ENGRAMS
};

/// A command of the timeline.
const fn on_timeline(
    id: &'static str,
    title: &'static str,
    keys: &'static [&'static str],
    does: fn(App),
) -> Command {
    Command::own(id, title, keys, does, |app| untrack(|| is_timeline(app)))
}

static COMMANDS: &[Command] = &[
    Command::own(
        "timeline",
        say::knowledge::TOGGLE,
        &["Shift+s"],
        |app| feed::show_as_timeline(app, !untrack(|| is_timeline(app))),
        |_| true,
    ),
    on_timeline("closer", say::knowledge::ZOOM_IN, &["Plus"], |app| {
        state::zoom(app, state::CLOSER)
    }),
    on_timeline("farther", say::knowledge::ZOOM_OUT, &["-"], |app| {
        state::zoom(app, state::FARTHER)
    }),
    on_timeline(
        "all-times",
        say::knowledge::ZOOM_ALL,
        &["0"],
        state::show_all,
    ),
    on_timeline(
        "earlier-times",
        say::knowledge::EARLIER,
        &["ArrowLeft"],
        |app| state::pan(app, -state::PAN),
    ),
    on_timeline(
        "later-times",
        say::knowledge::LATER,
        &["ArrowRight"],
        |app| state::pan(app, state::PAN),
    ),
];

fn panes() -> AnyView {
    feed::view_both_panes(view! { <When /> })
}

fn nothing() -> AnyView {
    let app = App::here();
    let (title, means) = match app.list.held_at() {
        Some(_) => (
            say::knowledge::NOTHING_THEN,
            say::knowledge::NOTHING_THEN_MEANS,
        ),
        None => (say::knowledge::NOTHING, say::knowledge::NOTHING_MEANS),
    };
    view! {
        <div class="none" data-testid="no-knowledge">
            <span class="sign">{VIEW.icon.draw()}</span>
            <h2>{title}</h2>
            <p>{means}</p>
        </div>
    }
    .into_any()
}
