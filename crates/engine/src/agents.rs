//! Handles, runs and turns of the agents that call.

use std::collections::HashMap;
use std::sync::Mutex;

use engram_gateway::Spend;
use engram_model::{AgentId, Caller, ProjectId, Refusal, RunId};
use engram_store::{Agent, SpendRow, Store};
use jiff::{SignedDuration, Timestamp};

use crate::World;

/// The agents that called through this process, as it knows them.
#[derive(Default)]
pub(crate) struct Agents(Mutex<HashMap<AgentId, Agent>>);

impl Agents {
    /// A new root agent with a run of its own.
    pub(crate) fn register(&self, world: &World, label: &str, project: ProjectId) -> AgentId {
        let handle = AgentId(world.id().to_string().to_lowercase());
        let agent = Agent {
            handle: handle.clone(),
            label: plain(label),
            parent: None,
            run: RunId(world.id()),
            project,
            turn: world.id().to_string(),
            last_call: world.now(),
        };
        self.lock().insert(handle.clone(), agent);
        handle
    }

    /// Notes a call: the agent with its current turn, renewed after `idle` seconds of silence.
    /// None for the user. An unseen handle (the command line's `--agent`) is registered.
    pub(crate) fn call(
        &self,
        store: &Store,
        world: &World,
        caller: &Caller,
        project: ProjectId,
        idle: i64,
    ) -> Result<Option<Agent>, Refusal> {
        let Caller::Agent(handle) = caller else {
            return Ok(None);
        };
        let now = world.now();
        let mut agents = self.lock();
        let known = match agents.get(handle) {
            Some(agent) => Some(agent.clone()),
            None => store.read::<_, Refusal>(|it| Ok(it.agent(handle)?))?,
        };
        let mut agent = known.unwrap_or_else(|| Agent {
            handle: handle.clone(),
            label: plain(&handle.0),
            parent: None,
            run: RunId(world.id()),
            project,
            turn: world.id().to_string(),
            last_call: now,
        });
        if now.duration_since(agent.last_call) > SignedDuration::from_secs(idle) {
            agent.turn = world.id().to_string();
        }
        agent.last_call = now.max(agent.last_call);
        agent.project = project;
        agents.insert(handle.clone(), agent.clone());
        Ok(Some(agent))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AgentId, Agent>> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }
}

/// A label is what a stranger says of itself: one short printable line.
fn plain(label: &str) -> String {
    let label: String = label
        .chars()
        .filter(|c| !c.is_control())
        .take(80)
        .collect::<String>()
        .trim()
        .to_owned();
    match label.is_empty() {
        true => "agent".to_owned(),
        false => label,
    }
}

pub(crate) fn spend_of(row: SpendRow) -> Spend {
    Spend {
        repo_spans: row.repo_spans,
        artifact_sections: row.artifact_sections,
        sam_items: row.sam_items,
        tokens: row.tokens,
    }
}

pub(crate) fn row_of(spend: Spend) -> SpendRow {
    SpendRow {
        repo_spans: spend.repo_spans,
        artifact_sections: spend.artifact_sections,
        sam_items: spend.sam_items,
        tokens: spend.tokens,
    }
}

/// The beginning of the last `seconds`.
pub(crate) fn since(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MIN)
}
