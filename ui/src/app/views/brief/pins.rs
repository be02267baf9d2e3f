//! Pins, unpins and edits lines of the brief.

use engram_model::{BriefLine, BriefOf, Pinning, Refusal, Unpinning, ask};
use leptos::{prelude::*, task::spawn_local};

use super::state::LineDraft;
use crate::{
    app::{
        dom,
        frame::{Undo, room},
        reading::{self, Closing},
        state::App,
        views::brief::state,
    },
    tags::Tag,
    words::{self, say},
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
            let what = line
                .engram
                .map_or_else(|| Pinning::Text(line.text), Pinning::Engram);
            change_pins(app, say::brief::UNPINNED_NOW, async move {
                unpin(app, pin).await.map(|()| Some(pin_again(what)))
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

/// Pins the open claim to everybody's brief, or unpins it there.
pub(crate) fn pin_or_unpin_claim(app: App) {
    let Some(engram) = untrack(|| reading::current_engram(app)) else {
        return;
    };
    if !Closing::Forget.is_for(&engram) {
        return reading::say_over(app, &engram);
    }
    if !app.batch.begin(say::brief::PIN, 1) {
        return;
    }
    app.reading.refused.set(None);
    let id = engram.id;
    spawn_local(async move {
        let changed = async {
            let shown = app.ask(ask::ShowBrief(BriefOf::default())).await?;
            let mut lines = shown.brief.lines.iter();
            let line = lines.find(|it| it.pin.is_some() && it.engram == Some(id));
            Ok(match line.and_then(|it| it.pin) {
                Some(number) => {
                    unpin(app, number).await?;
                    let undo = pin_again(Pinning::Engram(id));
                    (say::brief::UNPINNED_NOW, Some(undo))
                }
                None => {
                    let undo = pin(app, Pinning::Engram(id)).await?;
                    (say::brief::PINNED_NOW, undo)
                }
            })
        };
        let changed: Result<(&str, Option<Undo>), Refusal> = changed.await;
        app.batch.end();
        app.stale.touch(Tag::Brief);
        match changed {
            Ok((done, Some(undo))) => app.frame.say_done(done, &words::claim(&engram), undo),
            Ok((done, None)) => app.frame.say_final(done),
            Err(refusal) => reading::refuse_change(app, id, refusal),
        }
    });
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
        let undo = pin(app, Pinning::Text(text.clone())).await?;
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
        Ok(undo.filter(|_| is_new))
    });
}

/// Pins; returns the undo, which unpins.
async fn pin(app: App, what: Pinning) -> Result<Option<Undo>, Refusal> {
    let reply = app.ask(ask::Pin(what.clone())).await?;
    let is_it = |line: &&BriefLine| match &what {
        Pinning::Engram(id) => line.engram == Some(*id),
        Pinning::Text(text) => line.engram.is_none() && line.text == *text,
    };
    let mut pinned = reply.lines.iter().filter(|it| it.pin.is_some());
    let number = pinned.find(is_it).and_then(|it| it.pin);
    Ok(number.map(|number| undo_of(move |app| unpin(app, number))))
}

/// The undo of unpinning.
fn pin_again(what: Pinning) -> Undo {
    undo_of(move |app| {
        let what = what.clone();
        async move { pin(app, what).await.map(|_| ()) }
    })
}

fn undo_of<F: Future<Output = Result<(), Refusal>> + 'static>(
    take_back: impl Fn(App) -> F + Send + Sync + 'static,
) -> Undo {
    let take_back = move |app: App| {
        let taken_back = take_back(app);
        async move {
            let taken_back = taken_back.await;
            app.stale.touch(Tag::Brief);
            taken_back.map(|()| None)
        }
    };
    let then = |app: App, of: &str| app.frame.say(say::notice::UNDONE, of);
    Undo::new(say::LINES, take_back, then)
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
    change: impl Future<Output = Result<Option<Undo>, Refusal>> + 'static,
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
            Ok(Some(undo)) => app.frame.say_all_done(done, "", false, vec![undo]),
            Ok(None) => app.frame.say_final(done),
            Err(refusal) => {
                dom::log(&refusal.to_string());
                app.views.brief.pin_refused.set(Some(refusal));
            }
        }
    });
}
