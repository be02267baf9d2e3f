//! What agents were shown, as fingerprints.

use engram_model::{
    AgentId, EngramId, Operation, RunId,
    operation::{Read, Redaction, Served},
};
use engram_store::{NewEntry, Store, StoreError};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{PROJECT, assert_sound, now, open, put, record};

fn agent(name: &str) -> AgentId {
    AgentId(name.to_owned())
}

fn read(store: &Store, by: &AgentId, prints: Vec<u64>) {
    store
        .write::<_, StoreError>(now(), |it| {
            it.record(&NewEntry {
                project: PROJECT,
                shareable: false,
                agent: Some(by),
                by: "one",
                operation: &Operation::Dereferenced(Read {
                    prints,
                    ..Read::default()
                }),
            })
        })
        .unwrap();
}

/// How many showings are kept for an agent, and which of these prints they contain.
fn prints_kept(store: &Store, of: &AgentId, prints: &[u64]) -> (usize, Vec<u64>) {
    let shown = store
        .read::<_, StoreError>(|it| it.fingerprints_of(of))
        .unwrap();
    let holds = |print: &&u64| shown.iter().any(|it| it.contains(**print));
    (shown.len(), prints.iter().filter(holds).copied().collect())
}

#[test]
fn each_agent_has_its_own_and_the_oldest_are_forgotten() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let (one, two) = (agent("one"), agent("two"));
    for at in 0..100 {
        read(&store, &one, vec![u64::MAX - at, at, at]);
    }
    read(&store, &two, vec![5]);
    read(&store, &two, Vec::new());
    assert_eq!(
        prints_kept(&store, &one, &[0, 35, 36, 99, 100, u64::MAX - 99]),
        (64, vec![36, 99, u64::MAX - 99])
    );
    assert_eq!(prints_kept(&store, &two, &[5, 99]), (1, vec![5]));
    // An erasure leaves nothing from which words could be guessed.
    let redaction = Operation::Redacted(Redaction {
        id: EngramId(Ulid(3)),
        ..Redaction::default()
    });
    store
        .write::<_, StoreError>(now(), |it| record(it, redaction))
        .unwrap();
    assert_eq!(prints_kept(&store, &one, &[99]), (0, vec![]));
}

/// Old showings are removed, whatever is recorded between them.
#[test]
fn older_showings_are_removed_in_any_rhythm() {
    for others in [0, 1, 3, 15] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        let one = agent("one");
        for at in 0..400 {
            read(&store, &one, vec![at]);
            (0..others).for_each(|_| read(&store, &agent("two"), Vec::new()));
        }
        drop(store);
        let connection = rusqlite::Connection::open(home.path().join("engram.db")).unwrap();
        let rows: i64 = connection
            .query_row("SELECT count(*) FROM served", [], |row| row.get(0))
            .unwrap();
        assert!((64..200).contains(&rows), "{rows} beside {others}");
    }
}

#[test]
fn what_other_runs_read_is_counted_apart() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let ids = [1, 2].map(|at| EngramId(Ulid(at)));
    put(&store, 1, "one").unwrap();
    put(&store, 2, "two").unwrap();
    let serve = |run: u128, engrams: &[(EngramId, u64)]| {
        let served = Operation::Served(Served {
            to: agent("one"),
            run: RunId(Ulid(run)),
            engrams: engrams.to_vec(),
            prints: Vec::new(),
        });
        store
            .write::<_, StoreError>(now(), |it| record(it, served))
            .unwrap();
    };
    serve(1, &[(ids[0], 3), (ids[1], 1)]);
    serve(2, &[(ids[0], 2)]);
    serve(2, &[(ids[0], 4)]);
    let most = |run: Option<u128>, most| {
        let run = run.map(|it| RunId(Ulid(it)));
        store
            .read::<_, StoreError>(|it| it.read_most(PROJECT, run, most))
            .unwrap()
    };
    assert_eq!(most(None, 9), [(ids[0], 9), (ids[1], 1)]);
    assert_eq!(most(Some(2), 9), [(ids[0], 3), (ids[1], 1)]);
    assert_eq!(most(Some(1), 1), [(ids[0], 9)]);
    let hits = store
        .read::<_, StoreError>(|it| Ok(it.engram(ids[0])?.unwrap().figures.query_hits))
        .unwrap();
    assert_eq!(hits, 9);
    assert_sound(&store);
}
