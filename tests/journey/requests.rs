//! Real agents beyond their budgets: Claude Code and Codex are refused a fourth source, a person
//! grants it with one key in the window, and the same read succeeds.

use std::{
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    agents::{Agent, Session},
    dashboard::{
        server::Server,
        team::{Member, WANTED},
    },
    engram::Engram,
    model_stub::{Reply, Step, call},
    stage::Sandbox,
};

/// The longest wait for a person's answer.
const PATIENCE: Duration = Duration::from_secs(60);

fn deref(pointer: &str) -> Step {
    let pointer = pointer.to_owned();
    call("engram_deref", move |_| json!({"pointer": pointer}))
}

/// Reads until the budget refuses, asks, and reads again once a person granted it.
fn script(child: Member, granted: Receiver<()>) -> Vec<Step> {
    let lines = (1..=3).map(|line| deref(&format!("repo:src/ledger.rs#L{line}@HEAD")));
    let asks: Step = Box::new(move |_| {
        child.ask(WANTED);
        granted.recv_timeout(PATIENCE).expect("a grant");
        Reply::Call("engram_deref", json!({"pointer": WANTED}))
    });
    lines.chain([deref(WANTED), asks]).collect()
}

#[test]
fn real_agents_are_refused_granted_by_one_key_and_read() {
    for agent in [Agent::Claude, Agent::Codex] {
        println!("{agent:?}");
        let sandbox = Sandbox::open();
        let Sandbox { shop, engram, .. } = &sandbox;
        let server = Server::start(shop, &[]);
        let child = Member::open(shop, &server, "programmer-1", None);
        let connect = connecting(engram, agent);
        let session = Session::connected(agent, &connect, &shop.root, &shop.dir);
        let session = session.proved_by(&child.token);
        let window = sandbox.showing("[data-testid=feed-row]");

        let (grant, granted) = mpsc::channel();
        let script = script(child, granted);
        let run = thread::scope(|scope| {
            let running = scope.spawn(|| session.prompt(script));
            window.find("[data-testid=requests-view] .count");
            window.keys(&window.attribute("[data-testid=requests-view]", "aria-keyshortcuts"));
            window.find("[data-testid=request-read] .line.marked");
            window.shot("requests");
            window.keys("y");
            window.wait("!document.querySelector('[data-testid=requests-view] .count')");
            grant.send(()).unwrap();
            running.join().expect("the agent ends")
        });
        let results = run.results();
        assert_eq!(results.len(), 5, "{results:?}");
        assert!(
            results[3].to_string().contains("DEREF_DENIED"),
            "{}",
            results[3]
        );
        assert!(
            results[4]["excerpt"]
                .as_str()
                .is_some_and(|it| it.contains("fn delay")),
            "{}",
            results[4]
        );
        // The request shows by itself that the agent has read.
        window.wait("document.querySelector('[data-testid=request-state]')?.textContent === 'granted and read'");
        let told: Value = engram.json(&["budget", "--agent", "programmer-1"]);
        assert_eq!(
            told["agents"][0]["grants"],
            json!({"open": 0, "spent": 1}),
            "{told}"
        );
    }
}

/// Returns the command line that connects an agent.
pub(crate) fn connecting(engram: &Engram, agent: Agent) -> String {
    let program = engram.server()[0].clone();
    let [home, at, repo, root] = &engram.place_args;
    let client = match agent {
        Agent::Claude => "claude",
        Agent::Codex => "codex",
    };
    format!("'{program}' {home} '{at}' {repo} '{root}' connect {client}")
}
