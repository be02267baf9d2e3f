//! The conflicts that wait for a verdict, as an inbox: by topic, worst first. The two claims of a conflict
//! stand side by side with their evidence; a key settles it and opens the next.

mod chosen;
mod detail;
mod list;
mod merge;
mod state;
mod verdict;

pub(crate) use self::state::{
    act_on_conflicts, conflict_pointer, holds_for_conflicts, return_to_conflict, select_conflict,
    show_conflict, show_its_conflict,
};
pub(crate) use self::verdict::{undo_allowance, undo_verdict};
#[cfg(feature = "gallery")]
pub(crate) use self::{merge::begin_merge, state::conflict};
use leptos::prelude::*;

pub(crate) use self::{chosen::ChosenBar, detail::Detail, list::List, state::Conflicts};
use super::View;
use crate::{
    app::{icons::Icon, room, state::App},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "conflicts",
    title: say::conflicts::TITLE,
    icon: Icon::Own(
        "M7 4v8a4 4 0 0 0 4 4h7M14.500 12.500l3.500 3.500-3.500 3.500M17 4v5M14.500 6.500l2.500-2.500 2.500 2.500",
    ),
    of: say::conflicts::OPEN_ONES,
    counted: say::conflicts::COUNTS,
    count: |app| {
        app.status
            .with(|it| it.as_ref().and_then(|it| it.conflicts).unwrap_or(0))
    },
    asks: true,
    reads: false,
    by_topic: false,
    within: |filter| filter,
    step: state::step_conflicts,
    panes,
    nothing: None,
};

fn panes() -> AnyView {
    state::follow_conflicts(App::here());
    room::panes(view! { <List /> }, view! { <Detail /><ChosenBar /> })
}
