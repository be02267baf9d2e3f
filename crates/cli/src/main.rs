//! The `engram` command: translates argv to the engine's one `Request`, and the `Reply` to text or
//! JSON. The person at the terminal is the user, who sees everything and has no budget.
//!
//! **Never:** decides anything, links a webview, or prints except through `out.rs`.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod agent_names;
mod args;
mod batch;
mod command;
mod conflicts;
mod connect;
mod dashboard;
mod doctor;
mod elsewhere;
mod entry;
mod feed;
mod lines;
mod models;
mod out;
mod permission;
mod pointers;
mod print;
mod request;
mod run;

use std::{error::Error as _, process::ExitCode};

use clap::{
    Parser,
    error::{ContextKind, ContextValue},
};
use engram_model::{Code, Refusal, shorten};
use tracing_subscriber::EnvFilter;

use args::Cli;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(mut cli) => {
            // Clap would show a home from the environment as a required argument in its usage.
            let home = std::env::var_os("ENGRAM_HOME").filter(|it| !it.is_empty());
            cli.home = cli.home.or(home.map(Into::into));
            let as_json = cli.json;
            begin_log(as_json);
            report_outcome(run::run(cli), as_json)
        }
        Err(error) => report_usage(&error),
    }
}

/// Starts the log. With --json, standard error holds only the error, unless the user asks for logs.
fn begin_log(as_json: bool) {
    let usual = if as_json {
        "off"
    } else {
        // The SDK logs each bad request, which could fill a pipe that nobody reads and block this
        // process.
        "warn,rmcp=error,tantivy=error"
    };
    let asked = std::env::var("ENGRAM_LOG").ok();
    let asked = asked.filter(|it| EnvFilter::try_new(it).is_ok());
    let filter = match asked {
        // The SDK logs refused requests with any secrets in them, so it logs only if the user names
        // it.
        Some(asked) if !asked.contains("rmcp") => format!("{asked},rmcp=error"),
        Some(asked) => asked,
        None => usual.to_owned(),
    };
    tracing_subscriber::fmt()
        .with_writer(|| out::Log)
        .with_env_filter(EnvFilter::new(filter))
        .init();
}

/// Prints the error, including a failure of standard output.
fn report_outcome(ran: Result<ExitCode, Refusal>, as_json: bool) -> ExitCode {
    let ran = ran.and_then(|code| out::check_written().map(|()| code));
    ran.unwrap_or_else(|refusal| {
        out::print_refusal(&refusal, as_json);
        ExitCode::FAILURE
    })
}

/// Prints help and version as they are. With `--json`, a wrong argument is an error like any other.
fn report_usage(error: &clap::Error) -> ExitCode {
    let as_json = std::env::args_os().any(|it| it == "--json");
    // Without colors: the text contains the user's input, which must not control the terminal.
    let text = error.render().to_string();
    let code = ExitCode::from(error.exit_code().clamp(0, 255) as u8);
    if let Some(refusal) = refused_value(error) {
        return if as_json {
            report_outcome(Err(refusal), as_json)
        } else {
            out::print_refusal(&refusal, as_json);
            code
        };
    }
    match (error.use_stderr(), as_json) {
        (false, _) => {
            out::print_line(text.trim_end());
            report_outcome(Ok(ExitCode::SUCCESS), as_json)
        }
        (true, false) => {
            out::print_error_line(text.trim_end());
            code
        }
        (true, true) => {
            let why = shorten(&first_paragraph(&text), 500);
            report_outcome(
                Err(Refusal::new(Code::SchemaInvalid, why, usage_hint(error))),
                as_json,
            )
        }
    }
}

/// Returns what to write instead: the allowed values, if the argument has a list of them.
fn usage_hint(error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) if !values.is_empty() => {
            format!("Use one of these: {}.", values.join(", "))
        }
        _ => "Run the command with --help to see its arguments and examples.".to_owned(),
    }
}

/// Returns our refusal of a value, with the name of its argument. Its hint says what to write
/// instead.
fn refused_value(error: &clap::Error) -> Option<Refusal> {
    let refusal = error.source()?.downcast_ref::<Refusal>()?;
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    let argument = argument.split(' ').next().unwrap_or_default();
    let message = format!("{argument}: {}", refusal.message);
    Some(Refusal::new(refusal.code, message, refusal.hint.clone()))
}

/// Returns the error as one line: clap lists missing arguments in the lines below the first.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|it| !it.is_empty());
    let sentence = lines.collect::<Vec<_>>().join(" ");
    sentence.trim_start_matches("error: ").to_owned()
}
