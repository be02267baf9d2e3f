//! What is listed, what of it is read, and what the person writes of it.

use std::collections::HashMap;

use engram_model::{Pointer, Refusal, RequestTold, WhichRequests, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{VIEW, answer, list::element_id};
use crate::{
    app::{dom, part::part, state::App},
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

impl App {
    /// Reads the list while the view is on the screen.
    pub(super) fn follow_requests(self) {
        self.reading.begin(0);
        Effect::new(move |_| {
            self.stale.track(Tag::Requests);
            self.read_requests();
        });
        on_cleanup(move || {
            let read = self.reading.selected.get_untracked();
            let pointer = read.map_or(0, |id| self.worst_pointer(id));
            self.reading.begin(pointer);
        });
    }

    pub(super) fn read_requests(self) {
        let it = self.requests;
        let number = it.begin();
        spawn_local(async move {
            let read = self.ask(ask::Requests(WhichRequests { all: true })).await;
            if it.number.get_value() != number {
                return;
            }
            match read {
                Ok(reply) => {
                    it.omitted.set(reply.omitted);
                    self.list_requests(in_order(reply.requests));
                }
                Err(refusal) => {
                    dom::log(&refusal.to_string());
                    it.refused.set(Some(refusal));
                }
            }
        });
    }

    fn list_requests(self, requests: Vec<RequestTold>) {
        let it = self.requests;
        it.refused.set(None);
        let first = requests.first().map(|it| it.id.clone());
        let is_listed = |id: &String| requests.iter().any(|it| it.id == *id);
        let selected = it.selected.get_untracked();
        let is_there = selected.as_ref().is_some_and(is_listed);
        it.known.set(Some(requests));
        if untrack(|| VIEW.is_on(self)) && !is_there {
            if selected.is_some() {
                self.say(say::requests::GONE, "", true);
            }
            match first {
                Some(id) => self.select_request(id),
                None => it.selected.set(None),
            }
        }
    }

    /// The open request, as it is now.
    pub(crate) fn request_open(self) -> Option<RequestTold> {
        let id = self.requests.selected.get()?;
        self.requests.of(&id)
    }

    /// What the open request wants to read.
    pub(crate) fn request_pointer(self) -> Option<Pointer> {
        self.request_open()?.pointer.parse().ok()
    }

    /// Opens a request, as each on the way through the list.
    pub(crate) fn select_request(self, id: String) {
        self.select_request_by(id, false);
    }

    /// Opens one that a person went to, which can be gone back from.
    pub(super) fn go_to_request(self, id: String) {
        let was_covered = self.come_forward();
        if !self.select_request_by(id, true) && was_covered {
            self.write_address(true);
        }
    }

    /// Returns whether it was another one.
    fn select_request_by(self, id: String, is_step: bool) -> bool {
        let it = self.requests;
        if it.selected.get_untracked().as_ref() == Some(&id) {
            return false;
        }
        it.answer_refused.set(None);
        it.wants_reason.set(false);
        self.reading.begin(0);
        dom::reveal(&element_id(&id));
        it.selected.set(Some(id));
        self.write_address(is_step);
        true
    }

    /// Moves through the list by rows; the ends hold.
    pub(super) fn step_requests(self, by: isize) {
        let ids: Vec<String> = self.requests.known.with_untracked(|it| {
            let all = it.iter().flatten();
            all.map(|it| it.id.clone()).collect()
        });
        let selected = self.requests.selected.get_untracked();
        let at = selected.and_then(|id| ids.iter().position(|it| *it == id));
        let to = at.map_or(0, |at| at.saturating_add_signed(by));
        if let Some(id) = ids.get(to.min(ids.len().saturating_sub(1))) {
            self.select_request(id.clone());
        }
    }

    /// Does what a command means among requests; returns whether it means anything of its own there.
    pub(crate) fn act_on_requests(self, act: Act) -> bool {
        if !untrack(|| VIEW.is_on(self)) {
            return false;
        }
        match act {
            Act::Answer(answer) => self.answer_request(answer),
            Act::Why => self.in_detail(|| dom::focus(answer::REASON)),
            Act::Cap => self.in_detail(|| dom::select(answer::CAP)),
            Act::Back if self.requests.wants_reason.get_untracked() => {
                self.requests.wants_reason.set(false);
                self.focus_pane();
            }
            _ => return false,
        }
        true
    }

    /// Whether a command has something to work on among requests; none where it means nothing of its own
    /// there.
    pub(crate) fn holds_for_requests(self, act: Act) -> Option<bool> {
        if !untrack(|| VIEW.is_on(self)) {
            return None;
        }
        let open = untrack(|| self.request_open());
        let now = self.clock.get_untracked().now;
        let fits = |answer: Answer| open.as_ref().is_some_and(|it| answer.fits(it, now));
        Some(match act {
            Act::Answer(answer) => fits(answer),
            Act::Why | Act::Cap => fits(Answer::Grant),
            Act::First | Act::Pointer | Act::Link => open.is_some(),
            Act::Blame => open.is_some(),
            Act::Copy => untrack(|| self.pointer()).is_some(),
            Act::Open => open.is_some() && self.backend().opens_editors(),
            Act::Changes => self.reading.has_changes.get_untracked(),
            _ => return None,
        })
    }
}
