//! What the frame shows while the first page is being read, and while the connection is lost.

use engram_model::Code;
use leptos::prelude::*;

use crate::{
    app::{
        components::{icons::Icon, prose::prose},
        engine::connection::{self, Link, LossReason},
        state::App,
    },
    words::{self, say, sentence},
};

/// Placeholders in the shape of the list.
#[component]
pub(crate) fn Loading() -> impl IntoView {
    let ghosts = (0..12).map(|_| view! { <div class="ghost"><i></i><i></i><i></i></div> });
    view! {
        <main class="loading" aria-busy="true" data-testid="loading">
            <div class="ghosts" aria-hidden="true"><i class="title"></i><i class="field"></i>{ghosts.collect_view()}</div>
            <h1>{say::list::READING}</h1>
        </main>
    }
}

/// A note that the list may be out of date, but that what is stored is safe.
#[component]
pub(crate) fn Disconnected() -> impl IntoView {
    let app = App::here();
    let since = move || {
        let lost = app.connection.lost_at.get();
        lost.map(|it| app.clock.get().moment(it))
            .unwrap_or_default()
    };
    let is_lost = Memo::new(move |_| app.connection.link.get() == Link::Lost);
    move || {
        is_lost.get().then(|| view! {
            <div class="lost" role="alert" data-testid="disconnected">
                {Icon::Alert.draw()}
                {move || {
                    let (title, text) = loss_in_words(app.connection.lost_why.get(), &since());
                    view! { <p>{title}<span>{prose(&text)}</span></p> }
                }}
                <button data-testid="reconnect" on:click=move |_| connection::reconnect(app)>{say::lost::NOW}</button>
            </div>
        })
    }
}

/// Why the connection is lost, and what to do.
fn loss_in_words(why: Option<LossReason>, since: &str) -> (String, String) {
    match why {
        Some(LossReason::Token) => (say::lost::TOKEN.to_owned(), say::lost::token(since)),
        Some(LossReason::Refused(refusal)) if refusal.code == Code::StoreGone => {
            let why = sentence(&refusal.message);
            (say::lost::HOME.to_owned(), say::lost::home(&why, since))
        }
        Some(LossReason::Refused(refusal)) if refusal.code != Code::Internal => {
            let hint = words::visible(&refusal.hint);
            (sentence(&refusal.message), say::lost::refused(&hint, since))
        }
        _ => (say::lost::SILENT.to_owned(), say::lost::silent(since)),
    }
}
