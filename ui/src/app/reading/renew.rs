//! The renewal of a claim that has a ttl: the same claim, with its ttl from now.

use engram_model::{Engram, ask};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{
        frame::Undo,
        overlay::palette::keycaps,
        reading::{self, current_engram, refuse_change, say_over},
        state::App,
    },
    words::{
        self,
        ending::{can_renew, ends_soon, ttl_in_words},
        say,
    },
};

/// Renews the open claim. A confirmation is a new version with the same words, author and ttl, so
/// that is what is sent; undo restores the version before, which ends when it would have.
pub(crate) fn renew(app: App) {
    let Some(engram) = untrack(|| current_engram(app)) else {
        return;
    };
    let now = app.clock.get_untracked().now;
    let Some(ttl) = engram.ttl.as_ref().filter(|_| engram.holds_now(now)) else {
        return if engram.holds_now(now) {
            app.frame
                .warn(say::ending::NO_TTL, say::ending::NO_TTL_HINT)
        } else {
            say_over(app, &engram)
        };
    };
    if words::is_drifted(&engram) {
        let hint = say::ending::JUDGE_FIRST_HINT;
        return app.frame.warn(say::ending::JUDGE_FIRST, hint);
    }
    let (id, term) = (engram.id, ttl_in_words(ttl));
    // A second press sends nothing.
    if !app.batch.begin(say::ending::RENEWING.0, 1) {
        return;
    }
    app.reading.refused.set(None);
    spawn_local(async move {
        let stored = app.ask(ask::Repin(id)).await;
        app.batch.end();
        match stored {
            Ok(stored) => {
                let done = say::ending::renewed(&term);
                app.frame
                    .say_done(&done, &words::claim(&engram), Undo::restore(id));
                if app.reading.selected.get_untracked() == Some(id) {
                    reading::select_engram(app, stored.id);
                }
            }
            Err(refusal) => refuse_change(app, id, refusal),
        }
    });
}

/// Returns the ttl for which a button offers to renew this claim: it is about to end.
pub(crate) fn offered_ttl(app: App, engram: &Engram) -> Option<String> {
    let now = app.clock.get().now;
    let is_offered = can_renew(engram, now) && !app.list.is_past();
    ends_soon(engram, now).filter(|_| is_offered)?;
    engram.ttl.as_ref().map(ttl_in_words)
}

/// The button that renews the open claim for this ttl.
#[component]
pub(crate) fn RenewButton(term: Memo<Option<String>>) -> impl IntoView {
    let app = App::here();
    move || {
        term.get().map(|term| {
            view! {
                <button data-testid="renew" title=say::ending::RENEW_MEANS on:click=move |_| renew(app)>
                    {say::ending::renew_for(&term)}" "{keycaps("Shift+l")}
                </button>
            }
        })
    }
}
