//! The content of an accepted pointer can be found again, whichever way it was accepted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use engram_engine::{Engine, Options, World};
use engram_kit::{git, write};
use engram_model::{
    Caller, CheckedPointer, Code, Commit, Deref, DerefRequest, Draft, GrantWanted, PointerInput,
    Reading, Resolve, Sending, Settle, ask,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fixture::{
    Asked, LONG, SHORT, Sandbox, USER,
    conflicts::open_conflicts,
    correction_of, draft_citing,
    evidence::{AT_HEAD, FILE, ON_DISK, Refs, amend, collect_garbage},
    handle_of, on_topic,
};

/// The participants of a test.
struct Cast {
    engine: Asked,
    lead: Caller,
    ada: Caller,
}

impl Cast {
    fn put(&self, who: &Caller, draft: Draft) {
        assert!(self.engine.put(who, draft).unwrap().verified);
    }

    /// Sends a message; returns the pointers of its pack that are stale.
    fn send(&self, who: &Caller, message: Value) -> Vec<CheckedPointer> {
        let to = None;
        let sent = self.engine.0.ask(who, ask::Send(Sending { message, to }));
        sent.unwrap().stale
    }

    fn report(&self, field: &str, value: Value) -> Vec<CheckedPointer> {
        let mut message = json!({
            "role": "programmer", "task_status": "done", "engrams": [],
            "pointer_pack": ["url:https://example.org/"],
            "output": { "summary": "Done.", "next": "" },
        });
        message[field] = json!([value]);
        self.send(&self.ada, message)
    }

    fn order(&self, field: &str, value: Value) -> Vec<CheckedPointer> {
        let mut message = json!({
            "role": "Programmer", "shared_brief_micro": ["Ship on Friday."], "budgets": {},
            "target_pointer_pack": ["url:https://example.org/"], "instructions": ["Confirm it."],
        });
        message[field] = json!([value]);
        self.send(&self.lead, message)
    }
}

/// A named way to have a pointer accepted.
type Way = (&'static str, fn(&Cast, &str));

const WAYS: &[Way] = &[
    ("the user's claim", |at, on| {
        at.put(&USER, draft_citing("One rests on this.", on))
    }),
    ("an agent's claim", |at, on| {
        at.put(&at.ada, draft_citing("Two rests on this.", on))
    }),
    ("a claim with its provenance in words", |at, on| {
        let draft = draft_citing("Three rests on this.", on);
        let words = Some("Seen in a log.".to_owned());
        at.engine
            .0
            .ask(
                &at.ada,
                ask::Commit(Box::new(Commit {
                    draft,
                    words,
                    ..Commit::default()
                })),
            )
            .unwrap();
    }),
    ("a correction", |at, on| {
        let first = draft_citing("Four rests on nothing.", "url:https://example.org/");
        let lineage = at.engine.put(&USER, first).unwrap().lineage_id;
        let pointers = vec![PointerInput::Text(on.to_owned())];
        let draft = Draft {
            pointers,
            ..correction_of(lineage, "Four rests on this.")
        };
        at.put(&USER, draft);
    }),
    ("a merge", |at, on| {
        for (claim, pointer) in [(SHORT, on), (LONG, "url:https://example.org/")] {
            let pointers = vec![PointerInput::Text(pointer.to_owned())];
            let topic = format!("wallet {on}");
            let draft = Draft {
                pointers,
                ..on_topic(&topic, claim)
            };
            at.engine.put(&USER, draft).unwrap();
        }
        let conflict = open_conflicts(&at.engine).remove(0).id;
        let how = Settle::Merge("The wallet lock differs.".to_owned());
        let resolve = Resolve {
            conflict,
            how,
            why: None,
        };
        let done = at
            .engine
            .0
            .ask(&USER, ask::Resolve(Box::new(resolve)))
            .unwrap();
        assert_eq!(done.stored.len(), 1);
    }),
    ("a claim in a message", |at, on| {
        at.report(
            "engrams",
            json!({
                "kind": "fact", "claim": "Five rests on this.", "confidence": 0.8, "ttl": "P7D",
                "scope": "project", "pointers": [on],
            }),
        );
    }),
    ("the pack of a child's message", |at, on| {
        drop(at.report("pointer_pack", json!(on)))
    }),
    ("what a child's message asks to read", |at, on| {
        at.report(
            "deref_requests",
            json!({
                "pointer": on, "reason": "Is it so?", "intended_use": "To judge it.",
            }),
        );
    }),
    ("the pack of a parent's message", |at, on| {
        drop(at.order("target_pointer_pack", json!(on)))
    }),
    ("a grant in a parent's message", |at, on| {
        at.order(
            "grants",
            json!({ "budget_token": "", "pointer": on, "cap_tokens": 400 }),
        );
    }),
    ("a grant", |at, on| {
        let wanted = GrantWanted {
            to: handle_of(&at.ada),
            pointer: Some(PointerInput::Text(on.to_owned())),
            cap_tokens: None,
            code_chars: None,
            ttl: None,
            by: None,
            replaces: None,
        };
        at.engine.0.ask(&USER, ask::IssueGrant(wanted)).unwrap();
    }),
    ("what an agent asks to read", |at, on| {
        let wanted = DerefRequest {
            pointer: PointerInput::Text(on.to_owned()),
            reason: "Is it so?".to_owned(),
            intended_use: "To judge it.".to_owned(),
        };
        at.engine
            .0
            .ask(&at.ada, ask::RequestDeref(Box::new(wanted)))
            .unwrap();
    }),
];

#[test]
fn what_was_accepted_is_found_whichever_way_it_came_in() {
    for refs in Refs::ALL {
        let sandbox = Sandbox::new();
        let repo = sandbox.path("repo");
        refs.prepare(&sandbox, &repo);
        let engine = sandbox.open();
        let lead = engine.agent_in_role("lead", "architect", None);
        let ada = engine.agent_in_role("ada", "programmer", Some(&lead));
        let cast = Cast { engine, lead, ada };
        let mut accepted = Vec::new();
        for (nth, (name, way)) in WAYS.iter().enumerate() {
            let (committed, written) =
                (format!("fn c{nth}() {{}}\n"), format!("fn w{nth}() {{}}\n"));
            write(&repo.join(FILE), &committed);
            git(&repo, &["commit", "-qa", "--amend", "-m", "again"]);
            let head = git(&repo, &["rev-parse", "HEAD"]);
            write(&repo.join("src/new.rs"), &written);
            let copy = |path: &str, text: &str| {
                let digest = hex::encode(Sha256::digest(text));
                format!("repo:{path}#L1@sha256:{digest}")
            };
            for (pointer, text, pins) in [
                (
                    AT_HEAD,
                    &committed,
                    vec![format!("repo:{FILE}#L1@{head}"), copy(FILE, &committed)],
                ),
                (ON_DISK, &written, vec![copy("src/new.rs", &written)]),
            ] {
                way(&cast, pointer);
                accepted.push((
                    format!("{name}, {pointer}, refs {refs:?}"),
                    pins,
                    text.clone(),
                ));
            }
        }
        drop(cast);
        amend(&repo);
        std::fs::remove_file(repo.join("src/new.rs")).unwrap();
        collect_garbage(&repo);
        let later = sandbox.open_at("repo", 2);
        let mut lost = Vec::new();
        for (name, pins, text) in &accepted {
            let mut read = pins.iter().filter_map(|pin| later.deref(&USER, pin).ok());
            if !read.any(|read| read.excerpt == *text) {
                lost.push(name);
            }
        }
        assert!(lost.is_empty(), "{lost:#?}");
    }
}

/// In both directions, a message is stored with the pins of its time.
#[test]
fn a_message_is_stored_with_the_full_pins_of_its_pointers() {
    let sandbox = Sandbox::new();
    let repo = sandbox.path("repo");
    let engine = sandbox.open();
    let lead = engine.agent_in_role("lead", "architect", None);
    let ada = engine.agent_in_role("ada", "programmer", Some(&lead));
    let cast = Cast { engine, lead, ada };
    let head = git(&repo, &["rev-parse", "HEAD"]);
    write(&repo.join("src/new.rs"), "fn new() {}\n");
    let digest = hex::encode(Sha256::digest("fn new() {}\n"));
    let mut pins = Vec::new();
    cast.order("target_pointer_pack", json!("repo:src/lib.rs#L11@HEAD"));
    pins.push(format!(
        "target_pointer_pack\":[\"repo:src/lib.rs#L11@{head}"
    ));
    cast.report("pointer_pack", json!("repo:src/lib.rs#L12@HEAD"));
    pins.push(format!("pointer_pack\":[\"repo:src/lib.rs#L12@{head}"));
    cast.report("pointer_pack", json!(ON_DISK));
    pins.push(format!(
        "pointer_pack\":[\"repo:src/new.rs#L1@sha256:{digest}"
    ));
    for pin in pins {
        assert_ne!(
            engram_kit::files_holding(&sandbox.home(), &pin).len(),
            0,
            "{pin}"
        );
    }
}

/// A file just read from the working tree exists, so no copy of it is reported missing.
#[test]
fn what_was_read_in_the_working_tree_is_not_said_to_be_missing() {
    for (file, text) in [("src/new.rs", "fn new() {}\n"), (FILE, "fn changed() {}\n")] {
        let sandbox = Sandbox::new();
        let engine = sandbox.open();
        let lead = engine.agent_in_role("lead", "architect", None);
        let ada = engine.agent_in_role("ada", "programmer", Some(&lead));
        write(&sandbox.path("repo").join(file), text);
        let pointer = format!("repo:{file}#L1@worktree");
        let input = PointerInput::Text(pointer.clone());
        let tracked = engine.0.ask(&USER, ask::Track(input.clone())).unwrap();
        assert_eq!(
            (&tracked.error, tracked.start),
            (&None, Some(1)),
            "{tracked:?}"
        );
        let standing = engine.0.ask(&USER, ask::Standing(input)).unwrap();
        assert_eq!(standing.reading, Reading::Same);
        let cast = Cast { engine, lead, ada };
        assert_eq!(cast.order("target_pointer_pack", json!(pointer)), []);
        assert_eq!(cast.report("pointer_pack", json!(pointer)), []);
        for who in [&USER, &cast.ada] {
            let read = cast.engine.deref(who, &pointer).unwrap();
            assert_eq!((read.excerpt.as_str(), read.now), (text, None));
            // A difference from an earlier read is still reported.
            let other = format!("sha256:{}", "0".repeat(64));
            let input = json!({ "type": "repo", "ref": format!("{file}@worktree"), "span": "L1", "digest": other });
            let ask = Deref {
                pointer: serde_json::from_value(input).unwrap(),
                max_tokens: None,
                turn: None,
                budget_token: None,
                reason: None,
            };
            let now = cast
                .engine
                .0
                .ask(who, ask::Deref(ask))
                .unwrap()
                .now
                .unwrap();
            assert!(now.phantom && now.error.is_none(), "{now:?}");
        }
    }
}

/// A copy is erased between the moment when it is read and the moment when it is cited.
#[test]
fn what_is_erased_while_it_is_cited_is_not_acknowledged() {
    let mut refusals = 0;
    for nth in 0..10 {
        let sandbox = Sandbox::new();
        let file = sandbox.path("repo").join("src/new.rs");
        write(&file, "fn new() {}\n");
        let engine = Arc::new(sandbox.open());
        let first = engine
            .put(&USER, draft_citing("It was first.", ON_DISK))
            .unwrap();
        let pinned = engine.get(&USER, first.id).unwrap().pointers[0].to_string();
        write(&file, "fn other() {}\n");
        // The user erases it when the other process reads its clock for the nth time.
        let looks = Arc::new(AtomicUsize::new(usize::MAX / 2));
        let options = Options {
            home: sandbox.home(),
            repo: Some(sandbox.path("repo")),
            from: sandbox.path("repo"),
        };
        let world = {
            let (engine, looks, clock) = (engine.clone(), looks.clone(), sandbox.clock.clone());
            World::seeded(2, move || {
                if looks.fetch_add(1, Ordering::Relaxed) == nth {
                    let _ = engine.redact(&USER, first.id);
                }
                clock.now()
            })
        };
        let other = Asked(Arc::new(Engine::open_in(options, world).unwrap()), None);
        looks.store(0, Ordering::Relaxed);
        let put = other.put(&USER, draft_citing("Another rests on it.", &pinned));
        looks.store(usize::MAX / 2, Ordering::Relaxed);
        match put {
            Ok(stored) => {
                let erased = engine.get(&USER, first.id).unwrap().redacted;
                assert!(stored.verified && !erased, "{nth}");
                engine.deref(&USER, &pinned).unwrap();
            }
            Err(refusal) => {
                assert_eq!(refusal.code, Code::PointerNotFound, "{refusal}");
                refusals += 1;
            }
        }
    }
    assert!(refusals > 1, "{refusals}");
}
