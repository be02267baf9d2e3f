//! Opens agents, with their tokens, parents and topics, and lists them.

use std::cmp::Reverse;

use engram_gateway::refuse_opening;
use engram_model::{
    AgentId, AgentOpened, AgentStatus, AgentsReply, Budget, Caller, Code, Opening, Operation,
    ProjectId, Refusal, RunId, Secret, is_hidden, is_on_topic,
    operation::{Agent, Opened, Topics},
};
use engram_store::{AgentActivity, Reader};
use jiff::Timestamp;

use crate::{
    agents::budgets,
    context::{
        Context, author,
        caller::{agent_in_project, cleaned_label, kin_of, token_digest},
        names::{TakenNames, recorded_name, refuse_reserved_name},
        plan::{Plan, Planned},
        rates,
        screen::screen_text,
    },
    decide,
};
pub(crate) use engram_gateway::unknown_agent;

/// The most agents that are listed.
const MAX_LISTED: usize = 200;

/// The longest name, role or topic of an agent, in characters.
const MAX_LINE: usize = 80;
/// The most topics that an agent may be given to read, and to write.
const TOPICS: usize = 12;

/// Opens an agent: a child in its parent's run, or a root. A known agent gets a new token, which
/// replaces the old one.
pub(crate) fn open_agent(cx: &Context<'_>, ask: &Opening) -> Result<AgentOpened, Refusal> {
    let parent = parent_for(cx.caller, ask)?;
    let (name, role) = (validated_agent_name(&ask.name)?, validated_role(ask)?);
    let topics = Topics {
        read: validated_topics("read", &ask.read)?,
        write: validated_topics("write", &ask.write)?,
    };
    let active = cx.active_project(true)?;
    let (token, run, turn) = (
        cx.engine.world.new_secret(),
        RunId(cx.engine.world.new_id()),
        cx.engine.world.new_id().to_string(),
    );
    let (now, by) = (cx.engine.world.now(), author::author_of(cx, None)?);
    let caller = cx.agent()?;
    let agent = decide::plan_and_commit(cx, &active, |tx, _| {
        rates::admit_write(cx, tx)?;
        let known = |id: &AgentId| match caller.filter(|caller| caller.handle == *id) {
            // The caller may not be recorded yet if this is its first call.
            Some(caller) => Ok(Some(caller.clone())),
            None => agent_in_project(tx, active.project, id),
        };
        let kin = |id: &AgentId| known(id).map(|agent| agent.map(kin_of));
        let handle = handle_of(tx, active.project, &name)?;
        refuse_opening(&handle, parent.as_ref(), kin)?;
        let above = parent.as_ref().map(known).transpose()?.flatten();
        above.as_ref().map_or(Ok(()), refuse_closed_parent)?;
        let before = known(&handle)?;
        let mut topics = topics.clone();
        if let (Some(before), Caller::Agent(_)) = (&before, cx.caller) {
            keep_left_out(&mut topics, &before.topics);
            refuse_reopening(before, &topics)?;
        }
        let fresh = Agent {
            handle,
            label: cleaned_label(&name),
            client: None,
            role: None,
            parent: parent.clone(),
            run: above.as_ref().map_or(run, |it| it.run),
            project: active.project,
            topics: Topics::default(),
            turn: turn.clone(),
            last_call: now,
            is_hidden: false,
            is_closed: false,
        };
        let mut agent = before.unwrap_or(fresh);
        agent.role = role.clone().or(agent.role);
        let asked = if topics.are_all() {
            &agent.topics
        } else {
            &topics
        };
        agent.topics = narrow_topics(asked, above.as_ref(), cx.caller)?;
        let opened = Opened {
            agent: agent.clone(),
            token: token_digest(&token),
        };
        Ok(Plan::of(
            vec![Planned::private(Operation::Opened(Box::new(opened)), &by)],
            agent,
        ))
    })?
    .answer;
    Ok(AgentOpened {
        agent: agent.handle,
        token: Secret(token),
        run: agent.run,
        role: agent.role,
        parent: agent.parent,
    })
}

/// A list of topics that is left out stays as it was: empty, it would mean all.
fn keep_left_out(asked: &mut Topics, had: &Topics) {
    for (asked, had) in [(&mut asked.read, &had.read), (&mut asked.write, &had.write)] {
        if asked.is_empty() {
            asked.clone_from(had);
        }
    }
}

/// Refuses a parent that would reopen an agent that the user closed, or give an agent more topics:
/// only the user may.
fn refuse_reopening(before: &Agent, asked: &Topics) -> Result<(), Refusal> {
    let is_within = |asked: &[String], had: &[String]| {
        had.is_empty()
            || asked
                .iter()
                .all(|it| had.iter().any(|had| is_on_topic(it, had)))
    };
    let had = &before.topics;
    if before.is_closed {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "the user closed this agent",
            "Open an agent under another name, or ask the user to reopen this one.",
        ));
    }
    if !is_within(&asked.read, &had.read) || !is_within(&asked.write, &had.write) {
        return Err(Refusal::new(
            Code::ScopeDenied,
            "you cannot give more topics to an agent that is already open",
            "Leave the topics out, or ask the user to widen them.",
        ));
    }
    Ok(())
}

/// The parent of a new agent: an agent opens only its own children.
fn parent_for(caller: &Caller, ask: &Opening) -> Result<Option<AgentId>, Refusal> {
    match (caller, &ask.parent) {
        (Caller::User, parent) => Ok(parent.clone()),
        (Caller::Agent(agent), Some(parent)) if agent != parent => Err(Refusal::new(
            Code::ScopeDenied,
            "an agent may open only its own children",
            "Leave the parent out: the agent that you open is your child.",
        )),
        (Caller::Agent(agent), _) => Ok(Some(agent.clone())),
    }
}

/// Checks the name that somebody gives an agent.
pub(crate) fn validated_agent_name(name: &str) -> Result<String, Refusal> {
    let name = validated_line("the agent's name", name)?;
    if name.is_empty() {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            "an agent needs a name",
            "Name it after what it does: programmer-1.",
        ));
    }
    refuse_reserved_name("the agent's name", &name)?;
    Ok(name)
}

fn refuse_closed_parent(parent: &Agent) -> Result<(), Refusal> {
    if !parent.is_closed {
        return Ok(());
    }
    Err(Refusal::new(
        Code::ScopeDenied,
        format!(
            "{:?} is closed, so it cannot get new children",
            parent.label
        ),
        "Open the agent without a parent, or open the parent again first.",
    ))
}

fn validated_role(ask: &Opening) -> Result<Option<String>, Refusal> {
    let role = validated_line("the role", ask.role.as_deref().unwrap_or_default())?;
    if role.is_empty() {
        return Ok(None);
    }
    refuse_reserved_name("the role", &role)?;
    Ok(Some(role))
}

/// Refuses a handle that nobody issued here. Other requests register it as a new root.
pub(crate) fn refuse_unknown_caller(cx: &Context<'_>) -> Result<(), Refusal> {
    let Caller::Agent(handle) = cx.caller else {
        return Ok(());
    };
    let store = &cx.engine.store;
    let is_known = cx.engine.agents.lock().contains_key(handle)
        || store.read::<_, Refusal>(|tx| Ok(tx.agent(handle)?.is_some()))?;
    if is_known {
        Ok(())
    } else {
        Err(unknown_agent(handle))
    }
}

/// The agents of this project, most recent call first.
pub(crate) fn list_agents(cx: &Context<'_>) -> Result<AgentsReply, Refusal> {
    let project = cx.project_or_home()?;
    let calls = cx.engine.calls.last_calls(project, cx.engine.world.now());
    let mut listed = cx.engine.store.read::<_, Refusal>(|tx| {
        let agents = tx.agents_of(project, MAX_LISTED)?;
        let more = tx
            .count_agents(project)?
            .saturating_sub(agents.len() as u64);
        let taken = TakenNames::of(tx, project)?;
        let agents = agents
            .into_iter()
            .map(|seen| agent_status(cx, tx, seen, &taken));
        let agents = agents.collect::<Result<_, Refusal>>()?;
        Ok(AgentsReply { agents, more })
    })?;
    for agent in &mut listed.agents {
        let called = calls.get(&agent.handle.0).copied();
        if let Some(at) = called.filter(|at| *at > agent.last_call) {
            // Its turn lasts as much longer.
            let since = at.duration_since(agent.last_call);
            agent.until = agent.until.checked_add(since).unwrap_or(Timestamp::MAX);
            agent.last_call = at;
        }
    }
    let is_set_aside = |it: &AgentStatus| it.is_hidden || it.is_closed;
    listed
        .agents
        .sort_by_key(|it| (is_set_aside(it), Reverse(it.last_call)));
    Ok(listed)
}

fn agent_status(
    cx: &Context<'_>,
    reader: &Reader<'_>,
    seen: AgentActivity,
    taken: &TakenNames,
) -> Result<AgentStatus, Refusal> {
    let last_call = seen.agent.last_call;
    let spent = budgets::agent_budget(cx, reader, seen.agent.clone(), taken)?;
    Ok(AgentStatus {
        name: spent.label,
        earlier_names: seen.earlier.iter().map(|it| recorded_name(it)).collect(),
        is_hidden: seen.agent.is_hidden,
        is_closed: seen.agent.is_closed,
        role: seen.agent.role,
        parent: seen.agent.parent,
        started_by: seen.parent.as_deref().map(recorded_name),
        run: seen.agent.run,
        turn: seen.agent.turn.clone(),
        topics: seen.agent.topics,
        first_seen: seen.first,
        last_call,
        did: seen.did,
        stored: seen.stored,
        record: seen.record,
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
        until: spent.until,
        handle: seen.agent.handle,
    })
}

/// The handle for a name: the name itself, or a name with the project's id if another project of
/// this home has an agent of that name.
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

/// The topics of a child: its parent's, unless narrower ones are given. Only the user may give it
/// others.
fn narrow_topics(
    asked: &Topics,
    parent: Option<&Agent>,
    caller: &Caller,
) -> Result<Topics, Refusal> {
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

/// Checks the name of an agent or of its role: one short printable line without a credential.
pub(crate) fn validated_line(what: &str, text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    if text.chars().count() > MAX_LINE || text.contains(|c: char| is_hidden(c) || c.is_control()) {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{what} must be one line of at most {MAX_LINE} printable characters"),
            "Use a word or two, such as programmer-1.",
        ));
    }
    screen_text(what, text)?;
    Ok(text.to_owned())
}

/// Normalises topics for comparison.
fn validated_topics(what: &str, given: &[String]) -> Result<Vec<String>, Refusal> {
    if given.len() > TOPICS {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("{} topics to {what}; the limit is {TOPICS}", given.len()),
            "Name a topic that they have in common: payments covers payments/webhooks.",
        ));
    }
    let topic = |it: &String| validated_line("a topic", it.trim_matches('/'));
    let mut topics = given.iter().map(topic).collect::<Result<Vec<_>, _>>()?;
    topics.retain(|it| !it.is_empty());
    Ok(topics)
}
