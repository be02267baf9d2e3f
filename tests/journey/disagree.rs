//! Claude Code and Codex contradict each other through `engram mcp`, learn of it in the reply, and
//! see a person's verdict.

use serde_json::{Value, json};

use crate::{
    agents::{Agent, Run, Session},
    conflicts::{of, rows},
    dashboard::{hands::notice, looks::Looks, shop::Shop},
    model_stub::call,
    stage::Stage,
};

const RELEASED: &str = "The wallet lock is released after 3 minutes.";
const LOCKED: &str = "A wallet stays locked for half an hour.";

fn commits(claim: &'static str) -> crate::model_stub::Step {
    call(
        "engram_commit",
        move |_| json!({"content": claim, "scope": "wallet", "confidence": 0.8, "pointers": ["repo:NOTES.md#L1@HEAD"]}),
    )
}

/// Connects an agent to the shop's memory.
fn connected(shop: &Shop, agent: Agent) -> Session {
    // Paths of the temporary folder need no quotes.
    let server = shop.engram().server().join(" ");
    let place = server.strip_suffix(" mcp").expect("the server's command");
    let name = format!("{agent:?}").to_lowercase();
    let connect = format!("{place} connect {name}");
    Session::connected(agent, &connect, &shop.root, &shop.dir)
}

#[test]
fn agents_that_contradict_each_other_learn_of_it_in_the_reply() {
    for [first, second] in [[Agent::Claude, Agent::Codex], [Agent::Codex, Agent::Claude]] {
        let shop = Shop::empty().noted();
        let engram = shop.engram();
        let [earlier, later] = [first, second].map(|it| connected(&shop, it));
        let said = earlier.prompt(vec![commits(RELEASED)]);
        let stored = said.results()[0]["id"].clone();
        assert!(stored.is_string(), "{first:?}: {}", said.printed);

        let told = later.prompt(vec![
            commits(LOCKED),
            call("engram_conflicts", |_| json!({"scope": "wallet"})),
        ]);
        let results = told.results();
        let [reply, listed] = &results[..] else {
            panic!("two results: {}", told.printed)
        };
        let finding = conflict_finding(&told);
        assert_eq!(finding["id"], stored, "the claim of the other: {reply}");
        assert_eq!(finding["claim"], RELEASED, "{reply}");
        assert_eq!(
            listed["conflicts"][0]["id"], finding["conflict"],
            "{listed}"
        );

        // A person settles it; the next agent to ask sees no conflict.
        let conflict = finding["conflict"].as_str().expect("an id").to_owned();
        let winner = stored.as_str().expect("an id");
        engram.json(&[
            "resolve",
            &conflict,
            "--winner",
            winner,
            "--why",
            "Read in the code.",
        ]);
        let after = earlier.prompt(vec![call(
            "engram_query",
            |_| json!({"topic": "how long is a wallet locked"}),
        )]);
        let found = &after.results()[0]["engrams"];
        let claims: Vec<&Value> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["claim"])
            .collect();
        assert_eq!(claims, [RELEASED], "{found}");
    }
}

const PORT: &str = "The relay service listens on port 8080 behind the proxy.";
/// Contradicts it in other words, which no rule compares.
const SOCKET: &str = "The relay service, behind its proxy, listens on a Unix socket.";

/// The second agent is shown the claim of the first in the reply to its own, and says that they
/// contradict each other; a person settles it by one key.
#[test]
fn agents_that_contradict_each_other_in_other_words_are_asked() {
    for [first, second] in [[Agent::Claude, Agent::Codex], [Agent::Codex, Agent::Claude]] {
        let shop = Shop::empty().noted();
        let engram = shop.engram();
        let [earlier, later] = [first, second].map(|it| connected(&shop, it));
        earlier.prompt(vec![commits(PORT)]);
        let answer = call("engram_resolve", |results| {
            let near = results[0]["near"]["claims"].as_object();
            let key = near.and_then(|it| it.keys().next());
            json!({"conflict_id": key, "resolution_type": "contradicts", "resolution": "A socket has no port."})
        });
        let told = later.prompt(vec![commits(SOCKET), answer]);
        let results = told.results();
        let shown = results[0]["near"]["claims"].to_string();
        assert!(shown.contains(PORT), "{first:?}: {}", results[0]);
        let id = results[1]["conflict_id"]
            .as_str()
            .expect("an id")
            .to_owned();

        let Stage { window, .. } = &Stage::of(shop);
        window.find("[data-testid=feed-row]");
        window.find("[data-testid=conflicts-view] .count");
        window.keys("3");
        window.wait(&rows(1));
        window.find("[data-testid=unconfirmed]");
        assert!(
            window
                .text("[data-testid=judged]")
                .contains("A socket has no port.")
        );
        if first == Agent::Claude {
            let mut looks = Looks::here();
            looks.compare_in(window, "conflict-unconfirmed", &[(1280, 800)]);
            looks.hold_all();
        }
        window.keys("b");
        window.wait(&notice("Settled: B holds"));
        let settled = of(&engram, &id);
        assert_eq!(settled["settled"]["how"], "winner");
        assert_eq!(settled["tier"], "agent");
    }
}

/// Returns the finding about a conflict in the reply to a commit.
fn conflict_finding(run: &Run) -> Value {
    let reply = &run.results()[0];
    let findings = reply["findings"].as_array().expect("findings");
    let conflict = findings.iter().find(|it| it["what"] == "conflict");
    conflict
        .unwrap_or_else(|| panic!("no conflict: {reply}"))
        .clone()
}
