//! The claims whose evidence changed. Its list is the feed's, of these alone; what it has of its own is
//! the question that it asks of each, and what it says when there is none.

mod bar;

use engram_model::{Evidence, Filter};
use leptos::prelude::*;

pub(crate) use self::bar::{Triage, Verdict};
use super::{View, feed};
use crate::app::{icons::Icon, state::App};

pub(crate) static VIEW: View = View {
    id: "drift",
    title: "Drift",
    icon: Icon::Drift,
    of: ("claim in doubt", "claims in doubt"),
    counted: "Claims in doubt",
    count: |app| app.status.with(|it| it.as_ref().map_or(0, |it| it.drifted)),
    asks: true,
    within: |filter| Filter {
        health: Evidence::DRIFTED.to_vec(),
        ..filter
    },
    panes: feed::panes,
    nothing: Some(nothing),
};

fn nothing() -> AnyView {
    let app = App::here();
    view! {
        <div class="none" data-testid="no-drift">
            <span class="sign">{Icon::Check.draw()}</span>
            <h2>"No claim is in doubt"</h2>
            <p>"All evidence stands as it was pinned."</p>
            <button on:click=move |_| app.show_view(&feed::VIEW)>"Back to the feed"</button>
        </div>
    }
    .into_any()
}
