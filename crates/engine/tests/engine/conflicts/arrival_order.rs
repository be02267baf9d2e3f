//! Conflicts have the same ids, and each is found once, in whatever order the claims arrive,
//! concurrently or with accidents in between.

use std::collections::BTreeSet;

use engram_model::{Change, ConflictId, EngramId, LineageId, Operation, Record};
use engram_store::{Due, NewEntry, Store, StoreError};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use ulid::Ulid;

use crate::fixture::{Asked, REINDEX, Sandbox, USER, conflicts::open_conflicts, on_topic};

/// How many claims each subject has; all contradict one another.
const EACH: u32 = 4;

fn contradictory_claims() -> Vec<(&'static str, String)> {
    let of = |subject: &'static str| {
        (1..=EACH).map(move |minutes| {
            let claim = format!("The {subject} lock lasts {minutes} minutes.");
            (subject, claim)
        })
    };
    of("wallet").chain(of("session")).collect()
}

/// A home whose project has the same id in each of these tests.
fn make_sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.open().claim("The parser is slow.");
    sandbox
}

fn open_ids(at: &Asked) -> BTreeSet<ConflictId> {
    open_conflicts(at).iter().map(|it| it.id).collect()
}

/// The conflicts that were found, listed once for each time.
fn conflicts_found(at: &Asked) -> Vec<ConflictId> {
    let entries = at.journal().entries.into_iter();
    entries
        .filter_map(|it| match it.change {
            Change::Conflict { id, .. } => Some(id),
            _ => None,
        })
        .collect()
}

fn dice_of(seed: u64) -> impl FnMut(u64) -> usize {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    move |most| {
        let thrown = (0..most).new_tree(&mut runner).unwrap();
        thrown.current() as usize
    }
}

#[test]
fn no_order_and_no_accident_changes_what_is_found() {
    let mut all: Option<BTreeSet<ConflictId>> = None;
    let (mut deleted, mut flipped) = (0, 0);
    for seed in 0..6 {
        let mut throw = dice_of(seed);
        let sandbox = make_sandbox();
        let mut left = contradictory_claims();
        let mut at = sandbox.open_at("repo", 100 + seed);
        let mut opened = 1_000 * (seed + 1);
        while !left.is_empty() {
            sandbox.clock.turn(30);
            match throw(8) {
                // A process ends and another begins.
                0 => {
                    opened += 1;
                    at = sandbox.open_at("repo", opened);
                }
                1 => deleted += usize::from(sandbox.delete_index()),
                2 => drop(at.0.doctor(REINDEX).unwrap()),
                3 => {
                    flipped += usize::from(sandbox.flip_bit_of_index(|_| 0));
                    opened += 1;
                    at = sandbox.open_at("repo", opened);
                }
                _ => {
                    let (topic, claim) = left.swap_remove(throw(left.len() as u64));
                    let who = match throw(3) {
                        0 => USER,
                        number => at.agent(&format!("agent-{number}")),
                    };
                    at.put(&who, on_topic(topic, &claim)).unwrap();
                }
            }
        }
        let pairs = (EACH * (EACH - 1)) as usize;
        let ids = open_ids(&at);
        assert_eq!(ids.len(), pairs, "seed {seed}");
        let found = conflicts_found(&at);
        assert_eq!(found.len(), pairs, "seed {seed}: each once");
        assert_eq!(*all.get_or_insert(ids.clone()), ids, "seed {seed}");
    }
    assert!(deleted > 0 && flipped > 0, "{deleted}, {flipped}");
}

/// Versions stored before anything was compared: a long-lived process finds each conflict once.
#[test]
fn what_was_stored_before_is_compared_behind_the_answers() {
    let sandbox = make_sandbox();
    let at = sandbox.open_at("repo", 5);
    let first = at.claim("The parser is slow.");
    let first = at.get(&USER, first.id).unwrap();
    let store = Store::open(&sandbox.home(), Ulid(0)).unwrap();
    store
        .write::<_, StoreError>(sandbox.clock.now(), |tx| {
            for (number, (topic, claim)) in contradictory_claims().into_iter().enumerate() {
                let id = Ulid::from_parts(7, number as u128);
                let engram = Record {
                    id: EngramId(id),
                    lineage_id: LineageId(id),
                    topic: topic.to_owned(),
                    content_hash: format!("sha256:{number:064x}"),
                    claim,
                    ..(*first).clone().into()
                };
                let project = engram.project;
                let seq = tx.record(&NewEntry {
                    project,
                    shareable: true,
                    agent: None,
                    by: "user",
                    operation: &Operation::Stored(Box::new(engram)),
                })?;
                tx.keep_due(project, seq, Due::ALL)?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(conflicts_found(&at), []);
    let pairs = (EACH * (EACH - 1)) as usize;
    for seed in [6, 7] {
        let at = sandbox.open_at("repo", seed);
        let (told, heard) = std::sync::mpsc::channel();
        let _reads = at.0.subscribe(0, move |entries| {
            let _ = told.send(entries);
        });
        at.0.follow().unwrap();
        let mut seen = 0;
        while seen < pairs {
            let entries = heard
                .recv_timeout(std::time::Duration::from_secs(60))
                .unwrap();
            let is_one = |it: &&engram_model::Entry| matches!(it.change, Change::Conflict { .. });
            seen += entries.iter().filter(is_one).count();
        }
        assert_eq!(
            (open_ids(&at).len(), conflicts_found(&at).len()),
            (pairs, pairs)
        );
    }
}

#[test]
fn what_is_said_at_once_is_found_as_if_one_after_the_other() {
    let sandbox = make_sandbox();
    let writers: Vec<_> = contradictory_claims()
        .chunks(2)
        .enumerate()
        .map(|(number, said)| {
            let at = sandbox.open_at("repo", 50 + number as u64);
            let said = said.to_vec();
            std::thread::spawn(move || {
                for (topic, claim) in said {
                    at.put(&USER, on_topic(topic, &claim)).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let at = sandbox.open_at("repo", 99);
    let pairs = (EACH * (EACH - 1)) as usize;
    assert_eq!(
        (open_ids(&at).len(), conflicts_found(&at).len()),
        (pairs, pairs)
    );
}
