//! What goes out of the window: to the person's editor, and to the clipboard.

use engram_model::Code;
use leptos::{prelude::*, task::spawn_local};

use super::{dom, state::App};
use crate::{
    route::Route,
    words::{self, say},
};

impl App {
    /// Opens the source in the person's editor.
    pub(crate) fn open_editor(self) {
        let Some(pointer) = untrack(|| self.pointer()) else {
            return;
        };
        if !words::is_file(&pointer) {
            return self.say(say::notice::NO_FILE, say::notice::NO_FILE_HINT, true);
        }
        spawn_local(async move {
            match self.backend().open_editor(&pointer.to_string()).await {
                Ok(editor) => self.say(&say::notice::opened_in(&editor), "", false),
                Err(refusal) => {
                    // What is only in the past stands in its card.
                    if refusal.code == Code::PointerNotFound {
                        let index = self.reading.pointer.get_untracked();
                        self.in_detail(move || dom::focus(&format!("pointer-{index}")));
                    }
                    self.complain(refusal);
                }
            }
        });
    }

    /// Opens the window's log in the person's editor.
    pub(crate) fn open_log(self) {
        spawn_local(async move {
            match self.backend().open_log().await {
                Ok(editor) => self.say(&say::notice::opened_in(&editor), "", false),
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Copies a link that leads to what is read.
    pub(crate) fn copy_link(self) {
        let route = Route {
            repository: self.root(),
            ..self.route_of(true)
        };
        if route.engram.is_some() || route.conflict.is_some() || route.request.is_some() {
            self.copy(route.link(), say::notice::LINK_COPIED);
        }
    }

    /// Copies the exact pointer.
    pub(crate) fn copy_pointer(self) {
        if let Some(pointer) = untrack(|| self.pointer()) {
            self.copy(pointer.to_string(), say::notice::POINTER_COPIED);
        }
    }

    /// Copies the open claim, as shown.
    pub(crate) fn copy_claim(self) {
        if let Some(engram) = untrack(|| self.current()).filter(|it| !it.redacted) {
            self.copy(words::claim(&engram), say::notice::CLAIM_COPIED);
        }
    }

    pub(crate) fn copy(self, text: String, done: &'static str) {
        spawn_local(async move {
            if dom::copy(&text).await {
                self.say(done, "", false)
            } else {
                self.say(
                    say::notice::NO_CLIPBOARD,
                    say::notice::NO_CLIPBOARD_HINT,
                    true,
                )
            }
        });
    }
}
