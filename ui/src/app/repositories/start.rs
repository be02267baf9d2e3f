//! What a window shows when started outside a repository, and the offer to open what a link names.

use leptos::prelude::*;

use super::pick::PickRepository;
use crate::{
    app::{
        components::refused::Refused,
        frame::Over,
        overlay::{Heading, Modal},
        repositories,
        state::App,
    },
    words::{self, say},
};

/// The known repositories, and ways to choose another.
#[component]
pub(crate) fn Start() -> impl IntoView {
    let app = App::here();
    let engrams = move || app.status.with(|it| it.as_ref().map_or(0, |it| it.engrams));
    view! {
        <main class="whole" data-testid="start">
            <div class="welcome">
                <h1>{say::repositories::CHOOSE}</h1>
                <p class="lead">{say::repositories::OUTSIDE}</p>
                <div class="repositories"><PickRepository list="start-list" /></div>
                <p class="outside" hidden=move || engrams() == 0>
                    <button data-testid="stay-outside" on:click=move |_| app.repositories.stays_outside.set(true)>
                        {move || say::repositories::stay_outside(&words::format_count(engrams(), say::ENGRAMS))}
                    </button>
                </p>
            </div>
        </main>
    }
}

/// The offer to open an unknown repository that a link names. Nothing of it is opened before the
/// person accepts.
#[component]
pub(crate) fn Offer() -> impl IntoView {
    let app = App::here();
    let path = move || {
        let offered = app.repositories.offered.get();
        offered.map(|(path, _)| words::visible(&path))
    };
    view! {
        <Modal over=Over::Offer label=say::repositories::NOT_HERE class="offer">
            <Heading title=say::repositories::NOT_HERE />
            <p><code data-testid="offered">{path}</code></p>
            <p>{say::repositories::OFFER}</p>
            <Refused refusal=app.repositories.refused />
            <div class="bar">
                <button class="primary" data-testid="offer-open" on:click=move |_| repositories::take_offer(app)>{say::repositories::OPEN_IT}</button>
                <button data-testid="offer-leave" on:click=move |_| app.frame.over.set(None)>{say::repositories::LEAVE_IT}" "<kbd>"Esc"</kbd></button>
            </div>
        </Modal>
    }
}
