//! What goes out of the window: to the person's editor, and to the clipboard.

use leptos::{prelude::*, task::spawn_local};

use super::{dom, state::App};
use crate::route::Route;

impl App {
    /// Opens the source in the person's editor.
    pub(crate) fn open_editor(self) {
        let Some(source) = untrack(|| self.source()) else {
            return self.say(
                "The source was not read",
                "Its card says why, or reads it still.",
                true,
            );
        };
        let Some((path, line)) = source.open_path.clone().zip(Some(source.open_line)) else {
            return self.say(
                "There is no such file in the working tree",
                "Copy the pointer instead: C.",
                true,
            );
        };
        spawn_local(async move {
            match self.backend().open_editor(&path, line).await {
                Ok(editor) => self.say(&format!("Opened in {editor}"), "", false),
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Opens the window's log in the person's editor.
    pub(crate) fn open_log(self) {
        spawn_local(async move {
            match self.backend().open_log().await {
                Ok(editor) => self.say(&format!("Opened in {editor}"), "", false),
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Copies a link that leads to what is read.
    pub(crate) fn copy_link(self) {
        let route = Route {
            view: self.view.get_untracked().id,
            repository: self.root(),
            engram: self.reading.selected.get_untracked(),
            ..Route::default()
        };
        if route.engram.is_some() {
            self.copy(route.link(), "Link copied");
        }
    }

    /// Copies the exact pointer.
    pub(crate) fn copy_pointer(self) {
        let index = self.reading.pointer.get_untracked();
        let pointer = untrack(|| self.current())
            .and_then(|it| it.pointers.get(index).map(ToString::to_string));
        if let Some(pointer) = pointer {
            self.copy(pointer, "Pointer copied");
        }
    }

    pub(crate) fn copy(self, text: String, done: &'static str) {
        spawn_local(async move {
            match dom::copy(&text).await {
                true => self.say(done, "", false),
                false => self.say(
                    "The clipboard could not be written",
                    "Select the text and copy it.",
                    true,
                ),
            }
        });
    }
}
