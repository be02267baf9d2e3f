//! The views, one folder and one line of the table each. A view has a list, what it shows beside
//! the list, and the actions on that; what views share (the connection, the open engram, the frame)
//! is beside this folder.

pub(crate) mod agents;
pub(crate) mod brief;
pub(crate) mod conflicts;
pub(crate) mod drift;
pub(crate) mod feed;
pub(crate) mod knowledge;
pub(crate) mod requests;
pub(crate) mod today;

use engram_model::{Filter, Pointer};
use leptos::prelude::*;

use super::{components::icons::Icon, state::App};
use crate::{
    app::{act, dom, frame::room},
    commands::{Act, Command},
    words::say::Noun,
};

/// One view: all that the frame knows about it.
pub(crate) struct View {
    /// Its name in an address.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// The name of one item of its list.
    pub(crate) one: &'static str,
    pub(crate) icon: Icon,
    /// The noun for what it counts, and the label of the count.
    pub(crate) of: Noun,
    pub(crate) counted: &'static str,
    pub(crate) count: fn(App) -> u64,
    /// Whether it asks something about each item: it is hidden while empty and shows its count;
    /// settling one item opens the next.
    pub(crate) is_queue: bool,
    /// Whether its list holds engrams; keys then act on the open one.
    pub(crate) lists_engrams: bool,
    /// Whether its list is grouped by topic; else it has one order, newest first.
    pub(crate) by_topic: bool,
    /// Whether its list can show a past time.
    pub(crate) tells_of_the_past: bool,
    /// Its list as a timeline, which also shows what ended; none if it has none.
    pub(crate) timeline: Option<fn() -> AnyView>,
    /// Narrows a filter to the engrams that it lists.
    pub(crate) within: fn(Filter) -> Filter,
    /// Moves through its list by rows, clamped at the ends.
    pub(crate) step: fn(App, isize),
    /// Its list, with the open item and its actions; or what is shown while it is empty.
    pub(crate) panes: fn() -> AnyView,
    /// What is shown while nothing is in it; none for the common text.
    pub(crate) nothing: Option<fn() -> AnyView>,
    /// Whether an item of its list is open.
    pub(crate) is_any_open: fn(App) -> bool,
    /// Whether several items of its list are selected; keys then act on those.
    pub(crate) is_any_chosen: fn(App) -> bool,
    /// Returns a pointer of the open item, by its index.
    pub(crate) pointer: fn(App, usize) -> Option<Pointer>,
    /// How an address names the open item.
    pub(crate) address: Address,
    /// Its own commands, with the title of their group.
    pub(crate) own: Option<(&'static str, &'static [Command])>,
    /// Which shared commands have a meaning here.
    pub(crate) knows: fn(Act) -> bool,
    /// Whether a shared command has something to work on; none if the view does not decide that.
    pub(crate) may: fn(App, Act) -> Option<bool>,
    /// Runs a shared command that the view handles in its own way; returns whether it does.
    pub(crate) act: fn(App, Act) -> bool,
}

/// How an address names the open item of a view.
pub(crate) struct Address {
    /// The key in a query.
    pub(crate) key: &'static str,
    /// Whether a text can be such a name.
    pub(crate) is_name: fn(&str) -> bool,
    /// The message for a text that cannot be a name; none if it is just left out.
    pub(crate) no_name: Option<fn(&str) -> String>,
    /// Returns the name of the open item.
    pub(crate) of: fn(App) -> Option<String>,
    /// Opens the item with this name; without a name, the view's default.
    pub(crate) open: fn(App, Option<&str>),
}

impl Address {
    /// The address of a view in which an address names nothing.
    pub(crate) const NONE: Self = Self {
        key: "",
        is_name: |_| false,
        no_name: None,
        of: |_| None,
        open: |_, _| {},
    };
}

/// All views, in the order of the rail. The first is the default.
pub(crate) static VIEWS: &[&View] = &[
    &feed::VIEW,
    &drift::VIEW,
    &conflicts::VIEW,
    &agents::VIEW,
    &requests::VIEW,
    &brief::VIEW,
    &knowledge::VIEW,
    &today::VIEW,
];

/// The state that views keep while another is on the screen.
macro_rules! view_states {
    ($($view:ident: $part:ty),* $(,)?) => {
        #[derive(Clone, Copy)]
        pub(crate) struct ViewStates {
            $(pub(crate) $view: $part,)*
        }

        impl ViewStates {
            pub(crate) fn new() -> Self {
                Self { $($view: <$part>::new(),)* }
            }

            /// Forgets everything about the repository that was in front.
            pub(crate) fn reset(self) {
                $(self.$view.reset();)*
            }
        }
    };
}

view_states! {
    conflicts: conflicts::Conflicts,
    agents: agents::Agents,
    requests: requests::Requests,
    brief: brief::Brief,
    knowledge: knowledge::Knowledge,
    today: today::Today,
}

impl View {
    /// The common part of most views that list no engrams.
    pub(crate) const LIST: Self = Self {
        id: "",
        title: "",
        one: "",
        icon: Icon::Check,
        of: ("", ""),
        counted: "",
        count: |_| 0,
        is_queue: false,
        lists_engrams: false,
        by_topic: false,
        tells_of_the_past: false,
        timeline: None,
        within: |filter| filter,
        step: |_, _| {},
        panes: || ().into_any(),
        nothing: None,
        is_any_open: |_| false,
        is_any_chosen: |_| false,
        pointer: |_, _| None,
        address: Address::NONE,
        own: None,
        knows: Act::is_for_every_list,
        may: |_, _| None,
        act: |_, _| false,
    };

    /// Returns one of its own commands.
    pub(crate) fn command(&self, id: &str) -> Option<&'static Command> {
        self.commands().iter().find(|it| it.id == id)
    }

    /// Runs one of its own commands.
    pub(crate) fn run(&self, app: App, id: &str) {
        if let Some(command) = self.command(id) {
            act::run(app, command);
        }
    }

    /// The first chord of one of its own commands; empty if it has none.
    pub(crate) fn chord(&self, id: &str) -> &'static str {
        let keys = self.command(id).map_or(&[][..], |it| it.keys);
        keys.first().copied().unwrap_or_default()
    }

    /// Returns the view with this id; the first view, if there is none.
    pub(crate) fn with_id(id: &str) -> &'static Self {
        let found = VIEWS.iter().find(|it| it.id == id);
        found.copied().unwrap_or(&feed::VIEW)
    }

    /// The key that shows it, given by its place among the first nine.
    pub(crate) fn key(&self) -> Option<String> {
        let at = VIEWS.iter().position(|it| it.id == self.id)?;
        (at < 9).then(|| (at + 1).to_string())
    }

    /// Whether it is on the screen.
    pub(crate) fn is_on(&self, app: App) -> bool {
        app.view.get().id == self.id
    }

    /// Its own commands.
    pub(crate) fn commands(&self) -> &'static [Command] {
        self.own.map_or(&[], |(_, all)| all)
    }

    /// Whether it is in the rail.
    pub(crate) fn is_here(&self, app: App) -> bool {
        !self.is_queue || (self.count)(app) > 0 || self.is_on(app)
    }
}

/// Returns the view that lists first what is about to end: the one by topic.
pub(crate) fn by_topic() -> &'static View {
    let found = VIEWS.iter().find(|it| it.by_topic);
    found.copied().unwrap_or(&feed::VIEW)
}

/// Shows a view without a filter; one that is on the screen already keeps its filter.
pub(crate) fn show_view(app: App, view: &'static View) {
    if !untrack(|| view.is_on(app)) {
        feed::show_filtered(app, view, Filter::default(), true);
    }
    // Its list may not be drawn yet.
    dom::next_frame(move || room::go_to_list(app));
}

/// The filter to request: what the view lists, limited as the person chose. A timeline also shows
/// what ended.
pub(crate) fn asked_filter(app: App) -> Filter {
    let filter = app.list.filter();
    if is_timeline(app) {
        filter
    } else {
        (app.view.get().within)(filter)
    }
}

/// Whether the list is shown as a timeline.
pub(crate) fn is_timeline(app: App) -> bool {
    app.view.get().timeline.is_some() && app.list.is_timeline.get()
}

/// Whether an item that leaves the list is done with, so that the next one opens.
pub(crate) fn is_queue(app: App) -> bool {
    app.view.get_untracked().is_queue
}

#[cfg(all(test, feature = "gallery"))]
pub(crate) mod stage;
