//! What was done to a claim, newest first: by whom, when, and what changed.

use engram_model::{EngramId, ask};
use jiff::Timestamp;
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{
        components::prose::{self, prose},
        reading,
        state::App,
        views::{conflicts, knowledge},
    },
    history::{HistoryEntry, history},
    tags::Tag,
    wording::{Parts, reworded},
    words::{say, sentence},
};

/// Makes an ended version hold again.
fn restore_version(app: App, id: EngramId) {
    spawn_local(async move {
        match app.ask(ask::Restore(id)).await {
            Ok(stored) => {
                app.frame.say_final(say::acts::RESTORED_NOW);
                reading::select_engram(app, stored.id);
            }
            Err(refusal) => match app.reading.selected.get_untracked() {
                Some(read) => reading::refuse_change(app, read, refusal),
                None => app.frame.complain(refusal),
            },
        }
    });
}

/// Shows what held when a version was stored, with that version open.
fn show_version_then(app: App, version: EngramId, at: Timestamp) {
    knowledge::show_then(app, Some(at));
    reading::select_engram(app, version);
    app.reading.returned.set(Some(version));
}

#[component]
pub(crate) fn History(id: EngramId) -> impl IntoView {
    let app = App::here();
    let loaded = LocalResource::new(move || {
        // The history follows changes while it is open.
        app.stale.track(Tag::Engram(id));
        app.ask(ask::Log(id))
    });
    view! {
        <section class="history" aria-label=say::engram::HISTORY data-testid="history">
            {move || match loaded.get() {
                None => view! { <p class="quiet" aria-busy="true">{say::engram::READING_HISTORY}</p> }.into_any(),
                Some(Err(refusal)) => view! { <p role="alert">{prose(&sentence(&refusal.message))}" "{prose(&refusal.hint)}</p> }.into_any(),
                Some(Ok(entries)) => view! { <Entries id history=history(&entries) /> }.into_any(),
            }}
        </section>
    }
}

#[component]
fn Entries(id: EngramId, history: Vec<HistoryEntry>) -> impl IntoView {
    let versions = history.iter().filter(|it| it.version.is_some()).count();
    view! {
        <h2>{say::engram::versions(versions)}</h2>
        <ol>{history.into_iter().map(|entry| view_entry(id, entry)).collect_view()}</ol>
    }
}

fn view_entry(id: EngramId, entry: HistoryEntry) -> impl IntoView {
    let app = App::here();
    let at = app.clock.get_untracked().moment(entry.at);
    let who = view! { <b>{entry.by.clone()}</b>" "{entry.did}" · "<time datetime=entry.at.to_string()>{at}</time> };
    let moved = entry.moved.map(|(from, to)| {
        view! { <p class="moved"><code>{from}</code>" → "<code>{to}</code></p> }
    });
    match entry.version {
        None => {
            let testid = if entry.is_repetition { "voice" } else { "act" };
            let show = entry.conflict.map(|id| view! {
                " "<button class="plain" data-testid="act-conflict" on:click=move |_| conflicts::show_conflict(app, id)>{say::acts::SHOW_CONFLICT}</button>
            });
            view! { <li data-testid=testid><span class="quiet">{who}{show}</span></li> }.into_any()
        }
        Some((version, claim)) => {
            let (was, claim, direction) = match entry.before {
                Some(before) => {
                    let (was, claim) = reworded(&before, &claim);
                    (Some(was), view_parts(claim, false).into_any(), None)
                }
                None => {
                    let claim = prose::claim(&claim, &[]);
                    (None, claim.text.into_any(), claim.direction)
                }
            };
            view! {
            <li data-testid="version" data-id=version.to_string() aria-current=(version == id).then_some("true")>
                <button class="plain" disabled=version == id dir=direction on:click=move |_| reading::go_to_engram(app, version)>{claim}</button>
                {was.map(|was| view! { <p class="was" data-testid="was">{say::acts::WAS}{view_parts(was, true)}</p> })}
                {moved}
                <span class="quiet">
                    {who}
                    {move || (!app.list.is_past()).then(|| view! {
                        " "<button class="plain then" data-testid="held-then" title=say::knowledge::THEN_MEANS on:click=move |_| show_version_then(app, version, entry.at)>{say::knowledge::THEN}</button>
                    })}
                    {move || (entry.can_restore && !app.list.is_past()).then(|| view! {
                        " "<button class="plain restore" data-testid="restore" on:click=move |_| restore_version(app, version)>{say::acts::RESTORE}</button>
                    })}
                </span>
            </li>
            }
            .into_any()
        }
    }
}

/// Renders a wording and marks the words that the other wording lacks.
fn view_parts(parts: Parts, is_past: bool) -> impl IntoView {
    let part = move |(text, is_other): (String, bool)| match (is_other, is_past) {
        (false, _) => text.into_any(),
        (true, true) => view! { <del>{text}</del> }.into_any(),
        (true, false) => view! { <ins>{text}</ins> }.into_any(),
    };
    parts.into_iter().map(part).collect_view()
}
