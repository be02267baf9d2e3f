//! Batches: one JSON object per line, each answered by one line, in order. The answer to a bad line
//! is its error, and the batch continues.

use std::io::{self, IsTerminal};

use engram_engine::{ClaimPair, Engine};
use engram_model::{Caller, Draft, Refusal, ask};
use serde_json::{Value, json};

use crate::{
    lines::{self, JsonLine},
    out,
};

const PAIR: &str = "Write one object per line with a and b, and id, topic_a and topic_b where you have them, such as {\"id\":1,\"a\":\"..\",\"b\":\"..\"}.";
const HINT: &str = "Write one object per line with at least claim and pointers, such as {\"claim\":\"..\",\"pointers\":[\"repo:src/main.rs#L10@HEAD\"]}.";

/// Stores every line of a file; `-` is standard input.
pub(crate) fn put(engine: &Engine, file: &str) -> Result<(), Refusal> {
    answer_each(lines::open_lines(file, HINT)?, |line| {
        put_line(engine, line.value?)
    })
}

/// Compares the pair of each line of a file; `-` is standard input. Opens no home and no
/// repository.
pub(crate) fn detect(file: &str) -> Result<(), Refusal> {
    answer_each(lines::open_lines(file, PAIR)?, |line| {
        detect_line(&line.id, line.value?)
    })
}

/// Answers each line. The batch ends if the reader is gone; the lines answered by then count.
///
/// # Errors
/// The input cannot be read to its end; the lines before that are answered.
fn answer_each(
    mut input: lines::Input,
    answer: impl Fn(JsonLine) -> Result<Value, Refusal>,
) -> Result<(), Refusal> {
    let (mut lines, mut refused) = (0, 0);
    for line in input.by_ref() {
        let id = line.id.clone();
        lines += 1;
        let answer = answer(line).unwrap_or_else(|refusal| {
            refused += 1;
            json!({ "id": id, "error": refusal })
        });
        if !out::print_json(&answer) {
            break;
        }
    }
    // The exit code says only that the batch ran (docs/design.md), and the answers may be in a file.
    if refused > 0 && io::stderr().is_terminal() {
        out::print_error_line(&format!("Refused: {refused} of {lines} lines."));
    }
    input.check_end()
}

fn detect_line(id: &Value, line: Value) -> Result<Value, Refusal> {
    let pair: ClaimPair = serde_json::from_value(line).map_err(|error| {
        lines::malformed_line(&format!("the line is not a pair: {error}"), PAIR)
    })?;
    let found = engram_engine::detect(&pair)?;
    Ok(json!({
        "id": id,
        "conflict": found.conflict,
        "tier": found.tier,
        "severity": found.severity,
        "score": found.score,
        "why": found.why,
        "near": found.near,
        "nearness": found.nearness,
    }))
}

fn put_line(engine: &Engine, line: Value) -> Result<Value, Refusal> {
    let draft: Draft = serde_json::from_value(line).map_err(|error| {
        lines::malformed_line(&format!("the line is not an engram: {error}"), HINT)
    })?;
    let stored = engine.ask(&Caller::User, ask::Put(Box::new(draft)))?;
    Ok(json!(stored))
}
