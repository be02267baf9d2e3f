//! Several conflicts at once: selected by keys or by mouse, settled one after the other, undone by one key.

use std::{collections::HashMap, sync::Arc};

use engram_model::{Conflict, ConflictId, ConflictStatus};
use leptos::{prelude::*, task::spawn_local};

use super::detail::{Reason, press};
use crate::{
    app::{dom, frame::Undo, state::App, views::feed},
    chosen::Chosen,
    queue::{Queue, Verdict},
    words::{self, say},
};

/// Only open conflicts can be selected.
fn can_choose(it: &Conflict) -> bool {
    it.status == ConflictStatus::Open
}

impl App {
    /// Changes the selection; a verdict that waits for its reason is dropped.
    fn choose_conflicts(self, change: impl FnOnce(&mut Chosen<Conflict>)) {
        self.conflicts.wants_reason.set(false);
        self.conflicts.chosen.update(change);
    }

    fn conflict_rows(self) -> Vec<Arc<Conflict>> {
        let rows = |it: &Queue| it.rows().to_vec();
        let queue = self.conflicts.queue;
        queue.with_untracked(|it| it.as_ref().map(rows).unwrap_or_default())
    }

    /// Selects or deselects the open row.
    pub(super) fn toggle_open_conflict(self) {
        if let Some(id) = self.conflicts.selected.get_untracked() {
            self.toggle_conflict(id);
        }
    }

    pub(super) fn toggle_conflict(self, id: ConflictId) {
        let row = self.conflict_rows().into_iter().find(|it| it.id == id);
        match row {
            Some(row) if can_choose(&row) => self.choose_conflicts(|it| it.toggle(row)),
            Some(_) => self.say(
                say::conflicts::ONLY_OPEN,
                say::conflicts::ONLY_OPEN_HINT,
                true,
            ),
            None => {}
        }
    }

    /// Extends the selection by this many rows.
    pub(super) fn extend_conflicts(self, by: isize) {
        let at = self.conflicts.selected.get_untracked();
        let queue = self.conflicts.queue;
        if let Some(to) = queue.with_untracked(|it| it.as_ref()?.step(at, by)) {
            self.extend_conflicts_to(to);
        }
    }

    pub(super) fn extend_conflicts_to(self, to: ConflictId) {
        let at = self.conflicts.selected.get_untracked();
        let rows = self.conflict_rows();
        self.choose_conflicts(|it| it.extend(&rows, at, to, can_choose));
        self.select_conflict(to);
    }

    /// Selects all that wait for a verdict.
    pub(super) fn choose_all_conflicts(self) {
        let rows = self.conflict_rows();
        if rows.is_empty() {
            return;
        }
        self.choose_conflicts(|it| it.add(&rows, can_choose));
        let hint = say::conflicts::ALL_SELECTED;
        self.say(&self.told_chosen_conflicts(), hint, false);
    }

    fn told_chosen_conflicts(self) -> String {
        let count = self.conflicts.chosen.with_untracked(Chosen::len);
        say::many::selected(&words::thousands(count as u64))
    }

    /// Gives a verdict on all selected conflicts that it fits, in order, once each.
    pub(super) fn judge_chosen_conflicts(self, verdict: Verdict) {
        let all = self.conflicts;
        if !verdict.is_for_many() {
            return self.say(
                say::conflicts::ONE_AT_A_TIME,
                say::conflicts::ONE_AT_A_TIME_HINT,
                true,
            );
        }
        let fitting: Vec<Arc<Conflict>> = all.chosen.with_untracked(|chosen| {
            let rows = self.conflict_rows().into_iter();
            rows.filter(|it| chosen.has(it.id) && verdict.fits(it))
                .collect()
        });
        if fitting.is_empty() {
            return self.say(say::conflicts::NONE_FITS, "", true);
        }
        let reason = all.chosen_reason.get_untracked();
        if verdict == Verdict::Allow && reason.trim().is_empty() {
            return self.want_reason();
        }
        let (doing, done) = verdict.words();
        if !self.batch.begin(doing, fitting.len()) {
            return;
        }
        let ids = fitting.iter().map(|it| it.id).collect();
        let rows: HashMap<ConflictId, Arc<Conflict>> =
            fitting.into_iter().map(|it| (it.id, it)).collect();
        spawn_local(async move {
            let to_one = async |id: ConflictId| match rows.get(&id) {
                Some(it) => self.say_of_conflict(it, verdict, None, &reason).await,
                None => Ok(None),
            };
            let outcome = self.each(ids, to_one).await;
            let undo: Vec<Undo> = outcome.done.iter().filter_map(|it| it.1).collect();
            self.tidy_after_all(outcome.done.iter().map(|it| it.0).collect(), verdict);
            let (text, why) = outcome.told(done, say::CONFLICTS);
            let text = match (outcome.is_whole(), outcome.len()) {
                (true, 1) => verdict.done(),
                _ => text.as_str(),
            };
            self.say_all_done(text, &why, !outcome.is_whole(), undo);
        });
    }

    /// Settled conflicts are deselected and leave the list; those that failed or that it does not fit stay.
    fn tidy_after_all(self, done: Vec<ConflictId>, verdict: Verdict) {
        let all = self.conflicts;
        let read = all.selected.get_untracked();
        // The one that is read next is one that still waits.
        let next = all.queue.with_untracked(|it| {
            let mut queue = it.clone()?;
            let read = read.filter(|it| done.contains(it))?;
            done.iter()
                .filter(|it| **it != read)
                .for_each(|it| queue.remove(*it));
            queue.next(read)
        });
        all.chosen.update(|it| match verdict {
            // They still wait, and can be judged again.
            Verdict::Allow => done.iter().copied().for_each(|id| it.remove(id)),
            _ => it.settle(done.iter().copied()),
        });
        for id in &done {
            self.tidy_after(*id, verdict);
        }
        self.keep_chosen_conflicts();
        if all.chosen.with_untracked(Chosen::is_empty) {
            all.chosen_reason.set(String::new());
            all.wants_reason.set(false);
        }
        if read.is_some_and(|it| done.contains(&it)) {
            match next {
                Some(next) => self.select_conflict(next),
                None if untrack(|| self.is_nothing_listed()) => self.read_no_conflict(),
                None => {}
            }
        }
        request_animation_frame(move || {
            if dom::is_nowhere() {
                self.focus_pane();
            }
        });
    }
}

/// The verdicts on selected conflicts, below the panes; the progress of a long run.
#[component]
pub(crate) fn ChosenBar() -> impl IntoView {
    let app = App::here();
    let all = app.conflicts;
    let count = Memo::new(move |_| all.chosen.with(Chosen::len));
    Effect::new(move |before: Option<usize>| {
        let count = count.get();
        if before.is_some_and(|before| before != count) {
            let told = say::many::selected(&words::thousands(count as u64));
            app.frame.announcement.set(told);
        }
        count
    });
    let progress = Memo::new(move |_| app.batch.progress.get().filter(|it| it.is_long()));
    let is_long = Memo::new(move |_| progress.with(Option::is_some));
    let is_shown = Memo::new(move |_| count.get() > 0 || is_long.get());
    move || {
        is_shown.get().then(|| {
            view! {
                <div class="bar chosen verdicts" role="group" aria-label=say::conflicts::SELECTED data-testid="chosen-bar">
                    {move || match is_long.get() {
                        true => feed::doing(app, progress).into_any(),
                        false => actions(app, count).into_any(),
                    }}
                </div>
            }
        })
    }
}

fn actions(app: App, count: Memo<usize>) -> impl IntoView {
    let all = app.conflicts;
    let clear = move |_| {
        all.clear_chosen();
        app.focus_pane();
    };
    let verdicts = Verdict::ALL.into_iter().filter(|it| it.is_for_many());
    let buttons = verdicts.map(|verdict| {
        let fitting = move |it: &Chosen<Conflict>| it.iter().filter(|it| verdict.fits(it)).count();
        let fitting = Memo::new(move |_| all.chosen.with(fitting));
        // Says how many it applies to, if not all.
        let name = move || match fitting.get() {
            some if some == count.get() || some == 0 => verdict.name().to_owned(),
            some => say::many::some(verdict.name(), &words::thousands(some as u64)),
        };
        let fits = Memo::new(move |_| fitting.get() > 0);
        move || press(app, verdict, name(), fits)
    });
    view! {
        <Reason reason=all.chosen_reason set=move |text| all.chosen_reason.set(text) />
        <b data-testid="chosen-count">{move || say::many::selected(&words::thousands(count.get() as u64))}</b>
        {buttons.collect_view()}
        <span class="space"></span>
        <button class="plain" data-testid="chosen-clear" on:click=clear>{say::many::CLEAR}" "<kbd>"Esc"</kbd></button>
    }
}
