//! Asking the language model about the open conflict.

use std::sync::Arc;

use engram_model::{Conflict, ModelState, ModelTask, ask};
use leptos::{prelude::*, task::spawn_local};

use super::VIEW;
use crate::{
    app::{dom, overlay::palette::keycaps, state::App, views::conflicts::state},
    tags::Tag,
    words::say,
};

/// Reads whether a language model is chosen.
pub(super) fn read_model(app: App) {
    spawn_local(async move {
        match app.ask(ask::Models).await {
            Ok(reply) => {
                let mut models = reply.models.iter();
                let has = models.any(|it| it.task == ModelTask::Llm && it.state != ModelState::Off);
                app.views.conflicts.has_model.set(has);
            }
            Err(refusal) => dom::log(&refusal.to_string()),
        }
    });
}

/// Whether there is a model to ask about the open conflict.
pub(super) fn may_explain(app: App) -> bool {
    let has_model = app.views.conflicts.has_model.get_untracked();
    has_model && untrack(|| state::current_conflict(app)).is_some()
}

/// Asks the model how the claims of the open conflict relate. The answer appears beside it.
pub(super) fn explain_conflict(app: App) {
    let all = app.views.conflicts;
    let Some(conflict) = untrack(|| state::current_conflict(app)) else {
        return;
    };
    let (id, said_before) = (conflict.id, conflict.judged.len());
    // A second press asks nothing.
    if all.explaining.get_untracked().is_some() {
        return;
    }
    all.verdict_refused.set(None);
    all.explaining.set(Some(id));
    spawn_local(async move {
        let said = app.ask(ask::Explain(id)).await;
        all.explaining.set(None);
        // One may have been chosen meanwhile.
        if said.is_ok() {
            all.has_model.set(true);
        }
        let is_open = all.inbox.open.get_untracked() == Some(id);
        match said {
            Ok(now) if now.judged.len() == said_before => {
                app.frame.say(say::conflicts::MODEL_ANSWERED, "");
            }
            Ok(_) => app.stale.touch(Tag::Conflicts),
            Err(refusal) if is_open => all.verdict_refused.set(Some(refusal)),
            Err(refusal) => app.frame.warn(&refusal.message, &refusal.hint),
        }
    });
}

/// The button that asks, or that it is being asked; none without a model.
pub(super) fn view_explain(app: App, conflict: &Arc<Conflict>) -> impl IntoView + use<> {
    let id = conflict.id;
    let is_asked = Memo::new(move |_| app.views.conflicts.explaining.get() == Some(id));
    let name = move || {
        if is_asked.get() {
            say::conflicts::ASKING_MODEL
        } else {
            say::conflicts::ASK_MODEL
        }
    };
    let button = move || {
        view! {
            <button class="plain" data-testid="explain" title=say::conflicts::ASK_MODEL_MEANS aria-busy=move || is_asked.get().to_string()
                disabled=is_asked on:click=move |_| VIEW.run(app, "explain")>{name}" "{keycaps(VIEW.chord("explain"))}</button>
        }
    };
    let has_model = app.views.conflicts.has_model;
    move || has_model.get().then(button)
}
