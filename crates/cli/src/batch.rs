//! Batches: one JSON object a line, each answered by one line, in order. A bad line is answered
//! with its error and does not stop the batch.

use engram_engine::Engine;
use engram_model::{Caller, Draft, Refusal, ask};
use serde_json::{Value, json};

use crate::{lines, out};

const HINT: &str = "Write one object per line with at least claim and pointers, such as {\"claim\":\"..\",\"pointers\":[\"repo:src/main.rs#L10@HEAD\"]}.";

/// Stores every line of a file; `-` is standard input.
pub(crate) fn put(engine: &Engine, file: &str) -> Result<(), Refusal> {
    for line in lines::read(file, HINT)? {
        let answer = match line.value.and_then(|it| put_line(engine, it)) {
            Ok(answer) => answer,
            Err(refusal) => json!({ "id": line.id, "error": refusal }),
        };
        // A reader that went away ends the batch; what it was told is stored.
        if !out::json(&answer) {
            break;
        }
    }
    Ok(())
}

fn put_line(engine: &Engine, line: Value) -> Result<Value, Refusal> {
    let draft: Draft = serde_json::from_value(line)
        .map_err(|error| lines::malformed(&format!("the line is not an engram: {error}"), HINT))?;
    let stored = engine.ask(&Caller::User, ask::Put(Box::new(draft)))?;
    Ok(json!(stored))
}
