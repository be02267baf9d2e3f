//! The index is a follower: however far it has read, and however it was lost, the answers are the
//! same.

use std::{fs, path::PathBuf, sync::mpsc::channel};

use engram_model::{Query, QueryReply, ask};

use crate::fixture::{Asked, REINDEX, Sandbox, USER, correction_of, draft, query};

/// A home with many versions, some closed, in three topics.
fn fill(sandbox: &Sandbox, count: usize) -> Asked {
    let engine = sandbox.open();
    for at in 0..count {
        sandbox.clock.turn(1);
        let area = ["parser", "gateway", "ledger"][at % 3];
        let mut claim = draft(&format!(
            "The {area} reads setting_{} and waits {} ms.",
            at % 40,
            at % 7
        ));
        // Few of them are about the same thing, because conflicts do not matter here.
        claim.topic = Some(format!("{area}/limits/{}", at / 40));
        claim.confidence = Some((at % 10) as f64 / 10.0);
        let stored = engine.put(&USER, claim).unwrap();
        match at % 9 {
            0 => drop(engine.forget(&USER, stored.id).unwrap()),
            1 => drop(
                engine
                    .put(
                        &USER,
                        correction_of(stored.id, &format!("The {area} waits {at} ms now.")),
                    )
                    .unwrap(),
            ),
            2 if at > 50 => drop(engine.redact(&USER, stored.id).unwrap()),
            _ => {}
        }
    }
    engine
}

fn answers_of(engine: &Asked, sandbox: &Sandbox) -> Vec<QueryReply> {
    let past = sandbox.clock.now() - jiff::SignedDuration::from_secs(100);
    (0..30)
        .map(|at| {
            let text = match at % 5 {
                0 => format!("setting_{at}"),
                1 => format!("how long does the gateway wait, {} ms?", at % 7),
                2 => "reads waits ms".to_owned(),
                3 => format!("ledger setting_{at} waits"),
                _ => format!("what is {at} ms now"),
            };
            let asked = Query {
                k: Some(20),
                topic: (at % 4 == 0).then(|| "parser".to_owned()),
                as_of: (at % 7 == 0).then_some(past),
                ..query(&text)
            };
            let mut reply = engine.ask(&USER, asked).unwrap();
            // The frequency of a word includes versions that the index has not dropped yet, so the
            // last digit of a score may differ.
            reply.engrams.iter_mut().for_each(|it| it.score = None);
            reply
        })
        .collect()
}

fn index_files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.index()).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn the_answers_do_not_depend_on_the_index() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox, 240);
    let expected = answers_of(&engine, &sandbox);
    assert!(expected.iter().filter(|it| it.engrams.len() > 5).count() > 10);
    let same = |engine: &Asked, what: &str| {
        for (at, (got, expected)) in answers_of(engine, &sandbox)
            .iter()
            .zip(&expected)
            .enumerate()
        {
            assert_eq!(got, expected, "{what}, question {at}");
        }
    };
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
    same(&engine, "built anew at once");
    same(&sandbox.open(), "another process");
    fs::remove_dir_all(sandbox.index()).unwrap();
    same(&engine, "deleted under an open engine");
    same(&sandbox.open(), "deleted");
    assert!(sandbox.open().0.doctor(REINDEX).unwrap().ok);
    same(&engine, "built anew by another");
}

/// Restores all files of the index, even if it was rebuilt meanwhile.
fn put_back(sandbox: &Sandbox, sound: &[(PathBuf, Vec<u8>)]) {
    fs::remove_dir_all(sandbox.index()).unwrap();
    fs::create_dir(sandbox.index()).unwrap();
    for (path, bytes) in sound {
        fs::write(path, bytes).unwrap();
    }
}

/// Damages every file of the index in turn: cut, emptied, overwritten, deleted.
#[test]
fn a_damaged_index_is_built_anew() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox, 90);
    let expected = answers_of(&engine, &sandbox);
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
    drop(engine);
    let sound: Vec<(PathBuf, Vec<u8>)> = index_files(&sandbox)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    assert!(sound.len() > 5, "{sound:?}");
    for (at, (path, bytes)) in sound.iter().enumerate() {
        // Two kinds of damage for each file, so that every kind affects a file of every type.
        for damage in [at % 4, (at + 2) % 4] {
            let damaged = match damage {
                0 => Some(bytes[..bytes.len() / 2].to_vec()),
                1 => Some(Vec::new()),
                2 => Some(vec![b'x'; bytes.len()]),
                _ => None,
            };
            match damaged {
                Some(damaged) => fs::write(path, damaged).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            let engine = sandbox.open();
            let name = path.file_name().unwrap();
            for (got, expected) in answers_of(&engine, &sandbox)
                .iter()
                .zip(&expected)
                .step_by(7)
            {
                assert_eq!(got, expected, "{name:?}, damage {damage}");
            }
            drop(engine);
            put_back(&sandbox, &sound);
        }
    }
}

/// Flipped bits: tantivy may panic on them, but every query is answered.
#[test]
fn a_scribbled_index_refuses_nobody() {
    let sandbox = Sandbox::new();
    drop(fill(&sandbox, 90));
    assert!(sandbox.open().0.doctor(REINDEX).unwrap().ok);
    let sound: Vec<(PathBuf, Vec<u8>)> = index_files(&sandbox)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    for (path, bytes) in &sound {
        for step in [7, 61] {
            let mut damaged = bytes.clone();
            damaged.iter_mut().step_by(step).for_each(|it| *it ^= 0x15);
            fs::write(path, damaged).unwrap();
            answers_of(&sandbox.open(), &sandbox);
            put_back(&sandbox, &sound);
        }
    }
}

/// Changes bytes at some places of its files; every query is answered.
fn scribble(sandbox: &Sandbox, sound: &[(PathBuf, Vec<u8>)], places: &[(usize, usize, u8)]) {
    for (file, at, byte) in places {
        let (path, bytes) = &sound[file % sound.len()];
        let mut damaged = fs::read(path).unwrap_or_else(|_| bytes.clone());
        if let Some(offset) = damaged.len().checked_sub(1).map(|last| at % (last + 1)) {
            damaged[offset] = *byte;
        }
        fs::write(path, damaged).unwrap();
    }
    answers_of(&sandbox.open(), sandbox);
    put_back(sandbox, sound);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(8))]

    #[test]
    fn no_bytes_of_an_index_end_anything(
        places in proptest::collection::vec(proptest::prelude::any::<(usize, usize, u8)>(), 1..40),
    ) {
        let sandbox = Sandbox::new();
        drop(fill(&sandbox, 30));
        assert!(sandbox.open().0.doctor(REINDEX).unwrap().ok);
        let sound: Vec<(PathBuf, Vec<u8>)> = index_files(&sandbox)
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        scribble(&sandbox, &sound, &places);
    }
}

/// An index of another home, or of a later state of this home, is not used.
#[test]
fn an_index_that_belongs_elsewhere_is_built_anew() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let engine = fill(&sandbox, 90);
    let expected = answers_of(&engine, &sandbox);
    let stranger = other.open();
    stranger.claim("Nothing of the kind.");
    for engine in [&engine, &stranger] {
        assert!(engine.0.doctor(REINDEX).unwrap().ok);
    }
    drop((engine, stranger));
    fs::rename(sandbox.index(), sandbox.path("own")).unwrap();
    fs::rename(other.index(), sandbox.index()).unwrap();
    assert_eq!(answers_of(&sandbox.open(), &sandbox), expected);
    // The database is restored from a copy, so the index is newer.
    fs::create_dir(other.index()).unwrap();
    let stranger = other.open();
    for name in ["engram.db", "engram.db-wal"] {
        let _ = fs::copy(other.home().join(name), sandbox.path(name));
    }
    drop(stranger);
    let stranger = other.open();
    stranger.claim("Later than the copy.");
    assert!(stranger.0.doctor(REINDEX).unwrap().ok);
    drop(stranger);
    for name in ["engram.db", "engram.db-wal"] {
        let _ = fs::copy(sandbox.path(name), other.home().join(name));
    }
    let back = other.open();
    assert!(back.claims_found("later copy").is_empty());
    back.claim("Another later.");
    assert_eq!(back.claims_found("later"), ["Another later."]);
    assert!(back.0.doctor(Default::default()).unwrap().ok);
}

/// A long-lived process follows the journal in many small steps: the segments are merged, and the
/// answers are those of an index that was built at once.
#[test]
fn followed_step_by_step_is_the_same_as_at_once() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox, 90);
    engine.0.follow().unwrap();
    let (rang, heard) = std::sync::mpsc::channel();
    let _subscription = engine
        .0
        .subscribe(0, move |_| rang.send(()).unwrap_or_default())
        .unwrap();
    for at in 0..30 {
        engine.claim(&format!("Step {at} of the follower."));
        let _ = heard.recv_timeout(std::time::Duration::from_secs(5));
    }
    // A conflict that is found between the two lists of answers would be in only one of them. The
    // followers make comparisons meanwhile, so two counts may differ.
    while engine.0.ask(&USER, ask::Status).unwrap().due > 0 {
        engine.0.leave_in_order().unwrap();
    }
    let followed = answers_of(&engine, &sandbox);
    assert!(sandbox.open().0.doctor(REINDEX).unwrap().ok);
    assert_eq!(answers_of(&engine, &sandbox), followed);
}

/// A journal of several pages, and a reader that leaves after the first.
#[test]
fn who_no_longer_reads_is_told_no_more() {
    let sandbox = Sandbox::new();
    let engine = fill(&sandbox, 430);
    assert!(engine.journal().head > 500);
    let ((told, news), (stays, gone)) = (channel(), channel::<()>());
    let each = move |_| {
        told.send(()).unwrap();
        let _ = gone.recv();
    };
    let subscription = engine.0.subscribe(0, each).unwrap();
    news.recv().unwrap();
    drop(subscription);
    drop(stays);
    assert_eq!(news.iter().count(), 0, "its thread must end");
}
