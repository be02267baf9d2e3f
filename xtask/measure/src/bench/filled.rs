//! Homes that are filled once and kept: with a thousand, ten thousand or a million engrams.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Result;
use serde_json::Value;

use super::{
    client::{LineClient, Party, call_in_turn},
    idle,
    table::{Bar, bar_outcome, print_figure, print_row},
    workload::{asked_claim, common_question, is_near, mcp_command, query_arguments},
};
use crate::sandbox::{commit_all, git};
use xtask::shell::{build_example, run};

const FEW: u64 = 10_000;
const QUESTIONS: usize = 400;
/// The maximum of p95 with many, relative to p95 with few.
const BAR: f64 = 3.0;

/// The program that fills a home (`crates/engine/examples/many.rs`).
pub(super) fn build_writer(root: &Path) -> Result<PathBuf> {
    build_example(root, "engram-engine", "many")
}

/// Fills a home up to `count` engrams; does nothing if it has them.
pub(super) fn fill_command(writer: &Path, home: &Path, repo: &Path, count: u64) -> Command {
    let mut fill = Command::new(writer);
    fill.args([home, repo]).arg(count.to_string());
    fill
}

/// The default folder of the homes.
pub(super) fn default_place() -> PathBuf {
    std::env::temp_dir().join("engram-bench-window")
}

/// Creates a repository with a file for claims to point into.
pub(super) fn repository(folder: &Path) -> Result<()> {
    if folder.join(".git").exists() {
        return Ok(());
    }
    fs::create_dir_all(folder.join("src"))?;
    let lines: String = (1..=50).map(|n| format!("fn item_{n}() {{}}\n")).collect();
    fs::write(folder.join("src/file0.rs"), lines)?;
    run(git(folder).args(["init", "--quiet"]))?;
    commit_all(folder)
}

/// Asks the same questions in a home of ten thousand and in one of `many`, in turn.
pub(super) fn perform(root: &Path, binary: &Path, place: &Path, many: u64) -> Result<()> {
    let writer = build_writer(root)?;
    let repo = place.join("repo");
    repository(&repo)?;
    let start = |home: &str, count: u64| -> Result<LineClient> {
        let home = place.join(home);
        run(fill_command(&writer, &home, &repo, count).stdout(Stdio::null()))?;
        let mut client = LineClient::start_mcp(&mut mcp_command(binary, &home, &repo))?;
        // The first question opens the index.
        client.call("engram_query", name_query(0, count))?;
        idle::wait_until_quiet(&[client.id()], idle::LULL)?;
        Ok(client)
    };
    let (mut few, mut lots) = (start("ten-thousand", FEW)?, start("many", many)?);
    for (what, question) in [
        ("of ten", common as fn(usize, u64) -> Value),
        ("by a name", name_query),
    ] {
        let mut parties = [(&mut few, FEW), (&mut lots, many)].map(|(client, count)| {
            let arguments = move |n| question(n, count);
            Party::new(client, "engram_query", arguments).wants(move |n, result| {
                let named = format!("The {} ", subject_name(n, count));
                is_near(result, |claim| claim.starts_with(&named))
            })
        });
        call_in_turn(0..QUESTIONS, &mut parties)?;
        let [(few_times, few_hits), (times, hits)] = parties.map(|it| (it.times, it.hits));
        let bar = Bar::at_most(BAR);
        let title = format!("query {what} in a home of {many}");
        print_row(
            &title,
            &times,
            (&format!("the same in a home of {FEW}"), &few_times),
            0.95,
            Some(bar),
        );
        if what == "by a name" {
            for (count, hits) in [(FEW, few_hits), (many, hits)] {
                print_figure(
                    &format!("hit@5 by a name in a home of {count}"),
                    &format!("{:.3}", hits as f64 / QUESTIONS as f64),
                    &bar_outcome(hits == QUESTIONS, "1.000"),
                );
            }
        }
    }
    few.finish()?;
    lots.finish()
}

/// Returns the name that `many.rs` gives to the subject of a claim.
pub(super) fn subject_name(n: usize, count: u64) -> String {
    format!("svc{:07}", asked_claim(n, count as usize))
}

fn common(n: usize, _: u64) -> Value {
    query_arguments(&common_question(n))
}

fn name_query(n: usize, count: u64) -> Value {
    query_arguments(&format!("{} retry backoff limit", subject_name(n, count)))
}
