//! A model that embeds, held by one process of a home: tiny models that the test builds run in a real
//! ONNX Runtime (`ENGRAM_ONNXRUNTIME`).

use std::{
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use engram_engine::{Engine, ModelChoice, Options, choose_model};
use engram_meaning::{Task, fixture::tiny_model};
use engram_model::{Code, ListedModel, ModelState, ModelTask, Query, QueryReply, ask};
use engram_store::{Doorbell, Listener};

use crate::fixture::{Asked, Sandbox, USER, claims_in, refused};

/// The longest wait, far beyond what it takes.
const PATIENCE: Duration = Duration::from_secs(60);

const BACKOFF: &str = "The relay waits before each further attempt.";
const COLOUR: &str = "The banner is green.";
/// Shares no word with the claim that answers it.
const QUESTION: &str = "retry delays";

/// Words of one meaning have one direction.
const WORDS: &[(&str, &[f32])] = &[
    ("retry", &[1.0, 0.1, 0.0]),
    ("delays", &[1.0, 0.2, 0.0]),
    ("waits", &[1.0, 0.0, 0.0]),
    ("attempt", &[0.9, 0.1, 0.0]),
    ("green", &[0.0, 0.0, 1.0]),
    ("banner", &[0.0, 0.1, 1.0]),
    ("hole", &[f32::NAN, 0.0, 0.0]),
];

fn model_in(sandbox: &Sandbox, name: &str, words: &[(&str, &[f32])]) -> ModelChoice {
    let folder = sandbox.path(name);
    tiny_model(&folder, Task::Embedding, &[], words).unwrap();
    let runtime = std::env::var_os("ENGRAM_ONNXRUNTIME")
        .expect("set ENGRAM_ONNXRUNTIME to an ONNX Runtime library; `cargo xtask setup` has one");
    ModelChoice::Folder {
        folder,
        runtime: Some(runtime.into()),
    }
}

fn choose(sandbox: &Sandbox, choice: ModelChoice) {
    choose_model(&sandbox.home(), ModelTask::Embed, choice).unwrap();
}

/// Hears of every change in a home.
struct Changes {
    _listener: Listener,
    heard: Receiver<()>,
}

impl Changes {
    fn of(sandbox: &Sandbox) -> Self {
        let (sender, heard) = channel();
        let bell = Doorbell::open(&sandbox.home()).unwrap();
        let listener = bell.listen(move || {
            let _ = sender.send(());
        });
        Self {
            _listener: listener.unwrap(),
            heard,
        }
    }

    /// Looks after each change, until there is what the test waits for.
    #[track_caller]
    fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(found) = look() {
                return found;
            }
            self.heard.recv_timeout(PATIENCE).unwrap();
        }
    }
}

fn listed(at: &Asked) -> ListedModel {
    at.0.ask(&USER, ask::Models).unwrap().models.remove(0)
}

fn by(reply: &QueryReply) -> Option<&str> {
    reply.embedded_by.as_deref()
}

/// A home with two claims and a model that has read them.
fn embedded() -> (Sandbox, Asked, Changes) {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.claim(BACKOFF);
    at.claim(COLOUR);
    let changes = Changes::of(&sandbox);
    choose(&sandbox, model_in(&sandbox, "tiny", WORDS));
    at.0.follow_with_models().unwrap();
    changes.until(|| by(&at.query(&USER, QUESTION)).map(drop));
    (sandbox, at, changes)
}

#[test]
fn a_question_finds_what_shares_no_word_with_it_in_every_process() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.claim(BACKOFF);
    at.claim(COLOUR);
    let before = at.query(&USER, QUESTION);
    assert_eq!((by(&before), claims_in(&before).len()), (None, 0));
    drop((sandbox, at));

    let (sandbox, at, changes) = embedded();
    let found = at.query(&USER, QUESTION);
    assert_eq!(by(&found), Some("tiny"));
    assert_eq!(claims_in(&found), [BACKOFF]);
    assert_eq!(listed(&at).why, None);

    // A process that may load no model asks the one that has it.
    let other = sandbox.open_at("repo", 2);
    let found = other.query(&USER, QUESTION);
    assert_eq!(
        (by(&found), claims_in(&found)),
        (Some("tiny"), vec![BACKOFF.to_owned()])
    );
    // So does a claim that is stored meanwhile.
    let again = "A client waits before its attempt.";
    other.claim(again);
    changes.until(|| {
        claims_in(&other.query(&USER, QUESTION))
            .contains(&again.to_owned())
            .then_some(())
    });

    // Once that process has ended, which takes its thread a moment, the table answers.
    drop(at);
    let found = loop {
        let found = other.query(&USER, QUESTION);
        if by(&found).is_none() {
            break found;
        }
        std::thread::yield_now();
    };
    assert_eq!(claims_in(&found).len(), 0);
}

#[test]
fn another_model_begins_anew_and_vectors_of_two_are_never_compared() {
    let (sandbox, at, changes) = embedded();
    let reference = |at: &Asked| {
        at.query(&USER, "banner green").engrams[0]
            .embedding_ref
            .clone()
            .unwrap()
    };
    let first = reference(&at);
    let near = |reference: &str| {
        let embedding_ref = Some(reference.to_owned());
        at.ask(
            &USER,
            Query {
                embedding_ref,
                ..Query::default()
            },
        )
    };
    let found = near(&first).unwrap();
    assert_eq!(claims_in(&found), [COLOUR, BACKOFF]);
    assert!(found.engrams[0].score > Some(0.98), "{found:?}");

    // For the second model, both claims mean the same.
    let words: &[(&str, &[f32])] = &[("banner", &[1.0, 0.0]), ("waits", &[1.0, 0.0])];
    choose(&sandbox, model_in(&sandbox, "second", words));
    changes.until(|| {
        by(&at.query(&USER, QUESTION))
            .filter(|it| *it == "second")
            .map(drop)
    });
    let refusal = refused(near(&first), Code::NotFound);
    assert!(refusal.hint.contains("changes with the model"), "{refusal}");
    let second = reference(&at);
    assert!(second.starts_with("second@"), "{second}");
    let found = near(&second).unwrap();
    assert!(
        found.engrams.iter().all(|it| it.score > Some(0.98)),
        "{found:?}"
    );
    for unknown in [
        "",
        "second",
        "/",
        "@/",
        "second@x/01J9Z3N8M6W0X4V5Y7K2QHPRTA",
    ] {
        refused(near(unknown), Code::NotFound);
    }

    choose(&sandbox, ModelChoice::Off);
    changes.until(|| by(&at.query(&USER, QUESTION)).is_none().then_some(()));
    assert_eq!(listed(&at).state, ModelState::Off);
}

#[test]
fn what_was_erased_has_no_vector_and_is_near_nothing() {
    let (_sandbox, at, changes) = embedded();
    let found = at.query(&USER, "banner green");
    let (id, reference) = (found.engrams[0].id, found.engrams[0].embedding_ref.clone());
    at.redact(&USER, id).unwrap();
    let asked = Query {
        embedding_ref: reference,
        ..Query::default()
    };
    refused(at.ask(&USER, asked), Code::NotFound);
    changes.until(|| {
        claims_in(&at.query(&USER, "retry"))
            .contains(&BACKOFF.to_owned())
            .then_some(())
    });
}

#[test]
fn a_claim_that_the_model_cannot_read_hinders_no_other() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    for claim in [COLOUR, "The hole is a hole.", BACKOFF] {
        at.claim(claim);
    }
    let changes = Changes::of(&sandbox);
    choose(&sandbox, model_in(&sandbox, "tiny", WORDS));
    at.0.follow_with_models().unwrap();
    let found = changes.until(|| Some(at.query(&USER, QUESTION)).filter(|it| by(it).is_some()));
    assert_eq!(claims_in(&found), [BACKOFF]);
    // A question that it cannot read is answered by words.
    let found = at.query(&USER, "hole");
    assert_eq!((by(&found), claims_in(&found).len()), (None, 1));
    let model = listed(&at);
    let why = "cannot read 1 of 3 claims; the built-in table compares these";
    assert_eq!(
        (model.state, model.why.as_deref()),
        (ModelState::On, Some(why))
    );
}

#[test]
fn a_model_that_breaks_leaves_the_table_and_says_so() {
    let (sandbox, at, changes) = embedded();
    let weights = sandbox.path("tiny").join("model.onnx");
    std::fs::write(weights, "rubbish").unwrap();
    // The loaded one answers until its process ends.
    assert_eq!(by(&at.query(&USER, QUESTION)), Some("tiny"));
    drop(at);
    let at = sandbox.open_at("repo", 3);
    at.0.follow_with_models().unwrap();
    let broken = changes.until(|| {
        at.claim("The relay has a queue.");
        Some(listed(&at)).filter(|it| it.state == ModelState::Broken)
    });
    assert!(broken.why.unwrap().contains("model.onnx is broken"));
    // A process that does not load it knows from the one that tried.
    let other = sandbox.open_at("repo", 4);
    assert_eq!(listed(&other).state, ModelState::Broken);
    assert_eq!(by(&at.query(&USER, QUESTION)), None);
    // Repaired and chosen again, it answers.
    choose(&sandbox, model_in(&sandbox, "tiny", WORDS));
    changes.until(|| by(&at.query(&USER, QUESTION)).map(drop));
    assert_eq!(listed(&other).state, ModelState::On);
}

/// Its tokenizer makes the library that reads it panic.
#[test]
fn a_model_that_panics_is_broken_and_a_good_one_is_taken_up() {
    let (sandbox, at, changes) = embedded();
    let bad = model_in(&sandbox, "bad", WORDS);
    let tokenizer = sandbox.path("bad").join("tokenizer.json");
    let text = std::fs::read_to_string(&tokenizer).unwrap();
    let mut all: serde_json::Value = serde_json::from_str(&text).unwrap();
    all["normalizer"] =
        serde_json::json!({ "type": "Precompiled", "precompiled_charsmap": "AAAA" });
    std::fs::write(&tokenizer, all.to_string()).unwrap();
    choose(&sandbox, bad);
    let broken = changes.until(|| Some(listed(&at)).filter(|it| it.state == ModelState::Broken));
    assert!(broken.why.unwrap().contains("tokenizer"));
    choose(&sandbox, model_in(&sandbox, "tiny", WORDS));
    changes.until(|| by(&at.query(&USER, QUESTION)).map(drop));
    assert_eq!(listed(&at).state, ModelState::On);
}

/// Nothing is written meanwhile.
#[test]
fn the_model_of_a_process_that_ended_is_loaded_by_the_next_at_once() {
    let (sandbox, at, changes) = embedded();
    let next = sandbox.open_at("repo", 5);
    next.0.follow_with_models().unwrap();
    at.claim("The relay has a queue.");
    changes.until(|| {
        let found = next.query(&USER, "relay queue");
        let claim = "The relay has a queue.".to_owned();
        claims_in(&found).contains(&claim).then_some(())
    });
    drop(at);
    changes.until(|| by(&next.query(&USER, QUESTION)).map(drop));
}

#[test]
fn other_files_in_the_chosen_folder_are_loaded_once_they_are_chosen() {
    let (sandbox, at, changes) = embedded();
    // For these, the banner is what the question means.
    let words: &[(&str, &[f32])] = &[
        ("retry", &[1.0, 0.0]),
        ("banner", &[1.0, 0.1]),
        ("waits", &[0.0, 1.0]),
    ];
    choose(&sandbox, model_in(&sandbox, "tiny", words));
    let found = changes.until(|| {
        let found = at.query(&USER, QUESTION);
        (claims_in(&found) == [COLOUR]).then_some(found)
    });
    assert_eq!(by(&found), Some("tiny"));
}

#[test]
fn a_model_in_the_home_moves_with_the_home() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.claim(BACKOFF);
    let changes = Changes::of(&sandbox);
    choose(&sandbox, model_in(&sandbox, "home/models/tiny", WORDS));
    let kept = std::fs::read_to_string(sandbox.home().join("models.toml")).unwrap();
    assert!(kept.contains("folder = \"models/tiny\""), "{kept}");
    at.0.follow_with_models().unwrap();
    changes.until(|| by(&at.query(&USER, QUESTION)).map(drop));
    assert_eq!(listed(&at).name.as_deref(), Some("tiny"));
}

#[test]
fn ended_claims_do_not_hide_those_that_hold() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    for number in 0..60 {
        let ended = at.claim(&format!("The relay {number} waits."));
        at.forget(&USER, ended.id).unwrap();
    }
    at.claim("An attempt is made by the relay.");
    let changes = Changes::of(&sandbox);
    choose(&sandbox, model_in(&sandbox, "tiny", WORDS));
    at.0.follow_with_models().unwrap();
    let found = changes.until(|| Some(at.query(&USER, QUESTION)).filter(|it| by(it).is_some()));
    assert_eq!(claims_in(&found), ["An attempt is made by the relay."]);
}

#[test]
fn a_process_that_ends_leaves_the_socket_of_another_alone() {
    let (sandbox, at, _changes) = embedded();
    let socket = sandbox.home().join("questions.sock");
    std::fs::remove_file(&socket).unwrap();
    let _other = UnixListener::bind(&socket).unwrap();
    // Ends although its own socket cannot be reached any more.
    drop(at);
    assert!(socket.exists());
}

/// The address of a socket has room for about 100 bytes. Elsewhere than on Linux, the model is broken.
#[test]
fn a_home_whose_path_is_too_long_for_a_socket_embeds_on_linux_and_says_so_elsewhere() {
    let sandbox = Sandbox::new();
    let home = sandbox.path(&format!("{}/home", "long".repeat(30)));
    std::fs::create_dir_all(&home).unwrap();
    let options = || Options {
        home: home.clone(),
        repo: Some(sandbox.path("repo")),
        from: sandbox.path("repo"),
    };
    let at = Asked(
        Arc::new(Engine::open_in(options(), sandbox.world(1)).unwrap()),
        None,
    );
    let bell = Doorbell::open(&home).unwrap();
    let (sender, heard) = channel();
    let _listener = bell.listen(move || {
        let _ = sender.send(());
    });
    choose_model(&home, ModelTask::Embed, model_in(&sandbox, "tiny", WORDS)).unwrap();
    at.0.follow_with_models().unwrap();
    if cfg!(target_os = "linux") {
        let other = Engine::open_in(options(), sandbox.world(2)).unwrap();
        let other = Asked(Arc::new(other), None);
        while by(&other.query(&USER, QUESTION)).is_none() {
            heard.recv_timeout(PATIENCE).unwrap();
        }
        return;
    }
    let model = loop {
        let model = listed(&at);
        if model.state == ModelState::Broken {
            break model;
        }
        heard.recv_timeout(PATIENCE).unwrap();
    };
    let why = model.why.unwrap();
    assert!(why.starts_with("cannot listen in "), "{why}");
    assert!(why.ends_with("choose a home with a shorter path"), "{why}");
}

#[test]
fn whoever_sends_rubbish_to_the_socket_gets_nothing_and_hinders_nobody() {
    let (sandbox, at, _changes) = embedded();
    let socket = sandbox.home().join("questions.sock");
    for sent in [
        &b""[..],
        b"\n",
        b"{}\n",
        b"\xff\xff\n",
        b"{\"project\":1,\"text\":2}\n",
        &[b'x'; 200_000],
    ] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        // The listener may hang up before it has read all.
        let _ = stream.write_all(sent);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        assert!(said.is_empty(), "{said:?}");
        assert_eq!(by(&at.query(&USER, QUESTION)), Some("tiny"));
    }
    // Somebody who sends nothing delays a question, but not for long.
    let _silent = UnixStream::connect(&socket).unwrap();
    at.query(&USER, QUESTION);
}

#[test]
fn a_killed_process_leaves_a_socket_that_the_next_one_replaces() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.claim(BACKOFF);
    drop(UnixListener::bind(sandbox.home().join("questions.sock")).unwrap());
    assert_eq!(by(&at.query(&USER, QUESTION)), None);
    let changes = Changes::of(&sandbox);
    choose(&sandbox, model_in(&sandbox, "tiny", WORDS));
    at.0.follow_with_models().unwrap();
    changes.until(|| by(&at.query(&USER, QUESTION)).map(drop));
}

/// A process that hangs takes no connection any more, and its queue is full.
#[test]
fn a_process_that_hangs_delays_no_question() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    at.claim(BACKOFF);
    let socket = sandbox.home().join("questions.sock");
    let _hangs = UnixListener::bind(&socket).unwrap();
    // Connecting never fails on some systems, which then have no queue to fill.
    let (sender, connected) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        while let Ok(stream) = UnixStream::connect(&socket) {
            open.push(stream);
            if sender.send(()).is_err() {
                return;
            }
        }
    });
    while connected.recv_timeout(Duration::from_millis(500)).is_ok() {}
    let found = at.query(&USER, "relay waits");
    assert_eq!(
        (by(&found), claims_in(&found)),
        (None, vec![BACKOFF.to_owned()])
    );
}
