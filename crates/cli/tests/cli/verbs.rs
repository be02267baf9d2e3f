//! Every verb: its exit code, the keys that it prints, what it needs, and what it leaves unchanged.

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox, files, git, keys};

#[test]
fn each_verb_prints_its_object() {
    let sandbox = Sandbox::new();
    let id = sandbox.put("Retries use full jitter, 200 ms base.");
    let spare = sandbox.put("The retry delay is a constant.");
    let gone = sandbox.put("The retry delay was once 100 ms.");
    let note = [
        "note",
        "--kind",
        "decision",
        "--slug",
        "jitter",
        "We use full jitter.",
    ];
    let message = sandbox.write("message.json", MESSAGE);
    let message = message.to_str().unwrap();
    for (args, expected) in [
        (
            vec!["get", &id],
            "agent? claim confidence content_hash durability entities fact_type figures hash_keys health id kind lineage_id memory_op pointers project provenance recorded_at scope seq tags topic valid_from verified",
        ),
        (
            vec!["promote", &spare],
            "durability findings id lineage_id scope seq",
        ),
        (vec!["forget", &spare], "id seq"),
        (vec!["redact", &gone], "id seq"),
        (
            vec!["query", "how does the client retry"],
            "engrams relaxed verdict",
        ),
        (
            vec![
                "query", "retry", "--k", "1", "--scope", "project", "--kind", "fact",
            ],
            "engrams relaxed verdict",
        ),
        (
            vec![
                "query",
                "retry",
                "--topic",
                "none/such",
                "--as-of",
                "2026-01-08",
                "--include-ephemeral",
            ],
            "engrams relaxed verdict",
        ),
        (
            vec!["deref", POINTER],
            "content_digest excerpt pointer tokens truncated",
        ),
        (
            vec!["deref", POINTER, "--agent", "a", "--turn", "t"],
            "budget content_digest excerpt pointer tokens truncated",
        ),
        (
            vec!["deref", POINTER, "--max-tokens", "2"],
            "content_digest excerpt pointer tokens truncated",
        ),
        (note.to_vec(), "id pointer seq"),
        (vec!["feed"], "engrams entries head"),
        (
            vec!["feed", "--all", "--limit", "3", "--before", "3"],
            "engrams entries head",
        ),
        (
            vec!["status"],
            "agents conflicts drifted engrams head home indexed next project requests sign_of_life spending status version",
        ),
        (vec!["doctor"], "findings ok"),
        (vec!["doctor", "--reindex"], "findings ok"),
        (
            vec!["connect", "claude"],
            "agents_md changed diff files path written",
        ),
        (
            vec!["connect", "codex"],
            "agents_md changed diff files path written",
        ),
        (vec!["message", "validate", message], "ok tokens"),
        (vec!["brief"], "lines tokens"),
        (vec!["brief", "pin", "Ship on Friday."], "lines tokens"),
        (vec!["brief", "unpin", "1"], "lines tokens"),
    ] {
        let printed = sandbox.json(&args);
        let mut expected: Vec<&str> = expected
            .split(' ')
            .filter(|it| !it.ends_with('?'))
            .collect();
        expected.sort_unstable();
        assert_eq!(keys(&printed), expected, "{args:?}");
    }
}

const MESSAGE: &str = r#"{"role":"programmer","task_status":"done","engrams":[],"output":{"summary":"Nothing new.","next":""}}"#;

#[test]
fn put_answers_and_get_returns_what_was_put() {
    let sandbox = Sandbox::new();
    let stored = sandbox.json(&[
        "put",
        "--claim",
        " Retries use full jitter. ",
        "--pointer",
        POINTER,
        "--pointer",
        r#"{"type":"artifact","ref":"README.md@HEAD","span":"sec=Rules"}"#,
        "--kind",
        "decision",
        "--confidence",
        "0.9",
        "--ttl",
        "P7D",
        "--scope",
        "project",
        "--topic",
        "/gateway/retry/",
        "--tag",
        "slow",
        "--tag",
        "net",
        "--agent",
        "programmer-2",
        "--durability",
        "durable",
    ]);
    assert_eq!(
        keys(&stored),
        [
            "committed_at",
            "conflicts",
            "findings",
            "id",
            "lineage_id",
            "memory_op",
            "seq",
            "verified"
        ]
    );
    assert_eq!(
        (&stored["verified"], &stored["findings"], &stored["seq"]),
        (&json!(true), &json!([]), &json!(2))
    );
    let got = sandbox.json(&["get", stored["id"].as_str().unwrap()]);
    for (key, expected) in [
        ("claim", json!("Retries use full jitter.")),
        ("kind", json!("decision")),
        ("fact_type", json!("decision")),
        ("confidence", json!(0.9)),
        ("ttl", json!("P7D")),
        ("scope", json!("project")),
        ("topic", json!("gateway/retry")),
        ("tags", json!(["slow", "net"])),
        ("memory_op", json!("add")),
    ] {
        assert_eq!(got[key], expected, "{key}");
    }
    assert_eq!(got["provenance"]["created_by"], "programmer-2");
    let head = crate::fixture::git(&sandbox.repo(), &["rev-parse", "HEAD"]);
    let references: Vec<&str> = got["pointers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["ref"].as_str().unwrap())
        .collect();
    assert_eq!(
        references,
        [
            format!("repo:src/retry.rs#L2-L3@{head}"),
            format!("artifact:README.md#sec=Rules@{head}")
        ]
    );
}

#[test]
fn verbs_that_need_no_repository_work_without_one() {
    let sandbox = Sandbox::bare();
    let note = sandbox.json(&[
        "note",
        "--kind",
        "decision",
        "--slug",
        "domain",
        "We publish under example.org.",
    ]);
    let pointer = note["pointer"].as_str().unwrap();
    let stored = sandbox.json(&[
        "put",
        "--claim",
        "We publish under example.org.",
        "--pointer",
        pointer,
    ]);
    assert_eq!(stored["verified"], false, "an event is no proof");
    let id = stored["id"].as_str().unwrap();
    assert_eq!(sandbox.json(&["query", "publish"])["engrams"][0]["id"], id);
    assert_eq!(
        sandbox.json(&["deref", pointer])["excerpt"],
        "We publish under example.org."
    );
    assert_eq!(sandbox.json(&["get", id])["id"], id);
    assert_eq!(
        sandbox.json(&["feed"])["entries"].as_array().unwrap().len(),
        1
    );
    let status = sandbox.json(&["status"]);
    assert_eq!(
        (&status["engrams"], status.get("project")),
        (&json!(1), None)
    );
    assert_eq!(sandbox.json(&["doctor"])["ok"], true);
    sandbox
        .feed(&["--json", "message", "validate", "-"], MESSAGE.as_bytes())
        .json();
    sandbox.json(&["connect", "codex"]);
    sandbox.json(&["forget", id]);
    sandbox.json(&["redact", id]);
    for args in [
        &["deref", POINTER][..],
        &[
            "put",
            "--claim",
            "Retries use full jitter.",
            "--pointer",
            POINTER,
        ],
        &["connect", "claude"],
    ] {
        sandbox
            .run(&[args, &["--json"]].concat())
            .refused("REPO_UNAVAILABLE");
    }
}

/// A worktree whose repository is gone breaks only the verbs that need it.
#[test]
fn a_broken_repository_stops_only_what_needs_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.put("Retries use full jitter.");
    let linked = sandbox.path("linked");
    git(
        &sandbox.repo(),
        &["worktree", "add", "-q", linked.to_str().unwrap()],
    );
    std::fs::rename(sandbox.repo(), sandbox.path("away")).unwrap();
    let ask = |args: &[&str]| sandbox.run_in(&linked, &[args, &["--json"]].concat());
    let message = sandbox.write("message.json", MESSAGE);
    assert_eq!(ask(&["get", &id]).json()["id"], id.as_str());
    ask(&["message", "validate", message.to_str().unwrap()]).json();
    for args in [
        &["status"][..],
        &["query", "retry"],
        &["deref", POINTER],
        &["feed"],
    ] {
        ask(args).refused("REPO_UNAVAILABLE");
    }
    let doctor = ask(&["doctor"]);
    assert_eq!(doctor.code, Some(1));
    let health: Value = serde_json::from_str(&doctor.out).unwrap();
    let is_ok = |what: &str| {
        let all = health["findings"].as_array().unwrap();
        all.iter().find(|it| it["what"] == what).unwrap()["ok"].clone()
    };
    assert_eq!(
        (is_ok("database"), is_ok("journal"), is_ok("repository")),
        (json!(true), json!(true), json!(false))
    );
    std::fs::rename(sandbox.path("away"), sandbox.repo()).unwrap();
    assert_eq!(ask(&["query", "retry"]).json()["verdict"], "strong");
}

#[test]
fn asking_changes_no_file_outside_the_home() {
    let sandbox = Sandbox::new();
    let before = files(&sandbox.repo());
    for args in [
        &["status"][..],
        &["query", "retry"],
        &["deref", POINTER],
        &["deref", "repo:README.md@worktree"],
        &["deref", POINTER, "--agent", "a", "--turn", "1"],
        &["feed"],
        &["doctor"],
        &["connect", "claude"],
        &["connect", "codex"],
    ] {
        sandbox.json(args);
        assert_eq!(files(&sandbox.repo()), before, "{args:?}");
    }
    sandbox
        .run(&["get", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--json"])
        .refused("NOT_FOUND");
    assert_eq!(files(&sandbox.repo()), before);
    assert!(files(&sandbox.path("person")).is_empty() && !sandbox.path("codex").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    for args in [
        "status",
        "doctor",
        "feed --json",
        "query retry",
        "connect codex",
        "completions bash",
        "--help",
        "get",
    ] {
        let mut command = sandbox.command();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        command
            .args(args.split(' '))
            .stdout(writer.try_clone().unwrap())
            .stderr(writer);
        let status = command.status().unwrap();
        assert!(matches!(status.code(), Some(0..=2)), "{args}: {status}");
    }
}

/// The feed and the log say who changed which claim, as the window's history does.
#[test]
fn feed_and_log_say_who_did_what() {
    let sandbox = Sandbox::new();
    let id = sandbox.put("Retries use full jitter.");
    let correct = [
        "put",
        "--claim",
        "Retries use no jitter.",
        "--pointer",
        POINTER,
        "--corrects",
        &id,
    ];
    let corrected = sandbox.json(&correct)["id"].as_str().unwrap().to_owned();
    sandbox.json(&["forget", &corrected]);
    let restored = sandbox.json(&["restore", &corrected])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = [
        "put",
        "--claim",
        "Retries use no jitter.",
        "--pointer",
        POINTER,
        "--agent",
        "ann",
    ];
    sandbox.json(&said);
    for verb in [vec!["log", &id], vec!["feed"]] {
        let out = sandbox.run(&verb).out;
        let told: Vec<Vec<&str>> = out
            .lines()
            .map(|it| it.split_whitespace().skip(3).collect())
            .collect();
        let want = [
            ("ann", "repeated", &restored, "no"),
            ("you", "restored", &restored, "no"),
            ("you", "forgot", &corrected, "no"),
            ("you", "corrected", &corrected, "no"),
            ("you", "stored", &id, "full"),
        ];
        assert_eq!(told.len(), want.len(), "{out}");
        for (told, (who, did, id, word)) in told.iter().zip(want) {
            assert_eq!(told[..3], [who, did, id.as_str()], "{out}");
            assert!(told.contains(&word), "{out}");
        }
    }
}

/// Counts of one are in the singular.
#[test]
fn one_is_counted_as_one() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    sandbox.json(&["deref", POINTER, "--agent", "ann", "--turn", "1"]);
    let status = sandbox.run(&["status"]).out;
    assert!(status.contains("1 engram, 1 agent, entry "), "{status}");
    let many = sandbox.run(&["query", "jitter", "--k", "1"]).out;
    assert!(!many.contains("more claim"), "{many}");
    sandbox.put("Jitter is full.");
    let many = sandbox.run(&["query", "jitter", "--k", "1"]).out;
    assert!(many.contains("1 more claim matches: raise --k"), "{many}");
}

/// The feed quotes what it names by id.
#[test]
fn the_feed_quotes_the_claims_of_a_conflict() {
    let sandbox = Sandbox::new();
    let put = |claim: &str| sandbox.json(&["put", "--claim", claim, "--pointer", POINTER]);
    put("The port of the relay is 9090.");
    let second = put("The port of the relay is 8080.");
    let id = second["findings"][0]["conflict"].as_str().unwrap();
    let feed = || sandbox.run(&["feed"]).out;
    let sides = "The port of the relay is 9090. / The port of the relay is 8080.";
    assert!(
        feed().contains(&format!("conflict   {id}  high: {sides}")),
        "{}",
        feed()
    );
    sandbox.json(&["resolve", id, "--winner", "newer"]);
    assert!(
        feed().contains(&format!("resolved   {id}  winner: {sides}")),
        "{}",
        feed()
    );
}
