//! Claims whose evidence changed: how many there are, and what a person can say of one by a key.

use engram_model::{Change, Engram, EngramId, Entry, Evidence, Filter, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{
    icons::Icon,
    state::{App, Closing},
};
use crate::words;

/// What somebody who looked can say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Still true: it points at its evidence as that is now.
    True,
    /// No longer true: it is forgotten.
    False,
    /// Not known: agents are asked.
    Unsure,
}

/// The filter that the view of drifted claims is.
pub(crate) fn drifted() -> Filter {
    Filter {
        health: Evidence::DRIFTED.to_vec(),
        ..Filter::default()
    }
}

impl App {
    /// Whether the list shows what drifted and nothing else.
    pub(crate) fn is_drift(self) -> bool {
        self.filter.with(|it| it.health == drifted().health)
    }

    /// Shows the claims whose evidence changed, or all again.
    pub(crate) fn show_drift(self, on: bool) {
        let filter = if on { drifted() } else { Filter::default() };
        self.set_filter(filter, true);
    }

    /// Says of the claim that is read whether it is still true.
    pub(crate) fn judge(self, verdict: Verdict) {
        let Some(engram) = untrack(|| self.current()).filter(|it| words::is_drifted(it)) else {
            return;
        };
        let id = engram.id;
        let done = match verdict {
            Verdict::True => "Still true: it points at its evidence as it is now",
            Verdict::Unsure => "Asked: a to-do for agents was stored",
            Verdict::False => return self.ask_to_close(Closing::Forget),
        };
        let next = untrack(|| self.neighbour(id));
        spawn_local(async move {
            let stored = match verdict {
                Verdict::True => self.ask(ask::Repin(id)).await,
                _ => self.ask(ask::Reverify(id)).await,
            };
            match stored {
                Ok(stored) => {
                    self.say(done, "", false);
                    let to = match (self.is_drift_now(), next) {
                        (true, Some(next)) => next,
                        (true, None) => return,
                        (false, _) if verdict == Verdict::True => stored.id,
                        (false, _) => return,
                    };
                    self.select(to);
                }
                Err(refusal) => self.complain(refusal),
            }
        });
    }

    /// Whether the claim that is read is in the list.
    pub(crate) fn is_listed(self) -> bool {
        let selected = self.selected.get();
        self.feed
            .with(|feed| feed.rows().iter().any(|it| Some(it.id) == selected))
    }

    /// The pointer of a claim whose evidence changed most; the first where none did.
    pub(crate) fn worst_pointer(self, id: EngramId) -> usize {
        let engram = self.feed.with_untracked(|feed| feed.get(id));
        let found = engram.and_then(|it| {
            let worst = it.health.as_ref()?.worst()?.pointer.clone();
            it.pointers
                .iter()
                .position(|pointer| pointer.to_string() == worst)
        });
        found.unwrap_or(0)
    }

    /// Evidence stands otherwise: what is read is compared anew, and so is what drifted.
    pub(crate) fn follow_evidence(self, entries: &[Entry]) {
        let is_evidence = |it: &Entry| matches!(it.change, Change::Anchored { .. });
        if entries.iter().any(is_evidence) {
            self.returned.update(|it| *it = it.wrapping_add(1));
        }
        let counts = |it: &Entry| {
            is_evidence(it) || matches!(it.change, Change::Stored(_) | Change::Forgotten(_))
        };
        if !self.filter.with_untracked(|it| it.health.is_empty()) && entries.iter().any(counts) {
            self.list_anew();
        }
    }

    fn is_drift_now(self) -> bool {
        untrack(|| self.is_drift())
    }

    /// The claim after this one in the list, or the one before.
    pub(crate) fn neighbour(self, id: EngramId) -> Option<EngramId> {
        let rows = self.rows();
        let at = rows.iter().position(|it| it.id == id)?;
        let next = rows.get(at + 1).or_else(|| rows.get(at.checked_sub(1)?));
        next.map(|it| it.id)
    }
}

/// Asks whether a claim is still true, where its evidence changed.
#[component]
pub(crate) fn Triage(engram: Memo<Option<std::sync::Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let standing = Memo::new(move |_| {
        let engram = engram.get().filter(|it| words::is_drifted(it))?;
        let standing = engram.health.as_ref()?.standing;
        Some((standing, words::can_repin(&engram)))
    });
    move || {
        standing.get().map(|(standing, can_repin)| {
            let what = match can_repin {
                true => "Its evidence was edited.",
                false => "Its evidence is gone.",
            };
            view! {
                <div class="triage" role="group" aria-label="Is it still true?" data-testid="triage" data-standing=standing.as_str()>
                    <p>{Icon::Alert.draw()}<span>{what}" "<b>"Is the claim still true?"</b></span></p>
                    <div class="answers">
                        <button data-testid="still-true" hidden=!can_repin on:click=move |_| app.judge(Verdict::True)>"Still true" <kbd>"Y"</kbd></button>
                        <button data-testid="no-longer" on:click=move |_| app.judge(Verdict::False)>"No longer" <kbd>"X"</kbd></button>
                        <button data-testid="ask-agent" on:click=move |_| app.judge(Verdict::Unsure)>"Ask an agent" <kbd>"A"</kbd></button>
                    </div>
                </div>
            }
        })
    }
}
