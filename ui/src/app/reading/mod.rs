//! What the person reads: one engram, the source that keys act on, and the action that waits for
//! confirmation.

pub(super) mod detail;
pub(super) mod history;
mod renew;

pub(crate) use self::renew::{RenewButton, offered_ttl, renew};
use std::{collections::HashMap, sync::Arc};

use engram_model::{Code, Engram, EngramId, Filter, Pointer, Refusal, SpanNow, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{dom, frame::Undo, repositories, state::App, views::feed};
use crate::{
    app::{frame::room, views},
    words::{self, say},
};

/// What a source card shows below its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// The commits that wrote the lines.
    Blame,
    /// What became of the lines since.
    Changes,
}

/// How a claim is taken out of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Its window is closed; history keeps it.
    Forget,
    /// Its text is erased.
    Redact,
}

impl Closing {
    /// Whether it still applies to this engram.
    pub(crate) fn is_for(self, engram: &Engram) -> bool {
        match self {
            Self::Forget => engram.valid_until.is_none() && !engram.redacted,
            Self::Redact => !engram.redacted,
        }
    }
}

/// What the person reads.
#[derive(Clone, Copy)]
pub(crate) struct ReadingState {
    pub(crate) selected: RwSignal<Option<EngramId>>,
    /// Whether the engram is shown rather than the list, if there is room for one pane only.
    pub(crate) is_in_front: RwSignal<bool>,
    /// The engram that was read last, which the list may leave out.
    pub(crate) visited: RwSignal<Option<Arc<Engram>>>,
    /// Whether its history is shown.
    pub(crate) history: RwSignal<bool>,
    /// The pointer that keys act on.
    pub(crate) pointer: RwSignal<usize>,
    /// The panel that the card of that pointer shows below its lines.
    pub(crate) panel: RwSignal<Option<Panel>>,
    /// Whether the panel opened by itself; in that case, it must not scroll into view.
    pub(crate) opened_itself: StoredValue<bool>,
    /// Whether its lines read differently now.
    pub(crate) has_changes: RwSignal<bool>,
    /// How the working tree reads where its evidence was pinned, as shown, by pointer.
    pub(crate) standings: RwSignal<HashMap<String, Arc<SpanNow>>>,
    /// The engram that an undo returned to: it stays open even if a queue does not list it yet.
    pub(crate) returned: RwSignal<Option<EngramId>>,
    /// The action on an engram that waits for confirmation.
    pub(crate) closing: RwSignal<Option<(EngramId, Closing)>>,
    /// Why the last action on the engram failed; another action or another engram clears it.
    pub(crate) refused: RwSignal<Option<Refusal>>,
}

impl ReadingState {
    pub(super) fn new() -> Self {
        Self {
            selected: RwSignal::new(None),
            is_in_front: RwSignal::new(false),
            visited: RwSignal::new(None),
            history: RwSignal::new(false),
            pointer: RwSignal::new(0),
            panel: RwSignal::new(None),
            opened_itself: StoredValue::new(false),
            has_changes: RwSignal::new(false),
            standings: RwSignal::new(HashMap::new()),
            returned: RwSignal::new(None),
            closing: RwSignal::new(None),
            refused: RwSignal::new(None),
        }
    }

    /// Closes the open engram.
    pub(super) fn reset(self) {
        self.selected.set(None);
        self.is_in_front.set(false);
        self.visited.set(None);
        self.begin(0);
    }

    /// Resets the pane for another engram; keys act on its pointer with this index.
    pub(super) fn begin(self, pointer: usize) {
        self.returned.set(None);
        self.closing.set(None);
        self.refused.set(None);
        self.history.set(false);
        self.pointer.set(pointer);
        self.panel.set(None);
        self.opened_itself.set_value(false);
        self.has_changes.set(false);
        self.standings.set(HashMap::new());
    }
}

/// Opens an engram that the person chose; *back* returns from it.
pub(crate) fn go_to_engram(app: App, id: EngramId) {
    let is_read = app.view.get_untracked().lists_engrams;
    if !is_read {
        app.frame.drop_warning();
        feed::set_view_and_filter(app, &feed::VIEW, Filter::default());
        app.write_address(true);
        feed::list_anew(app);
    }
    let was_covered = room::come_forward(app);
    if !select_engram_by(app, id, is_read) && was_covered {
        app.write_address(true);
    }
}

/// Opens an engram while moving through the list.
pub(crate) fn select_engram(app: App, id: EngramId) {
    select_engram_by(app, id, false);
}

/// Opens an engram; returns whether it was another one.
fn select_engram_by(app: App, id: EngramId, adds_history: bool) -> bool {
    if app.reading.selected.get_untracked() == Some(id) {
        return false;
    }
    app.reading.begin(worst_pointer(app, id));
    app.reading.selected.set(Some(id));
    app.write_address(adds_history);
    true
}

/// Closes the open engram, so that keys have nothing to act on.
pub(crate) fn read_nothing(app: App) {
    if app.reading.selected.get_untracked().is_some() {
        app.reading.reset();
        app.write_address(false);
    }
}

/// Reads an engram that is not in the list, for example one from a link or a history.
pub(super) fn visit_engram(app: App, id: EngramId) {
    if untrack(|| app.list.engram(id)).is_some() {
        return;
    }
    spawn_local(async move {
        match app.ask(ask::Get(id)).await {
            Ok(engram)
                if repositories::is_of_another(app, engram.project)
                    && repositories::leave_for(app, id.to_string()).await =>
            {
                leave_open(app, id);
            }
            Ok(engram) => {
                tell_successor(app, &engram).await;
                app.reading.refused.set(None);
                app.reading.visited.set(Some(Arc::from(engram)));
            }
            Err(refusal) if refusal.code == Code::NotFound => leave_missing(app, id),
            Err(refusal) => refuse_change(app, id, refusal),
        }
    });
}

/// Shows why an action failed: beside its engram or, if another is open by now, at the lower edge.
pub(crate) fn refuse_change(app: App, id: EngramId, refusal: Refusal) {
    if app.reading.selected.get_untracked() == Some(id) {
        dom::log(&refusal.to_string());
        app.reading.refused.set(Some(refusal));
    } else {
        app.frame.complain(refusal)
    }
}

/// Reads the state of an engram's evidence again: no entry reports that moved lines moved again.
pub(crate) fn reread_health(app: App, id: EngramId) {
    spawn_local(async move {
        match app.ask(ask::Get(id)).await {
            Ok(engram) if untrack(|| app.list.engram(id)).is_some() => {
                let health = engram.health.clone();
                app.list.learn_health(id, health);
            }
            Ok(engram) if app.reading.selected.get_untracked() == Some(id) => {
                app.reading.visited.set(Some(Arc::from(engram)));
            }
            Ok(_) => {}
            Err(refusal) => dom::log(&refusal.to_string()),
        }
    });
}

/// Opens the newest engram in place of one that does not exist, which a link may name.
fn leave_missing(app: App, id: EngramId) {
    if app.reading.selected.get_untracked() == Some(id) {
        app.frame.warn(
            say::repositories::NO_ENGRAM,
            say::repositories::NO_ENGRAM_HINT,
        );
        leave_open(app, id);
    }
}

/// Opens the newest engram instead of this one, which is not shown here.
fn leave_open(app: App, id: EngramId) {
    let is_open = app.reading.selected.get_untracked() == Some(id);
    if is_open && !app.repositories.is_switching() {
        app.reading.selected.set(None);
        app.reading.is_in_front.set(false);
        feed::select_newest(app);
        app.write_address(false);
    }
}

/// Reads the log of an ended version: its successor, if any, tells a replaced version from a
/// forgotten one.
async fn tell_successor(app: App, engram: &Engram) {
    if engram.valid_until.is_some()
        && let Ok(entries) = app.ask(ask::Log(engram.id)).await
    {
        let versions = entries.iter().filter_map(|it| it.change.stored());
        app.list.learn_versions(versions);
    }
}

/// Returns the open engram, as it is now.
pub(crate) fn current_engram(app: App) -> Option<Arc<Engram>> {
    let id = app.reading.selected.get()?;
    let visited = || app.reading.visited.get().filter(|it| it.id == id);
    app.list.engram(id).or_else(visited)
}

/// Records how the working tree reads where a pointer was pinned, as the person sees it.
pub(crate) fn learn_standing(app: App, pointer: &Pointer, standing: &Arc<SpanNow>) {
    let learn = |all: &mut HashMap<String, Arc<SpanNow>>| {
        all.insert(pointer.to_string(), standing.clone());
    };
    app.reading.standings.update(learn);
}

/// Returns the index of a claim's pointer whose evidence changed most; 0 if none changed.
pub(crate) fn worst_pointer(app: App, id: EngramId) -> usize {
    let engram = untrack(|| app.list.engram(id));
    let found = engram.and_then(|engram| {
        let worst = engram.health.as_ref()?.worst()?.pointer.clone();
        engram
            .pointers
            .iter()
            .position(|pointer| pointer.to_string() == worst)
    });
    found.unwrap_or(0)
}

/// Opens a panel of the active card, or closes it.
pub(crate) fn toggle_panel(app: App, panel: Panel) {
    app.reading.opened_itself.set_value(false);
    app.reading
        .panel
        .update(|it| *it = (*it != Some(panel)).then_some(panel));
}

/// Returns the pointer that keys act on.
pub(crate) fn current_pointer(app: App) -> Option<Pointer> {
    let index = app.reading.pointer.get();
    (app.view.get().pointer)(app, index)
}

/// Returns a pointer of the open engram.
pub(crate) fn engram_pointer(app: App, index: usize) -> Option<Pointer> {
    current_engram(app)?.pointers.get(index).cloned()
}

/// Asks for confirmation before anything is forgotten or erased.
pub(crate) fn ask_to_close(app: App, closing: Closing) {
    let Some(engram) = untrack(|| current_engram(app)) else {
        return;
    };
    if closing.is_for(&engram) {
        app.reading.refused.set(None);
        app.reading.closing.set(Some((engram.id, closing)));
    } else {
        say_over(app, &engram);
    }
}

/// Says why a claim that has ended, or was erased, cannot be changed.
pub(crate) fn say_over(app: App, engram: &Engram) {
    if engram.redacted {
        app.frame.warn(say::engram::IS_ERASED, "");
    } else {
        app.frame
            .warn(say::engram::IS_OVER, say::engram::IS_OVER_HINT);
    }
}

/// Does what was confirmed.
pub(crate) fn close_confirmed(app: App) {
    let Some((id, closing)) = app.reading.closing.get_untracked() else {
        return;
    };
    app.reading.closing.set(None);
    let engram = untrack(|| current_engram(app)).filter(|it| it.id == id);
    let done = match closing {
        Closing::Forget => say::engram::FORGOTTEN,
        Closing::Redact => say::engram::REDACT_DONE,
    };
    // A redacted claim stays open, to show what is left of it.
    let goes_on = closing == Closing::Forget || views::is_queue(app);
    let next = untrack(|| feed::neighbour(app, id)).filter(|_| goes_on);
    spawn_local(async move {
        let closed = match closing {
            Closing::Forget => app.ask(ask::Forget(id)).await,
            Closing::Redact => app.ask(ask::Redact(id)).await,
        };
        match closed {
            Ok(reply) => {
                match (closing, reply.pending.first(), engram) {
                    (Closing::Forget, _, Some(engram)) => {
                        app.frame
                            .say_done(done, &words::claim(&engram), Undo::restore(id))
                    }
                    (Closing::Redact, Some(place), _) => {
                        app.frame.warn(say::engram::REDACT_PENDING, place);
                    }
                    _ => app.frame.say_final(done),
                }
                if let Some(next) = next {
                    select_engram(app, next);
                }
            }
            Err(refusal) => refuse_change(app, id, refusal),
        }
    });
}
