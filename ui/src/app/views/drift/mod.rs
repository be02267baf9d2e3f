//! The claims whose evidence changed. The list is the feed's, limited to these claims; only the
//! question about each, and the text of an empty list, are this view's own.

mod bar;
#[cfg(all(test, feature = "gallery"))]
mod tests;

use engram_model::{Evidence, Filter};
use leptos::prelude::*;

pub(crate) use self::bar::{Triage, Verdicts, judge};
use super::{View, feed};
use crate::{
    app::{components::icons::Icon, state::App, views},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "drift",
    title: say::rail::DRIFT,
    icon: Icon::Own(
        "M12 8.500V20M12 8.500a2.700 2.700 0 1 0 0-5.400a2.700 2.700 0 1 0 0 5.400M5 13a7 7 0 0 0 14 0M9 11.500h6",
    ),
    of: say::TO_REVIEW,
    counted: say::rail::DRIFT_COUNTS,
    count: |app| app.status.with(|it| it.as_ref().map_or(0, |it| it.drifted)),
    is_queue: true,
    within: |filter| Filter {
        health: Evidence::DRIFTED.to_vec(),
        ..filter
    },
    nothing: Some(nothing),
    ..feed::ENGRAMS
};

fn nothing() -> AnyView {
    let app = App::here();
    view! {
        <div class="none" data-testid="no-drift">
            <span class="sign">{Icon::Check.draw()}</span>
            <h2>{say::review::NOTHING}</h2>
            <p>{say::review::NOTHING_MEANS}</p>
            <button on:click=move |_| views::show_view(app, &feed::VIEW)>{say::review::BACK}</button>
        </div>
    }
    .into_any()
}
