//! One agent: its figures, what it stored last, and its timeline.

use engram_model::{AgentId, AgentStatus, Engram, EngramId, Feed, Filter, ask};
use leptos::prelude::*;

use super::{
    VIEW,
    changes::{self, Changes},
    list::view_gauge,
    state,
    timeline::Timeline,
};
use crate::{
    app::{
        components::prose,
        dom,
        frame::room::{self, ToList},
        overlay::palette::keycaps,
        reading,
        state::App,
    },
    words::{self, Clock, say},
};

/// How many of its claims are shown, and how many under its names are looked at to find them.
const NAMED: usize = 5;
const LOOKED_AT: usize = 50;

#[component]
pub(super) fn Detail() -> impl IntoView {
    let app = App::here();
    let agents = app.views.agents;
    let agent = Memo::new(move |_| agents.current().and_then(|it| agents.of(&it)));
    let is_none = move || agent.with(Option::is_none);
    let connections = move || untrack(|| state::current_row(app)).map_or(1, |it| it.handles.len());
    let head = move || {
        agent
            .get()
            .map(|it| view_head(&it, connections(), app.clock.get()))
    };
    let is_hidden = move || agent.with(|it| it.as_ref().is_some_and(|it| it.is_hidden));
    let is_closed = move || agent.with(|it| it.as_ref().is_none_or(|it| it.is_closed));
    let hide = move || {
        if is_hidden() {
            say::agents::SHOW_AGAIN
        } else {
            say::agents::HIDE
        }
    };
    view! {
        <section class="pane detail" id=room::DETAIL aria-label=say::agents::ONE data-testid="agent-detail">
            <ToList />
            <div class="scroll" id=room::READ tabindex="-1" hidden=is_none>
                {head}
                <Changes />
                <Children agent />
                <Stored agent />
                <Timeline agent />
            </div>
            <div class="bar" hidden=is_none>
                <button class="primary" data-testid="agent-claims" on:click=move |_| state::show_said_by_current(app)>{say::agents::SHOW}" "{keycaps("Enter")}</button>
                <span class="space"></span>
                <button data-testid="agent-rename" on:click=move |_| changes::write_name(app)>{say::agents::RENAME}" "{keycaps(VIEW.chord("agent-name"))}</button>
                <button data-testid="agent-hide" on:click=move |_| changes::hide_or_show(app)>{hide}" "{keycaps(VIEW.chord("agent-hide"))}</button>
                <button hidden=is_closed data-testid="agent-close" on:click=move |_| changes::ask_to_close(app)>{say::agents::CLOSE}" "{keycaps(VIEW.chord("agent-close"))}</button>
            </div>
        </section>
    }
}

fn view_head(agent: &AgentStatus, connections: usize, clock: Clock) -> impl IntoView + use<> {
    let fact = |what: &'static str, is: Option<String>| {
        is.map(|is| view! { <div><dt>{what}</dt><dd>{is}</dd></div> })
    };
    let is_open = agent.until > clock.now;
    let turn = if is_open {
        say::agents::TURN
    } else {
        say::agents::LAST_TURN
    };
    // Inline code is limited for each message, not for the turn.
    let inline = u64::from(agent.inline_tokens.used);
    let inline = (inline > 0).then(|| words::format_count(inline, say::requests::TOKENS));
    let meters = agent.budget.meters().into_iter();
    let meters = meters
        .map(|(what, meter)| view_gauge(what, meter))
        .collect_view();
    let refused = u64::from(agent.refusals);
    let has_grants = agent.grants.open + agent.grants.spent > 0;
    let grants = has_grants.then(|| say::agents::grants(agent.grants.open, agent.grants.spent));
    let record = say::agents::record(&agent.record);
    let has_record = !record.is_empty();
    view! {
        <h2 class="claim" data-testid="agent-name">{words::visible(&agent.name)}</h2>
        <dl class="facts">
            {fact(say::agents::STATE, agent.is_closed.then(|| say::agents::IS_CLOSED.to_owned()))}
            {fact(say::agents::ROLE, agent.role.as_deref().map(words::visible))}
            {fact(say::agents::PARENT, agent.started_by.as_deref().map(words::visible))}
            {fact(say::agents::CONNECTIONS, (connections > 1).then(|| words::thousands(connections as u64)))}
            {fact(say::agents::FORMERLY, (!agent.earlier_names.is_empty()).then(|| words::visible(&agent.earlier_names.join(", "))))}
            {fact(say::agents::FIRST, agent.first_seen.map(|at| clock.moment(at)))}
            {fact(say::agents::LAST, agent.did.map(|_| clock.moment(agent.last_call)))}
            {fact(say::agents::STORED, Some(words::format_count(agent.stored, say::ENGRAMS)))}
        </dl>
        <section class="stored" aria-label=say::agents::RECORD hidden=!has_record data-testid="agent-record">
            <h3>{say::agents::RECORD}</h3>
            <p>{record}</p>
        </section>
        <section class="turn-spent" aria-label=turn data-testid="agent-turn">
            <h3>{turn}</h3>
            <div class="gauges">{meters}</div>
            <dl class="facts beyond">
                {fact(say::agents::INLINE, inline)}
                {fact(say::agents::GRANTS, grants)}
                {fact(say::agents::REFUSED, (refused > 0).then(|| words::format_count(refused, say::agents::TIMES)))}
            </dl>
        </section>
    }
}

/// The agents that it started.
#[component]
fn Children(agent: Memo<Option<AgentStatus>>) -> impl IntoView {
    let app = App::here();
    let agents = app.views.agents;
    let all = Memo::new(move |_| {
        let handle = agent.with(|it| it.as_ref().map(|it| it.handle.clone()));
        let all = handle.map(|it| agents.children_of(&it)).unwrap_or_default();
        let named = |it: AgentStatus| (it.handle, words::visible(&it.name));
        all.into_iter()
            .map(named)
            .collect::<Vec<(AgentId, String)>>()
    });
    let is_none = move || all.with(Vec::is_empty);
    view! {
        <section class="stored" aria-label=say::agents::CHILDREN hidden=is_none data-testid="agent-children">
            <h3>{say::agents::CHILDREN}</h3>
            <ul>
                <For each=move || all.get() key=Clone::clone let((handle, name))>
                    <li><button class="plain" on:click=move |_| state::select_agent(app, &handle)>{name}</button></li>
                </For>
            </ul>
        </section>
    }
}

/// The newest of its claims that hold.
#[component]
fn Stored(agent: Memo<Option<AgentStatus>>) -> impl IntoView {
    let app = App::here();
    let of = Memo::new(move |_| {
        let (agent, row) = (agent.get()?, state::current_row(app)?);
        Some((state::names_of(agent), row.handles, row.agent.stored))
    });
    let loaded = LocalResource::new(move || {
        let of = of.get();
        async move {
            match of {
                Some((names, handles, _)) => newest_claims_of(app, names, &handles).await,
                None => Vec::new(),
            }
        }
    });
    let all = Memo::new(move |_| loaded.get().unwrap_or_default());
    let is_none = move || all.with(Vec::is_empty);
    view! {
        <section class="stored" aria-label=say::agents::SAID hidden=is_none data-testid="agent-stored">
            <h3>{say::agents::SAID}</h3>
            <ul>
                <For each=move || all.get() key=|it| it.0 let((id, claim))>
                    <li><button class="plain" on:click=move |_| reading::go_to_engram(app, id)>{prose::prose(&claim)}</button></li>
                </For>
            </ul>
        </section>
    }
}

/// Leaves out claims of other agents of the same name; keeps claims without a handle.
async fn newest_claims_of(
    app: App,
    names: Vec<String>,
    handles: &[AgentId],
) -> Vec<(EngramId, String)> {
    let newest = Feed {
        limit: Some(LOOKED_AT),
        filter: Filter {
            authors: names,
            ended: Some(false),
            ..Filter::default()
        },
        ..Feed::default()
    };
    match app.ask(ask::Feed(newest)).await {
        Ok(page) => {
            let stored = page.entries.iter().filter_map(|it| it.change.stored());
            let is_own = |it: &&Engram| it.agent.as_ref().is_none_or(|it| handles.contains(it));
            let own = stored.filter(is_own);
            own.take(NAMED)
                .map(|it| (it.id, words::claim(it)))
                .collect()
        }
        Err(refusal) => {
            dom::log(&refusal.to_string());
            Vec::new()
        }
    }
}
