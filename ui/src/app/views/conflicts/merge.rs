//! One wording for both claims, written between them and their evidence.

use std::sync::Arc;

use engram_model::{Conflict, ConflictId, Refusal};
use leptos::prelude::*;

use crate::{
    app::{
        dom,
        frame::room,
        overlay::palette::keycaps,
        state::App,
        views::conflicts::{verdict, verdict_kind::ConflictVerdict},
        write::{self, ClaimField},
    },
    words::say,
};

const FIELD: &str = "merge-text";

/// A draft of the wording.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Merge {
    text: String,
    is_open: bool,
    refusal: Option<Refusal>,
}

/// Opens the field, with the earlier draft or the newer claim.
pub(super) fn open_merge(app: App, conflict: &Conflict) {
    begin_merge(app, conflict);
    dom::reveal(FIELD);
    dom::next_frame(|| dom::focus(FIELD));
}

pub(super) fn begin_merge(app: App, conflict: &Conflict) {
    app.views.conflicts.write(conflict.id, |draft| {
        let merge = draft.merge.get_or_insert_with(|| Merge {
            text: conflict.b.claim.trim().to_owned(),
            ..Merge::default()
        });
        merge.is_open = true;
    });
}

fn change_merge(app: App, id: ConflictId, change: impl FnOnce(&mut Merge)) {
    app.views.conflicts.write(id, |draft| {
        if let Some(merge) = &mut draft.merge {
            change(merge);
        }
    });
}

fn drop_merge(app: App, id: ConflictId) {
    app.views.conflicts.write(id, |it| it.merge = None);
}

/// Closes the field; keeps a changed draft for later.
fn leave_merge(app: App, conflict: &Conflict) {
    let merge = untrack(|| app.views.conflicts.draft_of(conflict.id)).merge;
    let is_changed = merge.is_some_and(|merge| merge.text.trim() != conflict.b.claim.trim());
    if is_changed {
        change_merge(app, conflict.id, |it| it.is_open = false)
    } else {
        drop_merge(app, conflict.id)
    }
    room::focus_pane(app);
}

fn save_merge(app: App, conflict: Arc<Conflict>) {
    if let Some(merge) = untrack(|| app.views.conflicts.draft_of(conflict.id)).merge {
        change_merge(app, conflict.id, |it| it.refusal = None);
        verdict::settle_conflict(app, conflict, ConflictVerdict::Merge, Some(merge.text));
    }
}

/// Shows why a merge was refused; its text stays in the field.
pub(super) fn refuse_merge(app: App, id: ConflictId, refusal: Refusal) {
    change_merge(app, id, |merge| {
        merge.is_open = true;
        merge.refusal = Some(refusal);
    });
}

/// The field, or a note that there is an unsaved draft.
#[component]
pub(super) fn Merging(id: ConflictId, conflict: Memo<Option<Arc<Conflict>>>) -> impl IntoView {
    let app = App::here();
    let merge = Memo::new(move |_| app.views.conflicts.draft_of(id).merge);
    let is_open = Memo::new(move |_| merge.with(|it| it.as_ref().map(|it| it.is_open)));
    let can = Memo::new(move |_| {
        conflict.with(|it| {
            it.as_ref()
                .is_some_and(|it| ConflictVerdict::Merge.fits(it))
        })
    });
    let resume = move |_| {
        if let Some(conflict) = conflict.get_untracked() {
            open_merge(app, &conflict);
        }
    };
    let discard = move |_| {
        drop_merge(app, id);
        room::focus_pane(app);
    };
    move || {
        match (can.get(), is_open.get()) {
        (true, Some(true)) => view! { <Field id conflict merge /> }.into_any(),
        (true, Some(false)) => view! {
            <p class="unsaved" data-testid="merge-unsaved">
                {say::conflicts::MERGE_UNSAVED}" "
                <button class="plain" data-testid="merge-continue" on:click=resume>{say::write::CONTINUE}</button>
                <button class="plain" data-testid="merge-discard" on:click=discard>{say::write::DISCARD}</button>
            </p>
        }
        .into_any(),
        _ => ().into_any(),
    }
    }
}

#[component]
fn Field(
    id: ConflictId,
    conflict: Memo<Option<Arc<Conflict>>>,
    merge: Memo<Option<Merge>>,
) -> impl IntoView {
    let app = App::here();
    let text = Signal::derive(move || merge.get().map(|it| it.text).unwrap_or_default());
    let refusal = Memo::new(move |_| merge.get().and_then(|it| it.refusal));
    let is_saving = Memo::new(move |_| app.batch.progress.with(Option::is_some));
    let save = move || {
        if let Some(conflict) = conflict.get_untracked() {
            save_merge(app, conflict);
        }
    };
    let leave = move || {
        if let Some(conflict) = conflict.get_untracked() {
            leave_merge(app, &conflict);
        }
    };
    view! {
        <form class="merging" aria-label=say::conflicts::MERGED data-testid="merge"
            on:keydown=move |event| write::handle_keys(&event, save, Some(leave))
            on:submit=move |event| { event.prevent_default(); save(); }>
            <h3>{say::conflicts::MERGED}</h3>
            <ClaimField id=FIELD label=say::conflicts::MERGED text is_saving
                set=move |text| change_merge(app, id, |it| it.text = text) />
            <write::WriteRefused id=FIELD refusal />
            <div class="does">
                <button class="primary" type="submit" data-testid="save-merge" disabled=is_saving>{say::conflicts::SAVE_MERGE}" "{keycaps("Mod+Enter")}</button>
                <button type="button" data-testid="leave-merge" on:click=move |_| leave()>{say::write::CANCEL}" "<kbd>"Esc"</kbd></button>
            </div>
        </form>
    }
}
