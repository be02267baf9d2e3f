//! All engrams of a project, newest first: the list, its filter, and the open engram.

mod arrivals;
mod chosen;
mod empty;
mod filter;
#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod heights;
mod list;
mod look;
mod pages;
mod ranked;
mod row;
mod rows;
mod scroll;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;
mod topics;

use engram_model::EngramId;
use leptos::prelude::*;

pub(crate) use self::{
    arrivals::take_entries,
    chosen::{
        ChosenClaimsBar, act_on_chosen, choose_all, extend_choice, holds_for_chosen,
        is_for_all_chosen, leave_choice_of, leave_chosen, press_row, toggle_open_row,
    },
    empty::End,
    filter::PANEL,
    heights::TOPIC,
    list::List,
    look::{
        begin_to_look, follow_presence, is_nothing_new, keep_look_at, keep_looked, look_away,
        see_own, waits_for_pointer,
    },
    pages::{PAGE, load_first, load_older, page_request, read_first},
    ranked::RankedNote,
    row::engram_row_id,
    rows::view_heading,
    scroll::{Viewport, follow_size},
    state::{
        Listing, count_facets, is_by_topic, leave_filter, list_anew, list_doubts_anew,
        list_in_place, listed_rows, neighbour, search_again, select_newest, set_as_addressed,
        set_view_and_filter, show_as_timeline, show_filtered, show_new, toggle_facets, toggle_row,
    },
    topics::TopicHeadings,
};
use super::{Address, View};
use crate::{
    app::{
        components::icons::Icon,
        first_run,
        frame::room,
        overlay::menu::Menu,
        reading::{self, detail::Detail},
        state::App,
        views,
    },
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "feed",
    title: say::rail::FEED,
    icon: Icon::Own("M4 6h16M4 12h16M4 18h10"),
    of: say::ENGRAMS,
    counted: say::rail::FEED_COUNTS,
    count: |app| app.status.with(|it| it.as_ref().map_or(0, |it| it.engrams)),
    panes,
    ..ENGRAMS
};

/// What views that list engrams have in common.
pub(crate) const ENGRAMS: View = View {
    one: say::engram::LABEL,
    lists_engrams: true,
    step: state::step,
    panes,
    is_any_open: |app| app.reading.selected.with(Option::is_some),
    pointer: reading::engram_pointer,
    address: Address {
        key: "id",
        is_name: |text| text.parse::<EngramId>().is_ok(),
        no_name: Some(say::repositories::no_id),
        of: |app| {
            let open = app.reading.selected.get_untracked();
            open.map(|id| id.to_string())
        },
        open: |app, id| {
            if let Some(id) = id.and_then(|id| id.parse().ok()) {
                reading::select_engram(app, id);
            }
        },
    },
    knows: |_| true,
    ..View::LIST
};

/// The list, and beside it the open engram with its actions; while there is nothing, the first-run
/// page.
pub(crate) fn panes() -> AnyView {
    let app = App::here();
    let is_empty = Memo::new(move |_| is_first_run(app));
    let panes = move || {
        if is_empty.get() {
            first_run::focus_welcome();
            view! { <first_run::FirstRun /> }.into_any()
        } else {
            view_both_panes(())
        }
    };
    panes.into_any()
}

/// Whether there is nothing yet but what is left of a sample.
pub(crate) fn is_first_run(app: App) -> bool {
    let is_plain = views::asked_filter(app).is_empty();
    app.list
        .feed
        .with(|feed| feed.is_empty() || (is_plain && first_run::is_only_past_sample(feed)))
}

/// Both panes, with what lies above them.
pub(crate) fn view_both_panes(above: impl IntoView + 'static) -> AnyView {
    room::panes(
        view! { {above}<List /> },
        view! { <Detail /><ChosenClaimsBar /><Menu /> },
    )
}
