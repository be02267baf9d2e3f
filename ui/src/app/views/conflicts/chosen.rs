//! Several conflicts at once: selected by keys or mouse, settled one after the other, and undone by
//! one key.

use std::{collections::HashMap, sync::Arc};

use engram_model::{Conflict, ConflictId};
use leptos::{prelude::*, task::spawn_local};

use super::detail::{Reason, view_verdict_button};
use crate::{
    app::{
        components::chosen::{ChosenBar, count_in_words},
        dom,
        frame::{Undo, room},
        state::App,
        views::conflicts::{
            queue::{self, Queue},
            state, verdict,
            verdict_kind::ConflictVerdict,
        },
    },
    selection::Selection,
    words::{self, say},
};

/// Only conflicts that wait for a person can be selected.
fn can_choose(conflict: &Conflict) -> bool {
    queue::waits(conflict)
}

/// Changes the selection; drops a verdict that waits for its reason. A reason is of the selection for
/// which it was written.
fn choose_conflicts(app: App, change: impl FnOnce(&mut Selection<Conflict>)) {
    let all = app.views.conflicts;
    all.wants_reason.set(false);
    all.chosen.update(change);
    if all.chosen.with_untracked(Selection::is_empty) {
        all.chosen_reason.set(String::new());
    }
}

fn conflict_rows(app: App) -> Vec<Arc<Conflict>> {
    let rows = |it: &Queue| it.rows().to_vec();
    let queue = app.views.conflicts.queue;
    queue.with_untracked(|it| it.as_ref().map(rows).unwrap_or_default())
}

/// Selects or deselects the open row.
pub(super) fn toggle_open_conflict(app: App) {
    if let Some(id) = app.views.conflicts.inbox.open.get_untracked() {
        toggle_conflict(app, id);
    }
}

pub(super) fn toggle_conflict(app: App, id: ConflictId) {
    let row = conflict_rows(app).into_iter().find(|it| it.id == id);
    match row {
        Some(row) if can_choose(&row) => choose_conflicts(app, |it| it.toggle(row)),
        Some(_) => app
            .frame
            .warn(say::conflicts::ONLY_OPEN, say::conflicts::ONLY_OPEN_HINT),
        None => {}
    }
}

/// Extends the selection by this many rows.
pub(super) fn extend_conflicts(app: App, by: isize) {
    let at = app.views.conflicts.inbox.open.get_untracked();
    let queue = app.views.conflicts.queue;
    if let Some(to) = queue.with_untracked(|it| it.as_ref()?.step(at, by)) {
        extend_conflicts_to(app, to);
    }
}

pub(super) fn extend_conflicts_to(app: App, to: ConflictId) {
    let at = app.views.conflicts.inbox.open.get_untracked();
    let rows = conflict_rows(app);
    choose_conflicts(app, |it| it.extend(&rows, at, to, can_choose));
    state::select_conflict(app, to);
}

/// Selects all conflicts that wait for a verdict.
pub(super) fn choose_all_conflicts(app: App) {
    let rows = conflict_rows(app);
    if rows.is_empty() {
        return;
    }
    choose_conflicts(app, |it| it.add(&rows, can_choose));
    let hint = say::conflicts::ALL_SELECTED;
    let count = app.views.conflicts.chosen.with_untracked(Selection::len);
    app.frame.say(&count_in_words(count), hint);
}

/// Gives a verdict on all selected conflicts that it fits, in order, once each.
pub(super) fn judge_chosen_conflicts(app: App, verdict: ConflictVerdict) {
    let all = app.views.conflicts;
    if !verdict.is_for_many() {
        return app.frame.warn(
            say::conflicts::ONE_AT_A_TIME,
            say::conflicts::ONE_AT_A_TIME_HINT,
        );
    }
    let fitting: Vec<Arc<Conflict>> = all.chosen.with_untracked(|chosen| {
        let rows = conflict_rows(app).into_iter();
        rows.filter(|it| chosen.has(it.id) && verdict.fits(it))
            .collect()
    });
    if fitting.is_empty() {
        return app.frame.warn(say::conflicts::NONE_FITS, "");
    }
    let reason = all.chosen_reason.get_untracked();
    if verdict == ConflictVerdict::Allow && reason.trim().is_empty() {
        return verdict::want_reason(app);
    }
    let (doing, done) = verdict.verbs();
    if !app.batch.begin(doing, fitting.len()) {
        return;
    }
    let ids = fitting.iter().map(|it| it.id).collect();
    let rows: HashMap<ConflictId, Arc<Conflict>> =
        fitting.into_iter().map(|it| (it.id, it)).collect();
    spawn_local(async move {
        let to_one = async |id: ConflictId| match rows.get(&id) {
            Some(conflict) => {
                let said = verdict::say_of_conflict(app, conflict, verdict, None, &reason);
                said.await.map(Some)
            }
            None => Ok(None),
        };
        let outcome = app.batch.each(ids, to_one).await;
        let undo: Vec<Undo> = outcome.done.iter().filter_map(|it| it.1.clone()).collect();
        let settled = outcome.done.iter().map(|it| it.0);
        let over = settled.chain(outcome.over.iter().copied()).collect();
        tidy_after_all(app, over, verdict);
        if let ([one], [undo]) = (outcome.done.as_slice(), undo.as_slice())
            && outcome.len() == 1
        {
            let holds = rows.get(&one.0).and_then(|it| verdict.holds(it, None));
            let holds = holds.unwrap_or_default();
            return app.frame.say_done(verdict.done(), holds, undo.clone());
        }
        let (text, why) = outcome.in_words(done, say::CONFLICTS);
        app.frame
            .say_all_done(&text, &why, !outcome.is_whole(), undo);
    });
}

/// Deselects settled conflicts and removes them from the list. Those that failed, or that the
/// verdict does not fit, stay.
fn tidy_after_all(app: App, done: Vec<ConflictId>, verdict: ConflictVerdict) {
    let all = app.views.conflicts;
    let read = all.inbox.open.get_untracked();
    // Opens the next conflict that still waits.
    let next = all.queue.with_untracked(|queue| {
        let mut queue = queue.clone()?;
        let read = read.filter(|it| done.contains(it))?;
        done.iter()
            .filter(|it| **it != read)
            .for_each(|it| queue.remove(*it));
        queue.next(read, verdict)
    });
    all.chosen.update(|chosen| match verdict {
        // Allowed and confirmed conflicts still wait, and can be judged again.
        ConflictVerdict::Allow | ConflictVerdict::Contradict => {
            done.iter().for_each(|id| chosen.remove(*id));
        }
        _ => chosen.settle(done.iter().copied()),
    });
    for id in &done {
        verdict::tidy_after(app, *id, verdict);
    }
    state::keep_chosen_conflicts(app);
    if all.chosen.with_untracked(Selection::is_empty) {
        all.chosen_reason.set(String::new());
        all.wants_reason.set(false);
    }
    if read.is_some_and(|it| done.contains(&it)) {
        match next {
            Some(next) => state::select_conflict(app, next),
            None if untrack(|| state::is_nothing_listed(app)) => state::read_no_conflict(app),
            None => {}
        }
    }
    dom::next_frame(move || {
        if dom::is_nowhere() {
            room::focus_pane(app);
        }
    });
}

/// The verdicts on selected conflicts, below the panes; the progress of a long run.
#[component]
pub(super) fn ChosenConflictsBar() -> impl IntoView {
    let app = App::here();
    let all = app.views.conflicts;
    let count = Memo::new(move |_| all.chosen.with(Selection::len));
    let actions = move || view_actions(app, count);
    view! { <ChosenBar count class="bar chosen verdicts" label=say::conflicts::SELECTED actions /> }
}

fn view_actions(app: App, count: Memo<usize>) -> impl IntoView {
    let all = app.views.conflicts;
    let clear = move |_| {
        all.clear_chosen();
        room::focus_pane(app);
    };
    let offered = Memo::new(move |_| {
        let is_offered = |verdict: &ConflictVerdict| {
            let of = |it: &Selection<Conflict>| it.iter().any(|it| verdict.is_offered(it));
            verdict.is_for_many() && all.chosen.with(of)
        };
        let offered = ConflictVerdict::ALL.into_iter().filter(is_offered);
        offered.collect::<Vec<_>>()
    });
    let button = move |verdict: ConflictVerdict| {
        let fitting =
            move |it: &Selection<Conflict>| it.iter().filter(|it| verdict.fits(it)).count();
        let fitting = Memo::new(move |_| all.chosen.with(fitting));
        // The button says how many conflicts it applies to, if not all.
        let name = move || match fitting.get() {
            some if some == count.get() || some == 0 => verdict.name().to_owned(),
            some => say::many::verdict_for(verdict.name(), &words::thousands(some as u64)),
        };
        let fits = Memo::new(move |_| fitting.get() > 0);
        move || view_verdict_button(app, verdict, name(), fits)
    };
    let buttons = move || offered.get().into_iter().map(button).collect_view();
    view! {
        <Reason reason=all.chosen_reason set=move |text| all.chosen_reason.set(text) />
        <b data-testid="chosen-count">{move || count_in_words(count.get())}</b>
        {buttons}
        <span class="space"></span>
        <button class="plain" data-testid="chosen-clear" on:click=clear>{say::many::CLEAR}" "<kbd>"Esc"</kbd></button>
    }
}
