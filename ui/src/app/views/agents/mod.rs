//! The agents that used the memory: each with its parent, its last call, and the cost of its turn.
//! Their claims are in the feed.

mod changes;
mod detail;
pub(crate) mod family;
mod list;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;
mod timeline;

use leptos::prelude::*;

pub(crate) use self::state::Agents;
use super::{Address, View};
use crate::{
    app::{components::icons::Icon, frame::room, state::App},
    commands::{Act, Command},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "agents",
    title: say::agents::TITLE,
    one: say::agents::ONE,
    icon: Icon::Own(
        "M9 4.500a3.500 3.500 0 1 0 0 7a3.500 3.500 0 1 0 0-7M2.500 19.500c0-3.500 3-5 6.500-5s6.500 1.500 6.500 5M16 5a3.200 3.200 0 0 1 0 6.200M18 14.800c2.300.6 3.500 2.200 3.500 4.700",
    ),
    of: say::AGENTS,
    counted: say::agents::COUNTS,
    count: |app| {
        let counted = app.status.with(|it| it.as_ref().map_or(0, |it| it.agents));
        app.views.agents.count_rows().unwrap_or(counted)
    },
    step: state::step,
    panes,
    is_any_open: |app| app.views.agents.inbox.open.with(Option::is_some),
    address: Address {
        key: "handle",
        is_name: |handle| !handle.is_empty(),
        no_name: None,
        of: |app| {
            let open = app.views.agents.inbox.open.get_untracked();
            open.map(|handle| handle.0)
        },
        open: state::open,
    },
    own: Some((say::agents::ONE, COMMANDS)),
    knows: |act| act.is_for_every_list() || act == Act::Facets,
    act: |app, act| match act {
        Act::Facets => {
            state::show_all_or_not(app);
            true
        }
        Act::Back => changes::leave(app),
        _ => false,
    },
    ..View::LIST
};

static COMMANDS: &[Command] = &[
    Command::own(
        "agent-name",
        say::agents::RENAME_MEANS,
        &["Shift+e"],
        |app| room::act_in_detail(app, move || changes::write_name(app)),
        is_any,
    ),
    Command::own(
        "agent-hide",
        say::agents::HIDE_MEANS,
        &["Shift+h"],
        changes::hide_or_show,
        is_any,
    ),
    Command::own(
        "agent-close",
        say::agents::CLOSE_MEANS_TO,
        &["Shift+x"],
        |app| room::act_in_detail(app, move || changes::ask_to_close(app)),
        |app| untrack(|| state::current_row(app)).is_some_and(|row| !row.agent.is_closed),
    ),
];

fn is_any(app: App) -> bool {
    untrack(|| state::current_row(app)).is_some()
}

fn panes() -> AnyView {
    state::follow(App::here());
    room::panes(view! { <list::List /> }, view! { <detail::Detail /> })
}
