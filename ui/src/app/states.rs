//! What the frame says while nothing can be listed: that the first page is on its way, that the
//! connection broke.

use engram_model::Code;
use leptos::prelude::*;

use super::{connection::Link, frame::sentence, icons::Icon, state::App};

/// The shape of what comes.
#[component]
pub(crate) fn Loading() -> impl IntoView {
    let ghosts = (0..12).map(|_| view! { <div class="ghost"><i></i><i></i><i></i></div> });
    view! {
        <main class="loading" aria-busy="true" data-testid="loading">
            <div class="ghosts" aria-hidden="true"><i class="title"></i><i class="field"></i>{ghosts.collect_view()}</div>
            <h1>"Reading the journal…"</h1>
        </main>
    }
}

/// What is listed may be old; what is stored is safe.
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
                {move || match app.connection.lost_why.get() {
                    Some(it) if it.code == Code::ScopeDenied => view! { <p>"This page's token is no longer valid"<span>"Engram was started again. Open the address that "<code>"engram serve"</code>" printed. What you see is from "{since}"."</span></p> }.into_any(),
                    Some(it) if it.code == Code::StoreGone => view! { <p>"Engram's home folder is gone"<span>{sentence(&it.message)}". Put it back and the window goes on; to begin an empty one, restart Engram. What you see is from "{since}"."</span></p> }.into_any(),
                    _ => view! { <p>"Engram does not answer"<span>"What you see is from "{since}". The window keeps trying."</span></p> }.into_any(),
                }}
                <button data-testid="reconnect" on:click=move |_| app.reconnect()>"Try now"</button>
            </div>
        })
    }
}
