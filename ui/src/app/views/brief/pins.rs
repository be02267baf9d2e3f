//! What a person pins to the brief, unpins and edits.

use engram_model::{BriefLine, Pinning, Refusal, Unpinning, ask};
use leptos::{prelude::*, task::spawn_local};

use super::state::Draft;
use crate::{
    app::{dom, state::App},
    tags::Tag,
    words::say,
};

/// The field for a line of one's own.
pub(super) const FIELD: &str = "line-field";

/// Whether a line can be pinned, or unpinned.
pub(super) fn can_pin(it: &BriefLine) -> bool {
    it.pinned || it.engram.is_some()
}

/// Whether its words are somebody's own, and not those of a claim.
pub(super) fn can_edit(it: &BriefLine) -> bool {
    it.pinned && it.engram.is_none()
}

impl App {
    /// Pins the open line, or unpins it.
    pub(super) fn pin_or_unpin(self) {
        let Some(line) = untrack(|| self.line()) else {
            return;
        };
        match (line.pin, line.engram) {
            (Some(pin), _) => {
                self.change_pins(
                    say::brief::UNPINNED_NOW,
                    async move { self.unpin(pin).await },
                );
            }
            (None, Some(id)) => self.change_pins(say::brief::PINNED_NOW, async move {
                self.pin(Pinning::Engram(id)).await
            }),
            (None, None) => {
                let hint = say::brief::NOT_A_CLAIM_HINT;
                self.say(say::brief::NOT_A_CLAIM, hint, true);
            }
        }
    }

    /// Opens the field for a line: a new one, or one that takes the place of a pinned line.
    pub(crate) fn write_line(self, instead_of: Option<BriefLine>) {
        self.brief.pin_refused.set(None);
        let text = instead_of.as_ref().map(|it| it.text.clone());
        self.brief.draft.set(Some(Draft {
            text: text.unwrap_or_default(),
            instead_of,
        }));
        request_animation_frame(|| dom::focus(FIELD));
    }

    /// Changes the words of the open line.
    pub(super) fn edit_line(self) {
        let Some(line) = untrack(|| self.line()) else {
            return;
        };
        if can_edit(&line) {
            self.in_list(move || self.write_line(Some(line)))
        } else {
            self.say(say::brief::NOT_YOURS, say::brief::NOT_YOURS_HINT, true)
        }
    }

    /// The field is closed; what was written in it is gone.
    pub(super) fn leave_draft(self) {
        self.brief.draft.set(None);
        self.brief.pin_refused.set(None);
        self.to_list();
    }

    /// Pins what was written.
    pub(super) fn save_draft(self) {
        let Some(draft) = self.brief.draft.get_untracked() else {
            return;
        };
        let text = draft.text.trim().to_owned();
        let old = draft.instead_of;
        if text.is_empty() || old.as_ref().is_some_and(|it| it.text == text) {
            return self.leave_draft();
        }
        let done = if old.is_some() {
            say::brief::EDITED
        } else {
            say::brief::PINNED_NOW
        };
        self.change_pins(done, async move {
            // The new words are checked before the old ones go.
            self.pin(Pinning::Text(text.clone())).await?;
            if let Some(old) = old.and_then(|it| it.pin) {
                self.unpin(old).await?;
            }
            self.brief.draft.set(None);
            self.select_line(text);
            self.to_list();
            Ok(())
        });
    }

    async fn pin(self, what: Pinning) -> Result<(), Refusal> {
        self.ask(ask::Pin(what)).await.map(|_| ())
    }

    /// Unpins by id: a line's number may be another by now, and another in an agent's brief.
    async fn unpin(self, pin: u64) -> Result<(), Refusal> {
        let unpin = ask::Unpin(Unpinning::Pin { pin });
        self.ask(unpin).await.map(|_| ())
    }

    /// Sends a change; what was refused is said beside the lines.
    fn change_pins(
        self,
        done: &'static str,
        change: impl Future<Output = Result<(), Refusal>> + 'static,
    ) {
        if !self.batch.begin(done, 1) {
            return;
        }
        self.brief.pin_refused.set(None);
        spawn_local(async move {
            let changed = change.await;
            self.batch.end();
            self.stale.touch(Tag::Brief);
            match changed {
                Ok(()) => self.say(done, "", false),
                Err(refusal) => {
                    dom::log(&refusal.to_string());
                    self.brief.pin_refused.set(Some(refusal));
                }
            }
        });
    }
}
