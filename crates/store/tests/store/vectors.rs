//! Vectors of claims: each by one model, none without words.

use engram_store::{EmbeddedCount, EmbeddingModel, Store, StoreError, Vectors};
use jiff::Timestamp;

use crate::fixture::{PROJECT, assert_sound, now, open, put, redact};

fn number(store: &Store, name: &str, version: &str) -> EmbeddingModel {
    store
        .write::<_, StoreError>(Timestamp::UNIX_EPOCH, |it| it.number_model(name, version))
        .unwrap()
}

fn keep(store: &Store, model: EmbeddingModel, seq: u64, vector: &[i8]) {
    store
        .write::<_, StoreError>(Timestamp::UNIX_EPOCH, |it| {
            it.keep_vector(model, seq, vector)
        })
        .unwrap();
}

/// The places that have a vector of a model, and those that lack one.
fn places(store: &Store, model: EmbeddingModel) -> (Vec<u64>, Vec<u64>) {
    store
        .read::<_, StoreError>(|tx| {
            let having = Vectors::of(tx).after(model, 0, 100)?;
            let lacking = Vectors::of(tx).lacking_after(model, 0, 100)?;
            Ok((
                having.iter().map(|it| it.seq).collect(),
                lacking.iter().map(|it| it.seq).collect(),
            ))
        })
        .unwrap()
}

#[test]
fn a_version_has_the_vector_of_the_last_model_that_read_it() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let seqs = [1, 2].map(|it| put(&store, it, &format!("claim {it}")).unwrap());
    let first = number(&store, "mini", "a1");
    assert_eq!(number(&store, "mini", "a1"), first);
    assert_ne!(number(&store, "mini", "b2"), first);
    assert_eq!(places(&store, first), (vec![], seqs.to_vec()));
    keep(&store, first, seqs[0], &[127, 0, -128]);
    assert_eq!(places(&store, first), (vec![seqs[0]], vec![seqs[1]]));
    let kept = store
        .read::<_, StoreError>(|tx| Vectors::of(tx).after(first, 0, 1))
        .unwrap();
    assert_eq!(
        (kept[0].project, &kept[0].vector[..]),
        (PROJECT, &[127, 0, -128][..])
    );

    // Another model takes its place: the two are never there together.
    let second = number(&store, "mini", "b2");
    keep(&store, second, seqs[0], &[1, 2]);
    assert_eq!(places(&store, first), (vec![], seqs.to_vec()));
    let at = |model| {
        store
            .read::<_, StoreError>(|tx| Vectors::of(tx).at(model, seqs[0]))
            .unwrap()
    };
    assert_eq!((at(first), at(second)), (None, Some(vec![1, 2])));
    let count = store
        .read::<_, StoreError>(|tx| Vectors::of(tx).count(second))
        .unwrap();
    assert_eq!(
        count,
        EmbeddedCount {
            embedded: 1,
            unreadable: 0,
            all: 2
        }
    );
    let by = |number| {
        let id = crate::fixture::engram(number, "").id;
        store
            .read::<_, StoreError>(|tx| Vectors::of(tx).made_by(id))
            .unwrap()
    };
    assert_eq!(
        (by(1), by(2)),
        (Some(("mini".to_owned(), "b2".to_owned())), None)
    );
    assert_sound(&store);
}

#[test]
fn an_erased_claim_has_no_vector_and_gets_none() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let seqs = [1, 2].map(|it| put(&store, it, &format!("claim {it}")).unwrap());
    let model = number(&store, "mini", "a1");
    let secret: Vec<i8> = (1..=96).collect();
    keep(&store, model, seqs[0], &secret);
    let before = store.read::<_, StoreError>(|tx| tx.head()).unwrap();
    redact(&store, 1, "claim 1");
    let erased = |after| {
        store
            .read::<_, StoreError>(|tx| Vectors::of(tx).is_erased_after(after))
            .unwrap()
    };
    assert!(erased(before) && !erased(before + 1));
    assert_eq!(places(&store, model), (vec![], vec![seqs[1]]));
    // A follower that read the words before does not bring the vector back.
    keep(&store, model, seqs[0], &secret);
    assert_eq!(places(&store, model), (vec![], vec![seqs[1]]));
    // The tables are rebuilt without it, and its bytes are gone from the file.
    store.rebuild(now()).unwrap();
    assert_sound(&store);
    drop(store);
    let bytes: Vec<u8> = secret.iter().map(|it| it.cast_unsigned()).collect();
    for file in ["engram.db", "engram.db-wal"] {
        let found = std::fs::read(home.path().join(file)).unwrap_or_default();
        assert!(!found.windows(bytes.len()).any(|it| it == bytes), "{file}");
    }
}
