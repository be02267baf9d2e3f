//! The person's steps as a list, newest first, from the journal. Each can be undone while it
//! stands.

use engram_model::{Allow, Feed, Refusal, Resolve, Settle, ask};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{
        components::{prose::prose, refused::view_refusal},
        frame::Over,
        overlay::{Heading, Modal},
        state::App,
        views::conflicts::claim_after,
    },
    feed::last_unlisted_change,
    selection,
    steps::{Reversal, Step, StepState, StepSubject, steps_of},
    tags::Tag,
    words::{self, say},
};

/// The most steps that are listed, and the most pages of the journal that are read for them.
const MAX_STEPS: usize = 50;
const PAGES: usize = 3;
/// How many entries are read to find the person's last change that no step lists.
const RECENT: usize = 200;

/// Reads the person's last steps of these.
async fn read_steps(app: App, is_wanted: fn(&Step) -> bool) -> Result<Vec<Step>, Refusal> {
    let (mut entries, mut before) = (Vec::new(), None);
    let mut steps = Vec::new();
    for _ in 0..PAGES {
        let feed = Feed {
            before,
            limit: Some(1000),
            ..Feed::default()
        };
        let page = app.ask(ask::Feed(feed)).await?;
        entries.extend(page.entries);
        before = page.next;
        steps = steps_of(&entries);
        steps.retain(is_wanted);
        if before.is_none() || steps.len() >= MAX_STEPS {
            break;
        }
    }
    steps.truncate(MAX_STEPS);
    Ok(steps)
}

/// Reads a step's words, if the journal's entries do not have them.
async fn read_words(app: App, of: StepSubject) -> String {
    let words = match of {
        StepSubject::Claim(id) => app.ask(ask::Get(id)).await.map(|it| words::claim(&it)),
        StepSubject::Conflict(id) => match app.ask(ask::Conflict(id)).await {
            // The words of a merge are those of the claim that replaced both.
            Ok(conflict) => match conflict.settled.as_ref().and_then(|it| it.merged) {
                Some(merged) => app.ask(ask::Get(merged)).await.map(|it| words::claim(&it)),
                None => Ok(claim_after(&conflict)),
            },
            Err(refusal) => Err(refusal),
        },
    };
    words.unwrap_or_default()
}

async fn reverse(app: App, reversal: Reversal) -> Result<(), Refusal> {
    match reversal {
        Reversal::Restore(id) => app.ask(ask::Restore(id)).await.map(|_| ()),
        Reversal::Forget(id) => app.ask(ask::Forget(id)).await.map(|_| ()),
        Reversal::Reopen(conflict) => {
            let resolve = Resolve {
                conflict,
                how: Settle::Undo,
                why: None,
            };
            app.ask(ask::Resolve(Box::new(resolve))).await.map(|_| ())
        }
        Reversal::Disallow(conflict) => {
            let allow = Allow {
                conflict,
                why: String::new(),
                undo: true,
            };
            app.ask(ask::Allow(allow)).await.map(|_| ())
        }
    }
}

/// Undoes a step, and says which.
async fn undo_step(app: App, step: Step) {
    let StepState::Stands(reversal) = step.state else {
        return;
    };
    if !app.batch.begin(say::many::UNDOING, 1) {
        return;
    }
    let undone = reverse(app, reversal.clone()).await;
    let words = match (&reversal, step.words.as_str()) {
        // What holds again, not what it replaced.
        (Reversal::Restore(id), _) => read_words(app, StepSubject::Claim(*id)).await,
        (_, "") => read_words(app, step.of).await,
        (_, words) => words.to_owned(),
    };
    app.batch.end();
    app.stale.touch(Tag::Conflicts);
    match undone {
        Ok(()) => {
            // The last action in this window may be the one that was just undone.
            app.frame.undo.set(Vec::new());
            let name = selection::short_name(&words);
            let what = format!("{}: {}", say::notice::UNDONE, step.did);
            let name = if name.is_empty() {
                name
            } else {
                say::notice::quoted(&name)
            };
            app.frame.say(&what, &name);
        }
        Err(refusal) => app.frame.complain(refusal),
    }
}

/// The place of the person's last change that no step lists: of the brief, of agents, of permissions.
pub(crate) async fn last_unlisted(app: App) -> Option<u64> {
    let feed = Feed {
        all: true,
        limit: Some(RECENT),
        ..Feed::default()
    };
    let page = app.ask(ask::Feed(feed)).await.ok()?;
    last_unlisted_change(&page.entries)
}

/// Undoes the newest step that stands, according to the journal. Says first if a change came after it
/// that cannot be undone from here. A step in the name of an agent may be one of an agent that works in
/// a shell, so it is undone from the list alone.
pub(crate) fn undo_newest(app: App) {
    spawn_local(async move {
        match read_steps(app, |it| it.in_name_of.is_none()).await {
            Ok(steps) => {
                let stands = |it: &Step| matches!(it.state, StepState::Stands(_));
                let step = steps.into_iter().find(stands);
                let after = step.as_ref().map_or(0, |it| it.seq);
                let change = last_unlisted(app).await.filter(|it| *it > after);
                let passed = app.frame.passed.get_value();
                app.frame.passed.set_value(change);
                if change.is_some() && passed < change {
                    return app.frame.warn_of_earlier();
                }
                match step {
                    Some(step) => undo_step(app, step).await,
                    None => app.frame.warn(say::notice::NO_UNDO, ""),
                }
            }
            Err(refusal) => app.frame.complain(refusal),
        }
    });
}

#[component]
pub(crate) fn StepsSheet() -> impl IntoView {
    view! {
        <Modal over=Over::Steps label=say::steps::TITLE class="steps">
            <Heading title=say::steps::TITLE />
            <StepList />
        </Modal>
    }
}

#[component]
fn StepList() -> impl IntoView {
    let app = App::here();
    let steps: RwSignal<Option<Result<Vec<Step>, Refusal>>> = RwSignal::new(None);
    let read = move || {
        spawn_local(async move {
            let mut read = read_steps(app, |_| true).await;
            // The dialog may be closed by now.
            let _ = steps.try_set(Some(read.clone()));
            for step in read.iter_mut().flatten().filter(|it| it.words.is_empty()) {
                step.words = read_words(app, step.of).await;
            }
            let _ = steps.try_set(Some(read));
        });
    };
    read();
    let undo = move |step: Step| {
        spawn_local(async move {
            undo_step(app, step).await;
            read();
        });
    };
    move || match steps.get() {
        None => view! { <p class="quiet" aria-busy="true">{say::steps::READING}</p> }.into_any(),
        Some(Err(refusal)) => view_refusal(&refusal, ().into_any()),
        Some(Ok(all)) if all.is_empty() => {
            view! { <p class="quiet">{say::steps::NONE}</p> }.into_any()
        }
        Some(Ok(all)) => {
            let rows = all
                .into_iter()
                .map(|it| view_step(app, it, undo))
                .collect_view();
            view! { <ul data-testid="steps">{rows}</ul> }.into_any()
        }
    }
}

fn view_step<U: Fn(Step) + Copy + Send + 'static>(
    app: App,
    step: Step,
    undo: U,
) -> impl IntoView + use<U> {
    let clock = app.clock.get();
    let words = words::visible(&selection::short_name(&step.words));
    let beside = match &step.state {
        StepState::Stands(_) => {
            let own = step.clone();
            view! { <button data-testid="undo-step" on:click=move |_| undo(own.clone())>{say::UNDO}</button> }
                .into_any()
        }
        StepState::Undone => view! { <span class="quiet">{say::steps::UNDONE}</span> }.into_any(),
        StepState::Overtaken(by) => view! { <span class="quiet">{by.clone()}</span> }.into_any(),
    };
    view! {
        <li data-testid="step">
            <time class="quiet" datetime=step.at.to_string()>{clock.moment(step.at)}</time>
            <b>{step.did}{step.in_name_of.as_deref().map(say::steps::in_name_of)}</b>
            <q dir="auto" hidden=words.is_empty()>{prose(&words)}</q>
            {beside}
        </li>
    }
}

#[cfg(all(test, feature = "gallery"))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use engram_model::{How, Request, Settled};
    use serde_json::json;

    use super::*;
    use crate::app::{
        gallery::made_up::engrams,
        views::{conflicts, stage::Stage},
    };

    /// A merge is named by the claim that replaced both.
    #[test]
    fn a_merge_has_the_words_of_the_merged_claim() {
        let stage = Stage::open(&conflicts::VIEW, |request| match request {
            Request::Conflict(_) => {
                let mut conflict = conflicts::gallery::all().remove(0);
                conflict.settled = Some(Settled {
                    how: How::Merge,
                    by: "user".to_owned(),
                    at: conflict.found_at,
                    why: None,
                    merged: Some(conflict.a.id),
                });
                Ok(json!({"is": "conflict", "with": conflict}))
            }
            Request::Get(_) => Ok(json!({"is": "engram", "with": *engrams()[0]})),
            other => panic!("{other:?}"),
        });
        let (app, told) = (stage.app, RwSignal::new(String::new()));
        let id = conflicts::gallery::all()[0].id;
        spawn_local(async move { told.set(read_words(app, StepSubject::Conflict(id)).await) });
        stage.settle();
        assert_eq!(told.get_untracked(), engrams()[0].claim);
    }
}
