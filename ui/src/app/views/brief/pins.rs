//! Pins, unpins and edits lines of the brief.

use engram_model::{BriefLine, Pinning, Refusal, Unpinning, ask};
use leptos::{prelude::*, task::spawn_local};

use super::state::LineDraft;
use crate::{
    app::{dom, frame::room, state::App, views::brief::state},
    tags::Tag,
    words::say,
};

/// The id of the field for a line of the person's own.
pub(super) const FIELD: &str = "line-field";

/// Whether a line can be pinned or unpinned.
pub(super) fn can_pin(line: &BriefLine) -> bool {
    line.pinned || line.engram.is_some()
}

/// Whether a line is pinned words, not a claim, so that the words can be edited.
pub(super) fn can_edit(line: &BriefLine) -> bool {
    line.pinned && line.engram.is_none()
}

/// Pins the open line, or unpins it.
pub(super) fn pin_or_unpin(app: App) {
    let Some(line) = untrack(|| state::current_line(app)) else {
        return;
    };
    match (line.pin, line.engram) {
        (Some(pin), _) => {
            change_pins(app, say::brief::UNPINNED_NOW, async move {
                unpin(app, pin).await
            });
        }
        (None, Some(id)) => change_pins(app, say::brief::PINNED_NOW, async move {
            pin(app, Pinning::Engram(id)).await
        }),
        (None, None) => {
            let hint = say::brief::NOT_A_CLAIM_HINT;
            app.frame.warn(say::brief::NOT_A_CLAIM, hint);
        }
    }
}

/// Opens the field for a line: a new one, or one that replaces a pinned line.
pub(super) fn write_line(app: App, instead_of: Option<BriefLine>) {
    app.views.brief.pin_refused.set(None);
    let text = instead_of.as_ref().map(|it| it.text.clone());
    app.views.brief.draft.set(Some(LineDraft {
        text: text.unwrap_or_default(),
        instead_of,
    }));
    dom::next_frame(|| dom::focus(FIELD));
}

/// Opens the field with the words of the open line.
pub(super) fn edit_line(app: App) {
    let Some(line) = untrack(|| state::current_line(app)) else {
        return;
    };
    if can_edit(&line) {
        room::act_in_list(app, move || write_line(app, Some(line)))
    } else {
        app.frame
            .warn(say::brief::NOT_YOURS, say::brief::NOT_YOURS_HINT)
    }
}

/// Closes the field and discards what was written in it.
pub(super) fn leave_draft(app: App) {
    app.views.brief.draft.set(None);
    app.views.brief.pin_refused.set(None);
    room::go_to_list(app);
}

/// Pins what was written.
pub(super) fn save_draft(app: App) {
    let Some(draft) = app.views.brief.draft.get_untracked() else {
        return;
    };
    let text = draft.text.trim().to_owned();
    let old = draft.instead_of;
    if text.is_empty() || old.as_ref().is_some_and(|it| it.text == text) {
        return leave_draft(app);
    }
    let is_new = old.is_none();
    let done = if is_new {
        say::brief::PINNED_NOW
    } else {
        say::brief::EDITED
    };
    change_pins(app, done, async move {
        // Pins the new words before unpinning the old ones, since the new ones may be refused.
        pin(app, Pinning::Text(text.clone())).await?;
        if let Some(old) = old.and_then(|it| it.pin) {
            unpin(app, old).await?;
        }
        state::select_line(app, text);
        if is_new {
            // The field stays, so that words typed next run no command.
            app.views.brief.draft.set(Some(LineDraft::default()));
        } else {
            app.views.brief.draft.set(None);
            room::go_to_list(app);
        }
        Ok(())
    });
}

async fn pin(app: App, what: Pinning) -> Result<(), Refusal> {
    app.ask(ask::Pin(what)).await.map(|_| ())
}

/// Unpins by id: a line's number may have changed, and differs in an agent's brief.
async fn unpin(app: App, pin: u64) -> Result<(), Refusal> {
    let unpin = ask::Unpin(Unpinning::Pin { pin });
    app.ask(unpin).await.map(|_| ())
}

/// Sends a change; shows a refusal beside the lines.
fn change_pins(
    app: App,
    done: &'static str,
    change: impl Future<Output = Result<(), Refusal>> + 'static,
) {
    if !app.batch.begin(done, 1) {
        return;
    }
    app.views.brief.pin_refused.set(None);
    spawn_local(async move {
        let changed = change.await;
        app.batch.end();
        app.stale.touch(Tag::Brief);
        match changed {
            Ok(()) => app.frame.say_final(done),
            Err(refusal) => {
                dom::log(&refusal.to_string());
                app.views.brief.pin_refused.set(Some(refusal));
            }
        }
    });
}
