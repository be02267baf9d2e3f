//! The command's output. Nothing else here writes to standard output or standard error.
//!
//! Text from strangers may contain characters that control a terminal. Output for people makes them
//! visible, and JSON escapes them. This applies to pipes too: a pipe may end in a terminal, and a
//! script may read tomorrow what a person reads today. The JSON keeps the exact text.

use std::{
    fmt::{Display, Write as _},
    io::{self, ErrorKind, Write},
    sync::OnceLock,
};

use engram_model::{Code, Refusal, is_hidden, visible};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

/// The error of standard output, if it failed.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Prints a line for people; returns whether anyone still reads.
pub(crate) fn print_line(text: &str) -> bool {
    write_line(&visible(text))
}

/// Prints a value as JSON, on one line; returns whether anyone still reads.
pub(crate) fn print_json(value: &impl Serialize) -> bool {
    match serde_json::to_string(value) {
        Ok(text) => write_line(&escape_controls(&text)),
        Err(error) => {
            let _ = FAILED.set(error.into());
            false
        }
    }
}

/// Sends a line. A reader that is gone is not an error; any other failure is (see
/// [`check_written`]).
fn write_line(line: &str) -> bool {
    let mut out = io::stdout().lock();
    let sent = out.write_all(format!("{line}\n").as_bytes());
    match sent.and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) => {
            if error.kind() != ErrorKind::BrokenPipe {
                let _ = FAILED.set(error);
            }
            false
        }
    }
}

/// Fails if standard output failed.
pub(crate) fn check_written() -> Result<(), Refusal> {
    match FAILED.get() {
        None => Ok(()),
        Some(error) => Err(Refusal::new(
            Code::Internal,
            format!("cannot write to standard output: {error}"),
            "Anything that the command stores is already stored; run it again with a writable output.",
        )),
    }
}

/// Prints a refusal. A reader that is gone is not an error.
pub(crate) fn print_refusal(refusal: &Refusal, as_json: bool) {
    print_error_line(&if as_json {
        escape_controls(&json!({ "error": refusal }).to_string())
    } else {
        let mut text = format!(
            "engram: {} [{}]\n        {}",
            one_line(&refusal.message),
            refusal.code,
            one_line(hint_to_person(&refusal.hint))
        );
        for cut in refusal.remedy.iter().flat_map(|it| &it.cut) {
            let (at, tokens) = (one_line(&cut.at), cut.tokens);
            let _ = write!(text, "\n        cut {at}: {tokens} tokens");
        }
        text
    });
}

/// A hint for an agent whose name the person uses addresses the person through the agent.
fn hint_to_person(hint: &str) -> &str {
    hint.strip_prefix("Tell the user: ").unwrap_or(hint)
}

/// Prints a line for people on standard error.
pub(crate) fn print_error_line(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// Asks the person at the terminal and returns the answer.
pub(crate) fn ask(question: &str) -> String {
    let _ = write!(io::stderr(), "{} ", visible(question));
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    answer
}

/// Returns text from strangers without line breaks and tabs, so that it cannot begin a line of its
/// own.
pub(crate) fn one_line(text: impl Display) -> String {
    text.to_string().replace(['\n', '\r', '\t'], " ")
}

/// Returns a time of day, with its offset.
pub(crate) fn time_text(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Returns what somebody wrote in quotes that none of its characters can close.
pub(crate) fn in_quotes(text: impl Display) -> String {
    format!("\"{}\"", one_line(text).replace('"', "'"))
}

/// The writer of the log, on standard error.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The log writes whole lines.
        let text = visible(&String::from_utf8_lossy(bytes));
        io::stderr().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Escapes the characters that control a terminal. In JSON they occur only inside strings.
fn escape_controls(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(out, "\\u{unit:04x}");
            })
        } else {
            out.push(c)
        }
    }
    out
}
