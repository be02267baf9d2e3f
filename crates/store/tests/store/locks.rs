//! Waiting for others, and giving up with a clear error.

use std::{
    fs::File,
    sync::mpsc::{RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use engram_store::{Doorbell, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::fixture::{code, head, open, open_impatiently, put};

/// Far beyond what anything takes here.
const HANGS: Duration = Duration::from_secs(60);

/// Another process holds the queue of writers, or SQLite's own lock.
enum Holder {
    Queue(File),
    Database(Connection),
}

impl Holder {
    fn both(home: &TempDir) -> [Self; 2] {
        let queue = File::open(home.path().join("write.lock")).unwrap();
        queue.lock().unwrap();
        let database = Connection::open(home.path().join("engram.db")).unwrap();
        [Self::Queue(queue), Self::Database(database)]
    }

    fn take(&self) {
        match self {
            Self::Queue(file) => file.lock().unwrap(),
            Self::Database(connection) => connection.execute_batch("BEGIN IMMEDIATE").unwrap(),
        }
    }

    fn let_go(&self) {
        match self {
            Self::Queue(file) => file.unlock().unwrap(),
            Self::Database(connection) => connection.execute_batch("ROLLBACK").unwrap(),
        }
    }
}

#[test]
fn a_lock_that_stays_is_reported_and_one_that_goes_is_waited_for() {
    let home = TempDir::new().unwrap();
    put(&open(home.path()), 1, "one").unwrap();
    let holders = Holder::both(&home);
    holders[0].let_go();
    let mut number = 1;
    for holder in &holders {
        holder.take();
        // A home that is ready can still be opened and read.
        let store = open_impatiently(home.path()).unwrap();
        let before = head(&store);
        let start = Instant::now();
        assert_eq!(code(put(&store, 90, "never").unwrap_err()), "STORE_LOCKED");
        assert!(start.elapsed() >= Duration::from_millis(150), "it waited");
        assert_eq!(head(&store), before, "no partial write");

        let patient = open(home.path());
        let (say, said) = channel();
        number += 1;
        std::thread::scope(|scope| {
            scope.spawn(|| say.send(put(&patient, number, "patience")).unwrap());
            let early = said
                .recv_timeout(Duration::from_millis(100))
                .map(|it| it.is_ok());
            assert_eq!(early, Err(RecvTimeoutError::Timeout), "it waits");
            holder.let_go();
            let stored = said.recv_timeout(HANGS).unwrap();
            assert_eq!(stored.unwrap(), before + 1);
        });
        put(&store, 100 + number, "again").unwrap();
    }
}

/// Threads of one process and stores of one home queue like processes.
#[test]
fn many_writers_lose_nothing() {
    let home = TempDir::new().unwrap();
    let stores: Vec<_> = (0..4).map(|_| open(home.path())).collect();
    std::thread::scope(|scope| {
        for (at, store) in stores.iter().enumerate() {
            for thread in 0..2 {
                scope.spawn(move || {
                    for line in 0..25 {
                        let number = (at * 1_000 + thread * 100 + line) as u128;
                        put(store, number, &format!("claim {number}")).unwrap();
                    }
                });
            }
        }
    });
    assert_eq!(head(&stores[0]), 200);
    assert_eq!(stores[0].integrity().unwrap(), Vec::<String>::new());
}

/// A failing transaction leaves nothing, and the next writer succeeds.
#[test]
fn a_failed_write_is_undone() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    put(&store, 1, "one").unwrap();
    assert!(put(&store, 1, "the same id").is_err());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.write::<(), StoreError>(crate::fixture::now(), |_| panic!("in the middle"))
    }));
    assert!(panicked.is_err());
    assert_eq!(head(&store), 1);
    assert_eq!(put(&store, 2, "two").unwrap(), 2);
}

#[test]
fn a_ring_is_heard_by_another() {
    let home = TempDir::new().unwrap();
    let (ours, theirs) = (
        Doorbell::open(home.path()).unwrap(),
        Doorbell::open(home.path()).unwrap(),
    );
    let (say, said) = channel();
    let listener = theirs
        .listen(move || say.send(()).unwrap_or_default())
        .unwrap();
    for _ in 0..3 {
        ours.ring();
        said.recv_timeout(HANGS).expect("the bell");
        while said.recv_timeout(Duration::from_millis(20)).is_ok() {}
    }
    drop(listener);
    // One ring may be heard several times.
    let end = std::iter::repeat_with(|| said.recv_timeout(HANGS)).find(Result::is_err);
    assert_eq!(end, Some(Err(RecvTimeoutError::Disconnected)));
}
