//! The shared brief as agents get it: pinned lines first, each line a click from its evidence. A person pins,
//! unpins and edits lines; what is composed changes with the claims.

mod detail;
mod list;
mod pins;
mod state;

pub(crate) use self::state::{act_on_brief, holds_for_brief, line_pointer};
#[cfg(feature = "gallery")]
pub(crate) use self::{pins::write_line, state::line};
use leptos::prelude::*;

pub(crate) use self::{detail::Detail, list::List, state::Brief};
use super::View;
use crate::{
    app::{icons::Icon, room, state::App},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "brief",
    title: say::brief::TITLE,
    icon: Icon::Own("M6 3.500h8.500l4 4v13H6zM14 3.500v4.500h4.500M9 12.500h6.500M9 16h4.500"),
    of: say::brief::LINES,
    counted: say::brief::COUNTS,
    // Composing it only to count it would cost more than the number is worth.
    count: |_| 0,
    asks: false,
    reads: false,
    by_topic: false,
    within: |filter| filter,
    step: state::step_brief,
    panes,
    nothing: None,
};

fn panes() -> AnyView {
    state::follow_brief(App::here());
    room::panes(view! { <List /> }, view! { <Detail /> })
}
