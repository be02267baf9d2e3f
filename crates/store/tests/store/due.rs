//! Due comparisons: a process that worked on an older state does not overwrite a newer one.

use engram_store::{Due, StoreError};
use tempfile::TempDir;

use crate::fixture::{PROJECT, now, open};

#[test]
fn what_is_to_be_compared_again_is_not_taken_for_compared() {
    const SEQ: u64 = 7;
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let left = || {
        let page = store.read::<_, StoreError>(|tx| tx.next_due(0, 10));
        page.unwrap().into_iter().map(|it| it.1).next()
    };
    let replace = |before, after| {
        let replaced =
            store.write::<_, StoreError>(now(), |tx| tx.replace_due(PROJECT, SEQ, before, after));
        replaced.unwrap()
    };
    let again = || {
        let noted = store.write::<_, StoreError>(now(), |tx| tx.compare_again(PROJECT, SEQ));
        noted.unwrap();
    };
    let is_cut = || store.read::<_, StoreError>(|tx| tx.is_cut(SEQ)).unwrap();
    // A new comparison starts from the beginning, whatever was due before and however far it got.
    let narrow = Due {
        below: 5,
        of_runs: true,
        ..Due::ALL
    };
    for begun in [Due::ALL, narrow] {
        store
            .write::<_, StoreError>(now(), |tx| tx.keep_due(PROJECT, SEQ, begun))
            .unwrap();
        assert!(is_cut(), "ending a side now must mark it");
        again();
        let noted = left().unwrap();
        assert!(!replace(begun, None));
        assert_eq!(left(), Some(noted));
        assert_eq!((noted.below, noted.of_runs), (Due::ALL.below, false));
        let cut = Due {
            is_cut: true,
            ..Due::NONE
        };
        assert!(replace(noted, Some(cut)));
        assert_eq!((left(), is_cut()), (None, true));
        again();
        assert!(replace(left().unwrap(), None));
        assert_eq!((left(), is_cut()), (None, false));
    }
}
