//! What an empty home shows: how to connect an agent, and that the window waits for it.

use std::time::Duration;

use engram_model::{Engram, SignOfLife, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{
    dom,
    engine::connection::Link,
    frame::Over,
    overlay::connect::{self, Agents},
    state::App,
};
use crate::{
    app::reading,
    feed::EngramList,
    tags::Tag,
    words::{self, say},
};

/// The element that takes the focus at first, so that the first Tab reaches the page's first
/// button.
const WELCOME: &str = "welcome";
/// How often the page looks for an agent's first sign of life.
const LOOK: Duration = Duration::from_secs(2);

pub(crate) fn focus_welcome() {
    dom::next_frame(|| {
        if dom::is_nowhere() {
            dom::focus(WELCOME);
        }
    });
}

#[component]
pub(crate) fn FirstRun() -> impl IntoView {
    let app = App::here();
    let busy = RwSignal::new(false);
    let load = move |_| {
        busy.set(true);
        spawn_local(async move {
            match app.ask(ask::LoadSample).await {
                Ok(sample) => sample
                    .ids
                    .last()
                    .into_iter()
                    .for_each(|it| reading::select_engram(app, *it)),
                Err(refusal) => app.frame.complain(refusal),
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
        Link::Live => say::first::WAITING,
        Link::Connecting => say::first::CONNECTING,
        Link::Lost => say::first::LOST,
    };
    let is_lost = move || app.connection.link.get() == Link::Lost;
    look_for_life(app);
    view! {
        <main class="whole" data-testid="first-run">
            <div class="welcome" id=WELCOME tabindex="-1">
                <h1>{move || if is_nowhere.get() { say::first::NO_REPOSITORY.to_owned() } else { say::first::nothing_known(name().as_deref()) }}</h1>
                <p class="lead">
                    {say::first::LEAD}
                </p>
                <div class="watch">
                    <p class="waiting" data-testid="waiting" role="status"><span class="pulse" hidden=is_lost aria-hidden="true"></span>{waiting}</p>
                    <LastCall />
                </div>
                <p class="sample" hidden=move || !is_nowhere.get() data-testid="nowhere">
                    <button hidden=!app.backend().switches_repositories() on:click=move |_| app.frame.over.set(Some(Over::Repositories))>{say::first::OPEN}</button>
                    <span>{say::first::OUTSIDE}</span>
                </p>
                <p class="sample" hidden=is_nowhere>
                    <button data-testid="load-sample" disabled=move || busy.get() on:click=load>{move || if busy.get() { say::first::SAMPLE_BUSY } else { say::first::SAMPLE }}</button>
                    <span>{say::first::SAMPLE_MEANS}</span>
                </p>
                <ol>
                    <li>
                        <h2>{say::connect::TITLE}</h2>
                        <p>{connect::explanation()}</p>
                        <Agents within=None />
                    </li>
                    <li>
                        <h2>{say::first::START}</h2>
                        <p>{say::first::START_MEANS}</p>
                    </li>
                    <li>
                        <h2>{say::first::WATCH}</h2>
                        <p>{say::first::WATCH_MEANS}</p>
                    </li>
                </ol>
            </div>
        </main>
    }
}

/// Who called last, until an agent stores a claim.
#[component]
fn LastCall() -> impl IntoView {
    let app = App::here();
    let life = move || sign_of_life(app);
    view! { <p class="sign-of-life" data-testid="sign-of-life" hidden=move || life().is_none()>{life}</p> }
}

/// Asks again while the page is shown, since the journal does not record that an agent asked.
fn look_for_life(app: App) {
    let look = move || {
        app.tick();
        app.stale.touch(Tag::Status);
    };
    if let Ok(timer) = set_interval_with_handle(look, LOOK) {
        on_cleanup(move || timer.clear());
    }
}

/// Returns a sentence on the agent that called last.
fn sign_of_life(app: App) -> Option<String> {
    let sign: SignOfLife = app
        .status
        .with(|it| it.as_ref().and_then(|it| it.sign_of_life.clone()))?;
    let ago = app.clock.get().exactly_ago(sign.at);
    let agent = words::visible(&sign.agent);
    Some(say::first::agent_called(&agent, &ago, sign.questions))
}

/// A note that the claims are a sample, with a button to remove them.
#[component]
pub(crate) fn SampleNote() -> impl IntoView {
    let app = App::here();
    let is_here = Memo::new(move |_| {
        app.list
            .with_feed(|feed| feed.iter().any(|it| is_sample(it)))
    });
    let remove = move |_| {
        spawn_local(async move {
            match app.ask(ask::RemoveSample).await {
                Ok(_) => app.frame.say_final(say::first::SAMPLE_GONE),
                Err(refusal) => app.frame.complain(refusal),
            }
        });
    };
    move || {
        is_here.get().then(|| {
            view! {
                <div class="sample-note" role="note" data-testid="sample-note">
                    <div><p>{say::first::SAMPLE_HERE}</p><LastCall /></div>
                    <button data-testid="remove-sample" on:click=remove>{say::first::SAMPLE_REMOVE}</button>
                </div>
            }
        })
    }
}

/// Whether an engram belongs to a sample and still holds.
fn is_sample(engram: &Engram) -> bool {
    engram.valid_until.is_none() && engram.is_sample()
}

/// Whether only ended engrams of a sample are left.
pub(crate) fn is_only_past_sample(feed: &EngramList) -> bool {
    feed.iter()
        .all(|it| it.valid_until.is_some() && it.is_sample())
}
