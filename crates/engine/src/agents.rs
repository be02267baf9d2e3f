//! Handles, runs and turns of the agents that call.

use std::collections::HashMap;
use std::sync::Mutex;

use engram_gateway::budget;
use engram_model::{
    AgentId, AgentStatus, AgentsReply, ProjectId, Refusal, RunId, is_hidden, operation::Agent,
};
use engram_store::{Seen, Store};
use jiff::{SignedDuration, Timestamp};

use crate::{World, context::Context, evidence::screen_text, project};

/// Most agents that are listed.
const LISTED: usize = 200;

/// The agents that called through this process, as it knows them.
#[derive(Default)]
pub(crate) struct Agents(Mutex<HashMap<AgentId, Agent>>);

impl Agents {
    /// A new root agent with a run of its own.
    pub(crate) fn register(&self, world: &World, label: &str, project: ProjectId) -> AgentId {
        let handle = AgentId(world.id().to_string().to_lowercase());
        let agent = root(world, handle.clone(), label, project);
        self.lock().insert(handle.clone(), agent);
        handle
    }

    /// Notes a call: the agent with its current turn, renewed after `idle` seconds of silence. An
    /// unseen handle (the command line's `--agent`) becomes a root of its own.
    pub(crate) fn call(
        &self,
        store: &Store,
        world: &World,
        handle: &AgentId,
        project: ProjectId,
        idle: i64,
    ) -> Result<Agent, Refusal> {
        let now = world.now();
        let mut agents = self.lock();
        let known = match agents.get(handle) {
            Some(agent) => Some(agent.clone()),
            None => store.read::<_, Refusal>(|it| Ok(it.agent(handle)?))?,
        };
        let mut agent = match known {
            Some(known) => known,
            None => {
                screen_text("the agent's name", &handle.0)?;
                root(world, handle.clone(), &handle.0, project)
            }
        };
        // A clock that was set back must not keep a turn open for longer.
        if now.duration_since(agent.last_call).abs() > SignedDuration::from_secs(idle) {
            agent.turn = world.id().to_string();
        }
        agent.last_call = now;
        agent.project = project;
        agents.insert(handle.clone(), agent.clone());
        Ok(agent)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AgentId, Agent>> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }
}

impl Context<'_> {
    /// The agents of this project, most recent call first.
    pub(crate) fn who_called(&self) -> Result<AgentsReply, Refusal> {
        let project = match self.known_project()? {
            Some(project) => project,
            None => project::of_home(&self.engine.store),
        };
        self.engine.store.read::<_, Refusal>(|it| {
            let agents = it.agents_of(project, LISTED)?;
            let more = it
                .count_agents(project)?
                .saturating_sub(agents.len() as u64);
            let agents = agents.into_iter().map(|it| self.told(it)).collect();
            Ok(AgentsReply { agents, more })
        })
    }

    fn told(&self, it: Seen) -> AgentStatus {
        let limits = &self.engine.config.limits.deref;
        let idle = SignedDuration::from_secs(limits.turn_idle_seconds);
        let last_call = it.agent.last_call;
        AgentStatus {
            name: named(&it.agent.label),
            role: it.agent.role,
            parent: it.parent.as_deref().map(named),
            first_seen: it.first,
            last_call,
            did: it.did,
            stored: it.stored,
            budget: budget(limits, &it.spend, &it.agent.turn),
            // A turn may be configured never to end.
            until: last_call.checked_add(idle).unwrap_or(Timestamp::MAX),
            handle: it.agent.handle,
        }
    }
}

/// An agent without a parent, in a run of its own.
fn root(world: &World, handle: AgentId, label: &str, project: ProjectId) -> Agent {
    Agent {
        handle,
        label: plain(label),
        role: None,
        parent: None,
        run: RunId(world.id()),
        project,
        topics: Vec::new(),
        turn: world.id().to_string(),
        last_call: world.now(),
    }
}

/// What an agent is called in records. The user is called `user` there, and "you" in the window: no
/// agent is, whatever it says of itself.
pub(crate) fn named(name: &str) -> String {
    // Invisible characters do not make it a different name.
    let name: String = name.chars().filter(|c| !is_hidden(*c)).collect();
    match name.trim().to_lowercase().as_str() {
        "" | "user" | "you" => format!("{} (agent)", name.trim()).trim().to_owned(),
        _ => name,
    }
}

/// A label is what a stranger says of itself: one short printable line, and no credential.
fn plain(label: &str) -> String {
    let label: String = label
        .chars()
        .filter(|c| !is_hidden(*c) && !c.is_control())
        .take(80)
        .collect::<String>()
        .trim()
        .to_owned();
    match label.is_empty() || screen_text("", &label).is_err() {
        true => "agent".to_owned(),
        false => label,
    }
}

/// The beginning of the last `seconds`.
pub(crate) fn since(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MIN)
}
