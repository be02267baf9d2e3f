//! Places in the list: a confirmation keeps its claim's place, even in homes of earlier builds.

use engram_model::{Change, EngramId, Feed, Filter, LineageId, Operation, Record};
use engram_store::{Store, StoreError};
use jiff::SignedDuration;
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{
    PROJECT, UNDO_SINCE_11, add, assert_sound, damage, engram, now, open, record,
};

fn id(number: u128) -> EngramId {
    EngramId(Ulid(number))
}

/// A later version of a claim, an hour later.
fn version(number: u128, first: u128, claim: &str) -> Record {
    let at = now() + SignedDuration::from_hours(1);
    Record {
        lineage_id: LineageId(id(first).0),
        valid_from: at,
        recorded_at: at,
        ..engram(number, claim)
    }
}

/// The first claim is confirmed twice; the second is corrected and restored; the third is forgotten
/// and restored. Each version's number is its place in the journal, except for 4 and later.
fn fill(store: &Store) {
    let after = |number, first, old, claim| Record {
        supersedes: Some(id(old)),
        ..version(number, first, claim)
    };
    let again = |number, first, old, supersedes: Option<u128>, claim| Record {
        restores: Some(id(old)),
        supersedes: supersedes.map(id),
        ..version(number, first, claim)
    };
    store
        .write::<_, StoreError>(now(), |writer| {
            add(writer, engram(1, "one"))?;
            add(writer, engram(2, "two"))?;
            add(writer, engram(3, "three"))?;
            record(writer, Operation::Forgotten(id(3)))?;
            add(writer, after(5, 1, 1, "one"))?;
            add(writer, after(6, 2, 2, "other"))?;
            add(writer, again(7, 2, 2, Some(6), "two"))?;
            add(writer, after(8, 1, 5, "one"))?;
            add(writer, again(9, 3, 3, None, "three"))?;
            // The same words in another lineage are another claim.
            add(writer, version(10, 10, "one")).map(drop)
        })
        .unwrap();
}

/// The version and place of each listed engram, page by page.
fn list(store: &Store, filter: &Filter, limit: usize, oldest_first: bool) -> Vec<(EngramId, u64)> {
    let mut feed = Feed {
        after: oldest_first.then_some(0),
        limit: Some(limit),
        listed: true,
        filter: filter.clone(),
        ..Feed::default()
    };
    let mut all = Vec::new();
    loop {
        let page = store.read::<_, StoreError>(|it| it.feed(PROJECT, "", &feed, now()));
        let (entries, next) = page.unwrap();
        for entry in entries {
            match entry.change {
                Change::Stored(engram) => all.push((engram.id, engram.list_place())),
                other => panic!("{other:?}"),
            }
        }
        match (next, oldest_first) {
            (None, _) => return all,
            (next, true) => feed.after = next,
            (next, false) => feed.before = next,
        }
    }
}

fn assert_list(store: &Store) {
    let want = [(10, 10), (6, 6), (9, 3), (7, 2), (8, 1)].map(|(it, place)| (id(it), place));
    let text = |text: &str| Filter {
        text: text.to_owned(),
        ..Filter::default()
    };
    let since = Filter {
        since: Some(now() + SignedDuration::from_mins(30)),
        ..Filter::default()
    };
    for (what, filter, want) in [
        ("all", Filter::default(), &want[..]),
        ("by a word", text("one"), &[want[0], want[4]]),
        ("first said since", since, &want[..2]),
    ] {
        for limit in [1, 2, 100] {
            assert_eq!(list(store, &filter, limit, false), want, "{what}, {limit}");
            let mut forth = list(store, &filter, limit, true);
            forth.reverse();
            assert_eq!(forth, want, "{what}, {limit}, oldest first");
        }
        let facets = store.read::<_, StoreError>(|it| it.facets(PROJECT, "", &filter, now()));
        assert_eq!(facets.unwrap().total, want.len() as u64, "{what}");
    }
    // The journal is unchanged.
    let journal = store.read::<_, StoreError>(|it| it.feed(PROJECT, "", &Feed::default(), now()));
    let seqs: Vec<u64> = journal.unwrap().0.iter().map(|it| it.seq).collect();
    assert_eq!(seqs, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    assert_sound(store);
}

#[test]
fn a_version_with_the_same_words_takes_the_place_of_the_one_before() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    fill(&store);
    assert_list(&store);
    store.rebuild(now()).unwrap();
    assert_list(&store);
    // Redacted versions leave the counts only once.
    crate::fixture::redact(&store, 1, "one");
    assert_sound(&store);
}

/// A list of a past time covers every version at its own number, whichever version has its place
/// now.
#[test]
fn what_held_then_is_told_of_every_version() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let later = now() + SignedDuration::from_hours(1);
    let after = |number, first, claim| Record {
        supersedes: Some(id(first)),
        ..version(number, first, claim)
    };
    store
        .write::<_, StoreError>(now(), |writer| {
            add(writer, engram(1, "one"))?;
            add(writer, engram(2, "two"))?;
            add(writer, engram(3, "three")).map(drop)
        })
        .unwrap();
    store
        .write::<_, StoreError>(later, |writer| {
            add(writer, after(4, 1, "one"))?;
            add(writer, after(5, 2, "other"))?;
            record(writer, Operation::Forgotten(id(3)))
        })
        .unwrap();
    let own = |all: &[u64]| -> Vec<(EngramId, u64)> {
        all.iter().map(|it| (id((*it).into()), *it)).collect()
    };
    for (what, minutes, want) in [
        ("before all", -1, own(&[])),
        ("at the first moment", 0, own(&[3, 2, 1])),
        ("then", 30, own(&[3, 2, 1])),
        ("just before", 59, own(&[3, 2, 1])),
        ("from the moment on", 60, own(&[5, 4])),
        ("later", 90, own(&[5, 4])),
    ] {
        let filter = Filter {
            held_at: Some(now() + SignedDuration::from_mins(minutes)),
            ..Filter::default()
        };
        for limit in [1, 2, 100] {
            assert_eq!(list(&store, &filter, limit, false), want, "{what}, {limit}");
            let mut forth = list(&store, &filter, limit, true);
            forth.reverse();
            assert_eq!(forth, want, "{what}, {limit}, oldest first");
        }
        let facets = store.read::<_, StoreError>(|it| it.facets(PROJECT, "", &filter, later));
        assert_eq!(facets.unwrap().total, want.len() as u64, "{what}");
    }
}

/// One entry of the journal cannot be read; the others have their places.
#[test]
fn a_home_of_the_ninth_step_has_its_claims_where_they_stood() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    fill(&store);
    drop(store);
    let before = "DROP TABLE token; DROP TABLE grant; DROP TABLE request; DROP TABLE refused;
         DROP INDEX engram_place; DROP TRIGGER engram_replaced; DROP TRIGGER engram_erased;
         ALTER TABLE engram DROP COLUMN place; ALTER TABLE engram DROP COLUMN placed_at;
         ALTER TABLE engram DROP COLUMN stands;
         CREATE TRIGGER engram_erased AFTER UPDATE OF topic ON engram BEGIN SELECT 1; END;
         DELETE FROM tally;
         INSERT INTO tally SELECT project, kind, scope, fact_type, verified, by, topic, count(*)
            FROM engram GROUP BY 1, 2, 3, 4, 5, 6, 7;
         DROP TABLE conflict; DROP INDEX content_side; ALTER TABLE content DROP COLUMN side;
         PRAGMA user_version = 9";
    damage(home.path(), UNDO_SINCE_11);
    damage(home.path(), before);
    assert_list(&open(home.path()));
    damage(
        home.path(),
        &format!("{UNDO_SINCE_11} UPDATE journal SET body = 'no json' WHERE seq = 7; {before}"),
    );
    let store = open(home.path());
    let places = list(&store, &Filter::default(), 100, false);
    assert!(places.contains(&(id(8), 1)), "{places:?}");
}
