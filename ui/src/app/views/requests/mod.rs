//! What agents asked to read beyond their budgets, as an inbox: who asks and why, with the exact
//! lines. One key grants with a cap, another denies; a grant can be revoked until it is used.

mod answer;
mod detail;
#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod hand_on;
mod list;
pub(crate) mod request;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;

use engram_model::EngramId;
use leptos::prelude::*;

pub(crate) use self::state::Requests;
use super::{Address, View};
use crate::{
    app::{
        components::{field::REASON, icons::Icon},
        dom,
        frame::room,
        state::App,
        views::requests::request::Answer,
    },
    commands::{Act, Command},
    words::say,
};

/// The command that hands on a grant.
const HAND_ON: &str = "hand-on";

pub(crate) static VIEW: View = View {
    id: "requests",
    title: say::requests::TITLE,
    one: say::requests::ONE,
    icon: Icon::Own(
        "M15 4.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9M11.800 12.200L4.500 19.500M7 17l2.500 2.500",
    ),
    of: say::requests::OF,
    counted: say::requests::COUNTS,
    count: |app| {
        app.status
            .with(|it| it.as_ref().and_then(|it| it.requests).unwrap_or(0))
    },
    is_queue: true,
    step: state::step,
    panes,
    is_any_open: |app| app.views.requests.inbox.open.with(Option::is_some),
    pointer: state::request_pointer,
    address: Address {
        key: "request",
        // Written like the id of an engram.
        is_name: |text| text.parse::<EngramId>().is_ok(),
        no_name: None,
        of: |app| app.views.requests.inbox.open.get_untracked(),
        open: |app, id| {
            id.into_iter()
                .for_each(|id| state::select_request(app, id.to_owned()))
        },
    },
    own: Some((say::requests::ONE, COMMANDS)),
    knows: |act| {
        act.is_for_every_list() || act.is_of_source() || matches!(act, Act::Blame | Act::Link)
    },
    may: state::may,
    act: state::act,
    ..View::LIST
};

static COMMANDS: &[Command] = &[
    Command::own(
        Answer::Grant.id(),
        say::requests::GRANT_MEANS,
        &["y"],
        |app| answer::give_answer(app, Answer::Grant),
        |app| state::can_give(app, Answer::Grant),
    )
    .that_judges(),
    Command::own(
        Answer::Deny.id(),
        say::requests::DENY_MEANS,
        &["x"],
        |app| answer::give_answer(app, Answer::Deny),
        |app| state::can_give(app, Answer::Deny),
    )
    .that_judges(),
    Command::own(
        Answer::Revoke.id(),
        say::requests::REVOKE_MEANS,
        &["u"],
        |app| answer::give_answer(app, Answer::Revoke),
        |app| state::can_give(app, Answer::Revoke),
    )
    .that_judges(),
    Command::own(
        HAND_ON,
        say::requests::HAND_ON_MEANS,
        &["Shift+g"],
        hand_on::hand_on,
        |app| untrack(|| hand_on::can_hand_on(app)),
    )
    .that_judges(),
    Command::own(
        "cap",
        say::requests::EDIT_CAP,
        &["Shift+e"],
        |app| room::act_in_detail(app, || dom::select_text(answer::CAP)),
        |app| state::can_give(app, Answer::Grant),
    ),
    Command::own(
        "why",
        say::conflicts::WRITE_REASON,
        &["Shift+w"],
        |app| room::act_in_detail(app, || dom::focus(REASON)),
        |app| state::can_give(app, Answer::Grant),
    ),
];

fn panes() -> AnyView {
    state::follow(App::here());
    room::panes(view! { <list::List /> }, view! { <detail::Detail /> })
}
