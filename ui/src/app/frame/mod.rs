//! The frame around the views: what lies over them, and the notices at the lower edge.

pub(super) mod rail;
pub(super) mod room;
pub(super) mod split;
pub(super) mod states;
pub(super) mod status_line;
pub(super) mod window;

use std::{pin::Pin, sync::Arc, time::Duration};

use engram_model::{ConflictId, EngramId, Refusal, Settings, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{
    dom,
    overlay::{menu, steps},
    state::App,
};
pub(crate) use crate::words::sentence;
use crate::{
    app::reading,
    selection,
    words::{self, say, say::Noun},
};

/// What can lie over the window; one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The palette, where a few letters find everything that can be done or read.
    Palette,
    /// The sheet of shortcuts.
    Sheet,
    /// The settings.
    Settings,
    /// The choice of another repository.
    Repositories,
    /// The form for adding a claim by hand.
    Add,
    /// The offer to open an unknown repository that a link leads to.
    Offer,
    /// Agents, and whether they are connected.
    Connect,
    /// The person's steps.
    Steps,
}

/// The undo of one action of the person.
#[derive(Clone)]
pub(crate) struct Undo {
    /// The noun for what the action was done to.
    of: Noun,
    take_back: Arc<dyn Fn(App) -> UndoFuture + Send + Sync>,
    then: AfterUndo,
    /// Whether no step lists the action, nor the undo.
    is_unlisted: bool,
}

/// An undo in progress; returns the version that holds again, if any.
type UndoFuture = Pin<Box<dyn Future<Output = Result<Option<EngramId>, Refusal>>>>;

/// Runs after a single undo; gets the claim of the action, quoted, or an empty text.
type AfterUndo = Arc<dyn Fn(App, &str) + Send + Sync>;

/// Reports that the action on `of` was undone.
fn say_undone(app: App, of: &str) {
    app.frame.say(say::notice::UNDONE, of);
}

impl Undo {
    /// `take_back` undoes the action and returns the version that holds again, if any. `then` runs
    /// after it, if this was the only action to undo.
    pub(crate) fn new<F: Future<Output = Result<Option<EngramId>, Refusal>> + 'static>(
        of: Noun,
        take_back: impl Fn(App) -> F + Send + Sync + 'static,
        then: impl Fn(App, &str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            of,
            take_back: Arc::new(move |app| Box::pin(take_back(app))),
            then: Arc::new(then),
            is_unlisted: false,
        }
    }

    /// The undo of an action that no step lists.
    pub(crate) fn unlisted(self) -> Self {
        Self {
            is_unlisted: true,
            ..self
        }
    }

    /// An undo that restores this version, as a new one.
    pub(crate) fn restore(id: EngramId) -> Self {
        let restore = move |app: App| async move {
            let restored = app.ask(ask::Restore(id)).await;
            restored.map(|it| Some(it.id))
        };
        Self::new(say::CLAIMS, restore, say_undone)
    }

    /// An undo that forgets this claim or to-do.
    pub(crate) fn withdraw(id: EngramId) -> Self {
        let forget = move |app: App| async move { app.ask(ask::Forget(id)).await.map(|_| None) };
        Self::new(say::CLAIMS, forget, say_undone)
    }
}

/// A notice at the lower edge that disappears by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Toast {
    pub(crate) text: String,
    pub(crate) hint: String,
    pub(crate) is_error: bool,
    /// Whether the action that it reports can be undone.
    pub(crate) undoes: bool,
    /// The conflict that it leads to.
    pub(crate) conflict: Option<ConflictId>,
}

impl Toast {
    /// The text. A notice of one sentence has no full stop; of several, each has one.
    pub(crate) fn title(&self) -> String {
        let ends = self.text.ends_with(['.', '!', '?', '…', ':', '”']);
        let is_one = self.hint.is_empty() && !self.text.contains(". ");
        let stop = if is_one || ends { "" } else { "." };
        format!("{}{stop}", self.text)
    }
}

/// What the frame shows.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) over: RwSignal<Option<Over>>,
    /// Where the menu of the selected engram is open.
    pub(crate) menu: RwSignal<Option<menu::MenuPosition>>,
    /// What had the focus before the menu.
    pub(crate) menu_from: StoredValue<Option<web_sys::Element>, LocalStorage>,
    pub(crate) toast: RwSignal<Option<Toast>>,
    /// The steps that undo the last action, in the order in which it was done; kept after its
    /// notice is gone.
    pub(crate) undo: RwSignal<Vec<Undo>>,
    /// The claim of the last action, quoted; empty if the action was not on one claim.
    undo_of: StoredValue<String>,
    /// Whether the last change was one that cannot be undone: the key for undo then says so first,
    /// instead of undoing an earlier change.
    is_undo_earlier: StoredValue<bool>,
    /// The last entry of the person that no step lists, if it was said that it cannot be undone here;
    /// the highest number if an undo made the last one.
    pub(crate) passed: StoredValue<Option<u64>>,
    toast_number: StoredValue<u64>,
    pub(crate) announcement: RwSignal<String>,
    unannounced: StoredValue<usize>,
    pub(crate) settings: RwSignal<Settings>,
    /// Why the settings could not be saved.
    pub(crate) settings_refused: RwSignal<Option<Refusal>>,
    /// Whether the settings are being saved.
    pub(super) is_keeping: StoredValue<bool>,
    pub(crate) list_width: RwSignal<Option<u32>>,
    /// Whether there is room for one pane only.
    pub(crate) is_narrow: RwSignal<bool>,
}

impl Frame {
    pub(super) fn new() -> Self {
        Self {
            over: RwSignal::new(None),
            menu: RwSignal::new(None),
            menu_from: StoredValue::new_local(None),
            toast: RwSignal::new(None),
            undo: RwSignal::new(Vec::new()),
            undo_of: StoredValue::new(String::new()),
            is_undo_earlier: StoredValue::new(false),
            passed: StoredValue::new(None),
            toast_number: StoredValue::new(0),
            announcement: RwSignal::new(String::new()),
            unannounced: StoredValue::new(0),
            settings: RwSignal::new(Settings::default()),
            settings_refused: RwSignal::new(None),
            is_keeping: StoredValue::new(false),
            list_width: RwSignal::new(None),
            is_narrow: RwSignal::new(false),
        }
    }

    /// Closes the menu and drops the undo; the settings and the last notice stay.
    pub(super) fn reset(self) {
        self.menu.set(None);
        self.undo.set(Vec::new());
        self.is_undo_earlier.set_value(false);
        self.passed.set_value(None);
    }

    pub(crate) fn complain(self, refusal: Refusal) {
        dom::log(&refusal.to_string());
        self.warn(&sentence(&refusal.message), &refusal.hint);
    }

    /// Shows a notice of what was done, or of the current state.
    pub(crate) fn say(self, text: &str, hint: &str) {
        self.tell(text, hint, false, false, 3);
    }

    /// Reports a change that cannot be undone.
    pub(crate) fn say_final(self, text: &str) {
        self.is_undo_earlier.set_value(true);
        self.tell(text, "", false, false, 3);
    }

    /// Adds to the notice the way to the conflict that the change made.
    pub(crate) fn lead_to(self, conflict: ConflictId) {
        self.toast.update(|toast| {
            if let Some(toast) = toast {
                toast.conflict = Some(conflict);
            }
        });
    }

    /// Says that the next undo is of a step before the last change.
    pub(crate) fn warn_of_earlier(self) {
        self.warn(say::notice::NOT_UNDONE, say::notice::NOT_UNDONE_HINT);
    }

    /// Shows a warning that something could not be done.
    pub(crate) fn warn(self, text: &str, hint: &str) {
        self.tell(text, hint, true, false, 12);
    }

    /// Removes a warning: it is about what the person has left.
    pub(crate) fn drop_warning(self) {
        let is_error = |it: &Option<Toast>| it.as_ref().is_some_and(|it| it.is_error);
        if self.toast.with_untracked(is_error) {
            self.toast.set(None);
        }
    }

    /// Reports what was done to a claim, with a way to undo it.
    pub(crate) fn say_done(self, text: &str, claim: &str, undo: Undo) {
        let name = match selection::short_name(claim) {
            name if name.is_empty() => name,
            name => say::notice::quoted(&name),
        };
        self.say_all_done(text, &name, false, vec![undo]);
        self.undo_of.set_value(name);
    }

    /// Reports what was done to many claims and what was not; `undo` undoes what was done.
    pub(crate) fn say_all_done(self, text: &str, hint: &str, is_error: bool, undo: Vec<Undo>) {
        let undoes = !undo.is_empty();
        // If nothing was done, the previous action can still be undone.
        if undoes {
            self.undo.set(undo);
            self.undo_of.set_value(String::new());
            self.is_undo_earlier.set_value(false);
        }
        self.tell(text, hint, is_error, undoes, 12);
    }

    fn tell(self, text: &str, hint: &str, is_error: bool, undoes: bool, seconds: u64) {
        let number = self.toast_number.get_value().wrapping_add(1);
        self.toast_number.set_value(number);
        self.toast.set(Some(Toast {
            text: words::visible(text),
            hint: words::visible(hint),
            is_error,
            undoes,
            conflict: None,
        }));
        let clear = move || {
            if self.toast_number.get_value() == number {
                self.toast.set(None);
            }
        };
        dom::run_later(clear, Duration::from_secs(seconds));
    }

    /// Announces in one sentence all engrams that arrive within a moment.
    pub(super) fn announce(self, new: usize) {
        let pending = self.unannounced.get_value();
        self.unannounced.set_value(pending + new);
        if new > 0 && pending == 0 {
            let speak = move || {
                let count = self.unannounced.get_value() as u64;
                self.unannounced.set_value(0);
                self.announcement
                    .set(words::format_count(count, say::list::NEW));
            };
            dom::run_later(speak, Duration::from_millis(1500));
        }
    }
}

/// Removes notices of requests that failed while the connection was lost.
pub(super) fn clear_failures(app: App) {
    app.frame.drop_warning();
    app.list.clear_refusals();
    app.reading.refused.set(None);
}

/// Undoes the last action, newest step first. What was not tried, as without a connection, can be
/// tried again; a step that was refused was overtaken, and the next undo goes on to the one before.
pub(crate) fn undo_last(app: App) {
    if app.frame.is_undo_earlier.get_value() {
        app.frame.is_undo_earlier.set_value(false);
        return app.frame.warn_of_earlier();
    }
    let mut all = app.frame.undo.get_untracked();
    if all.is_empty() {
        return steps::undo_newest(app);
    }
    if !app.batch.begin(say::many::UNDOING, all.len()) {
        return;
    }
    all.reverse();
    app.frame.undo.set(Vec::new());
    let of = app.frame.undo_of.get_value();
    spawn_local(async move {
        let take_back = async |it: Undo| (it.take_back)(app).await;
        let outcome = app.batch.each(all, take_back).await;
        if outcome.done.iter().any(|it| it.0.is_unlisted) {
            app.frame.passed.set_value(Some(u64::MAX));
        }
        let failed = outcome.refused.iter().chain(&outcome.left);
        let mut all = outcome.done.iter().map(|it| &it.0).chain(failed);
        let is_of_conflicts = all.all(|it| it.of == say::CONFLICTS);
        let noun = if is_of_conflicts {
            say::CONFLICTS
        } else {
            say::CLAIMS
        };
        let (text, why) = outcome.in_words(say::many::UNDONE, noun);
        match (outcome.is_whole(), outcome.done.as_slice()) {
            (true, [(undo, restored)]) => {
                (undo.then)(app, &of);
                if let Some(id) = *restored {
                    reading::select_engram(app, id);
                    app.reading.returned.set(Some(id));
                }
            }
            (true, all) => {
                // Back to where the first was done: it was undone last.
                if let Some((first, _)) = all.last() {
                    (first.then)(app, "");
                }
                app.frame.say(&text, &why);
            }
            (false, _) => {
                app.frame.say_all_done(&text, &why, true, outcome.left);
                app.frame.undo_of.set_value(of);
            }
        }
    });
}
