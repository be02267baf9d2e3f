//! Plans, then commits once. A request is planned on a snapshot, outside the write lock, and
//! planned again inside it only if the journal moved meanwhile. Then everything is recorded in one
//! transaction, or nothing.

use crate::{
    conflicts::risks::{self, Aftermath},
    context::{
        Context, Ground,
        caller::{CallingAgent, line_of, since},
        names::{apart, refuse_ours},
        plan::{Plan, Planned},
    },
};
use engram_model::{
    AgentId, JournalTime, Operation, ProjectId, RateLimits, Refusal,
    operation::{Agent, Served},
};
use engram_store::{NewEntry, Reader, Writer};
use jiff::Timestamp;

/// The name of the user in records.
const USER: &str = "user";

/// Plans and commits. Returns the answer and the place of the entry that it is about; `None` if it
/// is about no entry, or if there was nothing to record.
pub(crate) fn decide<T>(
    cx: &Context<'_>,
    ground: &Ground,
    plan: impl Fn(&Reader<'_>, JournalTime) -> Result<Plan<T>, Refusal>,
) -> Result<(T, Option<u64>), Refusal> {
    let called = cx.called()?;
    let agent = called.map(|it| &it.agent.handle);
    let store = &cx.engine.store;
    let clock = cx.engine.world.now();
    let plan = |tx: &Reader<'_>, now| {
        let mut planned = plan(tx, now)?;
        let Aftermath {
            entries: mut all,
            again,
        } = risks::aftermath(cx, tx, now, &planned.entries)?;
        planned.about = planned.about.map(|at| all.len() + at);
        all.append(&mut planned.entries);
        planned.entries = all;
        Ok::<_, Refusal>((planned, again))
    };
    let (planned, head) = store.read::<_, Refusal>(|tx| {
        let now = tx.time(clock)?;
        Ok((plan(tx, now)?, tx.head()?))
    })?;
    if planned.0.entries.is_empty() {
        return Ok((planned.0.answer, None));
    }
    // Followers record results that agents may not see, so their entries carry no traces of what
    // agents did.
    let served = if cx.is_own() {
        Vec::new()
    } else {
        cx.engine.take_served()
    };
    let done = store.write::<_, Refusal>(clock, |tx| {
        let (planned, again) = if tx.head()? == head {
            planned
        } else {
            plan(tx, tx.now)?
        };
        let mut entries = books(tx, ground, called, &served)?;
        let about = planned.about.map(|at| entries.len() + at);
        entries.extend(planned.entries);
        let places = record(tx, ground.project, agent, &entries)?;
        for version in again {
            tx.compare_again(ground.project, version)?;
        }
        let seq = about.and_then(|at| places.get(at)).copied();
        Ok((planned.answer, seq, places.last().copied(), entries))
    });
    match done {
        Ok((answer, seq, last, entries)) => {
            cx.engine.ring();
            if let Some(last) = last {
                let operations = entries.iter().map(|it| &it.operation);
                let claims = &cx.engine.claims;
                claims.recorded(ground.project, last, operations);
            }
            Ok((answer, seq))
        }
        Err(refusal) => {
            cx.engine.put_back(served);
            Err(refusal)
        }
    }
}

/// Limits how often an agent may store or close anything; the user is not limited.
pub(crate) fn admit(cx: &Context<'_>, tx: &Reader<'_>) -> Result<(), Refusal> {
    let limits = &cx.engine.config.limits.rate;
    // The count cannot exceed the number of journal entries.
    if tx.head()? < u64::from(limits.per_minute.min(limits.per_hour)) {
        return Ok(());
    }
    admit_many(cx, tx, 1)
}

/// Like [`admit`], for a message: each of its engrams counts, and all must fit. Agents that nobody
/// opened share one allowance, so that more connections do not allow more writes.
pub(crate) fn admit_many(cx: &Context<'_>, tx: &Reader<'_>, engrams: usize) -> Result<(), Refusal> {
    let Some(agent) = cx.agent()? else {
        return Ok(());
    };
    let limits = &cx.engine.config.limits.rate;
    let now = cx.engine.world.now();
    let more = u32::try_from(engrams.saturating_sub(1)).unwrap_or(u32::MAX);
    let own = |seconds| -> Result<u32, Refusal> {
        let count = tx.count_by_agent(&agent.handle, since(now, seconds), now)?;
        Ok(count.saturating_add(more))
    };
    engram_gateway::admit_write(limits, own(60)?, own(3_600)?)?;
    if tx.is_opened(&agent.handle)? {
        return admit_tree(tx, limits, agent, more, now);
    }
    let all = |seconds| -> Result<u32, Refusal> {
        let count = tx.count_by_strangers(agent.project, since(now, seconds), now)?;
        Ok(count.saturating_add(more))
    };
    engram_gateway::admit_stranger_write(limits, all(60)?, all(3_600)?)
}

/// Limits what an agent may write through its descendants, just as its reads are limited.
fn admit_tree(
    tx: &Reader<'_>,
    limits: &RateLimits,
    agent: &Agent,
    more: u32,
    now: Timestamp,
) -> Result<(), Refusal> {
    if agent.parent.is_none() && tx.family(agent.project, Some(&agent.handle), 1)?.is_empty() {
        return Ok(());
    }
    let line = line_of(tx, Some(agent))?;
    let root = line.last().map_or(&agent.handle, |root| &root.handle);
    let all = |seconds| -> Result<u32, Refusal> {
        let count = tx.count_by_tree(agent.project, root, since(now, seconds), now)?;
        Ok(count.saturating_add(more))
    };
    engram_gateway::admit_tree_write(limits, all(60)?, all(3_600)?)
}

/// Who is recorded as the author: the `given` name, otherwise the agent's label, otherwise the
/// user.
pub(crate) fn speaker(cx: &Context<'_>, given: Option<&str>) -> Result<String, Refusal> {
    match cx.agent()? {
        None => users(given),
        Some(_) => cx.engine.store.read(|tx| speaker_in(cx, tx, given)),
    }
}

/// Like [`speaker`], within a read.
pub(crate) fn speaker_in(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    given: Option<&str>,
) -> Result<String, Refusal> {
    match cx.agent()? {
        None => users(given),
        Some(agent) => apart(tx, agent, given.unwrap_or(&agent.label)),
    }
}

/// The author that the user names: an agent for whom they write, otherwise themselves.
fn users(given: Option<&str>) -> Result<String, Refusal> {
    let name = given.filter(|it| !it.is_empty()).unwrap_or(USER);
    if name != USER {
        refuse_ours("the author's name", name)?;
    }
    Ok(name.to_owned())
}

/// The entries that come before the planned ones: the project's location, the caller, and what
/// agents were shown since the last write. Reads never wait for the disk; they are recorded with
/// the next write.
fn books(
    tx: &Writer<'_>,
    ground: &Ground,
    called: Option<&CallingAgent>,
    served: &[Served],
) -> Result<Vec<Planned>, Refusal> {
    let mut books = Vec::new();
    // Another process may have recorded this meanwhile.
    if let Some(located) = &ground.located
        && tx.projects().id_at(&located.common_dir)? != Some(ground.project)
    {
        books.push(Operation::Located(located.clone()));
    }
    books.extend(ground.admitted.clone().map(Operation::Admitted));
    if let Some(called) = called {
        let known = tx.agent(&called.agent.handle)?;
        let turn = called.turn_from(known.as_ref().map(|it| &it.turn));
        if known.is_none_or(|known| known.turn != turn) {
            books.push(Operation::Joined(Box::new(Agent {
                project: ground.project,
                turn,
                ..called.agent.clone()
            })));
        }
    }
    books.extend(served.iter().cloned().map(Operation::Served));
    let planned = books
        .into_iter()
        .map(|operation| Planned::private(operation, ""));
    Ok(planned.collect())
}

fn record(
    tx: &Writer<'_>,
    project: ProjectId,
    agent: Option<&AgentId>,
    entries: &[Planned],
) -> Result<Vec<u64>, Refusal> {
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        let own = tx.record(&NewEntry {
            project,
            shareable: entry.shareable,
            agent,
            by: &entry.by,
            operation: &entry.operation,
        })?;
        if let Some((of, due)) = entry.due {
            tx.keep_due(project, of.unwrap_or(own), due)?;
        }
        places.push(own);
    }
    Ok(places)
}
