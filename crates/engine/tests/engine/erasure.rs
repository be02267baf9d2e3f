//! Redaction: the words are in no file of the home, whoever had it open.

use std::path::{Path, PathBuf};

use engram_model::{Caller, Draft, PointerInput};

use crate::fixture::{Ground, correcting, draft};

const USER: Caller = Caller::User;
/// Words that no other file of a home holds.
const WORDS: [&str; 4] = ["xylophone", "quagmire", "zeppelin_9941", "zugzwang"];

fn secret(at: usize) -> Draft {
    Draft {
        tags: vec![format!("zugzwang{at}")],
        ..draft(&format!(
            "Xylophone {at} fell into the quagmire, see ZEPPELIN_9941."
        ))
    }
}

/// The files below a folder that hold one of the words, in capitals or not.
fn holding(home: &Path) -> Vec<PathBuf> {
    let found = WORDS.iter().flat_map(|it| engram_kit::holding(home, it));
    found.collect()
}

#[test]
fn what_was_redacted_is_in_no_file() {
    for (before, after, indexed) in [
        (0, 0, true),
        (0, 0, false),
        (3, 2, true),
        (60, 40, true),
        (60, 40, false),
        (2_500, 0, true),
    ] {
        let ground = Ground::new();
        let engine = ground.open();
        // Other claims around it, so that pages split and segments merge; long ones overflow.
        let fill = |from: usize, to: usize| {
            for at in from..to {
                engine.claim(&format!(
                    "Setting_{at} is {at} ms {}",
                    "and so on ".repeat(at % 40)
                ));
            }
        };
        fill(0, before.min(300));
        let ids: Vec<_> = (0..3)
            .map(|at| engine.put(&USER, secret(at)).unwrap())
            .collect();
        let newer = engine
            .put(&USER, correcting(ids[2].id, "Nothing fell."))
            .unwrap();
        fill(300, 300 + after);
        if indexed {
            assert!(engine.0.doctor(crate::fixture::REINDEX).unwrap().ok);
        }
        assert!(
            !holding(&ground.home()).is_empty(),
            "the case is words on disk"
        );
        for stored in &ids {
            engine.redact(&USER, stored.id).unwrap();
        }
        let left = holding(&ground.home());
        assert!(
            left.is_empty(),
            "{before} before, {after} after, indexed {indexed}: {left:?}"
        );
        assert_eq!(
            engine.found("nothing fell").len(),
            1,
            "its correction stays"
        );
        assert!(engine.get(&USER, newer.id).unwrap().valid_until.is_none());
        drop(engine);
        assert!(holding(&ground.home()).is_empty());
        let again = ground.open();
        assert!(again.0.doctor(crate::fixture::REINDEX).unwrap().ok);
        assert!(again.found("xylophone quagmire").is_empty());
        assert!(holding(&ground.home()).is_empty());
    }
}

/// The same words in several versions, and in the event that the claim was said with.
#[test]
fn every_version_that_carries_the_words_loses_them() {
    let ground = Ground::new();
    let engine = ground.open();
    let text = secret(0).claim;
    let event = engine.note(&USER, "fall", &text);
    let pointing = Draft {
        pointers: vec![PointerInput::Text(event.pointer.clone())],
        ..draft(&text)
    };
    let first = engine.put(&USER, draft(&text)).unwrap();
    let second = engine.put(&USER, pointing).unwrap();
    assert_ne!(first.id, second.id);
    engine.redact(&USER, first.id).unwrap();
    assert!(engine.get(&USER, second.id).unwrap().redacted);
    assert!(engine.deref(&USER, &event.pointer).is_err());
    assert_eq!(holding(&ground.home()), Vec::<PathBuf>::new());
    // Once more is no error, and erases nothing more.
    engine.redact(&USER, first.id).unwrap();
    engine.redact(&USER, second.id).unwrap();
}

/// Others have the home and its index open: a window, another agent's server.
#[test]
fn it_is_gone_for_those_who_had_it_open() {
    let ground = Ground::new();
    let engine = ground.open();
    let others: Vec<_> = (0..3).map(|at| ground.open_at("repo", 20 + at)).collect();
    for other in &others {
        other.0.follow().unwrap();
    }
    let stored = engine.put(&USER, secret(0)).unwrap();
    for at in 0..30 {
        others[at % 3].claim(&format!("Setting_{at} is {at} ms."));
    }
    for other in &others {
        assert_eq!(other.found("xylophone").len(), 1);
    }
    engine.redact(&USER, stored.id).unwrap();
    for other in &others {
        assert!(other.found("xylophone").is_empty());
    }
    assert_eq!(holding(&ground.home()), Vec::<PathBuf>::new());
}

/// What else a claim brought: topic, author, addresses, and a file that nothing else rests on.
#[test]
fn what_came_with_the_words_goes_with_them() {
    const TOPIC: &str = "acme-takeover";
    const AUTHOR: &str = "mallory-9";
    const PATH: &str = "src/quagmire.rs";
    const BYTES: &str = "fn xylophone() {}\n";
    let ground = Ground::new();
    let engine = ground.open();
    let agent = engine.agent("reader");
    for shared in [false, true] {
        engram_kit::write(&ground.path("repo").join(PATH), BYTES);
        let said = Draft {
            topic: Some(TOPIC.to_owned()),
            agent: Some(AUTHOR.to_owned()),
            pointers: [
                format!("repo:{PATH}#L1@worktree"),
                "url:https://zugzwang.example/plan".to_owned(),
            ]
            .map(PointerInput::Text)
            .to_vec(),
            ..draft("A Zeppelin_9941 is planned.")
        };
        let stored = engine.put(&USER, said.clone()).unwrap();
        let pinned = engine.get(&USER, stored.id).unwrap().pointers[0].to_string();
        engine.deref(&agent, &pinned).unwrap();
        let other = shared.then(|| {
            let other = Draft {
                claim: "Another that rests on it.".to_owned(),
                ..said
            };
            engine.put(&USER, other).unwrap()
        });
        let reply = engine.redact(&USER, stored.id).unwrap();
        assert!(reply.pending.is_empty(), "{:?}", reply.pending);
        let seen = engine.get(&USER, stored.id).unwrap();
        assert!(seen.redacted && seen.topic.is_empty() && seen.pointers.is_empty());
        let words = [TOPIC, AUTHOR, "quagmire", "xylophone", "zugzwang"];
        for word in words {
            let left = engram_kit::holding(&ground.home(), word);
            // What another claim needs stays, and no more.
            assert_eq!(left.is_empty(), !shared, "{word}: {left:?}");
        }
        assert!(engram_kit::holding(&ground.home(), WORDS[2]).is_empty());
        if let Some(other) = other {
            engine.deref(&USER, &pinned).unwrap();
            engine.redact(&USER, other.id).unwrap();
            assert!(engine.deref(&USER, &pinned).is_err());
        }
        let replayed = engram_engine::Treatment {
            replay: true,
            ..Default::default()
        };
        let checkup = engine.0.doctor(replayed).unwrap();
        assert!(checkup.ok, "{checkup:?}");
    }
}

#[test]
fn a_note_is_erased_by_its_id() {
    let ground = Ground::new();
    let engine = ground.open();
    let note = engine.note(&USER, "zugzwang", "The xylophone fell into the quagmire.");
    assert!(!holding(&ground.home()).is_empty());
    engine
        .redact(&USER, engram_model::EngramId(note.id.0))
        .unwrap();
    assert_eq!(holding(&ground.home()), Vec::<PathBuf>::new());
    assert!(engine.deref(&USER, &note.pointer).is_err());
    assert!(engine.0.doctor(crate::fixture::REINDEX).unwrap().ok);
}

/// Somebody reads on an older snapshot: what they hold up is told, and goes once they are done.
#[test]
fn what_is_not_gone_yet_is_told() {
    use engram_store::{Store, StoreError};

    let ground = Ground::new();
    let engine = ground.open();
    let stored = engine.put(&USER, secret(0)).unwrap();
    let reader = Store::open(&ground.home(), ulid::Ulid(0)).unwrap();
    reader
        .read::<_, StoreError>(|it| {
            it.head()?;
            let reply = engine.redact(&USER, stored.id).unwrap();
            assert_eq!(reply.pending.len(), 1, "{:?}", reply.pending);
            assert!(!holding(&ground.home()).is_empty());
            Ok(())
        })
        .unwrap();
    engine.claim("Whatever is written next.");
    assert_eq!(holding(&ground.home()), Vec::<PathBuf>::new());
}
