//! The developer's commands: `cargo xtask setup`, `run`, `test`, `bench`, `pictures`, ...
//!
//! They find and install everything that a fresh machine lacks, and every failure says what to do
//! next. Never part of the product: nothing that ships depends on this package.

mod leftover_processes;
mod pictures;
mod run;
mod schemas;
mod steps;
mod tally;
mod test;

use std::{env, ffi::OsString, path::Path, process::ExitCode};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use xtask::{root, setup, shell, ui};

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
        /// Optimise for size and speed; takes longer to build
        #[arg(long)]
        release: bool,
    },
    /// Measure, each figure beside a plain baseline of the same run
    #[command(disable_help_flag = true)]
    Bench(MeasureArgs),
    /// Draw every view in every width, theme, zoom and direction, for a person to look at
    Pictures(pictures::Pictures),
    /// Follow spans through histories, and compare with git's own ways of following lines
    #[command(disable_help_flag = true)]
    Accuracy(MeasureArgs),
    /// Call a running server in every way that its description allows, and in ways that it does not
    #[command(disable_help_flag = true)]
    Fuzz(MeasureArgs),
    /// Let a parent and eight children work on this repository, and check what their gateway let
    /// through
    #[command(disable_help_flag = true)]
    Trace(MeasureArgs),
    /// Write schemas/ from the types of engram-model
    Schemas {
        /// Change nothing; fail where a file differs from its type
        #[arg(long)]
        check: bool,
    },
}

/// Arguments for a separate package, which is built only for this.
#[derive(Args)]
struct MeasureArgs {
    /// What it is to measure: see --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl MeasureArgs {
    fn perform(self, what: &str) -> Result<()> {
        let mut command = shell::cargo();
        command.args(["run", "--quiet", "--package", "engram-measure", "--", what]);
        shell::run(command.args(self.arguments))
    }
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
        Task::Bench(measured) => measured.perform("bench")?,
        Task::Pictures(pictures) => pictures.perform(root)?,
        Task::Accuracy(measured) => measured.perform("accuracy")?,
        Task::Fuzz(measured) => measured.perform("fuzz")?,
        Task::Trace(measured) => measured.perform("trace")?,
        Task::Schemas { check } => schemas::write_or_check(root, check)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Drops the separator, so that `cargo xtask run -- --repo PATH` and `cargo xtask run --repo PATH`
/// mean the same.
fn without_separator(mut args: Vec<String>) -> Vec<String> {
    if args.get(2).is_some_and(|it| it == "--") {
        args.remove(2);
    }
    args
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
