//! Batches: each line is answered, in order, whatever it holds.

use serde_json::{Value, json};

use crate::fixture::{POINTER, Sandbox};

/// Returns `id` for a line that was stored, otherwise the id and code of its error.
fn outcome(line: &Value) -> String {
    match line.get("error") {
        None => {
            assert!(
                line["seq"].is_u64() && line["lineage_id"].is_string(),
                "{line}"
            );
            "stored".to_owned()
        }
        Some(error) => {
            let text = line.to_string();
            assert!(text.len() < 1_200, "an answer of {} bytes", text.len());
            assert!(!error["hint"].as_str().unwrap().is_empty());
            format!("{} {}", line["id"], error["code"].as_str().unwrap())
        }
    }
}

#[test]
fn every_line_is_answered_in_order() {
    let sandbox = Sandbox::new();
    let good = |claim: &str| json!({"claim": claim, "pointers": [POINTER]}).to_string();
    let huge = json!({"claim": "x".repeat(2 << 20), "pointers": [POINTER]}).to_string();
    let near = json!({"claim": "x".repeat((1 << 20) - 500), "pointers": [POINTER]}).to_string();
    let lines: Vec<(Vec<u8>, &str)> = vec![
        (format!("\u{feff}{}", good("First.")).into(), "stored"),
        (json!({"claim": "Second.", "pointers": [{"type": "repo", "ref": "src/retry.rs@HEAD", "span": "L1"}], "id": "mine"}).to_string().into(), "stored"),
        (b"not json".into(), "3 SCHEMA_INVALID"),
        (b"[]".into(), "4 SCHEMA_INVALID"),
        (b"null".into(), "5 SCHEMA_INVALID"),
        (json!({"claim": "No pointers.", "pointers": [], "id": "six"}).to_string().into(), "\"six\" UNANCHORED"),
        (json!({"claim": "No pointers.", "pointers": [], "id": 7}).to_string().into(), "7 SCHEMA_INVALID"),
        (json!({"claim": "Odd.", "pointers": [POINTER], "colour": "red"}).to_string().into(), "8 SCHEMA_INVALID"),
        (json!({"claim": "Odd.", "pointers": [POINTER], "z".repeat(900_000): 1}).to_string().into(), "9 SCHEMA_INVALID"),
        (json!({"claim": "Odd.", "pointers": [POINTER], "kind": "k".repeat(900_000)}).to_string().into(), "10 SCHEMA_INVALID"),
        (json!({"claim": "Odd.", "pointers": ["p".repeat(900_000)]}).to_string().into(), "11 POINTER_INVALID"),
        (huge.into_bytes(), "12 SCHEMA_INVALID"),
        (near.into_bytes(), "13 CLAIM_TOO_LONG"),
        (b"{\"claim\":\"\xff\xfe\",\"pointers\":[]}".into(), "14 SCHEMA_INVALID"),
        (format!("{}\r", good("Windows line.")).into(), "stored"),
        (format!("  {}  ", good("Spaces around.")).into(), "stored"),
        (format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into(), "17 SCHEMA_INVALID"),
        (good("Same.").into(), "stored"),
        (good("Same.").into(), "stored"),
        (good("No newline at the end.").into(), "stored"),
    ];
    let mut input = Vec::new();
    let mut expected = Vec::new();
    for (at, (line, outcome)) in lines.iter().enumerate() {
        if at > 0 {
            input.push(b'\n');
        }
        input.extend(line);
        expected.push(*outcome);
    }
    let file = sandbox.write("lines.jsonl", &input);
    let ran = sandbox.run(&["put", "--json", "--jsonl", file.to_str().unwrap()]);
    let answers = ran.lines();
    assert_eq!(answers.iter().map(outcome).collect::<Vec<_>>(), expected);
    assert_eq!(answers[17]["id"], answers[18]["id"]);
    assert_eq!(answers[18]["findings"][0]["what"], "duplicate");
    assert_eq!(sandbox.json(&["status"])["engrams"], 6);
}

#[test]
fn empty_lines_are_passed_over_and_counted() {
    let sandbox = Sandbox::new();
    let good = json!({"claim": "Fourth line.", "pointers": [POINTER]});
    let ran = sandbox.feed(
        &["put", "--jsonl", "-"],
        format!("\n\r\n  \n{good}\n{{\n\n").as_bytes(),
    );
    assert_eq!(
        ran.lines().iter().map(outcome).collect::<Vec<_>>(),
        ["stored", "5 SCHEMA_INVALID"]
    );
    assert!(
        sandbox
            .feed(&["put", "--jsonl", "-"], b"")
            .lines()
            .is_empty()
    );
}

/// A folder opens like a file but cannot be read, so no line of the batch runs.
#[test]
fn input_that_cannot_be_read_ends_the_batch() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("elsewhere");
    let folder = folder.to_str().unwrap();
    for args in [
        &["put", "--jsonl", folder][..],
        &["detect", "--pairs", folder],
        &[
            "pointers", "track", "--from", "HEAD", "--to", "HEAD", "--spans", folder,
        ],
    ] {
        let ran = sandbox.run(&[&["--json"], args].concat());
        assert_eq!(ran.error()["code"], "SCHEMA_INVALID", "{args:?}: {ran:?}");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{args:?}");
    }
}

/// Without a repository, each line gets its own refusal.
#[test]
fn a_batch_runs_without_a_repository() {
    let sandbox = Sandbox::bare();
    let line = json!({"claim": "About code.", "pointers": [POINTER], "id": "a"});
    let answers = sandbox
        .feed(&["put", "--jsonl", "-"], line.to_string().as_bytes())
        .lines();
    assert_eq!(
        answers.iter().map(outcome).collect::<Vec<_>>(),
        ["\"a\" REPO_UNAVAILABLE"]
    );
}
