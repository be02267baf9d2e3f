//! The listed requests, the open one, and what the person writes about it.

use std::collections::HashMap;

use engram_model::{AgentStatus, Pointer, Refusal, RequestState, RequestTold, WhichRequests, ask};
use leptos::{prelude::*, task::spawn_local};

use super::{VIEW, list::request_row_id};
use crate::{
    app::{
        components::inbox::{Inbox, read_own_sources, stepped},
        frame::room,
        part::part,
        reading, repositories,
        state::App,
        views::requests::request::{Answer, sort_requests},
    },
    commands::Act,
    tags::Tag,
    words::say,
};

/// What is written about one request and not sent yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnswerDraft {
    /// The cap as it was typed; none if it was not touched.
    pub(super) cap: Option<String>,
    pub(super) reason: String,
}

part! {
    /// The requests.
    pub(crate) struct Requests {
        anew {
            pub(super) inbox: Inbox<String> = (),
            /// The requests in the order of the list; none until they are read.
            pub(super) known: RwSignal<Option<Vec<RequestTold>>> = None,
            /// All agents, to tell which of them are out of reach.
            pub(super) agents: RwSignal<Vec<AgentStatus>> = Vec::new(),
            /// How many requests the list leaves out.
            pub(super) omitted: RwSignal<Option<u64>> = None,
            /// Why the last answer failed.
            pub(super) answer_refused: RwSignal<Option<Refusal>> = None,
            /// Drafts, kept until they are sent.
            drafts: RwSignal<HashMap<String, AnswerDraft>> = HashMap::new(),
            /// Whether a denial waits for its reason.
            pub(super) wants_reason: RwSignal<bool> = false,
        }
        stays {}
    }
}

impl Requests {
    /// Returns a request, as it is now.
    pub(super) fn of(self, id: &str) -> Option<RequestTold> {
        let find = |all: &Vec<RequestTold>| all.iter().find(|it| it.id == id).cloned();
        self.known.with(|it| it.as_ref().and_then(find))
    }

    pub(super) fn draft_of(self, id: &str) -> AnswerDraft {
        let draft = self.drafts.with(|all| all.get(id).cloned());
        draft.unwrap_or_default()
    }

    pub(super) fn write(self, id: &str, change: impl FnOnce(&mut AnswerDraft)) {
        self.drafts
            .update(|all| change(all.entry(id.to_owned()).or_default()));
    }

    /// Drops the draft of a request, which was sent.
    pub(super) fn forget_draft(self, id: &str) {
        self.drafts.update(|all| {
            all.remove(id);
        });
    }
}

/// Reads the list while the view is on the screen.
pub(super) fn follow(app: App) {
    read_own_sources(app);
    Effect::new(move |_| {
        app.stale.track(Tag::Requests);
        read(app);
    });
    Effect::new(move |_| {
        app.stale.track(Tag::Status);
        spawn_local(async move {
            if let Ok(reply) = app.ask(ask::Agents).await {
                app.views.requests.agents.set(reply.agents);
            }
        });
    });
    // A person who returns finds the request that has waited longest, not an answered one.
    on_cleanup(move || close_answered(app));
}

/// Closes the open request if it was answered.
pub(super) fn close_answered(app: App) {
    let current = untrack(|| current_request(app));
    if current.is_some_and(|it| it.state != RequestState::Waiting) {
        app.views.requests.inbox.open.set(None);
    }
}

pub(super) fn read(app: App) {
    let all = app.views.requests;
    let asked = ask::Requests(WhichRequests { all: true });
    all.inbox.read(app, asked, move |reply| {
        all.omitted.set(reply.omitted);
        list(app, sort_requests(reply.requests));
    });
}

fn list(app: App, requests: Vec<RequestTold>) {
    let all = app.views.requests;
    let first = requests.first().map(|it| it.id.clone());
    let is_listed = |id: &String| requests.iter().any(|it| it.id == *id);
    let open = all.inbox.open.get_untracked();
    let is_there = open.as_ref().is_some_and(is_listed);
    all.known.set(Some(requests));
    if untrack(|| VIEW.is_on(app)) && !is_there {
        if let Some(gone) = open {
            say_gone(app, gone);
        }
        match first {
            Some(id) => select_request(app, id),
            None => all.inbox.open.set(None),
        }
    }
}

/// Goes to the repository of a request that is not listed here, or says that there is none.
fn say_gone(app: App, id: String) {
    spawn_local(async move {
        if !repositories::leave_for(app, id).await {
            app.frame.warn(say::requests::GONE, "");
        }
    });
}

/// The open request, as it is now.
pub(crate) fn current_request(app: App) -> Option<RequestTold> {
    let id = app.views.requests.inbox.open.get()?;
    app.views.requests.of(&id)
}

/// The pointer that the open request wants to read.
pub(super) fn request_pointer(app: App, index: usize) -> Option<Pointer> {
    current_request(app)
        .filter(|_| index == 0)?
        .pointer
        .parse()
        .ok()
}

/// Opens a request while moving through the list.
pub(super) fn select_request(app: App, id: String) {
    select_request_by(app, id, false);
}

/// Opens a request that the person chose; *back* returns from it.
pub(super) fn go_to_request(app: App, id: String) {
    let was_covered = room::come_forward(app);
    if !select_request_by(app, id, true) && was_covered {
        app.write_address(true);
    }
}

/// Opens a request; returns whether it was another one.
fn select_request_by(app: App, id: String, adds_history: bool) -> bool {
    let all = app.views.requests;
    let row = request_row_id(&id);
    let is_other = all.inbox.turn_to(app, id, &row, adds_history);
    if is_other {
        all.answer_refused.set(None);
        all.wants_reason.set(false);
    }
    is_other
}

/// Moves through the list by rows, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let all = app.views.requests;
    let ids: Vec<String> = all.known.with_untracked(|known| {
        let requests = known.iter().flatten();
        requests.map(|it| it.id.clone()).collect()
    });
    let open = all.inbox.open.get_untracked();
    if let Some(id) = stepped(&ids, open.as_ref(), by) {
        select_request(app, id);
    }
}

/// Whether an answer fits the open request now.
pub(super) fn can_give(app: App, answer: Answer) -> bool {
    let now = app.clock.get_untracked().now;
    untrack(|| current_request(app)).is_some_and(|it| answer.fits(&it, now))
}

/// Runs a shared command that requests handle in their own way; returns whether they do.
pub(super) fn act(app: App, act: Act) -> bool {
    let wants = app.views.requests.wants_reason;
    let leaves = act == Act::Back && wants.get_untracked();
    if leaves {
        wants.set(false);
        room::focus_pane(app);
    }
    leaves
}

/// Whether a shared command has something to work on among requests.
pub(super) fn may(app: App, act: Act) -> Option<bool> {
    let is_open = || untrack(|| current_request(app)).is_some();
    Some(match act {
        Act::First | Act::Pointer | Act::Link | Act::Blame => is_open(),
        Act::Copy => untrack(|| reading::current_pointer(app)).is_some(),
        Act::Open => is_open() && app.backend().opens_editors(),
        Act::Changes => app.reading.has_changes.get_untracked(),
        _ => return None,
    })
}
