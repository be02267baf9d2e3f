//! Conflicts over the bus, by the user's token and by agents' tokens.

use engram_kit::{Repository, Sandbox, requests::POINTER};

use super::{
    bus::{Bus, token},
    *,
};

const HOLDS: [&str; 2] = [
    "The wallet lock lasts 3 minutes.",
    "The wallet lock lasts 30 minutes.",
];

/// A bus whose home has one conflict between two agents, with the tokens and ids that a test needs.
struct Quarrel {
    bus: Bus,
    ada: String,
    bob: String,
    claims: [String; 2],
    conflict: String,
}

impl Quarrel {
    async fn new() -> Self {
        let bus = Bus::new().await;
        let mut tokens = Vec::new();
        let mut claims = Vec::new();
        let mut found = Value::Null;
        for (name, claim) in ["ada", "bob"].into_iter().zip(HOLDS) {
            let opened = bus
                .ok("TOKEN", "POST /agent", json!({ "name": name }))
                .await;
            tokens.push(token(&opened));
            let said = json!({
                "kind": "fact", "claim": claim, "confidence": 0.8, "pointers": [POINTER],
                "ttl": "P7D", "scope": "project", "topic": "wallet",
            });
            let stored = bus.ok(&token(&opened), "POST /engram", said).await;
            claims.push(stored["id"].as_str().unwrap().to_owned());
            found = stored["findings"][0]["conflict"].clone();
        }
        let [ada, bob] = tokens.try_into().unwrap();
        Self {
            bus,
            ada,
            bob,
            claims: claims.try_into().unwrap(),
            conflict: found.as_str().unwrap().to_owned(),
        }
    }

    fn at(&self) -> String {
        format!("POST /conflicts/{}", self.conflict)
    }

    async fn open(&self) -> Value {
        let listed = self.bus.ok(&self.ada, "GET /conflicts", Value::Null).await;
        listed["open"].clone()
    }
}

/// An agent and the user list, show and settle conflicts. The user takes back the agent's verdict.
#[tokio::test]
async fn conflicts_are_listed_settled_and_opened_again() {
    let quarrel = Quarrel::new().await;
    let bus = &quarrel.bus;
    for who in ["TOKEN", &quarrel.ada, &quarrel.bob] {
        let listed = bus
            .ok(who, "GET /conflicts?topic=wallet&status=open", Value::Null)
            .await;
        assert_eq!(listed["open"], 1);
        let one = bus
            .ok(
                who,
                &format!("GET /conflicts/{}", quarrel.conflict),
                Value::Null,
            )
            .await;
        assert_eq!(one, listed["conflicts"][0]);
        assert_eq!(
            (&one["a"]["id"], &one["b"]["id"]),
            (&json!(quarrel.claims[0]), &json!(quarrel.claims[1]))
        );
        assert_eq!(
            (&one["settled"], &one["allowed"]),
            (&Value::Null, &Value::Null)
        );
    }
    let none = bus
        .ok("TOKEN", "GET /conflicts?topic=ledger", Value::Null)
        .await;
    assert_eq!(none, json!({ "open": 1, "due": 0, "conflicts": [] }));

    let winner = json!({
        "resolution_type": "winner", "resolution": "Read in code.", "winning_claim_id": quarrel.claims[1],
    });
    let settled = bus.ok(&quarrel.bob, &quarrel.at(), winner.clone()).await;
    assert_eq!(settled["conflict"], json!(quarrel.conflict));
    assert_eq!(settled["status"], "resolved");
    assert_eq!(settled["closed"], json!([quarrel.claims[0]]));
    assert_eq!(settled["stored"], json!([]));
    assert!(settled["seq"].is_u64());
    // Repeating a verdict changes nothing; a different verdict is refused.
    assert_eq!(bus.ok(&quarrel.ada, &quarrel.at(), winner).await, settled);
    let other = bus
        .call(
            &quarrel.ada,
            &quarrel.at(),
            json!({ "resolution_type": "dismissed", "resolution": "No." }),
        )
        .await;
    assert_eq!(Bus::code(&other), (409, "ALREADY_SETTLED"));
    let done = bus
        .ok("TOKEN", "GET /conflicts?status=resolved", Value::Null)
        .await;
    assert_eq!(done["conflicts"][0]["settled"]["by"], "bob");
    assert_eq!(done["conflicts"][0]["settled"]["why"], "Read in code.");

    let undone = bus
        .ok("TOKEN", &quarrel.at(), json!({ "resolution_type": "undo" }))
        .await;
    assert_eq!(undone["status"], "open");
    assert_eq!(quarrel.open().await, 1);
    let merge =
        json!({ "resolution_type": "merge", "content": "The wallet lock lasts 3 to 30 minutes." });
    let merged = bus.ok("TOKEN", &quarrel.at(), merge).await;
    assert_eq!(merged["stored"].as_array().unwrap().len(), 1);
    assert_eq!(quarrel.open().await, 0);
}

/// An agent cannot change what a person decided.
#[tokio::test]
async fn an_agent_does_not_undo_a_persons_verdict() {
    let quarrel = Quarrel::new().await;
    let dismissed = json!({ "resolution_type": "dismissed", "resolution": "Both hold." });
    quarrel.bus.ok("TOKEN", &quarrel.at(), dismissed).await;
    for (verdict, status, code) in [
        ("undo", 403, "SCOPE_DENIED"),
        ("last_writer", 409, "ALREADY_SETTLED"),
    ] {
        let asked = json!({ "resolution_type": verdict, "resolution": "No." });
        let answer = quarrel.bus.call(&quarrel.ada, &quarrel.at(), asked).await;
        assert_eq!(Bus::code(&answer), (status, code), "{verdict}");
    }
    let kept = quarrel
        .bus
        .ok("TOKEN", "GET /conflicts?status=dismissed", Value::Null)
        .await;
    assert_eq!(kept["conflicts"][0]["settled"]["by"], "user");
}

/// If two verdicts arrive at once, one is recorded and the other is refused.
#[tokio::test]
async fn of_two_verdicts_at_once_one_stands() {
    let quarrel = Quarrel::new().await;
    let wins = |claim: &str| json!({ "resolution_type": "winner", "resolution": "Mine.", "winning_claim_id": claim });
    let at = quarrel.at();
    let (one, two) = tokio::join!(
        quarrel
            .bus
            .call(&quarrel.ada, &at, wins(&quarrel.claims[0])),
        quarrel
            .bus
            .call(&quarrel.bob, &at, wins(&quarrel.claims[1])),
    );
    let mut statuses = [one.0, two.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{one:?} {two:?}");
    let told = if one.0 == 409 { &one } else { &two };
    assert_eq!(Bus::code(told), (409, "ALREADY_SETTLED"));
    let done = quarrel
        .bus
        .ok("TOKEN", "GET /conflicts?status=resolved", Value::Null)
        .await;
    let by = if one.0 == 200 { "ada" } else { "bob" };
    assert_eq!(done["conflicts"][0]["settled"]["by"], by);
}

/// Nonsense is refused with a code and a hint, and settles nothing.
#[tokio::test]
async fn what_is_no_verdict_is_refused() {
    let quarrel = Quarrel::new().await;
    let verdict = |kind: &str| json!({ "resolution_type": kind, "resolution": "Why." });
    let other = quarrel.claims[0].replace(|c: char| c.is_ascii_digit(), "7");
    for (to, body, status, code) in [
        (quarrel.at(), Value::Null, 400, "SCHEMA_INVALID"),
        (quarrel.at(), json!([]), 400, "SCHEMA_INVALID"),
        (quarrel.at(), json!("winner"), 400, "SCHEMA_INVALID"),
        (quarrel.at(), verdict("best"), 400, "SCHEMA_INVALID"),
        (quarrel.at(), verdict("winner"), 400, "SCHEMA_INVALID"),
        (quarrel.at(), verdict("merge"), 400, "SCHEMA_INVALID"),
        (
            quarrel.at(),
            json!({ "resolution_type": 3 }),
            400,
            "SCHEMA_INVALID",
        ),
        (
            quarrel.at(),
            json!({ "resolution_type": "undo" }),
            404,
            "NOT_FOUND",
        ),
        (
            quarrel.at(),
            json!({ "resolution_type": "dismissed", "by": "user" }),
            400,
            "SCHEMA_INVALID",
        ),
        (
            quarrel.at(),
            json!({ "resolution_type": "winner", "winning_claim_id": other }),
            400,
            "SCHEMA_INVALID",
        ),
        (
            quarrel.at(),
            json!({ "resolution_type": "dismissed", "resolution": "a\u{0}b" }),
            400,
            "SCHEMA_INVALID",
        ),
        (
            quarrel.at(),
            json!({ "resolution_type": "dismissed", "resolution": "x".repeat(2_000) }),
            400,
            "SCHEMA_INVALID",
        ),
        (
            "POST /conflicts/nothing".into(),
            verdict("dismissed"),
            404,
            "NOT_FOUND",
        ),
        (
            format!("POST /conflicts/{}", quarrel.claims[0]),
            verdict("dismissed"),
            404,
            "NOT_FOUND",
        ),
        (
            "GET /conflicts/nothing".into(),
            Value::Null,
            404,
            "NOT_FOUND",
        ),
        (
            "GET /conflicts?status=broken".into(),
            Value::Null,
            400,
            "SCHEMA_INVALID",
        ),
        (
            "GET /conflicts?severity=worst".into(),
            Value::Null,
            400,
            "SCHEMA_INVALID",
        ),
    ] {
        let answer = quarrel.bus.call(&quarrel.ada, &to, body.clone()).await;
        assert_eq!(
            Bus::code(&answer),
            (status, code),
            "{to} {body} {}",
            answer.1
        );
    }
    let huge = json!({ "resolution_type": "dismissed", "resolution": "x".repeat(50 << 20) });
    let answer = quarrel.bus.call(&quarrel.ada, &quarrel.at(), huge).await;
    assert_eq!(Bus::code(&answer), (400, "SCHEMA_INVALID"));
    assert_eq!(quarrel.open().await, 1);
}

/// A caller without a token is refused; an agent of another project finds no conflicts here.
#[tokio::test]
async fn strangers_and_other_projects_see_no_conflict() {
    let quarrel = Quarrel::new().await;
    let show = format!("GET /conflicts/{}", quarrel.conflict);
    let dismissed = json!({ "resolution_type": "dismissed", "resolution": "Gone." });
    for token in ["", "forged", &"0".repeat(64)] {
        for to in ["GET /conflicts", &show, &quarrel.at()] {
            let answer = quarrel.bus.call(token, to, dismissed.clone()).await;
            assert_eq!(Bus::code(&answer), (401, "SCOPE_DENIED"), "{to} {token:?}");
        }
    }
    // The same home, seen from another repository.
    let place = Sandbox::new();
    let elsewhere = place.repo().with_file_name("elsewhere");
    Repository::with(
        elsewhere.clone(),
        &[("src/lib.rs", b"fn other() {}\nfn more() {}\n")],
    );
    let place = Arc::new(place);
    let ours = Bus::at(&place, place.repo()).await;
    let theirs = Bus::at(&place, elsewhere).await;
    let ada = token(
        &ours
            .ok("TOKEN", "POST /agent", json!({ "name": "ada" }))
            .await,
    );
    let eve = token(
        &theirs
            .ok("TOKEN", "POST /agent", json!({ "name": "eve" }))
            .await,
    );
    let mut found = Value::Null;
    for claim in HOLDS {
        let said =
            json!({ "claim": claim, "pointers": [POINTER], "topic": "wallet", "ttl": "P7D" });
        found = ours.ok(&ada, "POST /engram", said).await["findings"][0]["conflict"].clone();
    }
    let conflict = found.as_str().unwrap();
    let (show, settle) = (
        format!("GET /conflicts/{conflict}"),
        format!("POST /conflicts/{conflict}"),
    );
    for (bus, to) in [(&theirs, &show), (&theirs, &settle)] {
        let answer = bus.call(&eve, to, dismissed.clone()).await;
        assert_eq!(Bus::code(&answer), (404, "NOT_FOUND"), "{to}");
    }
    for who in ["TOKEN", &eve] {
        let listed = theirs
            .ok(who, "GET /conflicts?status=all", Value::Null)
            .await;
        assert_eq!(listed, json!({ "open": 0, "due": 0, "conflicts": [] }));
    }
    // An agent of another project cannot settle them in their own repository either.
    let answer = ours.call(&eve, &settle, dismissed).await;
    let (status, _) = Bus::code(&answer);
    assert!(matches!(status, 401 | 403 | 404), "{answer:?}");
    assert_eq!(
        ours.ok("TOKEN", "GET /conflicts", Value::Null).await["open"],
        1
    );
}
