//! Every verb: its exit, the keys that it prints, and what it refuses.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    process::Child,
};

use serde_json::{Value, json};

use crate::fixture::{POINTER, Place, Ran, files, git, keys, ran};

#[test]
fn each_verb_prints_its_object() {
    let place = Place::new();
    let id = place.put("Retries use full jitter, 200 ms base.");
    let spare = place.put("The retry delay is a constant.");
    let gone = place.put("The retry delay was once 100 ms.");
    let note = [
        "note",
        "--kind",
        "decision",
        "--slug",
        "jitter",
        "We use full jitter.",
    ];
    let message = place.write("message.json", MESSAGE);
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
            "agents conflicts drifted engrams head home indexed next project requests spending status version",
        ),
        (vec!["doctor"], "findings ok"),
        (vec!["doctor", "--reindex"], "findings ok"),
        (
            vec!["connect", "claude"],
            "agents_md changed diff path written",
        ),
        (
            vec!["connect", "codex"],
            "agents_md changed diff path written",
        ),
        (vec!["message", "validate", message], "ok tokens"),
        (vec!["brief"], "lines tokens"),
        (vec!["brief", "pin", "Ship on Friday."], "lines tokens"),
        (vec!["brief", "unpin", "1"], "lines tokens"),
    ] {
        let printed = place.json(&args);
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
    let place = Place::new();
    let stored = place.json(&[
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
    let got = place.json(&["get", stored["id"].as_str().unwrap()]);
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
    let head = crate::fixture::git(&place.repo(), &["rev-parse", "HEAD"]);
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

/// What a verb refuses, with `--json` and without.
#[test]
fn each_refusal_has_its_code() {
    let place = Place::new();
    let long = "a".repeat(501);
    let id = place.put("Retries use full jitter.");
    place.json(&["forget", &id]);
    let before = place.json(&["status"])["head"].clone();
    let put = |extra: &[&'static str]| -> Vec<String> {
        let mut args = vec!["put", "--claim", "Retries use full jitter."];
        args.extend(extra);
        args.into_iter().map(str::to_owned).collect()
    };
    let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let nothing = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for (args, code) in [
        (put(&[]), "UNANCHORED"),
        (put(&["--pointer", "repo:src/retry.rs"]), "POINTER_UNPINNED"),
        (
            put(&["--pointer", "repo:../etc/passwd@HEAD"]),
            "POINTER_INVALID",
        ),
        (
            put(&["--pointer", "repo:src/none.rs@HEAD"]),
            "POINTER_NOT_FOUND",
        ),
        (put(&["--pointer", "{\"type\":1}"]), "POINTER_INVALID"),
        (
            put(&["--pointer", POINTER, "--confidence", "2"]),
            "SCHEMA_INVALID",
        ),
        (
            put(&["--pointer", POINTER, "--confidence", "NaN"]),
            "SCHEMA_INVALID",
        ),
        (
            put(&["--pointer", POINTER, "--ttl", "soon"]),
            "SCHEMA_INVALID",
        ),
        (
            put(&["--pointer", POINTER, "--kind", "rumour"]),
            "SCHEMA_INVALID",
        ),
        (
            put(&["--pointer", POINTER, "--operation", "delete"]),
            "SCHEMA_INVALID",
        ),
        (
            put(&["--pointer", POINTER, "--corrects", nothing]),
            "NOT_FOUND",
        ),
        (put(&["--jsonl", "x"]), "SCHEMA_INVALID"),
        (
            vec![
                "put".into(),
                "--claim".into(),
                long,
                "--pointer".into(),
                POINTER.into(),
            ],
            "CLAIM_TOO_LONG",
        ),
        (
            vec![
                "put".into(),
                "--claim".into(),
                "The key is AKIAIOSFODNN7EXAMPLQ.".into(),
                "--pointer".into(),
                POINTER.into(),
            ],
            "SECRET_DETECTED",
        ),
        (words("put --jsonl /none/such"), "SCHEMA_INVALID"),
        (words("put"), "SCHEMA_INVALID"),
        (vec!["get".into(), nothing.into()], "NOT_FOUND"),
        (words("get x"), "NOT_FOUND"),
        // Another spelling of 130 bits, of which 128 are an id that there is.
        (vec!["get".into(), id.replacen('0', "8", 1)], "NOT_FOUND"),
        (words("feed --limit 0"), "SCHEMA_INVALID"),
        (words("get"), "SCHEMA_INVALID"),
        (vec!["forget".into(), id.clone()], "NOT_FOUND"),
        (vec!["forget".into(), nothing.into()], "NOT_FOUND"),
        (vec!["redact".into(), nothing.into()], "NOT_FOUND"),
        (words("query"), "SCHEMA_INVALID"),
        (words("query retry --k 0"), "SCHEMA_INVALID"),
        (words("query retry --k 51"), "SCHEMA_INVALID"),
        (words("query retry --as-of yesterday"), "SCHEMA_INVALID"),
        (words("query retry --scope galaxy"), "SCHEMA_INVALID"),
        (words("deref repo:src/retry.rs"), "POINTER_UNPINNED"),
        (words("deref repo:src/none.rs@HEAD"), "POINTER_NOT_FOUND"),
        (words("deref repo:src/retry.rs@none"), "POINTER_NOT_FOUND"),
        (
            words("deref sam:decision:none@2026-01-08"),
            "POINTER_NOT_FOUND",
        ),
        (words("deref url:https://example.org/"), "DEREF_DENIED"),
        (words("deref nonsense"), "POINTER_INVALID"),
        (
            words("deref repo:src/retry.rs@HEAD --turn 1"),
            "SCHEMA_INVALID",
        ),
        (vec!["note".into(), "".into()], "SCHEMA_INVALID"),
        (words("note --kind a:b text"), "POINTER_INVALID"),
        (words("feed --limit few"), "SCHEMA_INVALID"),
        (words("connect emacs"), "SCHEMA_INVALID"),
        (words("message validate /none/such"), "SCHEMA_INVALID"),
        (words("message"), "SCHEMA_INVALID"),
        (words("message send /none/such"), "SCHEMA_INVALID"),
        (words("brief --agent nobody"), "NOT_FOUND"),
        (words("brief pin 01ARZ3NDEKTSV4RRFFQ69G5FAV"), "NOT_FOUND"),
        (words("brief pin one --agent nobody"), "NOT_FOUND"),
        (words("brief unpin 1"), "NOT_FOUND"),
        (words("brief unpin --pin 1"), "NOT_FOUND"),
        (words("brief unpin first"), "SCHEMA_INVALID"),
        (words("brief unpin"), "SCHEMA_INVALID"),
        (words("brief unpin 1 --pin 1"), "SCHEMA_INVALID"),
        (
            vec!["brief".into(), "pin".into(), "".into()],
            "SCHEMA_INVALID",
        ),
        (
            vec!["brief".into(), "pin".into(), "word ".repeat(120)],
            "BUDGET_EXCEEDED",
        ),
        (words("mcp --toolsets none"), "SCHEMA_INVALID"),
        (words("serve --listen 127.0.0.1:99999"), "SCHEMA_INVALID"),
        (words("serve --tls-cert c.pem"), "SCHEMA_INVALID"),
        (words("serve --listen 0.0.0.0:0"), "SCOPE_DENIED"),
        (words("remember"), "SCHEMA_INVALID"),
        (vec![], "SCHEMA_INVALID"),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let error = place.run(&[args.as_slice(), &["--json"]].concat()).error();
        assert_eq!(error["code"], code, "{args:?}: {error}");
        let plain = place.run(&args);
        assert!(
            matches!(plain.code, Some(1 | 2)) && plain.out.is_empty() && !plain.err.is_empty(),
            "{args:?}: {plain:?}"
        );
        assert!(
            plain.code == Some(2) || plain.err.contains(code),
            "{args:?}: {plain:?}"
        );
    }
    assert_eq!(
        place.json(&["status"])["head"],
        before,
        "nothing was stored"
    );
}

#[test]
fn a_usage_error_says_which_argument() {
    let place = Place::new();
    let error = place.run(&["put", "--json"]).error();
    assert!(
        error["message"].as_str().unwrap().contains("--claim"),
        "{error}"
    );
}

#[test]
fn arguments_that_are_not_unicode_are_an_error_like_any_other() {
    let place = Place::new();
    let mut command = place.command();
    command
        .arg("--json")
        .arg("get")
        .arg(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    ran(command.output().unwrap()).refused("SCHEMA_INVALID");
}

#[test]
fn verbs_that_need_no_repository_work_without_one() {
    let place = Place::bare();
    let note = place.json(&[
        "note",
        "--kind",
        "decision",
        "--slug",
        "domain",
        "We publish under example.org.",
    ]);
    let pointer = note["pointer"].as_str().unwrap();
    let stored = place.json(&[
        "put",
        "--claim",
        "We publish under example.org.",
        "--pointer",
        pointer,
    ]);
    assert_eq!(stored["verified"], false, "an event is no proof");
    let id = stored["id"].as_str().unwrap();
    assert_eq!(place.json(&["query", "publish"])["engrams"][0]["id"], id);
    assert_eq!(
        place.json(&["deref", pointer])["excerpt"],
        "We publish under example.org."
    );
    assert_eq!(place.json(&["get", id])["id"], id);
    assert_eq!(
        place.json(&["feed"])["entries"].as_array().unwrap().len(),
        1
    );
    let status = place.json(&["status"]);
    assert_eq!(
        (&status["engrams"], status.get("project")),
        (&json!(1), None)
    );
    assert_eq!(place.json(&["doctor"])["ok"], true);
    place
        .feed(&["--json", "message", "validate", "-"], MESSAGE.as_bytes())
        .json();
    place.json(&["connect", "codex"]);
    place.json(&["forget", id]);
    place.json(&["redact", id]);
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
        place
            .run(&[args, &["--json"]].concat())
            .refused("REPO_UNAVAILABLE");
    }
}

/// A worktree whose repository is gone must not take down what has nothing to do with it.
#[test]
fn a_broken_repository_stops_only_what_needs_it() {
    let place = Place::new();
    let id = place.put("Retries use full jitter.");
    let linked = place.path("linked");
    git(
        &place.repo(),
        &["worktree", "add", "-q", linked.to_str().unwrap()],
    );
    std::fs::rename(place.repo(), place.path("away")).unwrap();
    let ask = |args: &[&str]| place.run_in(&linked, &[args, &["--json"]].concat());
    let message = place.write("message.json", MESSAGE);
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
    std::fs::rename(place.path("away"), place.repo()).unwrap();
    assert_eq!(ask(&["query", "retry"]).json()["verdict"], "strong");
}

#[test]
fn asking_changes_no_file_outside_the_home() {
    let place = Place::new();
    let before = files(&place.repo());
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
        place.json(args);
        assert_eq!(files(&place.repo()), before, "{args:?}");
    }
    place
        .run(&["get", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--json"])
        .refused("NOT_FOUND");
    assert_eq!(files(&place.repo()), before);
    assert!(files(&place.path("person")).is_empty() && !place.path("codex").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let place = Place::new();
    place.put("Retries use full jitter.");
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
        let mut command = place.command();
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

#[test]
fn the_window_is_started_with_the_same_place() {
    let place = Place::new();
    let beside = place.path("bin");
    std::fs::create_dir(&beside).unwrap();
    let engram = beside.join("engram");
    std::fs::copy(env!("CARGO_BIN_EXE_engram"), &engram).unwrap();
    let app = |place: &Place| {
        let mut command = place.plain(&engram, &place.repo());
        command
            .env("PATH", "/nonexistent")
            .env("DISPLAY", ":1")
            .args(["--home", "h", "--repo", "r", "--json", "app"]);
        command
    };
    ran(app(&place).output().unwrap()).refused("NOT_FOUND");
    let script = place.write(
        "bin/engram-desktop",
        "#!/bin/sh\necho \"$@\" > \"${0%/*}/said\"\n",
    );
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Waits for the window too: it holds the pipes until it ends.
    let Ran { code, .. } = ran(app(&place).output().unwrap());
    assert_eq!(code, Some(0));
    assert_eq!(
        std::fs::read_to_string(beside.join("said")).unwrap(),
        "--home h --repo r\n"
    );
    // Without a display there is no window, and the command says what there is instead.
    let mut blind = app(&place);
    let blind = blind.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let said = ran(blind.output().unwrap());
    said.refused("NOT_FOUND");
    let hint = said.error()["hint"].to_string();
    assert!(hint.contains("engram serve"), "{hint}");
}

/// A server, the host and the token of the address that it says, and what it logs.
fn serving(place: &Place) -> (Child, String, String, PathBuf) {
    let log = place.path("log");
    let mut server = place.command();
    server.args(["--json", "serve"]).env("ENGRAM_LOG", "trace");
    let errors = std::fs::File::create(&log).unwrap();
    let mut server = server.stderr(errors).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let url = said["url"].as_str().unwrap();
    let (host, token) = url.split_once("/#token=").unwrap();
    let host = host.strip_prefix("http://").unwrap().to_owned();
    (server, host, token.to_owned(), log)
}

#[test]
fn serving_says_where_and_the_token_to_nobody_else() {
    let place = Place::new();
    let (mut server, host, token, log) = serving(&place);
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    for (head, status) in [
        (format!("GET /api/subscribe?after=x&token={token}"), "400"),
        (format!("GET /?token={token}"), "200"),
        (format!("GET /api/{token}"), "401"),
        // Of what cannot be read at all, something is logged.
        (format!("GET\0 /{token}"), "400"),
    ] {
        let mut stream = TcpStream::connect(&host).unwrap();
        let head = format!(
            "{head} HTTP/1.1\r\nhost: {host}\r\nreferer: /{token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert!(!answer.contains(&token), "{answer}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.is_empty() && !log.contains(&token), "{log}");
}

#[test]
fn a_config_that_cannot_be_read_is_refused_and_named() {
    let place = Place::new();
    let id = place.put("Retries use full jitter.");
    for config in [
        "limits = 3",
        "colour = \"red\"",
        "[limits]\nclaims = 3",
        "[limits.deref]\nrepo_spans = -1",
        "= ",
        "\u{0}",
    ] {
        place.write("home/config.toml", config);
        let error = place.run(&["get", &id, "--json"]).error();
        assert_eq!(error["code"], "SCHEMA_INVALID", "{config:?}");
        assert!(
            error["message"].as_str().unwrap().contains("config.toml"),
            "{error}"
        );
    }
    place.write(
        "home/config.toml",
        "[limits]\nclaim_chars = 20\n[limits.deref]\nrepo_spans = 1\n",
    );
    assert_eq!(place.json(&["get", &id])["id"], id.as_str());
    place
        .run(&[
            "put",
            "--claim",
            "Longer than twenty characters.",
            "--pointer",
            POINTER,
            "--json",
        ])
        .refused("CLAIM_TOO_LONG");
    place.json(&["deref", POINTER, "--agent", "a", "--turn", "1"]);
    place
        .run(&["deref", POINTER, "--agent", "a", "--turn", "1", "--json"])
        .refused("DEREF_DENIED");
    place.json(&["deref", POINTER, "--agent", "a", "--turn", "2"]);
    place.json(&["deref", POINTER]);
}

/// A refused value says which argument has it, and what to write instead.
#[test]
fn a_refused_value_says_what_to_write() {
    let place = Place::bare();
    for (args, says) in [
        (
            &["put", "--claim", "x", "--kind", "rumour"][..],
            &[
                "--kind",
                "\"rumour\" is not a valid kind",
                "fact decision risk todo",
            ][..],
        ),
        (
            &["query", "x", "--fact-type", "rumour"],
            &["--fact-type", "fact type", "observation inference decision"],
        ),
        (
            &["serve", "--listen", "localhost:4000"],
            &[
                "--listen",
                "\"localhost:4000\"",
                "127.0.0.1:4000",
                "[::1]:4000",
            ],
        ),
        (
            &["serve", "--listen", "here"],
            &["--listen", "127.0.0.1:4000"],
        ),
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        let in_json = place.run(&[&["--json"], args].concat());
        assert_eq!(in_json.code, Some(1), "{args:?}");
        let error: Value = serde_json::from_str(&in_json.err).unwrap();
        let told = format!("{} {}", error["error"]["message"], error["error"]["hint"]);
        for says in says {
            assert!(ran.err.contains(says), "{says}: {}", ran.err);
            assert!(told.replace("\\\"", "\"").contains(says), "{says}: {told}");
        }
    }
}

/// The feed and the log name who did what to which claim, as the window's history does.
#[test]
fn feed_and_log_say_who_did_what() {
    let place = Place::new();
    let id = place.put("Retries use full jitter.");
    let correct = [
        "put",
        "--claim",
        "Retries use no jitter.",
        "--pointer",
        POINTER,
        "--corrects",
        &id,
    ];
    let corrected = place.json(&correct)["id"].as_str().unwrap().to_owned();
    place.json(&["forget", &corrected]);
    let restored = place.json(&["restore", &corrected])["id"]
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
    place.json(&said);
    for verb in [vec!["log", &id], vec!["feed"]] {
        let out = place.run(&verb).out;
        let told: Vec<Vec<&str>> = out
            .lines()
            .map(|it| it.split_whitespace().skip(2).collect())
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

/// One of something is not many.
#[test]
fn one_is_counted_as_one() {
    let place = Place::new();
    place.put("Retries use full jitter.");
    place.json(&["deref", POINTER, "--agent", "ann", "--turn", "1"]);
    let status = place.run(&["status"]).out;
    assert!(status.contains("1 engram, 1 agent, entry "), "{status}");
    let many = place.run(&["query", "jitter", "--k", "1"]).out;
    assert!(!many.contains("more claim"), "{many}");
    place.put("Jitter is full.");
    let many = place.run(&["query", "jitter", "--k", "1"]).out;
    assert!(many.contains("1 more claim matches: raise --k"), "{many}");
}
