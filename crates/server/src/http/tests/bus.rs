//! The bus, as an orchestrator and its agents call it, each with its own token.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use engram_engine::{Engine, Options, World};
use engram_kit::{Clock, Sandbox, requests::POINTER};

use super::*;

pub(super) struct Bus {
    pub(super) served: Served,
    pub(super) place: Arc<Sandbox>,
    pub(super) clock: Clock,
}

impl Bus {
    pub(super) async fn new() -> Self {
        let place = Arc::new(Sandbox::new());
        Self::at(&place, place.repo()).await
    }

    /// Another server for the same home, in this repository.
    pub(super) async fn at(place: &Arc<Sandbox>, repo: PathBuf) -> Self {
        let clock = Clock::default();
        let shown = clock.clone();
        let options = Options {
            home: place.home(),
            from: repo.clone(),
            repo: Some(repo),
        };
        // No two servers may create the same ids.
        static SERVERS: AtomicU64 = AtomicU64::new(1);
        let seed = SERVERS.fetch_add(1, Ordering::Relaxed);
        // Each event gets a time of its own.
        let ticks = AtomicU64::new(0);
        let tick = move || {
            let ticked = ticks.fetch_add(1, Ordering::Relaxed);
            shown.now() + Duration::from_micros(ticked)
        };
        let engine = Engine::open_in(options, World::seeded(seed, tick));
        let (pages, bounds) = (Pages::Built(BUILT), Bounds::default());
        Self {
            served: Served::over(engine.unwrap(), pages, bounds, Arc::clone(place)).await,
            place: Arc::clone(place),
            clock,
        }
    }

    /// Opens a parent and its child; returns their tokens.
    pub(super) async fn family(&self) -> (String, String) {
        let lead = json!({ "name": "lead", "role": "architect" });
        let lead = token(&self.ok("TOKEN", "POST /agent", lead).await);
        let ada = json!({ "name": "ada", "role": "programmer" });
        let ada = token(&self.ok(&lead, "POST /agent", ada).await);
        (lead, ada)
    }

    /// Makes a call with this token; TOKEN stands for the user's.
    pub(super) async fn call(&self, token: &str, to: &str, body: Value) -> (u16, Value) {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.send(token, to, body.as_bytes()).await
    }

    /// Makes a call with the body as given.
    pub(super) async fn send(&self, token: &str, to: &str, body: &[u8]) -> (u16, Value) {
        let head =
            format!("{to} HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer {token}\r\n{JSON}");
        let (status, _, body) = self.served.ask(&head, body).await;
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    /// Makes a call that must succeed.
    pub(super) async fn ok(&self, token: &str, to: &str, body: Value) -> Value {
        let (status, reply) = self.call(token, to, body).await;
        assert!((200..300).contains(&status), "{to}: {status} {reply}");
        reply
    }

    #[track_caller]
    pub(super) fn code(answer: &(u16, Value)) -> (u16, &str) {
        let code = answer.1["error"]["code"].as_str();
        assert!(answer.1["error"]["hint"].is_string(), "{}", answer.1);
        (answer.0, code.unwrap_or_default())
    }
}

pub(super) fn token(opened: &Value) -> String {
    opened["token"].as_str().unwrap().to_owned()
}

/// A parent opens a child. The child exhausts its budget and asks; the parent grants, and the child
/// reads.
#[tokio::test]
async fn a_child_reads_what_its_parent_grants() {
    let bus = Bus::new().await;
    let lead = bus
        .ok(
            "TOKEN",
            "POST /agent",
            json!({ "name": "lead", "role": "architect" }),
        )
        .await;
    let lead = token(&lead);
    let ada = bus
        .ok(
            &lead,
            "POST /agent",
            json!({ "name": "ada", "role": "programmer" }),
        )
        .await;
    assert_eq!(ada["parent"], "lead");
    let ada = token(&ada);
    let read = json!({ "pointer": POINTER });
    for _ in 0..3 {
        bus.ok(&ada, "POST /pointer/deref", read.clone()).await;
    }
    // A child may not choose another turn.
    let turned = json!({ "pointer": POINTER, "turn": "mine" });
    let denied = bus.call(&ada, "POST /pointer/deref", turned).await;
    assert_eq!(Bus::code(&denied), (403, "DEREF_DENIED"));
    assert_eq!(
        denied.1["error"]["figures"]["repo_spans"],
        json!({ "used": 3, "limit": 3 })
    );
    let wanted =
        json!({ "pointer": POINTER, "reason": "Is the lock held?", "intended_use": "A fix." });
    let asked = bus.ok(&ada, "POST /request", wanted).await;
    let waiting = bus.ok(&lead, "GET /request", Value::Null).await;
    assert_eq!(waiting["requests"][0]["id"], asked["id"]);
    let answer = format!("POST /request/{}", asked["id"].as_str().unwrap());
    let own = bus.call(&ada, &answer, json!({ "verdict": "grant" })).await;
    assert_eq!(Bus::code(&own), (403, "SCOPE_DENIED"));
    let granted = bus
        .ok(
            &lead,
            &answer,
            json!({ "verdict": "grant", "cap_tokens": 300 }),
        )
        .await;
    assert_eq!(
        (&granted["to"], &granted["cap_tokens"]),
        (&json!("ada"), &json!(300))
    );
    let shown = bus
        .ok(
            &ada,
            "POST /pointer/deref",
            json!({ "pointer": POINTER, "budget_token": granted["budget_token"] }),
        )
        .await;
    assert_eq!(shown["grant"], granted["id"]);
    assert!(
        shown["content_digest"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    let budget = bus.ok(&lead, "GET /budget", Value::Null).await;
    let row = budget["agents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["agent"] == "ada");
    assert_eq!(row.unwrap()["grants"], json!({ "open": 0, "spent": 1 }));
    assert_eq!(row.unwrap()["refusals"], 1);
    // The parent begins the child's next turn, then grants and revokes.
    bus.ok(&lead, "POST /agent/ada/turn", Value::Null).await;
    bus.ok(&ada, "POST /pointer/deref", read).await;
    let given = bus
        .ok(
            &lead,
            "POST /grant",
            json!({ "to": "ada", "pointer": POINTER, "cap_tokens": 200, "ttl": "PT5M" }),
        )
        .await;
    let revoked = bus
        .ok(
            &lead,
            &format!("DELETE /grant/{}", given["id"].as_str().unwrap()),
            Value::Null,
        )
        .await;
    assert_eq!(revoked["state"], "revoked");
}

#[tokio::test]
async fn engrams_are_put_asked_for_and_closed_over_the_bus() {
    let bus = Bus::new().await;
    let opened = bus
        .ok("TOKEN", "POST /agent", json!({ "name": "ada" }))
        .await;
    let ada = token(&opened);
    let claim = json!({
        "kind": "risk", "claim": "The gateway retries without jitter.", "confidence": 0.8,
        "pointers": [POINTER], "ttl": "P7D", "scope": "project",
    });
    let (status, stored) = bus.call(&ada, "POST /engram", claim).await;
    assert_eq!(status, 201, "{stored}");
    let id = stored["id"].as_str().unwrap();
    let found = bus
        .ok(
            &ada,
            "GET /engram/query?keys=gateway,jitter&k=5",
            Value::Null,
        )
        .await;
    let found = found.as_array().unwrap();
    assert_eq!((found.len(), &found[0]["id"]), (1, &json!(id)));
    assert_eq!(found[0]["provenance"]["created_by"], "ada");
    for (to, status, code) in [
        ("GET /engram/query?keys=a&k=13", 400, "SCHEMA_INVALID"),
        ("GET /engram/query", 400, "SCHEMA_INVALID"),
        ("GET /conflicts/%ff", 400, "SCHEMA_INVALID"),
        ("DELETE /engram/%ff", 400, "SCHEMA_INVALID"),
        // A misspelled parameter is refused.
        ("GET /engram/query?keys=a&limit=3", 400, "SCHEMA_INVALID"),
        ("GET /brief?topic=wallet", 400, "SCHEMA_INVALID"),
        ("GET /request?al=true", 400, "SCHEMA_INVALID"),
        ("GET /conflicts?topics=wallet", 400, "SCHEMA_INVALID"),
        ("POST /agent?name=ada", 400, "SCHEMA_INVALID"),
        (
            "GET /engram/query_by_embedding?embedding_ref=a&k=3",
            404,
            "NOT_FOUND",
        ),
        ("DELETE /engram/nothing", 404, "NOT_FOUND"),
        ("POST /engram", 400, "SCHEMA_INVALID"),
        ("POST /grant", 400, "SCHEMA_INVALID"),
        ("POST /request/x", 400, "SCHEMA_INVALID"),
        ("POST /agent", 400, "SCHEMA_INVALID"),
    ] {
        let answer = bus.call(&ada, to, Value::Null).await;
        assert_eq!(Bus::code(&answer), (status, code), "{to}");
    }
    bus.ok(&ada, &format!("DELETE /engram/{id}"), Value::Null)
        .await;
    let found = bus
        .ok("TOKEN", "GET /engram/query?keys=gateway", Value::Null)
        .await;
    assert_eq!(found, json!([]));
}

/// No token, a forged token or a replaced token proves nobody; an agent's token opens no page.
#[tokio::test]
async fn the_bus_is_for_holders_of_a_token() {
    let bus = Bus::new().await;
    let first = bus
        .ok("TOKEN", "POST /agent", json!({ "name": "ada" }))
        .await;
    let second = bus
        .ok("TOKEN", "POST /agent", json!({ "name": "ada" }))
        .await;
    for token in ["", "forged", &"0".repeat(64), &token(&first)] {
        for to in [
            "GET /budget",
            "POST /pointer/deref",
            "POST /agent",
            "DELETE /grant/x",
        ] {
            let answer = bus.call(token, to, json!({ "pointer": POINTER })).await;
            assert_eq!(Bus::code(&answer), (401, "SCOPE_DENIED"), "{to} {token:?}");
        }
    }
    bus.ok(&token(&second), "GET /budget", Value::Null).await;
    let page = bus
        .call(&token(&second), "POST /api/read", json!({ "do": "status" }))
        .await;
    assert_eq!(page.0, 401);
}
