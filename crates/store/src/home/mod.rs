//! One home: a folder with one database that many processes read and write at once. Writers of all
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
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use engram_model::JournalTime;
use jiff::Timestamp;
use parking_lot::RwLock;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use open::{OpenHome, WriteConnection};
use ours::DatabaseState;
use queue::{WriteLock, open_queue};

use crate::{Result, StoreError};

pub use ours::is_home;
pub(crate) use queue::pause;
pub use queue::write_in_turn;
pub use recover::{Recovered, recover};
pub(crate) use schema::create_tables;
pub use vacant::Vacant;

/// The one file of a home that is the source of truth.
pub(crate) const DATABASE: &str = "engram.db";
/// The suffixes of the files that SQLite keeps beside it.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How long a writer waits for its turn. A turn takes milliseconds, so a hundred writers pass in
/// this time, and callers of MCP tools still wait for the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an erasure waits for readers of the log.
const READING: Duration = Duration::from_secs(1);

/// One home: a folder with the database, the write lock, the doorbell and the index.
pub struct Store {
    home: PathBuf,
    patience: Duration,
    open: RwLock<Arc<OpenHome>>,
    /// How often it was reopened.
    renewed: AtomicU64,
    /// Whether the log still contains erased text.
    log_is_due: AtomicBool,
}

impl Store {
    /// Opens or creates a home. `origin` becomes the identity of a new home. A home that exists and
    /// cannot be written, or whose disk is full, is opened for reading.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Newer`] and [`StoreError::Half`] for a database that
    /// this build must not touch; it is left untouched.
    pub fn open(home: &Path, origin: ulid::Ulid) -> Result<Self> {
        Self::open_patiently(home, origin, PATIENCE)
    }

    /// Like [`Store::open`], but writers wait this long for their turn.
    pub fn open_patiently(home: &Path, origin: ulid::Ulid, patience: Duration) -> Result<Self> {
        Self::with(home, patience, OpenHome::new(home, origin, patience, true)?)
    }

    /// Like [`Store::open`], but only for an existing home: creates none if it was just moved away.
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

    /// Checks whether opening a home would be refused, without touching anything.
    ///
    /// # Errors
    /// Those of [`Store::open`]; none if there is no home yet.
    pub fn check(home: &Path) -> Result<()> {
        let database = home.join(DATABASE);
        match ours::inspect(&database)? {
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
        self.open_home().origin
    }

    /// Whether this home can be written.
    pub fn is_writable(&self) -> bool {
        self.open_home().write.is_some()
    }

    /// Whether this home is read only because its disk is full.
    pub fn is_full(&self) -> bool {
        self.open_home().is_full
    }

    fn open_home(&self) -> Arc<OpenHome> {
        let open = self.open.read();
        Arc::clone(&open)
    }

    /// Whether the open files are still those in the home, which may have been deleted, moved or
    /// replaced.
    pub fn is_here(&self) -> bool {
        self.open_home().is_of(&self.home)
    }

    /// How often the home was reopened. What was read before may be from another home.
    pub fn renewed(&self) -> u64 {
        self.renewed.load(Ordering::Acquire)
    }

    /// Opens the files that are in the home now, unless they are already open.
    ///
    /// # Errors
    /// [`StoreError::Gone`] if there is no home any more; none is created.
    pub fn renew(&self) -> Result<()> {
        let mut open = self.open.write();
        if open.is_of(&self.home) {
            return Ok(());
        }
        if !self.database().exists() {
            return Err(StoreError::Gone(self.home.clone()));
        }
        // Closes first, because SQLite shares its state of a file among the connections of a
        // process. If only the log was deleted, closing saves its content. Files open in other
        // processes stay untouched.
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

    /// Reopens a read-only home for writing; returns whether that worked.
    pub fn retry_writing(&self) -> Result<bool> {
        let mut open = self.open.write();
        if open.write.is_some() {
            return Ok(true);
        }
        if open_queue(&self.home).is_err() {
            return Ok(false);
        }
        // Closes first, as in `renew`.
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

    /// Why a home without a connection for writing is not written.
    fn read_only(&self, open: &OpenHome) -> StoreError {
        if open.is_full {
            StoreError::Full(self.home.clone())
        } else {
            StoreError::ReadOnly(self.home.clone())
        }
    }

    /// Reads on one snapshot: the data does not change while `f` runs.
    pub fn read<T, E: From<StoreError>>(
        &self,
        f: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.open_home().read.with(|connection| {
            let snapshot = connection.transaction().map_err(StoreError::from)?;
            f(&Reader(&snapshot))
        })
    }

    /// Runs one transaction, which is durable when this returns `Ok` and rolled back if `f` fails.
    /// The time of its entries follows from the clock ([`Reader::time`]).
    ///
    /// # Errors
    /// [`StoreError::Gone`] if the written files are no longer those of the home; the write is lost
    /// with them.
    pub fn write<T, E: From<StoreError>>(
        &self,
        clock: Timestamp,
        f: impl FnOnce(&Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let open = self.open_home();
        let write = open.write.as_ref().ok_or_else(|| self.read_only(&open))?;
        let mut writing = write.lock();
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

    /// Whether a write would start at once: no writer of any process has the turn.
    pub fn is_free(&self) -> bool {
        let open = self.open_home();
        let Some(writing) = open.write.as_ref().and_then(|it| it.try_lock()) else {
            return false;
        };
        WriteLock::take(&writing.queue, Duration::ZERO).is_ok()
    }

    /// Moves the write-ahead log into the database and empties it, so that erased text is gone from
    /// the disk. Returns whether the log is empty. A reader may still need it; then each later
    /// write tries again.
    pub fn empty_log(&self) -> Result<bool> {
        let open = self.open_home();
        let write = open.write.as_ref().ok_or_else(|| self.read_only(&open))?;
        let is_empty = write.lock().empty_log(READING)?;
        self.log_is_due.store(!is_empty, Ordering::Relaxed);
        Ok(is_empty)
    }

    /// Has SQLite check every page; returns the faults, or nothing if the database is sound.
    pub fn integrity(&self) -> Result<Vec<String>> {
        self.open_home().read.with(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
            let rows: Vec<String> = check
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            Ok(rows.into_iter().filter(|row| row != "ok").collect())
        })
    }
}

/// A snapshot of the database. The file of each table adds its queries.
pub struct Reader<'a>(pub(crate) &'a Connection);

/// The transaction of a change.
pub struct Writer<'a> {
    reader: Reader<'a>,
    pub(crate) origin: ulid::Ulid,
    /// The time of everything in this transaction ([`Reader::time`]).
    pub now: JournalTime,
    /// The clock.
    pub(crate) clock: Timestamp,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
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

/// Whether there is a write-ahead log that is not yet in the database.
fn has_log(database: &Path) -> bool {
    std::fs::metadata(path_beside(database, "-wal")).is_ok_and(|it| it.len() > 0)
}

/// The file that SQLite keeps beside a database under this suffix.
fn path_beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}
