//! The agents, and which of them is open.

use std::collections::{HashMap, HashSet};

use engram_model::{AgentId, AgentStatus, AgentsReply, Filter, Refusal, ask};
use leptos::prelude::*;

use crate::{
    app::{
        dom,
        inbox::Inbox,
        part::part,
        state::App,
        views::{LIST, agents::family::tree, feed},
    },
    tags::Tag,
    words::say,
};

part! {
    /// Which agent is open; the first where none was chosen.
    pub(crate) struct Agents {
        anew {
            pub(crate) inbox: Inbox<AgentId> = (),
        }
        stays {}
    }
}

/// What the view shows while it is on the screen.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    /// The last answer; none until it comes.
    pub(super) known: Memo<Option<AgentsReply>>,
    /// Why nothing could be read.
    pub(super) refused: Memo<Option<Refusal>>,
    /// The order in which they are listed, and how deep each stands below its parents.
    pub(super) order: Memo<Vec<(AgentId, usize)>>,
    app: App,
}

impl Listed {
    /// Reads them, and again after each action of one: they go stale with the status.
    pub(super) fn follow(app: App) -> Self {
        let loaded = LocalResource::new(move || {
            app.stale.track(Tag::Status);
            app.ask(ask::Agents)
        });
        let known = Memo::new(
            move |before: Option<&Option<AgentsReply>>| match loaded.get() {
                Some(Ok(reply)) => Some(*reply),
                _ => before.cloned().flatten(),
            },
        );
        let refused = Memo::new(move |_| loaded.get().and_then(Result::err));
        let latest = Memo::new(move |before: Option<&Vec<AgentId>>| {
            let before = before.map(Vec::as_slice).unwrap_or_default();
            known.with(|it| match it {
                Some(reply) => in_order(before, &reply.agents),
                None => before.to_vec(),
            })
        });
        let order = Memo::new(move |_| {
            let parents = known.with(|it| {
                let all = it.iter().flat_map(|it| &it.agents);
                let pair = |it: &AgentStatus| Some((it.handle.clone(), it.parent.clone()?));
                all.filter_map(pair).collect::<HashMap<_, _>>()
            });
            latest.with(|all| tree(all, &parents))
        });
        Effect::new(move |_| {
            let asked = app.views.agents.inbox.open.get();
            let is_listed = |it: &AgentsReply| {
                let is_it = |agent: &AgentStatus| Some(&agent.handle) == asked.as_ref();
                asked.is_none() || it.agents.iter().any(is_it)
            };
            if known.with(|it| !it.as_ref().is_none_or(is_listed)) {
                app.views.agents.inbox.open.set(None);
                app.write_address(false);
                app.frame.say(say::agents::GONE, "", true);
            }
        });
        Self {
            known,
            refused,
            order,
            app,
        }
    }

    /// Opens another one.
    pub(super) fn choose(self, handle: &AgentId) {
        if self.app.views.agents.inbox.open.get_untracked().as_ref() != Some(handle) {
            self.app.views.agents.inbox.open.set(Some(handle.clone()));
            self.app.write_address(false);
        }
    }

    /// Opens the one that is shown without having been chosen.
    pub(super) fn choose_current(self) {
        if let Some(handle) = untrack(|| self.current()) {
            self.choose(&handle);
        }
    }

    /// The open one: the first, until another is chosen.
    pub(super) fn current(self) -> Option<AgentId> {
        let chosen = self.app.views.agents.inbox.open.get();
        self.order.with(|all| {
            let chosen = chosen.filter(|it| all.iter().any(|(id, _)| id == it));
            chosen.or_else(|| all.first().map(|(id, _)| id.clone()))
        })
    }

    /// Those that one started.
    pub(super) fn children_of(self, handle: &AgentId) -> Vec<AgentStatus> {
        self.known.with(|it| {
            let all = it.iter().flat_map(|it| &it.agents);
            let own = all.filter(|it| it.parent.as_ref() == Some(handle));
            own.cloned().collect()
        })
    }

    /// The figures of one.
    pub(super) fn of(self, handle: &AgentId) -> Option<AgentStatus> {
        self.known.with(|it| {
            let all = it.as_ref()?.agents.iter();
            all.into_iter().find(|it| it.handle == *handle).cloned()
        })
    }
}

/// New ones first; the others stay where they are, so that no row moves under the pointer.
fn in_order(before: &[AgentId], now: &[AgentStatus]) -> Vec<AgentId> {
    let listed: HashSet<&AgentId> = before.iter().collect();
    let known: HashSet<&AgentId> = now.iter().map(|it| &it.handle).collect();
    let new = now.iter().map(|it| &it.handle);
    let new = new.filter(|it| !listed.contains(it));
    let stay = before.iter().filter(|it| known.contains(it));
    new.chain(stay).cloned().collect()
}

/// Shows the claims under the open agent's name in the feed.
pub(super) fn show_said_by_current(app: App, agents: Listed) {
    let Some(it) = untrack(|| agents.of(&agents.current()?)) else {
        return;
    };
    let filter = Filter {
        authors: vec![it.name],
        ..Filter::default()
    };
    feed::limit(app, &feed::VIEW, filter, true);
    dom::next_frame(|| dom::focus(LIST));
}
