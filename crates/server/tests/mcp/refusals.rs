//! An error that a model can fix is returned as a result with a code and a hint; any other is a
//! JSON-RPC error.

use serde_json::{Value, json};

use crate::client::{Client, ERAS, Sandbox};

#[tokio::test]
async fn each_mistake_has_a_code_and_a_hint() {
    let commit = |change: Value| {
        let mut arguments = json!({
            "content": "The ledger keeps entries.", "scope": "ledger", "confidence": 0.7,
            "pointers": ["repo:src/ledger.rs@HEAD"],
        });
        for (key, value) in change.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        ("engram_commit", arguments)
    };
    let secret = format!("The key is {}{}.", "AKIA", "QWERTYUIOPASDFGH");
    let cases = [
        (
            commit(json!({ "confidence": "high" })),
            "SCHEMA_INVALID",
            "confidence",
        ),
        (
            commit(json!({ "confidence": 1.5 })),
            "SCHEMA_INVALID",
            "confidence",
        ),
        (
            commit(json!({ "confidence": null })),
            "SCHEMA_INVALID",
            "confidence",
        ),
        (commit(json!({ "kind": "bug" })), "SCHEMA_INVALID", "kind"),
        (
            commit(json!({ "kind": "untagged" })),
            "SCHEMA_INVALID",
            "\"untagged\" is not one of",
        ),
        (commit(json!({ "ttl_days": 0 })), "SCHEMA_INVALID", "ttl"),
        (
            commit(json!({ "ttl_days": -1 })),
            "SCHEMA_INVALID",
            "ttl_days",
        ),
        (
            commit(json!({ "pointers": [7] })),
            "SCHEMA_INVALID",
            "pointers[0]",
        ),
        (
            commit(json!({ "pointers": "repo:a@HEAD" })),
            "SCHEMA_INVALID",
            "pointers",
        ),
        (
            commit(json!({ "code": "fn main()" })),
            "SCHEMA_INVALID",
            "code",
        ),
        (
            commit(json!({ "scope": "a//b" })),
            "SCHEMA_INVALID",
            "topic",
        ),
        (commit(json!({ "content": "" })), "SCHEMA_INVALID", "claim"),
        (
            commit(json!({ "content": "x".repeat(501) })),
            "CLAIM_TOO_LONG",
            "501",
        ),
        (commit(json!({ "content": secret })), "SECRET_DETECTED", ""),
        (
            commit(json!({ "pointers": ["repo:src/ledger.rs"] })),
            "POINTER_UNPINNED",
            "pin",
        ),
        (
            commit(json!({ "pointers": ["repo:../x@HEAD"] })),
            "POINTER_INVALID",
            "leaves",
        ),
        (
            commit(json!({ "pointers": ["repo:src/none.rs@HEAD"] })),
            "POINTER_NOT_FOUND",
            "none.rs",
        ),
        (
            commit(json!({ "provenance": "repo:src/ledger.rs" })),
            "POINTER_UNPINNED",
            "pin",
        ),
        (
            commit(json!({ "operation": "delete" })),
            "SCHEMA_INVALID",
            "lineage",
        ),
        (
            commit(json!({ "corrects_lineage": "01M7XR6QC30000000000000000" })),
            "NOT_FOUND",
            "",
        ),
        (("engram_query", json!({})), "SCHEMA_INVALID", "topic"),
        (
            ("engram_query", json!({ "topic": 5 })),
            "SCHEMA_INVALID",
            "topic",
        ),
        (
            ("engram_query", json!({ "topic": "a", "limit": -1 })),
            "SCHEMA_INVALID",
            "limit",
        ),
        (
            ("engram_query", json!({ "topic": "a", "as_of": "lately" })),
            "SCHEMA_INVALID",
            "as_of",
        ),
        (
            ("engram_query", json!({ "topic": "a", "sort": 1 })),
            "SCHEMA_INVALID",
            "sort",
        ),
        (("engram_deref", json!({})), "SCHEMA_INVALID", "pointer"),
        (
            ("engram_deref", json!({ "pointer": 1 })),
            "SCHEMA_INVALID",
            "pointer",
        ),
        (
            ("engram_deref", json!({ "pointer": "x" })),
            "POINTER_INVALID",
            "known type",
        ),
        (
            ("engram_deref", json!({ "pointer": "repo:no@HEAD" })),
            "POINTER_NOT_FOUND",
            "no",
        ),
        (
            ("engram_status", json!({ "verbose": true })),
            "SCHEMA_INVALID",
            "verbose",
        ),
    ];
    for era in ERAS {
        let sandbox = Sandbox::new();
        let mut client = Client::open(&sandbox, era).await;
        for ((tool, arguments), code, needle) in &cases {
            let error = client.refused(tool, arguments.clone()).await;
            assert_eq!(error["code"], *code, "{arguments}: {error}");
            assert!(
                error["message"].as_str().unwrap().contains(needle),
                "{needle}: {error}"
            );
            assert!(error["hint"].as_str().unwrap().len() > 10, "{error}");
            for foreign in ["f64", "usize", "sequence", "variant", "invalid type"] {
                assert!(
                    !error["message"].as_str().unwrap().contains(foreign),
                    "{error}"
                );
            }
        }
        let status = client.ok("engram_status", json!({})).await;
        assert_eq!(status["engrams"], 0, "nothing was stored");
    }
}

#[tokio::test]
async fn unknown_arguments_are_answered_with_the_known_ones() {
    let mut client = Client::open(&Sandbox::new(), ERAS[1]).await;
    let error = client
        .refused(
            "engram_deref",
            json!({ "pointer": "repo:a@HEAD", "tokens": 3 }),
        )
        .await;
    assert_eq!(
        error["hint"],
        "engram_deref takes pointer, budget_token?, max_tokens?, reason?."
    );
}

#[tokio::test]
async fn the_budget_of_a_turn_ends() {
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        for line in 1..=3 {
            let pointer = format!("repo:src/ledger.rs#L{line}@HEAD");
            let read = client
                .ok("engram_deref", json!({ "pointer": pointer }))
                .await;
            assert_eq!(read["budget"]["repo_spans"], json!(3 - line));
        }
        let error = client
            .refused(
                "engram_deref",
                json!({ "pointer": "repo:src/ledger.rs#L4@HEAD" }),
            )
            .await;
        assert_eq!(error["code"], "DEREF_DENIED", "{error}");
    }
}

#[tokio::test]
async fn what_is_no_call_is_a_protocol_error() {
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        for (method, params, code) in [
            (
                "tools/call",
                json!({ "name": "engram_explode", "arguments": {} }),
                -32602,
            ),
            ("tools/call", json!({}), -32602),
            ("tools/call", json!({ "name": 5 }), -32602),
            (
                "tools/call",
                json!({ "name": "engram_status", "arguments": [1] }),
                -32602,
            ),
            ("tools/list", json!({ "cursor": "abc" }), -32602),
            ("resources/read", json!({}), -32602),
            ("engram/explode", json!({}), -32601),
        ] {
            let answer = client.request(method, params).await;
            assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        }
        client.ok("engram_status", json!({})).await;
    }
}

/// An agent has these tools and no command line: a hint that names a command is for the user.
#[tokio::test]
async fn a_hint_names_nothing_that_its_reader_lacks() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, ERAS[1]).await;
    let pointer = json!({ "pointer": "repo:src/ledger.rs#L1@HEAD" });
    for _ in 0..3 {
        client.ok("engram_deref", pointer.clone()).await;
    }
    let missing = "01M7XR6QC30000000000000000";
    let resolve =
        json!({ "conflict_id": missing, "resolution_type": "last_writer", "resolution": "Old." });
    let correction = json!({
        "content": "The ledger keeps entries.", "scope": "ledger", "confidence": 0.7,
        "pointers": ["repo:src/ledger.rs@HEAD"], "corrects_lineage": "x",
    });
    let event = json!({ "pointer": "sam:decision:none@2026-01-08" });
    for (tool, arguments) in [
        ("engram_deref", pointer),
        ("engram_deref", event),
        ("engram_commit", correction),
        ("engram_promote", json!({ "fact_id": missing })),
        ("engram_resolve", resolve),
    ] {
        names_no_command(&client.refused(tool, arguments).await);
    }
}

/// Fails if the hint of a refusal names a tool, a call or a command that an agent with the core
/// tools lacks.
pub(crate) fn names_no_command(error: &Value) {
    let hint = error["hint"].as_str().unwrap();
    for word in ["less_", "POST ", " --"] {
        assert!(!hint.contains(word), "{hint}");
    }
    assert!(
        !hint.contains("engram ") || hint.contains("the user"),
        "{hint}"
    );
}
