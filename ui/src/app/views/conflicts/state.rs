//! The list, the open conflict, and what the person writes about it.

use std::{collections::HashMap, sync::Arc};

use engram_model::{
    Code, Conflict, ConflictFilter, ConflictId, ConflictStatus, ConflictsReply, EngramId, Filter,
    Pointer, Refusal, ask,
};
use leptos::{ev, prelude::*, task::spawn_local};

use super::{VIEW, list::element_id, merge::Merge};
use crate::{
    app::{dom, part::part, state::App},
    chosen::Chosen,
    commands::Act,
    queue::{Queue, Verdict},
    tags::Tag,
    words::{self, say},
};

/// Most conflicts that are read at once: the worst. What is settled makes room for others.
const LISTED: u32 = 200;

/// What is written about one conflict and not sent yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    pub(super) reason: String,
    pub(super) merge: Option<Merge>,
}

part! {
    /// The conflicts.
    pub(crate) struct Conflicts {
        anew {
            /// What was read; none until it comes.
            pub(crate) queue: RwSignal<Option<Queue>> = None,
            pub(crate) filter: RwSignal<ConflictFilter> = ConflictFilter::default(),
            /// The filter with which the list was read.
            read_with: StoredValue<ConflictFilter> = ConflictFilter::default(),
            /// All topics of the list, from when it was last not limited to one.
            pub(super) topics: RwSignal<Vec<String>> = Vec::new(),
            /// Why the list could not be read.
            pub(crate) refused: RwSignal<Option<Refusal>> = None,
            pub(crate) selected: RwSignal<Option<ConflictId>> = None,
            /// The open conflict, which the list may leave out.
            visited: RwSignal<Option<Arc<Conflict>>> = None,
            /// Why the last verdict on it failed.
            pub(crate) verdict_refused: RwSignal<Option<Refusal>> = None,
            /// The selected rows, and the reason for all of them.
            pub(crate) chosen: RwSignal<Chosen<Conflict>> = Chosen::default(),
            pub(super) chosen_reason: RwSignal<String> = String::new(),
            /// Drafts, kept until they are sent.
            pub(super) written: RwSignal<HashMap<ConflictId, Written>> = HashMap::new(),
            /// A verdict that needs a reason waits for it.
            pub(crate) wants_reason: RwSignal<bool> = false,
            /// Whether the pointer is on the rows, and where it was last.
            is_pointing: StoredValue<bool> = false,
            pointer: StoredValue<(i32, i32)> = (0, 0),
        }
        stays {
            /// Changes with each request: answers to earlier ones are dropped.
            number: StoredValue<u64> = StoredValue::new(0),
        }
    }
}

impl Conflicts {
    /// Forgets everything about the repository that was in front.
    pub(crate) fn reset(self) {
        self.begin();
        self.clear();
    }

    /// Begins another request: answers to the one before are dropped.
    pub(super) fn begin(self) -> u64 {
        let number = self.number.get_value().wrapping_add(1);
        self.number.set_value(number);
        number
    }

    pub(super) fn clear_chosen(self) {
        self.wants_reason.set(false);
        self.chosen_reason.set(String::new());
        if !self.chosen.with_untracked(Chosen::is_empty) {
            self.chosen.update(Chosen::clear);
        }
    }

    /// Whether rows are selected, so that keys act on those.
    pub(crate) fn is_any_chosen(self) -> bool {
        !self.chosen.with(Chosen::is_empty)
    }

    pub(super) fn written_of(self, id: ConflictId) -> Written {
        self.written
            .with(|all| all.get(&id).cloned())
            .unwrap_or_default()
    }

    pub(super) fn write(self, id: ConflictId, change: impl FnOnce(&mut Written)) {
        self.written
            .update(|all| change(all.entry(id).or_default()));
    }
}

impl App {
    /// Reads the list and the open conflict while the view is on the screen.
    pub(super) fn follow_conflicts(self) {
        let it = self.conflicts;
        self.reading.begin(0);
        Effect::new(move |_| {
            self.stale.track(Tag::Conflicts);
            self.stale.track(Tag::Sides);
            it.filter.track();
            self.read_conflicts();
        });
        // What leaves the list stays open.
        Effect::new(move |_| {
            let listed = it.selected.get().and_then(|id| self.listed_conflict(id));
            if listed.is_some() {
                it.visited.set(listed);
            }
        });
        Effect::new(move |_| {
            self.stale.track(Tag::Conflicts);
            self.stale.track(Tag::Sides);
            // One of the list comes with it.
            let is_listed = |id: &ConflictId| untrack(|| self.listed_conflict(*id)).is_some();
            if let Some(id) = it.selected.get().filter(|id| !is_listed(id)) {
                self.visit_conflict(id);
            }
        });
        on_cleanup(move || {
            it.is_pointing.set_value(false);
            it.clear_chosen();
            let read = self.reading.selected.get_untracked();
            let pointer = read.map_or(0, |id| self.worst_pointer(id));
            self.reading.begin(pointer);
        });
    }

    pub(super) fn read_conflicts(self) {
        let it = self.conflicts;
        let number = it.begin();
        let filter = it.filter.get_untracked();
        spawn_local(async move {
            let page = ConflictFilter {
                limit: Some(LISTED),
                ..filter.clone()
            };
            let read = self.ask(ask::Conflicts(page)).await;
            if it.number.get_value() != number {
                return;
            }
            match read {
                Ok(reply) => self.list_conflicts(reply, filter),
                Err(refusal) => {
                    dom::log(&refusal.to_string());
                    it.refused.set(Some(refusal));
                }
            }
        });
    }

    fn list_conflicts(self, reply: ConflictsReply, filter: ConflictFilter) {
        let it = self.conflicts;
        let is_same = it.read_with.get_value() == filter;
        let holds = is_same && it.is_pointing.get_value();
        let is_whole = filter.topic.is_none();
        it.read_with.set_value(filter);
        it.refused.set(None);
        it.queue
            .update(|queue| queue.get_or_insert_default().load(reply, holds));
        if is_whole {
            let topics = it.queue.with_untracked(|it| it.as_ref().map(Queue::topics));
            it.topics.set(topics.unwrap_or_default());
        }
        self.keep_chosen_conflicts();
        if !untrack(|| VIEW.is_on(self)) {
            return;
        }
        let selected = it.selected.get_untracked();
        let is_listed = selected.is_some_and(|id| untrack(|| self.listed_conflict(id)).is_some());
        // One that left the list is told what became of it.
        if let Some(id) = selected.filter(|_| is_same && !is_listed) {
            self.visit_conflict(id);
        }
        match selected {
            // Keys act on what is seen: another list, another open conflict.
            // Groups that change places leave it on the screen.
            Some(id) if is_listed && !holds => dom::reveal(&element_id(id)),
            Some(_) if is_same || is_listed => {}
            _ => self.select_first_conflict(),
        }
        if !is_same {
            let listed = it
                .queue
                .with_untracked(|it| it.as_ref().map_or(0, |it| it.rows().len()));
            let told = words::count(listed as u64, say::conflicts::LISTED);
            self.frame.announcement.set(told);
        }
    }

    /// Rows that leave the list, or are settled, are deselected.
    pub(super) fn keep_chosen_conflicts(self) {
        let it = self.conflicts;
        let open: Vec<Arc<Conflict>> = it.queue.with_untracked(|it| {
            let rows = it.iter().flat_map(Queue::rows);
            let open = rows.filter(|it| it.status == ConflictStatus::Open);
            open.cloned().collect()
        });
        it.chosen.maybe_update(|it| it.keep(&open));
    }

    /// Whether the list was read and is empty.
    pub(super) fn is_nothing_listed(self) -> bool {
        let rows = |it: &Queue| it.rows().is_empty();
        self.conflicts
            .queue
            .with(|it| it.as_ref().is_some_and(rows))
    }

    fn listed_conflict(self, id: ConflictId) -> Option<Arc<Conflict>> {
        self.conflicts.queue.with(|it| it.as_ref()?.get(id))
    }

    /// The open conflict, as it is now.
    pub(crate) fn conflict(self) -> Option<Arc<Conflict>> {
        let id = self.conflicts.selected.get()?;
        let visited = || self.conflicts.visited.get().filter(|it| it.id == id);
        self.listed_conflict(id).or_else(visited)
    }

    /// A pointer of the open conflict: those of the first claim, then those of the second.
    pub(crate) fn conflict_pointer(self, index: usize) -> Option<Pointer> {
        let it = self.conflict()?;
        it.a.pointers
            .iter()
            .chain(&it.b.pointers)
            .nth(index)
            .cloned()
    }

    /// Reads one that is not in the list, as an undo or an address leads to.
    fn visit_conflict(self, id: ConflictId) {
        if untrack(|| self.listed_conflict(id)).is_some() {
            return;
        }
        let it = self.conflicts;
        spawn_local(async move {
            match self.ask(ask::Conflict(id)).await {
                Ok(conflict) => it.visited.set(Some(Arc::from(conflict))),
                Err(_) if it.selected.get_untracked() != Some(id) => {}
                Err(refusal) if refusal.code == Code::NotFound => {
                    self.say(say::conflicts::GONE, say::conflicts::GONE_HINT, true);
                    self.select_first_conflict();
                }
                Err(refusal) => it.verdict_refused.set(Some(refusal)),
            }
        });
    }

    /// Opens a conflict that was reopened, if conflicts are shown.
    pub(crate) fn return_to_conflict(self, id: ConflictId) {
        self.stale.touch(Tag::Conflicts);
        if untrack(|| VIEW.is_on(self)) {
            self.select_conflict(id);
        }
    }

    /// Opens a conflict while moving through the list.
    pub(crate) fn select_conflict(self, id: ConflictId) {
        self.select_conflict_by(id, false);
    }

    /// Opens a conflict that the person chose; *back* returns from it.
    pub(super) fn go_to_conflict(self, id: ConflictId) {
        let was_covered = self.come_forward();
        if !self.select_conflict_by(id, true) && was_covered {
            self.write_address(true);
        }
    }

    /// Shows the conflict of the engram that is read.
    pub(crate) fn show_its_conflict(self) {
        let id = untrack(|| self.current()).and_then(|it| it.conflicts.first().copied());
        if let Some(id) = id {
            self.show_conflict(id);
        }
    }

    /// Shows a conflict from another view.
    pub(crate) fn show_conflict(self, id: ConflictId) {
        self.limit(&VIEW, Filter::default(), true);
        self.select_conflict(id);
        self.come_forward();
    }

    /// Returns whether it was another one.
    fn select_conflict_by(self, id: ConflictId, is_step: bool) -> bool {
        let it = self.conflicts;
        if it.selected.get_untracked() == Some(id) {
            return false;
        }
        it.verdict_refused.set(None);
        it.wants_reason.set(false);
        self.reading.begin(0);
        it.selected.set(Some(id));
        self.write_address(is_step);
        dom::reveal(&element_id(id));
        true
    }

    fn select_first_conflict(self) {
        let queue = self.conflicts.queue;
        match queue.with_untracked(|it| it.as_ref()?.step(None, 0)) {
            Some(id) => self.select_conflict(id),
            None => self.read_no_conflict(),
        }
    }

    /// There is nothing to read, and nothing that keys could act on.
    pub(super) fn read_no_conflict(self) {
        self.conflicts.selected.set(None);
        self.conflicts.verdict_refused.set(None);
        self.reading.begin(0);
        self.write_address(false);
    }

    /// Moves through the list by rows; the ends hold.
    pub(super) fn step_conflicts(self, by: isize) {
        let from = self.conflicts.selected.get_untracked();
        let queue = self.conflicts.queue;
        if let Some(to) = queue.with_untracked(|it| it.as_ref()?.step(from, by)) {
            self.select_conflict(to);
        }
    }

    /// The pointer moved on the rows: they stay in place.
    pub(super) fn point_at_conflicts(self, event: &ev::PointerEvent) {
        let it = self.conflicts;
        let at = (event.client_x(), event.client_y());
        // Rows that move under a resting pointer fire this event too.
        if it.pointer.get_value() != at {
            it.pointer.set_value(at);
            it.is_pointing.set_value(true);
        }
    }

    /// The pointer left the rows, or the person uses keys: shows what was held back.
    pub(super) fn point_off_conflicts(self) {
        let it = self.conflicts;
        if it.is_pointing.get_value() {
            it.is_pointing.set_value(false);
            it.queue
                .maybe_update(|it| it.as_mut().is_some_and(Queue::release));
            self.keep_chosen_conflicts();
        }
    }

    /// Runs a command that has a meaning of its own among conflicts; returns whether it has one.
    pub(crate) fn act_on_conflicts(self, act: Act) -> bool {
        if !untrack(|| VIEW.is_on(self)) {
            return false;
        }
        match act {
            Act::Choose => self.toggle_open_conflict(),
            Act::Extend(by) => self.extend_conflicts(by),
            Act::ChooseAll => self.choose_all_conflicts(),
            Act::Facets => self.in_list(|| dom::focus(super::list::STATUS)),
            Act::Judge(verdict) => self.judge_conflict(verdict),
            Act::Reason => self.write_reason(),
            Act::Reopen => self.reopen_conflict(),
            Act::Claim(side) => self.show_claim(side),
            Act::Back => return self.leave_conflict(),
            _ => return false,
        }
        true
    }

    /// Whether a command has something to work on among conflicts; none if it has no meaning of its own
    /// there.
    pub(crate) fn holds_for_conflicts(self, act: Act) -> Option<bool> {
        if !untrack(|| VIEW.is_on(self)) {
            return None;
        }
        let open = untrack(|| self.conflict());
        let is_any_chosen = untrack(|| self.conflicts.is_any_chosen());
        let is_open = || open.is_some();
        Some(match act {
            Act::Judge(verdict) if is_any_chosen => self.is_for_chosen(verdict),
            Act::Judge(verdict) => open.is_some_and(|it| verdict.fits(&it)),
            Act::Reopen => open.is_some_and(|it| can_reopen(&it)),
            Act::Choose | Act::First | Act::Pointer | Act::Link => is_open(),
            Act::Reason | Act::Claim(_) => is_open(),
            Act::Copy => is_open() && untrack(|| self.pointer()).is_some(),
            Act::Open => is_open() && self.backend().opens_editors(),
            Act::Changes => self.reading.has_changes.get_untracked(),
            _ => return None,
        })
    }

    fn is_for_chosen(self, verdict: Verdict) -> bool {
        let fits = |all: &Chosen<Conflict>| all.iter().any(|it| verdict.fits(it));
        verdict.is_for_many() && self.conflicts.chosen.with_untracked(fits)
    }

    /// Shows a claim of the open conflict in the feed.
    pub(super) fn show_claim(self, side: usize) {
        let Some(it) = untrack(|| self.conflict()) else {
            return;
        };
        self.show_in_feed(if side == 0 { it.a.id } else { it.b.id });
    }

    /// Opens a claim in the feed.
    pub(super) fn show_in_feed(self, id: EngramId) {
        self.go_to(id);
        request_animation_frame(move || self.focus_pane());
    }

    /// Goes one step back; returns whether there was one.
    fn leave_conflict(self) -> bool {
        let it = self.conflicts;
        if it.wants_reason.get_untracked() {
            it.wants_reason.set(false);
        } else if self.batch.is_long() {
            self.batch.stop();
        } else if untrack(|| it.is_any_chosen()) {
            it.clear_chosen();
        } else {
            return false;
        }
        self.focus_pane();
        true
    }
}

/// Whether somebody settled or allowed it, so that this can be undone; a conflict that closed automatically
/// cannot be.
pub(super) fn can_reopen(it: &Conflict) -> bool {
    match it.status {
        ConflictStatus::Resolved | ConflictStatus::Dismissed => true,
        ConflictStatus::Open => it.allowed.is_some(),
        ConflictStatus::Closed => false,
    }
}
