//! The developer's commands: `cargo xtask setup`, `run`, `test`, `bench`, `pictures`, ...
//!
//! Everything that a fresh machine lacks is found and installed here, and every failure says what
//! to do next. Never part of the product: nothing that ships depends on this package.

mod accuracy;
mod bench;
mod fuzz;
mod host;
mod http;
mod left;
mod pictures;
mod run;
mod schemas;
mod setup;
mod shell;
mod steps;
mod tally;
mod test;
mod tools;
mod trace;
mod ui;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The developer's commands of Engram")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Find what this machine lacks and install it
    Setup,
    /// Set up, build, and open the window on a repository
    Run(run::Run),
    /// Set up and run every check and test
    Test(test::Test),
    /// Build the window's front end into ui/dist
    Ui {
        /// Small and fast rather than soon
        #[arg(long)]
        release: bool,
    },
    /// Measure, each figure beside a plain baseline of the same run
    Bench(bench::Bench),
    /// Draw every view in every width, theme, zoom and direction, to look at
    Pictures(pictures::Pictures),
    /// Follow spans through histories, beside git's own ways of following lines
    Accuracy(accuracy::Accuracy),
    /// Call a running server in every way that its description allows, and in ways that it does not
    Fuzz(fuzz::Fuzz),
    /// Let a parent and eight children work on this repository, and check what their gateway let through
    Trace(trace::Trace),
    /// Write schemas/ from the types of engram-model
    Schemas {
        /// Change nothing; fail where a file differs from its type
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(without_separator(env::args().collect()));
    match root().and_then(|root| perform(cli.task, &root)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task, root: &Path) -> Result<ExitCode> {
    match task {
        Task::Setup => setup::ensure(setup::Needs::ALL)?,
        Task::Run(run) => run.perform(root)?,
        Task::Test(test) => return test.perform(root),
        Task::Ui { release } => ui::build(root, release)?,
        Task::Bench(bench) => bench.perform(root)?,
        Task::Pictures(pictures) => pictures.perform(root)?,
        Task::Accuracy(accuracy) => accuracy.perform(root)?,
        Task::Fuzz(fuzz) => fuzz.perform(root)?,
        Task::Trace(trace) => trace.perform(root)?,
        Task::Schemas { check } => schemas::write_or_check(root, check)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// `cargo xtask run -- --repo PATH` and `cargo xtask run --repo PATH` mean the same.
fn without_separator(mut args: Vec<String>) -> Vec<String> {
    if args.get(2).is_some_and(|it| it == "--") {
        args.remove(2);
    }
    args
}

/// The root of the checkout that cargo runs this in; not of the one that it was built in, which may
/// share its target folder.
fn root() -> Result<PathBuf> {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = here.as_deref().and_then(Path::parent);
    root.map(Path::to_owned)
        .context("run this as `cargo xtask`: cargo says where the checkout is")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_separator_after_the_task_is_dropped() {
        let drop =
            |line: &str| without_separator(line.split(' ').map(str::to_owned).collect()).join(" ");
        for (line, expected) in [
            ("xtask run -- --repo x", "xtask run --repo x"),
            ("xtask run --repo x", "xtask run --repo x"),
            ("xtask test", "xtask test"),
            ("xtask run --repo -- x", "xtask run --repo -- x"),
        ] {
            assert_eq!(drop(line), expected, "{line}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
