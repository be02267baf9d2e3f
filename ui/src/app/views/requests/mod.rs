//! What agents asked to read beyond their budgets, as an inbox: who asks and why, with the very lines. One
//! key grants with a cap, one denies; a grant is revoked until it is used.

mod answer;
mod detail;
mod list;
mod state;

pub(crate) use self::answer::revoke_grant;
pub(crate) use self::state::{
    act_on_requests, holds_for_requests, request_pointer, select_request,
};
use leptos::prelude::*;

pub(crate) use self::{detail::Detail, list::List, state::Requests};
use super::View;
use crate::{
    app::{icons::Icon, room, state::App},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "requests",
    title: say::requests::TITLE,
    icon: Icon::Own(
        "M15 4.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9M11.800 12.200L4.500 19.500M7 17l2.500 2.500",
    ),
    of: say::requests::OF,
    counted: say::requests::COUNTS,
    count: |app| {
        app.status
            .with(|it| it.as_ref().and_then(|it| it.requests).unwrap_or(0))
    },
    asks: true,
    reads: false,
    by_topic: false,
    within: |filter| filter,
    step: state::step_requests,
    panes,
    nothing: None,
};

fn panes() -> AnyView {
    state::follow_requests(App::here());
    room::panes(view! { <List /> }, view! { <Detail /> })
}
