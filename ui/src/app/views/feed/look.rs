//! Where the person looks: rows under the pointer stay in place, and what arrived since the last
//! look is marked as new.

use engram_model::{EngramId, Looked, ProjectId};
use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*, task::spawn_local};

use crate::{
    app::{
        dom, reading,
        state::{App, Phase},
        views::{self, feed::state},
    },
    feed::EngramList,
};

/// Where the pointer is, and what the person has seen.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Whether the pointer is on the rows and in use.
    pub(super) is_pointing: RwSignal<bool>,
    /// The last place of the pointer.
    pointer: StoredValue<(i32, i32)>,
    /// Whether the list must be reloaded once the pointer leaves.
    is_due: StoredValue<bool>,
    /// Whether the person is in another window.
    is_away: StoredValue<bool>,
    /// The new version of the open engram, which opens without an action of the person.
    pub(super) in_place: StoredValue<Option<EngramId>>,
    /// The last look: what came later is new.
    pub(super) last: RwSignal<Option<Looked>>,
}

impl Look {
    pub(super) fn new() -> Self {
        Self {
            is_pointing: RwSignal::new(false),
            pointer: StoredValue::new((0, 0)),
            is_due: StoredValue::new(false),
            is_away: StoredValue::new(false),
            in_place: StoredValue::new(None),
            last: RwSignal::new(None),
        }
    }

    pub(super) fn reset(self) {
        self.is_pointing.set(false);
        self.is_due.set_value(false);
        self.last.set(None);
    }

    /// How many engrams of a list are new.
    pub(super) fn count_new(self, feed: &EngramList) -> usize {
        self.last
            .with(|it| it.map_or(0, |it| feed.count_after(it.seq)))
    }
}

/// Keeps the rows in place once the pointer moves on them.
pub(super) fn point_at_rows(app: App, event: &web_sys::PointerEvent) {
    let look = app.list.look;
    let at = (event.client_x(), event.client_y());
    // Rows that move under a still pointer also fire this event.
    if look.pointer.get_value() != at {
        look.pointer.set_value(at);
        if !look.is_pointing.get_untracked() {
            look.is_pointing.set(true);
        }
    }
}

/// Shows what was held back, once the pointer leaves the rows or the person uses keys.
pub(super) fn point_off_rows(app: App) {
    let look = app.list.look;
    if !look.is_pointing.get_untracked() {
        return;
    }
    look.is_pointing.set(false);
    if look.is_due.get_value() {
        look.is_due.set_value(false);
        return state::list_in_place(app);
    }
    let is_waiting = app.list.feed.with_untracked(EngramList::waiting) > 0;
    if is_waiting && app.list.at_top.get_untracked() {
        state::show_new(app);
    }
}

/// Whether new rows are held back, because the person has scrolled down or points at a row.
pub(crate) fn holds_back(app: App) -> bool {
    !app.list.at_top.get_untracked() || app.list.look.is_pointing.get_untracked()
}

/// How many new rows wait only for the pointer to leave the list; none if there are none.
pub(crate) fn waits_for_pointer(app: App) -> Option<usize> {
    let new = app.list.feed.with(EngramList::waiting_new);
    let is_pointing = app.list.at_top.get() && app.list.look.is_pointing.get();
    (is_pointing && new > 0).then_some(new)
}

/// The open engram, if it is listed.
pub(crate) fn listed_open_engram(app: App) -> Option<EngramId> {
    let read = app.reading.selected.get_untracked()?;
    let is_listed = app.list.feed.with_untracked(|it| it.get(read).is_some());
    is_listed.then_some(read)
}

/// Keeps a row open that now shows the next version of the open engram. Nothing scrolls.
pub(crate) fn follow_open_version(app: App, read: Option<EngramId>) {
    let next = app.list.feed.with_untracked(|feed| {
        let left = read.filter(|id| feed.get(*id).is_none())?;
        feed.newer(left).filter(|id| feed.get(*id).is_some())
    });
    if let Some(next) = next {
        app.list.look.in_place.set_value(Some(next));
        reading::select_engram(app, next);
    }
}

/// Reloads the list once the pointer is off the rows.
pub(super) fn list_again_later(app: App) {
    if app.list.look.is_pointing.get_untracked() {
        app.list.look.is_due.set_value(true)
    } else {
        state::list_in_place(app)
    }
}

fn project_id(app: App) -> Option<String> {
    let id = |it: &engram_model::StatusReply| it.project.as_ref()?.id;
    let id: Option<ProjectId> = app.status.with_untracked(|it| it.as_ref().and_then(id));
    id.map(|it| it.to_string())
}

/// Whether the newest engrams are in view.
fn sees_newest(app: App) -> bool {
    app.phase.get_untracked() == Phase::Ready
        && app.list.at_top.get_untracked()
        && app.list.feed.with_untracked(EngramList::waiting) == 0
        && untrack(|| views::asked_filter(app).is_empty() && !views::is_timeline(app))
}

/// The look of a person who has seen the whole journal.
fn look_of_now(app: App) -> Looked {
    Looked {
        seq: app.list.feed.with_untracked(EngramList::head),
        at: dom::clock().now,
    }
}

/// Starts with what is new since the last look; on the first look, nothing is.
pub(crate) fn begin_to_look(app: App) {
    let now = look_of_now(app);
    let kept = project_id(app).and_then(|id| {
        let settings = app.frame.settings.get_untracked();
        settings.looked.get(&id).copied()
    });
    // A journal that ends before the last look is a different one.
    let kept = kept.filter(|it| it.seq <= now.seq);
    app.list.look.last.set(Some(kept.unwrap_or(now)));
}

/// Counts what just arrived in view as seen, unless other rows are new.
pub(crate) fn see_arrived(app: App, was_nothing_new: bool) {
    if was_nothing_new && !app.list.look.is_away.get_value() && sees_newest(app) {
        app.list.look.last.set(Some(look_of_now(app)));
    }
}

/// Counts what the person stored at this place as seen, unless other rows are new.
pub(crate) fn see_own(app: App, seq: u64, was_nothing_new: bool) {
    if was_nothing_new {
        app.list.look.last.update(|last| {
            if let Some(last) = last {
                last.seq = last.seq.max(seq);
            }
        });
    }
}

/// Whether nothing in the list is new.
pub(crate) fn is_nothing_new(app: App) -> bool {
    let look = app.list.look;
    untrack(|| app.list.feed.with(|feed| look.count_new(feed)) == 0)
}

/// Counts what was in view as seen, when the person looks away.
pub(crate) fn look_away(app: App) {
    if sees_newest(app) && !app.list.look.is_away.get_value() {
        app.list.look.last.set(Some(look_of_now(app)));
    }
    keep_looked(app);
}

/// Saves the last look, if it changed.
pub(crate) fn keep_looked(app: App) {
    if let (Some(id), Some(last)) = (project_id(app), app.list.look.last.get_untracked()) {
        keep_look_at(app, &id, last);
    }
}

/// Saves the last look at a project or at something else, if it changed.
pub(crate) fn keep_look_at(app: App, what: &str, last: Looked) {
    let kept = app
        .frame
        .settings
        .with_untracked(|it| it.looked.get(what).map(|it| it.seq));
    if kept == Some(last.seq) {
        return;
    }
    app.frame.settings.update(|settings| {
        settings.looked.insert(what.to_owned(), last);
    });
    let settings = app.frame.settings.get_untracked();
    spawn_local(async move {
        // The person did not ask for this: if it cannot be saved, more rows are new next time.
        if let Err(refusal) = app.backend().keep_settings(&settings).await {
            dom::log(&refusal.to_string());
        }
    });
}

/// Tracks when the person leaves the window and returns.
pub(crate) fn follow_presence(app: App) {
    let look = app.list.look;
    let leave = move || {
        look_away(app);
        look.is_away.set_value(true);
    };
    let blur = window_event_listener(ev::blur, move |_| leave());
    let gone = window_event_listener(ev::pagehide, move |_| leave());
    let back = window_event_listener(ev::focus, move |_| look.is_away.set_value(false));
    let shown = window_event_listener(ev::pageshow, move |_| look.is_away.set_value(false));
    on_cleanup(move || {
        blur.remove();
        gone.remove();
        back.remove();
        shown.remove();
    });
}
