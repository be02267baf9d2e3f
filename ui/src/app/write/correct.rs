//! A correction, written in place of the claim.

use std::{collections::HashMap, sync::Arc};

use engram_model::{
    Engram, EngramId, Noticed, PutReply, Reading, Refusal, Rewording, SeenEvidence, SourceLine, ask,
};
use leptos::{prelude::*, task::spawn_local};

use super::field::{ClaimField, WriteRefused, handle_keys};
use crate::{
    app::{
        dom,
        frame::Undo,
        overlay::palette::keycaps,
        reading::{self, Closing},
        state::App,
        views::{self, feed},
    },
    drafts::is_of_secret,
    suggestion::{Suggestion, common_suggestion},
    words::{self, say},
};

const FIELD: &str = "correction-text";

/// A draft of a correction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Correction {
    text: String,
    is_open: bool,
    pub(super) is_saving: bool,
    refusal: Option<Refusal>,
    /// Whether it was ever refused for a secret.
    had_secret: bool,
}

impl Correction {
    /// Restores a draft from before the page was reloaded.
    pub(super) fn restored(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns what to keep of the draft.
    pub(super) fn draft_to_keep(&self) -> Option<String> {
        (!self.had_secret).then(|| self.text.clone())
    }
}

/// Opens the field for the open claim, with its earlier draft.
pub(crate) fn correct(app: App) {
    if begin_correction(app) {
        dom::reveal(FIELD);
        dom::next_frame(|| dom::focus(FIELD));
    }
}

/// Begins a correction; returns whether there is a claim to correct.
pub(crate) fn begin_correction(app: App) -> bool {
    let Some(engram) = untrack(|| reading::current_engram(app)) else {
        return false;
    };
    if !Closing::Forget.is_for(&engram) {
        reading::say_over(app, &engram);
        return false;
    }
    app.reading.closing.set(None);
    app.write.corrections.update(|all| {
        let begun = all.entry(engram.id).or_insert_with(|| Correction {
            text: words::claim(&engram),
            ..Correction::default()
        });
        begun.is_open = true;
    });
    true
}

fn correction_of(app: App, id: EngramId) -> Correction {
    let begun = |all: &HashMap<EngramId, Correction>| all.get(&id).cloned();
    app.write.corrections.with(begun).unwrap_or_default()
}

fn change_correction(app: App, id: EngramId, change: impl FnOnce(&mut Correction)) {
    app.write.corrections.update(|all| {
        if let Some(correction) = all.get_mut(&id) {
            change(correction);
        }
    });
}

/// Drops the draft.
fn drop_correction(app: App, id: EngramId) {
    app.write.corrections.update(|all| {
        all.remove(&id);
    });
}

/// Closes the field; keeps a changed draft for later.
fn leave_correction(app: App, engram: &Engram) {
    if is_changed(engram, &untrack(|| correction_of(app, engram.id)).text) {
        change_correction(app, engram.id, |it| it.is_open = false)
    } else {
        drop_correction(app, engram.id)
    }
    dom::focus(dom::LIST);
}

/// Stores the correction as a new version. An unchanged text is not stored; a refused one stays in
/// the field.
fn save_correction(app: App, engram: &Engram) {
    let id = engram.id;
    let begun = untrack(|| correction_of(app, id));
    if begun.is_saving {
        return;
    }
    if !is_changed(engram, &begun.text) {
        return leave_correction(app, engram);
    }
    change_correction(app, id, |it| (it.is_saving, it.refusal) = (true, None));
    let claim = begun.text.clone();
    let rewording = Rewording {
        id,
        claim: begun.text,
        seen: untrack(|| seen_evidence(app, engram)),
        // The field changes words alone, and a value is suggested only if every edited source shows
        // it: there is nothing to leave out.
        dropped: Vec::new(),
    };
    let is_queue = views::is_queue(app);
    let next = untrack(|| feed::neighbour(app, id)).filter(|_| is_queue);
    spawn_local(async move {
        let stored = app.ask(ask::Reword(Box::new(rewording))).await;
        let is_here = app.reading.selected.get_untracked() == Some(id);
        match stored {
            Ok(stored) => {
                drop_correction(app, id);
                app.frame.say_done(
                    say::write::CORRECTED,
                    &claim,
                    Undo::restore(replaced_version(&stored, id)),
                );
                // In a queue, the next claim opens; the corrected one has left.
                let to = next.or_else(|| (!is_queue).then_some(stored.id));
                if is_here {
                    to.into_iter()
                        .for_each(|it| reading::select_engram(app, it));
                    dom::focus(dom::LIST);
                }
            }
            Err(refusal) => {
                if !is_here {
                    app.frame.complain(refusal.clone());
                }
                change_correction(app, id, |correction| {
                    correction.had_secret |= is_of_secret(&refusal);
                    (correction.is_saving, correction.is_open, correction.refusal) =
                        (false, true, Some(refusal));
                });
            }
        }
    });
}

/// The evidence that the person sees edited or gone.
fn seen_evidence(app: App, engram: &Engram) -> Vec<SeenEvidence> {
    let all = app.reading.standings.get();
    let pointers = engram.pointers.iter().map(ToString::to_string);
    let seen = pointers.filter_map(|pointer| {
        let standing = all.get(&pointer)?;
        let is_changed = matches!(standing.reading, Reading::Edited | Reading::Gone);
        is_changed.then(|| SeenEvidence {
            digest: standing.digest.clone(),
            pointer,
        })
    });
    seen.collect()
}

/// The correction that can be read off the changed lines on the screen, unless the person wrote
/// another.
pub(crate) fn open_suggestion(app: App, engram: &Engram) -> Option<Suggestion> {
    let is_begun = app
        .write
        .corrections
        .with(|all| all.get(&engram.id).is_some_and(|it| !it.is_saving));
    if is_begun || app.list.is_past() || !words::is_drifted(engram) {
        return None;
    }
    app.reading.standings.with(|all| {
        let pointers = engram.pointers.iter();
        let standings = pointers.filter_map(|it| all.get(&it.to_string()));
        let edited = standings.filter(|it| it.reading == Reading::Edited);
        let changes: Vec<&[SourceLine]> = edited.map(|it| it.changes.as_slice()).collect();
        common_suggestion(&engram.claim, &changes)
    })
}

/// Corrects the open claim to the value that its evidence has now. If the rest of the claim may
/// depend on the value, the person reads it in the field first.
pub(crate) fn apply_suggestion(app: App) {
    let Some(engram) = untrack(|| reading::current_engram(app)) else {
        return;
    };
    let Some(suggestion) = untrack(|| open_suggestion(app, &engram)) else {
        return app.frame.say(say::write::NO_SUGGESTION, "");
    };
    let begun = Correction {
        text: suggestion.claim,
        ..Correction::default()
    };
    app.write.corrections.update(|all| {
        all.entry(engram.id).or_insert(begun);
    });
    if suggestion.says_more {
        app.frame.say(say::write::READ_AGAIN, "");
        return correct(app);
    }
    save_correction(app, &engram);
}

/// Whether a text differs from the claim as shown.
fn is_changed(engram: &Engram, text: &str) -> bool {
    text.trim() != words::claim(engram).trim()
}

/// Returns the version that the new one replaced: not the open one, if another came meanwhile.
fn replaced_version(stored: &PutReply, read: EngramId) -> EngramId {
    let replaced = stored
        .findings
        .iter()
        .find(|it| it.what == Noticed::Superseded);
    replaced.map_or(read, |it| it.id)
}

/// The field in place of the claim.
#[component]
pub(crate) fn Correct(id: EngramId, engram: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    // A suggestion that is being stored has no field.
    let begun = move |all: &HashMap<EngramId, Correction>| {
        let begun = all.get(&id).filter(|it| it.is_open || !it.is_saving);
        begun.map(|it| it.is_open)
    };
    let is_open = Memo::new(move |_| app.write.corrections.with(begun));
    // Drops the draft of a claim that was redacted.
    Effect::new(move |_| {
        if engram.with(|it| it.as_ref().is_some_and(|it| it.id == id && it.redacted)) {
            drop_correction(app, id);
        }
    });
    move || {
        match is_open.get() {
        None => ().into_any(),
        Some(true) => view! { <Field id engram /> }.into_any(),
        Some(false) => view! {
            <p class="unsaved" data-testid="unsaved">
                {say::write::UNSAVED}" "
                <button class="plain" data-testid="continue" on:click=move |_| correct(app)>{say::write::CONTINUE}</button>
                <button class="plain" data-testid="discard" on:click=move |_| {
                    drop_correction(app, id);
                    dom::focus(dom::LIST);
                }>{say::write::DISCARD}</button>
            </p>
        }
        .into_any(),
    }
    }
}

#[component]
fn Field(id: EngramId, engram: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let text = Signal::derive(move || correction_of(app, id).text);
    let is_saving = Memo::new(move |_| correction_of(app, id).is_saving);
    let refusal = Memo::new(move |_| correction_of(app, id).refusal);
    let read = move || engram.get_untracked().filter(|it| it.id == id);
    let save = move || {
        if let Some(engram) = read() {
            save_correction(app, &engram);
        }
    };
    let leave = move || {
        if let Some(engram) = read() {
            leave_correction(app, &engram);
        }
    };
    let is_past = move || engram.with(|it| it.as_ref().is_some_and(|it| it.valid_until.is_some()));
    view! {
        <form class="correction" aria-label=say::write::CORRECTION data-testid="correction"
            on:keydown=move |event| handle_keys(&event, save, Some(leave))
            on:submit=move |event| { event.prevent_default(); save(); }>
            <ClaimField id=FIELD label=say::write::CORRECTION text is_saving
                set=move |text| change_correction(app, id, |it| it.text = text) />
            <WriteRefused id=FIELD refusal />
            {move || is_past().then(|| view! { <p class="why" role="status" data-testid="meanwhile">{say::write::MEANWHILE}</p> })}
            <div class="does">
                <button class="primary" type="submit" data-testid="save-correction" disabled=is_saving>
                    {move || if is_saving.get() { say::write::SAVING } else { say::write::SAVE }}" "{keycaps("Mod+Enter")}
                </button>
                <button type="button" data-testid="leave-correction" on:click=move |_| leave()>{say::write::CANCEL}" "<kbd>"Esc"</kbd></button>
            </div>
        </form>
    }
}

/// The button for a correction, in the bar.
#[component]
pub(crate) fn CorrectButton(engram: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let can = move || {
        let can =
            |it: &Option<Arc<Engram>>| it.as_ref().is_some_and(|it| Closing::Forget.is_for(it));
        !app.list.is_past() && engram.with(can)
    };
    let means = move || {
        if app.list.is_past() {
            say::knowledge::LOCKED
        } else {
            say::write::CORRECT_MEANS
        }
    };
    view! {
        <button data-testid="correct" disabled=move || !can() title=means on:click=move |_| correct(app)>
            {say::write::CORRECT}" "<kbd>"R"</kbd>
        </button>
    }
}

/// The button that applies the suggested correction: `4093 → 4096`.
#[component]
pub(crate) fn SuggestionButton(engram: Memo<Option<Arc<Engram>>>) -> impl IntoView {
    let app = App::here();
    let found = Memo::new(move |_| engram.with(|it| open_suggestion(app, it.as_deref()?)));
    let is_first = move || engram.with(|it| it.as_ref().is_some_and(|it| it.conflicts.is_empty()));
    move || {
        found.get().map(|it| view! {
            <button class:primary=is_first data-testid="suggestion" title=say::write::SUGGEST_MEANS on:click=move |_| apply_suggestion(app)>
                {say::write::suggestion(&words::visible(&it.old), &words::visible(&it.new))}" "{keycaps("Shift+r")}
            </button>
        })
    }
}
