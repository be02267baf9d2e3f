//! The agents, and which of them is open.

use std::collections::{HashMap, HashSet};

use engram_model::{AgentId, AgentRow, AgentStatus, AgentsReply, Filter, Refusal, agent_rows, ask};
use leptos::prelude::*;

use super::{VIEW, changes, family::tree_of, list::agent_row_id};
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

/// The agents as rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KnownAgents {
    pub(super) rows: Vec<AgentRow>,
    /// How many agents are not listed because their last calls are older.
    pub(super) more: u64,
}

part! {
    /// The agents.
    pub(crate) struct Agents {
        anew {
            /// The open agent; if none was chosen, the first is shown.
            pub(super) inbox: Inbox<AgentId> = (),
            /// The rows that were read; none until then.
            pub(super) known: RwSignal<Option<KnownAgents>> = None,
            /// Whether hidden and closed agents are listed.
            pub(super) shows_all: RwSignal<bool> = false,
            /// The new name that is being written, whether closing was asked for, and why a change
            /// was refused.
            pub(super) name: RwSignal<Option<String>> = None,
            pub(super) closing: RwSignal<bool> = false,
            pub(super) refused: RwSignal<Option<Refusal>> = None,
            /// The order of the list: agents that were heard from last come first.
            heard_of: RwSignal<Vec<AgentId>> = Vec::new(),
        }
        stays {}
    }
}

impl Agents {
    /// The listed agents in order, with their depth below their parents.
    pub(super) fn order(self) -> Vec<(AgentId, usize)> {
        let parents: HashMap<AgentId, AgentId> = self.known.with(|known| {
            let all = known.iter().flat_map(|it| &it.rows);
            let pair = |it: &AgentRow| Some((it.agent.handle.clone(), it.agent.parent.clone()?));
            all.filter_map(pair).collect()
        });
        let is_shown = |it: &AgentId| self.shows_all.get() || !self.is_left_out(it);
        let shown: Vec<AgentId> = self
            .heard_of
            .with(|all| all.iter().filter(|it| is_shown(it)).cloned().collect());
        tree_of(&shown, &parents)
    }

    /// Whether the list leaves an agent out unless all are wanted.
    fn is_left_out(self, handle: &AgentId) -> bool {
        let agent = self.of(handle);
        agent.is_some_and(|it| it.is_hidden || it.is_closed)
    }

    /// How many rows are hidden or closed.
    pub(super) fn count_left_out(self) -> usize {
        self.known.with(|known| {
            let all = known.iter().flat_map(|it| &it.rows);
            all.filter(|it| it.agent.is_hidden || it.agent.is_closed)
                .count()
        })
    }

    /// How many rows are neither hidden nor closed, if all agents were read.
    pub(super) fn count_rows(self) -> Option<u64> {
        self.known.with(|known| {
            let known = known.as_ref().filter(|it| it.more == 0)?;
            let is_left_out = |it: &&AgentRow| it.agent.is_hidden || it.agent.is_closed;
            let left_out = known.rows.iter().filter(is_left_out).count();
            Some((known.rows.len() - left_out) as u64)
        })
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
            let all = known.iter().flat_map(|it| &it.rows).map(|it| &it.agent);
            let own = all.filter(|it| it.parent.as_ref() == Some(handle));
            own.cloned().collect()
        })
    }

    /// The figures of the row whose newest agent this is.
    pub(super) fn of(self, handle: &AgentId) -> Option<AgentStatus> {
        self.row_with(handle)
            .map(|row| row.agent)
            .filter(|it| it.handle == *handle)
    }

    /// The row that this agent is in.
    pub(super) fn row_with(self, handle: &AgentId) -> Option<AgentRow> {
        self.known.with(|known| {
            let mut all = known.as_ref()?.rows.iter();
            all.find(|it| it.handles.contains(handle)).cloned()
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
    let rows = agent_rows(reply.agents);
    all.heard_of
        .update(|before| *before = order_with_new_first(before, &rows));
    all.known.set(Some(KnownAgents {
        rows,
        more: reply.more,
    }));
    follow_reconnection(app);
    leave_one_that_is_gone(app);
}

/// Opens the agent that an address names; without a name, the first.
pub(super) fn open(app: App, handle: Option<&str>) {
    let handle = handle.map(|handle| AgentId(handle.to_owned()));
    app.views.agents.inbox.open.set(handle);
    follow_reconnection(app);
    leave_one_that_is_gone(app);
}

/// Opens the row that the open agent is in now: its client may have connected again.
fn follow_reconnection(app: App) {
    let open = app.views.agents.inbox.open;
    let row = open
        .get_untracked()
        .and_then(|it| untrack(|| app.views.agents.row_with(&it)));
    if let Some(row) = row.filter(|it| open.get_untracked().as_ref() != Some(&it.agent.handle)) {
        open.set(Some(row.agent.handle));
    }
}

/// The open row.
pub(super) fn current_row(app: App) -> Option<AgentRow> {
    let agents = app.views.agents;
    agents.row_with(&agents.current()?)
}

/// Starts or stops listing hidden and closed agents too.
pub(super) fn show_all_or_not(app: App) {
    app.views.agents.shows_all.update(|it| *it = !*it);
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
        changes::leave(app);
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
fn order_with_new_first(before: &[AgentId], now: &[AgentRow]) -> Vec<AgentId> {
    let listed: HashSet<&AgentId> = before.iter().collect();
    let known: HashSet<&AgentId> = now.iter().map(|it| &it.agent.handle).collect();
    let new = now.iter().map(|it| &it.agent.handle);
    let new = new.filter(|it| !listed.contains(it));
    let stay = before.iter().filter(|it| known.contains(it));
    new.chain(stay).cloned().collect()
}

/// The names under which an agent stored claims.
pub(super) fn names_of(agent: AgentStatus) -> Vec<String> {
    let mut names = agent.earlier_names;
    names.push(agent.name);
    names.dedup();
    names
}

/// Shows the claims under the open agent's name in the feed.
pub(super) fn show_said_by_current(app: App) {
    let agents = app.views.agents;
    let Some(agent) = untrack(|| agents.of(&agents.current()?)) else {
        return;
    };
    let filter = Filter {
        authors: names_of(agent),
        ..Filter::default()
    };
    feed::show_filtered(app, &feed::VIEW, filter, true);
    dom::next_frame(|| dom::focus(dom::LIST));
}
