//! The list: conflicts by topic, worst first, and its filters.

use engram_model::{
    Conflict, ConflictFilter, ConflictId, ConflictSide, ConflictStatus, How, Listed,
};
use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};

use super::{VIEW, detail::judges};
use crate::{
    app::{
        components::{
            icons::Icon,
            inbox::{Instead, ListBox, ListPane},
            prose,
        },
        dom,
        state::App,
        views::conflicts::{
            chosen,
            queue::{Group, GroupName, Queue, excerpt},
            state,
        },
    },
    selection::Selection,
    words::{self, Clock, say},
};

/// The id of the status filter, which the filter key focuses.
pub(super) const STATUS: &str = "conflict-status";
const TOPIC: &str = "conflict-topic";

pub(super) fn conflict_row_id(id: ConflictId) -> String {
    format!("conflict-{id}")
}

fn filter_conflicts(app: App, change: impl FnOnce(&mut ConflictFilter)) {
    let mut filter = app.views.conflicts.filter.get_untracked();
    change(&mut filter);
    app.views.conflicts.clear_chosen();
    app.views.conflicts.filter.set(filter);
}

/// Selects the conflict if a modifier key is held, else opens it.
fn press_conflict(app: App, id: ConflictId, event: &ev::MouseEvent) {
    if event.shift_key() {
        chosen::extend_conflicts_to(app, id);
    } else if event.ctrl_key() || event.meta_key() {
        chosen::toggle_conflict(app, id);
        state::select_conflict(app, id);
    } else {
        app.views.conflicts.clear_chosen();
        state::go_to_conflict(app, id);
    }
}

#[component]
pub(super) fn List() -> impl IntoView {
    let app = App::here();
    let conflicts = app.views.conflicts;
    let count = move || {
        let open = (VIEW.count)(app);
        let counts_open = |it: &ConflictFilter| matches!(it.status, Listed::Open | Listed::All);
        let is_known = app.status.with(Option::is_some) && conflicts.filter.with(counts_open);
        is_known.then(|| say::conflicts::open_count(&words::thousands(open)))
    };
    let waiting = move || {
        conflicts
            .queue
            .with(|it| it.as_ref().map_or(0, Queue::waiting))
    };
    let pill = move || {
        (waiting() > 0).then(|| {
            view! {
                <button class="pill" data-testid="new-pill" on:click=move |_| state::point_off_conflicts(app)>{move || say::conflicts::new_count(waiting())}</button>
            }
        })
    };
    let beside = move || {
        view! {
            <span class="chip" data-testid="list-count" hidden=move || count().is_none() title=VIEW.counted>{count}</span>
            <span class="space"></span>
            {pill}
        }
    };
    view! {
        <ListPane view=&VIEW beside limits=|| view! { <Filters /> } refused=conflicts.inbox.refused again=state::read><Rows /></ListPane>
    }
}

/// The two filters, as the system's own controls.
#[component]
fn Filters() -> impl IntoView {
    let app = App::here();
    let conflicts = app.views.conflicts;
    let now = move || conflicts.filter.with(|it| it.status);
    let statuses = Listed::ALL.iter().map(|&it| {
        view! { <option value=it.as_str() selected=move || now() == it>{say::conflicts::listed(it)}</option> }
    });
    let topic = move || {
        conflicts
            .filter
            .with(|it| it.topic.clone())
            .unwrap_or_default()
    };
    // A chosen topic stays in the filter, whatever was read.
    let topics = Memo::new(move |_| {
        let mut topics = conflicts.topics.get();
        let topic = topic();
        if !topic.is_empty() && !topics.contains(&topic) {
            topics.insert(0, topic);
        }
        topics
    });
    let option = move |name: String| {
        let own = name.clone();
        view! { <option value=name.clone() selected=move || topic() == own>{words::visible(&name)}</option> }
    };
    let leave = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            dom::focus(dom::LIST);
        }
    };
    view! {
        <div class="filter choices" role="group" aria-label=say::filter::BUTTON on:keydown=leave>
            <label for=STATUS class="offscreen">{say::conflicts::STATUS}</label>
            <select id=STATUS data-testid="status-filter" on:change=move |event| {
                let status = event_target_value(&event).parse().unwrap_or(Listed::Open);
                filter_conflicts(app, |it| it.status = status);
            }>{statuses.collect_view()}</select>
            <label for=TOPIC class="offscreen">{say::conflicts::TOPIC}</label>
            <select id=TOPIC data-testid="topic-filter" on:change=move |event| {
                let topic = event_target_value(&event);
                filter_conflicts(app, |it| it.topic = (!topic.is_empty()).then_some(topic));
            }>
                <option value="" selected=move || topic().is_empty()>{say::conflicts::ALL_TOPICS}</option>
                {move || topics.get().into_iter().map(option).collect_view()}
            </select>
            <kbd aria-hidden="true">"F"</kbd>
        </div>
    }
}

#[component]
fn Rows() -> impl IntoView {
    let app = App::here();
    let conflicts = app.views.conflicts;
    let groups = Memo::new(move |_| {
        let groups = conflicts.queue.with(|it| it.as_ref().map(Queue::groups));
        groups.unwrap_or_default()
    });
    let names = Memo::new(move |_| {
        groups.with(|all| all.iter().map(|it| it.name.clone()).collect::<Vec<_>>())
    });
    let is_none = Memo::new(move |_| names.with(Vec::is_empty));
    let active = Signal::derive(move || {
        let id = conflicts.inbox.open.get()?;
        let is_listed = conflicts.queue.with(|it| it.as_ref()?.place(id)).is_some();
        is_listed.then(|| conflict_row_id(id))
    });
    let omitted = move || {
        let omitted = conflicts
            .queue
            .with(|it| it.as_ref().map_or(0, Queue::omitted));
        (omitted > 0).then(|| {
            let omitted = words::format_count(omitted, say::CONFLICTS);
            view! { <p class="quiet more">{say::conflicts::not_listed(&omitted)}</p> }
        })
    };
    let due = move || {
        let due = conflicts.queue.with(|it| it.as_ref().map_or(0, Queue::due));
        (due > 0).then(|| {
            let due = words::format_count(due, say::conflicts::DUE);
            view! { <p class="quiet more" data-testid="conflicts-due">{say::conflicts::still_due(&due)}</p> }
        })
    };
    // A key means that the pointer is not in use.
    let keys = window_event_listener(ev::keydown, move |event| {
        if !matches!(event.key().as_str(), "Shift" | "Control" | "Alt" | "Meta") {
            state::point_off_conflicts(app);
        }
    });
    on_cleanup(move || keys.remove());
    view! {
        <Instead is_none is_read=Signal::derive(move || conflicts.queue.with(Option::is_some)) refused=conflicts.inbox.refused
            reading=say::conflicts::READING nothing=move || nothing(app) />
        <ListBox class="conflicts" label=say::conflicts::LABEL testid="conflicts-list" is_many=true is_none active
            on:pointermove=move |event| state::point_at_conflicts(app, &event) on:pointerleave=move |_| state::point_off_conflicts(app)>
            <For each=move || names.get() key=Clone::clone let:name><OfGroup name groups /></For>
        </ListBox>
        {omitted}
        {due}
        <ToOthers />
    }
}

/// Leads from the open conflicts to the possible ones, if there are any, and from others back to the
/// open ones.
#[component]
fn ToOthers() -> impl IntoView {
    let app = App::here();
    let conflicts = app.views.conflicts;
    let others = Memo::new(move |_| {
        let listed = conflicts.filter.with(|it| it.status);
        let (to, count) = match listed {
            Listed::Open => {
                let possible = conflicts.queue.with(|it| it.as_ref().map(Queue::possible));
                (Listed::Possible, possible.unwrap_or(0))
            }
            // An empty list has a button for it.
            _ if state::is_nothing_listed(app) => return None,
            Listed::All => return None,
            _ => (Listed::Open, (VIEW.count)(app)),
        };
        (count > 0).then_some((to, count))
    });
    let show = move |to: Listed| {
        filter_conflicts(app, |it| it.status = to);
        dom::focus(dom::LIST);
    };
    move || {
        others.get().map(|(to, count)| {
            let (testid, noun) = match to {
                Listed::Possible => ("show-possible", say::conflicts::POSSIBLE_ONES),
                _ => ("back-to-open", say::conflicts::OPEN_ONES),
            };
            let count = words::format_count(count, noun);
            view! {
                <p class="quiet more">{count}" "<button class="plain" data-testid=testid on:click=move |_| show(to)>{say::conflicts::SHOW_OTHERS}</button></p>
            }
        })
    }
}

/// Says that nothing is open, or that nothing matches the filter.
fn nothing(app: App) -> AnyView {
    let filter = app.views.conflicts.filter;
    if filter.with(|it| *it == ConflictFilter::default()) {
        return view! {
            <div class="none" data-testid="no-conflicts">
                <span class="sign">{Icon::Check.draw()}</span>
                <h2>{say::conflicts::NONE_OPEN}</h2>
                <p>{say::conflicts::NONE_OPEN_MEANS}</p>
            </div>
        }
        .into_any();
    }
    let all = move |_| {
        filter_conflicts(app, |it| *it = ConflictFilter::default());
        dom::focus(dom::LIST);
    };
    let is_possible = filter.with(|it| it.status == Listed::Possible && it.topic.is_none());
    let (icon, title) = if is_possible {
        (Icon::Check, say::conflicts::NONE_POSSIBLE)
    } else {
        (Icon::Search, say::conflicts::NONE)
    };
    view! {
        <div class="none" data-testid="no-match">
            <span class="sign">{icon.draw()}</span>
            <h2>{title}</h2>
            <button data-testid="show-open" on:click=all>{say::conflicts::SHOW_OPEN}</button>
        </div>
    }
    .into_any()
}

#[component]
fn OfGroup(name: GroupName, groups: Memo<Vec<Group>>) -> impl IntoView {
    let own = name.clone();
    let (topic, name) = match name {
        GroupName::Topic(topic) => (Some(topic.clone()), words::topic_name(&topic)),
        GroupName::Near => (None, say::conflicts::NEAREST.to_owned()),
        GroupName::Compatible => (None, say::conflicts::CALLED_COMPATIBLE.to_owned()),
    };
    let is_topic = topic.is_some();
    let label = name.clone();
    let rows = Memo::new(move |_| {
        groups.with(|all| {
            let group = all.iter().find(|it| it.name == own);
            let ids = group.map(|it| it.rows.iter().map(|it| it.id).collect::<Vec<_>>());
            ids.unwrap_or_default()
        })
    });
    let count = move || rows.with(Vec::len);
    // The only conflict of a topic names it in its own row, as do those of several topics.
    let alone = Memo::new(move |_| !is_topic || count() == 1);
    let told = move || {
        let conflicts = words::format_count(count() as u64, say::CONFLICTS);
        say::conflicts::group(&label, &conflicts)
    };
    view! {
        <div class="topic" role="group" aria-label=told data-testid="conflict-topic" data-topic=topic>
            <div class="topic-name" aria-hidden="true" hidden=move || is_topic && alone.get()><b>{name}</b><span>{move || words::thousands(count() as u64)}</span></div>
            <For each=move || rows.get() key=|it| *it let:id><Row id alone /></For>
        </div>
    }
}

#[component]
fn Row(id: ConflictId, alone: Memo<bool>) -> impl IntoView {
    let app = App::here();
    let all = app.views.conflicts;
    let conflict = Memo::new(move |_| all.queue.with(|it| it.as_ref()?.get(id)));
    let is_open = Memo::new(move |_| all.inbox.open.get() == Some(id));
    let is_chosen = Memo::new(move |_| {
        let chosen = |it: &Selection<Conflict>| (!it.is_empty()).then(|| it.has(id));
        all.chosen.with(chosen)
    });
    let is_selected = move || is_chosen.get().unwrap_or(is_open.get()).to_string();
    let content = move || {
        let row = conflict.get()?;
        let topic = alone.get().then(|| words::topic_name(&row.b.topic));
        Some(view_content(&row, topic, app.clock.get()))
    };
    view! {
        <div class="conflict-row" class:selected=is_open class:chosen=move || is_chosen.get() == Some(true) id=conflict_row_id(id)
            role="option" aria-selected=is_selected data-testid="conflict" data-id=id.to_string()
            data-severity=move || conflict.with(|it| it.as_ref().map(|it| it.severity.as_str()))
            on:mousedown=dom::prevent_text_selection on:click=move |event| press_conflict(app, id, &event)>
            {content}
        </div>
    }
}

/// The side that won, else the status; of an open conflict, only that it is allowed.
fn state_word(conflict: &Conflict) -> Option<&'static str> {
    match (conflict.status, &conflict.allowed) {
        (ConflictStatus::Open, None) => None,
        (ConflictStatus::Open, Some(_)) => Some(say::conflicts::ALLOWED),
        (status, _) => Some(match (conflict.winner(), &conflict.settled) {
            (Some(side), _) => say::conflicts::CHOSEN[usize::from(side.id != conflict.a.id)],
            (None, Some(settled)) if settled.how == How::Merge => say::conflicts::WAS_MERGED,
            _ => say::conflicts::status(status),
        }),
    }
}

fn view_content(conflict: &Conflict, topic: Option<String>, clock: Clock) -> impl IntoView + use<> {
    let at = conflict.found_at;
    let is_possible = conflict.status == ConflictStatus::Possible;
    let score = conflict.score.map(|score| {
        view! { <span title=say::conflicts::SCORE_MEANS data-testid="conflict-score">{say::conflicts::score(conflict.status, conflict.tier, score)}</span> }
    });
    view! {
        <span class="mark" aria-hidden="true"></span>
        {view_side(&conflict.a)}
        <time datetime=at.to_string() title=clock.moment(at)>{clock.ago(at)}</time>
        {view_side(&conflict.b)}
        <span class="meta">
            {(!is_possible).then(|| view! { <b class="severity">{say::conflicts::severity(conflict.severity)}</b> })}
            {score}
            {topic.map(|it| view! { <span class="of-topic" title=say::engram::TOPIC>{it}</span> })}
            <span>{say::conflicts::how_found(conflict.status, conflict.tier, &judges(conflict))}</span>
            {state_word(conflict).map(|state| view! { <span class="chip">{state}</span> })}
        </span>
    }
}

fn view_side(side: &ConflictSide) -> impl IntoView + use<> {
    let (text, differs) = excerpt(side);
    if text.is_empty() {
        view! { <p class="erased">{say::conflicts::ERASED}</p> }.into_any()
    } else {
        let claim = prose::marked_claim(&text, &differs);
        view! { <p dir=claim.direction>{claim.text}</p> }.into_any()
    }
}
