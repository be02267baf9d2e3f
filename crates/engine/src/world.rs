//! Time and chance, as parameters: the same seed gives the same run.

use std::sync::{Arc, Mutex};

use engram_pointers::Stop;
use jiff::{SignedDuration, Timestamp};
use rand::{RngCore, SeedableRng};
use ulid::Ulid;

type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What the engine takes from outside besides requests: the time, and new ids.
pub struct World {
    now: Now,
    chance: Mutex<Box<dyn RngCore + Send>>,
}

impl World {
    /// The clock on the wall and the randomness of the machine.
    #[expect(clippy::disallowed_methods, reason = "the one place they come from")]
    pub fn system() -> Self {
        Self {
            now: Arc::new(Timestamp::now),
            chance: Mutex::new(Box::new(rand::rngs::StdRng::from_os_rng())),
        }
    }

    /// A clock of the caller's and chance from a seed.
    pub fn seeded(seed: u64, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            now: Arc::new(now),
            chance: Mutex::new(Box::new(rand::rngs::StdRng::seed_from_u64(seed))),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Ends work that takes longer than this from now on.
    pub(crate) fn stop_after(&self, patience: SignedDuration) -> Stop {
        let (now, begin) = (Arc::clone(&self.now), self.now());
        Stop::when(move || now().duration_since(begin) > patience)
    }

    /// A new id, sortable by time to the millisecond.
    pub(crate) fn id(&self) -> Ulid {
        let mut chance = self.chance.lock().unwrap_or_else(|it| it.into_inner());
        let random = (u128::from(chance.next_u64()) << 64) | u128::from(chance.next_u64());
        Ulid::from_parts(self.now().as_millisecond().max(0) as u64, random)
    }
}
