//! Odd surroundings: every verb answers or refuses, whatever the account, the folder, the
//! configuration and the limit on open files.

use std::fs;

use crate::fixture::{CommandOutput, POINTER, Sandbox, make_repository, output_of};

/// Checks that a command answered, or refused with a sentence.
#[track_caller]
fn assert_answered(what: &str, ran: &CommandOutput) {
    assert!(matches!(ran.code, Some(0 | 1)), "{what}: {ran:?}");
    assert!(!ran.err.contains("panicked"), "{what}: {ran:?}");
    if ran.code == Some(1) {
        assert!(
            !ran.out.is_empty() || ran.err.contains('['),
            "{what}: {ran:?}"
        );
    }
}

const VERBS: &[&[&str]] = &[
    &["status"],
    &["query", "how do retries wait"],
    &["query", "retries", "--k", "3"],
    &["put", "--claim", "Another claim.", "--pointer", POINTER],
    &[
        "put",
        "--claim",
        "For a day.",
        "--pointer",
        POINTER,
        "--durability",
        "ephemeral",
    ],
    &["deref", POINTER],
    &["deref", POINTER, "--agent", "a", "--turn", "1"],
    &["feed", "--limit", "18446744073709551615"],
    &["feed", "--before", "18446744073709551615"],
    &["note", "--kind", "decision", "text"],
    &["pointers", "check"],
    &["message", "validate", "message.json"],
    &["connect", "claude"],
    &["mcp"],
    &["doctor"],
];

fn make_sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let message = r#"{"role":"r","task_status":"done","engrams":[{"claim":"A.","pointers":["repo:README.md@HEAD"],"kind":"fact","confidence":0.7,"ttl":"P7D","scope":"project"}],"output":{"summary":"One.","next":""}}"#;
    sandbox.write("repo/message.json", message);
    sandbox
}

#[test]
fn few_open_files_are_a_refusal() {
    let sandbox = make_sandbox();
    for most in 4..28 {
        for args in VERBS.iter().chain(&[&["doctor", "--reindex"][..]]) {
            let output = sandbox
                .after(&format!("ulimit -n {most}"), args)
                .output()
                .unwrap();
            // With this few files, the program itself cannot be loaded.
            if output.status.code() != Some(127) {
                assert_answered(&format!("{most} {args:?}"), &output_of(output));
            }
        }
    }
    assert_eq!(sandbox.json(&["doctor", "--reindex"])["ok"], true);
    assert_eq!(sandbox.json(&["query", "full jitter"])["verdict"], "strong");
}

/// Sets each number of the configuration to its smallest and largest value.
#[test]
fn every_verb_answers_whatever_the_limits_are() {
    const LIMITS: [(&str, [i128; 2]); 28] = [
        ("claim_chars", [0, u64::MAX as i128]),
        ("pointers", [0, u64::MAX as i128]),
        ("tags", [0, u64::MAX as i128]),
        ("tag_chars", [0, u64::MAX as i128]),
        ("ref_chars", [0, u64::MAX as i128]),
        ("span_chars", [0, u64::MAX as i128]),
        // `query_limit` may not exceed `query_max`: by default 10 and 50.
        ("query_limit", [1, 50]),
        ("query_max", [10, u64::MAX as i128]),
        ("recall_candidates", [0, u64::MAX as i128]),
        (
            "ephemeral_ttl_seconds",
            [i64::MIN as i128, i64::MAX as i128],
        ),
        ("ephemeral_hits", [0, u64::MAX as i128]),
        ("watched_folders", [0, u64::MAX as i128]),
        ("message.inline_tokens", [0, u64::MAX as i128]),
        ("message.engrams", [0, u64::MAX as i128]),
        ("message.inline_code_chars", [0, u64::MAX as i128]),
        ("message.brief_lines", [0, u64::MAX as i128]),
        ("deref.repo_spans", [0, u32::MAX as i128]),
        ("deref.artifact_sections", [0, u32::MAX as i128]),
        ("deref.sam_items", [0, u32::MAX as i128]),
        ("deref.tokens", [0, u32::MAX as i128]),
        (
            "deref.turn_idle_seconds",
            [i64::MIN as i128, i64::MAX as i128],
        ),
        ("rate.per_minute", [0, u32::MAX as i128]),
        ("rate.per_hour", [0, u32::MAX as i128]),
        ("grant.cap_tokens", [0, u32::MAX as i128]),
        ("grant.max_cap_tokens", [0, u32::MAX as i128]),
        ("grant.max_code_chars", [0, u32::MAX as i128]),
        ("grant.ttl_seconds", [i64::MIN as i128, i64::MAX as i128]),
        (
            "grant.max_ttl_seconds",
            [i64::MIN as i128, i64::MAX as i128],
        ),
    ];
    let sandbox = make_sandbox();
    let id = sandbox.json(&["feed"])["entries"][0]["change"]["with"]["id"].clone();
    let id = id.as_str().unwrap();
    let all = |at: usize| -> String {
        LIMITS
            .iter()
            .map(|(name, it)| format!("limits.{name} = {}\n", it[at]))
            .collect()
    };
    let alone = LIMITS
        .iter()
        .flat_map(|(name, it)| it.map(|it| format!("limits.{name} = {it}\n")));
    for (config, verbs) in [(all(0), VERBS), (all(1), VERBS)]
        .into_iter()
        .chain(alone.map(|it| (it, &VERBS[1..5])))
    {
        sandbox.write("home/config.toml", &config);
        // The configuration is read: an invalid one would be refused.
        assert_eq!(sandbox.json(&["get", id])["id"], id, "{config}");
        for args in verbs {
            assert_answered(&format!("{config}{args:?}"), &sandbox.run(args));
        }
    }
    for (name, _) in LIMITS {
        for number in [
            "18446744073709551616",
            "-9223372036854775809",
            "nan",
            "-inf",
            "0.5",
            "'1'",
        ] {
            sandbox.write("home/config.toml", format!("limits.{name} = {number}\n"));
            sandbox
                .run(&["get", id, "--json"])
                .refused("SCHEMA_INVALID");
        }
    }
}

/// A relative path would mean a different home in each folder.
#[test]
fn an_account_without_a_folder_is_told_what_to_say() {
    let sandbox = Sandbox::new();
    let with = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
        command
            .env_remove("CODEX_HOME")
            .envs(variables.iter().copied());
        output_of(command.args(args).arg("--json").output().unwrap())
    };
    let names = || {
        let mut names: Vec<_> = fs::read_dir(sandbox.repo())
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = names();
    for variables in [
        &[("HOME", "person")][..],
        &[("HOME", "."), ("XDG_DATA_HOME", "data")],
    ] {
        for args in [
            &["status"][..],
            &["put", "--claim", "One.", "--pointer", POINTER],
            &["mcp"],
        ] {
            let error = with(variables, args).error();
            assert_eq!(error["code"], "STORE_READ_ONLY", "{variables:?}: {error}");
            assert!(
                error["hint"].as_str().unwrap().contains("--home"),
                "{error}"
            );
        }
        with(
            variables,
            &["connect", "codex", "--yes", "--home", "/nonexistent"],
        )
        .refused("NOT_FOUND");
        with(variables, &["doctor", "--move-home"]).refused("NOT_FOUND");
        assert_eq!(names(), before, "{variables:?}: nothing is made here");
    }
    for data in ["/dev/null", "/proc/none"] {
        with(&[("XDG_DATA_HOME", data)], &["status"]).refused("STORE_READ_ONLY");
    }
    // Neither value is a path, and a relative path is made absolute.
    let home = sandbox.path("person");
    let home = home.to_str().unwrap();
    let shown = with(&[("CODEX_HOME", ""), ("HOME", home)], &["connect", "codex"]).json();
    assert_eq!(
        shown["path"],
        sandbox.path("person/.codex/config.toml").to_str().unwrap()
    );
    let shown = with(&[("CODEX_HOME", "codex")], &["connect", "codex"]).json();
    assert_eq!(
        shown["path"],
        sandbox.path("repo/codex/config.toml").to_str().unwrap()
    );
}

#[test]
fn a_current_folder_that_is_gone_is_no_crash() {
    let sandbox = make_sandbox();
    for args in VERBS {
        let gone = sandbox.path("gone");
        fs::create_dir(&gone).unwrap();
        let first = format!("cd '{0}' && rmdir '{0}'", gone.display());
        assert_answered(
            &format!("{args:?}"),
            &output_of(sandbox.after(&first, args).output().unwrap()),
        );
    }
    let first = format!(
        "mkdir '{0}' && cd '{0}' && rmdir '{0}'",
        sandbox.path("gone").display()
    );
    let output = sandbox
        .after(&first, &["connect", "claude", "--json"])
        .output()
        .unwrap();
    output_of(output).refused("REPO_UNAVAILABLE");
}

/// A home's folder is deleted while in use, and so is a repository.
#[test]
fn what_is_deleted_meanwhile_is_refused() {
    let sandbox = Sandbox::new();
    let mut args = vec!["--repo", "none"];
    args.extend(["status", "--json"]);
    sandbox.run(&args).refused("REPO_UNAVAILABLE");
    let elsewhere = sandbox.path("elsewhere/deep");
    make_repository(&elsewhere);
    let home = sandbox.home();
    let first = format!("rm -rf '{}'", elsewhere.display());
    let mut command = sandbox.plain("sh", &elsewhere);
    command.args([
        "-c",
        &format!("{first}\nexec \"$@\""),
        "sh",
        env!("CARGO_BIN_EXE_engram"),
    ]);
    command.arg("--home").arg(&home).args(["status"]);
    assert_answered("repository", &output_of(command.output().unwrap()));
}
