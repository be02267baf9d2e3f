//! What is listed, what of it is read, and what the person writes of it.

use std::collections::HashMap;

use engram_model::{Pointer, Refusal, RequestTold, WhichRequests, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{VIEW, answer, list::element_id};
use crate::{
    app::{dom, part::part, reading, room, state::App},
    asked::{Answer, in_order},
    commands::Act,
    tags::Tag,
    words::say,
};

/// What is written of one request and not sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    /// The cap as it was typed; none where it was not touched.
    pub(super) cap: Option<String>,
    pub(super) reason: String,
}

part! {
    /// The requests.
    pub(crate) struct Requests {
        anew {
            /// What was read, in the order of the list; none until it comes.
            pub(crate) known: RwSignal<Option<Vec<RequestTold>>> = None,
            /// How many more there are.
            pub(super) omitted: RwSignal<Option<u64>> = None,
            /// Why the list could not be read.
            pub(crate) refused: RwSignal<Option<Refusal>> = None,
            pub(crate) selected: RwSignal<Option<String>> = None,
            /// Why the last answer failed.
            pub(crate) answer_refused: RwSignal<Option<Refusal>> = None,
            /// Nothing written is lost before it is sent.
            written: RwSignal<HashMap<String, Written>> = HashMap::new(),
            /// A denial waits for its reason.
            pub(crate) wants_reason: RwSignal<bool> = false,
        }
        stays {
            /// Changes with each reading: earlier answers are dropped.
            number: StoredValue<u64> = StoredValue::new(0),
        }
    }
}

impl Requests {
    /// Forgets everything about the repository that was in front.
    pub(crate) fn reset(self) {
        self.begin();
        self.clear();
    }

    fn begin(self) -> u64 {
        let number = self.number.get_value().wrapping_add(1);
        self.number.set_value(number);
        number
    }

    /// One of them, as it is now.
    pub(super) fn of(self, id: &str) -> Option<RequestTold> {
        let find = |all: &Vec<RequestTold>| all.iter().find(|it| it.id == id).cloned();
        self.known.with(|it| it.as_ref().and_then(find))
    }

    pub(super) fn written_of(self, id: &str) -> Written {
        let of = |all: &HashMap<String, Written>| all.get(id).cloned();
        self.written.with(of).unwrap_or_default()
    }

    pub(super) fn write(self, id: &str, change: impl FnOnce(&mut Written)) {
        self.written
            .update(|all| change(all.entry(id.to_owned()).or_default()));
    }

    /// What was written of it was sent.
    pub(super) fn forget_written(self, id: &str) {
        self.written.update(|all| {
            all.remove(id);
        });
    }
}

/// Reads the list while the view is on the screen.
pub(super) fn follow_requests(app: App) {
    app.reading.begin(0);
    Effect::new(move |_| {
        app.stale.track(Tag::Requests);
        read_requests(app);
    });
    on_cleanup(move || {
        let read = app.reading.selected.get_untracked();
        let pointer = read.map_or(0, |id| reading::worst_pointer(app, id));
        app.reading.begin(pointer);
    });
}

pub(super) fn read_requests(app: App) {
    let it = app.requests;
    let number = it.begin();
    spawn_local(async move {
        let read = app.ask(ask::Requests(WhichRequests { all: true })).await;
        if it.number.get_value() != number {
            return;
        }
        match read {
            Ok(reply) => {
                it.omitted.set(reply.omitted);
                list_requests(app, in_order(reply.requests));
            }
            Err(refusal) => {
                dom::log(&refusal.to_string());
                it.refused.set(Some(refusal));
            }
        }
    });
}

fn list_requests(app: App, requests: Vec<RequestTold>) {
    let it = app.requests;
    it.refused.set(None);
    let first = requests.first().map(|it| it.id.clone());
    let is_listed = |id: &String| requests.iter().any(|it| it.id == *id);
    let selected = it.selected.get_untracked();
    let is_there = selected.as_ref().is_some_and(is_listed);
    it.known.set(Some(requests));
    if untrack(|| VIEW.is_on(app)) && !is_there {
        if selected.is_some() {
            app.frame.say(say::requests::GONE, "", true);
        }
        match first {
            Some(id) => select_request(app, id),
            None => it.selected.set(None),
        }
    }
}

/// The open request, as it is now.
pub(crate) fn request_open(app: App) -> Option<RequestTold> {
    let id = app.requests.selected.get()?;
    app.requests.of(&id)
}

/// What the open request wants to read.
pub(crate) fn request_pointer(app: App) -> Option<Pointer> {
    request_open(app)?.pointer.parse().ok()
}

/// Opens a request, as each on the way through the list.
pub(crate) fn select_request(app: App, id: String) {
    select_request_by(app, id, false);
}

/// Opens one that a person went to, which can be gone back from.
pub(super) fn go_to_request(app: App, id: String) {
    let was_covered = room::come_forward(app);
    if !select_request_by(app, id, true) && was_covered {
        app.write_address(true);
    }
}

/// Returns whether it was another one.
fn select_request_by(app: App, id: String, is_step: bool) -> bool {
    let it = app.requests;
    if it.selected.get_untracked().as_ref() == Some(&id) {
        return false;
    }
    it.answer_refused.set(None);
    it.wants_reason.set(false);
    app.reading.begin(0);
    dom::reveal(&element_id(&id));
    it.selected.set(Some(id));
    app.write_address(is_step);
    true
}

/// Moves through the list by rows; the ends hold.
pub(super) fn step_requests(app: App, by: isize) {
    let ids: Vec<String> = app.requests.known.with_untracked(|it| {
        let all = it.iter().flatten();
        all.map(|it| it.id.clone()).collect()
    });
    let selected = app.requests.selected.get_untracked();
    let at = selected.and_then(|id| ids.iter().position(|it| *it == id));
    let to = at.map_or(0, |at| at.saturating_add_signed(by));
    if let Some(id) = ids.get(to.min(ids.len().saturating_sub(1))) {
        select_request(app, id.clone());
    }
}

/// Does what a command means among requests; returns whether it means anything of its own there.
pub(crate) fn act_on_requests(app: App, act: Act) -> bool {
    if !untrack(|| VIEW.is_on(app)) {
        return false;
    }
    match act {
        Act::Answer(answer) => answer::answer_request(app, answer),
        Act::Why => room::in_detail(app, || dom::focus(answer::REASON)),
        Act::Cap => room::in_detail(app, || dom::select(answer::CAP)),
        Act::Back if app.requests.wants_reason.get_untracked() => {
            app.requests.wants_reason.set(false);
            room::focus_pane(app);
        }
        _ => return false,
    }
    true
}

/// Whether a command has something to work on among requests; none where it means nothing of its own
/// there.
pub(crate) fn holds_for_requests(app: App, act: Act) -> Option<bool> {
    if !untrack(|| VIEW.is_on(app)) {
        return None;
    }
    let open = untrack(|| request_open(app));
    let now = app.clock.get_untracked().now;
    let fits = |answer: Answer| open.as_ref().is_some_and(|it| answer.fits(it, now));
    Some(match act {
        Act::Answer(answer) => fits(answer),
        Act::Why | Act::Cap => fits(Answer::Grant),
        Act::First | Act::Pointer | Act::Link => open.is_some(),
        Act::Blame => open.is_some(),
        Act::Copy => untrack(|| reading::pointer(app)).is_some(),
        Act::Open => open.is_some() && app.backend().opens_editors(),
        Act::Changes => app.reading.has_changes.get_untracked(),
        _ => return None,
    })
}
