//! The shared brief as agents get it: pinned lines first, each line one click away from its
//! evidence. A person pins, unpins and edits lines; the composed lines change with the claims.

mod detail;
#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod list;
mod pins;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;

use leptos::prelude::*;

pub(crate) use self::{pins::pin_or_unpin_claim, state::Brief};
use super::View;
use crate::{
    app::{components::icons::Icon, frame::room, state::App},
    commands::{Act, Command},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "brief",
    title: say::brief::TITLE,
    one: say::brief::ONE,
    icon: Icon::Own("M6 3.500h8.500l4 4v13H6zM14 3.500v4.500h4.500M9 12.500h6.500M9 16h4.500"),
    of: say::brief::LINES,
    counted: say::brief::COUNTS,
    // Composing it only to count it would cost more than the number is worth.
    count: |_| 0,
    step: state::step,
    panes,
    is_any_open: |app| app.views.brief.inbox.open.with(Option::is_some),
    pointer: state::line_pointer,
    own: Some((say::brief::TITLE, COMMANDS)),
    knows: |act| {
        act.is_for_every_list()
            || act.is_of_source()
            || matches!(act, Act::Facets | Act::Blame | Act::Pin)
    },
    may: state::may,
    act: state::act,
    ..View::LIST
};

static COMMANDS: &[Command] = &[
    Command::own(
        "line",
        say::brief::ADD,
        &["Shift+p"],
        |app| room::act_in_list(app, move || pins::write_line(app, None)),
        |_| true,
    ),
    Command::own(
        "edit-line",
        say::brief::EDIT_MEANS,
        &["Shift+e"],
        pins::edit_line,
        |app| untrack(|| state::current_line(app)).is_some_and(|line| pins::can_edit(&line)),
    ),
];

fn panes() -> AnyView {
    state::follow(App::here());
    room::panes(view! { <list::List /> }, view! { <detail::Detail /> })
}
