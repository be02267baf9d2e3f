//! Batches: one JSON object a line, each answered by one line, in order. A bad line is answered
//! with its error and does not stop the batch.

use std::io::{BufRead, BufReader, Read, Write};

use engram_engine::Engine;
use engram_model::{Caller, Code, Draft, Refusal, ask};
use serde_json::{Value, json};

/// Longest line that is read, in bytes; an engram has a few hundred.
const LONGEST: u64 = 1 << 20;

/// Stores every line of a file; `-` is standard input.
pub(crate) fn put(engine: &Engine, file: &str) -> Result<(), Refusal> {
    let input: Box<dyn Read> = match file {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).map_err(|error| {
            Refusal::new(
                Code::SchemaInvalid,
                format!("{path} cannot be read: {error}"),
                "Name a file with one JSON object a line, or - for standard input.",
            )
        })?),
    };
    let mut lines = BufReader::new(input);
    let mut out = std::io::stdout().lock();
    let mut number = 0u64;
    let mut readable = true;
    while readable && let Some(line) = next_line(&mut lines) {
        number += 1;
        let line = match line {
            Ok(line) => Ok(line),
            Err(Bad::Line(refusal)) => Err(refusal),
            // What cannot be read now cannot be read past.
            Err(Bad::Input(refusal)) => {
                readable = false;
                Err(refusal)
            }
        };
        if matches!(&line, Ok(text) if text.trim().is_empty()) {
            continue;
        }
        let answer = match line.and_then(|text| put_line(engine, &text, number)) {
            Ok(answer) => answer,
            Err(refusal) => json!({ "id": number, "error": refusal }),
        };
        // A reader that went away ends the batch; what it was told is stored.
        if writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .is_err()
        {
            break;
        }
    }
    Ok(())
}

/// The reply, or an error under the line's own id where it has one.
fn put_line(engine: &Engine, text: &str, number: u64) -> Result<Value, Refusal> {
    // Some editors begin a file with a mark of its encoding.
    let text = text.trim_start_matches('\u{feff}');
    let line: Value = serde_json::from_str(text)
        .map_err(|error| malformed(&format!("line {number} is not JSON: {error}")))?;
    let id = match line.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => json!(number),
    };
    let stored = serde_json::from_value::<Draft>(line)
        .map_err(|error| malformed(&format!("line {number} is not an engram: {error}")))
        .and_then(|draft| engine.ask(&Caller::User, ask::Put(Box::new(draft))));
    Ok(match stored {
        Ok(reply) => json!(reply),
        Err(refusal) => json!({ "id": id, "error": refusal }),
    })
}

/// Why there is no line, in a sentence of bounded length: what is wrong may quote what was sent.
fn malformed(message: &str) -> Refusal {
    let short: String = message.chars().take(300).collect();
    Refusal::new(
        Code::SchemaInvalid,
        short,
        "Each line is one object with at least claim and pointers; schemas/draft.json has them all.",
    )
}

/// Why a line cannot be had.
enum Bad {
    /// It was read past; the next may be good.
    Line(Refusal),
    /// There is no reading on.
    Input(Refusal),
}

/// None at the end; an error for a line that is too long or not UTF-8, which is read past.
fn next_line(lines: &mut impl BufRead) -> Option<Result<String, Bad>> {
    let mut line = Vec::new();
    let read = lines.by_ref().take(LONGEST).read_until(b'\n', &mut line);
    let unreadable = |error| Bad::Input(malformed(&format!("the input cannot be read: {error}")));
    match read {
        Ok(0) => None,
        Err(error) => Some(Err(unreadable(error))),
        Ok(_) if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') => {
            Some(Err(match lines.skip_until(b'\n') {
                Ok(_) => Bad::Line(malformed("the line is longer than 1 MiB")),
                Err(error) => unreadable(error),
            }))
        }
        Ok(_) => {
            Some(String::from_utf8(line).map_err(|_| Bad::Line(malformed("the line is not UTF-8"))))
        }
    }
}
