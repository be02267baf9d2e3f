//! The index as a follower: small steps, erasure, and being lost.

use std::fs;

use engram_store::{Index, Look, Store, StoreError, Terms, Worth};
use tempfile::TempDir;

use crate::fixture::{PROJECT, head, open, put, redact};

fn terms(word: &str) -> (Terms, Worth) {
    let terms = Terms {
        words: vec![word.to_owned()],
        ..Terms::default()
    };
    let worth = Worth {
        words: vec![1.0],
        ..Worth::default()
    };
    (terms, worth)
}

fn find(look: &Look, word: &str, limit: usize) -> Vec<u64> {
    let (terms, worth) = terms(word);
    look.search(&terms, &worth, limit).unwrap()
}

fn count(look: &Look, word: &str) -> (u64, u64) {
    let found = look.frequencies(&terms(word).0).unwrap();
    (found.words[0], found.total)
}

fn segments(store: &Store) -> usize {
    let files = fs::read_dir(Index::folder(store.home())).unwrap();
    files
        .filter(|it| {
            it.as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|it| it == "term")
        })
        .count()
}

/// One commit for each entry, as a process does that follows: the pieces are merged as they come.
#[test]
fn small_steps_do_not_pile_up() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let index = Index::open(&store).unwrap();
    for at in 1..=120 {
        put(&store, at, &format!("walnut {at}")).unwrap();
        assert_eq!(index.catch_up(&store).unwrap(), at as u64);
    }
    assert!(segments(&store) < 20, "{} pieces", segments(&store));
    let look = index.look(PROJECT).unwrap();
    assert_eq!((look.indexed(), count(&look, "walnut")), (120, (120, 120)));
    let newest: Vec<u64> = (71..=120).rev().collect();
    assert_eq!(
        find(&look, "walnut", 50),
        newest,
        "among equals the newest, in any pieces"
    );
    // Built at once, the same.
    drop(index);
    Index::delete(store.home()).unwrap();
    let index = Index::open(&store).unwrap();
    assert_eq!(index.catch_up(&store).unwrap(), 120);
    assert_eq!(find(&index.look(PROJECT).unwrap(), "walnut", 50), newest);
}

/// The last one of a piece, one of many, and one that was never indexed.
#[test]
fn what_is_erased_leaves_the_index() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let index = Index::open(&store).unwrap();
    for (round, others) in [0, 3, 30].into_iter().enumerate() {
        for read_between in [true, false] {
            let number = (round * 1_000 + usize::from(read_between) * 100) as u128 + 1;
            let claim = format!("secretword{number}");
            put(&store, number, &claim).unwrap();
            for at in 0..others {
                put(&store, number + 1 + at, &format!("walnut {number} {at}")).unwrap();
            }
            if read_between {
                index.catch_up(&store).unwrap();
            }
            let seq = redact(&store, number, &claim);
            assert_eq!(index.catch_up_to(&store, seq).unwrap(), seq);
            assert!(find(&index.look(PROJECT).unwrap(), &claim, 10).is_empty());
            let left = engram_kit::holding(&Index::folder(store.home()), "secretword");
            assert!(left.is_empty(), "{others} others, {read_between}: {left:?}");
        }
    }
    let look = index.look(PROJECT).unwrap();
    assert_eq!(count(&look, "walnut"), (66, 66));
}

#[test]
fn two_who_have_it_open_take_turns() {
    let home = TempDir::new().unwrap();
    let stores = [open(home.path()), open(home.path())];
    let indexes = [
        Index::open(&stores[0]).unwrap(),
        Index::open(&stores[1]).unwrap(),
    ];
    std::thread::scope(|scope| {
        for at in 0..2 {
            let (store, index) = (&stores[at], &indexes[at]);
            scope.spawn(move || {
                for line in 1..=40u128 {
                    put(store, at as u128 * 1_000 + line, "walnut").unwrap();
                    index.catch_up(store).unwrap();
                }
            });
        }
    });
    let end = head(&stores[0]);
    for (store, index) in stores.iter().zip(&indexes) {
        assert_eq!(index.catch_up_to(store, end).unwrap(), end);
        let look = index.look(PROJECT).unwrap();
        assert_eq!(count(&look, "walnut"), (80, 80), "each once");
    }
}

/// Deleted while another has it open: an error at most, never a wrong answer, and it heals.
#[test]
fn deleted_under_another() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let theirs = Index::open(&store).unwrap();
    put(&store, 1, "walnut one").unwrap();
    theirs.catch_up(&store).unwrap();
    Index::delete(store.home()).unwrap();
    assert!(theirs.look(PROJECT).is_err());
    assert!(theirs.catch_up(&store).is_err());
    let ours = Index::open(&store).unwrap();
    assert_eq!(ours.look(PROJECT).unwrap().indexed(), 0);
    put(&store, 2, "walnut two").unwrap();
    assert_eq!(
        theirs.catch_up(&store).unwrap(),
        2,
        "the new one is taken up"
    );
    for index in [&ours, &theirs] {
        assert_eq!(find(&index.look(PROJECT).unwrap(), "walnut", 10), [2, 1]);
    }
}

/// Where there is no index to be had, the newest are looked at, and what is left out is counted.
#[test]
fn what_no_index_has_read_is_read_from_the_newest() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    for number in 1..=10 {
        put(&store, number, &format!("Claim {number}.")).unwrap();
    }
    for (after, most, seqs, older) in [
        (0, 4, 7..=10, 6),
        (0, 10, 1..=10, 0),
        (0, 50, 1..=10, 0),
        (8, 4, 9..=10, 0),
        (3, 4, 7..=10, 3),
    ] {
        let (found, left) = store
            .read::<_, StoreError>(|it| it.engrams_after(PROJECT, after, most))
            .unwrap();
        let found: Vec<u64> = found.iter().map(|it| it.seq).collect();
        assert_eq!(
            (found, left),
            (seqs.collect(), older),
            "after {after}, {most}"
        );
    }
}
