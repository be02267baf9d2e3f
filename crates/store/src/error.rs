//! The errors of the layers below, distinguished by what the reader can do about them.

use std::path::{Path, PathBuf};

use engram_model::{Code, Refusal};

/// A failure of the database, the index or the disk under them.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite failed.
    #[error("the database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// tantivy failed.
    #[error("the index: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// The file system failed.
    #[error("{path}: {source}")]
    Io {
        /// The path that was used.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A row that this build cannot read. The other rows can still be read.
    #[error("a stored record cannot be read: {0}")]
    Record(String),
    /// The index was not made from this journal.
    #[error("{0}")]
    ForeignIndex(String),
    /// The identity of the home.
    #[error("a stored record cannot be read: origin {0:?}")]
    Origin(String),
    /// An operation that cannot be written as JSON.
    #[error("an operation cannot be written: {0}")]
    Unwritable(#[source] serde_json::Error),
    /// The tables cannot be rebuilt from a journal with this fault.
    #[error("the tables cannot be rebuilt: {0}")]
    JournalFault(String),
    /// The tables cannot be rebuilt: the journal has this many entries of a newer build.
    #[error(
        "the tables cannot be rebuilt: entries from a newer Engram: {0}; the tables may reflect them"
    )]
    NewerEntries(u64),
    /// The home was written by a newer build.
    #[error("{path} has version {found}; this build supports up to {known}")]
    Newer {
        /// Its database.
        path: PathBuf,
        /// The version of the home.
        found: i64,
        /// The newest version that this build supports.
        known: i64,
    },
    /// The file at the place of the database does not belong to Engram.
    #[error("{path} is not an Engram database: {why}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What shows this.
        why: &'static str,
    },
    /// A home whose migration stopped halfway.
    #[error("{path} is only partly migrated: it says version {version} and has {what}")]
    Half {
        /// Its database.
        path: PathBuf,
        /// The version that it states.
        version: i64,
        /// What is missing, or present too early.
        what: String,
    },
    /// A home that is to be moved is open in another process.
    #[error("{0} is in use by another process")]
    InUse(PathBuf),
    /// An Engram database to which another program has added tables.
    #[error("{path} is also used by another program: it has the tables {tables}")]
    Shared {
        /// The database.
        path: PathBuf,
        /// The tables that are not ours.
        tables: String,
    },
    /// The database is empty, but the index beside it shows that it was not.
    #[error("{0} is empty, though an index of its claims is beside it: something emptied it")]
    Emptied(PathBuf),
    /// A damaged database from which nothing can be recovered.
    #[error("{path} cannot be recovered: {why}")]
    Unrecoverable {
        /// The database.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// The open home is no longer at its place.
    #[error("the home at {0} was moved, deleted or replaced")]
    Gone(PathBuf),
    /// Another process held the write lock for too long.
    #[error("another process has held the write lock for {0:?}")]
    Locked(std::time::Duration),
    /// The home was opened for reading only.
    #[error("the home at {0} is not writable")]
    ReadOnly(PathBuf),
    /// The home was opened for reading only, because its disk is full.
    #[error("the disk of the home at {0} is full")]
    Full(PathBuf),
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    /// Whether it concerns a single row, so that other rows can still be read.
    pub fn is_of_one_record(&self) -> bool {
        match self {
            Self::Record(_) => true,
            Self::Sqlite(error) => {
                error.sqlite_error_code().is_none() && sqlite_code(error) == Code::StoreCorrupt
            }
            _ => false,
        }
    }

    /// Whether it concerns the disk or access to it, rather than the stored data.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        let code = self.code();
        matches!(
            code,
            Code::StoreFull | Code::StoreLocked | Code::StoreReadOnly
        )
    }

    pub(crate) fn foreign(path: &Path, why: &'static str) -> Self {
        let path = path.to_owned();
        Self::Foreign { path, why }
    }

    fn code(&self) -> Code {
        match self {
            Self::Sqlite(error) => sqlite_code(error),
            Self::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                    Code::StoreFull
                }
                std::io::ErrorKind::PermissionDenied
                | std::io::ErrorKind::ReadOnlyFilesystem
                | std::io::ErrorKind::NotADirectory
                | std::io::ErrorKind::AlreadyExists
                | std::io::ErrorKind::NotFound => Code::StoreReadOnly,
                // A pipe, a link or a folder is at the place of Engram's file.
                std::io::ErrorKind::InvalidInput => Code::StoreCorrupt,
                _ => Code::Internal,
            },
            Self::Record(_)
            | Self::ForeignIndex(_)
            | Self::Origin(_)
            | Self::JournalFault(_)
            | Self::Foreign { .. }
            | Self::Half { .. }
            | Self::Shared { .. }
            | Self::Emptied(_)
            | Self::Unrecoverable { .. } => Code::StoreCorrupt,
            Self::Newer { .. } | Self::NewerEntries(_) => Code::StoreNewer,
            Self::Locked(_) | Self::InUse(_) => Code::StoreLocked,
            Self::ReadOnly(_) => Code::StoreReadOnly,
            Self::Full(_) => Code::StoreFull,
            Self::Gone(_) => Code::StoreGone,
            Self::Index(_) | Self::Unwritable(_) => Code::Internal,
        }
    }
}

fn sqlite_code(error: &rusqlite::Error) -> Code {
    use rusqlite::{Error, ErrorCode as E, ffi};
    let extended = error.sqlite_error().map(|it| it.extended_code);
    match (error.sqlite_error_code(), extended) {
        (Some(E::DiskFull), _) => Code::StoreFull,
        // SQLite cannot grow the shared memory beside the database on a full disk.
        (_, Some(ffi::SQLITE_IOERR_SHMSIZE)) => Code::StoreFull,
        (Some(E::DatabaseBusy | E::DatabaseLocked), _) => Code::StoreLocked,
        (Some(E::ReadOnly | E::CannotOpen | E::PermissionDenied), _) => Code::StoreReadOnly,
        (Some(E::DatabaseCorrupt | E::NotADatabase), _) => Code::StoreCorrupt,
        (_, Some(ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS)) => Code::StoreCorrupt,
        // A row does not fit its table.
        (None, _) => match error {
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::QueryReturnedNoRows
            | Error::Utf8Error(..) => Code::StoreCorrupt,
            _ => Code::Internal,
        },
        _ => Code::Internal,
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let code = error.code();
        let hint = match &error {
            StoreError::Foreign { .. } => {
                "Nothing was changed. Choose another home with --home or ENGRAM_HOME."
            }
            StoreError::Half { .. } => {
                "Nothing was changed. Restore a backup, or choose another home with --home or ENGRAM_HOME."
            }
            StoreError::ForeignIndex(_) => "Run `engram doctor --reindex`, which rebuilds it.",
            StoreError::JournalFault(_) => {
                "Nothing was changed. Copy the home, then restore a backup; without one, run `engram doctor --recover`."
            }
            StoreError::NewerEntries(_) => {
                "Nothing was changed. Rebuild with that version of Engram."
            }
            StoreError::InUse(_) => {
                "Nothing was moved. Close the window and the agents that use it, then try again."
            }
            StoreError::Shared { .. } => {
                "Nothing was moved. Quit both programs and copy this file to the new home yourself; Engram will use the copy."
            }
            StoreError::Emptied(_) => {
                "Nothing was changed. Restore a backup of it; to start with no claims, delete the empty file and the index folder."
            }
            StoreError::Unrecoverable { .. } => {
                "Nothing was changed. Restore a backup, or choose another home with --home."
            }
            StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::InvalidInput => {
                "Move it away, then try again."
            }
            _ => hint(code),
        };
        Refusal::new(code, error.to_string(), hint).because(&error)
    }
}

/// What to do next, for codes that determine it.
fn hint(code: Code) -> &'static str {
    match code {
        Code::StoreFull => "Free some space and try again; everything acknowledged is safe.",
        Code::StoreLocked => {
            "Try again; if it stays locked, close other programs that use this home."
        }
        Code::StoreReadOnly => {
            "Make the home writable, or choose another with --home or ENGRAM_HOME."
        }
        Code::StoreCorrupt => {
            "Run `engram doctor --recover`, which sets the database aside and saves what is still readable. If that fails, restore a backup or choose another home with --home."
        }
        Code::StoreGone => {
            "Nothing was stored. Put the home back and try again, or restart Engram to start an empty one."
        }
        Code::StoreNewer => "Update Engram, or choose another home with --home or ENGRAM_HOME.",
        _ => "Run `engram doctor`; if it finds nothing, please report this message.",
    }
}
