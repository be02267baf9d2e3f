//! What the measurements run on: a home without limits, a repository, claims and questions.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::Result;
use serde_json::{Value, json};

use crate::sandbox::{NO_RATE, Sandbox, commit_all, engram};
use xtask::shell::run;

/// The lines of each source file that claims point into.
const LINES: usize = 400;
const FILES: usize = 20;
/// The number of engrams that a question asks for.
pub(super) const WANTED: usize = 10;
/// The intended engram must be among this many of the first results.
const NEAR: usize = 5;

/// Returns a claim from the peers' harness, so that figures can be compared with theirs.
pub(super) fn claim(i: usize) -> String {
    format!(
        "The svc{i:05} retry backoff limit is {} per minute, set by RETRY_BACKOFF_{i} in services/svc{i:05}/x.toml line {}",
        100 + i % 900,
        1 + i % 99
    )
}

/// Returns which claim the nth question is about.
pub(super) fn asked_claim(n: usize, engrams: usize) -> usize {
    (n * 7919) % engrams
}

/// Returns a query about one claim, since no other mentions the same name.
pub(super) fn question_about(which: usize) -> String {
    format!("svc{which:05} retry backoff limit")
}

/// Returns a question that matches as many claims as are wanted: of 10,000, eleven contain the same
/// number.
pub(super) fn common_question(n: usize) -> String {
    format!("retry backoff limit {} per minute", 100 + (n * 7) % 900)
}

/// Returns the arguments of `engram_commit` for the nth claim.
pub(super) fn commit_arguments(i: usize) -> Value {
    let (file, line) = (i % FILES, 1 + i % (LINES - 4));
    json!({
        "content": claim(i),
        "scope": "bench",
        "confidence": 0.9,
        "pointers": [format!("repo:src/file{file}.rs#L{line}-L{}@HEAD", line + 3)],
    })
}

/// Returns the arguments of `engram_query`.
pub(super) fn query_arguments(topic: &str) -> Value {
    json!({ "topic": topic, "limit": WANTED })
}

/// Returns the arguments of `engram_deref`.
pub(super) fn deref_arguments(i: usize) -> Value {
    let (file, line) = (i % FILES, 1 + i % (LINES - 4));
    json!({ "pointer": format!("repo:src/file{file}.rs#L{line}-L{}@HEAD", line + 4) })
}

/// Whether a claim is among the first engrams of an answer.
pub(super) fn is_near(result: &Value, is: impl Fn(&str) -> bool) -> bool {
    let engrams = result["structuredContent"]["engrams"].as_array();
    let mut near = engrams.into_iter().flatten().take(NEAR);
    near.any(|it| it["claim"].as_str().is_some_and(&is))
}

/// Whether an answer has as many engrams as were asked for.
pub(super) fn is_full(result: &Value) -> bool {
    let engrams = result["structuredContent"]["engrams"].as_array();
    engrams.is_some_and(|it| it.len() == WANTED)
}

/// Creates a home without limits, and a repository with the files that claims point into.
pub(super) fn create_sandbox() -> Result<Sandbox> {
    let limits = "[limits.deref]\nrepo_spans = 100000000\ntokens = 1000000000\n";
    let place = Sandbox::new("bench", &format!("{NO_RATE}{limits}"))?;
    fs::create_dir_all(place.repo().join("src"))?;
    for file in 0..FILES {
        let text: String = (1..=LINES)
            .map(|line| format!("fn item_{file}_{line}() -> u32 {{ {line} }}\n"))
            .collect();
        fs::write(place.repo().join(format!("src/file{file}.rs")), text)?;
    }
    run(place.git().args(["init", "--quiet"]))?;
    commit_all(&place.repo())?;
    Ok(place)
}

/// Lets git print the file that the nth claim points into.
pub(super) fn git_show(place: &Sandbox, i: usize) -> Result<()> {
    let file = format!("HEAD:src/file{}.rs", i % FILES);
    run(place.git().args(["show", &file]).stdout(Stdio::null()))
}

/// Returns `engram mcp` for a home.
pub(super) fn mcp_command(binary: &Path, home: &Path, repo: &Path) -> Command {
    let mut server = engram(binary, home, repo);
    server.arg("mcp");
    server
}

/// Stores each batch of lines with a process of its own, all at once; returns how many lines were
/// stored. No process waits until its answers are read.
pub(super) fn write_at_once(
    engram: impl Fn() -> Command,
    place: &Sandbox,
    batches: &[String],
) -> Result<usize> {
    let file = |what: &str, writer: usize| place.folder.join(format!("{what}{writer}.jsonl"));
    let start = |(writer, lines): (usize, &String)| -> Result<Child> {
        let input = file("writer", writer);
        fs::write(&input, lines)?;
        let answers = File::create(file("answers", writer))?;
        let mut put = engram();
        put.args(["put", "--jsonl"]).arg(input);
        Ok(put.stdout(answers).spawn()?)
    };
    let writers: Vec<Child> = batches
        .iter()
        .enumerate()
        .map(start)
        .collect::<Result<_>>()?;
    let mut stored = 0;
    for (writer, mut process) in writers.into_iter().enumerate() {
        process.wait()?;
        let answers = fs::read_to_string(file("answers", writer))?;
        for answer in answers.lines() {
            if answer.contains("\"seq\"") {
                stored += 1;
            } else {
                eprintln!("refused: {answer}");
            }
        }
    }
    Ok(stored)
}
