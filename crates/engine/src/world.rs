//! Time and randomness as parameters: the same seed gives the same run.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use engram_pointers::Stop;
use jiff::Timestamp;
use parking_lot::Mutex;
use rand::{RngCore, SeedableRng};
use ulid::Ulid;

type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;
type Stopwatch = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Reports whether the caller has gone. May be called at any time, from any thread.
pub(crate) type Gone = Arc<dyn Fn() -> bool + Send + Sync>;

/// The inputs of the engine besides requests: time and new ids.
pub struct World {
    now: Now,
    /// Elapsed time, which setting the clock does not change.
    watch: Stopwatch,
    chance: Mutex<Box<dyn RngCore + Send>>,
}

impl World {
    /// The clock and the randomness of the machine.
    #[expect(clippy::disallowed_methods, reason = "the one place they come from")]
    pub fn system() -> Self {
        let begin = Instant::now();
        Self {
            now: Arc::new(Timestamp::now),
            watch: Arc::new(move || begin.elapsed()),
            chance: Mutex::new(Box::new(rand::rngs::StdRng::from_os_rng())),
        }
    }

    /// The caller's clock, and randomness from a seed.
    pub fn seeded(seed: u64, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let now: Now = Arc::new(now);
        let clock = Arc::clone(&now);
        Self {
            now,
            watch: Arc::new(move || Timestamp::UNIX_EPOCH.duration_until(clock()).unsigned_abs()),
            chance: Mutex::new(Box::new(rand::rngs::StdRng::seed_from_u64(seed))),
        }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Stops work that takes longer than this from now on, or that nobody waits for any more.
    pub(crate) fn stop_after(&self, patience: Duration, gone: Option<Gone>) -> Stop {
        let watch = Arc::clone(&self.watch);
        let end = watch().saturating_add(patience);
        Stop::when(move || watch() > end || gone.as_ref().is_some_and(|it| it()))
    }

    /// Returns 256 random bits as hex, which nobody can guess.
    pub(crate) fn new_secret(&self) -> String {
        let mut bytes = [0; 32];
        let mut chance = self.chance.lock();
        chance.fill_bytes(&mut bytes);
        hex::encode(bytes)
    }

    /// A new id, sortable by time to the millisecond.
    pub(crate) fn new_id(&self) -> Ulid {
        let mut chance = self.chance.lock();
        let random = (u128::from(chance.next_u64()) << 64) | u128::from(chance.next_u64());
        Ulid::from_parts(self.now().as_millisecond().max(0) as u64, random)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// A time limit is measured by elapsed time, because the clock may be set back.
    #[test]
    fn a_clock_that_is_set_back_lifts_no_bound() {
        let (clock, passed) = (
            Arc::new(AtomicI64::new(1_800_000_000)),
            Arc::new(AtomicI64::new(0)),
        );
        let (at, watched) = (Arc::clone(&clock), Arc::clone(&passed));
        let world = World {
            now: Arc::new(move || {
                Timestamp::from_second(at.load(Ordering::Relaxed)).unwrap_or_default()
            }),
            watch: Arc::new(move || {
                Duration::from_secs(watched.load(Ordering::Relaxed).unsigned_abs())
            }),
            ..World::system()
        };
        let stop = world.stop_after(Duration::from_secs(5), None);
        clock.fetch_sub(86_400, Ordering::Relaxed);
        assert!(!stop.is_over());
        passed.store(6, Ordering::Relaxed);
        assert!(stop.is_over());
        assert!(world.now() < Timestamp::from_second(1_800_000_000).unwrap());
    }
}
