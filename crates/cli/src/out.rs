//! What leaves the command: nothing else here writes to standard output or standard error.
//!
//! Text of strangers may hold what a terminal obeys: it is made visible in what people read, and is
//! escaped in JSON. This applies to pipes too: one may end in a terminal, and what a person reads
//! today a script reads tomorrow. The JSON has the exact text.

use std::{
    fmt::{Display, Write as _},
    io::{self, ErrorKind, Write},
    sync::OnceLock,
};

use engram_model::{Code, Refusal, is_hidden, visible};
use serde::Serialize;
use serde_json::json;

/// Why standard output failed, where it did.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Prints a line for people; returns whether anyone still reads.
pub(crate) fn line(text: &str) -> bool {
    send(&visible(text))
}

/// Prints a value as JSON, on one line; returns whether anyone still reads.
pub(crate) fn json(value: &impl Serialize) -> bool {
    match serde_json::to_string(value) {
        Ok(text) => send(&escaped(&text)),
        Err(error) => {
            let _ = FAILED.set(error.into());
            false
        }
    }
}

/// A reader that went away is not an error; any other failure is, see [`delivered`].
fn send(line: &str) -> bool {
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

/// Whether what was printed has left.
pub(crate) fn delivered() -> Result<(), Refusal> {
    match FAILED.get() {
        None => Ok(()),
        Some(error) => Err(Refusal::new(
            Code::Internal,
            format!("cannot write to standard output: {error}"),
            "Anything to be stored is stored; run the command again with a writable output.",
        )),
    }
}

/// Prints what is wrong. A reader that went away is not an error.
pub(crate) fn refusal(refusal: &Refusal, as_json: bool) {
    complain(&if as_json {
        escaped(&json!({ "error": refusal }).to_string())
    } else {
        let mut text = format!(
            "engram: {} [{}]\n        {}",
            one_line(&refusal.message),
            refusal.code,
            one_line(&refusal.hint)
        );
        for cut in refusal.remedy.iter().flat_map(|it| &it.cut) {
            let (at, tokens) = (one_line(&cut.at), cut.tokens);
            let _ = write!(text, "\n        cut {at}: {tokens} tokens");
        }
        text
    });
}

/// A line for people on standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// Asks the person at the terminal, and waits for the answer.
pub(crate) fn ask(question: &str) -> String {
    let _ = write!(io::stderr(), "{} ", visible(question));
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    answer
}

/// Text of strangers where it may not begin a line of its own.
pub(crate) fn one_line(text: impl Display) -> String {
    text.to_string().replace(['\n', '\r', '\t'], " ")
}

/// What the log says, on standard error.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A line comes whole.
        let text = visible(&String::from_utf8_lossy(bytes));
        io::stderr().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The same JSON, without what a terminal obeys: outside of strings there is none.
fn escaped(json: &str) -> String {
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
