//! A pool of connections for reading, so that a long read blocks nobody else.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::Connection;

use crate::{Result, until::obey_limit};

/// The most connections at once. Further readers wait for one of them.
const MOST: usize = 8;
/// How many connections stay open while nobody reads; each has its own cache.
const KEPT: usize = 2;

pub(super) struct ReaderPool {
    open: Box<dyn Fn() -> Result<Connection> + Send + Sync>,
    places: [Mutex<Option<Connection>>; MOST],
}

impl ReaderPool {
    pub(super) fn new(open: impl Fn() -> Result<Connection> + Send + Sync + 'static) -> Self {
        Self {
            open: Box::new(open),
            places: std::array::from_fn(|_| Mutex::new(None)),
        }
    }

    /// Reads with a connection that nobody else uses meanwhile. Never call this within another
    /// read, because it could wait for itself.
    pub(super) fn with<T, E: From<crate::StoreError>>(
        &self,
        read: impl FnOnce(&mut Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let (index, mut place) = self.free();
        let connection = match &mut *place {
            Some(open) => open,
            none => {
                let opened = none.insert((self.open)()?);
                obey_limit(opened)?;
                opened
            }
        };
        let answer = read(connection);
        if index >= KEPT {
            *place = None;
        }
        answer
    }

    /// Closes all connections; the next read opens one.
    pub(super) fn close(&self) {
        for place in &self.places {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    // A panic elsewhere leaves a connection usable: SQLite rolled its transaction back.
    fn free(&self) -> (usize, MutexGuard<'_, Option<Connection>>) {
        let free = self
            .places
            .iter()
            .enumerate()
            .find_map(|(index, it)| match it.try_lock() {
                Ok(place) => Some((index, place)),
                Err(TryLockError::Poisoned(place)) => Some((index, place.into_inner())),
                Err(TryLockError::WouldBlock) => None,
            });
        let last = || self.places[MOST - 1].lock();
        free.unwrap_or_else(|| (MOST - 1, last().unwrap_or_else(PoisonError::into_inner)))
    }
}
