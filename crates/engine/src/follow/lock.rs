//! The locks by which processes elect one of them that follows.

use std::{
    collections::BTreeSet,
    fs::{File, TryLockError},
    io,
    path::Path,
    sync::{Arc, mpsc::Sender},
};

use engram_store::open_private;
use parking_lot::Mutex;

use crate::{
    Engine,
    follow::{Follower, Woken, spawn},
};

/// The followers for whose lock a thread of this process waits.
pub(crate) type Awaited = Arc<Mutex<BTreeSet<&'static str>>>;

/// Takes the lock of a follower. If another process has it, sends a bell when that process ends.
pub(super) fn take_lock<F: Follower>(
    engine: &Engine,
    path: &Path,
    own: &Sender<Woken>,
) -> io::Result<Option<File>> {
    let lock = open_private(path)?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {
            wait_for_lock::<F>(engine, lock, own);
            Ok(None)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits for this lock, on one thread at most. Otherwise, when the process that has it ends, nobody
/// would follow until the next write.
fn wait_for_lock<F: Follower>(engine: &Engine, lock: File, own: &Sender<Woken>) {
    if !engine.succeeding.lock().insert(F::NAME) {
        return;
    }
    let (waits, own) = (Arc::clone(&engine.succeeding), own.clone());
    let waiting = spawn("successor", move || {
        let free = lock.lock();
        drop(lock);
        waits.lock().remove(F::NAME);
        if free.is_ok() {
            // The receiver may be gone.
            let _ = own.send(Woken::Bell);
        }
    });
    if let Err(error) = waiting {
        engine.succeeding.lock().remove(F::NAME);
        tracing::warn!(%error, follower = F::NAME, "cannot wait for the process that follows");
    }
}
