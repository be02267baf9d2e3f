//! Handles, runs and turns of the calling agents, and the tokens that prove them.

use std::collections::HashMap;

use engram_gateway::{AgentNode, GENERATIONS};
use engram_model::{
    AgentId, Caller, Code, ProjectId, Refusal, RunId, is_hidden,
    operation::{Agent, Topics},
};
use engram_store::{Reader, Store};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::{
    context::{names::refuse_reserved_name, project, screen::screen_text},
    world::World,
};

/// An agent that calls.
#[derive(Clone)]
pub(crate) struct CallingAgent {
    /// The agent in its current turn.
    pub(crate) agent: Agent,
    /// The agent's turn in the store at that time; `None` for an agent that the store did not know.
    /// If the store has another turn later, a parent or another process of the agent began it, and
    /// that turn counts.
    pub(crate) stored: Option<String>,
    /// Whether the request names its turn.
    pub(crate) is_named: bool,
}

impl CallingAgent {
    pub(crate) fn new(agent: Agent, stored: Option<String>) -> Self {
        Self {
            agent,
            stored,
            is_named: false,
        }
    }

    /// The turn that counts now.
    pub(crate) fn current_turn(&self, tx: &Reader<'_>) -> Result<String, Refusal> {
        let stored = tx.agent(&self.agent.handle)?.map(|it| it.turn);
        Ok(self.turn_from(stored.as_ref()))
    }

    /// Like [`Self::current_turn`], if the stored turn was already read.
    pub(crate) fn turn_from(&self, stored: Option<&String>) -> String {
        let is_newer = |turn: &&String| !self.is_named && self.stored.as_ref() != Some(*turn);
        stored.filter(is_newer).unwrap_or(&self.agent.turn).clone()
    }
}

/// The agents that called through this process.
#[derive(Default)]
pub(crate) struct Agents(Mutex<HashMap<AgentId, CallingAgent>>);

impl Agents {
    /// Registers a new root agent with its own run; `given` is the name that the user gave its
    /// client.
    pub(crate) fn register(
        &self,
        world: &World,
        label: &str,
        given: Option<String>,
        project: ProjectId,
    ) -> AgentId {
        let handle = AgentId(world.new_id().to_string().to_lowercase());
        let mut agent = new_root(world, handle.clone(), label, project);
        if let Some(name) = given {
            agent.client = Some(std::mem::replace(&mut agent.label, name));
        }
        self.lock()
            .insert(handle.clone(), CallingAgent::new(agent, None));
        handle
    }

    /// Records a call and returns the agent with its current turn, which is renewed after `idle`
    /// seconds of silence. `stored` is the agent in the store. An unknown handle (from the command
    /// line's `--agent`) becomes a root.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for an agent of another project, and for one that the user closed.
    pub(crate) fn record_call(
        &self,
        store: &Store,
        world: &World,
        handle: &AgentId,
        stored: Option<Agent>,
        project: ProjectId,
        idle: i64,
    ) -> Result<CallingAgent, Refusal> {
        stored.as_ref().map_or(Ok(()), refuse_closed)?;
        let now = world.now();
        let mut agents = self.lock();
        let mut called = match (agents.get(handle).cloned(), stored) {
            (Some(here), None) => here,
            (Some(here), Some(stored)) => here.merge_stored(stored, now),
            // An agent that called before there was a repository continues in the repository.
            (None, Some(stored))
                if stored.project != project && stored.project != project::home_project(store) =>
            {
                return Err(other_project_refusal(handle));
            }
            (None, Some(stored)) => {
                let turn = stored.turn.clone();
                CallingAgent::new(stored, Some(turn))
            }
            (None, None) => {
                screen_text("the agent's name", &handle.0)?;
                refuse_reserved_name("the agent's name", &handle.0)?;
                CallingAgent::new(new_root(world, handle.clone(), &handle.0, project), None)
            }
        };
        let agent = &mut called.agent;
        // Absolute, so that setting the clock back does not keep a turn open for longer.
        if now.duration_since(agent.last_call).abs() > SignedDuration::from_secs(idle) {
            agent.turn = world.new_id().to_string();
        }
        agent.last_call = now;
        agent.project = project;
        agents.insert(handle.clone(), called.clone());
        Ok(called)
    }

    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, HashMap<AgentId, CallingAgent>> {
        self.0.lock()
    }
}

impl CallingAgent {
    /// Merges this agent with its stored state. Its turn continues in this process unless another
    /// process began one. Calls that made no entry keep the turn open too.
    fn merge_stored(self, stored: Agent, now: Timestamp) -> Self {
        let is_same = self.agent.turn == stored.turn || self.stored.as_ref() == Some(&stored.turn);
        let since = |at: Timestamp| now.duration_since(at).abs();
        let is_older = since(self.agent.last_call) < since(stored.last_call);
        let last_call = if is_older && is_same {
            self.agent.last_call
        } else {
            stored.last_call
        };
        let turn = if is_same {
            self.agent.turn
        } else {
            stored.turn.clone()
        };
        let of_store = Some(stored.turn.clone());
        let agent = Agent {
            turn,
            last_call,
            ..stored
        };
        Self::new(agent, of_store)
    }
}

/// Whether a text has the form of an agent's token.
pub fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|it| it.is_ascii_hexdigit())
}

/// The stored form of a token.
pub(crate) fn token_digest(token: &str) -> String {
    hex::encode(Sha256::digest(token))
}

/// A new agent without a parent, in its own run.
pub(crate) fn new_root(world: &World, handle: AgentId, label: &str, project: ProjectId) -> Agent {
    Agent {
        handle,
        label: cleaned_label(label),
        client: None,
        role: None,
        parent: None,
        run: RunId(world.new_id()),
        project,
        topics: Topics::default(),
        turn: world.new_id().to_string(),
        last_call: world.now(),
        is_hidden: false,
        is_closed: false,
    }
}

/// Returns an agent of this project.
pub(crate) fn agent_in_project(
    tx: &Reader<'_>,
    project: ProjectId,
    id: &AgentId,
) -> Result<Option<Agent>, Refusal> {
    Ok(tx.agent(id)?.filter(|it| it.project == project))
}

/// Returns an agent of this project that the caller may know of: itself or an agent below it. The
/// user may know of all. An agent must not be able to tell a hidden agent from a missing one.
pub(crate) fn known_to(
    caller: &Caller,
    tx: &Reader<'_>,
    project: ProjectId,
    id: &AgentId,
) -> Result<Option<Agent>, Refusal> {
    let found = agent_in_project(tx, project, id)?;
    let Caller::Agent(me) = caller else {
        return Ok(found);
    };
    let line = agent_and_ancestors(tx, found.as_ref())?;
    Ok(found.filter(|_| line.iter().any(|it| it.handle == *me)))
}

/// An agent and its ancestors: itself first, then its parent.
pub(crate) fn agent_and_ancestors(
    tx: &Reader<'_>,
    agent: Option<&Agent>,
) -> Result<Vec<Agent>, Refusal> {
    let mut line = Vec::new();
    let mut next = agent.cloned();
    while let Some(one) = next.take().filter(|_| line.len() < GENERATIONS) {
        if let Some(parent) = &one.parent {
            next = tx.agent(parent)?;
        }
        line.push(one);
    }
    Ok(line)
}

/// The agent as a node of the agents' tree.
pub(crate) fn kin_of(agent: Agent) -> AgentNode {
    AgentNode {
        agent: agent.handle,
        parent: agent.parent,
        run: agent.run,
        role: agent.role.unwrap_or_default(),
        reads: agent.topics.read,
        writes: agent.topics.write,
    }
}

/// Refuses a call of an agent that the user closed.
fn refuse_closed(agent: &Agent) -> Result<(), Refusal> {
    if !agent.is_closed {
        return Ok(());
    }
    Err(Refusal::new(
        Code::ScopeDenied,
        "the user closed this agent",
        "Stop using Engram in this session. In a new session, you are a new agent.",
    ))
}

pub(crate) fn other_project_refusal(handle: &AgentId) -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        format!(
            "{:?} is an agent of another project",
            engram_model::shorten(&handle.0, 40)
        ),
        "Use a handle that `engram agents` lists here, or open one with `engram agents open NAME`.",
    )
}

/// Cleans a label, which is an agent's own name for itself: one short printable line without a
/// credential.
pub(crate) fn cleaned_label(label: &str) -> String {
    let label: String = label
        .chars()
        .filter(|c| !is_hidden(*c) && !c.is_control())
        .take(80)
        .collect::<String>()
        .trim()
        .to_owned();
    if label.is_empty() || screen_text("", &label).is_err() {
        "agent".to_owned()
    } else {
        label
    }
}
