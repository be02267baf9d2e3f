//! The database file: opening, migrating, one fair queue of writers.

use std::{
    fs::{File, TryLockError},
    ops::Deref,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use engram_model::JournalTime;
use jiff::Timestamp;
use rand::Rng;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use crate::{
    Result, StoreError,
    carry::carry,
    files::{make_private_folder, open_private},
    inodes::Files,
    ours::{self, Found},
    readers::Readers,
    sides,
};

/// Each step of the schema, in order; `user_version` counts the steps taken. Never edit a step
/// that was released: add one.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("schema/001.sql"),
    include_str!("schema/002.sql"),
    include_str!("schema/003.sql"),
    include_str!("schema/004.sql"),
    include_str!("schema/005.sql"),
    include_str!("schema/006.sql"),
    include_str!("schema/007.sql"),
    include_str!("schema/008.sql"),
    include_str!("schema/009.sql"),
    include_str!("schema/010.sql"),
    include_str!("schema/011.sql"),
    include_str!("schema/012.sql"),
    include_str!("schema/013.sql"),
    include_str!("schema/014.sql"),
    include_str!("schema/015.sql"),
    include_str!("schema/016.sql"),
    include_str!("schema/017.sql"),
    include_str!("schema/018.sql"),
    include_str!("schema/019.sql"),
    include_str!("schema/020.sql"),
    include_str!("schema/021.sql"),
];

/// From this step on the journal says all that the tables hold.
const CARRIED: i64 = 6;

/// From this step on each claim lies beside its side.
const SIDED: i64 = 11;

/// The one file of a home that is the truth.
const DATABASE: &str = "engram.db";
/// What SQLite keeps beside it, as endings of its name.
pub(crate) const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// What its writers queue at.
const QUEUE: &str = "write.lock";

/// `EnGr`, so that `file` and a person with a hex editor know whose it is.
pub(crate) const APPLICATION_ID: i64 = 0x456e_4772;

/// How long a writer waits for its turn before it gives up: a turn takes milliseconds, so that a
/// hundred writers pass in this time, and the callers of MCP tools still wait for the answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a home is opened that is exchanged while it is.
const TRIES: usize = 5;

/// How long an erasure waits for whoever reads in the log.
const READING: Duration = Duration::from_secs(1);

/// One home: a folder with the database, the write lock, the doorbell and the index.
pub struct Store {
    home: PathBuf,
    patience: Duration,
    open: RwLock<Arc<Open>>,
    /// How often it was opened anew.
    renewed: AtomicU64,
    /// Whether the log holds what was erased.
    log_is_due: AtomicBool,
}

/// The files of a home, as they were opened.
struct Open {
    origin: ulid::Ulid,
    read: Readers,
    /// Absent where the home is not writable.
    write: Option<Mutex<Writing>>,
    files: Files,
    /// The end of the journal, as it was last seen here: an older copy that took the database's place
    /// ends before.
    head: AtomicU64,
    is_replaced: AtomicBool,
}

struct Writing {
    connection: Connection,
    turn: File,
}

impl Writing {
    fn empty_log(&self, patience: Duration) -> Result<bool> {
        let connection = &self.connection;
        connection.busy_timeout(patience)?;
        let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, bool>(0)
        });
        connection.busy_timeout(PATIENCE)?;
        Ok(!is_busy?)
    }
}

impl Store {
    /// Opens or makes a home. `origin` is the identity that a new home gets.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Newer`] and [`StoreError::Half`] for what this build must
    /// not touch, and has not; a home that exists and cannot be written is opened for reading.
    pub fn open(home: &Path, origin: ulid::Ulid) -> Result<Self> {
        Self::open_patiently(home, origin, PATIENCE)
    }

    /// [`Store::open`], with writers that wait this long for their turn.
    pub fn open_patiently(home: &Path, origin: ulid::Ulid, patience: Duration) -> Result<Self> {
        Self::with(home, patience, Open::new(home, origin, patience, true)?)
    }

    /// [`Store::open`] of a home that is there: where it has just been moved away, none is made.
    pub fn open_only(home: &Path, origin: ulid::Ulid) -> Result<Self> {
        Self::with(home, PATIENCE, Open::new(home, origin, PATIENCE, false)?)
    }

    fn with(home: &Path, patience: Duration, open: Open) -> Result<Self> {
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
        let database = home.join("engram.db");
        match ours::look(&database)? {
            Found::Nothing => Ok(()),
            Found::Ours => {
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

    fn opened(&self) -> Arc<Open> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&open)
    }

    /// Whether the files that are open are those that lie in the home: it may have been deleted, moved,
    /// or replaced by another.
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
        // First closed: SQLite shares what it knows of a file among the connections of a process. Where only
        // the log was deleted, closing saves what it held; what another process has open is left alone.
        open.close()?;
        *open = Arc::new(Open::new(&self.home, open.origin, self.patience, false)?);
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
        *open = Arc::new(Open::new(&self.home, open.origin, self.patience, false)?);
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

    /// One transaction, durable when this returns `Ok`; undone when `f` fails. The time of its entries
    /// follows from the clock ([`Reader::time`]).
    ///
    /// # Errors
    /// [`StoreError::Gone`] where the files that were written are not those of the home any more: what was
    /// written is lost with them.
    pub fn write<T, E: From<StoreError>>(
        &self,
        clock: Timestamp,
        f: impl FnOnce(&Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let open = self.opened();
        let write = open.write.as_ref().ok_or_else(|| self.read_only())?;
        let mut writing = lock(write);
        let Writing { connection, turn } = &mut *writing;
        let turn = Turn::take(turn, self.patience)?;
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
        Turn::take(&writing.turn, Duration::ZERO).is_ok()
    }

    /// Moves the write-ahead log into the database and empties it, so that erased text is gone
    /// from the disk. Whether it is empty: who reads in it still keeps it, and then each later write tries
    /// again.
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

impl Open {
    /// Whether the journal ends where it did or later; an older copy ends before.
    fn goes_on(&self, head: u64) -> bool {
        let goes_on = self.head.fetch_max(head, Ordering::Relaxed) <= head;
        if !goes_on {
            self.is_replaced.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// It is no home's from now on, even if its files come back.
    fn close(&self) -> Result<()> {
        self.is_replaced.store(true, Ordering::Relaxed);
        self.read.close();
        if let Some(write) = &self.write {
            lock(write).connection = Connection::open_in_memory()?;
        }
        Ok(())
    }

    fn is_of(&self, home: &Path) -> bool {
        !self.is_replaced.load(Ordering::Relaxed) && self.files.are_there(home)
    }

    fn new(home: &Path, origin: ulid::Ulid, patience: Duration, make: bool) -> Result<Self> {
        // SQLite opens by name, one file after the other: a home that was exchanged meanwhile is not
        // taken for the one that was opened.
        for _ in 0..TRIES {
            let before = Files::of(home, true);
            let opened = Self::once(home, origin, patience, make)?;
            if opened.files.go_on_from(&before) {
                return Ok(opened);
            }
        }
        Err(StoreError::Gone(home.to_owned()))
    }

    fn once(home: &Path, origin: ulid::Ulid, patience: Duration, make: bool) -> Result<Self> {
        let database = home.join(DATABASE);
        match Self::writable(home, &database, origin, patience, make) {
            Err(error) if is_read_only(&error) && database.exists() => {
                Self::readable(home, &database).map_err(|other| match other {
                    StoreError::Newer { .. }
                    | StoreError::Foreign { .. }
                    | StoreError::Half { .. } => other,
                    _ => error,
                })
            }
            opened => opened,
        }
    }

    fn writable(
        home: &Path,
        database: &Path,
        origin: ulid::Ulid,
        patience: Duration,
        make: bool,
    ) -> Result<Self> {
        let connection = if ours::look(database)? == Found::Nothing && make {
            make_database(home, database)?
        } else {
            let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE;
            Connection::open_with_flags(database, flags)?
        };
        connection.busy_timeout(patience)?;
        ours::check(&connection, database)?;
        ours::accept(&connection)?;
        let turn = open_queue(home)?;
        let mut writing = Writing { connection, turn };
        // A home that is ready is opened without a turn: who only reads waits for nobody.
        if !is_ready(&writing.connection)? {
            let _turn = Turn::take(&writing.turn, patience)?;
            let connection = &mut writing.connection;
            connection.pragma_update(None, "journal_mode", "wal")?;
            migrate(connection, origin)?;
        }
        prepare(&writing.connection, patience)?;
        let database = database.to_owned();
        let read = Readers::new(move || {
            let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE;
            let read = Connection::open_with_flags(&database, flags)?;
            prepare(&read, patience)?;
            read.pragma_update(None, "query_only", true)?;
            Ok(read)
        });
        Ok(Self {
            origin: read.with(|it| origin_of(it))?,
            read,
            write: Some(Mutex::new(writing)),
            files: Files::of(home, true),
            head: AtomicU64::new(0),
            is_replaced: AtomicBool::new(false),
        })
    }

    /// A folder that cannot be written cannot take part in WAL either: read it as it lies.
    fn readable(home: &Path, database: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let plain = ours::address(database, "mode=ro");
        let is_plain = Connection::open_with_flags(&plain, flags)
            .and_then(|it| it.query_row("SELECT 1 FROM meta", [], |_| Ok(())));
        let address = match is_plain {
            Ok(()) => plain,
            // What a writer that was killed left in the log would not be seen: better no answer.
            Err(error) if has_log(database) => return Err(error.into()),
            Err(_) => ours::address(database, "immutable=1"),
        };
        let read = Readers::new(move || Ok(Connection::open_with_flags(&address, flags)?));
        read.with(|it| ours::check(it, database))?;
        Ok(Self {
            origin: read.with(|it| origin_of(it))?,
            read,
            write: None,
            files: Files::of(home, false),
            head: AtomicU64::new(0),
            is_replaced: AtomicBool::new(false),
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

/// A home in which nothing is yet, with a database that is private before anything is in it: SQLite gives
/// it, and its log after it, the rights of the lock.
fn make_database(home: &Path, database: &Path) -> Result<Connection> {
    make_private_folder(home).map_err(|e| StoreError::io(home, e))?;
    open_queue(home)?;
    let like = format!("modeof={}", ours::encoded(&home.join(QUEUE)));
    Ok(Connection::open(ours::address(database, &like))?)
}

/// The queue of writers of all processes.
pub(crate) fn open_queue(home: &Path) -> Result<File> {
    let lock = home.join(QUEUE);
    open_private(&lock).map_err(|e| StoreError::io(&lock, e))
}

/// A place in the queue of writers of all processes; left when dropped, or when its process dies.
pub(crate) struct Turn<'a>(&'a File);

impl<'a> Turn<'a> {
    pub(crate) fn take(file: &'a File, patience: Duration) -> Result<Self> {
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => pause(),
                Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(patience)),
                Err(TryLockError::Error(error)) => return Err(StoreError::io("write.lock", error)),
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// A short uneven wait for another process, so that no waiter is always the late one. The one place
/// where chance is not a parameter: it decides nothing but the order of waiters.
#[expect(
    clippy::disallowed_methods,
    reason = "see above; a file lock has no event to wait for"
)]
pub(crate) fn pause() {
    let micros = rand::rng().random_range(300..3_000);
    std::thread::sleep(Duration::from_micros(micros));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves the connection usable: SQLite rolled its transaction back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare(connection: &Connection, patience: Duration) -> Result<()> {
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Plans do not depend on the values of parameters: else SQLite compiles a kept statement anew
    // for each, a tenth of a commit's time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(())
}

/// Whether every step of the schema was taken.
fn is_ready(connection: &Connection) -> Result<bool> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(found == MIGRATIONS.len() as i64 && mode == "wal")
}

/// Whether there is a write-ahead log that the database has not taken in.
pub(crate) fn has_log(database: &Path) -> bool {
    std::fs::metadata(beside(database, "-wal")).is_ok_and(|it| it.len() > 0)
}

/// What SQLite keeps beside a database, under an ending of its name.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn migrate(connection: &mut Connection, origin: ulid::Ulid) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    take_steps(&transaction, found)?;
    if (1..SIDED).contains(&found) {
        sides::fill(&transaction)?;
    }
    transaction.execute(
        "INSERT OR IGNORE INTO meta (key, value) VALUES ('origin', ?1)",
        [origin.to_string()],
    )?;
    if found < MIGRATIONS.len() as i64 {
        transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    if (1..CARRIED).contains(&found) {
        let reader = Reader(&transaction);
        // No clock: what is carried was there when the newest entry was.
        let now = reader.time(Timestamp::UNIX_EPOCH)?;
        let origin = origin_of(&transaction)?;
        carry(&Writer {
            reader,
            origin,
            now,
            clock: now.0,
        })?;
    }
    transaction.commit()?;
    Ok(())
}

fn take_steps(connection: &Connection, found: i64) -> Result<()> {
    for step in &MIGRATIONS[(found.max(0) as usize).min(MIGRATIONS.len())..] {
        connection.execute_batch(step)?;
    }
    Ok(())
}

/// The tables of a new home, in a database that is nobody's.
pub(crate) fn create(connection: &Connection) -> Result<()> {
    take_steps(connection, 0)
}

fn origin_of(connection: &Connection) -> Result<ulid::Ulid> {
    let text: String =
        connection.query_row("SELECT value FROM meta WHERE key = 'origin'", [], |row| {
            row.get(0)
        })?;
    ulid::Ulid::from_string(&text).map_err(|_| StoreError::Record(format!("origin {text:?}")))
}

fn is_read_only(error: &StoreError) -> bool {
    use std::io::ErrorKind;
    match error {
        StoreError::Sqlite(inner) => matches!(
            inner.sqlite_error_code(),
            Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen)
        ),
        StoreError::Io { source, .. } => matches!(
            source.kind(),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
        ),
        _ => false,
    }
}
