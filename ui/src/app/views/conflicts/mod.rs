//! The conflicts that wait for a verdict, as an inbox: by topic, worst first. The two claims of a conflict
//! stand side by side with their evidence; a key settles it and opens the next.

mod chosen;
mod detail;
mod list;
mod merge;
pub(crate) mod queue;
mod state;
#[cfg(all(test, feature = "gallery"))]
mod tests;
mod verdict;

use engram_model::ConflictId;
use leptos::prelude::*;

pub(crate) use self::state::{Conflicts, show_conflict, show_its_conflict};
#[cfg(feature = "gallery")]
pub(crate) use self::{
    chosen::ChosenBar, detail::Detail, list::List, merge::begin_merge, state::conflict,
};
use super::{Address, View};
use crate::{
    app::{icons::Icon, room, state::App, views::conflicts::queue::Verdict},
    commands::{Act, Command, Own},
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
    asks: true,
    step: state::step_conflicts,
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
                state::select_conflict(app, id);
            }
        },
    },
    own: Some((say::conflicts::ONE, COMMANDS)),
    knows: |act| {
        act.moves()
            || act.is_of_source()
            || matches!(
                act,
                Act::Facets | Act::Extend(_) | Act::ChooseAll | Act::Choose | Act::Link
            )
    },
    may: state::may,
    act: state::act,
    ..View::LIST
};

static COMMANDS: &[Command] = &[
    Command::own(
        Verdict::First.id(),
        say::conflicts::FIRST_HOLDS,
        &["a"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::First),
            may: |app| state::may_judge(app, Verdict::First),
            judges: true,
        },
    ),
    Command::own(
        Verdict::Second.id(),
        say::conflicts::SECOND_HOLDS,
        &["b"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::Second),
            may: |app| state::may_judge(app, Verdict::Second),
            judges: true,
        },
    ),
    Command::own(
        Verdict::Newer.id(),
        say::conflicts::NEWER_HOLDS,
        &["n"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::Newer),
            may: |app| state::may_judge(app, Verdict::Newer),
            judges: true,
        },
    ),
    Command::own(
        Verdict::Surer.id(),
        say::conflicts::SURER_HOLDS,
        &["s"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::Surer),
            may: |app| state::may_judge(app, Verdict::Surer),
            judges: true,
        },
    ),
    Command::own(
        Verdict::Merge.id(),
        say::conflicts::MERGE,
        &["m"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::Merge),
            may: |app| state::may_judge(app, Verdict::Merge),
            judges: true,
        },
    ),
    Command::own(
        Verdict::Dismiss.id(),
        say::conflicts::DISMISS,
        &["x"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::Dismiss),
            may: |app| state::may_judge(app, Verdict::Dismiss),
            judges: true,
        },
    ),
    Command::own(
        Verdict::Allow.id(),
        say::conflicts::ALLOW_MEANS,
        &["p"],
        Own {
            does: |app| verdict::judge_conflict(app, Verdict::Allow),
            may: |app| state::may_judge(app, Verdict::Allow),
            judges: true,
        },
    ),
    Command::own(
        "reason",
        say::conflicts::WRITE_REASON,
        &["r"],
        Own {
            does: verdict::write_reason,
            may: |app| untrack(|| state::conflict(app)).is_some(),
            judges: false,
        },
    ),
    Command::own(
        "reopen",
        say::conflicts::REOPEN,
        &["u"],
        Own {
            does: verdict::reopen_conflict,
            may: |app| untrack(|| state::conflict(app)).is_some_and(|it| state::can_reopen(&it)),
            judges: true,
        },
    ),
    Command::own(
        "first-claim",
        say::conflicts::SHOW_FIRST,
        &["Shift+a"],
        Own {
            does: |app| state::show_claim(app, 0),
            may: |app| untrack(|| state::conflict(app)).is_some(),
            judges: false,
        },
    ),
    Command::own(
        "second-claim",
        say::conflicts::SHOW_SECOND,
        &["Shift+b"],
        Own {
            does: |app| state::show_claim(app, 1),
            may: |app| untrack(|| state::conflict(app)).is_some(),
            judges: false,
        },
    ),
];

fn panes() -> AnyView {
    state::follow(App::here());
    room::panes(
        view! { <list::List /> },
        view! { <detail::Detail /><chosen::ChosenBar /> },
    )
}
