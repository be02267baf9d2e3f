//! The conflicts that wait for a verdict, as an inbox: by topic, worst first. The two claims of a
//! conflict are side by side with their evidence; a key settles it and opens the next.

mod chosen;
mod detail;
mod explain;
#[cfg(feature = "gallery")]
pub(crate) mod gallery;
mod list;
mod merge;
mod queue;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;
mod verdict;
mod verdict_kind;

use engram_model::ConflictId;
use leptos::prelude::*;

pub(crate) use self::{
    queue::claim_after,
    state::{Conflicts, show_confirmed, show_conflict, show_its_conflict},
};
use super::{Address, View};
use crate::{
    app::{
        components::icons::Icon, frame::room, state::App,
        views::conflicts::verdict_kind::ConflictVerdict,
    },
    commands::{Act, Command},
    words::say,
};

pub(crate) static VIEW: View = View {
    id: "conflicts",
    title: say::conflicts::TITLE,
    one: say::conflicts::ONE,
    icon: Icon::Own(
        "M7 4v8a4 4 0 0 0 4 4h7M14.500 12.500l3.500 3.500-3.500 3.500M17 4v5M14.500 6.500l2.500-2.500 2.500 2.500",
    ),
    of: say::conflicts::OPEN_ONES,
    counted: say::conflicts::COUNTS,
    count: |app| {
        app.status
            .with(|it| it.as_ref().and_then(|it| it.conflicts).unwrap_or(0))
    },
    is_queue: true,
    step: state::step,
    panes,
    is_any_open: |app| app.views.conflicts.inbox.open.with(Option::is_some),
    is_any_chosen: |app| app.views.conflicts.is_any_chosen(),
    pointer: state::conflict_pointer,
    address: Address {
        key: "conflict",
        is_name: |text| text.parse::<ConflictId>().is_ok(),
        no_name: Some(say::repositories::no_conflict),
        of: |app| {
            let open = app.views.conflicts.inbox.open.get_untracked();
            open.map(|id| id.to_string())
        },
        open: |app, id| {
            if let Some(id) = id.and_then(|id| id.parse().ok()) {
                state::seek_conflict(app, id);
            }
        },
    },
    own: Some((say::conflicts::ONE, COMMANDS)),
    knows: |act| {
        act.is_for_every_list()
            || act.is_of_source()
            || matches!(
                act,
                Act::Facets
                    | Act::Extend(_)
                    | Act::ChooseAll
                    | Act::Choose
                    | Act::Link
                    | Act::Dispute
            )
    },
    may: state::may,
    act: state::act,
    ..View::LIST
};

/// Makes the command that gives a verdict.
macro_rules! gives {
    ($verdict:ident, $title:ident, $key:literal) => {
        Command::own(
            ConflictVerdict::$verdict.id(),
            say::conflicts::$title,
            &[$key],
            |app| verdict::judge_conflict(app, ConflictVerdict::$verdict),
            |app| state::may_judge(app, ConflictVerdict::$verdict),
        )
        .that_judges()
    };
}

static COMMANDS: &[Command] = &[
    gives!(First, FIRST_HOLDS, "a"),
    gives!(Second, SECOND_HOLDS, "b"),
    gives!(Newer, NEWER_HOLDS, "Shift+n"),
    gives!(Surer, SURER_HOLDS, "s"),
    gives!(Merge, MERGE, "m"),
    gives!(Contradict, CONTRADICT_MEANS, "Shift+y"),
    gives!(Dismiss, NO_CONFLICT, "x"),
    gives!(Allow, ALLOW_MEANS, "i"),
    Command::own(
        "explain",
        say::conflicts::ASK_MODEL,
        &["Shift+m"],
        explain::explain_conflict,
        explain::may_explain,
    ),
    Command::own(
        "reason",
        say::conflicts::WRITE_REASON,
        &["Shift+w"],
        verdict::write_reason,
        is_any_read,
    ),
    Command::own(
        "reopen",
        say::conflicts::TAKE_BACK,
        &["u"],
        verdict::reopen_conflict,
        |app| untrack(|| state::current_conflict(app)).is_some_and(|it| state::can_reopen(&it)),
    )
    .that_judges(),
    Command::own(
        "first-claim",
        say::conflicts::SHOW_FIRST,
        &["Shift+a"],
        |app| state::show_claim(app, 0),
        is_any_read,
    ),
    Command::own(
        "second-claim",
        say::conflicts::SHOW_SECOND,
        &["Shift+b"],
        |app| state::show_claim(app, 1),
        is_any_read,
    ),
];

fn is_any_read(app: App) -> bool {
    untrack(|| state::current_conflict(app)).is_some()
}

fn panes() -> AnyView {
    state::follow(App::here());
    room::panes(
        view! { <list::List /> },
        view! { <detail::Detail /><chosen::ChosenConflictsBar /> },
    )
}
