//! One agent: its figures, what its turn has cost, and what it stored last.

use engram_model::{AgentStatus, EngramId, Feed, Filter, ask};
use leptos::prelude::*;

use super::{list::gauge, state::Agents};
use crate::{
    app::{dom, palette::keycaps, state::App},
    words::{self, Clock, say},
};

/// How many claims are shown.
const NAMED: usize = 5;

#[component]
pub(super) fn Detail(agents: Agents) -> impl IntoView {
    let app = App::here();
    let it = Memo::new(move |_| agents.current().and_then(|it| agents.of(&it)));
    let is_none = move || it.with(Option::is_none);
    let head = move || it.get().map(|it| head(&it, app.clock.get()));
    view! {
        <section class="pane detail" aria-label=say::agents::ONE data-testid="agent-detail">
            <div class="scroll" hidden=is_none>
                {head}
                <Stored it />
            </div>
            <div class="bar" hidden=is_none>
                <button class="primary" data-testid="agent-claims" on:click=move |_| app.show_said_by_current(agents)>{say::agents::SHOW}" "{keycaps("Enter")}</button>
            </div>
        </section>
    }
}

fn head(it: &AgentStatus, clock: Clock) -> impl IntoView + use<> {
    let fact = |what: &'static str, is: Option<String>| {
        is.map(|is| view! { <div><dt>{what}</dt><dd>{is}</dd></div> })
    };
    let is_open = it.until > clock.now;
    let turn = if is_open {
        say::agents::TURN
    } else {
        say::agents::LAST_TURN
    };
    let meters = it.budget.meters().map(|(what, it)| gauge(what, it));
    view! {
        <h2 class="claim" data-testid="agent-name">{words::visible(&it.name)}</h2>
        <dl class="facts">
            {fact(say::agents::ROLE, it.role.as_deref().map(words::visible))}
            {fact(say::agents::PARENT, it.started_by.as_deref().map(words::visible))}
            {fact(say::agents::FIRST, it.first_seen.map(|at| clock.moment(at)))}
            {fact(say::agents::LAST, Some(clock.moment(it.last_call)))}
            {fact(say::agents::STORED, Some(words::count(it.stored, say::ENGRAMS)))}
        </dl>
        <section class="turn-spent" aria-label=turn data-testid="agent-turn">
            <h3>{turn}</h3>
            <div class="gauges">{meters.into_iter().collect_view()}</div>
        </section>
    }
}

/// The newest claims under its name.
#[component]
fn Stored(it: Memo<Option<AgentStatus>>) -> impl IntoView {
    let app = App::here();
    let of = Memo::new(move |_| it.with(|it| it.as_ref().map(|it| (it.name.clone(), it.stored))));
    let loaded = LocalResource::new(move || {
        let name = of.get().map(|(name, _)| name);
        async move {
            match name {
                Some(name) => stored_by(app, name).await,
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
                    <li><button class="plain" on:click=move |_| app.go_to(id)>{claim}</button></li>
                </For>
            </ul>
        </section>
    }
}

async fn stored_by(app: App, name: String) -> Vec<(EngramId, String)> {
    let newest = Feed {
        limit: Some(NAMED),
        filter: Filter {
            authors: vec![name],
            ..Filter::default()
        },
        ..Feed::default()
    };
    match app.ask(ask::Feed(newest)).await {
        Ok(page) => {
            let stored = page.entries.iter().filter_map(|it| it.change.stored());
            stored.map(|it| (it.id, words::claim(it))).collect()
        }
        Err(refusal) => {
            dom::log(&refusal.to_string());
            Vec::new()
        }
    }
}
