//! Help and completions: what a person reads first.

use std::process::Command;

use crate::fixture::{Sandbox, output_of};

const VERBS: [&str; 42] = [
    "",
    "put",
    "get",
    "forget",
    "redact",
    "promote",
    "query",
    "deref",
    "note",
    "feed",
    "status",
    "agents",
    "agents open",
    "agents rename",
    "budget",
    "grant",
    "grant issue",
    "requests",
    "requests grant",
    "requests deny",
    "project",
    "doctor",
    "connect",
    "mcp",
    "serve",
    "sample",
    "log",
    "conflicts",
    "resolve",
    "restore",
    "app",
    "brief",
    "brief pin",
    "brief unpin",
    "message",
    "message validate",
    "message send",
    "models",
    "models use",
    "detect",
    "pointers track",
    "completions",
];

#[test]
fn help_teaches() {
    let sandbox = Sandbox::bare();
    for verb in VERBS {
        let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.path("elsewhere"));
        command
            .args(verb.split(' ').filter(|it| !it.is_empty()))
            .arg("--help");
        let ran = output_of(command.env("COLUMNS", "100").output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{verb}");
        let name = match verb {
            "" => "engram".to_owned(),
            verb => verb.replace(' ', "_"),
        };
        insta::assert_snapshot!(format!("help_{name}"), ran.out);
    }
    assert!(!sandbox.home().exists(), "help creates no home");
}

#[test]
fn every_verb_has_its_help_tested() {
    let sandbox = Sandbox::bare();
    let help = sandbox.run(&["--help"]).out;
    let list = help
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap();
    let verbs: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|it| !it.is_empty() && *it != "help")
        .collect();
    for verb in &verbs {
        assert!(
            VERBS.iter().any(|it| it.split(' ').next() == Some(verb)),
            "{verb}"
        );
    }
    let mut told: Vec<&str> = VERBS.iter().filter_map(|it| it.split(' ').next()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!(verbs.len(), told.len() - 1);
}

#[test]
fn completions_are_there_and_bash_reads_its_own() {
    let sandbox = Sandbox::bare();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""), "{shell}");
        for word in ["query", "reindex", "jsonl"] {
            assert!(script.out.contains(word), "{shell}: {word}");
        }
        if shell == "bash" {
            let file = sandbox.write("engram.bash", &script.out);
            let read = Command::new("bash").arg("-n").arg(file).output().unwrap();
            assert!(read.status.success(), "{read:?}");
        }
    }
}
