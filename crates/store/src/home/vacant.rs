//! A home that is to be moved: no other process has it open, and all data is in its files.

use std::{fs::File, path::Path};

use rusqlite::Connection;

use super::{
    DATABASE,
    ours::{self, DatabaseState},
    queue::open_queue,
};
use crate::{Result, StoreError};

/// Keeps every other process out of a home while it lives.
pub struct Vacant {
    _connection: Connection,
    _turn: File,
}

impl Vacant {
    /// Merges the log into the database and locks the home.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another process has it open, and the errors of opening it. Then
    /// nothing was changed.
    pub fn take(home: &Path) -> Result<Self> {
        let database = home.join(DATABASE);
        if ours::inspect(&database)? != DatabaseState::Ours {
            return Err(StoreError::foreign(&database, "nothing is in it"));
        }
        let in_use = || StoreError::InUse(home.to_owned());
        let connection = Connection::open(&database)?;
        ours::check(&connection, &database)?;
        let strange = ours::strange_tables(&connection)?;
        if !strange.is_empty() {
            return Err(StoreError::Shared {
                path: database,
                tables: strange.join(", "),
            });
        }
        let turn = open_queue(home)?;
        if turn.try_lock().is_err() {
            return Err(in_use());
        }
        // A process with an open home holds a lock on its database as long as there is a log.
        // SQLite removes the log only for a lone process. A process that opens the home now finds
        // no log, and queues.
        let alone = connection
            .pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))
            .and_then(|()| connection.execute_batch("BEGIN EXCLUSIVE"));
        match alone {
            Ok(()) => Ok(Self {
                _connection: connection,
                _turn: turn,
            }),
            Err(error) => Err(match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DatabaseBusy) => in_use(),
                _ => error.into(),
            }),
        }
    }
}
