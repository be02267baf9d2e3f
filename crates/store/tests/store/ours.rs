//! A database that is foreign or incomplete is refused and keeps every byte.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::FileTypeExt, net::UnixListener},
    path::{Path, PathBuf},
    time::SystemTime,
};

use engram_model::Refusal;
use engram_store::{Store, StoreError, is_home};
use rusqlite::Connection;
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{head, open, put};

/// Each file of a folder, with its bytes and its modification time.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap());
    let read = |entry: fs::DirEntry| {
        let about = entry.metadata().unwrap();
        let bytes = if about.is_file() {
            fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        (entry.path(), (bytes, about.modified().unwrap()))
    };
    entries.map(read).collect()
}

/// Opens twice, and inspects: each gives a refusal with this code, and nothing is changed or
/// created.
#[track_caller]
fn refused(home: &Path, code: &str, says: &str) {
    let before = files(home);
    for refused in [
        Store::open(home, Ulid(1)).map(drop),
        Store::check(home),
        Store::open(home, Ulid(1)).map(drop),
    ] {
        let refusal = Refusal::from(refused.unwrap_err());
        assert_eq!(refusal.code.as_str(), code, "{refusal}");
        assert!(refusal.message.contains("engram.db"), "{refusal}");
        assert!(refusal.message.contains(says), "{says:?}: {refusal}");
        assert!(refusal.hint.contains("--home"), "{}", refusal.hint);
        assert_eq!(files(home), before, "{says}");
    }
}

fn execute(database: &Path, statements: &str) {
    let database = Connection::open(database).unwrap();
    database.execute_batch(statements).unwrap();
}

/// The data of another program of this name.
const THEIRS: &str =
    "CREATE TABLE sessions (id TEXT); CREATE TABLE observations (id INTEGER, content TEXT);
    INSERT INTO observations VALUES (1, 'theirs');";

#[test]
fn what_is_not_ours_is_not_touched() {
    let foreign = "STORE_CORRUPT";
    let text = "no database, but long enough to be taken for one ".repeat(50);
    type Make<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Make<'_>); 10] = [
        ("another program", &|it| execute(it, THEIRS)),
        ("another program", &|database| {
            execute(database, &format!("PRAGMA journal_mode = wal; {THEIRS}"));
        }),
        ("another program", &|database| {
            execute(database, &format!("PRAGMA user_version = 3; {THEIRS}"));
        }),
        // It is empty, but another program created it.
        ("another program", &|it| {
            execute(it, "CREATE TABLE a (b); DROP TABLE a;")
        }),
        ("another program", &|it| {
            execute(it, "PRAGMA application_id = 7;")
        }),
        ("not an SQLite database", &|it| {
            fs::write(it, &text).unwrap()
        }),
        ("not an SQLite database", &|it| fs::write(it, "x").unwrap()),
        ("a folder", &|it| fs::create_dir(it).unwrap()),
        ("not a file", &|it| drop(UnixListener::bind(it).unwrap())),
        ("not a file", &|path| {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
            assert!(fs::metadata(path).unwrap().file_type().is_fifo());
        }),
    ];
    for (says, make) in cases {
        let dir = TempDir::new().unwrap();
        make(&dir.path().join("engram.db"));
        fs::write(dir.path().join("config.json"), "theirs").unwrap();
        assert!(!is_home(dir.path()), "{says}");
        refused(dir.path(), foreign, says);
    }
}

/// Everything that another program has written is still in its log, and the program runs; our lock
/// is there too.
#[test]
fn a_log_of_another_program_is_read_and_kept() {
    for with_lock in [false, true] {
        let dir = TempDir::new().unwrap();
        let database = dir.path().join("engram.db");
        let theirs = Connection::open(&database).unwrap();
        let begin = format!("PRAGMA journal_mode = wal; {THEIRS}");
        theirs.execute_batch(&begin).unwrap();
        if with_lock {
            fs::write(dir.path().join("write.lock"), "").unwrap();
        }
        let log = dir.path().join("engram.db-wal");
        let before = (fs::read(&database).unwrap(), fs::read(&log).unwrap());
        assert!(!before.1.is_empty(), "the case is a log");
        for _ in 0..2 {
            let error = Store::open(dir.path(), Ulid(1)).map(drop).unwrap_err();
            assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        }
        let after = (fs::read(&database).unwrap(), fs::read(&log).unwrap());
        assert_eq!(after, before);
        let rows = |it: &Connection| {
            it.query_row("SELECT count(*) FROM observations", [], |row| row.get(0))
        };
        assert_eq!(rows(&theirs), Ok(1));
    }
}

#[test]
fn a_home_that_is_not_whole_is_not_touched() {
    let half = "STORE_CORRUPT";
    for (damage, code, says) in [
        ("PRAGMA user_version = 99", "STORE_NEWER", "version 99"),
        ("PRAGMA user_version = 1", half, "no index agent_project"),
        ("PRAGMA user_version = 0", half, "already"),
        ("PRAGMA user_version = 4", half, "no index agent_project"),
        ("DROP TABLE health", half, "no table health"),
        (
            "DROP TRIGGER engram_stored",
            half,
            "no trigger engram_stored",
        ),
        (
            "ALTER TABLE look DROP COLUMN note",
            half,
            "no column look.note",
        ),
    ] {
        let dir = TempDir::new().unwrap();
        put(&open(dir.path()), 1, "one").unwrap();
        execute(&dir.path().join("engram.db"), damage);
        fs::remove_file(dir.path().join("write.lock")).unwrap();
        assert!(is_home(dir.path()), "{damage}");
        refused(dir.path(), code, says);
    }
}

/// The log left by a killed process of a newer build stays as it is.
#[test]
fn a_log_of_what_is_refused_stays() {
    let dir = TempDir::new().unwrap();
    put(&open(dir.path()), 1, "one").unwrap();
    let killed = TempDir::new().unwrap();
    {
        let newer = Connection::open(dir.path().join("engram.db")).unwrap();
        newer.execute_batch("PRAGMA user_version = 99").unwrap();
        for name in ["engram.db", "engram.db-wal"] {
            fs::copy(dir.path().join(name), killed.path().join(name)).unwrap();
        }
    }
    let read = |name| fs::read(killed.path().join(name)).unwrap();
    let before = (read("engram.db"), read("engram.db-wal"));
    assert!(!before.1.is_empty(), "the case is a log");
    for _ in 0..2 {
        let error = Store::open(killed.path(), Ulid(1)).map(drop).unwrap_err();
        assert!(
            matches!(error, StoreError::Newer { found: 99, .. }),
            "{error}"
        );
        assert_eq!((read("engram.db"), read("engram.db-wal")), before);
        assert!(!killed.path().join("write.lock").exists());
    }
}

/// The database of a young home is still empty: it is recognised by its log, even after a kill.
#[test]
fn a_young_home_is_known_by_its_log() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, 1, "one").unwrap();
    let killed = TempDir::new().unwrap();
    for name in ["write.lock", "engram.db", "engram.db-wal"] {
        fs::copy(dir.path().join(name), killed.path().join(name)).unwrap();
    }
    let log = killed.path().join("engram.db-wal");
    let before = fs::read(&log).unwrap();
    for home in [dir.path(), killed.path()] {
        assert!(is_home(home));
        Store::check(home).unwrap();
    }
    assert_eq!(fs::read(&log).unwrap(), before);
    assert_eq!(head(&open(killed.path())), 1);
    assert_eq!(put(&store, 2, "two").unwrap(), 2);
}

/// Inspecting does not drop the locks of a store in the same process.
#[test]
fn looking_drops_no_lock() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    put(&store, 1, "one").unwrap();
    for _ in 0..3 {
        assert!(is_home(dir.path()));
        Store::check(dir.path()).unwrap();
        drop(open(dir.path()));
        assert!(is_home(dir.path()));
    }
    let other = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["ours::another_process", "--exact", "--nocapture"])
        .env("ENGRAM_TEST_HOME", dir.path())
        .output()
        .unwrap();
    assert!(other.status.success(), "{other:?}");
    let said = String::from_utf8(other.stdout).unwrap();
    assert!(said.contains("in use by another process"), "{said}");
    assert_eq!(put(&store, 2, "two").unwrap(), 2);
    drop(store);
    assert!(engram_store::Vacant::take(dir.path()).is_ok());
    assert_eq!(head(&open(dir.path())), 2);
}

/// The test above runs this as another process.
#[test]
fn another_process() {
    let Some(home) = std::env::var_os("ENGRAM_TEST_HOME") else {
        return;
    };
    let error = engram_store::Vacant::take(Path::new(&home))
        .map(drop)
        .unwrap_err();
    println!("{error}");
}

/// A path with a special meaning for SQLite still means a file.
#[test]
fn any_path_will_do() {
    use std::os::unix::ffi::OsStrExt;
    let names: [&[u8]; 5] = [b"a b", b"a?mode=ro", b"a#b", b"%41", b"\xff\xfe"];
    for name in names {
        let dir = TempDir::new().unwrap();
        let home = dir.path().join(std::ffi::OsStr::from_bytes(name));
        put(&open(&home), 1, "one").unwrap();
        assert!(is_home(&home), "{home:?}");
        assert_eq!(head(&open(&home)), 1, "{home:?}");
    }
}
