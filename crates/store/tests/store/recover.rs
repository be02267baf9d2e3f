//! A damaged database: what can be read is saved, what cannot is counted, and nothing is deleted.

use std::{fs, path::Path};

use engram_model::{EngramId, Operation, Record, operation::Event};
use engram_store::{Derived, Store, StoreError, recover};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{add, engram, now, open, put, record};

const PAGE: usize = 4_096;
const CLAIMS: u128 = 3_000;

fn claim(number: u128) -> Record {
    let words = format!(
        "Claim {number} says what it says, {}.",
        "at length ".repeat(number as usize % 30)
    );
    Record {
        content_hash: format!("sha256:{}", hex::encode(Sha256::digest(&words))),
        claim: words,
        ..engram(number, "")
    }
}

/// A closed home with many claims and an event, all in its one file.
fn fill(home: &Path) {
    let store = open(home);
    let text = "We publish.".to_owned();
    store
        .write::<_, StoreError>(now(), |writer| {
            for number in 1..=CLAIMS {
                add(writer, claim(number))?;
            }
            record(writer, Operation::Forgotten(EngramId(Ulid(7))))?;
            record(
                writer,
                Operation::Noted(Event {
                    id: engram_model::EventId(Ulid(9_999)),
                    pointer: "sam:decision:domain@2026-01-08".to_owned(),
                    digest: hex::encode(Sha256::digest(&text)),
                    text: text.clone(),
                }),
            )
        })
        .unwrap();
}

/// Overwrites a page of the database.
fn ruin(home: &Path, page: usize) {
    let path = home.join("engram.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[page * PAGE..(page + 1) * PAGE].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

fn pages(home: &Path) -> usize {
    fs::read(home.join("engram.db")).unwrap().len() / PAGE
}

/// How many claims can be read, each with its own words.
fn count_readable(store: &Store) -> usize {
    let read = |reader: &engram_store::Reader<'_>| -> Result<usize, StoreError> {
        let mut count = 0;
        for number in 1..=CLAIMS {
            let Some(found) = reader.engram(EngramId(Ulid(number)))? else {
                continue;
            };
            if !found.redacted {
                assert_eq!(found.claim, claim(number).claim);
                count += 1;
            }
        }
        Ok(count)
    };
    store.read(read).unwrap()
}

#[test]
fn what_can_be_read_of_a_damaged_database_is_saved_and_the_rest_is_counted() {
    let whole = TempDir::new().unwrap();
    fill(whole.path());
    let last = pages(whole.path());
    for page in (3..last).step_by(last / 9) {
        let home = TempDir::new().unwrap();
        for entry in fs::read_dir(whole.path()).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, home.path().join(path.file_name().unwrap())).unwrap();
        }
        ruin(home.path(), page);
        let damaged = fs::read(home.path().join("engram.db")).unwrap();
        let done = recover(home.path(), Ulid(5), now()).unwrap();
        assert_eq!(
            fs::read(&done.aside).unwrap(),
            damaged,
            "set aside unchanged"
        );
        assert_eq!(
            done.saved + done.lost,
            CLAIMS as u64 + 2,
            "page {page}: {done:?}"
        );
        let store = open(home.path());
        assert_eq!(store.origin(), Ulid(1), "the same home");
        let words = usize::try_from(done.words + done.lost).unwrap();
        let there = count_readable(&store);
        assert!(
            there + words >= CLAIMS as usize && there <= CLAIMS as usize,
            "page {page}: {there} of {done:?}"
        );
        // A page holds some dozens of entries, or the addresses of a hundred.
        assert!(there > CLAIMS as usize / 2, "page {page}: {done:?}");
        let faults = store
            .read::<_, StoreError>(|it| it.journal_faults(5))
            .unwrap();
        assert_eq!(faults, [""; 0], "the lost entries are known");
        let replayed = store.replay().unwrap();
        assert_eq!((replayed.faults, replayed.differences), (vec![], vec![]));
        assert_eq!(store.integrity().unwrap(), [""; 0]);
        let rights = fs::metadata(home.path().join("engram.db")).unwrap();
        let rights = std::os::unix::fs::PermissionsExt::mode(&rights.permissions());
        assert_eq!(rights & 0o777, 0o600, "it is private to its owner");
        put(&store, 88_888, "after").unwrap();
        assert!(!home.path().join("engram.db.recovered").exists());
    }
}

#[test]
fn a_sound_database_is_recovered_whole() {
    let home = TempDir::new().unwrap();
    fill(home.path());
    let done = recover(home.path(), Ulid(5), now()).unwrap();
    assert_eq!((done.lost, done.words), (0, 0));
    assert_eq!(count_readable(&open(home.path())), CLAIMS as usize);
    // In a second recovery, the first damaged file is kept as well.
    let again = recover(home.path(), Ulid(5), now()).unwrap();
    assert_ne!(again.aside, done.aside);
    assert!(done.aside.exists());
}

/// Made-up numbers neither keep it running for ever, nor hide what was lost.
#[test]
fn what_is_missing_at_the_end_is_counted_and_no_number_has_it_run_for_ever() {
    for (change, lost) in [
        (
            "DELETE FROM journal WHERE seq > 250",
            CLAIMS as u64 + 2 - 250,
        ),
        (
            "UPDATE sqlite_sequence SET seq = 9000000000000000000 WHERE name = 'journal'",
            u64::MAX,
        ),
    ] {
        let home = TempDir::new().unwrap();
        fill(home.path());
        let database = rusqlite::Connection::open(home.path().join("engram.db")).unwrap();
        database.pragma_update(None, "foreign_keys", false).unwrap();
        database.execute_batch(change).unwrap();
        drop(database);
        let done = recover(home.path(), Ulid(5), now()).unwrap();
        match lost {
            u64::MAX => assert!(done.saved > 250, "{done:?}"),
            lost => assert_eq!(done.lost, lost, "{done:?}"),
        }
        put(&open(home.path()), 99_999, "after").unwrap();
    }
}

/// A leftover log is read too, and stays beside the file that is set aside.
#[test]
fn what_lies_in_the_log_alone_is_saved() {
    let home = TempDir::new().unwrap();
    let copy = TempDir::new().unwrap();
    let store = open(home.path());
    put(&store, 1, "one").unwrap();
    for name in ["engram.db", "engram.db-wal"] {
        fs::copy(home.path().join(name), copy.path().join(name)).unwrap();
    }
    drop(store);
    let done = recover(copy.path(), Ulid(5), now()).unwrap();
    assert_eq!(done.saved, 1);
    assert!(copy.path().join("engram.db.damaged-1-wal").exists());
}

#[test]
fn what_is_not_ours_or_cannot_be_read_at_all_is_left() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("engram.db");
    for bytes in [None, Some(vec![7; 9_000]), Some(vec![])] {
        if let Some(bytes) = &bytes {
            fs::write(&path, bytes).unwrap();
        }
        let error = recover(home.path(), Ulid(5), now()).unwrap_err();
        let says = engram_model::Refusal::from(error);
        assert_eq!(says.code.as_str(), "STORE_CORRUPT");
        assert!(!says.hint.contains("--recover"), "{says}");
        assert_eq!(fs::read(&path).ok(), bytes);
        let there = fs::read_dir(home.path()).unwrap().count();
        assert_eq!(
            there,
            usize::from(bytes.is_some()),
            "nothing is created there"
        );
    }
}

/// The database is cut short, as a full disk or an interrupted copy leaves it.
#[test]
fn a_database_that_was_cut_short_is_read_as_far_as_it_goes() {
    let whole = TempDir::new().unwrap();
    fill(whole.path());
    let bytes = fs::read(whole.path().join("engram.db")).unwrap();
    // At half the size, the pages that lead to the entries are gone together with the entries; all
    // are counted.
    for (kept, is_some) in [
        (bytes.len() - 1, true),
        (bytes.len() * 9 / 10, true),
        (bytes.len() / 2, false),
    ] {
        let home = TempDir::new().unwrap();
        fs::write(home.path().join("engram.db"), &bytes[..kept]).unwrap();
        let done = recover(home.path(), Ulid(5), now()).unwrap();
        let there = count_readable(&open(home.path()));
        assert_eq!(there > 0, is_some, "{kept} bytes: {done:?}");
        assert_eq!(
            done.saved + done.lost,
            CLAIMS as u64 + 2,
            "{kept} bytes: {done:?}"
        );
        put(&open(home.path()), 88_888, "after").unwrap();
    }
}

/// Something emptied the database: it does not count as a new home while its index shows otherwise.
#[test]
fn a_database_that_was_emptied_is_not_taken_for_a_new_one() {
    let empty = |home: &Path| {
        for end in ["", "-wal", "-shm"] {
            let file = home.join(format!("engram.db{end}"));
            if file.exists() {
                fs::write(file, b"").unwrap();
            }
        }
    };
    let home = TempDir::new().unwrap();
    fill(home.path());
    empty(home.path());
    Store::open(home.path(), Ulid(1)).expect("without other files, the home is new");

    let home = TempDir::new().unwrap();
    fill(home.path());
    let store = open(home.path());
    let index = engram_store::Index::open(&store, |_| Derived::default()).unwrap();
    index.catch_up(&store).unwrap();
    drop((index, store));
    empty(home.path());
    for refused in [
        Store::open(home.path(), Ulid(1)).map(drop),
        recover(home.path(), Ulid(1), now()).map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, StoreError::Emptied(_)), "{refused}");
    }
    let database = fs::read(home.path().join("engram.db")).unwrap();
    assert_eq!(database, b"", "nothing was changed");
}
