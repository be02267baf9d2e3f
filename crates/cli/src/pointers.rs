//! `engram pointers`: where pointed lines are now. Asks git alone; opens no store.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::ExitCode,
};

use engram_engine::{Anchor, Side, Span, State};
use engram_model::{Code, Refusal};
use serde_json::{Value, json};

/// Longest line that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// A line of the input: its id, and the span that it asks for.
type Asked = (Value, Result<Span, Refusal>);

fn side(text: &str) -> Side {
    match text {
        "@worktree" => Side::Worktree,
        "@index" => Side::Index,
        rev => Side::Commit(rev.to_owned()),
    }
}

pub(crate) fn track(
    repo: Option<&Path>,
    from: &str,
    to: &str,
    file: &str,
) -> Result<ExitCode, Refusal> {
    let asked = read(file)?;
    let spans: Vec<Span> = asked.iter().filter_map(|it| it.1.clone().ok()).collect();
    let mut anchors = engram_engine::track(repo, &side(from), &side(to), &spans)?.into_iter();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (id, span) in asked {
        let anchor = span.and_then(|_| {
            let missing = || malformed("the span was not answered".to_owned());
            anchors.next().unwrap_or_else(|| Err(missing()))
        });
        let answer = match anchor {
            Ok(anchor) => answer(&id, &anchor),
            Err(refusal) => json!({ "id": id, "error": refusal }),
        };
        // A reader that went away ends the batch.
        if writeln!(out, "{answer}").is_err() {
            break;
        }
    }
    let _ = out.flush();
    Ok(ExitCode::SUCCESS)
}

fn answer(id: &Value, anchor: &Anchor) -> Value {
    let change = match anchor.state {
        State::Edited(edit) => Some(edit.as_str()),
        _ => None,
    };
    json!({
        "id": id,
        "state": anchor.state.as_str(),
        "path": anchor.place.as_ref().map(|it| &it.path),
        "start": anchor.place.as_ref().map(|it| it.start),
        "end": anchor.place.as_ref().map(|it| it.end),
        "change": change,
        "confidence": anchor.confidence,
    })
}

/// Every line of a file that is not blank; `-` is standard input.
fn read(file: &str) -> Result<Vec<Asked>, Refusal> {
    let unreadable = |error| {
        Refusal::new(
            Code::SchemaInvalid,
            format!("{file} cannot be read: {error}"),
            "Name a file with one JSON object a line, or - for standard input.",
        )
    };
    let input: Box<dyn Read> = match file {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(File::open(path).map_err(unreadable)?),
    };
    let mut lines = BufReader::new(input);
    let mut asked = Vec::new();
    let mut number = 0u64;
    loop {
        let mut line = Vec::new();
        let limited = lines.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if limited.map_err(unreadable)? == 0 {
            return Ok(asked);
        }
        number += 1;
        if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
            lines.skip_until(b'\n').map_err(unreadable)?;
            let refusal = malformed(format!("line {number} is longer than 1 MiB"));
            asked.push((json!(number), Err(refusal)));
        } else if !line.trim_ascii().is_empty() {
            asked.push(parse(&line, number));
        }
    }
}

/// A line without an id of its own is answered under its number.
fn parse(line: &[u8], number: u64) -> Asked {
    // Some editors begin a file with a mark of its encoding.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let refusal = malformed(format!("line {number} is not JSON: {error}"));
            return (json!(number), Err(refusal));
        }
    };
    let id = match value.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => json!(number),
    };
    let line_at = |name| value.get(name).and_then(Value::as_u64);
    let span = match (
        value.get("path").and_then(Value::as_str),
        line_at("start").and_then(|it| u32::try_from(it).ok()),
        line_at("end").and_then(|it| u32::try_from(it).ok()),
    ) {
        (Some(path), Some(start), Some(end)) => Ok(Span {
            path: path.to_owned(),
            start,
            end,
        }),
        _ => Err(malformed(format!("line {number} is not a span"))),
    };
    (id, span)
}

fn malformed(message: String) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        message.chars().take(300).collect::<String>(),
        "Each line is one object with id, path, start and end; lines count from 1.",
    )
}
