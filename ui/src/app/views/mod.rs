//! The views, one folder and one line of the table each. A view has what it lists, what it shows beside
//! it, and the actions on that; what views share (the connection, what is read, the frame) is beside them.

pub(crate) mod agents;
pub(crate) mod brief;
pub(crate) mod conflicts;
pub(crate) mod drift;
pub(crate) mod feed;
pub(crate) mod knowledge;
pub(crate) mod requests;

use engram_model::Filter;
use leptos::prelude::*;

use super::{icons::Icon, state::App};
use crate::{app::room, commands::Lists, words::say::Noun};

/// One view.
pub(crate) struct View {
    /// Its name in an address, as `crate::route::VIEWS` has it.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) icon: Icon,
    /// What is counted, in the singular and the plural, and said of the number.
    pub(crate) of: Noun,
    pub(crate) counted: &'static str,
    pub(crate) count: fn(App) -> u64,
    /// It asks for something of each: it is absent without any, and marked with how many there are; what
    /// is done with one leads to the next.
    pub(crate) asks: bool,
    /// Its list holds engrams, and keys act on the open one; else it lists something else.
    pub(crate) reads: bool,
    /// Its list is grouped by topic; else it is in one order, the newest first.
    pub(crate) by_topic: bool,
    /// Which engrams it lists, of those that the person limits it to.
    pub(crate) within: fn(Filter) -> Filter,
    /// Moves through its list by rows, clamped at the ends.
    pub(crate) step: fn(App, isize),
    /// Its list, with the open item and its actions; or what stands there while it is empty.
    pub(crate) panes: fn() -> AnyView,
    /// What stands there when nothing is in it; where it has a word of its own for that.
    pub(crate) nothing: Option<fn() -> AnyView>,
}

/// The id of the list on the screen, which takes the focus when nothing else has it.
pub(crate) const LIST: &str = "feed";

/// All views, in the order of the rail. The first is shown where no other is asked for.
pub(crate) static VIEWS: &[&View] = &[
    &feed::VIEW,
    &drift::VIEW,
    &conflicts::VIEW,
    &agents::VIEW,
    &requests::VIEW,
    &brief::VIEW,
    &knowledge::VIEW,
];

impl View {
    /// By its name; the first for one that there is not.
    pub(crate) fn named(id: &str) -> &'static Self {
        let found = VIEWS.iter().find(|it| it.id == id);
        found.copied().unwrap_or(&feed::VIEW)
    }

    /// The key that shows it: its place among the first nine.
    pub(crate) fn key(&self) -> Option<String> {
        let at = VIEWS.iter().position(|it| it.id == self.id)?;
        (at < 9).then(|| (at + 1).to_string())
    }

    /// Whether it is on the screen.
    pub(crate) fn is_on(&self, app: App) -> bool {
        app.view.get().id == self.id
    }

    /// What its list holds: keys do not act on what is not on the screen.
    pub(crate) fn lists(&self) -> Lists {
        match self.id {
            _ if self.reads => Lists::Engrams,
            id if id == conflicts::VIEW.id => Lists::Conflicts,
            id if id == requests::VIEW.id => Lists::Requests,
            id if id == brief::VIEW.id => Lists::Brief,
            _ => Lists::Agents,
        }
    }

    /// Whether it is in the rail.
    pub(crate) fn is_here(&self, app: App) -> bool {
        !self.asks || (self.count)(app) > 0 || self.is_on(app)
    }
}

/// Shows a view, whole; one that is on the screen already stays as it is limited.
pub(crate) fn show_view(app: App, view: &'static View) {
    if !untrack(|| view.is_on(app)) {
        feed::limit(app, view, Filter::default(), true);
    }
    // Its list may not be drawn yet.
    request_animation_frame(move || room::to_list(app));
}

/// What is asked for: what the view lists, as the person limits it.
pub(crate) fn asked(app: App) -> Filter {
    (app.view.get().within)(app.list.filter.get())
}

/// Whether what leaves the list is done with, so that the next is read.
pub(crate) fn is_queue(app: App) -> bool {
    app.view.get_untracked().asks
}
