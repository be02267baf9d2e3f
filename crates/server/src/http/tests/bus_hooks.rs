//! The four hooks (docs/design.md#hooks) over HTTP.

use engram_kit::requests::POINTER;

use super::{bus::Bus, bus_team::report, *};

const CHILD: &str = "POST /hook/on_child_response";
const PARENT: &str = "POST /hook/on_parent_broadcast";
const RAG: &str = "POST /hook/on_rag_result";
const SAM: &str = "POST /hook/on_sam_read";

/// The parent's orchestrator passes on its child's message; no agent sends for its parent or for
/// others.
#[tokio::test]
async fn a_childs_response_is_sent_for_it() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let message = report("The gateway retries without jitter.", "One risk.");
    let told = json!({ "agent": "ada", "message": message });
    let sent = bus.ok(&lead, CHILD, told.clone()).await;
    let id = sent["engrams"][0]["id"].as_str().unwrap().to_owned();
    let found = bus
        .ok(&lead, "GET /engram/query?keys=jitter", Value::Null)
        .await;
    assert_eq!(found[0]["id"], json!(id));
    assert_eq!(found[0]["provenance"]["created_by"], "ada");
    let own = report("The queue holds 20 jobs.", "One more.");
    bus.ok(&ada, CHILD, json!({ "message": own })).await;
    for (who, agent, code) in [(&ada, "lead", "NOT_FOUND"), (&lead, "nobody", "NOT_FOUND")] {
        let told = json!({ "agent": agent, "message": report("Another claim.", "One.") });
        let answer = bus.call(who, CHILD, told).await;
        assert_eq!(Bus::code(&answer).1, code);
    }
    let nobody = bus
        .call("TOKEN", CHILD, json!({ "message": told["message"] }))
        .await;
    assert_eq!(Bus::code(&nobody), (404, "NOT_FOUND"));
    // A refusal counts for the child.
    let long = json!({ "agent": "ada", "message": report("A claim.", &"word ".repeat(1_200)) });
    let refused = bus.call(&lead, CHILD, long).await;
    assert_eq!(Bus::code(&refused), (403, "BUDGET_EXCEEDED"));
    let budget = bus.ok("TOKEN", "GET /budget", Value::Null).await;
    let of = |name: &str| {
        let mut all = budget["agents"].as_array().unwrap().iter();
        all.find(|it| it["agent"] == name).unwrap()["refusals"].clone()
    };
    assert_eq!((of("ada"), of("lead")), (json!(1), json!(0)));
}

/// A broadcast without a brief, a pack or budgets gets them, within the limits of a message.
#[tokio::test]
async fn a_broadcast_carries_the_brief() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    for at in 0..10 {
        let claim = format!("Worker {at} retries without jitter.");
        bus.ok(&ada, "POST /message", report(&claim, "One risk."))
            .await;
    }
    let message = json!({ "role": "programmer", "instructions": ["Confirm the retries."] });
    let told = json!({ "agent": "lead", "message": message });
    let sent = bus.ok("TOKEN", PARENT, told.clone()).await;
    let message = &sent["sent"][0]["message"];
    let lines = message["shared_brief_micro"].as_array().unwrap();
    assert!((1..=30).contains(&lines.len()), "{message}");
    assert!(
        lines[0].as_str().unwrap().starts_with("risk by ada: \""),
        "{message}"
    );
    assert_eq!(message["budgets"]["max_repo_spans"], 3);
    assert!(
        !message["target_pointer_pack"]
            .as_array()
            .unwrap()
            .is_empty(),
        "{message}"
    );
    assert!(sent["tokens"].as_u64().unwrap() <= 800);
    // Parts that the message already has stay unchanged.
    let own = json!({ "role": "programmer", "shared_brief_micro": ["Stop."], "target_pointer_pack": [], "budgets": {} });
    let sent = bus.ok(&lead, PARENT, json!({ "message": own })).await;
    assert_eq!(
        sent["sent"][0]["message"]["shared_brief_micro"],
        json!(["Stop."])
    );
    assert_eq!(sent["sent"][0]["message"]["budgets"], json!({}));
    let child = bus.call(&ada, PARENT, told).await;
    assert_eq!(Bus::code(&child), (404, "NOT_FOUND"));
}

/// Retrieval always returns pointers, excerpts while the turn can pay for them, and claims that
/// record which question they answer.
#[tokio::test]
async fn results_of_retrieval_become_pointers() {
    let bus = Bus::new().await;
    let (lead, ada) = bus.family().await;
    let found = |path: &str, content: &str| json!({ "file_path": path, "content": content });
    let results = json!({
        "agent": "ada", "question": "Which function is second?",
        "results": [
            found("src/lib.rs", "fn second() {}\n"), found("./src/lib.rs", "fn first() {}\nfn second() {}"),
            found("src/lib.rs", "not there"), found("gone.rs", "fn second() {}"), found("../x", "a"),
        ],
    });
    let reply = bus.ok(&lead, RAG, results.clone()).await;
    let pointers = reply["pointers"].as_array().unwrap().iter();
    let pointers: Vec<&str> = pointers.map(|it| it.as_str().unwrap()).collect();
    assert_eq!(pointers.len(), 3, "{reply}");
    assert!(pointers[0].starts_with("repo:src/lib.rs#L2@"), "{reply}");
    assert!(pointers[1].starts_with("repo:src/lib.rs#L1-L2@"), "{reply}");
    assert!(pointers[2].starts_with("repo:src/lib.rs@"), "{reply}");
    assert_eq!(reply["excerpts"][0]["excerpt"], "fn second() {}\n");
    let engram = &reply["engrams"][0];
    assert_eq!(engram["provenance"]["source"], "rag");
    assert_eq!(
        engram["claim"],
        "src/lib.rs likely answers \"Which function is second?\""
    );
    assert_eq!(
        (&engram["scope"], &engram["ttl"]),
        (&json!("run"), &json!("P1D"))
    );
    // The turn paid for the excerpts; once its budget is spent, only pointers are returned.
    assert_eq!(reply["excerpts"].as_array().unwrap().len(), 3);
    let denied = bus
        .call(&ada, "POST /pointer/deref", json!({ "pointer": POINTER }))
        .await;
    assert_eq!(Bus::code(&denied), (403, "DEREF_DENIED"));
    let again = bus.ok(&ada, RAG, results).await;
    assert_eq!(
        (
            again["pointers"].as_array().unwrap().len(),
            &again["excerpts"]
        ),
        (3, &json!([]))
    );
    let none = json!({ "question": "Where?", "results": [found("gone.rs", "a")] });
    let none = bus.call(&ada, RAG, none).await;
    assert_eq!(Bus::code(&none), (404, "POINTER_NOT_FOUND"));
}

/// An event is returned as a pointer and its beginning; the whole text counts against the budget.
#[tokio::test]
async fn an_event_is_read_pointer_first() {
    let bus = Bus::new().await;
    let (_, ada) = bus.family().await;
    let text = "We publish on Friday. The rest of the reasons is long, and under the budget.";
    let note =
        json!({ "do": "note", "with": { "kind": "decision", "slug": "publish", "text": text } });
    assert_eq!(bus.served.post("/api/change", note).await.0, 200);
    let read = json!({ "agent": "ada", "kind": "decision", "slug": "publish" });
    let reply = bus.ok("TOKEN", SAM, read).await;
    assert_eq!(reply["pointer"], "sam:decision:publish@2026-01-08");
    assert_eq!(reply["statement"], "We publish on Friday.");
    assert_eq!(
        (&reply["scope"], &reply["ttl"]),
        (&json!("project"), &json!("P90D"))
    );
    // An agent's claim that only repeats what the agent has read is an echo.
    let echo = json!({ "claim": "We publish on FRIDAY", "pointers": [reply["pointer"]] });
    let echo = bus.call(&ada, "POST /engram", echo).await;
    assert_eq!(Bus::code(&echo), (403, "ECHO"));
    let whole = bus
        .ok(
            &ada,
            "POST /pointer/deref",
            json!({ "pointer": reply["pointer"] }),
        )
        .await;
    assert_eq!(
        (&whole["excerpt"], &whole["budget"]["sam_items"]["used"]),
        (&json!(text), &json!(1))
    );
    let gone = bus
        .call(&ada, SAM, json!({ "kind": "decision", "slug": "gone" }))
        .await;
    assert_eq!(Bus::code(&gone), (404, "POINTER_NOT_FOUND"));
}
