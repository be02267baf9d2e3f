//! Text from strangers is shown but controls no terminal, and failures to print are reported.

use std::{
    fs,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
    process::{Output, Stdio},
};

use serde_json::Value;

use crate::fixture::{Sandbox, git, make_repository, output_of};

/// A window title, red, a C1 introducer, a direction override, an isolate, an invisible mark, and a
/// carriage return that overwrites the line.
const HOSTILE: &str =
    "\u{1b}]0;t\u{7}\u{1b}[31m\u{9b}31m\u{202e}a\u{2066}b\u{200b}c\u{e0041}\u{7f}";

/// Whether a character must not reach a terminal. The product decides this in a different way.
fn is_obeyed(c: char) -> bool {
    match u32::from(c) {
        0x0a | 0x09 => false,
        0x00..=0x1f | 0x7f..=0x9f | 0xad => true,
        0x200b | 0x200e..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff => true,
        0xe0000..=0xe007f => true,
        _ => false,
    }
}

/// Returns a claim with the hostile characters that are visible, since a claim cannot contain
/// invisible ones.
fn hostile_claim() -> String {
    let said = HOSTILE.replace(['\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}'], "");
    format!("Claims{said}\rare shown.")
}

#[track_caller]
fn check_output(what: &str, output: Output) -> String {
    let mut all = output.stdout;
    all.extend(output.stderr);
    let said = String::from_utf8(all).unwrap();
    assert!(!said.contains(is_obeyed), "{what}: {said:?}");
    assert!(!said.contains("panicked"), "{what}: {said}");
    said
}

/// A repository, a home, files, a branch and claims with hostile names and text.
fn make_hostile_sandbox() -> (Sandbox, PathBuf, PathBuf, String) {
    let sandbox = Sandbox::new();
    let repo = sandbox.path(&format!("repo{HOSTILE}\nBAD forged"));
    make_repository(&repo);
    let file = format!("a{HOSTILE}.txt");
    fs::write(
        repo.join(&file),
        format!("one{HOSTILE}\rover\r\nwindows\r\n"),
    )
    .unwrap();
    fs::write(repo.join("plain.txt"), format!("two{HOSTILE}\rover\n")).unwrap();
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", &format!("m{HOSTILE}")]);
    fs::write(
        repo.join(".mcp.json"),
        format!(
            "{{\"mcpServers\": {{\"a{}\u{202e}\u{9b}\": {{}}}}}}",
            r"\u001b"
        ),
    )
    .unwrap();
    let home = sandbox.path(&format!("home{HOSTILE}\nBAD forged"));
    let id = {
        let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &repo);
        let claim = hostile_claim();
        command
            .arg("--home")
            .arg(&home)
            .args(["--json", "put", "--claim", &claim]);
        command.args(["--pointer", "repo:plain.txt@HEAD", "--tag", "a"]);
        output_of(command.output().unwrap()).json()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    (sandbox, repo, home, id)
}

#[test]
fn nothing_that_a_terminal_obeys_leaves_the_command() {
    let (sandbox, repo, home, id) = make_hostile_sandbox();
    let h = HOSTILE;
    let cases: Vec<Vec<String>> = [
        vec!["status"],
        vec!["doctor"],
        vec!["get", &id],
        vec!["query", "claims are shown"],
        vec!["feed", "--all"],
        vec!["pointers", "check"],
        vec!["deref", "repo:plain.txt@HEAD"],
        vec!["deref", "repo:plain.txt@HEAD", "--agent", "a", "--turn", h],
        vec!["deref", "artifact:none@HEAD"],
        vec!["deref", &format!("repo:{h}@HEAD")],
        vec!["deref", &format!("repo:plain.txt@{h}")],
        vec!["deref", &format!("repo:{h}")],
        vec!["get", h],
        vec!["forget", h],
        vec!["put", "--claim", h, "--pointer", h],
        vec![
            "put",
            "--claim",
            "a",
            "--pointer",
            "repo:plain.txt@HEAD",
            "--topic",
            h,
        ],
        vec![
            "put",
            "--claim",
            "a",
            "--pointer",
            "repo:plain.txt@HEAD",
            "--tag",
            h,
        ],
        vec![
            "put",
            "--claim",
            "a",
            "--pointer",
            "repo:plain.txt@HEAD",
            "--agent",
            h,
        ],
        vec![
            "put",
            "--claim",
            "a",
            "--pointer",
            "repo:plain.txt@HEAD",
            "--ttl",
            h,
        ],
        vec![
            "put",
            "--claim",
            "a",
            "--pointer",
            "repo:plain.txt@HEAD",
            "--kind",
            h,
        ],
        vec!["put", "--jsonl", h],
        vec!["query", "a", "--as-of", h],
        vec!["query", "a", "--k", h],
        vec!["note", "--kind", h, "text"],
        vec!["note", h],
        vec!["feed", "--all"],
        vec!["message", "validate", h],
        vec!["detect", "--pairs", h],
        vec![
            "pointers",
            "track",
            "--from",
            h,
            "--to",
            "HEAD",
            "--spans",
            "/dev/null",
        ],
        vec!["pointers", "check", "--since", h],
        vec!["connect", "claude"],
        vec!["connect", "codex"],
        vec!["connect", h],
        vec!["connect", "claude", "--yes"],
        vec!["connect", "claude", "--yes"],
        vec!["connect", "claude", "--undo", "--yes"],
        vec!["serve", "--token-file", &format!("/dev/null/{h}")],
        vec!["serve", "--tls-cert", h, "--tls-key", h],
        vec!["serve", "--listen", h],
        vec![h],
        vec!["--help"],
        vec!["put", "--help"],
        vec![&format!("--{h}"), "status"],
        vec!["--repo", h, "status"],
        vec!["doctor", "--move-home"],
        vec!["sample"],
        vec!["redact", &id],
    ]
    .into_iter()
    .map(|it| it.into_iter().map(str::to_owned).collect())
    .collect();
    let mut shown = String::new();
    for args in cases {
        for as_json in [false, true] {
            let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &repo);
            command.arg("--home").arg(&home).args(&args);
            command.args(as_json.then_some("--json"));
            let output = command
                .env("ENGRAM_LOG", "debug,tantivy=error")
                .output()
                .unwrap();
            let said = check_output(&format!("{args:?}"), output);
            assert!(
                !said.lines().any(|it| it.starts_with("BAD forged")),
                "{args:?}: {said}"
            );
            shown.push_str(&said);
        }
    }
    // The characters are shown in visible form, not left out.
    for part in [
        "⟨U+001B⟩[31m",
        "⟨U+202E⟩",
        "⟨U+009B⟩",
        "⟨U+000D⟩over",
        "\\u009b",
        "\\u202e",
        "\\udb40\\udc41",
    ] {
        assert!(shown.contains(part), "{part}");
    }
}

/// The JSON contains exactly the stored text.
#[test]
fn json_is_escaped_and_says_the_same() {
    let (sandbox, repo, home, id) = make_hostile_sandbox();
    let ask = |args: &[&str]| -> Value {
        let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &repo);
        command.arg("--home").arg(&home).arg("--json").args(args);
        output_of(command.output().unwrap()).json()
    };
    assert_eq!(ask(&["get", &id])["claim"], hostile_claim());
    let excerpt = &ask(&["deref", "repo:plain.txt@HEAD"])["excerpt"];
    assert_eq!(excerpt, &format!("two{HOSTILE}\rover\n"));
    assert_eq!(ask(&["status"])["home"], home.to_str().unwrap());
}

/// A line that ends as on Windows is an ordinary line, and its end is not marked as hostile.
#[test]
fn an_excerpt_keeps_its_lines_and_its_tabs() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.repo().join("windows.txt"), "one\r\n\ttwo\r\n").unwrap();
    git(&sandbox.repo(), &["add", "-A"]);
    git(&sandbox.repo(), &["commit", "-qm", "two"]);
    let shown = sandbox.run(&["deref", "repo:windows.txt@HEAD"]).out;
    assert!(shown.ends_with("\n\none\r\n\ttwo\r\n\n"), "{shown:?}");
}

#[test]
fn what_cannot_be_printed_is_said() {
    let sandbox = Sandbox::new();
    let line = r#"{"claim":"Stored.","pointers":["repo:src/retry.rs@HEAD"]}"#;
    let lines = sandbox.write("lines.jsonl", format!("{line}\n"));
    for args in [
        &["status"][..],
        &["doctor", "--json"],
        &["put", "--jsonl", lines.to_str().unwrap()],
        &["--help"],
        &["completions", "bash"],
        &["connect", "claude"],
        &["serve"],
        &["serve", "--json"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = sandbox.command().args(args).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(
            said.contains("cannot write to standard output"),
            "{args:?}: {said}"
        );
    }
    assert_eq!(
        sandbox.json(&["status"])["engrams"],
        1,
        "what was stored is stored"
    );
}

/// A command does not fail because a standard stream is closed.
#[test]
fn closed_streams_end_nothing() {
    let sandbox = Sandbox::new();
    for closed in [">&-", "2>&-", "<&-", "<&- >&- 2>&-"] {
        for args in [
            &["status"][..],
            &[
                "put",
                "--claim",
                "One.",
                "--pointer",
                crate::fixture::POINTER,
            ],
            &["put", "--jsonl", "-"],
            &["connect", "claude"],
            &["get", "none"],
            &["mcp"],
        ] {
            let output = sandbox
                .after(&format!("exec {closed}"), args)
                .output()
                .unwrap();
            let want = if args[0] == "get" { 1 } else { 0 };
            assert_eq!(
                output.status.code(),
                Some(want),
                "{closed} {args:?}: {output:?}"
            );
        }
    }
}

/// In a name that is not UTF-8, the bytes are replaced and never passed on.
#[test]
fn bytes_that_are_no_text_are_refused_or_replaced() {
    let sandbox = Sandbox::new();
    let bytes = std::ffi::OsString::from_vec(b"\xff\x1b[31m\xc2\x9b".to_vec());
    let of = |at: PathBuf| at.join(&bytes);
    for (args, code) in [
        (vec!["get".into(), bytes.clone()], 1),
        (vec!["query".into(), bytes.clone()], 1),
        (
            vec![
                "--repo".into(),
                of(sandbox.path("")).into(),
                "status".into(),
            ],
            1,
        ),
        (vec!["connect".into(), bytes.clone()], 1),
        (
            vec![
                "serve".into(),
                "--token-file".into(),
                of("/dev/null".into()).into(),
            ],
            1,
        ),
        (
            vec![
                "serve".into(),
                "--ui".into(),
                bytes.clone(),
                "--listen".into(),
                bytes.clone(),
            ],
            1,
        ),
    ] {
        let mut command = sandbox.command();
        let output = command
            .arg("--json")
            .args(&args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        check_output(&format!("{args:?}"), output);
    }
    let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.repo());
    let home = sandbox
        .path("")
        .join(std::ffi::OsStr::from_bytes(b"home\xff\x1b[31m"));
    command.arg("--home").arg(&home).arg("status");
    let said = check_output("home", command.output().unwrap());
    assert!(said.contains("home\u{fffd}⟨U+001B⟩"), "{said}");
}
