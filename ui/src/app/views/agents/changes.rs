//! Renames, hides and closes an agent.

use engram_model::{AgentChange, AgentEdit, AgentId, AgentRow, ask};
use leptos::{prelude::*, task::spawn_local};

use super::state;
use crate::{
    app::{
        components::{field::keys_of_line, refused::Refused},
        dom,
        frame::{Undo, room},
        state::App,
    },
    tags::Tag,
    words::{self, say},
};

/// The id of the field for a name.
const NAME: &str = "agent-name-field";
/// The id of the button that keeps the agent open. Enter must not do what cannot be undone.
const KEEP: &str = "agent-keep";

/// Opens the field for another name.
pub(super) fn write_name(app: App) {
    let Some(row) = untrack(|| state::current_row(app)) else {
        return;
    };
    let agents = app.views.agents;
    agents.closing.set(false);
    agents.refused.set(None);
    agents.name.set(Some(words::visible(&row.agent.name)));
    dom::next_frame(|| dom::select_text(NAME));
}

/// Hides the open agent, or shows it again.
pub(super) fn hide_or_show(app: App) {
    let Some(row) = untrack(|| state::current_row(app)) else {
        return;
    };
    let what = if row.agent.is_hidden {
        AgentEdit::Show
    } else {
        AgentEdit::Hide
    };
    change(app, row, what);
}

/// The notice after a change of the agent with this name.
fn done_in_words(what: &AgentEdit, name: &str) -> String {
    let name = words::visible(name);
    match what {
        AgentEdit::Rename(_) => say::agents::renamed(&name),
        AgentEdit::Hide => say::agents::hidden_now(&name),
        AgentEdit::Show => say::agents::shown_again(&name),
        AgentEdit::Close => say::agents::closed_now(&name),
    }
}

/// The undo of hiding an agent, or of showing it again.
fn undo_of(agent: AgentId, name: &str, what: &AgentEdit) -> Option<Undo> {
    let back = match what {
        AgentEdit::Hide => AgentEdit::Show,
        AgentEdit::Show => AgentEdit::Hide,
        _ => return None,
    };
    let done = done_in_words(&back, name);
    let take_back = move |app: App| {
        let (agent, what) = (agent.clone(), back.clone());
        async move {
            let changed = app.ask(ask::ChangeAgent(AgentChange { agent, what })).await;
            app.stale.touch(Tag::Status);
            changed.map(|_| None)
        }
    };
    let then = move |app: App, _: &str| app.frame.say(&done, "");
    Some(Undo::new(say::AGENTS, take_back, then).unlisted())
}

/// Asks whether to close the open agent.
pub(super) fn ask_to_close(app: App) {
    let agents = app.views.agents;
    agents.name.set(None);
    agents.refused.set(None);
    agents.closing.set(true);
    dom::next_frame(|| dom::focus(KEEP));
}

/// Closes the field or the question; returns whether there was one.
pub(super) fn leave(app: App) -> bool {
    let agents = app.views.agents;
    let is_open = agents.closing.get_untracked() || agents.name.with_untracked(Option::is_some);
    agents.name.set(None);
    agents.closing.set(false);
    agents.refused.set(None);
    is_open
}

fn save_name(app: App) {
    let agents = app.views.agents;
    let name = agents.name.get_untracked().unwrap_or_default();
    if let Some(row) = untrack(|| state::current_row(app)) {
        change(app, row, AgentEdit::Rename(name));
    }
}

fn close(app: App) {
    if let Some(row) = untrack(|| state::current_row(app)) {
        change(app, row, AgentEdit::Close);
    }
}

/// Changes the agent of a row; shows a refusal beside the agent.
fn change(app: App, row: AgentRow, what: AgentEdit) {
    if !app.batch.begin(say::agents::CHANGING, 1) {
        return;
    }
    app.views.agents.refused.set(None);
    spawn_local(async move {
        let (agent, name) = (row.agent.handle, row.agent.name);
        let undo = undo_of(agent.clone(), &name, &what);
        let done = done_in_words(&what, &name);
        let hint = match what {
            AgentEdit::Hide => say::agents::HIDDEN_HINT,
            _ => "",
        };
        let changed = app.ask(ask::ChangeAgent(AgentChange { agent, what })).await;
        app.batch.end();
        app.stale.touch(Tag::Status);
        match changed {
            Ok(_) => {
                leave(app);
                room::focus_pane(app);
                match undo {
                    Some(undo) => app.frame.say_all_done(&done, hint, false, vec![undo]),
                    None => app.frame.say_final(&done),
                }
            }
            Err(refusal) => {
                dom::log(&refusal.to_string());
                app.views.agents.refused.set(Some(refusal));
            }
        }
    });
}

/// The field for a name, the question before closing, or why something was refused.
#[component]
pub(super) fn Changes() -> impl IntoView {
    let app = App::here();
    let agents = app.views.agents;
    let is_naming = Memo::new(move |_| agents.name.with(Option::is_some));
    view! {
        {move || is_naming.get().then(|| view! { <Name /> })}
        {move || agents.closing.get().then(|| view! { <AskToClose /> })}
        <Refused refusal=agents.refused />
    }
}

#[component]
fn Name() -> impl IntoView {
    let app = App::here();
    let name = app.views.agents.name;
    let back = move || {
        leave(app);
        room::focus_pane(app);
    };
    let keys = keys_of_line(move || save_name(app), back);
    view! {
        <div class="why-field">
            <label for=NAME>{say::agents::NAME}" "<kbd class="leaves" aria-hidden="true">"Esc"</kbd></label>
            <input id=NAME data-testid="agent-name-field" dir="auto" autocomplete="off" maxlength="80"
                prop:value=move || name.get().unwrap_or_default() on:input=move |event| name.set(Some(event_target_value(&event))) on:keydown=keys />
        </div>
    }
}

#[component]
fn AskToClose() -> impl IntoView {
    let app = App::here();
    let row = untrack(|| state::current_row(app));
    let name = row.map_or_else(String::new, |row| words::visible(&row.agent.name));
    let keep = move || {
        leave(app);
        room::focus_pane(app);
    };
    view! {
        <div class="ask" role="alertdialog" aria-label=say::agents::CLOSE_ASK aria-describedby="close-why" data-testid="agent-close-ask">
            <p id="close-why"><b>{say::agents::close_ask(&name)}</b>" "{say::agents::CLOSE_MEANS}</p>
            <span class="space"></span>
            <button class="danger" data-testid="agent-close-yes" on:click=move |_| close(app)>{say::agents::CLOSE_YES}</button>
            <button id=KEEP data-testid="agent-keep" on:click=move |_| keep()>{say::engram::KEEP}" "<kbd>"Esc"</kbd></button>
        </div>
    }
}
