//! The agents that used the memory: who, started by whom, their last call, and what their turn has cost.
//! Their claims are in the feed.

mod detail;
mod list;
mod state;

use leptos::{html, prelude::*};

use self::{detail::Detail, list::List, state::Agents};
use super::View;
use crate::{
    app::{icons::Icon, split::Split, state::App},
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
    step: |_, by| list::step(by),
    panes,
    nothing: None,
};

fn panes() -> AnyView {
    let app = App::here();
    let agents = Agents::follow(app);
    let panes = NodeRef::<html::Main>::new();
    let width = move || app.frame.list_width.get().map(|it| format!("{it}px"));
    view! {
        <main class="panes" class:one=move || app.frame.is_narrow.get() node_ref=panes style=("--list", width)>
            <List agents />
            <Split panes />
            <Detail agents />
        </main>
    }
    .into_any()
}
