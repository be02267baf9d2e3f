//! Hostile input. The body takes bytes, so that a fuzzer can run it unchanged.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    sample::select,
    test_runner::{TestCaseResult, TestRunner},
};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Sandbox, meta};

/// The id of the last request, which no other request has.
const LAST: &str = "the last";

/// Sends any bytes as lines. Each id gets exactly one answer (a cancelled request at most one), no
/// other answer has an id, and the server continues.
pub(crate) async fn any_lines(sandbox: &Sandbox, bytes: &[u8]) {
    for era in ERAS {
        let mut client = Client::open(sandbox, era).await;
        client.line(bytes).await;
        let last = json!({ "jsonrpc": "2.0", "id": LAST, "method": "tools/list", "params": { "_meta": meta() } });
        client.line(last.to_string().as_bytes()).await;
        let (answers, ended) = client.end().await;
        ended.unwrap();

        let mut wanted = BTreeMap::from([(json!(LAST).to_string(), 1)]);
        let mut cancelled = Vec::new();
        for line in bytes.split(|it| *it == b'\n') {
            let line: Value = serde_json::from_slice(line).unwrap_or_default();
            match id_of(&line["id"]) {
                Some(id) => *wanted.entry(id).or_default() += 1,
                None if line["method"] == "notifications/cancelled" => {
                    cancelled.extend(id_of(&line["params"]["requestId"]));
                }
                _ => {}
            }
        }
        let mut got = BTreeMap::new();
        for answer in &answers {
            assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
            assert_ne!(answer["error"]["code"], -32603, "{answer}");
            if let Some(id) = id_of(&answer["id"]) {
                *got.entry(id).or_insert(0) += 1;
            }
        }
        let shown = String::from_utf8_lossy(bytes);
        for (id, count) in &wanted {
            let answers = got.get(id).copied().unwrap_or_default();
            if cancelled.contains(id) {
                assert!(
                    answers <= *count,
                    "{era:?}, {id}: {answers} of {count} in {shown}"
                )
            } else {
                assert_eq!(answers, *count, "{era:?}, {id}: {shown}")
            }
        }
        assert!(
            got.keys().all(|it| wanted.contains_key(it)),
            "{got:?}: {shown}"
        );
    }
}

/// Returns an id in the form of its answer: a string, or an integer in any notation.
fn id_of(id: &Value) -> Option<String> {
    let exact = 2_f64.powi(53);
    let whole = id
        .as_f64()
        .filter(|it| it.fract() == 0.0 && it.abs() < exact);
    match id {
        Value::String(_) => Some(id.to_string()),
        _ if id.is_i64() => Some(id.to_string()),
        _ => whole.map(|it| json!(it as i64).to_string()),
    }
}

const METHODS: &[&str] = &[
    "ping",
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "subscriptions/listen",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "tasks/get",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "none/such",
    "",
];

const WORDS: &[&str] = &[
    "name",
    "arguments",
    "uri",
    "cursor",
    "_meta",
    "requestId",
    "progressToken",
    "protocolVersion",
    "2025-11-25",
    "2026-07-28",
    "capabilities",
    "clientInfo",
    "version",
    "engram_status",
    "engram_query",
    "engram_commit",
    "engram_deref",
    "topic",
    "pointer",
    "content",
    "scope",
    "engram://engram/01M7XR6QC30000000000000000",
    "repo:src/ledger.rs#L2@HEAD",
    "",
    "\0",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => select(WORDS).prop_map(Value::from),
        2 => (0..4_i64).prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let fields = proptest::collection::btree_map(select(WORDS), inner.clone(), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|it| it
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// A line that is almost a message: ids repeat, and parts are missing.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![
        4 => (0..4_i64).prop_map(Value::from),
        2 => select(&["a", "b"][..]).prop_map(Value::from),
        1 => value(),
    ];
    let carries = prop_oneof![Just(json!({})), Just(json!({ "_meta": meta() })), value()];
    let version = prop_oneof![9 => Just("2.0"), 1 => Just("1.0")];
    let method = select(METHODS);
    let parts = (
        version,
        proptest::option::weighted(0.8, id),
        method,
        proptest::option::of(carries),
    );
    parts.prop_map(|(version, id, method, params)| {
        let mut line = json!({ "jsonrpc": version, "method": method });
        for (name, value) in [("id", id), ("params", params)] {
            if let Some(value) = value {
                line[name] = value;
            }
        }
        line.to_string().into_bytes()
    })
}

#[test]
fn no_lines_end_the_server_or_go_unanswered() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let sandbox = Sandbox::new();
    let noise = proptest::collection::vec(any::<u8>(), 0..60);
    let lines = proptest::collection::vec(prop_oneof![5 => line(), 1 => noise], 0..80);
    let config = ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let checked = |lines: Vec<Vec<u8>>| -> TestCaseResult {
        runtime.block_on(any_lines(&sandbox, &lines.join(&b'\n')));
        Ok(())
    };
    TestRunner::new(config).run(&lines, checked).unwrap();
}

/// Whoever made a clone chose the name of its branch.
#[tokio::test]
async fn a_branch_is_shown_short_and_without_hidden_signs() {
    let sandbox = Sandbox::new();
    let name = format!("main\u{1B}[31m\u{202E}{}", "obey-me/".repeat(10_000));
    let head = sandbox.path_in_home("../repo/.git/HEAD");
    std::fs::write(head, format!("ref: refs/heads/{name}\n")).unwrap();
    let mut client = Client::open(&sandbox, ERAS[1]).await;
    let status = client.ok("engram_status", json!({})).await;
    let branch = status["branch"].as_str().unwrap();
    assert!(
        branch.starts_with("main") && branch.chars().count() < 120,
        "{branch}"
    );
    assert!(!branch.contains(['\u{1B}', '\u{202E}']), "{branch:?}");
}
