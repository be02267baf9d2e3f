//! What an empty home shows: how to connect an agent, and that the window waits for it.

use engram_model::{ConnectHint, Engram, SAMPLE, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{connection::Link, frame::Over, icons::Icon, state::App};
use crate::{feed::Feed, words};

#[component]
pub(crate) fn FirstRun() -> impl IntoView {
    let app = App::here();
    let hints = LocalResource::new(move || async move { app.backend().connect_hint().await });
    let commands = move || match hints.get() {
        None => ().into_any(),
        Some(Ok(hints)) => hints
            .into_iter()
            .map(|hint| view! { <Command hint /> })
            .collect_view()
            .into_any(),
        Some(Err(refusal)) => view! { <p class="quiet">{refusal.hint}</p> }.into_any(),
    };
    let busy = RwSignal::new(false);
    let load = move |_| {
        busy.set(true);
        spawn_local(async move {
            match app.ask(ask::LoadSample).await {
                Ok(sample) => sample.ids.last().into_iter().for_each(|it| app.select(*it)),
                Err(refusal) => app.complain(refusal),
            }
            busy.set(false);
        });
    };
    let name = move || {
        app.status
            .get()
            .and_then(|it| it.project)
            .map(|it| words::visible(&it.name))
    };
    let is_nowhere = Memo::new(move |_| {
        app.status
            .with(|it| it.as_ref().is_some_and(|it| it.project.is_none()))
    });
    let waiting = move || match app.connection.link.get() {
        Link::Live => "Waiting for the first engram",
        Link::Connecting | Link::Lost => "Connecting to the journal",
    };
    view! {
        <main class="whole" data-testid="first-run">
            <div class="welcome">
                <h1>{move || match is_nowhere.get() {
                    true => "No repository is open.".into_any(),
                    false => view! { "Nothing is known yet"{name().map(|name| view! { " about "<b>{name}</b> })}"." }.into_any(),
                }}</h1>
                <p class="lead">
                    "Engram is the memory that your coding agents share. Each claim they store points at the evidence, and you read both here."
                </p>
                <p class="sample" hidden=move || !is_nowhere.get() data-testid="nowhere">
                    <button hidden=!app.backend().switches_repositories() on:click=move |_| app.frame.over.set(Some(Over::Repositories))>"Open a repository"</button>
                    <span>"Engram was started outside of one; what agents store without a repository appears here."</span>
                </p>
                <p class="sample" hidden=is_nowhere>
                    <button data-testid="load-sample" disabled=move || busy.get() on:click=load>{move || if busy.get() { "Reading the history…" } else { "Look around with a sample" }}</button>
                    <span>"Made of this repository's own history; taken away again with one click."</span>
                </p>
                <ol>
                    <li>
                        <h2>"Connect an agent"</h2>
                        <p>"Run one of these in a terminal, in "{move || if is_nowhere.get() { "a" } else { "this" }}" repository. The change is shown before it is made."</p>
                        <div class="commands">{commands}</div>
                    </li>
                    <li>
                        <h2>"Start it and give it work"</h2>
                        <p>"It finds the tools of Engram by itself. Tell it to store what it learns, if it needs telling."</p>
                    </li>
                    <li>
                        <h2>"Watch"</h2>
                        <p>"What it learns appears here as it is written, with the lines that it rests on."</p>
                        <p class="waiting" data-testid="waiting" role="status"><span class="pulse" aria-hidden="true"></span>{waiting}</p>
                    </li>
                </ol>
            </div>
        </main>
    }
}

/// Says of a sample that it is one, and takes it away.
#[component]
pub(crate) fn SampleNote() -> impl IntoView {
    let app = App::here();
    let is_here = Memo::new(move |_| {
        app.list
            .feed
            .with(|feed| feed.iter().any(|it| is_sample(it)))
    });
    let remove = move |_| {
        spawn_local(async move {
            match app.ask(ask::RemoveSample).await {
                Ok(_) => app.say("The sample is gone", "", false),
                Err(refusal) => app.complain(refusal),
            }
        });
    };
    move || {
        is_here.get().then(|| {
            view! {
                <div class="sample-note" role="note" data-testid="sample-note">
                    <p>"Here is a sample, made of this repository's history."</p>
                    <button data-testid="remove-sample" on:click=remove>"Remove it"</button>
                </div>
            }
        })
    }
}

/// Whether an engram is of the sample and still holds.
fn is_sample(it: &Engram) -> bool {
    it.valid_until.is_none() && it.tags.iter().any(|tag| tag == SAMPLE)
}

/// Whether nothing is left but what was of a sample.
pub(crate) fn is_only_past_sample(feed: &Feed) -> bool {
    feed.iter()
        .all(|it| it.valid_until.is_some() && it.tags.iter().any(|tag| tag == SAMPLE))
}

#[component]
fn Command(hint: ConnectHint) -> impl IntoView {
    let app = App::here();
    let command = StoredValue::new(hint.command.clone());
    view! {
        <div class="command" data-testid="connect-command">
            <span class="agent">{hint.agent.clone()}</span>
            <code>{hint.command}</code>
            <button aria-label=format!("Copy the command for {}", hint.agent)
                on:click=move |_| app.copy(command.get_value(), "Command copied")>
                {Icon::Copy.draw()}"Copy"
            </button>
        </div>
    }
}
