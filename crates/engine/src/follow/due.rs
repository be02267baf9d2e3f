//! Due comparisons: versions that could not be compared with all others when they were stored, or
//! that contradict more than one write records. Long-lived processes compare them in the
//! background, a few at a time. A command that runs once makes some of the comparisons before it
//! ends. If nothing is due, nothing wakes up.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Weak,
        mpsc::{Receiver, Sender},
    },
    time::Duration,
};

use crate::{
    Engine,
    conflicts::{
        findings::{self, CompareOptions},
        risks::is_report,
    },
    context::{ActiveProject, Context, names::ENGINE, plan::Plan},
    decide,
    follow::{BATCH, Follower, Woken, pause_for},
};
use engram_model::{Operation, Refusal};
use engram_store::{Due, Reader};

/// How many steps are taken per waking; each compares one version with a few hundred others.
const AT_ONCE: usize = 64;
/// How long a command that runs once works on due comparisons.
const ON_LEAVING: Duration = Duration::from_secs(2);

/// The follower that makes due comparisons.
pub(crate) struct DueFollower {
    own: Sender<Woken>,
    /// Versions that could not be compared, and the end of the journal at that time. They are
    /// retried once something was written.
    failed: BTreeMap<u64, u64>,
}

impl Follower for DueFollower {
    const NAME: &'static str = "due";
    type Patience = ();

    fn begin(engine: &Arc<Engine>, own: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        let mut follower = Self {
            own: own.clone(),
            failed: BTreeMap::new(),
        };
        follower.wake(engine, Vec::new())?;
        Ok(Some(follower))
    }

    fn collect_messages(
        _: Option<&Self>,
        _: &Weak<Engine>,
        first: Woken,
        woken: &Receiver<Woken>,
        (): &mut (),
    ) -> Vec<Woken> {
        pause_for(BATCH);
        std::iter::once(first).chain(woken.try_iter()).collect()
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        let cx = Context::for_engine(engine);
        if !compare_due(&cx, &mut self.failed, &|| false)? {
            let _ = self.own.send(Woken::Bell);
        }
        Ok(())
    }
}

/// Makes some due comparisons, for a command that runs once.
pub(crate) fn compare_before_exit(engine: &Engine) -> Result<(), Refusal> {
    let stop = engine.world.stop_after(ON_LEAVING, None);
    let mut failed = BTreeMap::new();
    let own = Context::for_engine(engine);
    while !compare_due(&own, &mut failed, &|| stop.is_over())? {
        if stop.is_over() {
            break;
        }
    }
    Ok(())
}

/// The next versions to compare, without those that failed when the journal already ended here.
fn next_due(
    tx: &Reader<'_>,
    failed: &BTreeMap<u64, u64>,
    head: u64,
) -> Result<Vec<(u64, Due)>, Refusal> {
    let mut found = Vec::new();
    let mut after = 0;
    while found.len() < AT_ONCE {
        let page = tx.next_due(after, AT_ONCE)?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        let is_fresh = |(seq, _): &(u64, Due)| failed.get(seq) != Some(&head);
        found.extend(page.into_iter().filter(is_fresh));
    }
    found.truncate(AT_ONCE);
    Ok(found)
}

/// The result of a step.
enum Progress {
    /// The version was compared with everything, or no longer holds.
    Done,
    /// More comparisons are due.
    On(Due),
    /// The remaining comparisons cannot be made, because a version cannot be read.
    Stuck,
    /// Something ended meanwhile: the version is compared again.
    Later,
}

/// Makes the next due comparisons; returns whether nothing is left that can be done now.
fn compare_due(
    cx: &Context<'_>,
    failed: &mut BTreeMap<u64, u64>,
    is_over: &dyn Fn() -> bool,
) -> Result<bool, Refusal> {
    let store = &cx.engine.store;
    let (page, head) = store.read::<_, Refusal>(|tx| {
        let head = tx.head()?;
        Ok((next_due(tx, failed, head)?, head))
    })?;
    if page.is_empty() {
        return Ok(true);
    }
    // The index finds the versions that share a key with them.
    if let Err(why) = cx.engine.update_index_to(head) {
        tracing::info!(
            %why,
            "claims are compared later: the index is not up to date"
        );
        return Ok(true);
    }
    let mut left = AT_ONCE;
    for (seq, mut due) in page {
        loop {
            if left == 0 || is_over() {
                return Ok(false);
            }
            left -= 1;
            match compare_step(cx, seq, due)? {
                Progress::Done => break,
                Progress::On(next) => due = next,
                Progress::Stuck => {
                    failed.insert(seq, head);
                    break;
                }
                Progress::Later => return Ok(false),
            }
        }
    }
    Ok(false)
}

/// Records the conflicts of one version that are not known yet. The version corroborates no other.
fn compare_step(cx: &Context<'_>, seq: u64, due: Due) -> Result<Progress, Refusal> {
    let store = &cx.engine.store;
    let known = match store.read(|tx| tx.engram_at(seq)) {
        Err(error) if error.is_of_one_record() => {
            tracing::warn!(%error, seq, "cannot compare a claim that cannot be read");
            return Ok(Progress::Stuck);
        }
        known => known?,
    };
    // A report of a conflict is compared with nothing.
    let is_told = known
        .as_ref()
        .map_or(Ok(false), |known| store.read(|tx| is_report(tx, known)))?;
    let Some(known) = known.filter(|_| !is_told) else {
        store.write(cx.engine.world.now(), |tx| tx.drop_due(seq))?;
        return Ok(Progress::Done);
    };
    let clock = cx.engine.world.now();
    let (left, raised) =
        decide::plan_and_commit(cx, &ActiveProject::of(known.project), |tx, now| {
            let mut entries = Vec::new();
            let mut left = None;
            if let Some(engram) = tx.engram_at(seq)?.filter(|engram| engram.holds_now(clock)) {
                let options = CompareOptions {
                    due: Some(due),
                    ..CompareOptions::of(now, ENGINE, &[])
                };
                let compared = findings::compare_version(cx, tx, &engram, &options);
                left = compared.due;
                entries = compared.entries;
                entries.retain(|entry| !matches!(entry.operation, Operation::Corroborated(_)));
            }
            let raised = entries.len();
            Ok(Plan::of(entries, (left, raised)))
        })?
        .answer;
    let left = left.map(|left| Due {
        told: left.told.min(due.told),
        of_runs: due.of_runs,
        ..left
    });
    let is_noted = store.write(cx.engine.world.now(), |tx| {
        tx.replace_due(known.project, seq, due, left)
    })?;
    if !is_noted {
        return Ok(Progress::Later);
    }
    Ok(match left.filter(|left| left.pairs > 0) {
        None => Progress::Done,
        // The raised conflicts are known now, so the next step finds others.
        Some(left) if raised > 0 || left.below != due.below => Progress::On(left),
        Some(_) => Progress::Stuck,
    })
}
