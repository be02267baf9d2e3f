//! The queue of writers: one file that every process locks before it writes.

use std::{
    fs::{File, TryLockError},
    path::Path,
    time::{Duration, Instant},
};

use rand::Rng;

use super::PATIENCE;
use crate::{
    Result, StoreError,
    files::{make_private_folder, open_private},
};

/// The name of the file at which writers queue.
pub(super) const QUEUE: &str = "write.lock";

/// Opens the queue of the writers of all processes.
pub(super) fn open_queue(home: &Path) -> Result<File> {
    let lock = home.join(QUEUE);
    open_private(&lock).map_err(|e| StoreError::io(&lock, e))
}

/// A turn in the queue of the writers of all processes; released when dropped, or when its process
/// dies.
pub(super) struct WriteLock<'a>(&'a File);

impl<'a> WriteLock<'a> {
    pub(super) fn take(file: &'a File, patience: Duration) -> Result<Self> {
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => pause(),
                Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(patience)),
                Err(TryLockError::Error(error)) => return Err(StoreError::io(QUEUE, error)),
            }
        }
    }
}

impl Drop for WriteLock<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Changes files of a home besides its database, in the queue of its writers.
pub fn write_in_turn<T>(home: &Path, change: impl FnOnce() -> T) -> Result<T> {
    make_private_folder(home).map_err(|e| StoreError::io(home, e))?;
    let queue = open_queue(home)?;
    let _turn = WriteLock::take(&queue, PATIENCE)?;
    Ok(change())
}

/// Waits a short, random time for another process, so that no waiter is always the last. Randomness
/// is not a parameter here, because it decides only the order of waiters.
#[expect(
    clippy::disallowed_methods,
    reason = "see above; a file lock has no event to wait for"
)]
pub(crate) fn pause() {
    let micros = rand::rng().random_range(300..3_000);
    std::thread::sleep(Duration::from_micros(micros));
}
