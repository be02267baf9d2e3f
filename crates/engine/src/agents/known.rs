//! Handles, runs and turns of the agents that call, and the tokens that prove them.

use std::collections::HashMap;
use std::sync::Mutex;

use engram_gateway::{Kin, may_open};
use engram_model::{
    AgentId, AgentOpened, AgentStatus, AgentsReply, Budget, Caller, Code, Opening, Operation,
    ProjectId, Refusal, RunId, Secret, is_hidden, is_on_topic,
    operation::{Agent, Opened, Topics},
};
use engram_store::{Reader, Seen, Store};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::{
    Engine, World,
    agents::{
        budgets,
        names::{Taken, named, refuse_ours},
    },
    claims::evidence::screen_text,
    context::Context,
    decide::{self, Plan, Planned},
    home::project,
};
pub(crate) use engram_gateway::unknown;

/// Most agents that are listed.
const LISTED: usize = 200;

/// Longest name, role or topic of an agent, in characters.
const LONGEST: usize = 80;
/// Most generations of agents, one below the other.
const GENERATIONS: usize = 32;
/// Most topics of an agent, of each kind.
const TOPICS: usize = 12;

/// An agent that calls.
#[derive(Clone)]
pub(crate) struct Called {
    /// The agent in its current turn.
    pub(crate) agent: Agent,
    /// The turn that the store had of it then; none for an agent that it did not know. Who finds another
    /// there goes on in that: a parent, or another process of the same agent, has begun it.
    pub(crate) stored: Option<String>,
    /// Whether the request names its turn.
    pub(crate) is_named: bool,
}

impl Called {
    pub(crate) fn new(agent: Agent, stored: Option<String>) -> Self {
        Self {
            agent,
            stored,
            is_named: false,
        }
    }

    /// The turn that counts now.
    pub(crate) fn turn(&self, tx: &Reader<'_>) -> Result<String, Refusal> {
        let stored = tx.agent(&self.agent.handle)?.map(|it| it.turn);
        Ok(self.turn_from(stored.as_ref()))
    }

    /// The same, for who has read what the store says.
    pub(crate) fn turn_from(&self, stored: Option<&String>) -> String {
        let is_newer = |turn: &&String| !self.is_named && self.stored.as_ref() != Some(*turn);
        stored.filter(is_newer).unwrap_or(&self.agent.turn).clone()
    }
}

/// The agents that called through this process, as it knows them.
#[derive(Default)]
pub(crate) struct Agents(Mutex<HashMap<AgentId, Called>>);

impl Agents {
    /// A new root agent with a run of its own.
    pub(crate) fn register(&self, world: &World, label: &str, project: ProjectId) -> AgentId {
        let handle = AgentId(world.id().to_string().to_lowercase());
        let agent = root(world, handle.clone(), label, project);
        self.lock().insert(handle.clone(), Called::new(agent, None));
        handle
    }

    /// Notes a call: the agent, as it is `stored`, with its current turn, renewed after `idle` seconds of silence. An
    /// unseen handle (the command line's `--agent`) becomes a root of its own.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for an agent of another project.
    pub(crate) fn call(
        &self,
        store: &Store,
        world: &World,
        handle: &AgentId,
        stored: Option<Agent>,
        project: ProjectId,
        idle: i64,
    ) -> Result<Called, Refusal> {
        let now = world.now();
        let mut agents = self.lock();
        let mut called = match (agents.get(handle).cloned(), stored) {
            (Some(here), None) => here,
            (Some(here), Some(stored)) => here.or_newer(stored, now),
            // One that called where there was no repository yet goes on where there is one.
            (None, Some(stored))
                if stored.project != project && stored.project != project::of_home(store) =>
            {
                return Err(of_another_project(handle));
            }
            (None, Some(stored)) => {
                let turn = stored.turn.clone();
                Called::new(stored, Some(turn))
            }
            (None, None) => {
                screen_text("the agent's name", &handle.0)?;
                refuse_ours("the agent's name", &handle.0)?;
                Called::new(root(world, handle.clone(), &handle.0, project), None)
            }
        };
        let agent = &mut called.agent;
        // A clock that was set back must not keep a turn open for longer.
        if now.duration_since(agent.last_call).abs() > SignedDuration::from_secs(idle) {
            agent.turn = world.id().to_string();
        }
        agent.last_call = now;
        agent.project = project;
        agents.insert(handle.clone(), called.clone());
        Ok(called)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AgentId, Called>> {
        self.0.lock().unwrap_or_else(|it| it.into_inner())
    }
}

impl Called {
    /// The same agent, as the store has it. Its turn goes on in this process unless another began one; calls
    /// that left no trace keep it open too.
    fn or_newer(self, stored: Agent, now: Timestamp) -> Self {
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

impl Engine {
    /// The agent that a token proves, in this project.
    ///
    /// # Errors
    /// `SCOPE_DENIED` for a token that proves nobody here.
    pub fn agent_of(&self, token: &str) -> Result<AgentId, Refusal> {
        self.settle()?;
        let digest = digest_of(token);
        let store = &self.store;
        let found = store.read::<_, Refusal>(|tx| Ok(tx.agent_of_token(&digest)?))?;
        found.ok_or_else(|| {
            Refusal::new(
                Code::ScopeDenied,
                "no agent in this home has this token",
                "Ask the user to run `engram agents open NAME` and give you the new token; it replaces any earlier one.",
            )
        })
    }
}

/// Whether a text has the form of an agent's token.
pub fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|it| it.is_ascii_hexdigit())
}

/// What is kept of a token.
pub(crate) fn digest_of(token: &str) -> String {
    hex::encode(Sha256::digest(token))
}

/// Opens an agent: a child of its parent, in the parent's run, or a root. One that is known gets a new
/// token, in place of the one before.
pub(crate) fn open_one(cx: &Context<'_>, ask: &Opening) -> Result<AgentOpened, Refusal> {
    let parent = match cx.caller {
        Caller::User => ask.parent.clone(),
        // An agent opens its own.
        Caller::Agent(agent) => Some(ask.parent.clone().unwrap_or_else(|| agent.clone())),
    };
    if let (Caller::Agent(agent), Some(parent)) = (cx.caller, &parent)
        && agent != parent
    {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may open only its own children",
            "Leave the parent out: the agent that you open is your child.",
        ));
    }
    let name = word("the agent's name", &ask.name)?;
    if name.is_empty() {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "an agent needs a name",
            "Name it after what it does: programmer-1.",
        ));
    }
    refuse_ours("the agent's name", &name)?;
    let role = word("the role", ask.role.as_deref().unwrap_or_default())?;
    if !role.is_empty() {
        refuse_ours("the role", &role)?;
    }
    let topics = Topics {
        read: topics("read", &ask.read)?,
        write: topics("write", &ask.write)?,
    };
    let ground = cx.ground(true)?;
    let (token, run, turn) = (
        cx.engine.world.secret(),
        RunId(cx.engine.world.id()),
        cx.engine.world.id().to_string(),
    );
    let (now, by) = (cx.engine.world.now(), decide::speaker(cx, None)?);
    let caller = cx.agent()?;
    let (agent, _) = decide::decide(cx, &ground, |tx, _| {
        decide::admit(cx, tx)?;
        let known = |id: &AgentId| match caller.filter(|caller| caller.handle == *id) {
            // It may call for the first time.
            Some(caller) => Some(caller.clone()),
            None => in_project(tx, ground.project, id).ok().flatten(),
        };
        let kin = |id: &AgentId| known(id).map(kin_of);
        let handle = handle_of(tx, ground.project, &name)?;
        may_open(&handle, parent.as_ref(), kin)?;
        let above = parent.as_ref().and_then(known);
        let before = known(&handle);
        let fresh = Agent {
            handle,
            label: plain(&name),
            role: None,
            parent: parent.clone(),
            run: above.as_ref().map_or(run, |it| it.run),
            project: ground.project,
            topics: Topics::default(),
            turn: turn.clone(),
            last_call: now,
        };
        let mut agent = before.unwrap_or(fresh);
        if !role.is_empty() {
            agent.role = Some(role.clone());
        }
        let asked = if topics.are_all() {
            &agent.topics
        } else {
            &topics
        };
        agent.topics = within(asked, above.as_ref(), cx.caller)?;
        let opened = Opened {
            agent: agent.clone(),
            token: digest_of(&token),
        };
        Ok(Plan {
            entries: vec![Planned {
                due: None,
                operation: Operation::Opened(Box::new(opened)),
                by: by.clone(),
                shareable: false,
            }],
            answer: agent,
        })
    })?;
    Ok(AgentOpened {
        agent: agent.handle,
        token: Secret(token),
        run: agent.run,
        role: agent.role,
        parent: agent.parent,
    })
}

/// Refuses a handle that nobody issued here: only a dereference registers one.
pub(crate) fn known_caller(cx: &Context<'_>) -> Result<(), Refusal> {
    let Caller::Agent(handle) = cx.caller else {
        return Ok(());
    };
    let store = &cx.engine.store;
    let is_known = cx.engine.agents.lock().contains_key(handle)
        || store.read::<_, Refusal>(|tx| Ok(tx.agent(handle)?.is_some()))?;
    if is_known {
        Ok(())
    } else {
        Err(unknown(handle))
    }
}

/// The agents of this project, most recent call first.
pub(crate) fn who_called(cx: &Context<'_>) -> Result<AgentsReply, Refusal> {
    let project = match cx.known_project()? {
        Some(project) => project,
        None => project::of_home(&cx.engine.store),
    };
    cx.engine.store.read::<_, Refusal>(|tx| {
        let agents = tx.agents_of(project, LISTED)?;
        let more = tx
            .count_agents(project)?
            .saturating_sub(agents.len() as u64);
        let taken = Taken::of(tx, project)?;
        let agents = agents.into_iter().map(|seen| told(cx, tx, seen, &taken));
        let agents = agents.collect::<Result<_, Refusal>>()?;
        Ok(AgentsReply { agents, more })
    })
}

fn told(
    cx: &Context<'_>,
    reader: &Reader<'_>,
    it: Seen,
    taken: &Taken,
) -> Result<AgentStatus, Refusal> {
    let limits = &cx.engine.config.limits.deref;
    let idle = SignedDuration::from_secs(limits.turn_idle_seconds);
    let last_call = it.agent.last_call;
    let spent = budgets::spent_by(cx, reader, it.agent.clone(), taken)?;
    Ok(AgentStatus {
        name: spent.label,
        role: it.agent.role,
        parent: it.agent.parent,
        started_by: it.parent.as_deref().map(named),
        run: it.agent.run,
        turn: it.agent.turn.clone(),
        topics: it.agent.topics,
        first_seen: it.first,
        last_call,
        did: it.did,
        stored: it.stored,
        budget: Budget {
            turn: spent.turn,
            repo_spans: spent.repo_spans,
            artifact_sections: spent.artifact_sections,
            sam_items: spent.sam_items,
            tokens: spent.tokens,
        },
        inline_tokens: spent.inline_tokens,
        grants: spent.grants,
        refusals: spent.refusals,
        // A turn may be configured never to end.
        until: last_call.checked_add(idle).unwrap_or(Timestamp::MAX),
        handle: it.agent.handle,
    })
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
        topics: Topics::default(),
        turn: world.id().to_string(),
        last_call: world.now(),
    }
}

/// An agent of this project.
pub(crate) fn in_project(
    tx: &Reader<'_>,
    project: ProjectId,
    id: &AgentId,
) -> Result<Option<Agent>, Refusal> {
    Ok(tx.agent(id)?.filter(|it| it.project == project))
}

/// An agent and those above it, its parent first.
pub(crate) fn line_of(tx: &Reader<'_>, agent: Option<&Agent>) -> Result<Vec<Agent>, Refusal> {
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

/// What the tree of agents knows of one.
pub(crate) fn kin_of(agent: Agent) -> Kin {
    Kin {
        agent: agent.handle,
        parent: agent.parent,
        run: agent.run,
        role: agent.role.unwrap_or_default(),
        reads: agent.topics.read,
        writes: agent.topics.write,
    }
}

/// The handle for a name: the name itself, or, where another project of this home has an agent of that
/// name, one that says whose it is.
fn handle_of(tx: &Reader<'_>, project: ProjectId, name: &str) -> Result<AgentId, Refusal> {
    let plain = AgentId(name.to_owned());
    Ok(match tx.agent(&plain)? {
        Some(other) if other.project != project => {
            let id = project.to_string().to_lowercase();
            AgentId(format!("{name}-{}", id.get(20..).unwrap_or_default()))
        }
        _ => plain,
    })
}

/// The topics of a child: its parent's, unless narrower ones are given. Only the user gives it others.
fn within(asked: &Topics, parent: Option<&Agent>, caller: &Caller) -> Result<Topics, Refusal> {
    let Some(parent) = parent else {
        return Ok(asked.clone());
    };
    let narrow = |asked: &[String], parents: &[String]| {
        if asked.is_empty() {
            return Ok(parents.to_vec());
        }
        let covered = |topic: &String| parents.iter().any(|it| is_on_topic(topic, it));
        if *caller == Caller::User || parents.is_empty() || asked.iter().all(covered) {
            Ok(asked.to_vec())
        } else {
            Err(Refusal::new(
                Code::ScopeDenied,
                "a child may not have topics that its parent does not have",
                format!("Give it {} or topics below them.", parents.join(", ")),
            ))
        }
    };
    Ok(Topics {
        read: narrow(&asked.read, &parent.topics.read)?,
        write: narrow(&asked.write, &parent.topics.write)?,
    })
}

/// What somebody calls an agent or its role: one short printable line, and no credential.
pub(crate) fn word(what: &str, text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    if text.chars().count() > LONGEST || text.contains(|c: char| is_hidden(c) || c.is_control()) {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{what} must be one line of at most {LONGEST} printable characters"),
            "Use a word or two, such as programmer-1.",
        ));
    }
    screen_text(what, text)?;
    Ok(text.to_owned())
}

/// Topics as they are compared.
fn topics(what: &str, given: &[String]) -> Result<Vec<String>, Refusal> {
    if given.len() > TOPICS {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{} topics to {what}; the limit is {TOPICS}", given.len()),
            "Name a topic that they have in common: payments covers payments/webhooks.",
        ));
    }
    let topic = |it: &String| word("a topic", it.trim_matches('/'));
    let mut topics = given.iter().map(topic).collect::<Result<Vec<_>, _>>()?;
    topics.retain(|it| !it.is_empty());
    Ok(topics)
}

pub(crate) fn of_another_project(handle: &AgentId) -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        format!(
            "{:?} is an agent of another project",
            engram_model::shorten(&handle.0, 40)
        ),
        "Use a handle that `engram agents` lists here, or open one with `engram agents open NAME`.",
    )
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
    if label.is_empty() || screen_text("", &label).is_err() {
        "agent".to_owned()
    } else {
        label
    }
}

/// The beginning of the last `seconds`.
pub(crate) fn since(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MIN)
}
