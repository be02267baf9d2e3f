//! Time in tests.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use jiff::Timestamp;

/// The time at which a test begins by default.
pub const BEGIN: &str = "2026-01-08T12:00:00Z";

/// A clock that stands still until it is turned; copies share its time.
#[derive(Clone)]
pub struct Clock(Arc<AtomicI64>);

impl Default for Clock {
    fn default() -> Self {
        Self::at(BEGIN)
    }
}

impl Clock {
    /// Makes a clock that shows this time, in RFC 3339.
    pub fn at(time: &str) -> Self {
        let start: Timestamp = time.parse().unwrap();
        Self(Arc::new(AtomicI64::new(start.as_microsecond())))
    }

    /// Turns the clock forward by this many seconds, or back.
    pub fn turn(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    /// Returns the time that it shows.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}
