//! What holds, by topic: the feed's list, limited to claims that hold. Or what held at a past time:
//! then nothing can be changed, and a bar above says so until the person returns to now.

#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod when;

use engram_model::Filter;
use leptos::prelude::*;

pub(crate) use self::when::{When, choose_time, show_now, show_then};
use super::{View, feed};
use crate::{
    app::{components::icons::Icon, state::App},
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
    within: |filter| Filter {
        ended: filter.held_at.is_none().then_some(false),
        ..filter
    },
    panes,
    nothing: Some(nothing),
    ..feed::ENGRAMS
};

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
