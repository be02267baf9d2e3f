//! The `engram` command: translates argv to the engine's one `Request`, and the `Reply` to text or
//! JSON. The person at the terminal is the user: sees all, unmetered.
//!
//! **Never:** decides nothing; links no webview.

mod args;
mod batch;
mod command;
mod connect;
mod dashboard;
mod doctor;
mod lines;
mod pointers;
mod print;
mod run;

use std::{io::Write, process::ExitCode};

use clap::Parser;
use engram_model::{Code, Refusal};
use serde_json::json;

use args::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    let as_json = cli.json;
    // With --json, standard error holds the error and nothing else, unless logs are asked for.
    let usual = match as_json {
        true => "off",
        // What the SDK says of each bad request would fill a pipe that nobody reads, and hold us up.
        false => "warn,rmcp=error,tantivy=error",
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("ENGRAM_LOG")
                .unwrap_or_else(|_| usual.into()),
        )
        .init();
    match run::run(cli) {
        Ok(code) => code,
        Err(refusal) => {
            report(&refusal, as_json);
            ExitCode::FAILURE
        }
    }
}

/// Help and version go their way; a wrong argument is an error like any other under `--json`.
fn usage(error: clap::Error) -> ExitCode {
    let as_json = std::env::args_os().any(|it| it == "--json");
    if !error.use_stderr() || !as_json {
        let _ = error.print();
        return ExitCode::from(error.exit_code().clamp(0, 255) as u8);
    }
    report(
        &Refusal::new(
            Code::SchemaInvalid,
            first_paragraph(&error.to_string()),
            "Run the verb with --help: it shows the arguments and examples.",
        ),
        true,
    );
    ExitCode::FAILURE
}

/// What is wrong, in one line: clap names missing arguments in the lines below the first.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|it| !it.is_empty());
    let sentence = lines.collect::<Vec<_>>().join(" ");
    sentence.trim_start_matches("error: ").to_owned()
}

fn report(refusal: &Refusal, as_json: bool) {
    let text = match as_json {
        true => json!({ "error": refusal }).to_string(),
        false => format!(
            "engram: {} [{}]\n        {}",
            refusal.message, refusal.code, refusal.hint
        ),
    };
    // A reader that went away is not an error of ours.
    let _ = writeln!(std::io::stderr(), "{text}");
}
