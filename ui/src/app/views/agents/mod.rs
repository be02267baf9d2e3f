//! The agents that used the memory: who, below which parent, their last call, and what their turn has cost.
//! Their claims are in the feed.

mod detail;
mod list;
mod state;

use leptos::prelude::*;

use self::{detail::Detail, list::List, state::Agents};
use super::View;
use crate::{
    app::{icons::Icon, room, state::App},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "agents",
    title: say::agents::TITLE,
    icon: Icon::Own(
        "M9 4.500a3.500 3.500 0 1 0 0 7a3.500 3.500 0 1 0 0-7M2.500 19.500c0-3.500 3-5 6.500-5s6.500 1.500 6.500 5M16 5a3.200 3.200 0 0 1 0 6.200M18 14.800c2.300.6 3.500 2.200 3.500 4.700",
    ),
    of: say::AGENTS,
    counted: say::agents::COUNTS,
    count: |app| app.status.with(|it| it.as_ref().map_or(0, |it| it.agents)),
    asks: false,
    reads: false,
    by_topic: false,
    within: |filter| filter,
    step: list::step,
    panes,
    nothing: None,
};

fn panes() -> AnyView {
    let agents = Agents::follow(App::here());
    room::panes(view! { <List agents /> }, view! { <Detail agents /> })
}
