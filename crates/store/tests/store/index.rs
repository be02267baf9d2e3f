//! The index as a follower: small steps, erasure, and loss.

use std::fs;

use engram_model::{Code, HashKeys, Refusal, hash_keys};
use engram_store::{
    Derived, Index, IndexQuery, SearchMatch, SearchTerms, SearchWeights, Store, StoreError,
};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{PROJECT, head, open, put, redact};

fn look(index: &Index, word: &str) -> Result<IndexQuery, StoreError> {
    let terms = SearchTerms {
        words: vec![word.to_owned()],
        ..SearchTerms::default()
    };
    index.query(PROJECT, &terms)
}

fn seqs_found(look: &IndexQuery, limit: usize) -> Vec<u64> {
    let worth = SearchWeights {
        words: vec![1],
        ..SearchWeights::default()
    };
    let found = look.search(&worth, limit).unwrap();
    found.iter().map(|it| it.seq).collect()
}

fn find(index: &Index, word: &str, limit: usize) -> Vec<u64> {
    seqs_found(&look(index, word).unwrap(), limit)
}

fn count(index: &Index, word: &str) -> (u64, u64) {
    let found = look(index, word).unwrap().frequencies();
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

/// Nothing may skip an index of another home as if it were one damaged record.
#[test]
fn an_index_of_another_home_is_more_than_one_record() {
    let (home, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = open(home.path());
    let stranger = Store::open(other.path(), Ulid(2)).unwrap();
    put(&stranger, 1, "A walnut.").unwrap();
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    let foreign = Index::open(&stranger, |_| Derived::default()).unwrap();
    foreign.catch_up(&stranger).unwrap();
    let meta = |home: &TempDir| Index::folder(home.path()).join("meta.json");
    fs::copy(meta(&other), meta(&home)).unwrap();
    let error = index.cursor().unwrap_err();
    assert!(!error.is_of_one_record(), "{error}");
    let refusal = Refusal::from(error);
    assert_eq!(refusal.code, Code::StoreCorrupt);
    assert!(refusal.message.contains("another home"), "{refusal}");
    assert!(refusal.hint.contains("--reindex"), "{refusal}");
}

/// One commit for each entry, as a follower makes them: segments are merged as they come.
#[test]
fn small_steps_do_not_pile_up() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    for at in 1..=120 {
        put(&store, at, &format!("walnut {at}")).unwrap();
        assert_eq!(index.catch_up(&store).unwrap(), at as u64);
    }
    assert!(segments(&store) < 20, "{} pieces", segments(&store));
    assert_eq!(look(&index, "walnut").unwrap().indexed(), 120);
    assert_eq!(count(&index, "walnut"), (120, 120));
    let newest: Vec<u64> = (71..=120).rev().collect();
    assert_eq!(
        find(&index, "walnut", 50),
        newest,
        "the newest first among equals, in any segmentation"
    );
    // An index that is built at once gives the same.
    drop(index);
    Index::delete(store.home()).unwrap();
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    assert_eq!(index.catch_up(&store).unwrap(), 120);
    assert_eq!(find(&index, "walnut", 50), newest);
}

/// The last version of a segment, one of many, and one that was never indexed.
#[test]
fn what_is_erased_leaves_the_index() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let index = Index::open(&store, |_| Derived::default()).unwrap();
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
            assert!(find(&index, &claim, 10).is_empty());
            let left = engram_kit::files_holding(&Index::folder(store.home()), "secretword");
            assert!(left.is_empty(), "{others} others, {read_between}: {left:?}");
        }
    }
    assert_eq!(count(&index, "walnut"), (66, 66));
}

#[test]
fn two_who_have_it_open_take_turns() {
    let home = TempDir::new().unwrap();
    let stores = [open(home.path()), open(home.path())];
    let indexes = [
        Index::open(&stores[0], |_| Derived::default()).unwrap(),
        Index::open(&stores[1], |_| Derived::default()).unwrap(),
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
        assert_eq!(count(index, "walnut"), (80, 80), "each once");
    }
}

/// A few words in all combinations, in one segment and in many: a search finds what a plain count
/// over all versions finds, in the same order.
#[test]
fn a_search_finds_what_a_plain_count_finds() {
    const WORDS: [&str; 6] = ["walnut", "cedar", "max_retries", "birch", "42", "maple"];
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    let mut keys = Vec::new();
    for number in 1..=64u128 {
        let own = WORDS.iter().enumerate();
        let own = own.filter(|(at, _)| number >> at & 1 == 1 || number % (*at as u128 + 2) == 0);
        let own: Vec<&str> = own.map(|(_, word)| *word).collect();
        let claim = format!("Always {}", own.join(" "));
        put(&store, number, &claim).unwrap();
        keys.push(hash_keys(&claim, &[], "", &[]));
        if number % 9 == 0 {
            index.catch_up(&store).unwrap();
        }
    }
    index.catch_up(&store).unwrap();
    for (asked, floor) in [
        ("walnut cedar", 0),
        ("walnut cedar birch maple", 6),
        ("walnut cedar birch maple", 8),
        ("max_retries walnut maple", 9),
        ("42 birch cedar", 3),
    ] {
        let terms = hash_keys(asked, &[], "", &[]);
        let terms = SearchTerms {
            exact: terms.names().cloned().collect(),
            words: terms.words,
            numbers: terms.numbers,
            grams: terms.grams,
        };
        let worth = SearchWeights {
            exact: (0..terms.exact.len() as u64).map(|it| 10 + it).collect(),
            words: (0..(terms.words.len() + terms.numbers.len()) as u64)
                .map(|it| 1 + it * 2)
                .collect(),
            gram: 1,
            floor,
        };
        let look = index.query(PROJECT, &terms).unwrap();
        let expected = match_plainly(&keys, &terms, &worth);
        let has_enough = |it: &SearchMatch| it.exact > 0 || it.words_worth >= floor;
        let mut found = look.search(&worth, 1_000).unwrap();
        found.retain(has_enough);
        assert_eq!(found, expected, "{asked}, {floor}");
        if floor == 0 {
            assert_eq!(look.search(&worth, 5).unwrap(), expected[..5], "{asked}");
        }
        let frequencies = look.frequencies();
        assert_eq!(frequencies.total, 64);
        let words = terms.words.iter().chain(&terms.numbers);
        for (word, count) in words.zip(frequencies.words) {
            let having = keys.iter().filter(|it| has_word(it, word)).count();
            assert_eq!(count, having as u64, "{word}");
        }
    }
}

fn has_word(keys: &HashKeys, word: &String) -> bool {
    keys.words.contains(word) || keys.numbers.contains(word)
}

fn match_plainly(
    keys: &[HashKeys],
    terms: &SearchTerms,
    worth: &SearchWeights,
) -> Vec<SearchMatch> {
    let mut all: Vec<(u64, SearchMatch)> = Vec::new();
    for (at, keys) in keys.iter().enumerate() {
        let mut found = SearchMatch {
            seq: at as u64 + 1,
            ..SearchMatch::default()
        };
        for (key, worth) in terms.exact.iter().zip(&worth.exact) {
            if keys.names().any(|own| own == key) {
                found.exact += 1;
                found.exact_worth += worth;
                found.said += 1;
            }
        }
        let words = terms.words.iter().chain(&terms.numbers);
        for (key, worth) in words.zip(&worth.words) {
            if has_word(keys, key) {
                found.words += 1;
                found.words_worth += worth;
                found.said += 1;
            }
        }
        let grams = terms.grams.iter();
        found.grams = grams.filter(|it| keys.grams.contains(it)).count();
        let sum = found.exact_worth + found.words_worth + found.grams as u64 * worth.gram;
        if found.exact > 0 || (found.words_worth >= worth.floor && found.words > 0) {
            all.push((sum, found));
        }
    }
    all.sort_by_key(|(sum, it)| std::cmp::Reverse((*sum, it.seq)));
    all.into_iter().map(|(_, it)| it).collect()
}

/// Deleted while another process has it open: at most an error, never a wrong answer, and it
/// recovers.
#[test]
fn deleted_under_another() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let theirs = Index::open(&store, |_| Derived::default()).unwrap();
    put(&store, 1, "walnut one").unwrap();
    theirs.catch_up(&store).unwrap();
    Index::delete(store.home()).unwrap();
    assert!(look(&theirs, "walnut").is_err());
    assert!(theirs.catch_up(&store).is_err());
    let ours = Index::open(&store, |_| Derived::default()).unwrap();
    assert_eq!(look(&ours, "walnut").unwrap().indexed(), 0);
    put(&store, 2, "walnut two").unwrap();
    assert_eq!(theirs.catch_up(&store).unwrap(), 2, "the new index is used");
    for index in [&ours, &theirs] {
        assert_eq!(find(index, "walnut", 10), [2, 1]);
    }
}

/// A process that rebuilds the index (for a home of an earlier build, or after it was deleted)
/// leaves it behind the journal, so that the others learn that there is something to read.
#[test]
fn one_that_is_begun_anew_is_behind() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    put(&store, 1, "walnut").unwrap();
    assert!(Index::is_behind(&store).unwrap());
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    index.catch_up(&store).unwrap();
    assert!(!Index::is_behind(&store).unwrap());
    drop(index);
    Index::delete(store.home()).unwrap();
    assert!(Index::is_behind(&store).unwrap());
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    assert!(
        Index::is_behind(&store).unwrap(),
        "the index exists and is empty"
    );
    index.catch_up(&store).unwrap();
    assert!(!Index::is_behind(&store).unwrap());
}

/// Without an index, the newest versions are examined, and those left out are counted.
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
            .read::<_, StoreError>(|it| it.traits_after(PROJECT, after, most))
            .unwrap();
        let found: Vec<u64> = found.iter().map(|it| it.seq).collect();
        assert_eq!(
            (found, left),
            (seqs.collect(), older),
            "after {after}, {most}"
        );
    }
}

/// Fast writers do not keep it busy: it reads only what was there when it began.
#[test]
fn reading_on_ends_while_others_write() {
    const MAX_WRITES: u128 = 20_000;
    let home = TempDir::new().unwrap();
    let (store, writing) = (open(home.path()), open(home.path()));
    put(&store, 1, "walnut").unwrap();
    let index = Index::open(&store, |_| Derived::default()).unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::Relaxed;
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let goes_on = |number: &u128| *number < MAX_WRITES && !is_done.load(order);
            let mut written = 0;
            for number in (2..).take_while(goes_on) {
                put(&writing, number, "walnut").unwrap();
                written += 1;
            }
            written
        });
        for _ in 0..20 {
            index.catch_up(&store).unwrap();
        }
        is_done.store(true, order);
        writer.join().unwrap()
    });
    assert!(
        written < MAX_WRITES as usize - 2,
        "it read until after the last write"
    );
}

/// Versions are indexed under the keys given by the opener; of many, the newest are returned.
#[test]
fn versions_are_found_by_the_keys_that_were_given() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let index = Index::open(&store, |it| Derived {
        keys: vec![it.claim.len() as u64, 7_000],
        sketch: it.id.0.to_bytes().map(u64::from).to_vec(),
    })
    .unwrap();
    for at in 1..=60 {
        let claim = if at % 2 == 0 { "even" } else { "odd" };
        put(&store, at, claim).unwrap();
        if at % 20 == 0 {
            index.catch_up(&store).unwrap();
        }
    }
    redact(&store, 2, "even");
    index.catch_up(&store).unwrap();
    const ALL: u64 = u64::MAX;
    let kin = index.related_versions().unwrap();
    assert_eq!(kin.indexed(), head(&store));
    let under = |key, below, most| {
        let (found, has_more) = kin.of(key, below, most).unwrap();
        (found.iter().map(|it| it.seq).collect::<Vec<_>>(), has_more)
    };
    assert_eq!(under(3, 57, 2), (vec![55, 53], true));
    assert_eq!(under(3, ALL, 2), (vec![59, 57], true));
    assert_eq!(under(3, ALL, 1_000).0.len(), 30);
    assert_eq!(under(4, ALL, 5), (vec![], false), "erased");
    assert_eq!(under(5, ALL, 5), (vec![], false));
    assert_eq!(under(7_000, ALL, 3).0, [59, 57, 55]);
    // Each with its own sketch, though they lie in several segments.
    let found = kin.of(3, ALL, 1_000).unwrap().0;
    let sketches = kin.sketches(&found).unwrap();
    let ids = found
        .iter()
        .map(|it| store.read(|tx| tx.engram_at(it.seq)).unwrap().unwrap().id);
    let expected = ids.map(|it| it.0.to_bytes().map(u64::from).to_vec());
    assert!(sketches.into_iter().eq(expected));
}
