//! Measures Engram; run as `cargo xtask bench`, `accuracy`, `fuzz` and `trace`.
//!
//! Each figure is shown beside a plain baseline of the same run.
//!
//! **Never:** part of the product; nothing that ships depends on it.

mod accuracy;
mod bench;
mod fuzz;
mod http;
mod sandbox;
mod trace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Measure, each figure beside a plain baseline of the same run
    Bench(bench::Bench),
    /// Follow spans through histories, and compare with git's own ways of following lines
    Accuracy(accuracy::Accuracy),
    /// Call a running server in every way that its description allows, and in ways that it does not
    Fuzz(fuzz::Fuzz),
    /// Let a parent and eight children work on this repository, and check what their gateway let
    /// through
    Trace(trace::Trace),
}

fn main() -> ExitCode {
    match perform(Arguments::parse().what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(what: What) -> Result<()> {
    let root = xtask::root()?;
    match what {
        What::Bench(bench) => bench.perform(&root),
        What::Accuracy(accuracy) => accuracy.perform(&root),
        What::Fuzz(fuzz) => fuzz.perform(&root),
        What::Trace(trace) => trace.perform(&root),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
