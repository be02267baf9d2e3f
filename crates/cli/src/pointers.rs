//! `engram pointers track`: finds where lines of one commit are in another. Reads only git and opens
//! no store.

use std::{path::Path, process::ExitCode};

use engram_engine::{Anchor, RepoState, Span};
use engram_model::Refusal;
use serde_json::{Value, json};

use crate::{lines, out};

const HINT: &str = "Write one object per line with id, path, start and end, counting lines from 1.";

fn parse_state(text: &str) -> RepoState {
    match text {
        "@worktree" => RepoState::Worktree,
        "@index" => RepoState::Index,
        rev => RepoState::Commit(rev.to_owned()),
    }
}

pub(crate) fn track(
    repo: Option<&Path>,
    from: &str,
    to: &str,
    file: &str,
) -> Result<ExitCode, Refusal> {
    let mut input = lines::open_lines(file, HINT)?;
    let asked: Vec<(Value, Result<Span, Refusal>)> = input
        .by_ref()
        .map(|line| (line.id, line.value.and_then(|it| parse_span(&it))))
        .collect();
    let spans: Vec<Span> = asked.iter().filter_map(|it| it.1.clone().ok()).collect();
    let mut anchors =
        engram_engine::track(repo, &parse_state(from), &parse_state(to), &spans)?.into_iter();
    for (id, span) in asked {
        let anchor = span.and_then(|_| {
            let missing = || lines::malformed_line("the span got no answer", HINT);
            anchors.next().unwrap_or_else(|| Err(missing()))
        });
        let answer = match anchor {
            Ok(anchor) => anchor_json(&id, &anchor),
            Err(refusal) => json!({ "id": id, "error": refusal }),
        };
        // The batch ends if the reader is gone.
        if !out::print_json(&answer) {
            break;
        }
    }
    input.check_end()?;
    Ok(ExitCode::SUCCESS)
}

fn anchor_json(id: &Value, anchor: &Anchor) -> Value {
    let (state, change) = anchor.state.written();
    json!({
        "id": id,
        "state": state,
        "path": anchor.place.as_ref().map(|it| &it.path),
        "start": anchor.place.as_ref().map(|it| it.start),
        "end": anchor.place.as_ref().map(|it| it.end),
        "change": change,
        "confidence": anchor.confidence,
    })
}

fn parse_span(line: &Value) -> Result<Span, Refusal> {
    let number = |name| {
        let number = line.get(name).and_then(Value::as_u64)?;
        u32::try_from(number).ok()
    };
    let span = || {
        Some(Span {
            path: line.get("path")?.as_str()?.to_owned(),
            start: number("start")?,
            end: number("end")?,
        })
    };
    span().ok_or_else(|| lines::malformed_line("the line is not a span", HINT))
}
