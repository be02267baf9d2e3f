//! `cargo xtask trace`: a parent and eight children work on this repository for a thousand turns,
//! as outside programs do: tools over MCP, messages over HTTP, each agent with its token. The
//! result is checked against the gateway's limits.

mod check;
mod clone;
mod play;
mod record;
mod team;
#[cfg(test)]
mod tests;
mod wrong;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use check::{TraceFigures, check};
use clone::CloneAndHome;
use play::Play;
use record::{CallMade, File, TraceRecord, TraceRun, file_of};
use team::Team;
use xtask::shell;

/// The trace that is kept in the repository.
const KEPT: &str = "docs/trace/eight-children.jsonl";

#[derive(Args)]
pub(crate) struct Trace {
    /// Decides what everybody does
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The commit of this repository that they work on
    #[arg(long, default_value = "HEAD")]
    commit: String,
    /// Another engram binary than the debug build
    #[arg(long)]
    binary: Option<PathBuf>,
    #[arg(long, default_value_t = 1_000)]
    turns: usize,
    /// Where to write it
    #[arg(long, default_value = KEPT)]
    out: PathBuf,
    /// Run nothing; check the existing trace against the limits
    #[arg(long)]
    check: bool,
}

impl Trace {
    pub(crate) fn perform(self, root: &Path) -> Result<()> {
        let out = root.join(&self.out);
        if self.check {
            return print(&TraceRecord::read(&fs::read_to_string(out)?)?).map(drop);
        }
        let engram = match &self.binary {
            Some(binary) => binary.clone(),
            None => shell::build_program(root, &["--package", "engram-cli"], "engram")?,
        };
        let sandbox = CloneAndHome::new(root, &self.commit, engram)?;
        let sources = sandbox.sources()?;
        let team = Team::open(&sandbox)?;
        let mut record = TraceRecord {
            run: TraceRun {
                commit: sandbox.commit.clone(),
                seed: self.seed,
                agents: team.members(),
            },
            ..TraceRecord::default()
        };
        let mut play = Play::new(team, &sources, self.seed);
        for turn in 1..=self.turns {
            let played = play.turn(turn).with_context(|| format!("turn {turn}"))?;
            record.turns.push(played);
        }
        let mut team = play.finish();
        for file in pointed_at(&record) {
            let source = sources.get(file).context("a file is not known")?;
            record.files.push(File {
                file,
                path: source.path.clone(),
                tokens: team.tokens(&source.pointer(""))?,
            });
        }
        fs::create_dir_all(out.parent().unwrap_or(root))?;
        fs::write(&out, record.text()?)?;
        let figures = print(&record)?;
        check_agreement(&figures, &team.delivered()?)?;
        team.finish()?;
        shell::output(sandbox.engram().args(["doctor", "--replay"])).map(drop)
    }
}

/// Prints the figures of a trace; fails if a limit is exceeded.
fn print(record: &TraceRecord) -> Result<TraceFigures> {
    match check(record) {
        Ok(figures) => {
            figures.rows().iter().for_each(|it| println!("{it}"));
            Ok(figures)
        }
        Err(wrong) => bail!("{}", wrong.join("\n")),
    }
}

/// Returns the files behind the pointers of messages, and those that were read.
fn pointed_at(record: &TraceRecord) -> BTreeSet<usize> {
    let calls = record.turns.iter().flat_map(|it| &it.calls);
    let pointers = calls.flat_map(|it| match it {
        CallMade::Sent(sent) => sent.claims.iter().flatten().chain(&sent.pack).collect(),
        CallMade::Read(at, _) | CallMade::Granted(at, _) => vec![at],
        _ => Vec::new(),
    });
    pointers.map(file_of).collect()
}

/// Checks that the figures counted from outside match the product's own.
fn check_agreement(figures: &TraceFigures, said: &Value) -> Result<()> {
    let is_same = said["tokens"] == figures.inline
        && said["full_tokens"] == figures.full
        && (said["resend_rate"].as_f64().unwrap_or_default() - figures.resend_rate()).abs() < 1e-3;
    ensure!(
        is_same,
        "engram reports {said}, but {figures:?} was counted"
    );
    Ok(())
}
