//! What a client sees before it calls anything.

use engram_model::{Durability, FactType, Kind, MemoryOp, Request};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Sandbox, compile};

/// A model pays for these bytes in every session. Seven tools take 7,250; eight would take 8 KB.
const MAX_BYTES: usize = 7_250;

#[tokio::test]
async fn both_eras_list_the_same() {
    let mut listed = Vec::new();
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        listed.push(client.tools().await);
    }
    assert_eq!(listed[0], listed[1]);
    // The table of requests names the same tools.
    let mut names: Vec<&str> = listed[0]
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let mut told: Vec<&str> = Request::TABLE.iter().filter_map(|it| it.tool).collect();
    names.sort_unstable();
    told.sort_unstable();
    assert_eq!(names, told);
}

/// Every row of the table of requests that has a tool answers when an agent calls it, and no other
/// tool can be called. The user does not use MCP.
#[tokio::test]
async fn each_request_with_a_tool_is_called_and_no_other() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    for terms in Request::TABLE {
        let arguments = match terms.tool {
            Some("engram_commit") => {
                json!({ "content": "The ledger rounds half to even.", "scope": "ledger", "confidence": 0.9 })
            }
            Some("engram_query") => json!({ "topic": "how does the ledger round" }),
            Some("engram_deref") => json!({ "pointer": "repo:src/ledger.rs#L2@HEAD" }),
            Some("engram_status") => json!({}),
            Some("engram_conflicts") => json!({ "status": "all" }),
            Some("engram_resolve") => {
                let conflict = contradict(&mut client).await;
                json!({ "conflict_id": conflict, "resolution_type": "last_writer", "resolution": "Read again." })
            }
            Some("engram_promote") => {
                let claim = json!({ "content": "The ledger is slow today.", "scope": "ledger", "confidence": 0.7, "durability": "ephemeral" });
                let stored = client.ok("engram_commit", claim).await;
                json!({ "fact_id": stored["id"] })
            }
            Some(tool) => panic!("the walk does not call {tool}: add it"),
            None => {
                let tool = format!("engram_{}", terms.name);
                let params = json!({ "name": tool, "arguments": {} });
                let answer = client.request("tools/call", params).await;
                assert_eq!(answer["error"]["code"], json!(-32602), "{tool}: {answer}");
                continue;
            }
        };
        client.ok(terms.tool.unwrap(), arguments).await;
    }
}

/// Stores two claims that contradict each other; returns the id of the conflict.
async fn contradict(client: &mut Client) -> Value {
    for claim in [
        "The wallet lock lasts 3 minutes.",
        "The wallet lock lasts 30 minutes.",
    ] {
        let claim = json!({ "content": claim, "scope": "wallet", "confidence": 0.9 });
        let stored = client.ok("engram_commit", claim).await;
        let found = stored["findings"].as_array().unwrap().first().cloned();
        if let Some(found) = found {
            assert_eq!(found["what"], "conflict", "{stored}");
            assert_eq!(stored["conflicts"], 1);
            return found["conflict"].clone();
        }
    }
    panic!("no conflict was found");
}

#[tokio::test]
async fn the_list_is_small_and_says_how_long_it_holds() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    let answer = client.request("tools/list", json!({})).await;
    let result = &answer["result"];
    let bytes = result.to_string().len();
    println!("tools/list has {bytes} bytes");
    assert!(bytes <= MAX_BYTES, "{bytes} bytes");
    assert!(result["tools"].as_array().unwrap().len() <= 8);
    assert!(result["ttlMs"].as_u64().unwrap() > 0);
    assert_eq!(result["cacheScope"], "public");
}

#[tokio::test]
async fn each_tool_is_fully_declared() {
    const HINTS: [&str; 4] = [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ];
    let mut client = Client::open(&Sandbox::new(), Era::Legacy).await;
    for tool in client.tools().await {
        let name = tool["name"].as_str().unwrap();
        assert!(name.starts_with("engram_"), "{name}");
        assert!(tool["title"].is_string(), "{name}");
        for hint in HINTS {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        assert_eq!(
            tool["annotations"]["readOnlyHint"],
            json!(!["engram_commit", "engram_promote", "engram_resolve"].contains(&name))
        );
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{name}");
            let _valid = compile(schema);
            for wasteful in WASTEFUL {
                assert!(
                    !names(schema).contains(&wasteful.to_owned()),
                    "{name}: {wasteful}"
                );
            }
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert_typed(&tool["outputSchema"]);
        let always = tool["_meta"]["anthropic/alwaysLoad"] == true;
        let later = ["engram_status", "engram_promote", "engram_conflicts"];
        assert_eq!(always, !later.contains(&name), "{name}");
    }
}

/// Generated parts of a schema that tell a reader nothing.
const WASTEFUL: [&str; 7] = [
    "$schema", "$defs", "$ref", "anyOf", "oneOf", "format", "title",
];

/// Checks that every schema inside this one has a type, and that every object lists its names.
fn assert_typed(schema: &Value) {
    let inside = ["properties", "patternProperties"].map(|it| schema[it].as_object());
    let mut inside = inside.into_iter().flatten().flatten().peekable();
    match schema["type"].as_str() {
        Some("object") => assert!(inside.peek().is_some(), "a bare object: {schema}"),
        Some("array") => assert_typed(&schema["items"]),
        Some(_) => {}
        None => panic!("no type: {schema}"),
    }
    inside.for_each(|(_, schema)| assert_typed(schema));
}

/// Returns every key of every object in a value.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| std::iter::once(key.clone()).chain(names(value)))
            .collect(),
        Value::Array(items) => items.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> Value {
    all.iter().map(|it| word(*it)).collect()
}

#[tokio::test]
async fn schemas_and_types_know_the_same_words() {
    let mut client = Client::open(&Sandbox::new(), Era::Legacy).await;
    let words = [
        ("kind", words(Kind::ALL, Kind::as_str)),
        ("fact_type", words(FactType::ALL, FactType::as_str)),
        ("operation", words(MemoryOp::ALL, MemoryOp::as_str)),
        ("durability", words(Durability::ALL, Durability::as_str)),
    ];
    for tool in client.tools().await {
        let properties = tool["inputSchema"]["properties"].clone();
        for (name, all) in &words {
            match properties.get(name).and_then(|it| it.get("enum")) {
                Some(told) => assert_eq!(told, all, "{}: {name}", tool["name"]),
                None => assert_ne!(tool["name"], "engram_commit", "{name}"),
            }
        }
        let error = client
            .refused(tool["name"].as_str().unwrap(), json!({ "no_such": 1 }))
            .await;
        let message = error["message"].as_str().unwrap();
        for name in properties.as_object().unwrap().keys() {
            assert!(message.contains(&format!("`{name}`")), "{name}: {message}");
        }
        let known = message.matches('`').count() / 2 - 1;
        assert_eq!(known, properties.as_object().unwrap().len(), "{message}");
    }
}

#[tokio::test]
async fn both_ways_to_begin_introduce_the_server() {
    let sandbox = Sandbox::new();
    let mut client = Client::raw(&sandbox, Era::Legacy);
    let session = client.initialize().await;
    assert_eq!(session["protocolVersion"], "2025-11-25");
    assert_eq!(session["serverInfo"]["name"], "engram");

    let mut client = Client::raw(&sandbox, Era::Modern);
    let answer = client.request("server/discover", json!({})).await;
    let found = &answer["result"];
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    assert_eq!(found["instructions"], session["instructions"]);
    assert_eq!(found["capabilities"], session["capabilities"]);

    let instructions = session["instructions"].as_str().unwrap();
    assert!(instructions.len() < 2_000, "{}", instructions.len());
}

#[tokio::test]
async fn a_probe_does_not_bind_the_client_to_an_era() {
    let sandbox = Sandbox::new();
    let mut client = Client::raw(&sandbox, Era::Modern);
    let answer = client.request("server/discover", json!({})).await;
    assert!(answer["result"].is_object());
    let session = client.initialize().await;
    assert_eq!(session["protocolVersion"], "2025-11-25");
}
