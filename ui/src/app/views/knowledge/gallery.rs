//! What is known, now and then, for the gallery.

use std::sync::Arc;

use engram_model::{Engram, Filter};
use leptos::prelude::*;

use super::{VIEW, When};
use crate::app::{
    gallery::{Frame, Part, made_up::engrams},
    reading::detail::Detail,
    state::App,
    views::feed::{
        List,
        gallery::{clear_list, full, load},
    },
};

#[component]
pub(crate) fn Exhibits() -> impl IntoView {
    view! {
        <Part title="Knowledge">
            <Frame title="what holds, by topic" set=known><List /></Frame>
            <Frame title="what held then" set=|app| held(app, &engrams())><List /></Frame>
            <Frame title="nothing held then" set=|app| held(app, &[])><List /></Frame>
            <Frame title="on its way" set=held_unread><List /></Frame>
            <Frame title="of now" set=known is_wide=true><When /></Frame>
            <Frame title="of a time that is past" set=|app| held(app, &engrams()) is_wide=true><When /></Frame>
            <Frame title="a claim as it was" set=|app| held(app, &engrams())><Detail /></Frame>
        </Part>
    }
}

/// Shows what holds, by topic.
fn known(app: App) {
    app.view.set(&VIEW);
    full(app);
}

/// Shows what held when the last of these was stored.
fn held(app: App, all: &[Arc<Engram>]) {
    app.view.set(&VIEW);
    let filter = Filter {
        held_at: engrams().iter().map(|it| it.valid_from).max(),
        ..Filter::default()
    };
    load(app, all, filter);
    app.reading.selected.set(all.first().map(|it| it.id));
}

/// Shows the same while it is on its way.
fn held_unread(app: App) {
    held(app, &[]);
    clear_list(app);
}
