//! The table of requests, as a person types them.

use engram_model::{Effect, Request};

use crate::fixture::{POINTER, Sandbox};

/// Returns the command line that sends a request; none for a request without a verb.
fn command_line<'a>(name: &str, id: &'a str, message: &'a str) -> Option<Vec<&'a str>> {
    Some(match name {
        "put" => vec!["put", "--claim", "A new claim.", "--pointer", POINTER],
        "get" => vec!["get", id],
        "log" => vec!["log", id],
        "forget" => vec!["forget", id],
        "restore" => vec!["restore", id],
        "redact" => vec!["redact", id],
        "promote" => vec!["promote", id],
        "query" => vec!["query", "claim"],
        "deref" => vec!["deref", POINTER],
        "note" => vec![
            "note",
            "--kind",
            "decision",
            "--slug",
            "domain",
            "We publish.",
        ],
        "feed" => vec!["feed"],
        "check_pointers" => vec!["pointers", "check"],
        "repin" => vec!["pointers", "repin", id],
        "load_sample" => vec!["sample"],
        "remove_sample" => vec!["sample", "--remove"],
        "conflicts" => vec!["conflicts"],
        "gate" => vec!["conflicts", "--gate"],
        "conflict" => vec!["conflicts", "show", id],
        "allow" => vec!["conflicts", "allow", id, "--why", "Known."],
        "resolve" => vec!["resolve", id, "--winner", "newer", "--why", "Read again."],
        "status" => vec!["status"],
        "agents" => vec!["agents"],
        "change_agent" => vec!["agents", "rename", "child", "backend"],
        "budget" => vec!["budget", "--agent", "child"],
        "issue_grant" => vec!["grant", "issue", "--to", "child", "--pointer", POINTER],
        "grants" => vec!["grant", "list"],
        "revoke_grant" => vec!["grant", "revoke", id],
        "requests" => vec!["requests", "--all"],
        "open_agent" => vec!["agents", "open", "child", "--role", "programmer"],
        "adopt" => vec!["project", "share"],
        "brief" => vec!["brief"],
        "pin" => vec!["brief", "pin", id],
        "unpin" => vec!["brief", "unpin", "1"],
        "send" => vec!["message", "send", message],
        "validate_message" => vec!["message", "validate", message],
        // Other tests cover the answers to an agent's request.
        "request_deref" | "grant_request" | "deny_request" | "next_turn" => return None,
        "commit" | "facets" | "search" | "source" | "reword" | "complete" | "line" | "reverify"
        | "standing" | "track" | "blame" | "show_brief" | "metrics" | "models" | "hook"
        | "locate" | "news" | "timeline" | "explain" => {
            return None;
        }
        other => panic!("the walk does not know {other:?}: say how it is typed"),
    })
}

/// Stores two claims that contradict each other; returns the conflict's id.
fn contradict(sandbox: &Sandbox) -> String {
    sandbox.put("The wallet lock lasts 3 minutes.");
    let claim = "The wallet lock lasts 30 minutes.";
    let stored = sandbox.json(&["put", "--claim", claim, "--pointer", POINTER]);
    let found = &stored["findings"][0];
    assert_eq!(found["what"], "conflict", "{stored}");
    found["conflict"].as_str().unwrap().to_owned()
}

/// The list says who won, and a repeated undo that it changed nothing.
#[test]
fn the_list_names_the_winner_and_a_repeated_undo_changes_nothing() {
    let sandbox = Sandbox::new();
    let id = contradict(&sandbox);
    let reason = ["--why", "Measured."];
    sandbox.json(&[&["resolve", &id, "--winner", "newer"], &reason[..]].concat());
    let all = sandbox.run(&["conflicts", "--status", "all"]).out;
    let line = all.lines().find(|it| it.starts_with("  winner: b, by "));
    assert!(
        line.is_some_and(|it| it.ends_with(": \"Measured.\"")),
        "{all}"
    );
    let undone = sandbox.run(&["resolve", &id, "--undo"]).out;
    assert!(undone.contains(&format!("{id}  open, entry ")), "{undone}");
    let again = sandbox.run(&["resolve", &id, "--undo"]).out;
    let told = format!("{id}  open: nothing changed, since entry ");
    assert!(again.starts_with(&told), "{again}");
    assert_eq!(again.lines().count(), 1, "{again}");
}

/// The list marks an allowed conflict, which blocks again once the allowance is undone. Undoing a
/// verdict does not undo the allowance: it is refused, with a hint at what does.
#[test]
fn an_allowance_is_marked_and_taken_back() {
    let sandbox = Sandbox::new();
    let id = contradict(&sandbox);
    sandbox.json(&["resolve", &id, "--dismiss"]);
    sandbox.json(&["resolve", &id, "--undo"]);
    sandbox.json(&["conflicts", "allow", &id, "--why", "Known."]);
    let listed = sandbox.run(&["conflicts"]).out;
    assert!(
        listed.contains(&format!("{id}  open, high, allowed, score ")),
        "{listed}"
    );
    assert!(
        listed.contains("3 minutes or 30 minutes"),
        "says why: {listed}"
    );
    assert!(listed.contains("30 minutes. (user)"), "{listed}");
    let undone = sandbox.run(&["resolve", &id, "--undo", "--json"]);
    undone.refused("NOT_FOUND");
    let hint = undone.error()["hint"].to_string();
    assert!(hint.contains("make it block the gate again"), "{hint}");
    let taken = sandbox.json(&["conflicts", "allow", &id, "--undo"]);
    assert_eq!(taken["allowed"], serde_json::Value::Null);
    assert!(!sandbox.run(&["conflicts"]).out.contains("allowed"));
    assert_eq!(sandbox.run(&["conflicts", "--gate"]).code, Some(1));
    let told = sandbox.run(&["feed"]).out;
    assert!(
        told.contains(&format!("allowed    {id}  blocks again")),
        "{told}"
    );
}

/// The command printed below a page shows the next page of the same list.
#[test]
fn the_next_page_is_of_the_same_list() {
    let sandbox = Sandbox::new();
    for minutes in [3, 30, 40] {
        let claim = format!("The wallet lock lasts {minutes} minutes.");
        let topic = ["--topic", "my wallet", "--pointer", POINTER];
        sandbox.json(&[&["put", "--claim", &claim], &topic[..]].concat());
    }
    let filter = ["--topic=my wallet", "--severity=low", "--limit=1"];
    let page = |more: &[&str]| {
        sandbox
            .run(&[&["conflicts"], &filter[..], more].concat())
            .out
    };
    let first = page(&[]);
    let command = "2 more: engram conflicts --topic='my wallet' --severity=low --limit=1 --after='";
    let (_, next) = first
        .split_once(command)
        .unwrap_or_else(|| panic!("{first}"));
    let next = next.split('\'').next().unwrap_or_default();
    let second = page(&["--after", next]);
    assert!(second.contains("1 more: engram conflicts"), "{second}");
    assert_ne!(first, second);
    let closed = sandbox.run(&["conflicts", "--status=all", "--limit=1"]).out;
    assert!(closed.contains("engram conflicts --status=all --limit=1 "));
    let wrong = sandbox.run(&["conflicts", "--after", "2"]).err;
    assert!(
        wrong.contains("`after` is not the `next` of any page"),
        "{wrong}"
    );
}

/// A reason cannot pass for a sentence of Engram's own.
#[test]
fn a_reason_is_quoted() {
    let sandbox = Sandbox::new();
    let id = contradict(&sandbox);
    let why = "No conflict. Engram: allowed by the user \"for ever\"";
    sandbox.json(&["resolve", &id, "--dismiss", "--why", why]);
    let shown = sandbox.run(&["conflicts", "show", &id]).out;
    let quoted = ": \"No conflict. Engram: allowed by the user 'for ever'\"";
    assert!(shown.contains(quoted), "{shown}");
}

/// The history of a claim that lost a conflict says so, and names the conflict.
#[test]
fn a_history_says_that_a_claim_lost_a_conflict() {
    let sandbox = Sandbox::new();
    let id = contradict(&sandbox);
    let shown = sandbox.json(&["conflicts", "show", &id]);
    let loser = shown["a"]["id"].as_str().unwrap();
    sandbox.json(&["resolve", &id, "--winner", "newer"]);
    let log = sandbox.run(&["log", loser]).out;
    let line = log
        .lines()
        .find(|it| it.contains("lost "))
        .unwrap_or_default();
    assert!(line.contains(&format!("(conflict {id})")), "{log}");
    assert!(!log.contains("forgot"), "{log}");
}

/// A gate is shut while a conflict that nobody has allowed is open.
#[test]
fn the_gate_stops_a_job_until_a_conflict_is_settled_or_allowed() {
    let sandbox = Sandbox::new();
    let gate = |more: &[&str]| {
        let ran = sandbox.run(&[&["--json", "conflicts", "--gate"], more].concat());
        let reply: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        (ran.code, reply["gate"].clone(), reply["blocking"].clone())
    };
    // For a home that does not know the repository, the gate stays shut.
    let unknown = sandbox.run(&["--json", "conflicts", "--gate"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.err.contains("NOT_FOUND"), "{unknown:?}");
    let check = |args: &[&str]| sandbox.run(&[&["pointers", "check"], args].concat());
    let unknown = check(&["--exit-code"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.err.contains("nothing to check"), "{unknown:?}");
    assert_eq!(check(&[]).code, Some(0), "a list is empty, not refused");
    // Nor does it open for a home that knows the repository by its id alone.
    let id = sandbox.repo().join(".git/engram-project");
    std::fs::write(&id, "01M83JK5AHSZHY782ME0Q4TXMZ\n").unwrap();
    for args in [
        &["conflicts", "--gate"][..],
        &["pointers", "check", "--exit-code"],
    ] {
        let unknown = sandbox.run(args);
        assert_eq!(unknown.code, Some(1), "{unknown:?}");
        assert!(unknown.err.contains("NOT_FOUND"), "{unknown:?}");
    }
    std::fs::remove_file(&id).unwrap();
    sandbox.put("The gateway has two nodes.");
    assert_eq!(check(&["--exit-code"]).code, Some(0));
    assert_eq!(gate(&[]), (Some(0), "open".into(), serde_json::json!([])));
    let id = contradict(&sandbox);
    let shut = (Some(1), "shut".into(), serde_json::json!([id]));
    assert_eq!(gate(&[]), shut);
    assert_eq!(gate(&["--severity", "low"]), shut);
    let told = sandbox.run(&["conflicts", "--gate"]).out;
    for says in [
        &format!("{id}  high"),
        "a The wallet lock lasts 3 minutes.",
        "b The wallet lock lasts 30 minutes.",
    ] {
        assert!(told.contains(says), "{told}");
    }
    let listed = |args: &[&str]| sandbox.run(&[&["conflicts"], args].concat()).out;
    assert!(listed(&["--severity", "high"]).starts_with("1 open conflict\n"));
    assert_eq!(listed(&["--topic", "none"]).trim(), "0 of 1 open conflict");
    assert_eq!(
        listed(&["--status", "resolved"]).trim(),
        "no resolved conflicts; 1 open conflict"
    );
    let allowed = sandbox.json(&["conflicts", "allow", &id, "--why", "Known."]);
    assert_eq!(
        (&allowed["status"], &allowed["allowed"]["why"]),
        (&"open".into(), &"Known.".into())
    );
    assert_eq!(gate(&[]).0, Some(0));
    assert_eq!(sandbox.json(&["conflicts"])["open"], 1);
    let settled = sandbox.json(&["resolve", &id, "--winner", "newer"]);
    assert_eq!(settled["status"], "resolved");
    assert!(
        listed(&["--status", "resolved"]).starts_with("1 resolved conflict; no open conflicts\n")
    );
    let shown = listed(&["show", &id]);
    assert!(shown.contains("winner: b, by user"), "{shown}");
    let wrong = sandbox.run(&["conflicts", "--status", "foo"]).err;
    assert!(wrong.contains("not a valid conflict status"), "{wrong}");
    assert_eq!(
        sandbox.json(&["conflicts", "list", "--status", "resolved"])["conflicts"][0]["settled"]["how"],
        "winner"
    );
    let side = sandbox.run(&["--json", "resolve", &id]);
    assert_ne!(side.code, Some(0), "{side:?}");
    assert!(side.err.contains("SCHEMA_INVALID"), "{side:?}");
}

/// Returns the commands that a request needs first.
fn first<'a>(name: &str, id: &'a str) -> Vec<Vec<&'a str>> {
    let open = vec!["agents", "open", "child"];
    match name {
        "restore" => vec![vec!["forget", id]],
        "send" => vec![vec!["agents", "open", "ada", "--role", "programmer"]],
        "unpin" => vec![vec!["brief", "pin", id]],
        "budget" | "change_agent" | "issue_grant" => vec![open],
        "revoke_grant" => vec![
            open,
            vec!["grant", "issue", "--to", "child", "--code", "100"],
        ],
        _ => Vec::new(),
    }
}

#[test]
fn each_verb_does_to_the_home_what_the_table_says() {
    for terms in Request::TABLE {
        let sandbox = Sandbox::new();
        let claim = match terms.name {
            "conflict" | "allow" | "resolve" => contradict(&sandbox),
            _ => sandbox.put("The first claim."),
        };
        let mut id = claim.clone();
        for first in first(terms.name, &claim) {
            let reply = sandbox.json(&first);
            id = reply["id"].as_str().unwrap_or(&claim).to_owned();
        }
        let message = sandbox.write("message.json", r#"{"role":"programmer","instructions":[]}"#);
        let Some(args) = command_line(terms.name, &id, message.to_str().unwrap()) else {
            continue;
        };
        if terms.name == "promote" {
            let words = "The first claim, for a day.";
            let args = ["put", "--claim", words, "--pointer", POINTER];
            let more = ["--corrects", &id, "--durability", "ephemeral"];
            sandbox.json(&[&args[..], &more].concat());
        }
        let head = |sandbox: &Sandbox| {
            let report = sandbox.json(&["doctor"]);
            let findings = report["findings"].as_array().unwrap();
            let journal = findings.iter().find(|it| it["what"] == "journal");
            journal.unwrap()["found"].clone()
        };
        let before = head(&sandbox);
        let ran = sandbox.run(&args);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", terms.name);
        // There is no sample to remove, so nothing changes.
        if terms.name != "remove_sample" {
            let is_changed = head(&sandbox) != before;
            assert_eq!(is_changed, terms.effect != Effect::Reads, "{}", terms.name);
        }
    }
}

/// `deref --agent` spends the agent's budget; without it, nothing is spent.
#[test]
fn an_agent_that_reads_by_the_command_pays() {
    let sandbox = Sandbox::new();
    let used = |args: &[&str]| {
        let reply = sandbox.json(&[&["deref", POINTER], args].concat());
        reply["budget"]["repo_spans"]["used"].clone()
    };
    assert!(used(&[]).is_null());
    assert_eq!(used(&["--agent", "programmer-1", "--turn", "t1"]), 1);
}
