//! What is new in all repositories of the home since the person last looked: learned, contradicted,
//! drifted, asked for, by repository and agent. Each row leads to what it counts.

mod detail;
#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod list;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;

use leptos::prelude::*;

pub(crate) use self::state::Today;
use super::View;
use crate::{
    app::{components::icons::Icon, dom, frame::room, state::App},
    commands::{Act, Command},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "today",
    title: say::today::TITLE,
    one: say::today::ONE,
    icon: Icon::Own(
        "M12 4.500a7.500 7.500 0 1 0 0 15a7.500 7.500 0 1 0 0-15M12 8v4.200l2.800 1.800",
    ),
    of: say::today::NEWS,
    counted: say::today::COUNTS,
    // Reading all repositories only to count would cost more than the number is worth.
    count: |_| 0,
    step: state::step,
    panes,
    is_any_open: |app| app.views.today.inbox.open.with(Option::is_some),
    own: Some((say::today::TITLE, COMMANDS)),
    knows: |act| act.is_for_every_list() || act == Act::Facets,
    act: |app, act| {
        let chooses = act == Act::Facets;
        if chooses {
            room::act_in_list(app, || dom::focus(list::SINCE));
        }
        chooses
    },
    ..View::LIST
};

static COMMANDS: &[Command] = &[Command::own(
    "lead",
    say::today::GO,
    &["Enter"],
    state::go_to_current,
    |app| untrack(|| state::current_row(app)).is_some(),
)];

fn panes() -> AnyView {
    state::follow(App::here());
    room::panes(view! { <list::List /> }, view! { <detail::Detail /> })
}
