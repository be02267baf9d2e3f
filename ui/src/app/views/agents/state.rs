//! The agents, and which of them is open.

use std::collections::{HashMap, HashSet};

use engram_model::{AgentId, AgentStatus, AgentsReply, Filter, ask};
use leptos::prelude::*;

use super::{VIEW, family::tree_of, list::agent_row_id};
use crate::{
    app::{
        components::inbox::{Inbox, stepped},
        dom,
        part::part,
        state::App,
        views::feed,
    },
    tags::Tag,
    words::say,
};

part! {
    /// The agents.
    pub(crate) struct Agents {
        anew {
            /// The open agent; if none was chosen, the first is shown.
            pub(super) inbox: Inbox<AgentId> = (),
            /// What was read; none until then.
            pub(super) known: RwSignal<Option<AgentsReply>> = None,
            /// The order of the list: agents that were heard of last come first.
            heard_of: RwSignal<Vec<AgentId>> = Vec::new(),
        }
        stays {}
    }
}

impl Agents {
    /// The listed agents in order, with their depth below their parents.
    pub(super) fn order(self) -> Vec<(AgentId, usize)> {
        let parents: HashMap<AgentId, AgentId> = self.known.with(|known| {
            let all = known.iter().flat_map(|it| &it.agents);
            let pair = |it: &AgentStatus| Some((it.handle.clone(), it.parent.clone()?));
            all.filter_map(pair).collect()
        });
        self.heard_of.with(|all| tree_of(all, &parents))
    }

    /// The open agent; the first, until another is chosen.
    pub(super) fn current(self) -> Option<AgentId> {
        let order = self.order();
        let chosen = self.inbox.open.get();
        let chosen = chosen.filter(|it| order.iter().any(|(handle, _)| handle == it));
        chosen.or_else(|| order.first().map(|(handle, _)| handle.clone()))
    }

    /// The agents that this one started.
    pub(super) fn children_of(self, handle: &AgentId) -> Vec<AgentStatus> {
        self.known.with(|known| {
            let all = known.iter().flat_map(|it| &it.agents);
            let own = all.filter(|it| it.parent.as_ref() == Some(handle));
            own.cloned().collect()
        })
    }

    /// The figures of one agent.
    pub(super) fn of(self, handle: &AgentId) -> Option<AgentStatus> {
        self.known.with(|known| {
            let mut all = known.as_ref()?.agents.iter();
            all.find(|it| it.handle == *handle).cloned()
        })
    }
}

/// Reads the agents, again after each action of one: they become stale with the status.
pub(super) fn follow(app: App) {
    // A person who returns to the view sees the latest agents first.
    app.views.agents.known.set(None);
    app.views.agents.heard_of.set(Vec::new());
    Effect::new(move |_| {
        app.stale.track(Tag::Status);
        read(app);
    });
}

pub(super) fn read(app: App) {
    let all = app.views.agents;
    all.inbox
        .read(app, ask::Agents, move |reply| list(app, *reply));
}

fn list(app: App, reply: AgentsReply) {
    let all = app.views.agents;
    all.heard_of
        .update(|before| *before = order_with_new_first(before, &reply.agents));
    all.known.set(Some(reply));
    leave_one_that_is_gone(app);
}

/// Opens the agent that an address names; without a name, the first.
pub(super) fn open(app: App, handle: Option<&str>) {
    let handle = handle.map(|handle| AgentId(handle.to_owned()));
    app.views.agents.inbox.open.set(handle);
    leave_one_that_is_gone(app);
}

/// Reports that the agent to open is not among those that were read.
fn leave_one_that_is_gone(app: App) {
    let all = app.views.agents;
    let open = all.inbox.open.get_untracked();
    let is_known = all.known.with_untracked(Option::is_some);
    let is_gone = open.is_some_and(|open| untrack(|| all.of(&open)).is_none());
    if is_known && is_gone && untrack(|| VIEW.is_on(app)) {
        all.inbox.open.set(None);
        app.write_address(false);
        app.frame.warn(say::agents::GONE, "");
    }
}

/// Opens another agent.
pub(super) fn select_agent(app: App, handle: &AgentId) {
    let open = app.views.agents.inbox.open;
    if open.get_untracked().as_ref() != Some(handle) {
        open.set(Some(handle.clone()));
        app.write_address(false);
        dom::reveal(&agent_row_id(handle));
    }
}

/// Opens the agent that is shown by default.
pub(super) fn select_current(app: App) {
    if let Some(handle) = untrack(|| app.views.agents.current()) {
        select_agent(app, &handle);
    }
}

/// Moves through the list by rows, clamped at the ends.
pub(super) fn step(app: App, by: isize) {
    let order = untrack(|| app.views.agents.order()).into_iter();
    let handles: Vec<AgentId> = order.map(|(handle, _)| handle).collect();
    let open = untrack(|| app.views.agents.current());
    if let Some(handle) = stepped(&handles, open.as_ref(), by) {
        select_agent(app, &handle);
    }
}

/// Puts new agents first; the others keep their order, so that no row moves under the pointer.
fn order_with_new_first(before: &[AgentId], now: &[AgentStatus]) -> Vec<AgentId> {
    let listed: HashSet<&AgentId> = before.iter().collect();
    let known: HashSet<&AgentId> = now.iter().map(|it| &it.handle).collect();
    let new = now.iter().map(|it| &it.handle);
    let new = new.filter(|it| !listed.contains(it));
    let stay = before.iter().filter(|it| known.contains(it));
    new.chain(stay).cloned().collect()
}

/// Shows the claims under the open agent's name in the feed.
pub(super) fn show_said_by_current(app: App) {
    let agents = app.views.agents;
    let Some(agent) = untrack(|| agents.of(&agents.current()?)) else {
        return;
    };
    let filter = Filter {
        authors: vec![agent.name],
        ..Filter::default()
    };
    feed::show_filtered(app, &feed::VIEW, filter, true);
    dom::next_frame(|| dom::focus(dom::LIST));
}
