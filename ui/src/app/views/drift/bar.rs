//! A person's verdict on a claim whose evidence changed, by a key or a button.

use std::sync::Arc;

use engram_model::{Engram, ask};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{
        components::{icons::Icon, prose::prose},
        frame::Undo,
        reading::{self, Closing},
        state::App,
        views::{self, feed},
        write::{CorrectButton, SuggestionButton, open_suggestion},
    },
    selection::ClaimAction,
    words::{self, say},
};

/// Does what a person decides about the open claim, whose evidence changed.
pub(crate) fn judge(app: App, action: ClaimAction) {
    let Some(engram) = untrack(|| reading::current_engram(app)) else {
        return;
    };
    if words::reported_conflict(&engram).is_some() {
        return app
            .frame
            .warn(say::review::IS_CONFLICT, say::review::IS_CONFLICT_HINT);
    }
    // Whatever its evidence says, a person may know that a claim is no longer true.
    if matches!(action, ClaimAction::Deny | ClaimAction::Forget) {
        return reading::ask_to_close(app, Closing::Forget);
    }
    if !words::is_drifted(&engram) {
        return app.frame.say(say::review::NOT_DRIFTED, "");
    }
    if action == ClaimAction::Confirm && !words::can_repin(&engram) {
        let gone = words::gone_evidence(&engram);
        return app.frame.warn(&gone, say::review::GONE_HINT);
    }
    if action == ClaimAction::Ask && engram.asked.is_some() {
        return app.frame.say(say::review::IS_ASKED, "");
    }
    let id = engram.id;
    // A second press sends nothing.
    let is_done = app.list.choice.is_settling(id);
    let done = match action {
        ClaimAction::Confirm => say::review::CONFIRMED,
        _ => say::review::ASKED,
    };
    if is_done || !app.batch.begin(done, 1) {
        return;
    }
    app.reading.refused.set(None);
    let next = untrack(|| feed::neighbour(app, id));
    spawn_local(async move {
        let stored = match action {
            ClaimAction::Confirm => app.ask(ask::Repin(id)).await,
            _ => app.ask(ask::Reverify(id)).await,
        };
        app.batch.end();
        match stored {
            Ok(stored) => {
                app.frame.say_done(
                    done,
                    &words::claim(&engram),
                    match action {
                        ClaimAction::Confirm => Undo::restore(id),
                        _ => Undo::withdraw(stored.id),
                    },
                );
                let to = match (views::is_queue(app), next) {
                    (true, Some(next)) => next,
                    (true, None) => return,
                    (false, _) if action == ClaimAction::Confirm => stored.id,
                    (false, _) => return,
                };
                reading::select_engram(app, to);
            }
            Err(refusal) => reading::refuse_change(app, id, refusal),
        }
    });
}

/// Asks whether a claim is still true, if its evidence changed; the bar has the answers.
#[component]
pub(crate) fn Triage(engram: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let asks = Memo::new(move |_| {
        let engram = engram.get().filter(|it| words::is_drifted(it))?;
        let standing = engram.health.as_ref()?.standing;
        let gone = (!words::can_repin(&engram)).then(|| words::gone_evidence(&engram));
        let answer = engram.answer.clone();
        Some((standing, gone, engram.asked, answer))
    });
    move || {
        asks.get().map(|(standing, gone, asked, answer)| {
            let (what, next) = match gone {
                Some(gone) => (format!("{gone}."), say::review::GONE_HINT),
                None => (say::review::EDITED.to_owned(), say::review::QUESTION),
            };
            view! {
                <div class="triage" role="group" aria-label=say::review::QUESTION data-testid="triage" data-standing=standing.as_str()>
                    <p>{Icon::Alert.draw()}<span>{what}" "<b>{next}</b></span></p>
                    {asked.map(|todo| view! {
                        <p class="asked" data-testid="asked">{say::review::IS_ASKED}" "
                            <button class="plain" on:click=move |_| reading::go_to_engram(app, todo)>{say::review::SHOW_ASKED}</button></p>
                    })}
                    {answer.map(|answer| {
                        let id = answer.id;
                        view! {
                            <p class="asked" data-testid="answer" dir="auto">{prose(&say::review::answered(&words::visible(&answer.by), &words::visible(&answer.claim)))}" "
                                <button class="plain" on:click=move |_| reading::go_to_engram(app, id)>{say::review::SHOW_ANSWER}</button></p>
                        }
                    })}
                </div>
            }
        })
    }
}

/// The three answers, in the bar of actions.
#[component]
pub(crate) fn Verdicts(engram: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let can_repin = move || engram.with(|it| it.as_ref().is_some_and(|it| words::can_repin(it)));
    let is_suggested = move || {
        engram.with(|it| {
            it.as_ref()
                .is_some_and(|it| open_suggestion(app, it).is_some())
        })
    };
    let is_asked = move || engram.with(|it| it.as_ref().is_some_and(|it| it.asked.is_some()));
    // If the claim contains a number, that may be what changed, so no button is highlighted; nor if
    // a conflict comes first.
    let is_doubtful = |engram: &Arc<Engram>| {
        !engram.conflicts.is_empty() || engram.claim.contains(|it: char| it.is_ascii_digit())
    };
    let may_be_outdated = move || engram.with(|it| it.as_ref().is_some_and(is_doubtful));
    view! {
        <SuggestionButton engram />
        <button class:primary=move || !is_suggested() && !may_be_outdated() data-testid="still-true" hidden=move || !can_repin() on:click=move |_| judge(app, ClaimAction::Confirm)>{say::review::YES}" "<kbd>"Y"</kbd></button>
        <button data-testid="no-longer" on:click=move |_| judge(app, ClaimAction::Deny)>{say::review::NO}" "<kbd>"X"</kbd></button>
        <CorrectButton engram />
        <button data-testid="ask-agent" disabled=is_asked on:click=move |_| judge(app, ClaimAction::Ask)>{say::review::ASK}" "<kbd>"Q"</kbd></button>
    }
}
