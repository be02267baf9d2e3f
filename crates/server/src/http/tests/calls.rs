//! The calls of the page.

use engram_engine::{Engine, Options};
use engram_kit::requests;
use engram_model::{Call, Caller, Effect, Request, Who};
use serde_json::json;

use super::*;

#[tokio::test]
async fn the_window_reads_and_changes() {
    let served = Served::new().await;
    let (status, reply) = served.post("/api/read", json!({ "do": "status" })).await;
    assert_eq!((status, &reply["is"]), (200, &json!("status")), "{reply}");
    let (status, reply) = served.post("/api/change", note("Hello.")).await;
    assert_eq!((status, &reply["is"]), (200, &json!("note")), "{reply}");
    let pointer = reply["with"]["pointer"].clone();
    let deref = json!({ "do": "deref", "with": { "pointer": pointer } });
    let (status, reply) = served.post("/api/change", deref).await;
    assert_eq!(status, 200, "{reply}");
    assert_eq!(reply["with"]["excerpt"], "Hello.");
    assert!(
        reply["with"].get("budget").is_none(),
        "the user is not metered"
    );
}

#[tokio::test]
async fn refusals_have_a_fitting_status() {
    let served = Served::new().await;
    let missing = json!({ "do": "get", "with": "01M7XR6QC30000000000000000" });
    for (path, request, status, code) in [
        ("/api/read", missing, 404, "NOT_FOUND"),
        (
            "/api/read",
            json!({ "do": "explode" }),
            400,
            "SCHEMA_INVALID",
        ),
        ("/api/read", note("x"), 400, "SCHEMA_INVALID"),
        (
            "/api/change",
            json!({ "do": "status" }),
            400,
            "SCHEMA_INVALID",
        ),
        ("/api/change", json!([1]), 400, "SCHEMA_INVALID"),
        (
            "/api/change",
            json!("x".repeat(2 << 20)),
            400,
            "SCHEMA_INVALID",
        ),
        ("/api/explode", json!({}), 404, "NOT_FOUND"),
    ] {
        let (got, reply) = served.post(path, request).await;
        assert_eq!(
            (got, &reply["error"]["code"]),
            (status, &json!(code)),
            "{path}: {reply}"
        );
        assert!(reply["error"]["hint"].is_string(), "{reply}");
    }
}

/// Every row of the table of requests works through its own call with the user's token, and not
/// without it.
#[tokio::test]
async fn each_request_is_taken_by_its_own_call_from_the_user_alone() {
    for terms in Request::TABLE {
        if requests::needs_more(terms.name) {
            continue;
        }
        let place = engram_kit::Sandbox::new();
        let engine = Engine::open(Options {
            home: place.home(),
            repo: Some(place.repo()),
            from: place.repo(),
        });
        let engine = engine.unwrap();
        let mut id = place.claim(|draft| {
            let put = Request::Put(serde_json::from_value(draft).unwrap());
            json!(engine.handle(&Caller::User, put).unwrap())
        });
        let served = Served::over(engine, Pages::Built(BUILT), Bounds::default(), place).await;
        for first in requests::first(terms.name, &id) {
            let (status, reply) = served.post("/api/change", first).await;
            assert_eq!(status, 200, "{}: {reply}", terms.name);
            id = requests::about(&id, &reply);
        }
        let request = requests::good(terms.name, &id);
        let (right, wrong) = match terms.effect {
            Effect::Reads => ("/api/read", "/api/change"),
            Effect::Changes | Effect::Spends => ("/api/change", "/api/read"),
        };
        let body = request.to_string();
        let stranger = format!("POST {right} HTTP/1.1\r\nhost: HOST\r\n{JSON}");
        let (status, ..) = served.ask(&stranger, body.as_bytes()).await;
        assert_eq!(status, 401, "{}", terms.name);
        let (status, reply) = served.post(wrong, request.clone()).await;
        assert_eq!(status, 400, "{}: {reply}", terms.name);
        let (status, reply) = served.post(right, request).await;
        // The user may not send requests that are for agents only.
        let expected = if terms.who == Who::Agent { 403 } else { 200 };
        assert_eq!(status, expected, "{}: {reply}", terms.name);
    }
}

#[tokio::test]
async fn a_call_of_the_window_alone_is_nowhere_on_http() {
    let served = Served::new().await;
    for call in Call::ALL {
        let path = format!("/api/{}", call.name());
        let (status, _) = match call {
            Call::Subscribe => continue,
            _ => served.post(&path, json!({ "do": "explode" })).await,
        };
        let wanted = match call {
            Call::ConnectHint => 200, // asks nothing
            call if call.is_over_http() => 400,
            _ => 404,
        };
        assert_eq!(status, wanted, "{path}");
    }
}
