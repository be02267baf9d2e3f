//! Plans, then commits once. A request is planned on a snapshot, outside the write lock, and
//! planned again inside it only if the journal has changed in the meantime. Then everything is
//! recorded in one transaction, or nothing. What depends on the recorded entries follows in steps
//! of the same transaction.

use crate::{
    Engine,
    conflicts::risks::{self, Aftermath},
    context::{
        ActiveProject, Context,
        caller::CallingAgent,
        plan::{DueOf, Plan, Planned},
    },
};
use engram_model::{
    AgentId, JournalTime, Operation, ProjectId, Refusal,
    operation::{Agent, Served},
};
use engram_store::{NewEntry, Reader, Writer};

/// What was decided, and where it was recorded.
pub(crate) struct Decided<T> {
    pub(crate) answer: T,
    /// The places of the entries that the answer is about, in the order of the plan.
    pub(crate) seqs: Vec<u64>,
}

impl<T> Decided<T> {
    /// The place of the entry that the answer is about.
    ///
    /// # Errors
    /// `INTERNAL` if the plan marks no entry as its answer.
    pub(crate) fn seq(&self) -> Result<u64, Refusal> {
        let seq = self.seqs.first().copied();
        seq.ok_or_else(|| Refusal::bug("no entry is marked as the answer"))
    }

    /// Like [`Self::seq`], or `known` if nothing was recorded for the answer.
    pub(crate) fn seq_or(&self, known: u64) -> u64 {
        self.seqs.first().copied().unwrap_or(known)
    }
}

/// Plans entries that follow others of the same transaction, from the answer and from what was
/// recorded so far.
pub(crate) type FollowUp<'s, T> =
    Box<dyn Fn(&Reader<'_>, JournalTime, &T) -> Result<Vec<Planned>, Refusal> + 's>;

/// Plans and commits.
pub(crate) fn plan_and_commit<T>(
    cx: &Context<'_>,
    active: &ActiveProject,
    plan: impl Fn(&Reader<'_>, JournalTime) -> Result<Plan<T>, Refusal>,
) -> Result<Decided<T>, Refusal> {
    plan_and_commit_then(cx, active, plan, &[])
}

/// Like [`plan_and_commit`], with steps under the write lock. A step that is refused leaves nothing
/// recorded.
pub(crate) fn plan_and_commit_then<T>(
    cx: &Context<'_>,
    active: &ActiveProject,
    plan: impl Fn(&Reader<'_>, JournalTime) -> Result<Plan<T>, Refusal>,
    steps: &[FollowUp<'_, T>],
) -> Result<Decided<T>, Refusal> {
    let called = cx.calling_agent()?;
    let agent = called.map(|it| &it.agent.handle);
    let store = &cx.engine.store;
    let clock = cx.engine.world.now();
    let plan = |tx: &Reader<'_>, now| with_consequences(cx, tx, now, plan(tx, now)?);
    let (planned, head) = store.read::<_, Refusal>(|tx| {
        let now = tx.time(clock)?;
        Ok((plan(tx, now)?, tx.head()?))
    })?;
    if planned.0.entries.is_empty() && steps.is_empty() {
        return Ok(Decided {
            answer: planned.0.answer,
            seqs: Vec::new(),
        });
    }
    // Followers record results that agents may not see, so their entries carry no traces of what
    // agents did.
    let served = if cx.is_of_engine() {
        Vec::new()
    } else {
        cx.engine.caches.served.take()
    };
    let done = store.write::<_, Refusal>(clock, |tx| {
        let (planned, mut again) = if tx.head()? == head {
            planned
        } else {
            plan(tx, tx.now)?
        };
        let mut entries = bookkeeping_entries(tx, active, called, &served)?;
        entries.extend(planned.entries);
        let mut places = record_entries(tx, active.project, agent, &entries)?;
        for step in steps {
            let following = Plan::of(step(tx, tx.now, &planned.answer)?, ());
            let (following, more) = with_consequences(cx, tx, tx.now, following)?;
            places.extend(record_entries(
                tx,
                active.project,
                agent,
                &following.entries,
            )?);
            entries.extend(following.entries);
            again.extend(more);
        }
        for version in again {
            tx.compare_again(active.project, version)?;
        }
        Ok((planned.answer, entries, places))
    });
    match done {
        Ok((answer, entries, places)) => {
            cx.engine.ring();
            if let Some(last) = places.last() {
                let operations = entries.iter().map(|it| &it.operation);
                let claims = &cx.engine.caches.claims;
                claims.add_recorded(active.project, *last, operations);
            }
            let placed = entries.iter().zip(places);
            let seqs = placed.filter(|it| it.0.is_answer).map(|it| it.1).collect();
            Ok(Decided { answer, seqs })
        }
        Err(refusal) => {
            cx.engine.caches.served.put_back(served);
            Err(refusal)
        }
    }
}

/// A plan, preceded by its consequences for reports; and the versions to compare again.
fn with_consequences<T>(
    cx: &Context<'_>,
    tx: &Reader<'_>,
    now: JournalTime,
    mut planned: Plan<T>,
) -> Result<(Plan<T>, Vec<u64>), Refusal> {
    let Aftermath {
        entries: mut all,
        again,
    } = risks::plan_consequences(cx, tx, now, &planned.entries)?;
    all.append(&mut planned.entries);
    planned.entries = all;
    Ok((planned, again))
}

/// Records what the engine noticed by itself: entries without an author that never leave this
/// machine. `operations` may also write tables of followers, in the same transaction.
pub(crate) fn record_unplanned(
    engine: &Engine,
    project: ProjectId,
    agent: Option<&AgentId>,
    operations: impl FnOnce(&Writer<'_>) -> Result<Vec<Operation>, Refusal>,
) -> Result<(), Refusal> {
    let places = engine.store.write::<_, Refusal>(engine.world.now(), |tx| {
        let entries = operations(tx)?.into_iter().map(unsigned);
        record_entries(tx, project, agent, &entries.collect::<Vec<_>>())
    })?;
    if !places.is_empty() {
        engine.ring();
    }
    Ok(())
}

/// The entries that come before the planned ones: the project's location, the caller, and what
/// agents were shown since the last write. Reads never wait for the disk; they are recorded with
/// the next write.
fn bookkeeping_entries(
    tx: &Writer<'_>,
    active: &ActiveProject,
    called: Option<&CallingAgent>,
    served: &[Served],
) -> Result<Vec<Planned>, Refusal> {
    let mut books = Vec::new();
    // Another process may have recorded this meanwhile.
    if let Some(located) = &active.located
        && tx.projects().id_at(&located.common_dir)? != Some(active.project)
    {
        books.push(Operation::Located(located.clone()));
    }
    books.extend(active.admitted.clone().map(Operation::Admitted));
    if let Some(called) = called {
        let known = tx.agent(&called.agent.handle)?;
        let turn = called.turn_from(known.as_ref().map(|it| &it.turn));
        if known.is_none_or(|known| known.turn != turn) {
            books.push(Operation::Joined(Box::new(Agent {
                project: active.project,
                turn,
                ..called.agent.clone()
            })));
        }
    }
    books.extend(served.iter().cloned().map(Operation::Served));
    Ok(books.into_iter().map(unsigned).collect())
}

/// A private entry without an author.
fn unsigned(operation: Operation) -> Planned {
    Planned::private(operation, "")
}

fn record_entries(
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
        match entry.due {
            Some(DueOf::Own(due)) => tx.keep_due(project, own, due)?,
            Some(DueOf::At(seq, due)) => tx.keep_due(project, seq, due)?,
            None => {}
        }
        places.push(own);
    }
    Ok(places)
}
