//! The bus as its description says it.

use std::collections::BTreeSet;

use super::{bus::Bus, *};

async fn described(bus: &Bus) -> Value {
    let head = "GET /openapi.json HTTP/1.1\r\nhost: HOST";
    let (status, head, body) = bus.served.ask(head, b"").await;
    assert_eq!(status, 200, "{body}");
    assert!(head.contains("content-type: application/json"), "{head}");
    serde_json::from_str(&body).unwrap()
}

/// Every call of the contract is there, and each one that is there is answered.
#[tokio::test]
async fn each_call_that_is_described_is_answered() {
    let bus = Bus::new().await;
    let document = described(&bus).await;
    let mut calls = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let to = format!("{} {path}", method.to_uppercase());
            let (status, reply) = bus
                .call("TOKEN", &to.replace(['{', '}'], ""), Value::Null)
                .await;
            assert_ne!(status, 405, "{to}");
            assert!(
                status != 404 || reply["error"]["code"] == "NOT_FOUND",
                "{to}: {reply}"
            );
            calls.insert(to);
        }
    }
    let contract = "DELETE /engram/{id}|DELETE /grant/{id}|GET /brief|GET /budget|GET /conflicts|GET /conflicts/{id}|GET /engram/query|\
        GET /engram/query_by_embedding|GET /metrics|GET /request|POST /agent|POST /agent/{id}/turn|POST /conflicts/{id}|POST /engram|POST /grant|\
        POST /hook/on_child_response|POST /hook/on_parent_broadcast|POST /hook/on_rag_result|POST /hook/on_sam_read|\
        POST /message|POST /pointer/deref|POST /request|POST /request/{id}";
    assert_eq!(calls, contract.split('|').map(str::to_owned).collect());
}

/// Nothing in it points nowhere, and no type has two shapes.
#[tokio::test]
async fn the_description_is_whole() {
    fn each<'a>(value: &'a Value, look: &mut impl FnMut(&'a str)) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(to)) = fields.get("$ref") {
                    look(to);
                }
                fields.values().for_each(|it| each(it, look));
            }
            Value::Array(items) => items.iter().for_each(|it| each(it, look)),
            _ => {}
        }
    }
    let bus = Bus::new().await;
    let document = described(&bus).await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut seen = 0;
    each(&document, &mut |to| {
        let place = to.strip_prefix('#').unwrap();
        assert!(document.pointer(place).is_some(), "{to}");
        seen += 1;
    });
    assert!(seen > 40, "{seen}");
}
