//! The `engram` command: translates argv to the engine's one `Request`, and the `Reply` to text or
//! JSON. The person at the terminal is the user: sees all, unmetered.
//!
//! **Never:** decides nothing; links no webview.

mod args;
mod batch;
mod connect;
mod print;
mod run;

use std::process::ExitCode;

use clap::Parser;
use engram_model::{Code, Refusal};
use serde_json::json;

use args::Cli;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(error),
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("ENGRAM_LOG")
                .unwrap_or_else(|_| "warn,tantivy=error".into()),
        )
        .init();
    let as_json = cli.json;
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
    let as_json = std::env::args().any(|it| it == "--json");
    if !error.use_stderr() || !as_json {
        let _ = error.print();
        return ExitCode::from(error.exit_code().clamp(0, 255) as u8);
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    report(
        &Refusal::new(
            Code::SchemaInvalid,
            first.trim_start_matches("error: "),
            "Run the verb with --help: it shows the arguments and examples.",
        ),
        true,
    );
    ExitCode::FAILURE
}

fn report(refusal: &Refusal, as_json: bool) {
    match as_json {
        true => eprintln!("{}", json!({ "error": refusal })),
        false => eprintln!(
            "engram: {} [{}]\n        {}",
            refusal.message, refusal.code, refusal.hint
        ),
    }
}
