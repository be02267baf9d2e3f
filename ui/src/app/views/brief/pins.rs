//! Pins, unpins and edits lines of the brief.

use engram_model::{BriefLine, BriefOf, PinInstead, Pinnable, Pinning, Refusal, Unpinning, ask};
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
                .map_or_else(|| Pinnable::Text(line.text), Pinnable::Engram);
            let is_of_agent = line.pinned_by.is_some();
            change_pins(app, say::brief::UNPINNED_NOW, async move {
                unpin(app, pin).await?;
                // A line of an agent is for its children; the user's would be for all.
                Ok(Some(pin_back(pin, what)).filter(|_| !is_of_agent))
            });
        }
        (None, Some(id)) => change_pins(app, say::brief::PINNED_NOW, async move {
            pin(app, Pinnable::Engram(id)).await
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
                    let undo = pin_back(number, Pinnable::Engram(id));
                    (say::brief::UNPINNED_NOW, Some(undo))
                }
                None => {
                    let undo = pin(app, Pinnable::Engram(id)).await?;
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
        let new = text.clone();
        let undo = match old.and_then(|it| Some((it.pin?, it.text))) {
            Some((number, words)) => {
                pin_instead(app, number, Pinnable::Text(new)).await?;
                Some(pin_back(number, Pinnable::Text(words)))
            }
            None => pin(app, Pinnable::Text(new)).await?,
        };
        state::select_line(app, text);
        if is_new {
            // The field stays, so that words typed next run no command.
            app.views.brief.draft.set(Some(LineDraft::default()));
        } else {
            app.views.brief.draft.set(None);
            room::go_to_list(app);
        }
        Ok(undo)
    });
}

/// Pins; returns the undo, which unpins.
async fn pin(app: App, what: Pinnable) -> Result<Option<Undo>, Refusal> {
    let pinning = match what.clone() {
        Pinnable::Engram(id) => Pinning::Engram(id),
        Pinnable::Text(text) => Pinning::Text(text),
    };
    let reply = app.ask(ask::Pin(pinning)).await?;
    let number = pin_of(&reply.lines, &what);
    Ok(number.map(|number| undo_of(move |app| unpin(app, number))))
}

/// Pins in the place that another pin has or had.
async fn pin_instead(app: App, pin: u64, what: Pinnable) -> Result<(), Refusal> {
    let instead = Pinning::Instead(PinInstead { pin, what });
    app.ask(ask::Pin(instead)).await.map(|_| ())
}

/// The id of the pin of this claim or text.
fn pin_of(lines: &[BriefLine], what: &Pinnable) -> Option<u64> {
    let is_it = |line: &&BriefLine| match what {
        Pinnable::Engram(id) => line.engram == Some(*id),
        Pinnable::Text(text) => line.engram.is_none() && line.text == *text,
    };
    let mut pinned = lines.iter().filter(|it| it.pin.is_some());
    pinned.find(is_it)?.pin
}

/// The undo of unpinning or editing: pins what was there, in its place.
fn pin_back(pin: u64, what: Pinnable) -> Undo {
    undo_of(move |app| {
        let what = what.clone();
        pin_instead(app, pin, what)
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
    Undo::new(say::LINES, take_back, then).unlisted()
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
