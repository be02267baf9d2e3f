//! What leaves the window: to the person's editor, and to the clipboard.

use engram_model::Code;
use leptos::{prelude::*, task::spawn_local};

use super::{dom, state::App};
use crate::{
    app::{frame::room, reading},
    route::Route,
    words::{self, say},
};

/// Opens the source in the person's editor.
pub(crate) fn open_editor(app: App) {
    let Some(pointer) = untrack(|| reading::current_pointer(app)) else {
        return;
    };
    if !words::is_file(&pointer) {
        return app
            .frame
            .warn(say::notice::NO_FILE, say::notice::NO_FILE_HINT);
    }
    spawn_local(async move {
        match app.backend().open_editor(&pointer.to_string()).await {
            Ok(editor) => app.frame.say(&say::notice::opened_in(&editor), ""),
            Err(refusal) => {
                // A source that exists only in the past is shown in its card.
                if refusal.code == Code::PointerNotFound {
                    let index = app.reading.pointer.get_untracked();
                    room::act_in_detail(app, move || dom::focus(&format!("pointer-{index}")));
                }
                app.frame.complain(refusal);
            }
        }
    });
}

/// Opens the window's log in the person's editor.
pub(crate) fn open_log(app: App) {
    spawn_local(async move {
        match app.backend().open_log().await {
            Ok(editor) => app.frame.say(&say::notice::opened_in(&editor), ""),
            Err(refusal) => app.frame.complain(refusal),
        }
    });
}

/// Copies a link to what is open.
pub(crate) fn copy_link(app: App) {
    let route = Route {
        repository: app.repositories.root(),
        remote: app
            .status
            .with_untracked(|it| it.as_ref()?.project.as_ref()?.remote.clone()),
        ..app.route_of(true)
    };
    if route.open.is_some() {
        copy_text(app, route.link(), say::notice::LINK_COPIED);
    }
}

/// Copies the exact pointer.
pub(crate) fn copy_pointer(app: App) {
    if let Some(pointer) = untrack(|| reading::current_pointer(app)) {
        copy_text(app, pointer.to_string(), say::notice::POINTER_COPIED);
    }
}

/// Copies the open claim, as shown.
pub(crate) fn copy_claim(app: App) {
    if let Some(engram) = untrack(|| reading::current_engram(app)).filter(|it| !it.redacted) {
        copy_text(app, words::claim(&engram), say::notice::CLAIM_COPIED);
    }
}

pub(crate) fn copy_text(app: App, text: String, done: &'static str) {
    spawn_local(async move {
        if dom::write_clipboard(&text).await {
            app.frame.say(done, "")
        } else {
            app.frame
                .warn(say::notice::NO_CLIPBOARD, say::notice::NO_CLIPBOARD_HINT)
        }
    });
}
