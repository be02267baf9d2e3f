//! The bus behaves as its description says.

use std::collections::BTreeSet;

use engram_kit::requests::POINTER;

use super::{bus::Bus, *};

async fn described(bus: &Bus) -> Value {
    let head = "GET /openapi.json HTTP/1.1\r\nhost: HOST";
    let (status, head, body) = bus.served.ask(head, b"").await;
    assert_eq!(status, 200, "{body}");
    assert!(head.contains("content-type: application/json"), "{head}");
    serde_json::from_str(&body).unwrap()
}

/// The description lists every call of the contract, and each listed call is answered.
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

/// Every reference resolves, and no type has two shapes.
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

/// A client that follows the description can continue where a page ended, and cannot send a value
/// that is not a position in the list.
#[tokio::test]
async fn the_next_of_a_page_is_as_it_is_described() {
    let bus = Bus::new().await;
    for number in 1..4 {
        let claim = json!({
            "kind": "fact", "claim": format!("The wallet lock lasts {number} minutes."),
            "confidence": 0.8, "pointers": [POINTER], "ttl": "P7D", "scope": "project",
        });
        let (status, stored) = bus.call("TOKEN", "POST /engram", claim).await;
        assert_eq!(status, 201, "{stored}");
    }
    let page = bus.ok("TOKEN", "GET /conflicts?limit=1", Value::Null).await;
    let document = described(&bus).await;
    let parameters = document["paths"]["/conflicts"]["get"]["parameters"].as_array();
    let after = parameters
        .unwrap()
        .iter()
        .find(|it| it["name"] == "after")
        .unwrap();
    let (mut all, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler
        .add_resource("after.json", after["schema"].clone())
        .unwrap();
    let schema = compiler.compile("after.json", &mut all).unwrap();
    let is_valid = |text: &Value| all.validate(text, schema).is_ok();
    assert!(is_valid(&page["next"]), "{page}");
    for wrong in ["", "high", "high.high.1", "high.high.x.y.z"] {
        assert!(!is_valid(&json!(wrong)), "{wrong}");
    }
}
