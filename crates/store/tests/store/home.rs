//! Opening a home: new, old, newer, foreign.

use std::{collections::BTreeMap, ffi::OsStr, fs, os::unix::fs::PermissionsExt, path::Path};

use engram_model::{EngramId, JournalTime};
use engram_store::{Derived, Doorbell, Index, Store, StoreError};
use rusqlite::Connection;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{code, head, now, open, put};

#[test]
fn a_new_home_is_private_and_keeps_its_identity() {
    let dir = TempDir::new().unwrap();
    let home = dir.path().join("deep/home");
    let first = open(&home);
    assert_eq!(
        fs::metadata(&home).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let second = Store::open(&home, Ulid(2)).unwrap();
    assert_eq!((first.origin(), second.origin()), (Ulid(1), Ulid(1)));
    assert!(first.is_writable());
}

/// The steps of the schema add up to what `docs/schema.sql` shows.
#[test]
fn the_documents_show_the_schema() {
    let home = TempDir::new().unwrap();
    open(home.path());
    let database = Connection::open(home.path().join("engram.db")).unwrap();
    let mut made = database
        .prepare(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
             ORDER BY tbl_name,
               CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, name",
        )
        .unwrap();
    let made = made.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let shown: String = made.map(|sql| format!("\n{};\n", sql.unwrap())).collect();
    let shown = format!(
        "-- The tables, indexes and triggers of a home: what the steps in crates/store/src/schema \
         add up to.\n-- A test of engram-store writes this file if ENGRAM_UPDATE_SCHEMA is set.\n\
         {shown}"
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.sql");
    if std::env::var_os("ENGRAM_UPDATE_SCHEMA").is_some() {
        fs::write(&file, &shown).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == shown,
        "docs/schema.sql is out of date: run this test with ENGRAM_UPDATE_SCHEMA=1"
    );
}

/// Even in an existing folder that others may read, everything that is made is private.
#[test]
fn all_that_is_made_in_a_home_is_private() {
    for name in ["plain", "a b&mode=ro?#%41"] {
        let dir = TempDir::new().unwrap();
        let home = dir.path().join(name);
        fs::create_dir(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
        let store = open(&home);
        put(&store, 1, "one").unwrap();
        Doorbell::open(&home).unwrap().ring();
        Index::open(&store, |_| Derived::default()).unwrap();
        let modes: BTreeMap<_, _> = fs::read_dir(&home)
            .unwrap()
            .map(|it| it.unwrap())
            .map(|it| {
                (
                    it.file_name(),
                    it.metadata().unwrap().permissions().mode() & 0o777,
                )
            })
            .collect();
        assert!(
            modes.len() >= 6 && modes.contains_key(OsStr::new("engram.db-wal")),
            "{modes:?}"
        );
        for (name, mode) in modes {
            let is_folder = home.join(&name).is_dir();
            assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{name:?}");
        }
    }
}

/// Eight processes open a missing home at the same time: one creates it, and all use it.
#[test]
fn a_home_is_made_once() {
    for _ in 0..5 {
        let dir = TempDir::new().unwrap();
        let home = dir.path().join("home");
        let origins: Vec<Ulid> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=8)
                .map(|at| {
                    let home = &home;
                    scope.spawn(move || {
                        let store = Store::open(home, Ulid(at)).unwrap();
                        put(&store, at, "one").unwrap();
                        store.origin()
                    })
                })
                .collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(origins.iter().all(|it| *it == origins[0]), "{origins:?}");
        assert_eq!(head(&open(&home)), 8);
    }
}

#[test]
fn a_newer_home_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    put(&open(dir.path()), 1, "one").unwrap();
    let database = dir.path().join("engram.db");
    let set = |version: i64| {
        Connection::open(&database)
            .unwrap()
            .pragma_update(None, "user_version", version)
            .unwrap()
    };
    let current: i64 = Connection::open(&database)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    set(99);
    let before = fs::read(&database).unwrap();
    let error = Store::open(dir.path(), Ulid(1)).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("99"));
    assert_eq!(code(error), "STORE_NEWER");
    assert_eq!(fs::read(&database).unwrap(), before);
    set(current);
    assert_eq!(head(&open(dir.path())), 1);
}

/// A home from before the first step, or one whose creation was interrupted.
#[test]
fn an_older_home_is_brought_up_to_date() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema");
    let steps = fs::read_dir(schema).unwrap().count() as i64;
    for make in [
        "",
        "PRAGMA journal_mode = delete;",
        "CREATE TABLE other (a); DROP TABLE other;",
    ] {
        let dir = TempDir::new().unwrap();
        let database = Connection::open(dir.path().join("engram.db")).unwrap();
        database.execute_batch(make).unwrap();
        drop(database);
        // The lock is created first, and shows whose the empty database is.
        fs::write(dir.path().join("write.lock"), "").unwrap();
        let store = open(dir.path());
        put(&store, 1, "one").unwrap();
        let database = Connection::open(dir.path().join("engram.db")).unwrap();
        let version: i64 = database
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        let mode: String = database
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .unwrap();
        assert_eq!((version, mode.as_str()), (steps, "wal"));
    }
    // Somebody turned the log off: it is turned on again, and nothing is lost.
    let dir = TempDir::new().unwrap();
    put(&open(dir.path()), 1, "one").unwrap();
    let database = Connection::open(dir.path().join("engram.db")).unwrap();
    database
        .execute_batch("PRAGMA journal_mode = delete;")
        .unwrap();
    drop(database);
    let store = open(dir.path());
    assert_eq!(put(&store, 2, "two").unwrap(), 2);
}

#[test]
fn strange_homes_are_errors_with_a_code() {
    let dir = TempDir::new().unwrap();
    let text = "not a database, but long enough to be taken for one ".repeat(50);
    fs::write(dir.path().join("engram.db"), &text).unwrap();
    let error = Store::open(dir.path(), Ulid(1)).map(|_| ()).unwrap_err();
    assert_eq!(code(error), "STORE_CORRUPT");
    assert_eq!(
        fs::read_to_string(dir.path().join("engram.db")).unwrap(),
        text
    );

    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    for home in [file.clone(), file.join("below"), "/proc/none/such".into()] {
        let error = Store::open(&home, Ulid(1)).map(|_| ()).unwrap_err();
        assert_eq!(code(error), "STORE_READ_ONLY", "{home:?}");
    }

    // Rows with invalid values.
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, 1, "one").unwrap();
    let database = Connection::open(dir.path().join("engram.db")).unwrap();
    for (at, damage) in [
        "UPDATE journal SET body = 'no json'",
        "UPDATE journal SET body = '{}', project = 'x'",
        "UPDATE journal SET body = CAST(x'ff' AS TEXT)",
        "UPDATE journal SET recorded_at = 9223372036854775807",
    ]
    .into_iter()
    .enumerate()
    {
        database.execute_batch(damage).unwrap();
        let read = store
            .read::<_, StoreError>(|it| it.journal_after(0, 10))
            .unwrap();
        let error = read[0].operation().map(drop).unwrap_err();
        assert_eq!(code(error), "STORE_CORRUPT", "{damage}");
        if let Err(error) = put(&store, at as u128 + 2, "another") {
            assert_eq!(code(error), "STORE_CORRUPT", "{damage}");
        }
    }
}

/// Journal time only moves forward, and no entry lacks a place.
#[test]
fn a_clock_that_jumps_back_does_not_turn_the_journal() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, 1, "one").unwrap();
    let earlier = now() - jiff::SignedDuration::from_hours(5);
    let at = store
        .write::<_, StoreError>(earlier, |it| Ok(it.now.0))
        .unwrap();
    assert_eq!(at, now());
    let later = now() + jiff::SignedDuration::from_hours(5);
    assert_eq!(
        store
            .write::<_, StoreError>(later, |it| Ok(it.now.0))
            .unwrap(),
        later
    );
    assert_eq!(
        store.read::<_, StoreError>(|it| it.time(earlier)).unwrap(),
        JournalTime(now())
    );
    assert_eq!(
        store.read::<_, StoreError>(|it| it.time(later)).unwrap(),
        JournalTime(later)
    );
}

/// SQLite's own backup works like this: the file is the same, but its content is older.
#[test]
fn a_journal_that_ends_earlier_than_it_did_is_another() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    for number in 1..=5 {
        put(&store, number, &format!("claim {number}")).unwrap();
    }
    Connection::open(dir.path().join("engram.db"))
        .unwrap()
        .execute_batch(
            "PRAGMA foreign_keys = off;
             DELETE FROM engram WHERE seq > 2; DELETE FROM journal WHERE seq > 2;",
        )
        .unwrap();
    assert!(store.is_here(), "the change cannot be detected yet");
    let error = put(&store, 6, "between").unwrap_err();
    assert!(matches!(error, StoreError::Gone(_)), "{error}");
    assert!(!store.is_here());
    store.renew().unwrap();
    assert_eq!(store.renewed(), 1);
    put(&store, 7, "after").unwrap();
    assert_eq!(head(&open(dir.path())), 6);
}

/// The file there meanwhile was refused, but the home that comes back is opened.
#[test]
fn a_home_that_comes_back_after_a_strangers_is_written_again() {
    let dir = TempDir::new().unwrap();
    let [home, away] = ["home", "away"].map(|it| dir.path().join(it));
    let store = open(&home);
    put(&store, 1, "one").unwrap();
    fs::rename(&home, &away).unwrap();
    fs::create_dir(&home).unwrap();
    fs::write(home.join("engram.db"), "another program's").unwrap();
    assert!(!store.is_here());
    assert_eq!(code(store.renew().unwrap_err()), "STORE_CORRUPT");
    fs::remove_dir_all(&home).unwrap();
    fs::rename(&away, &home).unwrap();
    store.renew().unwrap();
    put(&store, 2, "two").unwrap();
    assert_eq!(head(&open(&home)), 2);
}

/// SQLite opens files by name, one after the other. What is written after the exchange is in the
/// home that is there now, whenever the exchange happened during the opening.
#[test]
fn a_home_that_is_exchanged_while_it_is_opened_loses_nothing() {
    let folder = TempDir::new().unwrap();
    let [home, other] = ["home", "other"].map(|it| folder.path().join(it));
    put(&open(&home), 1, "one").unwrap();
    put(&open(&other), 1, "other").unwrap();
    for round in 0..300 {
        let opened = std::thread::scope(|scope| {
            let opening = scope.spawn(|| Store::open(&home, Ulid(1)));
            for _ in 0..round * 200 {
                std::hint::spin_loop();
            }
            // In one step, because opening creates a home if it finds none.
            renameat_with(CWD, &home, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            opening.join().unwrap()
        });
        let Ok(store) = opened else { continue };
        let number = 1_000 + round;
        if put(&store, number, &format!("Claim {number}.")).is_ok() {
            let found = open(&home)
                .read::<_, StoreError>(|it| it.engram(EngramId(Ulid(number))))
                .unwrap();
            assert!(found.is_some(), "round {round}");
        }
    }
}
