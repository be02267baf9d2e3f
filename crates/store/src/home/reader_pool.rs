//! A pool of connections for reading, so that a long read blocks nobody else.

use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;

use crate::{Result, until::obey_limit};

/// The most connections at once. Further readers wait for one of them.
const MAX_READERS: usize = 8;
/// How many connections stay open while nobody reads; each has its own cache.
const KEPT: usize = 2;

pub(super) struct ReaderPool {
    open: Box<dyn Fn() -> Result<Connection> + Send + Sync>,
    places: [Mutex<Option<Connection>>; MAX_READERS],
    most: usize,
    kept: usize,
}

impl ReaderPool {
    pub(super) fn new(open: impl Fn() -> Result<Connection> + Send + Sync + 'static) -> Self {
        Self {
            open: Box::new(open),
            places: std::array::from_fn(|_| Mutex::new(None)),
            most: MAX_READERS,
            kept: KEPT,
        }
    }

    /// A pool whose readers take turns: it has one connection at a time, and none between reads.
    pub(super) fn taking_turns(
        open: impl Fn() -> Result<Connection> + Send + Sync + 'static,
    ) -> Self {
        Self {
            most: 1,
            kept: 0,
            ..Self::new(open)
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
        if index >= self.kept {
            *place = None;
        }
        answer
    }

    /// Closes all connections; the next read opens one.
    pub(super) fn close(&self) {
        for place in &self.places {
            *place.lock() = None;
        }
    }

    // A panic elsewhere leaves a connection usable: SQLite rolled its transaction back.
    fn free(&self) -> (usize, MutexGuard<'_, Option<Connection>>) {
        let free = self
            .places
            .iter()
            .take(self.most)
            .enumerate()
            .find_map(|(index, it)| Some((index, it.try_lock()?)));
        let last = self.most - 1;
        free.unwrap_or_else(|| (last, self.places[last].lock()))
    }
}
