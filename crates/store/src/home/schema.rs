//! The schema: its steps, and the migration of a home from an earlier schema.

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use crate::{Reader, Result, StoreError, Writer, conflicts::fill_sides, journal::carry};

/// The steps of the schema, in order; `user_version` counts the steps taken. Never edit a released
/// step: add a new one.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../schema/001.sql"),
    include_str!("../schema/002.sql"),
    include_str!("../schema/003.sql"),
    include_str!("../schema/004.sql"),
    include_str!("../schema/005.sql"),
    include_str!("../schema/006.sql"),
    include_str!("../schema/007.sql"),
    include_str!("../schema/008.sql"),
    include_str!("../schema/009.sql"),
    include_str!("../schema/010.sql"),
    include_str!("../schema/011.sql"),
    include_str!("../schema/012.sql"),
    include_str!("../schema/013.sql"),
    include_str!("../schema/014.sql"),
    include_str!("../schema/015.sql"),
    include_str!("../schema/016.sql"),
    include_str!("../schema/017.sql"),
    include_str!("../schema/018.sql"),
    include_str!("../schema/019.sql"),
    include_str!("../schema/020.sql"),
    include_str!("../schema/021.sql"),
    include_str!("../schema/022.sql"),
    include_str!("../schema/023.sql"),
    include_str!("../schema/024.sql"),
    include_str!("../schema/025.sql"),
    include_str!("../schema/026.sql"),
    include_str!("../schema/027.sql"),
];

/// From this step on, the journal has everything that the tables hold.
const CARRIED: i64 = 6;

/// From this step on, each claim is stored with its side.
const SIDED: i64 = 11;

/// `EnGr`, so that `file` and a person with a hex editor can recognise the file.
pub(super) const APPLICATION_ID: i64 = 0x456e_4772;

/// Whether every step of the schema was taken.
pub(super) fn is_ready(connection: &Connection) -> Result<bool> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(found == MIGRATIONS.len() as i64 && mode == "wal")
}

pub(super) fn migrate(connection: &mut Connection, origin: ulid::Ulid) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    take_steps(&transaction, found)?;
    if (1..SIDED).contains(&found) {
        fill_sides(&transaction)?;
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
        // No clock: the carried data existed when the newest entry was made.
        let now = reader.time(Timestamp::UNIX_EPOCH)?;
        let origin = origin_of(&transaction)?;
        carry(&Writer::new(reader, origin, now, now.0))?;
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

/// Creates the tables of a new home in an empty database.
pub(crate) fn create_tables(connection: &Connection) -> Result<()> {
    take_steps(connection, 0)
}

pub(super) fn origin_of(connection: &Connection) -> Result<ulid::Ulid> {
    let text: String =
        connection.query_row("SELECT value FROM meta WHERE key = 'origin'", [], |row| {
            row.get(0)
        })?;
    ulid::Ulid::from_string(&text).map_err(|_| StoreError::Origin(text))
}
