//! Every tool as an agent uses it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use engram_engine::World;
use engram_gateway::count_tokens;
use engram_kit::Clock;
use engram_model::{Caller, Draft, PointerInput, Request};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, LEDGER, Sandbox};

const SPAN: &str = "repo:src/ledger.rs#L1-L4@HEAD";

fn finding() -> Value {
    json!({
        "content": "post() stores an entry without looking for an earlier one.",
        "scope": "payments/ledger",
        "confidence": 1,
        "kind": "risk",
        "pointers": [SPAN],
    })
}

#[tokio::test]
async fn what_one_agent_commits_another_finds_and_reads() {
    for era in ERAS {
        let sandbox = Sandbox::new();
        let mut one = Client::open(&sandbox, era).await;
        let mut two = Client::open(&sandbox, era).await;

        let fresh = one.ok("engram_status", json!({})).await;
        assert_eq!(
            (&fresh["engrams"], &fresh["project"]),
            (&json!(0), &json!("repo"))
        );
        assert!(!fresh["next_prompt"].as_str().unwrap().is_empty());

        let stored = one.ok("engram_commit", finding()).await;
        assert_eq!(stored["verified"], true, "{stored}");
        assert_eq!(stored["duplicate"], false, "{stored}");

        let found = two
            .ok(
                "engram_query",
                json!({ "topic": "does post() look for an earlier entry" }),
            )
            .await;
        let engram = &found["engrams"][0];
        assert_eq!(engram["id"], stored["id"], "{found}");
        assert_eq!(engram["by"], "tester");
        assert_eq!(engram["kind"], "risk");
        assert_eq!(engram["has_open_conflict"], false);
        assert_ne!(found["verdict"], "none");

        let pointer = engram["pointers"][0].as_str().unwrap();
        assert!(!pointer.contains("@HEAD"), "{pointer} is pinned");
        let read = two.ok("engram_deref", json!({ "pointer": pointer })).await;
        let lines: String = LEDGER.split_inclusive('\n').take(4).collect();
        assert_eq!(read["excerpt"], lines);
        assert_eq!(read["pointer"], pointer);
        assert_eq!(read["truncated"], false);
        assert!(
            read["content_digest"]
                .as_str()
                .unwrap()
                .starts_with("sha256:")
        );

        let after = two.ok("engram_status", json!({})).await;
        assert_eq!(after["budget"], read["budget"]);
        let left = |status: &Value| status["budget"]["repo_spans"].as_u64().unwrap();
        assert_eq!(left(&after) + 1, left(&fresh), "{after}");
        assert_eq!(after["engrams"], 1);
        // Until the first is heard of again, the second may be its next connection.
        assert_eq!(after["agents"], 1);
        let mut other = finding();
        other["content"] = json!("post() retries twice before it gives up.");
        one.ok("engram_commit", other).await;
        let after = two.ok("engram_status", json!({})).await;
        assert_eq!(after["agents"], 2);
    }
}

/// The test has one thread: a write that waits for another process must not block it.
#[tokio::test]
async fn a_write_that_waits_holds_up_nobody() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Modern).await;
    client.ok("engram_status", json!({})).await;
    let turn = std::fs::File::open(sandbox.path_in_home("write.lock")).unwrap();
    turn.lock().unwrap();
    let claim = json!({ "content": "The ledger waits.", "scope": "ledger", "confidence": 0.9 });
    let params = json!({ "name": "engram_commit", "arguments": claim });
    let commit = client.send("tools/call", params).await;
    client
        .ok("engram_query", json!({ "topic": "ledger" }))
        .await;
    drop(turn);
    assert_eq!(client.answer(commit).await["result"]["isError"], false);
}

#[tokio::test]
async fn a_query_can_be_narrowed() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    client.ok("engram_commit", finding()).await;
    for (narrowing, expected) in [
        (json!({ "scope": "payments" }), 1),
        (json!({ "scope": "payments/ledger" }), 1),
        (json!({ "scope": "pay" }), 0),
        (json!({ "kind": "risk" }), 1),
        (json!({ "kind": "policy" }), 0),
        (json!({ "fact_type": "observation" }), 1),
        (json!({ "fact_type": "decision" }), 0),
        (json!({ "as_of": "2001-01-01" }), 0),
        (json!({ "as_of": "2999-01-01T00:00:00Z" }), 1),
        (json!({ "limit": 1, "include_ephemeral": true }), 1),
        (json!({ "limit": null, "scope": null }), 1),
    ] {
        let mut arguments = narrowing.clone();
        arguments["topic"] = json!("post stores an entry");
        let found = client.ok("engram_query", arguments).await;
        let got = found["engrams"].as_array().unwrap().len();
        assert_eq!(got, expected, "{narrowing}: {found}");
    }
}

#[tokio::test]
async fn a_repeat_is_told_and_a_correction_replaces() {
    let mut client = Client::open(&Sandbox::new(), Era::Legacy).await;
    let first = client.ok("engram_commit", finding()).await;
    let again = client.ok("engram_commit", finding()).await;
    assert_eq!(again["duplicate"], true, "{again}");
    assert_eq!(again["id"], first["id"]);
    assert_eq!(again["committed_at"], first["committed_at"]);
    let told = [&first["memory_op"], &again["memory_op"]];
    assert_eq!(told, ["add", "none"]);

    let mut corrected = finding();
    corrected["content"] = json!("post() looks for an earlier entry since the last change.");
    corrected["operation"] = json!("update");
    corrected["corrects_lineage"] = first["id"].clone();
    let second = client.ok("engram_commit", corrected).await;
    assert_eq!(second["supersedes"], first["id"], "{second}");
    assert_eq!(second["lineage_id"], first["lineage_id"]);
    assert_eq!(second["memory_op"], "update");

    let retire = json!({
        "content": "It is gone.", "scope": "payments/ledger", "confidence": 1,
        "operation": "delete", "corrects_lineage": first["lineage_id"],
    });
    client.ok("engram_commit", retire).await;
    let found = client
        .ok("engram_query", json!({ "topic": "post earlier entry" }))
        .await;
    assert_eq!(found["engrams"], json!([]));
}

#[tokio::test]
async fn a_claim_without_a_pointer_points_at_its_own_event() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Modern).await;
    let claim = "Vendors retry webhooks for 30 days.";
    let base = json!({ "content": claim, "scope": "payments", "confidence": 0.7 });
    let words = "seen in the vendor's dashboard";
    for (provenance, pointers, verified, event) in [
        (Value::Null, json!(null), false, Some(claim.to_owned())),
        (
            json!(words),
            json!([]),
            false,
            Some(format!("{claim}\n\nProvenance: {words}")),
        ),
        (
            json!(words),
            json!([SPAN]),
            true,
            Some(format!("{claim}\n\nProvenance: {words}")),
        ),
        (json!("repo:src/ledger.rs#L2@HEAD"), json!(null), true, None),
    ] {
        let mut arguments = base.clone();
        let content = format!("{claim} ({provenance} {pointers})");
        arguments["content"] = json!(content);
        arguments["provenance"] = provenance;
        arguments["pointers"] = pointers;
        let stored = client.ok("engram_commit", arguments).await;
        assert_eq!(stored["verified"], verified, "{content}");

        let found = client.ok("engram_query", json!({ "topic": content })).await;
        let engrams = found["engrams"].as_array().unwrap();
        let engram = engrams.iter().find(|it| it["id"] == stored["id"]).unwrap();
        let own = engram["pointers"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it.as_str().unwrap().starts_with("sam:claim:"));
        assert_eq!(own.is_some(), event.is_some(), "{engram}");
        if let (Some(own), Some(event)) = (own, event) {
            // Each engram gets a new reader, since one budget is smaller than this table.
            let mut reader = Client::open(&sandbox, Era::Modern).await;
            let read = reader.ok("engram_deref", json!({ "pointer": own })).await;
            assert_eq!(read["excerpt"], event.replacen(claim, &content, 1));
        }
    }
}

#[tokio::test]
async fn an_answer_fits_and_says_what_it_left_out() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        let draft = Draft {
            claim: format!(
                "Finding {n}: {}",
                "the ledger keeps every entry twice ".repeat(12)
            ),
            pointers: (1..=12)
                .map(|line| PointerInput::Text(format!("repo:src/ledger.rs#L{line}@HEAD")))
                .collect(),
            ..Draft::default()
        };
        let engine = Arc::clone(&sandbox.engine);
        let request = Request::Put(Box::new(draft));
        tokio::task::spawn_blocking(move || engine.handle(&Caller::User, request).unwrap())
            .await
            .unwrap();
    }
    let mut client = Client::open(&sandbox, Era::Modern).await;
    let ask = json!({ "topic": "ledger entry twice", "limit": 30 });
    let found = client.ok("engram_query", ask).await;
    let shown = found["engrams"].as_array().unwrap().len();
    assert!(shown >= 3, "{shown}");
    assert_eq!(found["omitted"], json!(30 - shown));
    // The count includes engrams that the limit cuts.
    let ask = json!({ "topic": "ledger entry twice", "limit": 2 });
    let cut = client.ok("engram_query", ask).await;
    assert_eq!(
        (&cut["engrams"][1]["id"], &cut["omitted"]),
        (&found["engrams"][1]["id"], &json!(28))
    );
    let tokens = count_tokens(&found.to_string());
    assert!(tokens <= 4_000, "{shown} engrams in {tokens} tokens");
}

/// The refusal of a list that takes too long says how to ask for less, not to wait and ask again.
#[tokio::test]
async fn an_answer_that_took_too_long_says_how_to_ask_for_less() {
    let (clock, is_slow) = (Clock::default(), Arc::new(AtomicBool::new(false)));
    let slow = Arc::clone(&is_slow);
    // While it is slow, each look at the clock takes longer than a request may.
    let look = move || {
        clock.turn(if slow.load(Ordering::Relaxed) { 6 } else { 0 });
        clock.now()
    };
    let sandbox = Sandbox::within("", World::seeded(1, look));
    for at in 0..120 {
        let draft = Draft {
            claim: format!("Ledger {at} stores an entry."),
            pointers: vec![PointerInput::Text(SPAN.to_owned())],
            ..Draft::default()
        };
        let put = Request::Put(Box::new(draft));
        sandbox.engine.handle(&Caller::User, put).unwrap();
    }
    let mut client = Client::open(&sandbox, Era::Modern).await;
    is_slow.store(true, Ordering::Relaxed);
    let late = client
        .refused("engram_query", json!({ "topic": "ledger entry" }))
        .await;
    let said = late["message"].as_str().unwrap();
    assert!(said.contains("took too long"), "{late}");
    assert_eq!(
        late["hint"],
        "Ask for less: a narrower topic, a more specific question, or a smaller limit."
    );
}

#[tokio::test]
async fn calls_at_once_are_all_answered() {
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        let mut sent = Vec::new();
        for n in 0..15 {
            let commit = json!({
                "content": format!("Fact number {n} about the ledger."),
                "scope": format!("ledger/{n}"), "confidence": 0.9, "pointers": [SPAN],
            });
            for (tool, arguments) in [
                ("engram_commit", commit),
                (
                    "engram_query",
                    json!({ "topic": format!("fact number {n}") }),
                ),
                ("engram_status", json!({})),
            ] {
                let params = json!({ "name": tool, "arguments": arguments });
                sent.push(client.send("tools/call", params).await);
            }
        }
        for id in sent {
            let answer = client.answer(id).await;
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
        let status = client.ok("engram_status", json!({})).await;
        assert_eq!(status["engrams"], 15, "none lost");
        assert_eq!(status["agents"], 1, "one connection is one agent");
    }
}
