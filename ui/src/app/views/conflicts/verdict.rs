//! The verdict that a person gives by a key or a button, and what follows.

use std::sync::Arc;

use engram_model::{
    Allow, Code, Conflict, ConflictId, ConflictStatus, Listed, Refusal, Resolve, Settle, ask,
};
use leptos::{prelude::*, task::spawn_local};

use super::state::can_reopen;
use crate::{
    app::{
        components::field::REASON,
        dom,
        frame::{Undo, room},
        state::App,
        views::conflicts::{chosen, merge, state, verdict_kind::ConflictVerdict},
    },
    tags::Tag,
    words::say,
};

impl ConflictVerdict {
    /// Its name on a button.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => say::conflicts::FIRST_HOLDS,
            Self::Second => say::conflicts::SECOND_HOLDS,
            Self::Newer => say::conflicts::NEWER,
            Self::Surer => say::conflicts::SURER,
            Self::Merge => say::conflicts::MERGE,
            Self::Contradict => say::conflicts::CONTRADICT,
            Self::Dismiss => say::conflicts::DISMISS,
            Self::Allow => say::conflicts::ALLOW,
        }
    }

    /// What it does, if its name does not say so.
    pub(super) fn means(self) -> Option<&'static str> {
        match self {
            Self::First | Self::Second => None,
            Self::Newer => Some(say::conflicts::NEWER_HOLDS),
            Self::Surer => Some(say::conflicts::SURER_HOLDS),
            Self::Merge => Some(say::conflicts::MERGE_MEANS),
            Self::Contradict => Some(say::conflicts::CONTRADICT_MEANS),
            Self::Dismiss => Some(say::conflicts::DISMISS_MEANS),
            Self::Allow => Some(say::conflicts::ALLOW_MEANS),
        }
    }

    /// The notice after it was sent.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::First => say::conflicts::DONE_FIRST,
            Self::Second => say::conflicts::DONE_SECOND,
            Self::Newer => say::conflicts::DONE_NEWER,
            Self::Surer => say::conflicts::DONE_SURER,
            Self::Merge => say::conflicts::DONE_MERGE,
            Self::Contradict => say::conflicts::DONE_CONTRADICT,
            Self::Dismiss => say::conflicts::DONE_DISMISS,
            Self::Allow => say::conflicts::DONE_ALLOW,
        }
    }

    /// Its verb while it runs over several conflicts, and after.
    pub(super) fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Contradict => say::conflicts::CONFIRMING,
            Self::Dismiss => say::conflicts::DISMISSING,
            Self::Allow => say::conflicts::ALLOWING,
            _ => say::conflicts::SETTLE,
        }
    }
}

/// Gives a verdict on the selected conflicts; with none selected, on the open one.
pub(super) fn judge_conflict(app: App, verdict: ConflictVerdict) {
    if untrack(|| app.views.conflicts.is_any_chosen()) {
        return chosen::judge_chosen_conflicts(app, verdict);
    }
    let Some(conflict) = untrack(|| state::current_conflict(app)) else {
        return;
    };
    if !verdict.fits(&conflict) {
        let (text, hint) = why_not(verdict, &conflict);
        return app.frame.warn(text, hint);
    }
    if verdict == ConflictVerdict::Merge {
        return merge::open_merge(app, &conflict);
    }
    let reason = untrack(|| app.views.conflicts.draft_of(conflict.id)).reason;
    if verdict == ConflictVerdict::Allow && reason.trim().is_empty() {
        return want_reason(app);
    }
    settle_conflict(app, conflict, verdict, None);
}

/// Sends a verdict on the open conflict, with the wording of a merge; then opens the next conflict.
pub(super) fn settle_conflict(
    app: App,
    conflict: Arc<Conflict>,
    verdict: ConflictVerdict,
    merged: Option<String>,
) {
    // A second press sends nothing.
    if !app.batch.begin(verdict.verbs().0, 1) {
        return;
    }
    app.views.conflicts.verdict_refused.set(None);
    let reason = untrack(|| app.views.conflicts.draft_of(conflict.id)).reason;
    spawn_local(async move {
        let holds = verdict
            .holds(&conflict, merged.as_deref())
            .map(str::to_owned);
        let said = say_of_conflict(app, &conflict, verdict, merged, &reason).await;
        app.batch.end();
        match said {
            Ok(undo) => {
                leave_behind(app, conflict.id, verdict);
                let holds = holds.unwrap_or_default();
                app.frame.say_done(verdict.done(), &holds, undo);
                if verdict == ConflictVerdict::Contradict {
                    app.frame.lead_to(conflict.id);
                }
            }
            Err(refusal) => refuse_verdict(app, conflict.id, verdict, refusal),
        }
    });
}

/// Sends a verdict; returns what undoes it.
pub(super) async fn say_of_conflict(
    app: App,
    conflict: &Conflict,
    verdict: ConflictVerdict,
    merged: Option<String>,
    reason: &str,
) -> Result<Undo, Refusal> {
    let (id, why) = (conflict.id, reason.trim().to_owned());
    let how = merged.map(Settle::Merge);
    let Some(how) = how.or_else(|| verdict.settle(conflict)) else {
        let allowed = set_allowance(app, id, why, false).await;
        return allowed.map(|()| undo_of(id, undo_allowance));
    };
    let why = (!why.is_empty()).then_some(why);
    let resolve = Resolve {
        conflict: id,
        how,
        why,
    };
    let resolved = app.ask(ask::Resolve(Box::new(resolve))).await;
    resolved.map(|_| undo_of(id, undo_verdict))
}

/// Lets an open conflict pass the gate, or undoes that.
async fn set_allowance(
    app: App,
    conflict: ConflictId,
    why: String,
    undo: bool,
) -> Result<(), Refusal> {
    let allow = Allow {
        conflict,
        why,
        undo,
    };
    app.ask(ask::Allow(allow)).await.map(|_| ())
}

/// Makes an open conflict block the gate again.
async fn undo_allowance(app: App, conflict: ConflictId) -> Result<(), Refusal> {
    set_allowance(app, conflict, String::new(), true).await
}

/// The undo of what was done to a conflict.
fn undo_of<F: Future<Output = Result<(), Refusal>> + 'static>(
    id: ConflictId,
    take_back: fn(App, ConflictId) -> F,
) -> Undo {
    let taken_back = move |app| async move { take_back(app, id).await.map(|()| None) };
    Undo::new(say::CONFLICTS, taken_back, move |app, of| {
        return_after_undo(app, id, of)
    })
}

/// Opens the conflict that was reopened, if conflicts are shown.
fn return_after_undo(app: App, id: ConflictId, of: &str) {
    app.frame.say(say::notice::UNDONE, of);
    state::return_to_conflict(app, id);
}

/// Opens the next conflict, after one was settled.
fn leave_behind(app: App, id: ConflictId, verdict: ConflictVerdict) {
    let all = app.views.conflicts;
    let is_open = all.inbox.open.get_untracked() == Some(id);
    let next = all
        .queue
        .with_untracked(|it| it.as_ref()?.next(id, verdict));
    all.wants_reason.set(false);
    tidy_after(app, id, verdict);
    let stays = verdict == ConflictVerdict::Contradict && !leaves_list(app, verdict);
    if !is_open || stays {
        return;
    }
    // Enter in the field of the reason was its end: what is typed next is about another conflict.
    if verdict == ConflictVerdict::Allow {
        room::focus_pane(app);
    }
    match next {
        Some(next) => state::select_conflict(app, next),
        None if untrack(|| state::is_nothing_listed(app)) => state::read_no_conflict(app),
        None => {}
    }
    // Another field keeps the focus until the person leaves it: what they type next must not run as
    // commands. If it is gone, keys continue in the list.
    dom::next_frame(move || {
        if dom::is_nowhere() {
            room::focus_pane(app);
        }
    });
}

/// Drops the draft, which was sent. If the conflict no longer waits for a verdict, removes it
/// before the list is read again.
pub(super) fn tidy_after(app: App, id: ConflictId, verdict: ConflictVerdict) {
    let all = app.views.conflicts;
    all.drafts.update(|drafts| {
        drafts.remove(&id);
    });
    // An answer to an earlier reading would bring it back.
    all.inbox.begin();
    app.stale.touch(Tag::Conflicts);
    if leaves_list(app, verdict) {
        all.queue.update(|queue| {
            if let Some(queue) = queue {
                queue.remove(id);
            }
        });
    }
}

/// Whether a conflict leaves the list with this verdict: one that a person only confirmed waits for
/// another.
fn leaves_list(app: App, verdict: ConflictVerdict) -> bool {
    let listed = app.views.conflicts.filter.with_untracked(|it| it.status);
    match verdict {
        ConflictVerdict::Allow => false,
        ConflictVerdict::Contradict => listed == Listed::Possible,
        _ => matches!(listed, Listed::Open | Listed::Possible),
    }
}

/// Shows why a verdict failed: beside its conflict or, if another is open by now, at the lower
/// edge.
fn refuse_verdict(app: App, id: ConflictId, verdict: ConflictVerdict, refusal: Refusal) {
    let all = app.views.conflicts;
    // If somebody else settled it first, their verdict is read.
    app.stale.touch(Tag::Conflicts);
    if all.inbox.open.get_untracked() != Some(id) {
        return app.frame.complain(refusal);
    }
    dom::log(&refusal.to_string());
    match verdict {
        ConflictVerdict::Merge if refusal.code != Code::AlreadySettled => {
            merge::refuse_merge(app, id, refusal);
        }
        _ => all.verdict_refused.set(Some(refusal)),
    }
}

/// Undoes the verdict on the open conflict, whoever gave it; if the conflict is still open, undoes
/// its allowance.
pub(super) fn reopen_conflict(app: App) {
    let Some(conflict) = untrack(|| state::current_conflict(app)) else {
        return;
    };
    if !can_reopen(&conflict) {
        let text = match conflict.status {
            ConflictStatus::Open => say::conflicts::STILL_OPEN,
            _ => say::conflicts::ENDED,
        };
        return app.frame.warn(text, say::conflicts::ENDED_HINT);
    }
    if !app.batch.begin(say::many::UNDOING, 1) {
        return;
    }
    app.views.conflicts.verdict_refused.set(None);
    let is_open = conflict.status == ConflictStatus::Open;
    spawn_local(async move {
        let undone = if is_open {
            undo_allowance(app, conflict.id).await
        } else {
            undo_verdict(app, conflict.id).await
        };
        app.batch.end();
        app.stale.touch(Tag::Conflicts);
        match undone {
            Ok(()) if is_open => app.frame.say_final(say::conflicts::BLOCKS_AGAIN),
            Ok(()) => app.frame.say_final(say::conflicts::REOPENED),
            Err(refusal) => app.views.conflicts.verdict_refused.set(Some(refusal)),
        }
    });
}

/// Reopens a conflict.
async fn undo_verdict(app: App, conflict: ConflictId) -> Result<(), Refusal> {
    let resolve = Resolve {
        conflict,
        how: Settle::Undo,
        why: None,
    };
    let undone = app.ask(ask::Resolve(Box::new(resolve))).await;
    undone.map(|_| ())
}

/// Focuses the field for a reason.
pub(super) fn write_reason(app: App) {
    if untrack(|| app.views.conflicts.is_any_chosen()) {
        dom::focus(REASON)
    } else {
        room::act_in_detail(app, || dom::focus(REASON))
    }
}

/// Makes a verdict wait for its reason.
pub(super) fn want_reason(app: App) {
    app.views.conflicts.wants_reason.set(true);
    write_reason(app);
}

/// Why a verdict does not fit a conflict, and what to do.
fn why_not(verdict: ConflictVerdict, conflict: &Conflict) -> (&'static str, &'static str) {
    match (conflict.status, verdict) {
        (ConflictStatus::Closed, _) => (say::conflicts::ENDED, ""),
        (ConflictStatus::Possible, _) => {
            (say::conflicts::ONLY_POSSIBLE, say::conflicts::JUDGE_FIRST)
        }
        (ConflictStatus::Resolved | ConflictStatus::Dismissed, _) => {
            (say::conflicts::IS_SETTLED, say::conflicts::IS_SETTLED_HINT)
        }
        (ConflictStatus::Open, ConflictVerdict::Surer) => {
            (say::conflicts::EQUALLY_SURE, say::conflicts::PICK_ONE)
        }
        (ConflictStatus::Open, ConflictVerdict::Contradict) => (say::conflicts::IS_CONFLICT, ""),
        (ConflictStatus::Open, _) if conflict.allowed.is_some() => (say::conflicts::IS_ALLOWED, ""),
        (ConflictStatus::Open, _) => (say::conflicts::BLOCKS_NOTHING, ""),
    }
}
