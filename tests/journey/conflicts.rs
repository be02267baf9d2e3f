//! The queue of conflicts in the real window: twenty settled by keys alone, a merge, a batch, undo
//! for all, and conflicts that arrive while a person reads.

use serde_json::{Value, json};

use crate::{
    dashboard::hands::{ENTER, ESCAPE, are_chosen, notice},
    engram::Engram,
    stage::{Desk, Sandbox},
    window::Window,
};

/// A topic, one agent's claim about it, and another agent's claim.
pub(crate) const PAIRS: &[(&str, &str, &str)] = &[
    (
        "checkout",
        "A cart expires after 45 minutes of inactivity.",
        "A cart expires after 2 hours of inactivity.",
    ),
    (
        "auth",
        "The lockout threshold is 5 failed attempts.",
        "The lockout threshold is 8 failed attempts.",
    ),
    (
        "db",
        "The connection pool of the ledger service is capped at 40 connections.",
        "The connection pool of the ledger service is capped at 15 connections.",
    ),
    (
        "jobs",
        "The nightly export runs with 8 workers.",
        "The nightly export runs with 3 workers.",
    ),
    (
        "media",
        "Video uploads are limited to 2 GB.",
        "Video uploads are limited to 500 MB.",
    ),
    (
        "api",
        "The orders API allows 1000 requests per second per IP.",
        "The orders API allows 250 requests per second per IP.",
    ),
    (
        "search",
        "Search results are paginated by 20.",
        "Search results are paginated by 50.",
    ),
    (
        "mail",
        "The mailer sends at most 14 messages per second.",
        "The mailer sends at most 30 messages per second.",
    ),
    (
        "cache",
        "The fragment cache keeps a thousand entries.",
        "The fragment cache keeps 4k entries.",
    ),
    (
        "net",
        "The keep-alive interval of the broker is 20 s.",
        "The keep-alive interval of the broker is 75 s.",
    ),
    (
        "perf",
        "The p99 latency of the ranking call is 180 ms.",
        "The p99 latency of the ranking call is 95 ms.",
    ),
    (
        "backup",
        "Backups are kept for 30 days.",
        "Backups are kept for 90 days.",
    ),
    (
        "infra",
        "The ingest cluster has five nodes.",
        "The ingest cluster has 9 nodes.",
    ),
    (
        "queue",
        "The consumer prefetches 100 messages.",
        "The consumer prefetches 10 messages.",
    ),
    (
        "tests",
        "The integration suite takes 12 minutes.",
        "The integration suite takes 35 minutes.",
    ),
    (
        "sync",
        "A full sync transfers about 300 MB.",
        "A full sync transfers about 4 GB.",
    ),
    (
        "auth",
        "API keys rotate every 90 days.",
        "API keys rotate every 30 days.",
    ),
    (
        "billing",
        "The trial lasts two weeks.",
        "The trial lasts 30 days.",
    ),
    (
        "core",
        "The retry helper waits 200 ms before the first retry.",
        "The retry helper waits 1 s before the first retry.",
    ),
    (
        "sched",
        "The cleanup cron runs every 15 minutes.",
        "The cleanup cron runs every 6 hours.",
    ),
];

/// Returns two agents' drafts about the first `count` topics: those of one agent, then those of the
/// other.
pub(crate) fn contradicting_drafts(count: usize) -> [Vec<Value>; 2] {
    let draft = |agent: &str, confidence: f64, lines: &str, topic: &str, claim: &str| {
        json!({"claim": claim, "topic": topic, "agent": agent, "confidence": confidence,
            "pointers": [format!("repo:src/retry.rs#{lines}@HEAD")]})
    };
    let pairs = PAIRS.iter().take(count);
    let first = pairs
        .clone()
        .map(|(topic, claim, _)| draft("programmer-1", 0.9, "L9-L15", topic, claim));
    let second = pairs.map(|(topic, _, claim)| draft("programmer-2", 0.7, "L1-L3", topic, claim));
    [first.collect(), second.collect()]
}

/// Stores the contradicting claims; returns their ids.
pub(crate) fn disagree(engram: &Engram, count: usize) -> [Vec<String>; 2] {
    contradicting_drafts(count).map(|drafts| engram.put(&drafts))
}

/// The condition that `count` conflicts are listed.
pub(crate) fn rows(count: usize) -> String {
    format!("document.querySelectorAll('[data-testid=conflict]').length === {count}")
}

/// Waits until the sources of both claims of the open conflict are shown; returns the conflict's
/// id.
pub(crate) fn read(window: &Window) -> String {
    window.wait(
        "document.querySelectorAll('[data-testid=evidence-of] [data-testid=pointer-card][data-open=true] :is(.proof, .refused)').length === 2",
    );
    window.attribute("[data-testid=conflict-read]", "data-conflict")
}

/// Chooses a value in a system control, with the event that the page expects.
pub(crate) fn choose(window: &Window, id: &str, value: &str) {
    let script = "const [id, value] = arguments, it = document.getElementById(id);
        it.value = value;
        it.dispatchEvent(new Event('change', {bubbles: true}));";
    window.script(script, json!([id, value]));
}

/// Returns all conflicts.
pub(crate) fn all(engram: &Engram) -> Vec<Value> {
    let reply = engram.json(&["conflicts", "--status", "all"]);
    reply["conflicts"].as_array().expect("conflicts").clone()
}

pub(crate) fn of(engram: &Engram, id: &str) -> Value {
    engram.json(&["conflicts", "show", id])
}

impl Desk {
    /// A window on a repository with `count` conflicts between two agents, and the ids of what each
    /// of them said.
    fn with_conflicts(count: usize) -> (Self, [Vec<String>; 2]) {
        let sandbox = Sandbox::noted();
        let ids = disagree(&sandbox.engram, count);
        let window = sandbox.showing("[data-testid=engram] [data-testid=digest]");
        window.find("[data-testid=conflicts-view] .count");
        window.keys("3");
        window.wait(&rows(count));
        (Self { window, sandbox }, ids)
    }

    fn holds(&self, id: &str) -> bool {
        self.sandbox.engram.json(&["get", id])["valid_until"].is_null()
    }
}

#[test]
fn a_queue_of_twenty_is_settled_by_keys_alone() {
    let (desk, _) = Desk::with_conflicts(PAIRS.len());
    let window = &desk.window;
    read(window);
    assert_eq!(
        window.text("[data-testid=conflicts-view] .count"),
        PAIRS.len().to_string()
    );
    window.shot("conflicts");
    // Grouped by topic: two conflicts share a topic and are listed together.
    assert_eq!(
        window.count("[data-testid=conflict-topic]"),
        PAIRS.len() as u64 - 1
    );
    assert_eq!(window.count("[data-topic=auth] [data-testid=conflict]"), 2);

    let mut judged = Vec::new();
    for (at, key) in ["a", "b", "N", "s", "x"]
        .iter()
        .cycle()
        .take(PAIRS.len())
        .enumerate()
    {
        let id = read(window);
        if at == 0 {
            // A reason goes with the verdict.
            window.keys("W");
            window.wait_moved("document.activeElement.id === 'reason'");
            window.keys("Measured under load");
            // Enter leaves the words where they are; what is typed next is not a command.
            window.keys(ENTER);
            window.keys(ESCAPE);
            window.wait_moved("document.activeElement.id !== 'reason'");
        }
        // Alternate between both themes.
        let theme = if at % 2 == 0 { "light" } else { "dark" };
        window.themed(theme);
        window.keys(key);
        window.wait(&format!(
            "{} && document.querySelector('[data-testid=conflict-read]')?.dataset.conflict !== '{id}'",
            rows(PAIRS.len() - at - 1)
        ));
        judged.push((id, *key));
    }
    window.find("[data-testid=no-conflicts]");
    window.shot("conflicts-none");
    for (at, (id, key)) in judged.iter().enumerate() {
        let conflict = of(&desk.sandbox.engram, id);
        let (how, lost) = match *key {
            "a" => ("winner", Some("b")),
            "b" => ("winner", Some("a")),
            "N" => ("winner", Some("a")), // B was stated last
            "s" => ("winner", Some("b")), // A is surer
            _ => ("dismissed", None),
        };
        assert_eq!(conflict["settled"]["how"], how, "{key}: {conflict}");
        assert_eq!(conflict["settled"]["by"], "user", "{key}: {conflict}");
        for side in ["a", "b"] {
            let holds = desk.holds(conflict[side]["id"].as_str().unwrap());
            assert_eq!(holds, lost != Some(side), "{key}, {side}: {conflict}");
        }
        let why = (at == 0).then_some("Measured under load");
        assert_eq!(conflict["settled"]["why"], json!(why));
    }

    // A settled conflict is found by its status, and its verdict is undone.
    window.keys("f");
    window.wait_moved("document.activeElement.id === 'conflict-status'");
    choose(window, "conflict-status", "resolved");
    window.wait(&rows(judged.iter().filter(|it| it.1 != "x").count()));
    window.keys(ESCAPE);
    let id = read(window);
    window.find("[data-testid=settled]");
    window.shot("conflicts-settled");
    window.keys("u");
    window.wait(&notice("Reopened"));
    window.wait(&rows(judged.iter().filter(|it| it.1 != "x").count() - 1));
    assert_eq!(of(&desk.sandbox.engram, &id)["status"], "open");
}

#[test]
fn two_claims_are_merged_and_parted_again_by_keys() {
    let (desk, _) = Desk::with_conflicts(2);
    let window = &desk.window;
    let id = read(window);
    let before = of(&desk.sandbox.engram, &id);
    window.keys("m");
    window.wait_moved("document.activeElement.id === 'merge-text'");
    window.shot("conflicts-merge");
    // The merge begins with the newer claim.
    let text = window.script("return document.activeElement.value", json!([]));
    assert_eq!(text, before["b"]["claim"]);
    // Leaving the field and coming back loses nothing.
    window.keys(" It depends.");
    window.keys(ESCAPE);
    window.find("[data-testid=merge-unsaved]");
    window.keys("m");
    window.wait_moved("document.activeElement.id === 'merge-text'");
    window.wait("document.activeElement.value.endsWith(' It depends.')");
    let merged = window.script("return document.activeElement.value", json!([]));
    window.control('\u{E007}');
    window.wait(&notice("Merged"));
    window.wait(&rows(1));
    let settled = of(&desk.sandbox.engram, &id);
    assert_eq!(settled["settled"]["how"], "merge", "{settled}");
    for side in ["a", "b"] {
        assert!(!desk.holds(before[side]["id"].as_str().unwrap()));
    }
    let found = desk
        .sandbox
        .engram
        .json(&["query", merged.as_str().unwrap()]);
    assert_eq!(found["engrams"][0]["claim"], merged);
    // One key undoes it and returns to the conflict.
    window.keys("z");
    window.wait(&notice("Undone"));
    window.wait(&rows(2));
    window.wait(&format!(
        "document.querySelector('[data-testid=conflict-read]')?.dataset.conflict === '{id}'"
    ));
    let again = of(&desk.sandbox.engram, &id);
    assert_eq!(again["status"], "open", "{again}");
    for side in ["a", "b"] {
        assert_eq!(again[side]["claim"], before[side]["claim"]);
        assert!(desk.holds(again[side]["id"].as_str().unwrap()));
    }
}

#[test]
fn several_conflicts_are_judged_at_once_and_undone_by_one_key() {
    let (desk, ids) = Desk::with_conflicts(6);
    let window = &desk.window;
    read(window);
    // Three by keys, then all.
    window.keys("v");
    window.wait(&are_chosen(1));
    window.shift('j');
    window.shift('j');
    window.wait(&are_chosen(3));
    window.shot("conflicts-selected");
    // Conflicts are merged only one at a time.
    window.keys("m");
    window.wait(&notice("one at a time"));
    window.keys("W");
    window.wait_moved("document.activeElement.id === 'reason'");
    window.keys("Not the same thing");
    window.keys(ESCAPE);
    window.wait_moved("document.activeElement.id !== 'reason'");
    window.keys("x");
    window.wait(&notice("Dismissed 3 conflicts"));
    window.wait(&rows(3));
    let dismissed: Vec<Value> = all(&desk.sandbox.engram)
        .into_iter()
        .filter(|it| it["status"] == "dismissed")
        .collect();
    assert_eq!(dismissed.len(), 3);
    assert!(
        dismissed
            .iter()
            .all(|it| it["settled"]["why"] == "Not the same thing")
    );
    window.keys("z");
    window.wait(&notice("Undone: 3 conflicts"));
    window.wait(&rows(6));
    // All of them, in favour of the newer: the earlier claims are closed, and hold again after the
    // undo.
    window.control('a');
    window.wait(&are_chosen(6));
    window.keys("N");
    window.wait(&notice("Settled 6 conflicts"));
    window.find("[data-testid=no-conflicts]");
    assert!(ids[0].iter().all(|id| !desk.holds(id)));
    assert!(ids[1].iter().all(|id| desk.holds(id)));
    window.keys("z");
    window.wait(&notice("Undone: 6 conflicts"));
    window.wait(&rows(6));
    let open = all(&desk.sandbox.engram);
    assert!(open.iter().all(|it| it["status"] == "open"), "{open:?}");
}

#[test]
fn what_others_settle_leaves_the_list_and_stays_open_for_who_reads_it() {
    let (desk, _) = Desk::with_conflicts(3);
    let window = &desk.window;
    let id = read(window);
    desk.sandbox
        .engram
        .json(&["resolve", &id, "--dismiss", "--why", "Two services"]);
    window.wait(&rows(2));
    // The conflict is still open in the detail, which shows its verdict.
    window
        .wait("document.querySelector('[data-testid=settled] q')?.textContent === 'Two services'");
    assert_eq!(
        window.attribute("[data-testid=conflict-read]", "data-conflict"),
        id
    );
    window.keys("a");
    window.wait(&notice("already settled"));
    // A new conflict arrives by itself.
    let drafts = [("ada", "8080"), ("grace", "9090")].map(|(agent, port)| {
        json!({"claim": format!("The gateway listens on port {port}."), "topic": "gateway", "agent": agent,
            "pointers": ["repo:src/retry.rs#L1-L3@HEAD"]})
    });
    desk.sandbox.engram.put(&drafts);
    window.wait(&rows(3));
    window
        .wait("document.querySelector('[data-topic=gateway] mark')?.textContent.includes('8080')");
    window
        .wait("document.querySelector('[data-testid=conflicts-view] .count')?.textContent === '3'");
}
