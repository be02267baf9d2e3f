//! Redaction removes the words from every file of the home, even if other processes have it open.

use std::path::{Path, PathBuf};

use engram_model::{
    Allow, Code, ConflictId, DenyAnswer, DerefRequest, Draft, EngramId, Pinning, PointerInput,
    Resolve, Sending, Settle, ask,
};
use serde_json::json;

use crate::fixture::{
    Asked, POINTER, REINDEX, Sandbox, USER, correction_of, draft, on_topic, refused,
};

/// Words that are in no other file of a home.
const WORDS: [&str; 4] = ["xylophone", "quagmire", "zeppelin_9941", "zugzwang"];

fn secret_draft(at: usize) -> Draft {
    Draft {
        tags: vec![format!("zugzwang{at}")],
        ..draft(&format!(
            "Xylophone {at} fell into the quagmire, see ZEPPELIN_9941."
        ))
    }
}

/// The files in a folder that contain one of the words, in any case.
pub(crate) fn files_with_words(home: &Path) -> Vec<PathBuf> {
    let found = WORDS
        .iter()
        .flat_map(|it| engram_kit::files_holding(home, it));
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
        let sandbox = Sandbox::new();
        let engine = sandbox.open();
        // Fills in other claims, so that pages split and segments merge. Long claims overflow a
        // page.
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
            .map(|at| engine.put(&USER, secret_draft(at)).unwrap())
            .collect();
        let newer = engine
            .put(&USER, correction_of(ids[2].id, "Nothing fell."))
            .unwrap();
        fill(300, 300 + after);
        if indexed {
            assert!(engine.0.doctor(REINDEX).unwrap().ok);
        }
        assert!(
            !files_with_words(&sandbox.home()).is_empty(),
            "the case needs the words on disk"
        );
        for stored in &ids {
            engine.redact(&USER, stored.id).unwrap();
        }
        let left = files_with_words(&sandbox.home());
        assert!(
            left.is_empty(),
            "{before} before, {after} after, indexed {indexed}: {left:?}"
        );
        assert_eq!(
            engine.claims_found("nothing fell").len(),
            1,
            "its correction stays"
        );
        assert!(engine.get(&USER, newer.id).unwrap().valid_until.is_none());
        drop(engine);
        assert!(files_with_words(&sandbox.home()).is_empty());
        let again = sandbox.open();
        assert!(again.0.doctor(REINDEX).unwrap().ok);
        assert!(again.claims_found("xylophone quagmire").is_empty());
        assert!(files_with_words(&sandbox.home()).is_empty());
    }
}

/// The same words in several versions, and in the event of making the claim.
#[test]
fn every_version_that_carries_the_words_loses_them() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let text = secret_draft(0).claim;
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
    assert_eq!(files_with_words(&sandbox.home()), Vec::<PathBuf>::new());
    // Erasing again is not an error, and erases nothing more.
    engine.redact(&USER, first.id).unwrap();
    engine.redact(&USER, second.id).unwrap();
}

/// Others have the home and its index open, such as a window or another agent's server.
#[test]
fn it_is_gone_for_those_who_had_it_open() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let others: Vec<_> = (0..3).map(|at| sandbox.open_at("repo", 20 + at)).collect();
    for other in &others {
        other.0.follow().unwrap();
    }
    let stored = engine.put(&USER, secret_draft(0)).unwrap();
    for at in 0..30 {
        others[at % 3].claim(&format!("Setting_{at} is {at} ms."));
    }
    for other in &others {
        assert_eq!(other.claims_found("xylophone").len(), 1);
    }
    engine.redact(&USER, stored.id).unwrap();
    for other in &others {
        assert!(other.claims_found("xylophone").is_empty());
    }
    assert_eq!(files_with_words(&sandbox.home()), Vec::<PathBuf>::new());
}

/// Everything else that came with a claim: topic, author, addresses, and a file to which nothing
/// else refers.
#[test]
fn what_came_with_the_words_goes_with_them() {
    const TOPIC: &str = "acme-takeover";
    const AUTHOR: &str = "mallory-9";
    const PATH: &str = "src/quagmire.rs";
    const BYTES: &str = "fn xylophone() {}\n";
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let agent = engine.agent("reader");
    for shared in [false, true] {
        engram_kit::write(&sandbox.path("repo").join(PATH), BYTES);
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
            let left = engram_kit::files_holding(&sandbox.home(), word);
            // Only what another claim needs stays.
            assert_eq!(left.is_empty(), !shared, "{word}: {left:?}");
        }
        assert!(engram_kit::files_holding(&sandbox.home(), WORDS[2]).is_empty());
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
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let note = engine.note(&USER, "zugzwang", "The xylophone fell into the quagmire.");
    assert!(!files_with_words(&sandbox.home()).is_empty());
    engine
        .redact(&USER, engram_model::EngramId(note.id.0))
        .unwrap();
    assert_eq!(files_with_words(&sandbox.home()), Vec::<PathBuf>::new());
    assert!(engine.deref(&USER, &note.pointer).is_err());
    assert!(engine.0.doctor(REINDEX).unwrap().ok);
}

/// A reader of an older snapshot holds up the erasure: this is reported, and the text is gone once
/// the reader is done.
#[test]
fn what_is_not_gone_yet_is_told() {
    use engram_store::{Store, StoreError};

    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let stored = engine.put(&USER, secret_draft(0)).unwrap();
    let reader = Store::open(&sandbox.home(), ulid::Ulid(0)).unwrap();
    reader
        .read::<_, StoreError>(|tx| {
            tx.head()?;
            let reply = engine.redact(&USER, stored.id).unwrap();
            assert_eq!(reply.pending.len(), 1, "{:?}", reply.pending);
            assert!(!files_with_words(&sandbox.home()).is_empty());
            Ok(())
        })
        .unwrap();
    engine.claim("Whatever is written next.");
    assert_eq!(files_with_words(&sandbox.home()), Vec::<PathBuf>::new());
}

/// Eleven words that no other file of a home contains in sequence.
pub(crate) const SAID: &str =
    "The xylophone of the quagmire holds nine zeppelins for every zugzwang.";

/// A text that may repeat them, and whether it counts as a quotation.
const REPEATED: [(&str, bool); 5] = [
    (
        "THE Xylophone -- of   the (quagmire) holds; nine \"Zeppelins\" for every ZUGZWANG!",
        true,
    ),
    (
        "Once more, the xylophone of the quagmire holds nine zeppelins for every zugzwang, as agreed.",
        true,
    ),
    (
        "So, of the quagmire holds nine zeppelins for every four",
        true,
    ),
    ("So, of the quagmire holds nine zeppelins for two", false),
    (
        "The xylophone of the quagmire holds no zeppelins for every zugzwang.",
        false,
    ),
];

/// Stores a text somewhere; returns the id under which it is listed if it stays.
type Say = fn(&Asked, &str) -> String;

/// Texts that judge or cite; they are erased with what they quote.
const GOES: [(&str, Say); 6] = [
    ("pin", |at, text| {
        at.0.ask(&USER, ask::Pin(Pinning::Text(text.to_owned())))
            .unwrap();
        String::new()
    }),
    ("reason", |at, text| request(at, "dora", text, "To judge.")),
    ("use", |at, text| request(at, "emil", "To judge.", text)),
    ("denial", |at, text| {
        let deny = DenyAnswer {
            id: request(at, "fred", "To judge.", "To judge."),
            why: Some(text.to_owned()),
        };
        at.0.ask(&USER, ask::DenyRequest(deny)).unwrap().id
    }),
    ("verdict", |at, text| {
        let resolve = Resolve {
            conflict: contradict_about(at, "purse"),
            how: Settle::Newer,
            why: Some(text.to_owned()),
        };
        let settled = at.0.ask(&USER, ask::Resolve(Box::new(resolve))).unwrap();
        settled.conflict.to_string()
    }),
    ("allowance", |at, text| {
        let allow = Allow {
            conflict: contradict_about(at, "safe"),
            why: text.to_owned(),
            undo: false,
        };
        at.0.ask(&USER, ask::Allow(allow)).unwrap();
        String::new()
    }),
];

/// Others' texts that have a meaning of their own; they stay and are listed.
const STAYS: [(&str, Say); 5] = [
    ("claim", |at, text| {
        let eve = at.agent("eve");
        at.put(&eve, draft(text)).unwrap().id.to_string()
    }),
    ("own", |at, text| {
        at.put(&USER, draft(text)).unwrap().id.to_string()
    }),
    ("merge", |at, text| {
        let resolve = Resolve {
            conflict: contradict_about(at, "chest"),
            how: Settle::Merge(text.to_owned()),
            why: None,
        };
        let settled = at.0.ask(&USER, ask::Resolve(Box::new(resolve))).unwrap();
        settled.stored[0].to_string()
    }),
    ("note", |at, text| {
        at.note(&USER, "overheard", text).id.to_string()
    }),
    ("message", |at, text| {
        let lead = at.agent_in_role("lead", "architect", None);
        at.agent_in_role("child", "programmer", Some(&lead));
        // Two lines, with the line end escaped in JSON, still count as one text.
        let message = json!({
            "role": "programmer", "shared_brief_micro": ["Ship on Friday."], "budgets": {},
            "target_pointer_pack": [POINTER], "instructions": [text.replacen(" the", "\nthe", 1)],
        });
        at.0.ask(&lead, ask::Send(Sending { message, to: None }))
            .unwrap()
            .id
    }),
];

/// A request of an agent of this name, made after its budget is spent.
fn request(at: &Asked, name: &str, reason: &str, intended_use: &str) -> String {
    let agent = at.agent_in_role(name, "programmer", None);
    while at.deref(&agent, POINTER).is_ok() {}
    let wanted = DerefRequest {
        pointer: PointerInput::Text(POINTER.to_owned()),
        reason: reason.to_owned(),
        intended_use: intended_use.to_owned(),
    };
    let asked = at.0.ask(&agent, ask::RequestDeref(Box::new(wanted)));
    asked.unwrap().id
}

/// A conflict about something else.
fn contradict_about(at: &Asked, what: &str) -> ConflictId {
    let said = |who: &str, long: &str| {
        let claim = format!("The {what} lock lasts {long}.");
        at.put(&at.agent(who), on_topic(what, &claim)).unwrap()
    };
    said("ada", "3 minutes");
    let second = said("bob", "half an hour");
    let mut found = second.findings.iter().filter_map(|it| it.conflict);
    found.next().unwrap()
}

/// The text to erase: a claim or a note.
fn store_said(at: &Asked, is_note: bool) -> EngramId {
    if is_note {
        EngramId(at.note(&USER, "plan", SAID).id.0)
    } else {
        at.put(&USER, draft(SAID)).unwrap().id
    }
}

pub(crate) fn is_sound(at: &Asked) -> bool {
    let replayed = engram_engine::Treatment {
        replay: true,
        ..Default::default()
    };
    at.0.doctor(replayed).unwrap().ok
}

/// A word that only this kind of text contains.
fn mark(kind: &str) -> String {
    format!("Keepsake{kind}")
}

#[test]
fn what_weighs_or_points_goes_with_what_it_quotes() {
    for (text, is_quoted) in REPEATED {
        for is_note in [false, true] {
            let sandbox = Sandbox::new();
            let at = sandbox.open();
            let erased = store_said(&at, is_note);
            for (kind, say) in GOES {
                say(&at, &format!("{}: {text}", mark(kind)));
            }
            let reply = at.redact(&USER, erased).unwrap();
            assert_eq!(reply.pending, Vec::<String>::new(), "{text}");
            let told = if is_quoted { GOES.len() } else { 0 };
            assert_eq!(reply.also.len(), told, "{:?}", reply.also);
            for (kind, _) in GOES {
                let left = engram_kit::files_holding(&sandbox.home(), &mark(kind));
                assert_eq!(left.is_empty(), is_quoted, "{kind}: {text}: {left:?}");
            }
            assert_eq!(
                files_with_words(&sandbox.home()).is_empty(),
                is_quoted,
                "{text}"
            );
            assert!(is_sound(&at), "{text}");
        }
    }
}

#[test]
fn what_others_said_stays_and_is_named() {
    for (text, is_quoted) in REPEATED {
        for is_note in [false, true] {
            let sandbox = Sandbox::new();
            let at = sandbox.open();
            let said =
                STAYS.map(|(kind, say)| (kind, say(&at, &format!("{}: {text}", mark(kind)))));
            let erased = store_said(&at, is_note);
            let pending = at.redact(&USER, erased).unwrap().pending;
            for (kind, id) in &said {
                let named = pending.iter().filter(|it| it.contains(id.as_str()));
                let count = usize::from(is_quoted);
                assert_eq!(named.count(), count, "{kind}: {text}: {pending:?}");
                let left = engram_kit::files_holding(&sandbox.home(), &mark(kind));
                assert!(!left.is_empty(), "{kind}: {text}");
            }
            assert_eq!(
                pending.len(),
                said.len() * usize::from(is_quoted),
                "{pending:?}"
            );
            let told = pending.concat().to_lowercase();
            assert!(!WORDS.iter().any(|it| told.contains(it)), "{told}");
            assert!(is_sound(&at), "{text}");
        }
    }
}

/// Another version of the same claim has its own words.
#[test]
fn a_correction_that_repeats_what_was_erased_is_named() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let first = at.claim(SAID).id;
    let again = "The xylophone of the quagmire holds nine zeppelins for every pond.";
    let newer = at.put(&USER, correction_of(first, again)).unwrap().id;
    let pending = at.redact(&USER, first).unwrap().pending;
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert!(pending[0].contains(&newer.to_string()), "{pending:?}");
    assert!(at.get(&USER, newer).unwrap().valid_until.is_none());
    assert_eq!(at.redact(&USER, newer).unwrap().pending, [""; 0]);
    assert_eq!(files_with_words(&sandbox.home()), Vec::<PathBuf>::new());
}

/// A short claim counts as quoted only if it is quoted in full, and many quotations are only
/// counted.
#[test]
fn a_short_claim_is_quoted_whole_and_many_are_counted() {
    let at = Sandbox::open_new();
    for id in 0..30 {
        at.claim(&format!(
            "Number {id}: the xylophone fell into the quagmire."
        ));
    }
    at.claim("The xylophone fell into the pond.");
    let tagged = Draft {
        tags: vec!["the-xylophone-fell-into-the-quagmire".to_owned()],
        ..draft("Something is tagged.")
    };
    let tagged = at.put(&USER, tagged).unwrap().id;
    let erased = at.claim("The xylophone fell into the quagmire.").id;
    let pending = at.redact(&USER, erased).unwrap().pending;
    assert_eq!(pending.len(), 21, "{pending:?}");
    assert!(pending[20].contains("11 more"), "{pending:?}");
    at.redact(&USER, tagged).unwrap();
    // Nothing is left by which it could be found.
    assert!(at.redact(&USER, erased).unwrap().pending.is_empty());
}

#[test]
fn only_the_user_erases() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let ada = at.agent("ada");
    let said = at.put(&ada, draft(SAID)).unwrap().id;
    let pinned = ask::Pin(Pinning::Text(SAID.to_owned()));
    at.0.ask(&USER, pinned).unwrap();
    refused(at.redact(&ada, said), Code::ScopeDenied);
    assert!(!at.get(&USER, said).unwrap().redacted);
    assert!(!files_with_words(&sandbox.home()).is_empty());
}
