//! Claims that were stored before Engram compared any are compared once, behind the answers, a few at a time.
//! How far that is, is a cursor; once all are done there is nothing to wake for.

use std::sync::{
    Arc, Weak,
    mpsc::{Receiver, Sender},
};

use engram_model::{Operation, Refusal};

use crate::{
    Engine,
    context::{Context, Ground},
    decide::Plan,
    findings::{ENGINE, Telling},
    follow::{BATCH, Follower, Woken, gather},
};

/// Its row of the table `follower`.
const NAME: &str = "earlier";
/// Versions of one waking.
const AT_ONCE: usize = 64;
/// The cursor of a home in which all are compared: what comes is compared when it is stored.
const ALL: u64 = i64::MAX as u64;

/// Compares what was stored before.
pub(crate) struct EarlierFollower {
    own: Sender<Woken>,
}

impl Follower for EarlierFollower {
    const NAME: &'static str = NAME;
    type Patience = ();

    fn begin(engine: &Arc<Engine>, own: &Sender<Woken>) -> Result<Option<Self>, Refusal> {
        let mut it = Self { own: own.clone() };
        it.wake(engine, Vec::new())?;
        Ok(Some(it))
    }

    fn gather(
        _: Option<&Self>,
        _: &Weak<Engine>,
        first: Woken,
        woken: &Receiver<Woken>,
        (): &mut (),
    ) -> Vec<Woken> {
        gather(BATCH);
        std::iter::once(first).chain(woken.try_iter()).collect()
    }

    fn wake(&mut self, engine: &Engine, _: Vec<Woken>) -> Result<(), Refusal> {
        if !Context::own(engine).compare_earlier()? {
            let _ = self.own.send(Woken::Bell);
        }
        Ok(())
    }
}

impl Context<'_> {
    /// Compares the next few versions that hold with all others; whether none is left.
    fn compare_earlier(&self) -> Result<bool, Refusal> {
        let store = &self.engine.store;
        let (after, head) = store.read::<_, Refusal>(|it| Ok((it.cursor(NAME)?, it.head()?)))?;
        if after >= ALL {
            return Ok(true);
        }
        let next = store.read::<_, Refusal>(|it| Ok(it.open_after(after, AT_ONCE)?))?;
        // What shares a key with them is found by the index.
        if !next.is_empty()
            && let Err(why) = self.engine.catch_up_to(head)
        {
            tracing::info!(why, "earlier claims are compared later");
            return Ok(true);
        }
        for seq in &next {
            self.compare_version(*seq)?;
        }
        let done = next.last().copied().unwrap_or(ALL);
        store.write::<_, Refusal>(
            self.engine.world.now(),
            |it| Ok(it.keep_cursor(NAME, done)?),
        )?;
        Ok(done == ALL)
    }

    /// Records the conflicts of one version that are not known yet. It is no new voice of anything.
    fn compare_version(&self, seq: u64) -> Result<(), Refusal> {
        let store = &self.engine.store;
        let Some(known) = store.read::<_, Refusal>(|it| Ok(it.engram_at(seq)?))? else {
            return Ok(());
        };
        let clock = self.engine.world.now();
        self.decide(&Ground::of(known.project), |it, now| {
            let mut entries = Vec::new();
            if let Some(engram) = it.engram_at(seq)?.filter(|it| it.holds_now(clock)) {
                let telling = Telling {
                    now,
                    by: ENGINE,
                    ending: &[],
                    before: &[],
                    of: None,
                };
                entries = self.compare(it, &engram, &telling).entries;
                entries.retain(|it| !matches!(it.operation, Operation::Corroborated(_)));
            }
            Ok(Plan {
                entries,
                answer: (),
            })
        })?;
        Ok(())
    }
}
