//! The list of agents, most recent first.

use engram_model::{AgentId, AgentStatus, Budget, Meter, OperationKind};
use leptos::{ev, prelude::*};

use super::{VIEW, state};
use crate::{
    app::{
        components::{
            inbox::{Instead, ListBox, ListPane},
            prose::prose,
        },
        dom,
        frame::room,
        state::App,
    },
    words::{self, Clock, say},
};

pub(super) fn agent_row_id(handle: &AgentId) -> String {
    format!("agent-{}", handle.0)
}

#[component]
pub(super) fn List() -> impl IntoView {
    let app = App::here();
    let count = move || words::thousands(app.views.agents.order().len() as u64);
    let beside = move || {
        view! { <span class="chip" data-testid="list-count" title=VIEW.counted>{count}</span><LeftOut /> }
    };
    view! {
        <ListPane view=&VIEW beside refused=app.views.agents.inbox.refused again=state::read><Rows /></ListPane>
    }
}

/// The button that lists hidden and closed agents too.
#[component]
fn LeftOut() -> impl IntoView {
    let app = App::here();
    let all = app.views.agents;
    let count = Memo::new(move |_| all.count_left_out());
    let text = move || say::agents::left_out(&words::thousands(count.get() as u64));
    view! {
        <button class="plain" hidden=move || count.get() == 0 aria-pressed=move || all.shows_all.get().to_string() data-testid="agents-left-out"
            on:click=move |_| state::show_all_or_not(app)>{text}" "<kbd aria-hidden="true">"F"</kbd></button>
    }
}

#[component]
fn Rows() -> impl IntoView {
    let app = App::here();
    let all = app.views.agents;
    let order = Memo::new(move |_| all.order());
    let is_none = Memo::new(move |_| order.with(Vec::is_empty));
    let current = Memo::new(move |_| all.current());
    let active = Signal::derive(move || current.with(|it| it.as_ref().map(agent_row_id)));
    let keys = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
            state::select_current(app);
            if !room::bring_forward(app) {
                state::show_said_by_current(app);
            }
        }
    };
    let more = move || {
        let more = all.known.with(|it| it.as_ref().map_or(0, |it| it.more));
        (more > 0).then(|| view! { <p class="quiet more">{say::agents::not_listed(&words::format_count(more, say::AGENTS))}</p> })
    };
    view! {
        <Instead is_none is_read=Signal::derive(move || all.known.with(Option::is_some)) refused=all.inbox.refused
            reading=say::agents::READING nothing />
        <ListBox class="conflicts agents" label=say::agents::LABEL testid="agents-list" is_none active on:keydown=keys>
            <For each=move || order.get() key=Clone::clone let((handle, depth))><Row handle depth current /></For>
        </ListBox>
        {more}
    }
}

fn nothing() -> impl IntoView {
    view! {
        <div class="none" data-testid="no-agents">
            <span class="sign">{VIEW.icon.draw()}</span>
            <h2>{say::agents::NONE}</h2>
            <p>{say::agents::NONE_MEANS}</p>
            <p>{prose(say::agents::CONNECT)}</p>
        </div>
    }
}

#[component]
fn Row(handle: AgentId, depth: usize, current: Memo<Option<AgentId>>) -> impl IntoView {
    let app = App::here();
    let id = agent_row_id(&handle);
    let handle = StoredValue::new(handle);
    let agent = Memo::new(move |_| handle.with_value(|it| app.views.agents.of(it)));
    let is_open = Memo::new(move |_| {
        handle.with_value(|handle| current.with(|it| it.as_ref() == Some(handle)))
    });
    let open = move || {
        handle.with_value(|it| state::select_agent(app, it));
        room::bring_forward(app);
    };
    let content = move || {
        agent
            .get()
            .map(|it| view_content(&it, depth, app.clock.get()))
    };
    view! {
        <div class="agent-row" class:selected=is_open id=id role="option" aria-selected=move || is_open.get().to_string()
            data-testid="agent" data-depth=depth style=("--depth", depth.to_string())
            on:mousedown=dom::prevent_text_selection on:click=move |_| open() on:dblclick=move |_| state::show_said_by_current(app)>
            {content}
        </div>
    }
}

fn view_content(agent: &AgentStatus, depth: usize, clock: Clock) -> impl IntoView + use<> {
    let at = agent.last_call;
    // Below its parent, its place shows whose child it is.
    let parent = agent.started_by.as_deref().filter(|_| depth == 0);
    view! {
        <span class="who">
            <b>{words::visible(&agent.name)}</b>
            {state_of(agent).map(|state| view! { <span class="word">{state}</span> })}
            {agent.role.as_deref().map(|role| view! { <span>{words::visible(role)}</span> })}
            {parent.map(|name| view! { <span>{say::agents::parent(&words::visible(name))}</span> })}
            <span class="space"></span>
            {agent.did.map(|_| view! { <time datetime=at.to_string() title=clock.moment(at)>{clock.ago(at)}</time> })}
        </span>
        <span class="what">
            <span class="did">{agent.did.filter(is_own_act).map(OperationKind::act_in_words)}</span>
            <span class="space"></span>
            {if agent.until > clock.now { view_gauges(&agent.budget).into_any() } else { view! { <span class="quiet">{say::agents::IDLE}</span> }.into_any() }}
        </span>
        {view_counts(agent)}
    }
}

/// Whether the agent did it: a line of the brief reaches it with whatever it did.
fn is_own_act(did: &OperationKind) -> bool {
    *did != OperationKind::Reached
}

/// Whether the user closed or hid it.
fn state_of(agent: &AgentStatus) -> Option<&'static str> {
    if agent.is_closed {
        Some(say::agents::CLOSED)
    } else {
        agent.is_hidden.then_some(say::agents::HIDDEN)
    }
}

/// The grants that it can use and how often it was refused, on a line of their own if there are
/// any.
fn view_counts(agent: &AgentStatus) -> impl IntoView + use<> {
    let open = u64::from(agent.grants.open);
    let refused = u64::from(agent.refusals);
    (open + refused > 0).then(|| {
        view! {
            <span class="what">
                {(open > 0).then(|| view! { <span class="word ok" data-testid="agent-grants">{words::format_count(open, say::agents::OPEN_GRANTS)}</span> })}
                {(refused > 0).then(|| view! { <span class="word warn" data-testid="agent-refusals">{words::format_count(refused, say::agents::REFUSALS)}</span> })}
            </span>
        }
    })
}

/// The use of tokens, and of the kind of pointer closest to its limit.
fn view_gauges(budget: &Budget) -> impl IntoView + use<> {
    let (what, pointers) = words::fullest_meter(budget);
    view! { {view_gauge(say::status::TOKENS, budget.tokens)}{view_gauge(what, pointers)} }
}

/// A meter as a thin bar, with its figures.
pub(super) fn view_gauge(what: &'static str, meter: Meter) -> impl IntoView {
    let share = (meter.share() * 100.0).clamp(0.0, 100.0);
    view! {
        <span class="gauge" class:spent=words::is_nearly_spent(meter)>
            <i class="track" aria-hidden="true"><i style:width=format!("{share:.0}%")></i></i>
            <span>{words::meter(meter)}" "{what}</span>
        </span>
    }
}
