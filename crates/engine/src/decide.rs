//! Plan, then commit once. What a request comes to is planned on a snapshot, outside of the write
//! lock; it is planned again inside only if the journal moved meanwhile. Then all of it is recorded
//! in one transaction, or nothing.

use engram_model::{AgentId, EngramId, Operation, ProjectId, Refusal, operation::Agent};
use engram_store::{NewEntry, Reader, Writer};
use jiff::Timestamp;

use crate::{
    Engine,
    agents::{Called, named, since},
    context::{Context, Ground},
    findings::ended_risks,
};

/// What is to be recorded, and what is answered then.
pub(crate) struct Plan<T> {
    pub(crate) entries: Vec<Planned>,
    pub(crate) answer: T,
}

/// An operation that is to be recorded.
pub(crate) struct Planned {
    pub(crate) operation: Operation,
    /// Who is said to have done it.
    pub(crate) by: String,
    /// Whether it may ever leave this machine.
    pub(crate) shareable: bool,
}

impl Context<'_> {
    /// Plans and commits. The answer, and the place of the last entry; none where nothing was to be
    /// recorded.
    pub(crate) fn decide<T>(
        &self,
        ground: &Ground,
        plan: impl Fn(&Reader<'_>, Timestamp) -> Result<Plan<T>, Refusal>,
    ) -> Result<(T, Option<u64>), Refusal> {
        let called = self.called()?;
        let agent = called.map(|it| &it.agent.handle);
        let store = &self.engine.store;
        let world = self.engine.world.now();
        let plan = |it: &Reader<'_>, now| {
            let Plan { entries, answer } = plan(it, now)?;
            // First, since the answer tells of the last.
            let mut all = ended_risks(it, world, &entries)?;
            all.extend(entries);
            Ok::<_, Refusal>(Plan {
                entries: all,
                answer,
            })
        };
        let (planned, head) = store.read::<_, Refusal>(|it| {
            let now = it.time(world)?;
            Ok((plan(it, now)?, it.head()?))
        })?;
        if planned.entries.is_empty() {
            return Ok((planned.answer, None));
        }
        let hits = self.engine.take_hits();
        let done = store.write::<_, Refusal>(world, |it| {
            let planned = match it.head()? == head {
                true => planned,
                false => plan(it, it.now)?,
            };
            let mut entries = books(it, ground, called, &hits)?;
            entries.extend(planned.entries);
            let seq = record(it, ground.project, agent, &entries)?;
            Ok((planned.answer, seq))
        });
        match done {
            Ok(done) => {
                self.engine.ring();
                Ok(done)
            }
            Err(refusal) => {
                self.engine.count_hits(hits);
                Err(refusal)
            }
        }
    }

    /// How often an agent may store or close anything; the user may always.
    pub(crate) fn admit(&self, it: &Reader<'_>) -> Result<(), Refusal> {
        let Some(agent) = self.agent()? else {
            return Ok(());
        };
        let limits = &self.engine.config.limits.rate;
        // The count cannot exceed the number of journal entries.
        if it.head()? < u64::from(limits.per_minute.min(limits.per_hour)) {
            return Ok(());
        }
        let now = self.engine.world.now();
        let count = |seconds| it.count_by_agent(&agent.handle, since(now, seconds), now);
        engram_gateway::admit_write(limits, count(60)?, count(3_600)?)
    }

    /// Who is said to have done what this caller does: the name that is `given` with it, else the
    /// agent's label, else the user.
    pub(crate) fn speaker(&self, given: Option<&str>) -> Result<String, Refusal> {
        Ok(match self.agent()? {
            None => given.unwrap_or("user").to_owned(),
            Some(agent) => named(given.unwrap_or(&agent.label)),
        })
    }
}

/// What the journal has to say before: where the project is, who calls, and what queries returned
/// since the last write. Asking never waits for the disk; its figures ride on a write that happens
/// anyway.
fn books(
    it: &Writer<'_>,
    ground: &Ground,
    called: Option<&Called>,
    hits: &[EngramId],
) -> Result<Vec<Planned>, Refusal> {
    let mut books = Vec::new();
    // Another process may have said so meanwhile.
    if let Some(located) = &ground.located
        && it.project_at(&located.common_dir)? != Some(ground.project)
    {
        books.push(Operation::Located(located.clone()));
    }
    books.extend(ground.admitted.clone().map(Operation::Admitted));
    if let Some(called) = called {
        let (known, turn) = (it.agent(&called.agent.handle)?, called.turn(it)?);
        if known.is_none_or(|known| known.turn != turn) {
            books.push(Operation::Joined(Box::new(Agent {
                project: ground.project,
                turn,
                ..called.agent.clone()
            })));
        }
    }
    if !hits.is_empty() {
        books.push(Operation::Counted(counted(hits)));
    }
    let planned = books.into_iter().map(|operation| Planned {
        operation,
        by: String::new(),
        shareable: false,
    });
    Ok(planned.collect())
}

/// How often each is named.
fn counted(hits: &[EngramId]) -> Vec<(EngramId, u64)> {
    let mut counts = std::collections::BTreeMap::<EngramId, u64>::new();
    for id in hits {
        *counts.entry(*id).or_default() += 1;
    }
    counts.into_iter().collect()
}

fn record(
    it: &Writer<'_>,
    project: ProjectId,
    agent: Option<&AgentId>,
    entries: &[Planned],
) -> Result<Option<u64>, Refusal> {
    let mut last = None;
    for entry in entries {
        last = Some(it.record(&NewEntry {
            project,
            shareable: entry.shareable,
            agent,
            by: &entry.by,
            operation: &entry.operation,
        })?);
    }
    Ok(last)
}

impl Engine {
    /// Counts what a query returned; stored with the next write.
    pub(crate) fn count_hits(&self, ids: impl IntoIterator<Item = EngramId>) {
        let mut hits = self.hits.lock().unwrap_or_else(|it| it.into_inner());
        hits.extend(ids);
    }

    /// Stores what was counted so far, without waiting for a write that happens anyway.
    pub(crate) fn store_hits(&self, project: ProjectId) -> Result<(), Refusal> {
        let hits = self.take_hits();
        let counted = Planned {
            operation: Operation::Counted(counted(&hits)),
            by: String::new(),
            shareable: false,
        };
        let done = self.store.write::<_, Refusal>(self.world.now(), |it| {
            record(it, project, None, std::slice::from_ref(&counted))
        });
        match done {
            Ok(_) => {
                self.ring();
                Ok(())
            }
            Err(refusal) => {
                self.count_hits(hits);
                Err(refusal)
            }
        }
    }

    pub(crate) fn take_hits(&self) -> Vec<EngramId> {
        std::mem::take(&mut *self.hits.lock().unwrap_or_else(|it| it.into_inner()))
    }
}
