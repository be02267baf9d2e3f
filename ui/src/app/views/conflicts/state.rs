//! The list, the open conflict, and what the person writes about it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use engram_model::{
    Code, Conflict, ConflictFilter, ConflictId, ConflictStatus, ConflictsReply, EngramId, Filter,
    Listed, MAX_CONFLICTS_ON_PAGE, Pointer, Refusal, ask,
};
use leptos::{ev, prelude::*, task::spawn_local};

use super::{VIEW, list::conflict_row_id, merge::Merge};
use crate::{
    app::{
        components::inbox::{Inbox, read_own_sources},
        dom,
        frame::room,
        part::part,
        reading, repositories,
        state::App,
        views::{
            conflicts::{
                chosen, explain,
                queue::{self, Queue},
                verdict_kind::ConflictVerdict,
            },
            feed,
        },
    },
    commands::Act,
    selection::Selection,
    tags::Tag,
    words::{self, say},
};

/// How soon the list is read again while comparisons are due.
const DUE_AGAIN: Duration = Duration::from_secs(2);

/// What is written about one conflict and not sent yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ConflictDraft {
    pub(super) reason: String,
    pub(super) merge: Option<Merge>,
}

part! {
    /// The conflicts.
    pub(crate) struct Conflicts {
        anew {
            pub(super) inbox: Inbox<ConflictId> = (),
            /// The list; none until it is read.
            pub(super) queue: RwSignal<Option<Queue>> = None,
            pub(super) filter: RwSignal<ConflictFilter> = ConflictFilter::default(),
            /// The filter with which the list was read.
            read_with: StoredValue<ConflictFilter> = ConflictFilter::default(),
            /// The topics of the last list that was not limited to one topic.
            pub(super) topics: RwSignal<Vec<String>> = Vec::new(),
            /// The open conflict, which the list may leave out.
            visited: RwSignal<Option<Arc<Conflict>>> = None,
            /// The conflict to which a person came from elsewhere, until it is known whether the
            /// list may leave it out.
            sought: StoredValue<Option<ConflictId>> = None,
            /// Why the last verdict on it failed.
            pub(super) verdict_refused: RwSignal<Option<Refusal>> = None,
            /// The conflict about which the language model is being asked.
            pub(super) explaining: RwSignal<Option<ConflictId>> = None,
            /// Whether a language model is chosen, that could be asked.
            pub(super) has_model: RwSignal<bool> = false,
            /// The selected rows, and the reason for all of them.
            pub(super) chosen: RwSignal<Selection<Conflict>> = Selection::default(),
            pub(super) chosen_reason: RwSignal<String> = String::new(),
            /// Drafts, kept until they are sent.
            pub(super) drafts: RwSignal<HashMap<ConflictId, ConflictDraft>> = HashMap::new(),
            /// Whether a verdict waits for its reason.
            pub(super) wants_reason: RwSignal<bool> = false,
            /// Whether the list will be read again because comparisons are due.
            is_due: StoredValue<bool> = false,
            /// Whether the pointer is on the rows, and where it was last.
            is_pointing: StoredValue<bool> = false,
            pointer: StoredValue<(i32, i32)> = (0, 0),
        }
        stays {}
    }
}

impl Conflicts {
    pub(super) fn clear_chosen(self) {
        self.wants_reason.set(false);
        self.chosen_reason.set(String::new());
        if !self.chosen.with_untracked(Selection::is_empty) {
            self.chosen.update(Selection::clear);
        }
    }

    /// Whether rows are selected; keys then act on those.
    pub(crate) fn is_any_chosen(self) -> bool {
        !self.chosen.with(Selection::is_empty)
    }

    pub(super) fn draft_of(self, id: ConflictId) -> ConflictDraft {
        self.drafts
            .with(|all| all.get(&id).cloned())
            .unwrap_or_default()
    }

    pub(super) fn write(self, id: ConflictId, change: impl FnOnce(&mut ConflictDraft)) {
        self.drafts.update(|all| change(all.entry(id).or_default()));
    }
}

/// Reads the list and the open conflict while the view is on the screen.
pub(super) fn follow(app: App) {
    let conflicts = app.views.conflicts;
    read_own_sources(app);
    explain::read_model(app);
    Effect::new(move |_| {
        app.stale.track(Tag::Conflicts);
        app.stale.track(Tag::Sides);
        conflicts.filter.track();
        read(app);
    });
    // A conflict that leaves the list stays open.
    Effect::new(move |_| {
        let listed = conflicts
            .inbox
            .open
            .get()
            .and_then(|id| listed_conflict(app, id));
        if listed.is_some() {
            conflicts.visited.set(listed);
        }
    });
    Effect::new(move |_| {
        app.stale.track(Tag::Conflicts);
        app.stale.track(Tag::Sides);
        // A listed conflict is read with the list.
        let is_listed = |id: &ConflictId| untrack(|| listed_conflict(app, *id)).is_some();
        if let Some(id) = conflicts.inbox.open.get().filter(|id| !is_listed(id)) {
            visit_conflict(app, id);
        }
    });
    on_cleanup(move || {
        conflicts.is_pointing.set_value(false);
        conflicts.clear_chosen();
    });
}

pub(super) fn read(app: App) {
    let conflicts = app.views.conflicts;
    let filter = conflicts.filter.get_untracked();
    let page = ConflictFilter {
        limit: Some(MAX_CONFLICTS_ON_PAGE),
        ..filter.clone()
    };
    conflicts
        .inbox
        .read(app, ask::Conflicts(page), move |reply| {
            list(app, reply, filter)
        });
}

fn list(app: App, reply: ConflictsReply, filter: ConflictFilter) {
    let conflicts = app.views.conflicts;
    let is_same = conflicts.read_with.get_value() == filter;
    let holds = is_same && conflicts.is_pointing.get_value();
    let is_whole = filter.topic.is_none();
    conflicts.read_with.set_value(filter);
    conflicts
        .queue
        .update(|queue| queue.get_or_insert_default().load(reply, holds));
    if is_whole {
        let topics = conflicts
            .queue
            .with_untracked(|it| it.as_ref().map(Queue::topics));
        conflicts.topics.set(topics.unwrap_or_default());
    }
    keep_chosen_conflicts(app);
    if !untrack(|| VIEW.is_on(app)) {
        return;
    }
    read_while_due(app);
    let selected = conflicts.inbox.open.get_untracked();
    let is_listed = selected.is_some_and(|id| untrack(|| listed_conflict(app, id)).is_some());
    if is_listed {
        conflicts.sought.set_value(None);
    }
    // Reads what became of a conflict that left the list.
    if let Some(id) = selected.filter(|_| is_same && !is_listed) {
        visit_conflict(app, id);
    }
    match selected {
        // Keys act on the visible row, so another list opens another conflict. An open row stays on
        // the screen when groups change places.
        Some(id) if is_listed && !holds => dom::reveal(&conflict_row_id(id)),
        Some(_) if is_same || is_listed => {}
        _ => select_first_conflict(app),
    }
    if !is_same {
        let listed = conflicts
            .queue
            .with_untracked(|it| it.as_ref().map_or(0, |it| it.rows().len()));
        let told = words::format_count(listed as u64, say::conflicts::LISTED);
        app.frame.announcement.set(told);
    }
}

/// Reads the list again in a moment while comparisons are due: one that finds nothing leaves no
/// entry in the journal.
fn read_while_due(app: App) {
    let conflicts = app.views.conflicts;
    let due = |it: &Queue| it.due() > 0;
    let is_due = conflicts
        .queue
        .with_untracked(|it| it.as_ref().is_some_and(due));
    if !is_due || conflicts.is_due.get_value() {
        return;
    }
    conflicts.is_due.set_value(true);
    let again = move || {
        conflicts.is_due.set_value(false);
        if untrack(|| VIEW.is_on(app)) {
            read(app);
        }
    };
    dom::run_later(again, DUE_AGAIN);
}

/// Deselects rows that left the list or were settled.
pub(super) fn keep_chosen_conflicts(app: App) {
    let conflicts = app.views.conflicts;
    let open: Vec<Arc<Conflict>> = conflicts.queue.with_untracked(|queue| {
        let rows = queue.iter().flat_map(Queue::rows);
        let open = rows.filter(|it| queue::waits(it));
        open.cloned().collect()
    });
    conflicts.chosen.maybe_update(|it| it.keep(&open));
}

/// Whether the list was read and is empty.
pub(super) fn is_nothing_listed(app: App) -> bool {
    let rows = |it: &Queue| it.rows().is_empty();
    app.views
        .conflicts
        .queue
        .with(|it| it.as_ref().is_some_and(rows))
}

fn listed_conflict(app: App, id: ConflictId) -> Option<Arc<Conflict>> {
    app.views.conflicts.queue.with(|it| it.as_ref()?.get(id))
}

/// The open conflict, as it is now.
pub(super) fn current_conflict(app: App) -> Option<Arc<Conflict>> {
    let id = app.views.conflicts.inbox.open.get()?;
    let visited = || app.views.conflicts.visited.get().filter(|it| it.id == id);
    listed_conflict(app, id).or_else(visited)
}

/// A pointer of the open conflict: those of the first claim, then those of the second.
pub(super) fn conflict_pointer(app: App, index: usize) -> Option<Pointer> {
    let conflict = current_conflict(app)?;
    let mut both = conflict.a.pointers.iter().chain(&conflict.b.pointers);
    both.nth(index).cloned()
}

/// Reads a conflict that is not in the list, for example after an undo or from an address.
fn visit_conflict(app: App, id: ConflictId) {
    if untrack(|| listed_conflict(app, id)).is_some() {
        return;
    }
    let conflicts = app.views.conflicts;
    spawn_local(async move {
        match app.ask(ask::Conflict(id)).await {
            Ok(conflict) => {
                list_sought(app, &conflict);
                conflicts.visited.set(Some(Arc::from(conflict)));
            }
            Err(_) if conflicts.inbox.open.get_untracked() != Some(id) => {}
            Err(refusal)
                if refusal.code == Code::NotFound
                    && repositories::leave_for(app, id.to_string()).await =>
            {
                conflicts.inbox.open.set(None);
            }
            Err(refusal) if refusal.code == Code::NotFound => {
                app.frame
                    .warn(say::conflicts::GONE, say::conflicts::GONE_HINT);
                select_first_conflict(app);
            }
            Err(refusal) => conflicts.verdict_refused.set(Some(refusal)),
        }
    });
}

/// Lists the conflict to which a person came from elsewhere, if the filter leaves it out.
fn list_sought(app: App, conflict: &Conflict) {
    let conflicts = app.views.conflicts;
    if conflicts.sought.get_value() != Some(conflict.id) {
        return;
    }
    conflicts.sought.set_value(None);
    let admits = |it: &ConflictFilter| it.status.admits(conflict.status);
    if conflicts.filter.with_untracked(admits) {
        return;
    }
    let status = match conflict.status {
        ConflictStatus::Open => Listed::Open,
        ConflictStatus::Possible => Listed::Possible,
        ConflictStatus::Resolved => Listed::Resolved,
        ConflictStatus::Dismissed => Listed::Dismissed,
        ConflictStatus::Closed => Listed::Closed,
    };
    conflicts.clear_chosen();
    conflicts.filter.set(ConflictFilter {
        status,
        ..ConflictFilter::default()
    });
}

/// Opens a conflict that was reopened, if conflicts are shown.
pub(crate) fn return_to_conflict(app: App, id: ConflictId) {
    app.stale.touch(Tag::Conflicts);
    if untrack(|| VIEW.is_on(app)) {
        select_conflict(app, id);
    }
}

/// Opens a conflict while moving through the list.
pub(crate) fn select_conflict(app: App, id: ConflictId) {
    select_conflict_by(app, id, false);
}

/// Opens a conflict that the person chose; *back* returns from it.
pub(super) fn go_to_conflict(app: App, id: ConflictId) {
    let was_covered = room::come_forward(app);
    if !select_conflict_by(app, id, true) && was_covered {
        app.write_address(true);
    }
}

/// Shows the conflict of the open engram.
pub(crate) fn show_its_conflict(app: App) {
    let engram = untrack(|| reading::current_engram(app));
    let id = engram.and_then(|engram| {
        let conflict = engram.conflicts.first().copied();
        conflict.or_else(|| words::reported_conflict(&engram))
    });
    if let Some(id) = id {
        show_conflict(app, id);
    }
}

/// Shows a conflict from another view.
pub(crate) fn show_conflict(app: App, id: ConflictId) {
    feed::show_filtered(app, &VIEW, Filter::default(), true);
    seek_conflict(app, id);
    room::come_forward(app);
}

/// Opens a conflict to which a person came from elsewhere, as by a link.
pub(super) fn seek_conflict(app: App, id: ConflictId) {
    app.views.conflicts.sought.set_value(Some(id));
    select_conflict(app, id);
}

/// Opens the conflict that the notice leads to, among the open ones.
pub(crate) fn show_confirmed(app: App) {
    let toast = app.frame.toast.get_untracked();
    if let Some(id) = toast.and_then(|it| it.conflict) {
        app.frame.toast.set(None);
        app.views.conflicts.clear_chosen();
        app.views.conflicts.filter.set(ConflictFilter::default());
        show_conflict(app, id);
        dom::next_frame(|| dom::focus(dom::LIST));
    }
}

/// Opens a conflict; returns whether it was another one.
fn select_conflict_by(app: App, id: ConflictId, adds_history: bool) -> bool {
    let all = app.views.conflicts;
    let is_other = all
        .inbox
        .turn_to(app, id, &conflict_row_id(id), adds_history);
    if all.sought.get_value() != Some(id) {
        all.sought.set_value(None);
    }
    if is_other {
        all.verdict_refused.set(None);
        all.wants_reason.set(false);
    }
    is_other
}

fn select_first_conflict(app: App) {
    let queue = app.views.conflicts.queue;
    match queue.with_untracked(|it| it.as_ref()?.step(None, 0)) {
        Some(id) => select_conflict(app, id),
        None => read_no_conflict(app),
    }
}

/// Closes the open conflict, so that keys have nothing to act on.
pub(super) fn read_no_conflict(app: App) {
    app.views.conflicts.inbox.open.set(None);
    app.views.conflicts.verdict_refused.set(None);
    app.reading.begin(0);
    app.write_address(false);
}

/// Moves through the list by rows, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let from = app.views.conflicts.inbox.open.get_untracked();
    let queue = app.views.conflicts.queue;
    if let Some(to) = queue.with_untracked(|it| it.as_ref()?.step(from, by)) {
        select_conflict(app, to);
    }
}

/// Keeps the rows in place once the pointer moves on them.
pub(super) fn point_at_conflicts(app: App, event: &ev::PointerEvent) {
    let conflicts = app.views.conflicts;
    let at = (event.client_x(), event.client_y());
    // Rows that move under a still pointer also fire this event.
    if conflicts.pointer.get_value() != at {
        conflicts.pointer.set_value(at);
        conflicts.is_pointing.set_value(true);
    }
}

/// Shows what was held back, once the pointer leaves the rows or the person uses keys.
pub(super) fn point_off_conflicts(app: App) {
    let conflicts = app.views.conflicts;
    if conflicts.is_pointing.get_value() {
        conflicts.is_pointing.set_value(false);
        conflicts
            .queue
            .maybe_update(|it| it.as_mut().is_some_and(Queue::release));
        keep_chosen_conflicts(app);
    }
}

/// Runs a shared command that conflicts handle in their own way; returns whether they do.
pub(super) fn act(app: App, act: Act) -> bool {
    match act {
        Act::Choose => chosen::toggle_open_conflict(app),
        Act::Extend(by) => chosen::extend_conflicts(app, by),
        Act::ChooseAll => chosen::choose_all_conflicts(app),
        Act::Facets => room::act_in_list(app, || dom::focus(super::list::STATUS)),
        Act::Dispute => show_confirmed(app),
        Act::Back => return leave_conflict(app),
        _ => return false,
    }
    true
}

/// Whether a shared command has something to work on among conflicts.
pub(super) fn may(app: App, act: Act) -> Option<bool> {
    let is_open = || untrack(|| current_conflict(app)).is_some();
    Some(match act {
        Act::Choose | Act::First | Act::Pointer | Act::Link => is_open(),
        Act::Copy => is_open() && untrack(|| reading::current_pointer(app)).is_some(),
        Act::Open => is_open() && app.backend().opens_editors(),
        Act::Dispute => (app.frame.toast)
            .with_untracked(|it| it.as_ref()?.conflict)
            .is_some(),
        Act::Changes => app.reading.has_changes.get_untracked(),
        _ => return None,
    })
}

/// Whether a verdict fits the selected conflicts; with none selected, the open one.
pub(super) fn may_judge(app: App, verdict: ConflictVerdict) -> bool {
    if untrack(|| app.views.conflicts.is_any_chosen()) {
        return is_for_chosen(app, verdict);
    }
    untrack(|| current_conflict(app)).is_some_and(|it| verdict.fits(&it))
}

fn is_for_chosen(app: App, verdict: ConflictVerdict) -> bool {
    let fits = |all: &Selection<Conflict>| all.iter().any(|it| verdict.fits(it));
    verdict.is_for_many() && app.views.conflicts.chosen.with_untracked(fits)
}

/// Shows a claim of the open conflict in the feed.
pub(super) fn show_claim(app: App, side: usize) {
    let Some(conflict) = untrack(|| current_conflict(app)) else {
        return;
    };
    show_in_feed(
        app,
        if side == 0 {
            conflict.a.id
        } else {
            conflict.b.id
        },
    );
}

/// Opens a claim in the feed.
pub(super) fn show_in_feed(app: App, id: EngramId) {
    reading::go_to_engram(app, id);
    dom::next_frame(move || room::focus_pane(app));
}

/// Goes one step back; returns whether there was one.
fn leave_conflict(app: App) -> bool {
    let conflicts = app.views.conflicts;
    if conflicts.wants_reason.get_untracked() {
        conflicts.wants_reason.set(false);
    } else if app.batch.is_long() {
        app.batch.stop();
    } else if untrack(|| conflicts.is_any_chosen()) {
        conflicts.clear_chosen();
    } else {
        return false;
    }
    room::focus_pane(app);
    true
}

/// Whether somebody settled or allowed it, which can be undone; a conflict that closed
/// automatically cannot be reopened.
pub(super) fn can_reopen(conflict: &Conflict) -> bool {
    match conflict.status {
        ConflictStatus::Resolved | ConflictStatus::Dismissed => true,
        ConflictStatus::Open => conflict.allowed.is_some(),
        ConflictStatus::Closed | ConflictStatus::Possible => false,
    }
}
