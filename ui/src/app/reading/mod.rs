//! What is read: one engram, the source that keys act on, and what is about to be done to it.

pub(super) mod detail;
pub(super) mod history;

use std::sync::Arc;

use engram_model::{Code, Engram, EngramId, Filter, Pointer, Refusal, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{dom, frame::Undo, state::App, views::feed};
use crate::{
    app::{room, views},
    words::{self, say},
};

/// What a source card shows below its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// The commits that wrote the lines.
    Blame,
    /// What became of them since.
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
    /// Whether there is anything left to do it to.
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
    /// With room for one pane: whether it is shown rather than the list.
    pub(crate) is_in_front: RwSignal<bool>,
    /// The engram that was read last, which the list may leave out.
    pub(crate) visited: RwSignal<Option<Arc<Engram>>>,
    /// Whether its history is shown.
    pub(crate) history: RwSignal<bool>,
    /// The pointer that keys act on.
    pub(crate) pointer: RwSignal<usize>,
    /// What the card of that pointer shows below its lines.
    pub(crate) panel: RwSignal<Option<Panel>>,
    /// The panel that opens next does so by itself: what is read stays where it is.
    pub(crate) opened_itself: StoredValue<bool>,
    /// Whether its lines read otherwise now.
    pub(crate) has_changes: RwSignal<bool>,
    /// The engram that an undo led back to: it stays open although a queue does not list it yet.
    pub(crate) returned: RwSignal<Option<EngramId>>,
    /// What is about to be done to an engram.
    pub(crate) closing: RwSignal<Option<(EngramId, Closing)>>,
    /// Why the last action on it failed, until another action or another engram.
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
            returned: RwSignal::new(None),
            closing: RwSignal::new(None),
            refused: RwSignal::new(None),
        }
    }

    /// Reads nothing.
    pub(super) fn reset(self) {
        self.selected.set(None);
        self.is_in_front.set(false);
        self.visited.set(None);
        self.begin(0);
    }

    /// Reads another engram from its start.
    pub(super) fn begin(self, pointer: usize) {
        self.returned.set(None);
        self.closing.set(None);
        self.refused.set(None);
        self.history.set(false);
        self.pointer.set(pointer);
        self.panel.set(None);
        self.opened_itself.set_value(false);
        self.has_changes.set(false);
    }
}

/// Reads an engram that a person went to, which can be gone back from.
pub(crate) fn go_to(app: App, id: EngramId) {
    let is_read = app.view.get_untracked().reads;
    if !is_read {
        feed::show(app, &feed::VIEW, Filter::default());
        app.write_address(true);
        feed::list_anew(app);
    }
    let was_covered = room::come_forward(app);
    if !select_by(app, id, is_read) && was_covered {
        app.write_address(true);
    }
}

/// Reads an engram, as each on the way through the list.
pub(crate) fn select(app: App, id: EngramId) {
    select_by(app, id, false);
}

/// Returns whether it was another one.
fn select_by(app: App, id: EngramId, is_step: bool) -> bool {
    if app.reading.selected.get_untracked() == Some(id) {
        return false;
    }
    app.reading.begin(worst_pointer(app, id));
    app.reading.selected.set(Some(id));
    app.write_address(is_step);
    true
}

/// There is nothing to read, and nothing that keys could act on.
pub(crate) fn read_nothing(app: App) {
    if app.reading.selected.get_untracked().is_some() {
        app.reading.reset();
        app.write_address(false);
    }
}

/// Reads an engram that is not in the list, as a link or a history leads to.
pub(super) fn visit(app: App, id: EngramId) {
    if app.list.feed.with_untracked(|feed| feed.get(id).is_some()) {
        return;
    }
    spawn_local(async move {
        match app.ask(ask::Get(id)).await {
            Ok(engram) => {
                tell_successor(app, &engram).await;
                app.reading.refused.set(None);
                app.reading.visited.set(Some(Arc::from(engram)));
            }
            Err(refusal) if refusal.code == Code::NotFound => leave(app, id),
            Err(refusal) => refuse(app, id, refusal),
        }
    });
}

/// Says why an action failed, beside its engram; if another is open by now, at the
/// lower edge.
pub(crate) fn refuse(app: App, id: EngramId, refusal: Refusal) {
    if app.reading.selected.get_untracked() == Some(id) {
        dom::log(&refusal.to_string());
        app.reading.refused.set(Some(refusal));
    } else {
        app.frame.complain(refusal)
    }
}

/// Reads the state of an engram's evidence: nothing announces that moved lines moved again.
pub(crate) fn reread_health(app: App, id: EngramId) {
    spawn_local(async move {
        match app.ask(ask::Get(id)).await {
            Ok(engram) if app.list.feed.with_untracked(|feed| feed.get(id).is_some()) => {
                let health = engram.health.clone();
                app.list.feed.update(|feed| feed.learn_health(id, health));
            }
            Ok(engram) if app.reading.selected.get_untracked() == Some(id) => {
                app.reading.visited.set(Some(Arc::from(engram)));
            }
            Ok(_) => {}
            Err(refusal) => dom::log(&refusal.to_string()),
        }
    });
}

/// An engram that there is not, as a link may name one: the newest is read instead.
fn leave(app: App, id: EngramId) {
    if app.reading.selected.get_untracked() == Some(id) {
        app.frame.warn(
            say::repositories::NO_ENGRAM,
            say::repositories::NO_ENGRAM_HINT,
        );
        app.reading.selected.set(None);
        app.reading.is_in_front.set(false);
        feed::select_newest(app);
        app.write_address(false);
    }
}

/// A version that was replaced is told from one that was forgotten by what came after it.
async fn tell_successor(app: App, engram: &Engram) {
    if engram.valid_until.is_some()
        && let Ok(entries) = app.ask(ask::Log(engram.id)).await
    {
        let versions = entries.iter().filter_map(|it| it.change.stored());
        app.list.feed.update(|it| it.learn_versions(versions));
    }
}

/// The selected engram, as it is now.
pub(crate) fn current(app: App) -> Option<Arc<Engram>> {
    let id = app.reading.selected.get()?;
    let visited = || app.reading.visited.get().filter(|it| it.id == id);
    app.list.feed.with(|feed| feed.get(id)).or_else(visited)
}

/// The pointer of a claim whose evidence changed most; the first where none did.
pub(crate) fn worst_pointer(app: App, id: EngramId) -> usize {
    let engram = app.list.feed.with_untracked(|feed| feed.get(id));
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

/// The pointer that keys act on.
pub(crate) fn pointer(app: App) -> Option<Pointer> {
    let index = app.reading.pointer.get();
    (app.view.get().pointer)(app, index)
}

/// A pointer of the engram that is read.
pub(crate) fn pointer_of(app: App, index: usize) -> Option<Pointer> {
    current(app)?.pointers.get(index).cloned()
}

/// Asks before anything is forgotten or erased.
pub(crate) fn ask_to_close(app: App, closing: Closing) {
    let Some(engram) = untrack(|| current(app)) else {
        return;
    };
    if closing.is_for(&engram) {
        app.reading.refused.set(None);
        app.reading.closing.set(Some((engram.id, closing)));
    }
}

/// Does what was asked about.
pub(crate) fn close(app: App) {
    let Some((id, closing)) = app.reading.closing.get_untracked() else {
        return;
    };
    app.reading.closing.set(None);
    let engram = untrack(|| current(app)).filter(|it| it.id == id);
    let done = match closing {
        Closing::Forget => say::engram::FORGOTTEN,
        Closing::Redact => say::engram::REDACT_DONE,
    };
    let next = views::is_queue(app)
        .then(|| untrack(|| feed::neighbour(app, id)))
        .flatten();
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
                    _ => app.frame.say(done, ""),
                }
                if let Some(next) = next {
                    select(app, next);
                }
            }
            Err(refusal) => refuse(app, id, refusal),
        }
    });
}
