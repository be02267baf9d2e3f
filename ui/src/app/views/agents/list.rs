//! The list of agents, most recent first.

use engram_model::{AgentId, AgentStatus, Budget, Meter};
use leptos::{ev, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::{VIEW, state::Listed};
use crate::{
    app::{
        dom,
        frame::sentence,
        prose::prose,
        room,
        state::App,
        states,
        views::{LIST, agents::state},
    },
    words::{self, Clock, say},
};

/// Focuses the row that many away from the current one, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let rows = document()
        .get_element_by_id(LIST)
        .and_then(|it| it.query_selector_all("[data-testid=agent]").ok());
    let Some(rows) = rows else { return };
    let row = |at: u32| rows.item(at).and_then(|it| it.dyn_into::<Element>().ok());
    let is_current =
        |at: &u32| row(*at).is_some_and(|it| it.get_attribute("tabindex").as_deref() == Some("0"));
    let at = (0..rows.length()).find(is_current).unwrap_or(0) as usize;
    let last = (rows.length() as usize).saturating_sub(1);
    let next = row(at.saturating_add_signed(by).min(last) as u32);
    if untrack(|| room::covers_list(app)) {
        // Behind the one that is read, rows cannot be focused.
        next.and_then(|it| it.dyn_into::<HtmlElement>().ok())
            .into_iter()
            .for_each(|it| it.click())
    } else {
        dom::focus_on(next)
    }
}

#[component]
pub(super) fn List(agents: Listed) -> impl IntoView {
    let app = App::here();
    let count = move || words::thousands((VIEW.count)(app));
    // Also while the list itself has the focus, as after its number key.
    let keys = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" {
            event.prevent_default();
            agents.choose_current();
            if !room::bring_forward(app) {
                state::show_said_by_current(app, agents);
            }
        }
    };
    view! {
        <section class="pane list" aria-label=VIEW.title>
            <header>
                <h1>{VIEW.title}</h1>
                <span class="chip" data-testid="list-count" title=VIEW.counted>{count}</span>
            </header>
            <states::Disconnected />
            <div class="agents" id=LIST tabindex="-1" role="group" aria-label=say::agents::LABEL data-testid="agents-list" on:keydown=keys>
                <Rows agents />
            </div>
        </section>
    }
}

#[component]
fn Rows(agents: Listed) -> impl IntoView {
    let is_empty = move || agents.order.with(Vec::is_empty);
    let is_known = move || agents.known.with(Option::is_some);
    let instead = move || {
        match (is_known(), agents.refused.get()) {
        (true, _) if !is_empty() => ().into_any(),
        (true, _) => nothing().into_any(),
        (false, Some(refusal)) => view! {
            <p class="none" role="alert">{sentence(&refusal.message)}" "{words::visible(&refusal.hint)}</p>
        }
        .into_any(),
        (false, None) => {
            view! { <p class="none quiet" aria-busy="true">{say::agents::READING}</p> }.into_any()
        }
    }
    };
    let more = move || {
        let more = agents.known.with(|it| it.as_ref().map_or(0, |it| it.more));
        (more > 0).then(|| view! { <p class="quiet more">{say::agents::more(&words::count(more, say::AGENTS))}</p> })
    };
    view! {
        {instead}
        <ol hidden=is_empty>
            <For each=move || agents.order.get() key=Clone::clone let((handle, depth))><Row agents handle depth /></For>
        </ol>
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
fn Row(agents: Listed, handle: AgentId, depth: usize) -> impl IntoView {
    let app = App::here();
    let handle = StoredValue::new(handle);
    let it = Memo::new(move |_| handle.with_value(|it| agents.of(it)));
    let is_current = Memo::new(move |_| {
        let current = agents.current();
        handle.with_value(|it| current.as_ref() == Some(it))
    });
    let choose = move || handle.with_value(|it| agents.choose(it));
    let content = move || it.get().map(|it| content(&it, depth, app.clock.get()));
    view! {
        <li>
            <button class="agent-row" data-testid="agent" data-depth=depth style=("--depth", depth.to_string()) tabindex=move || if is_current.get() { "0" } else { "-1" }
                aria-current=move || is_current.get().then_some("true")
                on:focus=move |_| choose() on:click=move |_| { choose(); room::bring_forward(app); } on:dblclick=move |_| state::show_said_by_current(app, agents)>
                {content}
            </button>
        </li>
    }
}

fn content(it: &AgentStatus, depth: usize, clock: Clock) -> impl IntoView + use<> {
    let at = it.last_call;
    // Below its parent, its place says whose child it is.
    let parent = it.started_by.as_deref().filter(|_| depth == 0);
    view! {
        <span class="who">
            <b>{words::visible(&it.name)}</b>
            {it.role.as_deref().map(|role| view! { <span>{words::visible(role)}</span> })}
            {parent.map(|name| view! { <span>{say::agents::parent(&words::visible(name))}</span> })}
            <span class="space"></span>
            <time datetime=at.to_string() title=clock.moment(at)>{clock.ago(at)}</time>
        </span>
        <span class="what">
            <span class="did">{it.did.map(say::agents::did)}</span>
            <span class="space"></span>
            {match it.until > clock.now {
                true => gauges(&it.budget).into_any(),
                false => view! { <span class="quiet">{say::agents::IDLE}</span> }.into_any(),
            }}
        </span>
        {more(it)}
    }
}

/// Grants that it can use, and how often it was refused, on a line of their own where there are any.
fn more(it: &AgentStatus) -> impl IntoView + use<> {
    let open = u64::from(it.grants.open);
    let refused = u64::from(it.refusals);
    (open + refused > 0).then(|| {
        view! {
            <span class="what">
                {(open > 0).then(|| view! { <span class="word ok" data-testid="agent-grants">{words::count(open, say::agents::OPEN_GRANTS)}</span> })}
                {(refused > 0).then(|| view! { <span class="word warn" data-testid="agent-refusals">{words::count(refused, say::agents::REFUSALS)}</span> })}
            </span>
        }
    })
}

/// The use of tokens, and of the kind of pointer closest to its limit.
fn gauges(budget: &Budget) -> impl IntoView + use<> {
    let (what, pointers) = words::fullest(budget);
    view! { {gauge(say::status::TOKENS, budget.tokens)}{gauge(what, pointers)} }
}

/// A meter as a thin bar, with its figures.
pub(super) fn gauge(what: &'static str, it: Meter) -> impl IntoView {
    let share = (it.share() * 100.0).clamp(0.0, 100.0);
    view! {
        <span class="gauge" class:spent={it.used >= it.limit}>
            <i class="track" aria-hidden="true"><i style:width=format!("{share:.0}%")></i></i>
            <span>{words::meter(it)}" "{what}</span>
        </span>
    }
}
