//! The first examples that a new user reads: what they print is true.

use crate::fixture::{CommandOutput, Sandbox, git, output_of};

const CLAIM: &str = "Retries use full jitter, 200 ms base.";

/// A repository with the file that the examples cite.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let lines: String = (1..=40).map(|at| format!("// line {at}\n")).collect();
    sandbox.write("repo/src/retry.rs", lines);
    git(&sandbox.repo(), &["commit", "-qam", "retries"]);
    sandbox
}

/// Runs a command line as a shell reads it.
fn run_line(sandbox: &Sandbox, line: &str) -> CommandOutput {
    let line = line.replacen("engram ", "\"$0\" ", 1);
    let mut shell = sandbox.plain("sh", &sandbox.repo());
    shell
        .args(["-c", &line, env!("CARGO_BIN_EXE_engram")])
        .env("ENGRAM_HOME", sandbox.home());
    output_of(shell.output().unwrap())
}

/// A text without ids and commits, which differ in each run.
fn without_ids(text: &str) -> String {
    let is_id =
        |it: &str| matches!(it.len(), 26 | 40) && it.bytes().all(|it| it.is_ascii_alphanumeric());
    let words = text
        .trim_end()
        .split_inclusive(|it: char| !it.is_ascii_alphanumeric());
    let masked = words.map(|word| {
        let bare = word.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
        if is_id(bare) {
            word.replace(bare, "ID")
        } else {
            word.to_owned()
        }
    });
    masked.collect()
}

#[test]
fn the_readme_shows_what_the_command_prints() {
    let sandbox = sandbox();
    let readme = include_str!("../../../../README.md");
    let block = readme
        .split("```")
        .find(|it| it.starts_with("\n$ engram put"));
    let commands: Vec<&str> = block.unwrap().split("$ ").skip(1).collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let (line, printed) = command.split_once('\n').unwrap();
        let ran = run_line(&sandbox, line);
        let told = without_ids(&(ran.err + &ran.out));
        assert_eq!(told, without_ids(printed), "{line}");
    }
}

#[test]
fn the_question_of_the_help_is_answered() {
    let sandbox = sandbox();
    let mut command = sandbox.command();
    // Wide enough for each example to be one line.
    command.arg("--help").env("COLUMNS", "200");
    let help = output_of(command.output().unwrap()).out;
    let example = |verb: &str| {
        let of_verb = |it: &&str| it.starts_with(&format!("engram {verb}"));
        help.lines().map(str::trim).find(of_verb).unwrap()
    };
    let stored = run_line(&sandbox, example("put"));
    assert!(stored.out.contains("  verified"), "{stored:?}");
    let found = run_line(&sandbox, example("query")).out;
    assert!(
        found.starts_with("strong\n") && found.contains(CLAIM),
        "{found}"
    );
}
