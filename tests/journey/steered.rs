//! Real agents, steered from the window: a pin and a to-do reach the model, the agent answers the
//! to-do, asks to read more and gets the lines once a person presses a key; connected again, the
//! agent has the same row.

use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    agents::{Agent, Session},
    dashboard::{
        hands::{BOTH, ENTER, ESCAPE, Hand, notice},
        team::WANTED,
    },
    model_stub::{Reply, Step, call},
    requests::connecting,
    stage::Sandbox,
    steps::Counted,
};

const LINE: &str = "Ship on Friday.";
const ANSWER: &str = "The spec was taken out with the old client.";
const REASON: &str = "Is the jitter full?";

/// The longest wait for a person.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the agent's script stands, and what the person did.
struct Cues {
    reached: Sender<&'static str>,
    done: Receiver<()>,
}

impl Cues {
    fn wait(&self, at: &'static str) {
        self.reached.send(at).expect("a person");
        self.done.recv_timeout(PATIENCE).expect("a person's deed");
    }
}

fn read(pointer: &str) -> Value {
    json!({"pointer": pointer, "reason": REASON})
}

/// The lineage of the to-do in a status.
fn lineage_of_todo(status: &Value) -> String {
    let lines = status["brief"].as_array().into_iter().flatten();
    let todo = lines
        .filter_map(Value::as_str)
        .find(|it| it.starts_with("todo by"));
    let todo = todo.unwrap_or_else(|| panic!("no to-do: {status}"));
    let (_, id) = todo.rsplit_once("corrects_lineage ").expect("a lineage");
    id.trim_end_matches(')').to_owned()
}

/// Reads the status, learns of a pin from the next reply, answers the to-do, and reads until the
/// budget refuses; then reads once more when a person granted it.
fn script(cues: Cues) -> Vec<Step> {
    let cues = std::sync::Arc::new(std::sync::Mutex::new(cues));
    let (at_pin, at_request) = (cues.clone(), cues);
    let asks: Step = Box::new(move |_| {
        at_pin.lock().unwrap().wait("pin");
        Reply::Call("engram_query", json!({"topic": "how do retries back off"}))
    });
    let answers = call("engram_commit", |seen| {
        json!({"content": ANSWER, "scope": "spec", "confidence": 0.9, "kind": "fact",
            "corrects_lineage": lineage_of_todo(&seen[0]), "pointers": ["repo:src/ledger.rs#L1@HEAD"]})
    });
    let reads = (1..=3).map(|line| {
        let pointer = format!("repo:src/ledger.rs#L{line}@HEAD");
        call("engram_deref", move |_| read(&pointer))
    });
    let refused = call("engram_deref", |_| read(WANTED));
    let granted: Step = Box::new(move |_| {
        at_request.lock().unwrap().wait("request");
        Reply::Call("engram_deref", read(WANTED))
    });
    let status = call("engram_status", |_| json!({}));
    [status, asks, answers]
        .into_iter()
        .chain(reads)
        .chain([refused, granted])
        .collect()
}

#[test]
fn real_agents_are_steered_from_the_window() {
    for (agent, hand) in [Agent::Claude, Agent::Codex].into_iter().zip(BOTH) {
        println!("{agent:?} {hand:?}");
        let sandbox = Sandbox::open();
        let Sandbox { shop, engram, .. } = &sandbox;
        shop.drift();
        let connect = connecting(engram, agent);
        let session = Session::connected(agent, &connect, &shop.root, &shop.dir);
        session.prompt(vec![call("engram_status", |_| json!({}))]);
        let window = sandbox.showing("[data-testid=feed-row]");
        window.wait("document.querySelector('[data-testid=drift-view] .count')");
        let counted = Counted::by(&window, hand);

        // Asking takes two steps: opening the claim in doubt, and the question.
        counted.go("drift");
        window.find("[data-testid=ask-agent]:not([disabled])");
        window.wait("!document.querySelector('[data-testid=engram] [aria-busy=true]')");
        let asked = window.attribute("[data-testid=engram]", "data-id");
        counted.act("q", "ask-agent");
        window.wait("document.querySelector('[data-testid=notice]:not(.error)')");
        assert_eq!(counted.take(), 2, "a question");

        let (reached, script_at) = mpsc::channel();
        let (did, done) = mpsc::channel();
        let run = thread::scope(|scope| {
            let running = scope.spawn(|| session.prompt(script(Cues { reached, done })));
            let at = |wanted: &str| {
                let at = script_at.recv_timeout(PATIENCE).expect("the agent goes on");
                assert_eq!(at, wanted);
            };
            at("pin");
            counted.go("brief");
            window.find("[data-testid=brief-line]");
            counted.act("P", "add-line");
            window.wait_moved("document.activeElement.id === 'line-field'");
            window.keys(LINE);
            counted.key(ENTER);
            window.wait(&notice("Pinned"));
            assert_eq!(counted.take(), 3, "a pin");
            window.keys(ESCAPE);
            did.send(()).unwrap();

            at("request");
            counted.go("requests");
            window.find("[data-testid=request-read] .line.marked");
            counted.act("y", "grant");
            window.wait(&notice("may read it once"));
            assert_eq!(counted.take(), 2, "a grant");
            did.send(()).unwrap();
            running.join().expect("the agent ends")
        });
        // Each agent reads the advice in the file that it looks into.
        assert!(
            run.text_seen()
                .contains("the memory that the agents of this repository share"),
            "{agent:?}"
        );
        let results = run.results();
        assert_eq!(results.len(), 8, "{results:?}");
        // The reply after the pin is part of the model's next request.
        let new = results[1]["new_in_brief"].to_string();
        assert!(new.contains(LINE), "{}", results[1]);
        assert!(results[2]["supersedes"].is_string(), "{}", results[2]);
        let refused = results[6].to_string();
        assert!(refused.contains("DEREF_DENIED"), "{refused}");
        let excerpt = results[7]["excerpt"].as_str().unwrap_or_default();
        assert!(excerpt.contains("fn delay"), "{}", results[7]);

        // The to-do is done; its answer is beside the claim that it asked about.
        let brief = engram.json(&["brief"]).to_string();
        assert!(!brief.contains("corrects_lineage"), "{brief}");
        counted.go("drift");
        window.open_row(Hand::Mouse, &asked);
        window.wait(&format!(
            "document.querySelector('[data-testid=answer]')?.textContent.includes({})",
            Value::from(ANSWER)
        ));
        // The window says who got the line.
        counted.go("brief");
        window.find("[data-testid=brief-line]");
        window.click("[data-testid=brief-line][data-pinned=true]");
        window.wait(
            "document.querySelector('[data-testid=line-sent]')?.textContent.startsWith('Sent to ')",
        );
        // Two connections, one row.
        counted.go("agents");
        window.find("[data-testid=agent]");
        assert_eq!(window.count("[data-testid=agent]"), 1);
        window.shot("steered");
    }
}
