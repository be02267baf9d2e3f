//! Strangers and forgers get a code and a hint from the bus, and spend nothing.

use engram_kit::{Repository, requests::POINTER};
use tokio::io::AsyncBufReadExt;

use super::{
    bus::{Bus, token},
    bus_team::report,
    *,
};

const READ: &str = "POST /pointer/deref";

impl Bus {
    async fn granted(&self, by: &str, ttl: &str) -> Value {
        let wanted = json!({ "to": "ada", "pointer": POINTER, "ttl": ttl });
        self.ok(by, "POST /grant", wanted).await
    }

    async fn read_by(&self, who: &str, grant: &Value) -> (u16, Value) {
        let body = json!({ "pointer": POINTER, "budget_token": grant["budget_token"] });
        self.call(who, READ, body).await
    }

    /// The spans that ada used, and the grants that it has open and spent.
    async fn spent(&self) -> Value {
        let budget = self.ok("TOKEN", "GET /budget", Value::Null).await;
        let agents = budget["agents"].as_array().unwrap();
        let ada = agents.iter().find(|it| it["agent"] == "ada").unwrap();
        json!([
            ada["repo_spans"]["used"],
            ada["grants"]["open"],
            ada["grants"]["spent"]
        ])
    }
}

/// Forged, foreign, expired, replayed and revoked grant tokens are refused, and spend no budget and
/// no grant.
#[tokio::test]
async fn tokens_of_grants_hold_once_for_their_holder_in_their_time() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let bob = json!({ "name": "bob", "role": "programmer" });
    let bob = token(&bus.ok(&lead, "POST /agent", bob).await);
    let grant = bus.granted(&lead, "PT5M").await;
    let forged = json!({ "budget_token": "f".repeat(64) });
    for (who, grant) in [(&ada, &forged), (&bob, &grant), (&lead, &grant)] {
        let answer = bus.read_by(who, grant).await;
        assert_eq!(Bus::code(&answer), (403, "DEREF_DENIED"));
    }
    assert_eq!(bus.spent().await, json!([0, 1, 0]));
    assert_eq!(bus.read_by(&ada, &grant).await.0, 200);
    let replayed = bus.read_by(&ada, &grant).await;
    assert_eq!(Bus::code(&replayed), (403, "DEREF_DENIED"));
    let revoked = bus.granted(&lead, "PT5M").await;
    let at = format!("DELETE /grant/{}", revoked["id"].as_str().unwrap());
    bus.ok(&lead, &at, Value::Null).await;
    let answer = bus.read_by(&ada, &revoked).await;
    assert_eq!(Bus::code(&answer), (403, "DEREF_DENIED"));
    assert_eq!(bus.call(&lead, &at, Value::Null).await.0, 404);
    let expired = bus.granted(&lead, "PT1M").await;
    bus.clock.turn(61);
    let answer = bus.read_by(&ada, &expired).await;
    assert_eq!(Bus::code(&answer), (410, "EXPIRED"));
    // Setting the clock back does not give a grant more time.
    bus.clock.turn(-60);
    let other = bus.granted(&lead, "PT1M").await;
    bus.clock.turn(-3 * 86_400);
    let answer = bus.read_by(&ada, &other).await;
    assert_eq!(Bus::code(&answer), (410, "EXPIRED"));
    assert_eq!(bus.spent().await, json!([0, 0, 1]));
}

/// An agent of another project in the same home is unknown here, by its token and by its handle.
#[tokio::test]
async fn an_agent_of_another_project_is_nobody_here() {
    let bus = Bus::new().await;
    let (lead, _) = bus.family().await;
    let folder = tempfile::tempdir().unwrap();
    let repo = folder.path().join("other");
    Repository::with(&repo, &[("src/lib.rs", b"fn other() {}\n")]);
    let other = Bus::at(&bus.place, repo).await;
    let eve = token(
        &other
            .ok("TOKEN", "POST /agent", json!({ "name": "eve" }))
            .await,
    );
    for (to, body) in [
        (READ, json!({ "pointer": POINTER })),
        ("GET /budget", Value::Null),
        ("GET /brief", Value::Null),
        ("GET /request", Value::Null),
        ("POST /message", report("Eve was here.", "One.")),
        ("POST /agent", json!({ "name": "mallory" })),
    ] {
        let answer = bus.call(&eve, to, body).await;
        assert_eq!(Bus::code(&answer), (403, "SCOPE_DENIED"), "{to}");
    }
    for (to, body) in [
        ("POST /grant", json!({ "to": "eve", "pointer": POINTER })),
        ("POST /agent/eve/turn", Value::Null),
        (
            "POST /message",
            json!({ "message": { "role": "x", "instructions": [] }, "to": "eve" }),
        ),
        ("POST /agent", json!({ "name": "kid", "parent": "eve" })),
    ] {
        for who in ["TOKEN", &lead] {
            let answer = bus.call(who, to, body.clone()).await;
            let (status, code) = Bus::code(&answer);
            let is_unknown = (status, code) == (404, "NOT_FOUND");
            assert!(
                is_unknown || (status, code) == (403, "SCOPE_DENIED"),
                "{to} {code}"
            );
        }
    }
    // Two parents, and a cycle
    for body in [
        json!({ "name": "ada", "parent": "bob" }),
        json!({ "name": "lead", "parent": "ada" }),
        json!({ "name": "lead", "parent": "lead" }),
    ] {
        let answer = bus.call("TOKEN", "POST /agent", body).await;
        assert!(matches!(Bus::code(&answer).1, "SCOPE_DENIED" | "NOT_FOUND"));
    }
}

/// Nonsense on any call that takes a body gets a code and a hint, and the server continues.
#[tokio::test]
async fn nonsense_is_refused_on_every_call() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let bomb = format!(
        "ROLE: x\nINSTRUCTIONS:\n{}",
        "  - &a [*a, *a]\n".repeat(2_000)
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: [&[u8]; 9] = [
        b"null",
        b"[]",
        b"7",
        b"{\"a\":",
        b"{\"role\":7}",
        b"\xff\xfe\0",
        b"ROLE: x\n\tNOTHING",
        bomb.as_bytes(),
        deep.as_bytes(),
    ];
    let calls = [
        "POST /engram",
        READ,
        "POST /message",
        "POST /grant",
        "POST /request",
        "POST /request/x",
        "POST /agent",
        "POST /agent/ada/turn",
    ];
    let before = bus.spent().await;
    for to in calls {
        for body in bodies {
            let answer = bus.send(&lead, to, body).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(20)]).into_owned();
            let is_refused = matches!(
                Bus::code(&answer),
                (400, "SCHEMA_INVALID") | (403, "BUDGET_EXCEEDED")
            );
            assert!(is_refused, "{to} {shown} {answer:?}");
        }
    }
    assert_eq!(bus.spent().await, before);
    let found = bus.ok(&ada, "GET /engram/query?keys=x", Value::Null).await;
    assert_eq!(found, json!([]));
}

/// The server refuses 50 MB because of the head, before reading them.
#[tokio::test]
async fn a_body_of_50_mb_is_not_read() {
    let bus = Bus::new().await;
    let (_, ada) = bus.family().await;
    for to in ["POST /message", "POST /engram", READ] {
        let head = format!(
            "{to} HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer {ada}\r\n{JSON}\r\n\
             content-length: {}\r\n\r\n",
            50 << 20
        );
        let mut stream = BufReader::new(bus.served.say(&head).await);
        let (status, _, body) = answer(&mut stream).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(Bus::code(&(status, body)), (400, "SCHEMA_INVALID"), "{to}");
    }
}

/// The refusal of a wrong method says which methods are allowed.
#[tokio::test]
async fn another_method_is_told_which_ones_there_are() {
    let bus = Bus::new().await;
    let head = "PUT /engram HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer TOKEN";
    let (status, head, body) = bus.served.ask(head, b"").await;
    assert_eq!(status, 405, "{body}");
    assert!(head.contains("\r\nallow: post"), "{head}");
    assert!(body.contains("openapi.json"), "{body}");
}

/// A replaced token also stops working on the open connection on which it proved its agent.
#[tokio::test]
async fn a_replaced_token_ends_on_an_open_connection() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let ask = format!(
        "GET /budget HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer {ada}\r\ncontent-length: 0\r\n"
    );
    let mut kept = bus.served.say(&format!("{ask}\r\n")).await;
    assert_eq!(first(&mut kept).await, 200);
    assert_eq!(again(&bus, &mut kept, &ask).await, 200);
    let reopened = json!({ "name": "ada", "role": "programmer" });
    bus.ok(&lead, "POST /agent", reopened).await;
    assert_eq!(again(&bus, &mut kept, &ask).await, 401);
    // The server closes the connection.
    assert_eq!(kept.read(&mut [0; 1]).await.unwrap(), 0);
}

async fn again(bus: &Bus, kept: &mut TcpStream, ask: &str) -> u16 {
    let ask = ask.replace("HOST", &bus.served.host);
    kept.write_all(format!("{ask}\r\n").as_bytes())
        .await
        .unwrap();
    first(kept).await
}

/// Reads the next answer; returns its status.
async fn first(kept: &mut TcpStream) -> u16 {
    let mut answer = BufReader::new(kept);
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        answer.read_line(&mut line).await.unwrap();
        let line = line.trim_end().to_lowercase();
        match (line.strip_prefix("http/1.1 "), line.split_once(": ")) {
            (Some(rest), _) => status = rest[..3].parse().unwrap(),
            (_, Some(("content-length", value))) => length = value.parse().unwrap(),
            _ if line.is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body).await.unwrap();
    status
}
