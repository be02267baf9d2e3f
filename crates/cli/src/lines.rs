//! Lines of JSON, from a file or standard input. A bad line yields its own error, and reading
//! continues.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
};

use engram_model::{Code, Refusal, shorten};
use serde_json::{Value, json};

/// The longest line that is read, in bytes; an engram has a few hundred.
const MAX_LINE: u64 = 1 << 20;

/// A line that is not blank.
pub(crate) struct JsonLine {
    /// The id of its answer: its own `id`, or its number.
    pub(crate) id: Value,
    /// The line's value, or why it has none.
    pub(crate) value: Result<Value, Refusal>,
}

/// An input and the position in it.
pub(crate) struct Input {
    input: BufReader<Box<dyn Read>>,
    number: u64,
    /// Why the rest cannot be read.
    failed: Option<io::Error>,
    hint: &'static str,
}

/// Opens `file`, or standard input for `-`. The hint describes what a line holds.
pub(crate) fn open_lines(file: &str, hint: &'static str) -> Result<Input, Refusal> {
    let input: Box<dyn Read> = match file {
        "-" => Box::new(io::stdin()),
        path => Box::new(File::open(path).map_err(|error| {
            Refusal::new(
                Code::SchemaInvalid,
                format!("cannot read {path}: {error}"),
                "Pass a file with one JSON object per line, or - for standard input.",
            )
        })?),
    };
    Ok(Input {
        input: BufReader::new(input),
        number: 0,
        failed: None,
        hint,
    })
}

/// Returns the refusal of a line, cut to a bounded length, since the message may quote the input.
pub(crate) fn malformed_line(message: &str, hint: &str) -> Refusal {
    Refusal::new(Code::SchemaInvalid, shorten(message, 300), hint)
}

impl Iterator for Input {
    type Item = JsonLine;

    fn next(&mut self) -> Option<JsonLine> {
        let read = loop {
            if self.failed.is_some() {
                return None;
            }
            self.number += 1;
            match self.next_line() {
                Ok(line) if line.is_empty() => return None,
                Ok(line) if line.trim_ascii().is_empty() => {}
                Ok(line) => break line,
                // After a read error, nothing more can be read.
                Err(error) => self.failed = Some(error),
            }
        };
        let value = if is_cut(&read) {
            Err(format!("line {} is longer than 1 MiB", self.number))
        } else {
            parse_json(&read).map_err(|error| format!("line {} is not JSON: {error}", self.number))
        };
        let id = match value.as_ref().ok().and_then(|it| it.get("id")) {
            Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
            _ => json!(self.number),
        };
        Some(JsonLine {
            id,
            value: value.map_err(|message| malformed_line(&message, self.hint)),
        })
    }
}

impl Input {
    /// Called after the last line. Fails if the input could not be read to its end.
    pub(crate) fn check_end(self) -> Result<(), Refusal> {
        match self.failed {
            None => Ok(()),
            Some(error) => Err(Refusal::new(
                Code::SchemaInvalid,
                format!(
                    "cannot read the input beyond line {}: {error}",
                    self.number - 1
                ),
                "The lines before it were answered. Pass a file with one JSON object per line, or - for standard input.",
            )),
        }
    }

    /// Returns the next line with its end, or an empty one at the end of the input. A line that is
    /// too long is cut, and its rest is skipped.
    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut limited = self.input.by_ref().take(MAX_LINE);
        limited.read_until(b'\n', &mut line)?;
        if is_cut(&line) {
            self.input.skip_until(b'\n')?;
        }
        Ok(line)
    }
}

fn is_cut(line: &[u8]) -> bool {
    line.len() as u64 == MAX_LINE && !line.ends_with(b"\n")
}

fn parse_json(line: &[u8]) -> serde_json::Result<Value> {
    // Some editors begin a file with a byte order mark.
    serde_json::from_slice(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line))
}
