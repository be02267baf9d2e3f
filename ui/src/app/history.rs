//! All versions of a claim, newest first, and who else said it.

use engram_model::{Engram, EngramId, Refusal, Voice, ask};
use leptos::prelude::*;

use super::{frame::sentence, state::App};
use crate::{
    route::author_name,
    tags::Tag,
    words::{self, say},
};

async fn read(app: App, id: EngramId) -> Result<(Vec<Engram>, Vec<Voice>), Refusal> {
    let versions = app.ask(ask::History(id)).await?;
    Ok((versions, app.ask(ask::Voices(id)).await?))
}

#[component]
pub(crate) fn History(id: EngramId) -> impl IntoView {
    let app = App::here();
    let loaded = LocalResource::new(move || {
        // A voice or a version that comes while one reads is told too.
        app.stale.track(Tag::Engram(id));
        read(app, id)
    });
    view! {
        <section class="history" aria-label=say::engram::HISTORY data-testid="history">
            {move || match loaded.get() {
                None => view! { <p class="quiet" aria-busy="true">{say::engram::READING_HISTORY}</p> }.into_any(),
                Some(Err(refusal)) => view! { <p role="alert">{sentence(&refusal.message)}" "{refusal.hint}</p> }.into_any(),
                Some(Ok((versions, voices))) => view! { <Versions id versions /><Voices voices /> }.into_any(),
            }}
        </section>
    }
}

#[component]
fn Versions(id: EngramId, versions: Vec<Engram>) -> impl IntoView {
    let app = App::here();
    let clock = app.clock.get_untracked();
    let title = say::engram::versions(versions.len());
    let row = |it: Engram| {
        let other = it.id;
        let until = it.valid_until.map(|until| clock.moment(until));
        let until = say::engram::held(&clock.moment(it.valid_from), until.as_deref());
        view! {
            <li data-testid="version" data-id=other.to_string() aria-current=(other == id).then_some("true")>
                <button class="plain" disabled=other == id on:click=move |_| app.go_to(other)>{words::claim(&it)}</button>
                <span class="quiet">{until}" · "{words::author(&it)}</span>
            </li>
        }
    };
    view! {
        <h2>{title}</h2>
        <ol>{versions.into_iter().map(row).collect_view()}</ol>
    }
}

#[component]
fn Voices(voices: Vec<Voice>) -> impl IntoView {
    let clock = App::here().clock.get_untracked();
    let row = |it: Voice| {
        view! { <li data-testid="voice"><b>{words::visible(author_name(&it.by))}</b>{say::engram::SAID_ON}{clock.moment(it.at)}</li> }
    };
    (!voices.is_empty()).then(|| {
        view! {
            <h2>{say::engram::VOICES}</h2>
            <ul>{voices.into_iter().map(row).collect_view()}</ul>
        }
    })
}
