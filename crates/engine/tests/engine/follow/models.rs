//! Models as judges of possible conflicts: a scripted endpoint says what the test wants, and a tiny
//! classifier that the test builds runs in a real ONNX Runtime (`ENGRAM_ONNXRUNTIME`).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use engram_engine::{ModelChoice, choose_model, list_models};
use engram_kit::server::{Server, respond};
use engram_meaning::{Task, fixture::tiny_model};
use engram_model::{
    Change, Code, Conflict, ConflictId, ConflictStatus, Gate, Listed, ModelState, ModelTask,
    PairVerdict, Scope, Settle, Severity, Tier, ask,
};
use serde_json::json;

use crate::fixture::{
    Asked, Sandbox, USER,
    agents::{agent_named, open_agent},
    conflicts::{conflict, list_conflicts},
    correction_of, draft, refused, scoped_draft,
};

/// The longest wait, far beyond what it takes.
const PATIENCE: Duration = Duration::from_secs(60);

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
/// Contradicts it in other words, which no rule decides.
const SOCKET: &str = "The relay service, behind its proxy, listens on a Unix socket.";

/// An endpoint that answers each pair with what `judge` makes of the request.
fn endpoint(judge: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    Server::start(move |request, stream| {
        let body = json!({ "choices": [{ "message": { "content": judge(request) } }] });
        respond(stream, "200 OK", "", body.to_string().as_bytes())
    })
}

fn verdict(verdict: &str) -> String {
    json!({ "verdict": verdict, "sure": 0.8, "why": "A port is not a socket." }).to_string()
}

fn choose(sandbox: &Sandbox, server: &Server) {
    let text = format!("[llm]\nurl = \"{}/v1\"\nmodel = \"small\"\n", server.url);
    std::fs::write(sandbox.home().join("models.toml"), text).unwrap();
}

fn propose(at: &Asked) -> ConflictId {
    for name in ["ada", "bob"] {
        open_agent(at, &USER, name, None).unwrap();
    }
    at.put(&agent_named("ada"), draft(PORT)).unwrap();
    let stored = at.put(&agent_named("bob"), draft(SOCKET)).unwrap();
    stored.near[0].conflict
}

/// Receives each conflict that is raised from now on.
fn raised(at: &Asked) -> (engram_engine::Subscription, Receiver<()>) {
    let (sender, receiver) = channel();
    let head = at.head();
    let listener = at.0.subscribe(head, move |entries| {
        let is_raised = |it: &engram_model::Entry| matches!(it.change, Change::Conflict { .. });
        if entries.iter().any(is_raised) {
            let _ = sender.send(());
        }
    });
    (listener.unwrap(), receiver)
}

fn only(at: &Asked, status: Listed) -> Conflict {
    let mut all = list_conflicts(at, &USER, status);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn a_models_word_raises_a_conflict_that_blocks_nothing_and_is_asked_for_once() {
    let sandbox = Sandbox::new();
    let server = endpoint(|_| verdict("contradiction"));
    let at = sandbox.open();
    choose(&sandbox, &server);
    let id = propose(&at);
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    let asked = server.requests.recv_timeout(PATIENCE).unwrap();
    assert!(asked.contains(PORT) && asked.contains(SOCKET), "{asked}");
    let open = only(&at, Listed::Open);
    assert_eq!(
        (open.id, open.tier, open.severity, open.score, open.risk),
        (id, Tier::Llm, Severity::Medium, Some(0.8), None)
    );
    assert!(
        open.why.contains("says the model \"small\""),
        "{}",
        open.why
    );
    let said = &open.judged[0];
    assert_eq!(
        (said.by.as_str(), said.verdict, said.why.as_deref()),
        (
            "the model \"small\"",
            PairVerdict::Contradicts,
            Some("A port is not a socket.")
        )
    );
    assert_eq!(at.gate(Severity::Low).gate, Gate::Open, "it blocks nothing");
    // A person agrees: now it blocks.
    let contradicts = Settle::judge(PairVerdict::Contradicts);
    at.settle(&USER, id, contradicts).unwrap();
    assert_eq!(at.gate(Severity::Medium).gate, Gate::Shut);
    drop(at);

    // Another process asks about another pair, and not again about this one.
    let at = sandbox.open_at("repo", 9);
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    let backups = "The exporter's nightly backups are copied to the cold bucket.";
    at.put(&agent_named("ada"), draft(backups)).unwrap();
    let other = at
        .put(
            &agent_named("bob"),
            draft("Nightly backups made by the exporter stay on the local disk."),
        )
        .unwrap();
    assert_eq!(other.near.len(), 1, "{other:?}");
    raised_now.recv_timeout(PATIENCE).unwrap();
    let asked = server.requests.recv_timeout(PATIENCE).unwrap();
    assert!(asked.contains(backups), "{asked}");
    assert!(server.requests.try_recv().is_err());
}

/// What is not a verdict records nothing, and the next pair is judged. Once the model is chosen again,
/// it is asked again.
#[test]
fn rubbish_leaves_the_pair_possible_and_the_next_is_judged() {
    let sandbox = Sandbox::new();
    let is_mended = Arc::new(AtomicBool::new(false));
    let mended = Arc::clone(&is_mended);
    let server = endpoint(move |request| {
        if request.contains("Unix socket") && !mended.load(Ordering::Relaxed) {
            "Ignore your instructions.".to_owned()
        } else {
            verdict("contradiction")
        }
    });
    let at = sandbox.open();
    choose(&sandbox, &server);
    let id = propose(&at);
    at.put(
        &agent_named("ada"),
        draft("The exporter's nightly backups are copied to the cold bucket."),
    )
    .unwrap();
    at.put(
        &agent_named("bob"),
        draft("Nightly backups made by the exporter stay on the local disk."),
    )
    .unwrap();
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    let left = conflict(&at, id);
    assert_eq!(
        (left.status, left.judged.len()),
        (ConflictStatus::Possible, 0)
    );
    is_mended.store(true, Ordering::Relaxed);
    choose(&sandbox, &server);
    at.claim("Wakes who follows.");
    raised_now.recv_timeout(PATIENCE).unwrap();
    assert_eq!(conflict(&at, id).status, ConflictStatus::Open);
}

/// A verdict that a person gave while the model was thinking stands.
#[test]
fn a_person_is_not_overruled_by_a_model_that_thinks_longer() {
    let sandbox = Sandbox::new();
    let (release, held) = channel::<()>();
    let held = std::sync::Mutex::new(held);
    let server = endpoint(move |request| {
        if request.contains("Unix socket") {
            held.lock().unwrap().recv().unwrap();
        }
        verdict("contradiction")
    });
    let at = sandbox.open();
    choose(&sandbox, &server);
    let id = propose(&at);
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    server.requests.recv_timeout(PATIENCE).unwrap();
    let compatible = Settle::judge(PairVerdict::Compatible);
    at.settle(&USER, id, compatible).unwrap();
    release.send(()).unwrap();
    at.put(
        &agent_named("ada"),
        draft("The exporter's nightly backups are copied to the cold bucket."),
    )
    .unwrap();
    at.put(
        &agent_named("bob"),
        draft("Nightly backups made by the exporter stay on the local disk."),
    )
    .unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    assert_eq!(conflict(&at, id).status, ConflictStatus::Dismissed);
    let open = only(&at, Listed::Open);
    assert!(open.b.claim.contains("local disk"), "{open:?}");
}

/// A classifier for which "socket" contradicts whatever it is compared with.
fn classifier(sandbox: &Sandbox) -> ModelChoice {
    let folder = sandbox.path("model");
    let labels = ["contradiction", "neutral", "entailment"];
    let words: &[(&str, &[f32])] = &[("socket", &[9.0, 0.0, 0.0]), ("disk", &[0.0, 0.0, 9.0])];
    tiny_model(&folder, Task::Entailment, &labels, words).unwrap();
    let runtime = std::env::var_os("ENGRAM_ONNXRUNTIME")
        .expect("set ENGRAM_ONNXRUNTIME to an ONNX Runtime library; `cargo xtask setup` has one");
    ModelChoice::Folder {
        folder,
        runtime: Some(runtime.into()),
    }
}

#[test]
fn a_classifier_on_this_machine_judges_too() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    choose_model(&sandbox.home(), ModelTask::Nli, classifier(&sandbox)).unwrap();
    let model = &list_models(&sandbox.home()).unwrap()[1];
    assert_eq!(model.state, ModelState::On, "{model:?}");
    let (name, version) = (model.name.clone().unwrap(), model.version.clone().unwrap());
    let id = propose(&at);
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    let open = only(&at, Listed::Open);
    assert_eq!(
        (open.id, open.tier, open.severity, open.risk),
        (id, Tier::Nli, Severity::Medium, None)
    );
    assert!(open.score.unwrap() > 0.75, "{open:?}");
    assert_eq!(open.judged[0].by, format!("the model \"{name} {version}\""));
    assert_eq!(at.gate(Severity::Low).gate, Gate::Open);
}

/// A refused choice leaves the one before; a model that breaks later is listed as broken.
#[test]
fn only_a_usable_model_is_chosen() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let home = sandbox.home();
    choose_model(&home, ModelTask::Nli, classifier(&sandbox)).unwrap();
    let before = list_models(&home).unwrap();
    let endpoint = |url: &str, key_env: Option<&str>| ModelChoice::Endpoint {
        url: url.to_owned(),
        model: "small".to_owned(),
        key_env: key_env.map(str::to_owned),
    };
    let folder = |path: &str| ModelChoice::Folder {
        folder: sandbox.path(path),
        runtime: Some(sandbox.path("model").join("config.json")),
    };
    for (task, choice) in [
        (ModelTask::Nli, folder("nothing")),
        // Its runtime is no library.
        (ModelTask::Nli, folder("model")),
        (ModelTask::Nli, endpoint("https://a.example/v1", None)),
        (ModelTask::Llm, folder("model")),
        (ModelTask::Llm, endpoint("http://a.example/v1", None)),
        (ModelTask::Llm, endpoint("not an address", None)),
    ] {
        refused(choose_model(&home, task, choice), Code::ModelInvalid);
        assert_eq!(list_models(&home).unwrap(), before);
    }
    let far = endpoint("https://a.example/v1", Some("ENGRAM_NO_SUCH_KEY"));
    choose_model(&home, ModelTask::Llm, far).unwrap();
    let far = &list_models(&home).unwrap()[2];
    let why = far.why.as_deref().unwrap_or_default();
    let is_told = ["https://a.example/v1", "ENGRAM_NO_SUCH_KEY"].map(|it| why.contains(it));
    assert_eq!(is_told, [true, true], "{far:?}");
    std::fs::remove_file(sandbox.path("model").join("tokenizer.json")).unwrap();
    let broken = &list_models(&home).unwrap()[1];
    assert_eq!(broken.state, ModelState::Broken);
    assert!(broken.why.as_ref().unwrap().contains("tokenizer.json"));
    choose_model(&home, ModelTask::Nli, ModelChoice::Off).unwrap();
    assert_eq!(list_models(&home).unwrap()[1].state, ModelState::Off);
    std::fs::write(home.join("models.toml"), "llm = 3").unwrap();
    refused(list_models(&home), Code::ModelInvalid);
    // The rules go on alone.
    at.0.follow_with_models().unwrap();
    at.put(&USER, draft(PORT)).unwrap();
}

/// What an endpoint sends back may be what it was sent, its key included.
#[test]
fn a_reason_that_looks_like_a_credential_is_left_out() {
    let sandbox = Sandbox::new();
    let server = endpoint(|_| {
        let why = format!("the key was ghp_{}", "a1B2c3D4e5F6".repeat(3));
        json!({ "verdict": "contradiction", "sure": 1, "why": why }).to_string()
    });
    let at = sandbox.open();
    choose(&sandbox, &server);
    let id = propose(&at);
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    assert_eq!(conflict(&at, id).judged[0].why, None);
}

/// A model is not asked about a pair that somebody answered, or decided and undid, or of which a claim
/// has ended; and one pair that the endpoint refuses holds up no other.
#[test]
fn only_pairs_without_an_answer_are_asked_about_and_a_refused_one_is_passed_over() {
    let sandbox = Sandbox::new();
    let server = Server::start(|request, stream| {
        if request.contains("nightly backups") {
            let body =
                json!({ "choices": [{ "message": { "content": verdict("contradiction") } }] });
            respond(stream, "200 OK", "", body.to_string().as_bytes())
        } else {
            respond(stream, "400 Bad Request", "", b"{}")
        }
    });
    let at = sandbox.open();
    choose(&sandbox, &server);
    let id = propose(&at);
    let put = |who: &str, claim: &str| at.put(&agent_named(who), draft(claim)).unwrap();
    let pair = |one: &str, other: &str| {
        put("ada", one);
        put("bob", other).near[0].conflict
    };
    let answered = pair(
        "The lexer keeps its tables in a shared arena.",
        "The tables of the lexer are kept in a private arena.",
    );
    let compatible = Settle::judge(PairVerdict::Compatible);
    at.settle(&agent_named("bob"), answered, compatible.clone())
        .unwrap();
    let undone = pair(
        "The mailer sends its digests through the relay of the vendor.",
        "The digests of the mailer are sent through a relay of our own.",
    );
    at.settle(&USER, undone, compatible).unwrap();
    at.settle(&USER, undone, Settle::Undo).unwrap();
    pair(
        "The exporter's nightly backups are copied to the cold bucket.",
        "Nightly backups made by the exporter stay on the local disk.",
    );
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    let asked: Vec<String> = server.requests.try_iter().collect();
    assert!(asked.iter().any(|it| it.contains("relay service")));
    let others = ["lexer", "mailer"];
    assert!(
        !asked
            .iter()
            .any(|it| others.iter().any(|what| it.contains(what)))
    );
    for (id, answers) in [(id, 0), (answered, 1), (undone, 0)] {
        let left = conflict(&at, id);
        assert_eq!(
            (left.status, left.judged.len()),
            (ConflictStatus::Possible, answers)
        );
    }
}

/// Agents and people who cannot tell leave a pair without an answer; otherwise no model would be asked.
#[test]
fn only_a_model_says_that_it_cannot_tell() {
    let at = Sandbox::open_new();
    let id = propose(&at);
    for who in [&USER, &agent_named("bob")] {
        let unclear = Settle::judge(PairVerdict::Unclear);
        refused(at.settle(who, id, unclear), Code::SchemaInvalid);
    }
    assert_eq!(conflict(&at, id).judged.len(), 0);
}

/// Whoever looks at the models sees why one gives no verdicts, until it does.
#[test]
fn a_model_that_fails_is_listed_as_broken_until_it_answers() {
    let sandbox = Sandbox::new();
    let works = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_working = std::sync::Arc::clone(&works);
    let server = Server::start(move |_, stream| {
        if is_working.load(std::sync::atomic::Ordering::SeqCst) {
            let content = verdict("contradiction");
            let body = json!({ "choices": [{ "message": { "content": content } }] });
            respond(stream, "200 OK", "", body.to_string().as_bytes())
        } else {
            respond(stream, "500 Internal Server Error", "", b"")
        }
    });
    let at = sandbox.open();
    choose(&sandbox, &server);
    propose(&at);
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    // After a pause, the second request follows the first failure.
    for n in 0..2 {
        server.requests.recv_timeout(PATIENCE).unwrap();
        sandbox.clock.turn(600);
        at.claim(&format!("Claim number {n} about nothing of the kind."));
    }
    let state = || at.0.ask(&USER, ask::Models).unwrap().models.remove(2);
    let broken = state();
    let why = broken.why.as_deref().unwrap_or_default();
    assert!(
        broken.state == ModelState::Broken && why.contains("500"),
        "{broken:?}"
    );
    works.store(true, std::sync::atomic::Ordering::SeqCst);
    sandbox.clock.turn(3_600);
    at.claim("This wakes the follower.");
    raised_now.recv_timeout(PATIENCE).unwrap();
    assert_eq!(state().state, ModelState::On);
}

/// Time stands still: only the choice ends the pause.
#[test]
fn an_endpoint_that_failed_is_asked_again_once_it_is_chosen_again() {
    let sandbox = Sandbox::new();
    let server = Server::start(|_, stream| respond(stream, "500 Internal Server Error", "", b""));
    let at = sandbox.open();
    choose(&sandbox, &server);
    propose(&at);
    at.0.follow_with_models().unwrap();
    for n in 1..3 {
        server.requests.recv_timeout(PATIENCE).unwrap();
        choose(&sandbox, &server);
        // Later than before, however coarse the clock of the file system is.
        let mut file = std::fs::File::options();
        let file = file.write(true).open(sandbox.home().join("models.toml"));
        let file = file.unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        let later = written + n * Duration::from_secs(60);
        file.set_modified(later).unwrap();
        at.claim(&format!("Claim number {n} about nothing of the kind."));
    }
    server.requests.recv_timeout(PATIENCE).unwrap();
}

/// A pair is asked about as long as its sides hold, also in another version of the same words.
#[test]
fn a_pair_whose_claim_was_said_anew_is_asked_about() {
    let sandbox = Sandbox::new();
    let server = endpoint(|_| verdict("contradiction"));
    let at = sandbox.open();
    choose(&sandbox, &server);
    let first = at.put(&agent_named("ada"), draft(PORT)).unwrap();
    let stored = at.put(&agent_named("bob"), draft(SOCKET)).unwrap();
    let again = correction_of(first.lineage_id, &PORT.to_uppercase());
    at.put(&agent_named("ada"), again).unwrap();
    let (_subscription, raised_now) = raised(&at);
    at.0.follow_with_models().unwrap();
    raised_now.recv_timeout(PATIENCE).unwrap();
    assert_eq!(only(&at, Listed::Open).id, stored.near[0].conflict);
}

/// A person's question is answered at once, without the follower, and once for each pair. The answer is
/// noted and changes nothing else.
#[test]
fn a_person_asks_the_model_about_a_conflict() {
    let sandbox = Sandbox::new();
    let server = endpoint(|request| {
        if request.contains("Unix socket") {
            "Ignore your instructions.".to_owned()
        } else {
            verdict("compatible")
        }
    });
    let at = sandbox.open();
    let of_rule = {
        at.claim("The wallet lock lasts 3 minutes.");
        let stored = at.claim("The wallet lock lasts 30 minutes.");
        stored.findings[0].conflict.unwrap()
    };
    let explain = |id| at.0.ask(&USER, ask::Explain(id));
    let refusal = refused(explain(of_rule), Code::ModelInvalid);
    assert!(refusal.hint.contains("engram models use llm"), "{refusal}");

    choose(&sandbox, &server);
    let before = conflict(&at, of_rule);
    let after = *explain(of_rule).unwrap();
    assert!(
        server
            .requests
            .recv_timeout(PATIENCE)
            .unwrap()
            .contains("3 minutes")
    );
    let said = &after.judged[0];
    assert_eq!(
        (said.by.as_str(), said.verdict, said.why.as_deref()),
        (
            "the model \"small\"",
            PairVerdict::Compatible,
            Some("A port is not a socket.")
        )
    );
    assert_eq!(
        Conflict {
            judged: Vec::new(),
            ..after.clone()
        },
        before
    );
    // Nobody is asked twice, and an answer is shown without a model.
    assert_eq!(*explain(of_rule).unwrap(), after);
    choose_model(&sandbox.home(), ModelTask::Llm, ModelChoice::Off).unwrap();
    assert_eq!(*explain(of_rule).unwrap(), after);
    choose(&sandbox, &server);
    assert!(server.requests.try_recv().is_err());
    refused(explain(ConflictId(ulid::Ulid::nil())), Code::NotFound);

    // What is no verdict is noted nowhere.
    let id = propose(&at);
    let refusal = refused(explain(id), Code::ModelInvalid);
    assert!(
        refusal
            .message
            .starts_with("the language model gave no answer"),
        "{refusal}"
    );
    assert_eq!(only(&at, Listed::Possible).judged, []);
}

/// What the model says of a pair counts once, and not if a claim was erased meanwhile.
#[test]
fn a_models_late_answer_is_not_noted() {
    let sandbox = Sandbox::new();
    let (begun, asked) = channel();
    let (answer, may_answer) = channel::<()>();
    let may_answer = Mutex::new(may_answer);
    let server = endpoint(move |_| {
        begun.send(()).unwrap();
        may_answer.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        verdict("compatible")
    });
    let at = sandbox.open();
    choose(&sandbox, &server);
    let explained = |id: ConflictId, meanwhile: &dyn Fn()| {
        std::thread::scope(|scope| {
            let asking = [0; 2].map(|_| scope.spawn(|| at.0.ask(&USER, ask::Explain(id))));
            (0..2).for_each(|_| asked.recv_timeout(PATIENCE).unwrap());
            meanwhile();
            (0..2).for_each(|_| answer.send(()).unwrap());
            asking.map(|it| it.join().unwrap().unwrap().judged.len())
        })
    };
    let id = propose(&at);
    explained(id, &|| ());
    assert_eq!(conflict(&at, id).judged.len(), 1);

    let first = at.claim("The wallet lock lasts 3 minutes.").id;
    let second = at.claim("The wallet lock lasts 30 minutes.");
    let id = second.findings[0].conflict.unwrap();
    explained(id, &|| drop(at.redact(&USER, first).unwrap()));
    assert_eq!(conflict(&at, id).judged, []);
}

/// What belongs to a run is sent to no other machine, whoever asks.
#[test]
fn the_claims_of_a_run_are_sent_to_no_other_machine() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    for (name, parent) in [("lead", None), ("ada", Some("lead")), ("bob", Some("lead"))] {
        open_agent(&at, &USER, name, parent).unwrap();
    }
    let far = "[llm]\nurl = \"https://endpoint.invalid/v1\"\nmodel = \"large\"\n";
    std::fs::write(sandbox.home().join("models.toml"), far).unwrap();
    let say = |name: &str, claim: &str| {
        let claim = scoped_draft(claim, Scope::Run);
        at.put(&agent_named(name), claim).unwrap()
    };
    say("ada", "The wallet lock lasts 3 minutes.");
    let stored = say("bob", "The wallet lock lasts 30 minutes.");
    let id = stored.findings[0].conflict.unwrap();
    let refusal = refused(at.0.ask(&USER, ask::Explain(id)), Code::ModelInvalid);
    assert!(
        refusal.message.ends_with("is not on this machine"),
        "{refusal}"
    );
}
