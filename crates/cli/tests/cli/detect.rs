//! `engram detect`: pairs of claims, each answered in order. It opens and stores nothing.

use serde_json::{Value, json};

use crate::fixture::{Sandbox, keys, output_of};

const CONFLICT: [&str; 2] = [
    "The wallet lock is released after 3 minutes.",
    "The wallet lock is released after half an hour.",
];

fn pair(id: Value, [a, b]: [&str; 2], topic: &str) -> Value {
    json!({ "id": id, "a": a, "b": b, "topic_a": topic, "topic_b": topic })
}

/// Summarizes the answer to a line.
fn outcome(line: &Value) -> String {
    if let Some(error) = line.get("error") {
        assert_eq!(keys(line), ["error", "id"]);
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
        return format!("{} {}", line["id"], error["code"].as_str().unwrap());
    }
    let all = [
        "conflict", "id", "near", "nearness", "score", "severity", "tier", "why",
    ];
    assert_eq!(keys(line), all, "{line}");
    let nearness = line["nearness"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&nearness), "{line}");
    assert!(line["near"].is_boolean(), "{line}");
    let score = line["score"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&score), "{line}");
    if line["conflict"].as_bool().unwrap() {
        assert!(line["why"].as_str().unwrap().ends_with('.'), "{line}");
        assert!(score > 0.0, "{line}");
        let word = |key: &str| line[key].as_str().unwrap().to_owned();
        format!("{} {} {}", line["id"], word("tier"), word("severity"))
    } else {
        for key in ["tier", "severity", "why"] {
            assert!(line[key].is_null(), "{line}");
        }
        format!("{} none", line["id"])
    }
}

#[test]
fn every_pair_is_answered_in_order() {
    let sandbox = Sandbox::bare();
    let huge = pair(json!(9), [&"x".repeat(2 << 20), "b"], "");
    let lines: Vec<(Vec<u8>, &str)> = vec![
        (
            format!("\u{feff}{}\r", pair(json!("w"), CONFLICT, "wallet")).into(),
            "\"w\" tier2_numeric high",
        ),
        (b"  ".into(), ""),
        (
            pair(json!(3), [CONFLICT[0]; 2], "wallet")
                .to_string()
                .into(),
            "3 none",
        ),
        (
            pair(
                json!("v"),
                [
                    "The parser uses serde 1.0.190.",
                    "The parser uses serde 1.0.203.",
                ],
                "core",
            )
            .to_string()
            .into(),
            "\"v\" tier0_entity high",
        ),
        (b"not json".into(), "5 SCHEMA_INVALID"),
        (b"[]".into(), "6 SCHEMA_INVALID"),
        (
            json!({"id": "one", "a": CONFLICT[0]}).to_string().into(),
            "\"one\" SCHEMA_INVALID",
        ),
        (
            json!({"id": {}, "a": 1, "b": 2}).to_string().into(),
            "8 SCHEMA_INVALID",
        ),
        (huge.to_string().into(), "9 SCHEMA_INVALID"),
        (
            pair(json!(10), [&"long ".repeat(101), "b"], "")
                .to_string()
                .into(),
            "10 CLAIM_TOO_LONG",
        ),
        (
            pair(json!(11), [" ", "b"], "").to_string().into(),
            "11 SCHEMA_INVALID",
        ),
        (
            pair(json!(12), CONFLICT, "a//b").to_string().into(),
            "12 SCHEMA_INVALID",
        ),
        (b"{\"a\":\"\xff\",\"b\":\"b\"}".into(), "13 SCHEMA_INVALID"),
        // Other fields of a line, such as the expected result, are ignored.
        (
            json!({"id": 14, "a": CONFLICT[0], "b": CONFLICT[1], "topic_a": null, "label": 1})
                .to_string()
                .into(),
            "14 tier2_numeric high",
        ),
        (
            "{\"id\":15,\"a\":\"القفل 3\",\"b\":\"\\u0000 القفل 4\"}".into(),
            "15 SCHEMA_INVALID",
        ),
        (
            pair(
                json!(16),
                ["錠は三分後に開く。", "錠は五分後に開く。"],
                "錠",
            )
            .to_string()
            .into(),
            "16 none",
        ),
        (
            pair(json!(17), CONFLICT, "wallet").to_string().into(),
            "17 tier2_numeric high",
        ),
    ];
    let input = lines.iter().map(|it| it.0.as_slice()).collect::<Vec<_>>();
    let file = sandbox.write("pairs.jsonl", input.join(&b'\n'));
    // The folder is not a repository, and the home cannot be created.
    let mut command = sandbox.plain(env!("CARGO_BIN_EXE_engram"), &sandbox.path("elsewhere"));
    command.args(["--home", "/dev/null/home", "--json", "detect", "--pairs"]);
    let ran = output_of(command.arg(&file).output().unwrap());
    assert_eq!(ran.err, "");
    let expected: Vec<&str> = lines
        .iter()
        .map(|it| it.1)
        .filter(|it| !it.is_empty())
        .collect();
    assert_eq!(
        ran.lines().iter().map(outcome).collect::<Vec<_>>(),
        expected
    );
    assert!(!sandbox.home().exists());
}

#[test]
fn a_file_that_is_not_there_is_one_error() {
    let sandbox = Sandbox::bare();
    sandbox
        .run(&["detect", "--json", "--pairs", "/none/such"])
        .refused("SCHEMA_INVALID");
    assert!(
        sandbox
            .feed(&["detect", "--pairs", "-"], b"")
            .lines()
            .is_empty()
    );
    assert!(!sandbox.home().exists());
}

/// The command gives the same answers as the rules for the pairs that the rules were developed with
/// (`developed.txt` describes their format).
#[test]
fn the_rules_answer_through_the_command() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../consistency/tests/claims/developed.txt"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let (mut input, mut wanted, mut is_conflict) = (String::new(), Vec::new(), false);
    for line in text
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
    {
        if let Some(heading) = line.strip_prefix("== ") {
            is_conflict = heading.ends_with(" conflict");
            continue;
        }
        let (topics, claims) = line.split_once(": ").unwrap();
        let (topic_a, topic_b) = topics.split_once(" ~ ").unwrap_or((topics, topics));
        let (a, b) = claims.split_once(" | ").unwrap();
        let line = json!({ "a": a, "b": b, "topic_a": topic_a, "topic_b": topic_b });
        input.push_str(&format!("{line}\n"));
        wanted.push(is_conflict);
    }
    let answers = Sandbox::bare()
        .feed(&["detect", "--pairs", "-"], input.as_bytes())
        .lines();
    assert_eq!(answers.len(), wanted.len());
    let count = |of: bool, found: bool| {
        let pairs = answers.iter().zip(&wanted);
        pairs
            .filter(|it| *it.1 == of && it.0["conflict"] == found)
            .count() as f64
    };
    let (found, missed, false_alarms) = (count(true, true), count(true, false), count(false, true));
    let f1 = 2.0 * found / (2.0 * found + missed + false_alarms);
    let in_100 = 100.0 * false_alarms / (false_alarms + count(false, false));
    assert!(
        f1 >= 0.85 && in_100 <= 2.0,
        "F1 {f1:.3}, {in_100:.1} false alarms in 100"
    );
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], number + 1);
    }
}
