//! Recovers a damaged database: copies what can still be read of its journal and of the words
//! beside it into a new database, which takes its place. The damaged database is set aside, not
//! deleted.

use std::{
    fs,
    path::{Path, PathBuf},
};

use engram_model::{Operation, ProjectId, operation::LostEntries};
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, config::DbConfig, params, params_from_iter, types::Value};
use sha2::{Digest, Sha256};

use super::{
    DATABASE, has_log,
    ours::{self, DatabaseState},
    path_beside,
    queue::{WriteLock, open_queue},
    schema::{APPLICATION_ID, MIGRATIONS, create_tables},
};
use crate::{
    NewEntry, Reader, Result, StoreError, Writer,
    conflicts::fill_sides,
    files::{open_private, sync_folder},
    index::Index,
    journal::{ENTRY, Journalled, apply_all, journalled},
    tables::all_are_due,
};

/// From this step of the schema on, a replay of the journal builds all tables.
const REPLAYED: i64 = 6;
/// How many entries are read at once, as long as none of them is damaged.
const AT_ONCE: i64 = 256;
/// The most entries that a page of the journal can hold.
const OF_A_PAGE: i64 = 100;
const COLUMNS: [&str; 14] = [
    "seq",
    "origin",
    "origin_seq",
    "hlc",
    "schema",
    "project",
    "kind",
    "shareable",
    "recorded_at",
    "agent",
    "by",
    "subject",
    "body",
    "clock",
];

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Where the damaged database is now.
    pub aside: PathBuf,
    /// Entries of the journal that were saved.
    pub saved: u64,
    /// Entries that could not be read.
    pub lost: u64,
    /// Claims, events and stored files of saved entries whose words or bytes could not be read.
    pub words: u64,
}

/// Saves what can be read and sets the damaged database aside. `origin` is the identity of the home
/// if its own cannot be read.
///
/// # Errors
/// The database is not ours, or nothing of it can be read; it is left as it is.
pub fn recover(home: &Path, origin: ulid::Ulid, now: Timestamp) -> Result<Recovered> {
    let database = home.join(DATABASE);
    let not = |why| StoreError::Unrecoverable {
        path: database.clone(),
        why,
    };
    match ours::inspect(&database) {
        Ok(DatabaseState::Nothing) => return Err(not("there is no database, or it is empty")),
        Err(error @ (StoreError::Newer { .. } | StoreError::Emptied(_))) => return Err(error),
        Err(error @ StoreError::Foreign { .. }) if !has_log(&database) => return Err(error),
        // Otherwise it is damaged, as this function expects, or still entirely in its log.
        _ => {}
    }
    let queue = open_queue(home)?;
    let _turn = WriteLock::take(&queue, std::time::Duration::from_secs(10))?;
    let old = open_damaged(&database)?;
    let fresh = home.join("engram.db.recovered");
    remove_all(&fresh)?;
    // Makes it private before it has content; SQLite gives its log the same rights.
    open_private(&fresh).map_err(|error| StoreError::io(&fresh, error))?;
    let made = Connection::open(&fresh)
        .map_err(StoreError::from)
        .and_then(|mut new| save(&old, &mut new, origin, now));
    drop(old);
    let saved = match made {
        Ok(saved) => saved,
        Err(error) => {
            remove_all(&fresh)?;
            return Err(error);
        }
    };
    let aside = exchange(home, &database, &fresh)?;
    Index::delete(home)?;
    Ok(Recovered { aside, ..saved })
}

fn open_damaged(database: &Path) -> Result<Connection> {
    let old = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Makes SQLite read a file that is shorter than its header says; nothing is written.
    old.pragma_update(None, "writable_schema", true)?;
    old.pragma_update(None, "query_only", true)?;
    let not = |why| StoreError::Unrecoverable {
        path: database.to_owned(),
        why,
    };
    let stamp = |name| {
        old.pragma_query_value::<i64, _>(None, name, |row| row.get(0))
            .map_err(|error| unreadable(database, error))
    };
    if stamp("application_id")? != APPLICATION_ID {
        return Err(StoreError::foreign(
            database,
            "another program has marked it as its own",
        ));
    }
    let version = stamp("user_version")?;
    ours::refuse_newer(database, version)?;
    if version < REPLAYED {
        Err(not(
            "an earlier build made it, and its journal is incomplete",
        ))
    } else if !is_table(&old, "journal") {
        // A view computes its rows and might never end.
        Err(not("its journal is not a table"))
    } else {
        Ok(old)
    }
}

/// The error if the first page could not be read. A full disk, a lock or a missing permission says
/// nothing about the database.
fn unreadable(database: &Path, error: rusqlite::Error) -> StoreError {
    match StoreError::from(error) {
        error if error.is_of_the_disk() => error,
        _ => StoreError::Unrecoverable {
            path: database.to_owned(),
            why: "its first page cannot be read",
        },
    }
}

fn is_table(old: &Connection, name: &str) -> bool {
    let asked = "SELECT type FROM sqlite_master WHERE name = ?1";
    old.query_row(asked, [name], |row| row.get::<_, String>(0))
        .is_ok_and(|it| it == "table")
}

fn save(
    old: &Connection,
    new: &mut Connection,
    origin: ulid::Ulid,
    now: Timestamp,
) -> Result<Recovered> {
    new.pragma_update(None, "journal_mode", "wal")?;
    new.pragma_update(None, "foreign_keys", false)?;
    let transaction = new.transaction()?;
    create_tables(&transaction)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    let (last, lost) = save_journal(old, &transaction)?;
    let words = save_words(old, &transaction)?;
    let own: Option<String> = old
        .query_row("SELECT value FROM meta WHERE key = 'origin'", [], |row| {
            row.get(0)
        })
        .or_else(|_| {
            transaction.query_row(
                "SELECT origin FROM journal ORDER BY seq DESC LIMIT 1",
                [],
                |row| row.get(0),
            )
        })
        .ok();
    let origin = own.and_then(|it| it.parse().ok()).unwrap_or(origin);
    transaction.execute(
        "INSERT INTO meta (key, value) VALUES ('origin', ?1)",
        [origin.to_string()],
    )?;
    apply_all(&transaction, "main")?;
    fill_sides(&transaction)?;
    all_are_due(&transaction)?;
    let saved: i64 = transaction.query_row("SELECT count(*) FROM journal", [], |row| row.get(0))?;
    let places = holes(&transaction, last)?;
    // Keeps new entries from taking the places of lost ones.
    transaction.execute(
        "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'journal'",
        [last],
    )?;
    let reader = Reader(&transaction);
    let time = reader.time(now)?;
    Writer::new(reader, origin, time, now).record(&NewEntry {
        project: ProjectId(origin),
        shareable: false,
        agent: None,
        by: "",
        operation: &Operation::Recovered(LostEntries { places }),
    })?;
    transaction.commit()?;
    new.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(Recovered {
        aside: PathBuf::new(),
        saved: saved as u64,
        lost,
        words,
    })
}

/// Copies every readable entry. Returns the last place and the number of lost entries.
fn save_journal(old: &Connection, new: &Connection) -> Result<(i64, u64)> {
    let there: Vec<&str> = COLUMNS
        .into_iter()
        .filter(|name| {
            old.prepare(&format!("SELECT {name} FROM journal LIMIT 0"))
                .is_ok()
        })
        .collect();
    let columns = there.join(", ");
    let places = vec!["?"; there.len()].join(", ");
    let insert = format!("INSERT OR IGNORE INTO journal ({columns}) VALUES ({places})");
    let (last, is_known) = last_place(old);
    let (mut place, mut end, mut lost) = (0, 0, 0);
    while place < last {
        let rows = |from: i64, to: i64| -> rusqlite::Result<Vec<Vec<Value>>> {
            old.prepare_cached(&format!(
                "SELECT {columns} FROM journal WHERE seq > ?1 AND seq <= ?2 ORDER BY seq"
            ))?
            .query_map([from, to], |row| {
                (0..there.len()).map(|at| row.get(at)).collect()
            })?
            .collect()
        };
        let to = place.saturating_add(AT_ONCE).min(last);
        let found = rows(place, to).unwrap_or_else(|_| {
            // Reads one by one, so that entries next to the damage are saved.
            let each = (place..to).filter_map(|at| rows(at, at + 1).ok());
            each.flatten().collect()
        });
        for row in found {
            new.prepare_cached(&insert)?
                .execute(params_from_iter(row))?;
        }
        place = to;
    }
    let mut gone = Vec::new();
    let mut entries = new.prepare(&format!("SELECT {ENTRY} FROM journal ORDER BY seq"))?;
    for entry in entries.query_map([], |row| Ok(journalled(row)))? {
        let entry: Journalled = entry?;
        end = entry.seq as i64;
        if entry.operation().is_err() {
            gone.push(end);
        }
    }
    for seq in gone {
        new.execute("DELETE FROM journal WHERE seq = ?1", [seq])?;
    }
    let last = if is_known { last.max(end) } else { end };
    for (from, to) in holes(new, last)? {
        lost += to - from + 1;
    }
    Ok((last, lost))
}

/// The last place that the database mentions, and whether it mentions any. Without one, the last
/// place for which its pages have room; this also limits a mentioned place, which may be wrong.
fn last_place(old: &Connection) -> (i64, bool) {
    let asked = [
        "SELECT max(seq) FROM journal",
        "SELECT seq FROM sqlite_sequence WHERE name = 'journal'",
        "SELECT max(seq) FROM engram",
        "SELECT max(seq) FROM event",
    ];
    let known = asked
        .iter()
        .filter_map(|sql| {
            old.query_row(sql, [], |row| row.get::<_, Option<i64>>(0))
                .ok()?
        })
        .max();
    let pages = old.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0));
    let room = pages.unwrap_or(0).saturating_mul(OF_A_PAGE);
    (known.map_or(room, |it| it.min(room)), known.is_some())
}

/// The places up to `last` without an entry, as ranges.
fn holes(connection: &Connection, last: i64) -> Result<Vec<(u64, u64)>> {
    let mut holes = Vec::new();
    let mut after = 0;
    let mut places = connection.prepare("SELECT seq FROM journal ORDER BY seq")?;
    for seq in places.query_map([], |row| row.get::<_, i64>(0))? {
        let seq = seq?;
        if seq > after + 1 {
            holes.push(((after + 1) as u64, (seq - 1) as u64));
        }
        after = seq;
    }
    if last > after {
        holes.push(((after + 1) as u64, last as u64));
    }
    Ok(holes)
}

/// Copies the words and bytes beside the saved entries if they match their digests. Returns how
/// many were lost, not counting those that were erased before.
fn save_words(old: &Connection, new: &Connection) -> Result<u64> {
    let mut erased = std::collections::HashSet::new();
    let mut wanted = Vec::new();
    let mut entries = new.prepare(&format!("SELECT {ENTRY} FROM journal ORDER BY seq"))?;
    for entry in entries.query_map([], |row| Ok(journalled(row)))? {
        let entry: Journalled = entry?;
        match entry.readable_operation() {
            Some(Operation::Redacted(redaction)) => {
                erased.extend(
                    redaction
                        .seqs
                        .into_iter()
                        .chain(redaction.events)
                        .chain(redaction.entries),
                );
            }
            Some(operation) => wanted.push((entry.seq, operation)),
            None => {}
        }
    }
    let mut lost = 0;
    for (seq, operation) in wanted {
        let is_saved = match &operation {
            Operation::Stored(engram) => {
                save_claim(old, new, &engram.id.to_string(), &engram.content_hash)?
            }
            Operation::Noted(event) => save_event(old, new, seq as i64, &event.digest)?,
            Operation::Requested(requested) => save_event(old, new, seq as i64, &requested.digest)?,
            Operation::Denied(denied) if !denied.digest.is_empty() => {
                save_event(old, new, seq as i64, &denied.digest)?
            }
            Operation::Sent(sent) => save_event(old, new, seq as i64, &sent.digest)?,
            Operation::Pinned(pin) if !pin.digest.is_empty() => {
                save_event(old, new, seq as i64, &pin.digest)?
            }
            Operation::Kept(file) if !file.path.is_empty() => {
                save_file(old, new, &file.digest_hex)?
            }
            Operation::Carried(carried) => {
                for file in carried.snapshots.iter().filter(|it| !it.path.is_empty()) {
                    lost += u64::from(!save_file(old, new, &file.digest_hex)?);
                }
                true
            }
            _ => true,
        };
        lost += u64::from(!is_saved && !erased.contains(&seq));
    }
    Ok(lost)
}

fn is_of(bytes: &[u8], digest: &str) -> bool {
    hex::encode(Sha256::digest(bytes)) == digest.strip_prefix("sha256:").unwrap_or(digest)
}

fn save_claim(old: &Connection, new: &Connection, id: &str, digest: &str) -> Result<bool> {
    let found = old
        .prepare_cached("SELECT claim, tags FROM content WHERE engram = ?1")
        .and_then(|mut it| {
            it.query_row([id], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })
        });
    match found {
        Ok((claim, tags)) if is_of(claim.as_bytes(), digest) => {
            let tags = match serde_json::from_str::<Vec<String>>(&tags) {
                Ok(_) => tags,
                Err(_) => "[]".to_owned(),
            };
            new.prepare_cached(
                "INSERT OR IGNORE INTO content (engram, claim, tags) VALUES (?1, ?2, ?3)",
            )?
            .execute([id, &claim, &tags])?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn save_event(old: &Connection, new: &Connection, seq: i64, digest: &str) -> Result<bool> {
    let found: rusqlite::Result<String> = old
        .prepare_cached("SELECT text FROM said WHERE seq = ?1")
        .and_then(|mut it| it.query_row([seq], |row| row.get(0)));
    match found {
        Ok(text) if is_of(text.as_bytes(), digest) => {
            new.prepare_cached("INSERT OR IGNORE INTO said (seq, text) VALUES (?1, ?2)")?
                .execute(params![seq, text])?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn save_file(old: &Connection, new: &Connection, digest: &str) -> Result<bool> {
    let found: rusqlite::Result<Vec<u8>> = old
        .prepare_cached("SELECT bytes FROM blob WHERE digest = ?1")
        .and_then(|mut it| it.query_row([digest], |row| row.get(0)));
    match found {
        Ok(bytes) if is_of(&bytes, digest) => {
            new.prepare_cached("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?1, ?2)")?
                .execute(params![digest, bytes])?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Puts the new database in place of the damaged one, which takes its log along.
fn exchange(home: &Path, database: &Path, fresh: &Path) -> Result<PathBuf> {
    let aside = (1..)
        .map(|at: u32| home.join(format!("engram.db.damaged-{at}")))
        .find(|it| it.symlink_metadata().is_err())
        .unwrap_or_else(|| home.join("engram.db.damaged"));
    let io = |path: &Path, error| StoreError::io(path, error);
    let renamed = |from: &Path, to: &Path| match fs::rename(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(from, error)),
        _ => Ok(()),
    };
    renamed(&path_beside(database, "-wal"), &path_beside(&aside, "-wal"))?;
    renamed(&path_beside(database, "-shm"), &path_beside(&aside, "-shm"))?;
    fs::rename(database, &aside).map_err(|error| io(database, error))?;
    fs::rename(fresh, database).map_err(|error| io(fresh, error))?;
    remove_all(fresh)?;
    sync_folder(home);
    Ok(aside)
}

/// Removes an unused database and the files that SQLite keeps beside it.
fn remove_all(database: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let path = path_beside(database, end);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    #[test]
    fn a_full_disk_is_not_taken_for_a_damaged_database() {
        for (code, want) in [
            (ffi::SQLITE_FULL, "full"),
            (ffi::SQLITE_IOERR_SHMSIZE, "full"),
            (ffi::SQLITE_BUSY, "locked"),
            (ffi::SQLITE_CANTOPEN, "read-only"),
            (ffi::SQLITE_NOTADB, "damaged"),
            (ffi::SQLITE_IOERR_SHORT_READ, "damaged"),
        ] {
            let error = Error::SqliteFailure(ffi::Error::new(code), None);
            let found = match engram_model::Refusal::from(unreadable(Path::new("x"), error)).code {
                engram_model::Code::StoreFull => "full",
                engram_model::Code::StoreLocked => "locked",
                engram_model::Code::StoreReadOnly => "read-only",
                _ => "damaged",
            };
            assert_eq!(found, want, "{code}");
        }
    }
}
