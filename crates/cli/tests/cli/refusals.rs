//! Refusals of the verbs: their codes and messages.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use serde_json::Value;

use crate::fixture::{POINTER, Sandbox, output_of};

/// Each verb's refusal, with `--json` and without.
#[test]
fn each_refusal_has_its_code() {
    let sandbox = Sandbox::new();
    let long = "a".repeat(501);
    let id = sandbox.put("Retries use full jitter.");
    sandbox.json(&["forget", &id]);
    let before = sandbox.json(&["status"])["head"].clone();
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
        // Another spelling of an existing id: 130 bits, of which it uses 128.
        (vec!["get".into(), id.replacen('0', "8", 1)], "NOT_FOUND"),
        (words("feed --limit 0"), "SCHEMA_INVALID"),
        (words("get"), "SCHEMA_INVALID"),
        (vec!["forget".into(), id.clone()], "NOT_FOUND"),
        (vec!["forget".into(), nothing.into()], "NOT_FOUND"),
        (vec!["redact".into(), nothing.into()], "NOT_FOUND"),
        (words("query"), "SCHEMA_INVALID"),
        (words("query retry --k 0"), "SCHEMA_INVALID"),
        (words("query retry --k 51"), "SCHEMA_INVALID"),
        (words("query retry --as-of someday"), "SCHEMA_INVALID"),
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
        let error = sandbox
            .run(&[args.as_slice(), &["--json"]].concat())
            .error();
        assert_eq!(error["code"], code, "{args:?}: {error}");
        let plain = sandbox.run(&args);
        assert!(
            matches!(plain.code, Some(1 | 2)) && plain.out.is_empty() && !plain.err.is_empty(),
            "{args:?}: {plain:?}"
        );
        // What cannot be parsed is refused with the usage in place of a code.
        let is_usage = plain.code == Some(2) && code == "SCHEMA_INVALID";
        assert!(is_usage || plain.err.contains(code), "{args:?}: {plain:?}");
    }
    assert_eq!(
        sandbox.json(&["status"])["head"],
        before,
        "nothing was stored"
    );
}

#[test]
fn a_usage_error_says_which_argument() {
    let sandbox = Sandbox::new();
    let error = sandbox.run(&["put", "--json"]).error();
    assert!(
        error["message"].as_str().unwrap().contains("--claim"),
        "{error}"
    );
}

#[test]
fn arguments_that_are_not_unicode_are_an_error_like_any_other() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command
        .arg("--json")
        .arg("get")
        .arg(OsStr::from_bytes(b"\xff\xfe"));
    output_of(command.output().unwrap()).refused("SCHEMA_INVALID");
}

/// The refusal of a value names its argument and says what to write instead.
#[test]
fn a_refused_value_says_what_to_write() {
    let sandbox = Sandbox::bare();
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
        let ran = sandbox.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        let in_json = sandbox.run(&[&["--json"], args].concat());
        assert_eq!(in_json.code, Some(1), "{args:?}");
        let error: Value = serde_json::from_str(&in_json.err).unwrap();
        let told = format!("{} {}", error["error"]["message"], error["error"]["hint"]);
        for says in says {
            assert!(ran.err.contains(says), "{says}: {}", ran.err);
            assert!(told.replace("\\\"", "\"").contains(says), "{says}: {told}");
        }
    }
}

#[test]
fn a_config_that_cannot_be_read_is_refused_and_named() {
    let sandbox = Sandbox::new();
    let id = sandbox.put("Retries use full jitter.");
    for config in [
        "limits = 3",
        "colour = \"red\"",
        "[limits]\nclaims = 3",
        "[limits.deref]\nrepo_spans = -1",
        "= ",
        "\u{0}",
    ] {
        sandbox.write("home/config.toml", config);
        let error = sandbox.run(&["get", &id, "--json"]).error();
        assert_eq!(error["code"], "SCHEMA_INVALID", "{config:?}");
        assert!(
            error["message"].as_str().unwrap().contains("config.toml"),
            "{error}"
        );
    }
    sandbox.write(
        "home/config.toml",
        "[limits]\nclaim_chars = 20\n[limits.deref]\nrepo_spans = 1\n",
    );
    assert_eq!(sandbox.json(&["get", &id])["id"], id.as_str());
    sandbox
        .run(&[
            "put",
            "--claim",
            "Longer than twenty characters.",
            "--pointer",
            POINTER,
            "--json",
        ])
        .refused("CLAIM_TOO_LONG");
    sandbox.json(&["deref", POINTER, "--agent", "a", "--turn", "1"]);
    sandbox
        .run(&["deref", POINTER, "--agent", "a", "--turn", "1", "--json"])
        .refused("DEREF_DENIED");
    sandbox.json(&["deref", POINTER, "--agent", "a", "--turn", "2"]);
    sandbox.json(&["deref", POINTER]);
}
