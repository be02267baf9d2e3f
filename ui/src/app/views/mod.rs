//! The views, one folder and one line of the table each. A view has what it lists, what it shows beside
//! it, and the actions on that; what views share (the connection, what is read, the frame) is beside them.

pub(crate) mod agents;
pub(crate) mod brief;
pub(crate) mod conflicts;
pub(crate) mod drift;
pub(crate) mod feed;
pub(crate) mod knowledge;
pub(crate) mod requests;

use engram_model::{Filter, Pointer};
use leptos::prelude::*;

use super::{icons::Icon, state::App};
use crate::{
    app::{act, dom, room},
    commands::{Act, Command},
    words::say::Noun,
};

/// One view: all that the frame knows of it.
pub(crate) struct View {
    /// Its name in an address.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// What one of its list is called.
    pub(crate) one: &'static str,
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
    /// Its list may be of a time that is past.
    pub(crate) tells_of_the_past: bool,
    /// Which engrams it lists, of those that the person limits it to.
    pub(crate) within: fn(Filter) -> Filter,
    /// Moves through its list by rows, clamped at the ends.
    pub(crate) step: fn(App, isize),
    /// Its list, with the open item and its actions; or what stands there while it is empty.
    pub(crate) panes: fn() -> AnyView,
    /// What stands there when nothing is in it; where it has a word of its own for that.
    pub(crate) nothing: Option<fn() -> AnyView>,
    /// Whether anything of its list is open.
    pub(crate) is_any_open: fn(App) -> bool,
    /// Whether several of its list are selected, so that keys act on those.
    pub(crate) is_any_chosen: fn(App) -> bool,
    /// A pointer of what is open, by its place.
    pub(crate) pointer: fn(App, usize) -> Option<Pointer>,
    /// What is open, as an address names it.
    pub(crate) address: Address,
    /// Its own commands, under the title of their group.
    pub(crate) own: Option<(&'static str, &'static [Command])>,
    /// Which shared commands mean anything here.
    pub(crate) knows: fn(Act) -> bool,
    /// Whether a shared command has something to work on; none where the view has nothing to say about that.
    pub(crate) may: fn(App, Act) -> Option<bool>,
    /// Does what a shared command means here alone; says whether it means anything of its own.
    pub(crate) act: fn(App, Act) -> bool,
}

/// How an address names what is open in a view.
pub(crate) struct Address {
    /// The key in a query.
    pub(crate) key: &'static str,
    /// Whether a text can be such a name.
    pub(crate) is_name: fn(&str) -> bool,
    /// What is said of a text that cannot be one; where it is not just left out.
    pub(crate) no_name: Option<fn(&str) -> String>,
    /// The name of what is open.
    pub(crate) of: fn(App) -> Option<String>,
    /// Opens what a name stands for; without one, what the view opens by itself.
    pub(crate) open: fn(App, Option<&str>),
}

impl Address {
    /// Of a view in which an address names nothing.
    pub(crate) const NONE: Self = Self {
        key: "",
        is_name: |_| false,
        no_name: None,
        of: |_| None,
        open: |_, _| {},
    };
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

/// What views keep while another is on the screen.
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
}

impl View {
    /// What most views that list no engrams have in common.
    pub(crate) const LIST: Self = Self {
        id: "",
        title: "",
        one: "",
        icon: Icon::Check,
        of: ("", ""),
        counted: "",
        count: |_| 0,
        asks: false,
        reads: false,
        by_topic: false,
        tells_of_the_past: false,
        within: |filter| filter,
        step: |_, _| {},
        panes: || ().into_any(),
        nothing: None,
        is_any_open: |_| false,
        is_any_chosen: |_| false,
        pointer: |_, _| None,
        address: Address::NONE,
        own: None,
        knows: Act::moves,
        may: |_, _| None,
        act: |_, _| false,
    };

    /// One of its own commands.
    pub(crate) fn command(&self, id: &str) -> Option<&'static Command> {
        self.commands().iter().find(|it| it.id == id)
    }

    /// Does what one of its own commands stands for.
    pub(crate) fn run(&self, app: App, id: &str) {
        if let Some(command) = self.command(id) {
            act::run(app, command);
        }
    }

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

    /// Its own commands.
    pub(crate) fn commands(&self) -> &'static [Command] {
        self.own.map_or(&[], |(_, all)| all)
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
    dom::next_frame(move || room::to_list(app));
}

/// What is asked for: what the view lists, as the person limits it.
pub(crate) fn asked(app: App) -> Filter {
    (app.view.get().within)(app.list.filter.get())
}

/// Whether what leaves the list is done with, so that the next is read.
pub(crate) fn is_queue(app: App) -> bool {
    app.view.get_untracked().asks
}

#[cfg(all(test, feature = "gallery"))]
mod stage;
