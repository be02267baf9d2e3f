//! Runs one action on many claims in turn: each once, never two at a time, and with a way to stop.

use engram_model::Refusal;
use leptos::prelude::*;

use crate::outcome::BatchOutcome;

/// The largest run that ends before anybody can read its progress.
const FEW: usize = 20;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The action.
    pub(crate) verb: &'static str,
    pub(crate) done: usize,
    pub(crate) of: usize,
}

impl Progress {
    /// Whether the run takes long enough to show progress.
    pub(crate) fn is_long(self) -> bool {
        self.of > FEW
    }
}

/// The run in progress, if any.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    pub(crate) progress: RwSignal<Option<Progress>>,
    is_stopped: StoredValue<bool>,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            progress: RwSignal::new(None),
            is_stopped: StoredValue::new(false),
        }
    }

    /// Ends the run. Switching repositories also ends it, because no answers arrive after that.
    pub(crate) fn end(self) {
        self.progress.set(None);
    }

    /// Whether a run is in progress.
    pub(crate) fn is_busy(self) -> bool {
        self.progress.with_untracked(Option::is_some)
    }

    /// Whether a run takes long enough for a person to stop it.
    pub(crate) fn is_long(self) -> bool {
        self.progress.get_untracked().is_some_and(Progress::is_long)
    }

    /// Stops the run after the action that was already sent.
    pub(crate) fn stop(self) {
        self.is_stopped.set_value(true);
    }

    /// Starts a run before anything is sent, so that a second press finds it busy. Returns whether
    /// it started.
    pub(crate) fn begin(self, verb: &'static str, of: usize) -> bool {
        let is_free = !self.is_busy() && of > 0;
        if is_free {
            self.is_stopped.set_value(false);
            self.progress.set(Some(Progress { verb, done: 0, of }));
        }
        is_free
    }

    /// Runs the action on each of `all`, until all are done, the person stops it, or a refusal
    /// would affect the rest too.
    pub(crate) async fn each<T: Clone, D>(
        self,
        all: Vec<T>,
        action: impl AsyncFn(T) -> Result<D, Refusal>,
    ) -> BatchOutcome<T, D> {
        let mut outcome = BatchOutcome::of(all);
        while let Some(next) = outcome.next().cloned() {
            let goes_on = outcome.answer(action(next).await);
            let done = outcome.len() - outcome.left.len();
            self.progress.update(|progress| {
                if let Some(progress) = progress {
                    progress.done = done;
                }
            });
            if !goes_on || self.is_stopped.get_value() {
                break;
            }
        }
        self.end();
        outcome
    }
}
