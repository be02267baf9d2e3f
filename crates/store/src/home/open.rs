//! The opened files of a home: for reading and writing, or for reading only if the folder cannot be
//! written or the disk is full.

use std::{
    fs::File,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{
    DATABASE, PATIENCE, has_log,
    inodes::HomeFiles,
    ours::{self, DatabaseState},
    queue::{QUEUE, WriteLock, open_queue},
    reader_pool::ReaderPool,
    schema::{is_ready, migrate, origin_of},
};
use crate::{Result, StoreError, files::make_private_folder};

/// How often opening is retried if the home is replaced meanwhile.
const TRIES: usize = 5;

/// The opened files of a home.
pub(super) struct OpenHome {
    pub(super) origin: ulid::Ulid,
    pub(super) read: ReaderPool,
    /// Absent if the home is not writable.
    pub(super) write: Option<Mutex<WriteConnection>>,
    /// Whether it is not writable because the disk is full.
    pub(super) is_full: bool,
    pub(super) files: HomeFiles,
    /// The end of the journal as last seen here. The journal of an older copy that replaced the
    /// database ends earlier.
    head: AtomicU64,
    is_replaced: AtomicBool,
}

/// The connection that writes, and the queue in which it waits.
pub(super) struct WriteConnection {
    pub(super) connection: Connection,
    pub(super) queue: File,
}

impl WriteConnection {
    pub(super) fn empty_log(&self, patience: Duration) -> Result<bool> {
        let connection = &self.connection;
        connection.busy_timeout(patience)?;
        let is_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, bool>(0)
        });
        connection.busy_timeout(PATIENCE)?;
        Ok(!is_busy?)
    }
}

impl OpenHome {
    /// Whether the journal ends at least where it did before; an older copy ends earlier.
    pub(super) fn goes_on(&self, head: u64) -> bool {
        let goes_on = self.head.fetch_max(head, Ordering::Relaxed) <= head;
        if !goes_on {
            self.is_replaced.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// Closes it for good, even if its files come back.
    pub(super) fn close(&self) -> Result<()> {
        self.is_replaced.store(true, Ordering::Relaxed);
        self.read.close();
        if let Some(write) = &self.write {
            write.lock().connection = Connection::open_in_memory()?;
        }
        Ok(())
    }

    pub(super) fn is_of(&self, home: &Path) -> bool {
        !self.is_replaced.load(Ordering::Relaxed) && self.files.are_there(home)
    }

    pub(super) fn new(
        home: &Path,
        origin: ulid::Ulid,
        patience: Duration,
        make: bool,
    ) -> Result<Self> {
        // SQLite opens files by name, one after the other. If the home was replaced meanwhile,
        // files of two homes must not be mixed.
        for _ in 0..TRIES {
            let before = HomeFiles::of(home, true);
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
            Err(error) if is_full(&error) => {
                Self::readable_if_full(home, &database, patience).map_err(|_| error)
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
        let connection = if ours::inspect(database)? == DatabaseState::Nothing && make {
            make_database(home, database)?
        } else {
            let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE;
            Connection::open_with_flags(database, flags)?
        };
        connection.busy_timeout(patience)?;
        ours::check(&connection, database)?;
        ours::accept(&connection)?;
        let queue = open_queue(home)?;
        let mut writing = WriteConnection { connection, queue };
        // A home that is ready is opened without a turn, so that readers need not wait.
        if !is_ready(&writing.connection)? {
            let _turn = WriteLock::take(&writing.queue, patience)?;
            let connection = &mut writing.connection;
            connection.pragma_update(None, "journal_mode", "wal")?;
            migrate(connection, origin)?;
        }
        prepare(&writing.connection, patience)?;
        let database = database.to_owned();
        let read = ReaderPool::new(move || {
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
            is_full: false,
            files: HomeFiles::of(home, true),
            head: AtomicU64::new(0),
            is_replaced: AtomicBool::new(false),
        })
    }

    /// A folder that cannot be written does not allow WAL either, so this reads the files as they
    /// are.
    fn readable(home: &Path, database: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let plain = ours::address(database, "mode=ro");
        let is_plain = Connection::open_with_flags(&plain, flags)
            .and_then(|it| it.query_row("SELECT 1 FROM meta", [], |_| Ok(())));
        let address = match is_plain {
            Ok(()) => plain,
            // Without WAL, the log of a killed writer would be ignored, so the home is refused
            // instead.
            Err(error) if has_log(database) => return Err(error.into()),
            Err(_) => ours::address(database, "immutable=1"),
        };
        let read = ReaderPool::new(move || Ok(Connection::open_with_flags(&address, flags)?));
        read.with(|it| ours::check(it, database))?;
        Ok(Self {
            origin: read.with(|it| origin_of(it))?,
            read,
            write: None,
            is_full: false,
            files: HomeFiles::of(home, false),
            head: AtomicU64::new(0),
            is_replaced: AtomicBool::new(false),
        })
    }

    /// On a full disk, SQLite cannot make the index of its log, which processes share in a file. A
    /// connection that has the database to itself needs no such file; so readers take turns.
    fn readable_if_full(home: &Path, database: &Path, patience: Duration) -> Result<Self> {
        let path = database.to_owned();
        let read = ReaderPool::taking_turns(move || {
            let flags = OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE;
            let read = Connection::open_with_flags(&path, flags)?;
            read.pragma_update(None, "locking_mode", "exclusive")?;
            read.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            prepare(&read, patience)?;
            read.pragma_update(None, "query_only", true)?;
            Ok(read)
        });
        read.with(|it| ours::check(it, database))?;
        Ok(Self {
            origin: read.with(|it| origin_of(it))?,
            read,
            write: None,
            is_full: true,
            files: HomeFiles::of(home, false),
            head: AtomicU64::new(0),
            is_replaced: AtomicBool::new(false),
        })
    }
}

/// Creates an empty home. Its database is private before it has content: SQLite gives it, and later
/// its log, the rights of the lock file.
fn make_database(home: &Path, database: &Path) -> Result<Connection> {
    make_private_folder(home).map_err(|e| StoreError::io(home, e))?;
    open_queue(home)?;
    let like = format!("modeof={}", ours::encoded(&home.join(QUEUE)));
    Ok(Connection::open(ours::address(database, &like))?)
}

fn prepare(connection: &Connection, patience: Duration) -> Result<()> {
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(256);
    // Makes plans independent of the values of parameters. Otherwise SQLite recompiles a cached
    // statement for each value, which takes a tenth of a commit's time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(())
}

/// Whether SQLite could not make the index of its log.
fn is_full(error: &StoreError) -> bool {
    let StoreError::Sqlite(inner) = error else {
        return false;
    };
    let code = inner.sqlite_error().map(|it| it.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
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
