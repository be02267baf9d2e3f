//! Checks whom a database belongs to, before anything is created or written, so that a foreign file
//! keeps every byte and no file appears beside it.

use std::{collections::BTreeSet, fmt::Write as _, fs, io::ErrorKind, path::Path};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{
    DATABASE, LOGS, has_log, path_beside,
    queue::QUEUE,
    schema::{APPLICATION_ID, MIGRATIONS},
};
use crate::{Result, StoreError, index::Index};

/// SQLite treats a file shorter than its smallest page as empty.
const SMALLEST: u64 = 512;
const NO_DATABASE: &str = "it is not an SQLite database";
const NO_FILE: &str = "it is not a file";
const ANOTHER: &str = "it belongs to another program";

/// The state of a database that is not refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DatabaseState {
    /// Nothing yet, or a database that an Engram process has started to create.
    Nothing,
    Ours,
}

/// Whether a folder contains an Engram home, whatever its version.
pub fn is_home(folder: &Path) -> bool {
    match inspect(&folder.join(DATABASE)) {
        Ok(found) => found == DatabaseState::Ours,
        Err(error) => matches!(error, StoreError::Newer { .. } | StoreError::Emptied(_)),
    }
}

/// Inspects a database without creating a lock, a log or a file.
///
/// Only SQLite may open the database: if this process opened and closed the file itself, the locks
/// of its other connections would be dropped.
pub(super) fn inspect(database: &Path) -> Result<DatabaseState> {
    let foreign = |why| StoreError::foreign(database, why);
    // SQLite blocks on a pipe in place of a log.
    for log in LOGS.map(|end| path_beside(database, end)) {
        if fs::symlink_metadata(&log).is_ok_and(|it| !it.is_file()) {
            return Err(StoreError::foreign(&log, NO_FILE));
        }
    }
    match fs::metadata(database) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(DatabaseState::Nothing),
        Err(error) => return Err(StoreError::io(database, error)),
        Ok(file) if file.is_dir() => return Err(foreign("it is a folder")),
        Ok(file) if !file.is_file() => return Err(foreign(NO_FILE)),
        Ok(file) if file.len() == 0 => return judge_empty(database),
        Ok(file) if file.len() < SMALLEST => return Err(foreign(NO_DATABASE)),
        Ok(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(address(database, "immutable=1"), flags)?;
    match header(&connection) {
        // The lock of a home is made before its database, so its creator may still be at work.
        Ok(header) if header.is_blank && database.with_file_name(QUEUE).exists() => {
            look_into_log(database)
        }
        Ok(header) => header.judge(database),
        Err(error) => match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => Err(foreign(NO_DATABASE)),
            // A full disk can stop the copying of the log into the database; the log still has
            // everything.
            Some(rusqlite::ErrorCode::DatabaseCorrupt) if has_log(database) => {
                look_into_log(database)
            }
            _ => Err(error.into()),
        },
    }
}

/// Judges an empty database: either it is new, or its content is still in the log. An index beside
/// it shows that there was a database.
fn judge_empty(database: &Path) -> Result<DatabaseState> {
    let is_lost = |home: &Path| !has_log(database) && Index::is_there(home);
    if database.parent().is_some_and(is_lost) {
        Err(StoreError::Emptied(database.to_owned()))
    } else {
        Ok(DatabaseState::Nothing)
    }
}

/// A new home may be entirely in its log, if its creator still runs or was killed.
fn look_into_log(database: &Path) -> Result<DatabaseState> {
    if !has_log(database) {
        return Ok(DatabaseState::Nothing);
    }
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Closing this connection leaves the log untouched.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // One snapshot, because another process may be creating the home.
    match header(&*connection.unchecked_transaction()?)? {
        header if header.is_blank => Ok(DatabaseState::Nothing),
        header => header.judge(database),
    }
}

/// Checks the opened database again, now including the log, before anything is written. If this
/// connection is closed before [`accept`], the log stays untouched.
pub(super) fn check(connection: &Connection, database: &Path) -> Result<()> {
    if has_log(database) {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    }
    // One snapshot, because another process may be creating the home.
    let snapshot = connection.unchecked_transaction()?;
    let header = header(&snapshot)?;
    if !header.is_blank {
        header.judge(database)?;
        refuse_half(&snapshot, database, header.version)?;
    }
    Ok(())
}

/// Accepts the checked database for use.
pub(super) fn accept(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// The tables of another program in an Engram database: earlier builds put their tables into any
/// file.
pub(super) fn strange_tables(connection: &Connection) -> Result<Vec<String>> {
    let ours = schema_names(&home_after(MIGRATIONS.len())?)?;
    let there = schema_names(connection)?;
    let tables = there.difference(&ours);
    let names = tables.filter_map(|it| it.strip_prefix("table "));
    Ok(names.map(str::to_owned).collect())
}

/// The address of a database for SQLite, for any path.
pub(super) fn address(database: &Path, how: &str) -> String {
    format!("file:{}?{how}", encoded(database))
}

/// Encodes a path for an address.
pub(super) fn encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                encoded.push(char::from(*byte));
            }
            _ => {
                let _ = write!(encoded, "%{byte:02x}");
            }
        }
    }
    encoded
}

/// What a database states about itself.
struct DatabaseHeader {
    application: i64,
    version: i64,
    /// Whether the database has no content.
    is_blank: bool,
}

impl DatabaseHeader {
    fn is_ours(&self) -> bool {
        self.application == APPLICATION_ID
    }

    fn judge(&self, database: &Path) -> Result<DatabaseState> {
        if self.is_ours() {
            refuse_newer(database, self.version).map(|()| DatabaseState::Ours)
        } else {
            Err(StoreError::foreign(database, ANOTHER))
        }
    }
}

fn header(connection: &Connection) -> rusqlite::Result<DatabaseHeader> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    let application = number("application_id")?;
    let version = number("user_version")?;
    let is_marked = application != 0 || version != 0;
    Ok(DatabaseHeader {
        application,
        version,
        is_blank: !is_marked
            && connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                row.get::<_, i64>(0)
            })? == 0,
    })
}

pub(super) fn refuse_newer(database: &Path, found: i64) -> Result<()> {
    let known = MIGRATIONS.len() as i64;
    if found > known {
        Err(StoreError::Newer {
            path: database.to_owned(),
            found,
            known,
        })
    } else {
        Ok(())
    }
}

/// Refuses a half-migrated database. Each step is one transaction together with its number, so a
/// difference was made by another program.
fn refuse_half(connection: &Connection, database: &Path, version: i64) -> Result<()> {
    let taken = home_after(version.max(0) as usize)?;
    let due = schema_names(&taken)?;
    let there = schema_names(connection)?;
    let what = match due.difference(&there).last() {
        Some(missing) => format!("no {missing}"),
        None => {
            for step in &MIGRATIONS[(version.max(0) as usize).min(MIGRATIONS.len())..] {
                taken.execute_batch(step)?;
            }
            let last = schema_names(&taken)?;
            match last.difference(&due).find(|it| there.contains(*it)) {
                Some(early) => format!("{early} already"),
                None => return Ok(()),
            }
        }
    };
    Err(StoreError::Half {
        path: database.to_owned(),
        version,
        what,
    })
}

/// An empty home after this many steps, in memory.
fn home_after(steps: usize) -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    for step in MIGRATIONS.iter().take(steps) {
        connection.execute_batch(step)?;
    }
    Ok(connection)
}

/// The names of everything that the steps create.
fn schema_names(connection: &Connection) -> Result<BTreeSet<String>> {
    let mut names = connection.prepare(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'
         UNION ALL
         SELECT 'column ' || it.name || '.' || part.name
         FROM sqlite_schema AS it, pragma_table_info(it.name) AS part
         WHERE it.type = 'table' AND it.name NOT LIKE 'sqlite^_%' ESCAPE '^'",
    )?;
    let names = names.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}
