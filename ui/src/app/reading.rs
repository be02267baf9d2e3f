//! What is read: one engram, the source that keys act on, and what is about to be done to it.

use std::sync::Arc;

use engram_model::{Code, Engram, EngramId, Filter, Pointer, Refusal, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{
    dom,
    frame::Undo,
    state::App,
    views::{brief, conflicts, feed, requests},
};
use crate::words::{self, say};

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
pub(crate) struct Reading {
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

impl Reading {
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

impl App {
    /// Reads an engram that a person went to, which can be gone back from.
    pub(crate) fn go_to(self, id: EngramId) {
        let is_read = self.view.get_untracked().reads;
        if !is_read {
            self.show(&feed::VIEW, Filter::default());
            self.write_address(true);
            self.list_anew();
        }
        let was_covered = self.come_forward();
        if !self.select_by(id, is_read) && was_covered {
            self.write_address(true);
        }
    }

    /// Reads an engram, as each on the way through the list.
    pub(crate) fn select(self, id: EngramId) {
        self.select_by(id, false);
    }

    /// Returns whether it was another one.
    fn select_by(self, id: EngramId, is_step: bool) -> bool {
        if self.reading.selected.get_untracked() == Some(id) {
            return false;
        }
        self.reading.begin(self.worst_pointer(id));
        self.reading.selected.set(Some(id));
        self.write_address(is_step);
        true
    }

    /// There is nothing to read, and nothing that keys could act on.
    pub(crate) fn read_nothing(self) {
        if self.reading.selected.get_untracked().is_some() {
            self.reading.reset();
            self.write_address(false);
        }
    }

    /// Reads an engram that is not in the list, as a link or a history leads to.
    pub(super) fn visit(self, id: EngramId) {
        if self.list.feed.with_untracked(|feed| feed.get(id).is_some()) {
            return;
        }
        spawn_local(async move {
            match self.ask(ask::Get(id)).await {
                Ok(engram) => {
                    self.tell_successor(&engram).await;
                    self.reading.refused.set(None);
                    self.reading.visited.set(Some(Arc::from(engram)));
                }
                Err(refusal) if refusal.code == Code::NotFound => self.leave(id),
                Err(refusal) => self.refuse(id, refusal),
            }
        });
    }

    /// Says why an action failed, beside its engram; if another is open by now, at the
    /// lower edge.
    pub(crate) fn refuse(self, id: EngramId, refusal: Refusal) {
        if self.reading.selected.get_untracked() == Some(id) {
            dom::log(&refusal.to_string());
            self.reading.refused.set(Some(refusal));
        } else {
            self.complain(refusal)
        }
    }

    /// Reads the state of an engram's evidence: nothing announces that moved lines moved again.
    pub(crate) fn reread_health(self, id: EngramId) {
        spawn_local(async move {
            match self.ask(ask::Get(id)).await {
                Ok(it) if self.list.feed.with_untracked(|feed| feed.get(id).is_some()) => {
                    let health = it.health.clone();
                    self.list.feed.update(|feed| feed.learn_health(id, health));
                }
                Ok(it) if self.reading.selected.get_untracked() == Some(id) => {
                    self.reading.visited.set(Some(Arc::from(it)));
                }
                Ok(_) => {}
                Err(refusal) => dom::log(&refusal.to_string()),
            }
        });
    }

    /// An engram that there is not, as a link may name one: the newest is read instead.
    fn leave(self, id: EngramId) {
        if self.reading.selected.get_untracked() == Some(id) {
            self.say(
                say::repositories::NO_ENGRAM,
                say::repositories::NO_ENGRAM_HINT,
                true,
            );
            self.reading.selected.set(None);
            self.reading.is_in_front.set(false);
            self.select_newest();
            self.write_address(false);
        }
    }

    /// A version that was replaced is told from one that was forgotten by what came after it.
    async fn tell_successor(self, engram: &Engram) {
        if engram.valid_until.is_some()
            && let Ok(entries) = self.ask(ask::Log(engram.id)).await
        {
            let versions = entries.iter().filter_map(|it| it.change.stored());
            self.list.feed.update(|it| it.learn_versions(versions));
        }
    }

    /// The selected engram, as it is now.
    pub(crate) fn current(self) -> Option<Arc<Engram>> {
        let id = self.reading.selected.get()?;
        let visited = || self.reading.visited.get().filter(|it| it.id == id);
        self.list.feed.with(|feed| feed.get(id)).or_else(visited)
    }

    /// The pointer of a claim whose evidence changed most; the first where none did.
    pub(crate) fn worst_pointer(self, id: EngramId) -> usize {
        let engram = self.list.feed.with_untracked(|feed| feed.get(id));
        let found = engram.and_then(|it| {
            let worst = it.health.as_ref()?.worst()?.pointer.clone();
            it.pointers
                .iter()
                .position(|pointer| pointer.to_string() == worst)
        });
        found.unwrap_or(0)
    }

    /// Opens a panel of the active card, or closes it.
    pub(crate) fn toggle_panel(self, panel: Panel) {
        self.reading.opened_itself.set_value(false);
        self.reading
            .panel
            .update(|it| *it = (*it != Some(panel)).then_some(panel));
    }

    /// The pointer that keys act on.
    pub(crate) fn pointer(self) -> Option<Pointer> {
        let index = self.reading.pointer.get();
        if conflicts::VIEW.is_on(self) {
            return self.conflict_pointer(index);
        }
        if requests::VIEW.is_on(self) {
            return self.request_pointer().filter(|_| index == 0);
        }
        if brief::VIEW.is_on(self) {
            return self.line_pointer(index);
        }
        self.current()?.pointers.get(index).cloned()
    }

    /// Asks before anything is forgotten or erased.
    pub(crate) fn ask_to_close(self, closing: Closing) {
        let Some(engram) = untrack(|| self.current()) else {
            return;
        };
        if closing.is_for(&engram) {
            self.reading.refused.set(None);
            self.reading.closing.set(Some((engram.id, closing)));
        }
    }

    /// Does what was asked about.
    pub(crate) fn close(self) {
        let Some((id, closing)) = self.reading.closing.get_untracked() else {
            return;
        };
        self.reading.closing.set(None);
        let engram = untrack(|| self.current()).filter(|it| it.id == id);
        let done = match closing {
            Closing::Forget => say::engram::FORGOTTEN,
            Closing::Redact => say::engram::REDACT_DONE,
        };
        let next = self
            .is_queue()
            .then(|| untrack(|| self.neighbour(id)))
            .flatten();
        spawn_local(async move {
            let closed = match closing {
                Closing::Forget => self.ask(ask::Forget(id)).await,
                Closing::Redact => self.ask(ask::Redact(id)).await,
            };
            match closed {
                Ok(it) => {
                    match (closing, it.pending.first(), engram) {
                        (Closing::Forget, _, Some(it)) => {
                            self.say_done(done, &words::claim(&it), Undo::Restore(id))
                        }
                        (Closing::Redact, Some(place), _) => {
                            self.say(say::engram::REDACT_PENDING, place, true);
                        }
                        _ => self.say(done, "", false),
                    }
                    if let Some(next) = next {
                        self.select(next);
                    }
                }
                Err(refusal) => self.refuse(id, refusal),
            }
        });
    }
}
