//! One home: a folder with one database, that many processes read and write at once. Writers of all
//! processes queue; each reads and writes on one snapshot.

mod inodes;
mod open;
mod ours;
mod queue;
mod reader_pool;
mod recover;
mod schema;
mod vacant;

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use engram_model::JournalTime;
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use open::{OpenHome, WriteConnection, lock};
use ours::DatabaseState;
use queue::{WriteLock, open_queue};

use crate::{Result, StoreError};

pub use ours::is_home;
pub(crate) use queue::pause;
pub use recover::{Recovered, recover};
pub(crate) use schema::create_tables;
pub use vacant::Vacant;

/// The one file of a home that is the truth.
const DATABASE: &str = "engram.db";
/// What SQLite keeps beside it, as endings of its name.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How long a writer waits for its turn before it gives up: a turn takes milliseconds, so that a
/// hundred writers pass in this time, and the callers of MCP tools still wait for the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an erasure waits for whoever reads in the log.
const READING: Duration = Duration::from_secs(1);

/// One home: a folder with the database, the write lock, the doorbell and the index.
pub struct Store {
    home: PathBuf,
    patience: Duration,
    open: RwLock<Arc<OpenHome>>,
    /// How often it was opened anew.
    renewed: AtomicU64,
    /// Whether the log holds what was erased.
    log_is_due: AtomicBool,
}

impl Store {
    /// Opens or makes a home. `origin` is the identity that a new home gets.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Newer`] and [`StoreError::Half`] for what this build
    /// must not touch, and has not; a home that exists and cannot be written is opened for reading.
    pub fn open(home: &Path, origin: ulid::Ulid) -> Result<Self> {
        Self::open_patiently(home, origin, PATIENCE)
    }

    /// [`Store::open`], with writers that wait this long for their turn.
    pub fn open_patiently(home: &Path, origin: ulid::Ulid, patience: Duration) -> Result<Self> {
        Self::with(home, patience, OpenHome::new(home, origin, patience, true)?)
    }

    /// [`Store::open`] of a home that is there: where it has just been moved away, none is made.
    pub fn open_only(home: &Path, origin: ulid::Ulid) -> Result<Self> {
        Self::with(
            home,
            PATIENCE,
            OpenHome::new(home, origin, PATIENCE, false)?,
        )
    }

    fn with(home: &Path, patience: Duration, open: OpenHome) -> Result<Self> {
        Ok(Self {
            home: home.to_owned(),
            patience,
            open: RwLock::new(Arc::new(open)),
            renewed: AtomicU64::new(0),
            log_is_due: AtomicBool::new(false),
        })
    }

    /// Looks at what opening a home would refuse, and touches nothing.
    ///
    /// # Errors
    /// As [`Store::open`]'s; none where there is no home yet.
    pub fn look(home: &Path) -> Result<()> {
        let database = home.join(DATABASE);
        match ours::look(&database)? {
            DatabaseState::Nothing => Ok(()),
            DatabaseState::Ours => {
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
                ours::check(&Connection::open_with_flags(&database, flags)?, &database)
            }
        }
    }

    /// The folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.home.join(DATABASE)
    }

    /// The identity of this home; the first half of the identity of its journal entries.
    pub fn origin(&self) -> ulid::Ulid {
        self.opened().origin
    }

    /// Whether this home can be written.
    pub fn is_writable(&self) -> bool {
        self.opened().write.is_some()
    }

    fn opened(&self) -> Arc<OpenHome> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&open)
    }

    /// Whether the files that are open are those that lie in the home: it may have been deleted,
    /// moved, or replaced by another.
    pub fn is_here(&self) -> bool {
        self.opened().is_of(&self.home)
    }

    /// How often the home was opened anew: what was read of it before may be another's.
    pub fn renewed(&self) -> u64 {
        self.renewed.load(Ordering::Acquire)
    }

    /// Opens what lies in the home now, unless that is what is open.
    ///
    /// # Errors
    /// [`StoreError::Gone`] where there is no home any more: none is made.
    pub fn renew(&self) -> Result<()> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.is_of(&self.home) {
            return Ok(());
        }
        if !self.database().exists() {
            return Err(StoreError::Gone(self.home.clone()));
        }
        // First closed: SQLite shares what it knows of a file among the connections of a process.
        // Where only the log was deleted, closing saves what it held; what another process has open
        // is left alone.
        open.close()?;
        *open = Arc::new(OpenHome::new(
            &self.home,
            open.origin,
            self.patience,
            false,
        )?);
        self.renewed.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Reopens a read-only home for writing; says whether that worked.
    pub fn retry_writing(&self) -> Result<bool> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.write.is_some() {
            return Ok(true);
        }
        if open_queue(&self.home).is_err() {
            return Ok(false);
        }
        // First closed, as in `renew`.
        open.close()?;
        *open = Arc::new(OpenHome::new(
            &self.home,
            open.origin,
            self.patience,
            false,
        )?);
        let is_writable = open.write.is_some();
        if is_writable {
            self.renewed.fetch_add(1, Ordering::Release);
        }
        Ok(is_writable)
    }

    fn read_only(&self) -> StoreError {
        StoreError::ReadOnly(self.home.clone())
    }

    /// Reads on one snapshot: what `f` sees does not change while it looks.
    pub fn read<T, E: From<StoreError>>(
        &self,
        f: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.opened().read.with(|connection| {
            let snapshot = connection.transaction().map_err(StoreError::from)?;
            f(&Reader(&snapshot))
        })
    }

    /// One transaction, durable when this returns `Ok`; undone when `f` fails. The time of its
    /// entries follows from the clock ([`Reader::time`]).
    ///
    /// # Errors
    /// [`StoreError::Gone`] where the files that were written are not those of the home any more:
    /// what was written is lost with them.
    pub fn write<T, E: From<StoreError>>(
        &self,
        clock: Timestamp,
        f: impl FnOnce(&Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let open = self.opened();
        let write = open.write.as_ref().ok_or_else(|| self.read_only())?;
        let mut writing = lock(write);
        let WriteConnection { connection, queue } = &mut *writing;
        let turn = WriteLock::take(queue, self.patience)?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(StoreError::from)?;
        let answer = {
            let reader = Reader(&transaction);
            if !open.goes_on(reader.head()?) {
                return Err(StoreError::Gone(self.home.clone()).into());
            }
            let now = reader.time(clock)?;
            f(&Writer {
                reader,
                origin: open.origin,
                now,
                clock,
            })?
        };
        transaction.commit().map_err(StoreError::from)?;
        drop(turn);
        if !open.files.are_there(&self.home) {
            return Err(StoreError::Gone(self.home.clone()).into());
        }
        if self.log_is_due.load(Ordering::Relaxed) {
            let is_due = !writing.empty_log(Duration::ZERO).unwrap_or(false);
            self.log_is_due.store(is_due, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// Whether a write would begin at once: nobody of this process or of another has the turn.
    pub fn is_free(&self) -> bool {
        let open = self.opened();
        let Some(writing) = open.write.as_ref().and_then(|it| it.try_lock().ok()) else {
            return false;
        };
        WriteLock::take(&writing.queue, Duration::ZERO).is_ok()
    }

    /// Moves the write-ahead log into the database and empties it, so that erased text is gone from
    /// the disk. Whether it is empty: who reads in it still keeps it, and then each later write
    /// tries again.
    pub fn empty_log(&self) -> Result<bool> {
        let open = self.opened();
        let write = open.write.as_ref().ok_or_else(|| self.read_only())?;
        let is_empty = lock(write).empty_log(READING)?;
        self.log_is_due.store(!is_empty, Ordering::Relaxed);
        Ok(is_empty)
    }

    /// Asks SQLite to check every page; the findings, none when it is sound.
    pub fn integrity(&self) -> Result<Vec<String>> {
        self.opened().read.with(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
            let rows: Vec<String> = check
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows.into_iter().filter(|row| row != "ok").collect())
        })
    }
}

/// A snapshot of the database. Its questions are asked in the file of the table they are about.
pub struct Reader<'a>(pub(crate) &'a Connection);

/// The one transaction of a change.
pub struct Writer<'a> {
    reader: Reader<'a>,
    pub(crate) origin: ulid::Ulid,
    /// The time of everything in this transaction ([`Reader::time`]).
    pub now: JournalTime,
    /// The clock.
    pub(crate) clock: Timestamp,
}

impl<'a> Writer<'a> {
    pub(crate) fn at(
        reader: Reader<'a>,
        origin: ulid::Ulid,
        now: JournalTime,
        clock: Timestamp,
    ) -> Self {
        Self {
            reader,
            origin,
            now,
            clock,
        }
    }
}

impl<'a> Deref for Writer<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

/// Whether there is a write-ahead log that the database has not taken in.
fn has_log(database: &Path) -> bool {
    std::fs::metadata(beside(database, "-wal")).is_ok_and(|it| it.len() > 0)
}

/// What SQLite keeps beside a database, under an ending of its name.
fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}
