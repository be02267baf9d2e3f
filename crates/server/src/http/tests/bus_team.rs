//! Messages and briefs over the bus.

use engram_kit::requests::POINTER;

use super::{bus::Bus, *};

pub(super) fn report(claim: &str, summary: &str) -> Value {
    json!({
        "role": "programmer", "task_status": "done",
        "engrams": [{
            "kind": "risk", "claim": claim, "confidence": 0.8, "ttl": "P7D", "scope": "project",
            "pointers": [POINTER],
        }],
        "output": { "summary": summary },
    })
}

const ORDER: &str = "ROLE: programmer\nSHARED_BRIEF_MICRO:\n  - \"Goal: bounded retries.\"\nBUDGETS:\n  max_repo_spans: 1\nGRANTS:\n  - budget_token: \"\"\n    pointer: { type: \"repo\", ref: \"repo:src/lib.rs#L1-L3@HEAD\" }\n    cap_tokens: 300\nINSTRUCTIONS:\n  - \"Confirm the retries.\"\n";

/// A parent instructs its child, which uses its grant, reports, and must resend once.
#[tokio::test]
async fn a_task_runs_through_messages_over_http() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let (status, told) = bus.send(&lead, "POST /message", ORDER.as_bytes()).await;
    assert_eq!(
        (status, &told["sent"][0]["to"]),
        (200, &json!("ada")),
        "{told}"
    );
    let grant = &told["sent"][0]["message"]["grants"][0];
    // The parent's budget narrows the child's turn; its grant goes beyond that budget.
    bus.ok(&ada, "POST /pointer/deref", json!({ "pointer": POINTER }))
        .await;
    let denied = bus
        .call(&ada, "POST /pointer/deref", json!({ "pointer": POINTER }))
        .await;
    assert_eq!(Bus::code(&denied), (403, "DEREF_DENIED"));
    assert_eq!(
        denied.1["error"]["figures"]["repo_spans"],
        json!({ "used": 1, "limit": 1 })
    );
    let granted = json!({ "pointer": grant["pointer"], "budget_token": grant["budget_token"] });
    let read = bus.ok(&ada, "POST /pointer/deref", granted).await;
    assert!(read["excerpt"].as_str().unwrap().contains("second"));
    // The refusal of a long message is linked to the shorter message that follows it.
    let long = report("The retries have no bound.", &"word ".repeat(1_200));
    let refused = bus.call(&ada, "POST /message", long).await;
    assert_eq!(Bus::code(&refused), (403, "BUDGET_EXCEEDED"));
    let skeleton = refused.1["error"]["skeleton"].clone();
    let sent = bus.ok(&ada, "POST /message", skeleton).await;
    assert_eq!(sent["resend_of"], refused.1["error"]["refusal"]);
    assert_eq!(sent["engrams"][0]["verified"], true);
    // A message with its recipient beside it, which a child may not send.
    let order = json!({ "role": "programmer", "instructions": ["Look again."] });
    let beside = json!({ "message": order, "to": "ada" });
    let told = bus.ok(&lead, "POST /message", beside.clone()).await;
    assert_eq!(told["sent"][0]["to"], "ada");
    let own = bus.call(&ada, "POST /message", beside).await;
    assert_eq!(Bus::code(&own), (403, "SCOPE_DENIED"));
    let budget = bus.ok(&lead, "GET /budget", Value::Null).await;
    assert_eq!(budget["delivered"]["resend_rate"], json!(1.0 / 3.0));
    assert!(budget["delivered"]["share"].as_f64().unwrap() > 0.0);
}

/// A parent broadcasts a brief of at most 30 lines (docs/design.md#messages-stay-small). Each agent
/// reads a brief of its own.
#[tokio::test]
async fn the_brief_is_read_over_http() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    bus.ok(
        &ada,
        "POST /message",
        report("The gateway retries without jitter.", "One risk."),
    )
    .await;
    let brief = bus.ok(&lead, "GET /brief", Value::Null).await;
    let lines = brief["lines"].as_array().unwrap();
    assert!(lines.len() <= 30 && brief["tokens"].as_u64().unwrap() <= 800);
    let risk = lines.iter().find(|it| it["part"] == "risk").unwrap();
    assert_eq!(
        risk["text"],
        "risk by ada: \"The gateway retries without jitter.\""
    );
    // The brief is composed for the caller.
    let own = bus.ok(&ada, "GET /brief", Value::Null).await;
    assert_ne!(own, brief);
}

/// The metrics, under the names that outside programs know (docs/design.md#what-messages-save), for
/// the user alone.
#[tokio::test]
async fn what_happened_is_counted_for_prometheus() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    bus.ok(
        &ada,
        "POST /message",
        report("The gateway retries without jitter.", "One risk."),
    )
    .await;
    for _ in 0..3 {
        bus.ok(&ada, "POST /pointer/deref", json!({ "pointer": POINTER }))
            .await;
    }
    bus.call(&ada, "POST /pointer/deref", json!({ "pointer": POINTER }))
        .await;
    bus.ok(
        &ada,
        "POST /request",
        json!({ "pointer": POINTER, "reason": "Is it locked?" }),
    )
    .await;
    bus.ok(
        &lead,
        "POST /grant",
        json!({ "to": "ada", "pointer": POINTER }),
    )
    .await;
    bus.ok(&ada, "GET /engram/query?keys=gateway", Value::Null)
        .await;
    let head = "GET /metrics HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer TOKEN";
    let (status, head, text) = bus.served.ask(head, b"").await;
    assert_eq!(status, 200, "{text}");
    assert!(
        head.contains("content-type: text/plain; version=0.0.4"),
        "{head}"
    );
    for line in [
        "less_engram_put_total 1",
        "less_engram_query_total 1",
        "less_deref_request_total 1",
        "less_deref_grant_total 1",
        "less_budget_reject_total 1",
        "less_derefs_per_turn{role=\"programmer\"} 3",
        "less_engrams{kind=\"risk\"} 1",
        "less_contradiction_rate 0",
        "less_resend_rate 0",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(
        text.contains("\nless_inline_tokens_per_turn{role=\"programmer\"} "),
        "{text}"
    );
    let agent = bus.call(&ada, "GET /metrics", Value::Null).await;
    assert_eq!(Bus::code(&agent), (403, "SCOPE_DENIED"));
}

/// Each call of an agent is recorded with its outcome and its duration, without the agent's words.
#[tokio::test]
async fn calls_are_kept_without_their_words() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let grant = json!({ "to": "ada", "pointer": POINTER });
    let token = bus.ok(&lead, "POST /grant", grant).await["budget_token"].clone();
    let read = json!({ "pointer": POINTER, "max_tokens": 90, "budget_token": token });
    bus.ok(&ada, "POST /pointer/deref", read.clone()).await;
    bus.call(&ada, "POST /pointer/deref", read).await;
    bus.ok(
        &ada,
        "POST /message",
        report("Only the wallet knows 4711.", "One."),
    )
    .await;
    let kept = std::fs::read_to_string(bus.place.home().join("calls.jsonl")).unwrap();
    let calls: Vec<Value> = kept
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let told: Vec<[&str; 3]> = calls
        .iter()
        .map(|it| ["agent", "do", "outcome"].map(|key| it[key].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ["lead", "open_agent", "ok"],
            ["lead", "issue_grant", "ok"],
            ["ada", "deref", "ok"],
            ["ada", "deref", "DEREF_DENIED"],
            ["ada", "send", "ok"],
        ]
    );
    assert_eq!(calls[2]["with"]["max_tokens"], 90);
    assert!(
        calls
            .iter()
            .all(|it| it["micros"].is_u64() && it["at"].is_string())
    );
    for secret in [token.as_str().unwrap(), &ada, &lead, "wallet", "src/lib.rs"] {
        assert!(!kept.contains(secret), "{secret}");
    }
}
