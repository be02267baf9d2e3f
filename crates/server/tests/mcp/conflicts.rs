//! Two agents contradict each other: what each sees.

use engram_gateway::count_tokens;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Sandbox};
use crate::refusals::names_no_command;

fn claim_of(minutes: u32) -> Value {
    let claim = format!("The wallet lock lasts {minutes} minutes.");
    json!({ "content": claim, "scope": "wallet", "confidence": 0.9 })
}

#[tokio::test]
async fn two_agents_contradict_each_other_and_settle_it() {
    for era in ERAS {
        let sandbox = Sandbox::new();
        let mut one = Client::open(&sandbox, era).await;
        let mut two = Client::open(&sandbox, era).await;
        let none = one.ok("engram_conflicts", json!({})).await;
        assert_eq!(none, json!({ "open": 0, "due": 0, "conflicts": [] }));
        let first = one.ok("engram_commit", claim_of(3)).await;
        assert_eq!(first["conflicts"], 0, "{first}");
        let second = two.ok("engram_commit", claim_of(30)).await;
        assert_eq!(second["conflicts"], 1, "{second}");
        let found = &second["findings"][0];
        assert_eq!(found["what"], "conflict");
        assert_eq!(found["id"], first["id"]);
        assert_eq!(found["claim"], "The wallet lock lasts 3 minutes.");
        let id = found["conflict"].clone();

        let listed = one
            .ok("engram_conflicts", json!({ "scope": "wallet" }))
            .await;
        let told = &listed["conflicts"][0];
        assert_eq!((&listed["open"], &told["id"]), (&json!(1), &id));
        assert_eq!(told["a"]["id"], first["id"], "{told}");
        assert_eq!(told["b"]["id"], second["id"]);
        assert_eq!(told["severity"], found["severity"]);
        let asked = json!({ "topic": "how long does the wallet lock last", "kind": "fact" });
        let answer = one.ok("engram_query", asked).await;
        for engram in answer["engrams"].as_array().unwrap() {
            assert_eq!(engram["has_open_conflict"], true, "{engram}");
            assert_eq!(engram["conflicts"], json!([id]));
        }

        let winner = json!({
            "conflict_id": id, "resolution_type": "winner", "resolution": "Read in code.",
            "winning_claim_id": second["id"],
        });
        let settled = two.ok("engram_resolve", winner.clone()).await;
        assert_eq!(settled["resolved"], true);
        assert_eq!(settled["closed"], json!([first["id"]]));
        assert_eq!(two.ok("engram_resolve", winner).await, settled);
        for (more, code) in [
            (json!({ "resolution_type": "dismissed" }), "ALREADY_SETTLED"),
            (json!({ "resolution_type": "winner" }), "SCHEMA_INVALID"),
            (json!({ "resolution_type": "merge" }), "SCHEMA_INVALID"),
        ] {
            let mut asked = json!({ "conflict_id": id, "resolution": "No." });
            asked["resolution_type"] = more["resolution_type"].clone();
            let refused = one.refused("engram_resolve", asked).await;
            assert_eq!(refused["code"], code, "{more}");
            names_no_command(&refused);
        }
        let left = one.ok("engram_conflicts", json!({})).await;
        assert_eq!(left["open"], 0);
        let done = json!({ "status": "resolved" });
        let done = one.ok("engram_conflicts", done).await;
        assert_eq!(done["conflicts"][0]["settled"]["how"], "winner");
    }
}

/// The reply to a commit asks about claims of others in other words, and takes the answer by key.
#[tokio::test]
async fn an_agent_is_asked_about_near_claims_and_answers() {
    for era in ERAS {
        let sandbox = Sandbox::new();
        let mut one = Client::open(&sandbox, era).await;
        let mut two = Client::open(&sandbox, era).await;
        let claim = |text: &str| json!({ "content": text, "scope": "net", "confidence": 0.9 });
        let alone = one
            .ok(
                "engram_commit",
                claim("The relay service listens on port 8080 behind the proxy."),
            )
            .await;
        assert_eq!(alone["near"], Value::Null);
        let other = "The relay service, behind its proxy, listens on a Unix socket.";
        let second = two.ok("engram_commit", claim(other)).await;
        assert_eq!(second["conflicts"], 0, "{second}");
        let near = &second["near"];
        let tokens = count_tokens(&near.to_string());
        assert!(tokens <= 150, "{tokens} tokens");
        let (key, told) = near["claims"].as_object().unwrap().iter().next().unwrap();
        let told = told.as_str().unwrap();
        assert!(told.starts_with("The relay service listens on port 8080") && told.ends_with(')'));
        assert!(near["ask"].as_str().unwrap().contains("engram_resolve"));
        let answer = |key: &str| json!({ "conflict_id": key, "resolution_type": "contradicts" });
        let refused = one.refused("engram_resolve", answer(key)).await;
        assert_eq!(
            refused["code"], "NOT_FOUND",
            "it was not shown to its author"
        );
        names_no_command(&refused);
        let said = two.ok("engram_resolve", answer(key)).await;
        assert_eq!(said["resolved"], false);
        assert_eq!(said["recorded"], "You contradict it. The user decides.");
        assert!(said["conflict_id"].as_str().unwrap().ends_with(key));
        let listed = one.ok("engram_conflicts", json!({})).await;
        let told = &listed["conflicts"][0];
        assert_eq!(
            (&told["tier"], &told["severity"]),
            (&json!("agent"), &json!("medium"))
        );
        // A key names no conflict to settle.
        let winner = json!({ "conflict_id": key, "resolution_type": "last_writer" });
        let refused = two.refused("engram_resolve", winner).await;
        assert_eq!(refused["code"], "NOT_FOUND");
    }
}

/// What an agent read before it wrote is answered with the commit, without a second call.
#[tokio::test]
async fn a_commit_answers_for_what_was_read_before() {
    for era in ERAS {
        let sandbox = Sandbox::new();
        let mut one = Client::open(&sandbox, era).await;
        let mut two = Client::open(&sandbox, era).await;
        let claim = |text: &str| json!({ "content": text, "scope": "net", "confidence": 0.9 });
        let port = claim("The relay service listens on port 8080 behind the proxy.");
        let id = one.ok("engram_commit", port).await["id"].clone();
        let mut other = claim("Nothing but local files is opened for incoming traffic.");
        other["beside"] = json!({ id.as_str().unwrap(): "contradicts" });
        let refused = two.refused("engram_commit", other.clone()).await;
        assert_eq!(refused["code"], "NOT_FOUND", "two has not read it");
        names_no_command(&refused);
        let asked = json!({ "topic": "where does the relay listen" });
        assert_eq!(two.ok("engram_query", asked).await["engrams"][0]["id"], id);
        let stored = two.ok("engram_commit", other.clone()).await;
        assert_eq!(stored["conflicts"], 1, "{stored}");
        let listed = one.ok("engram_conflicts", json!({})).await;
        let told = &listed["conflicts"][0];
        assert_eq!((&told["a"]["id"], &told["tier"]), (&id, &json!("agent")));
        assert_eq!(stored["findings"][0]["conflict"], told["id"], "{stored}");
        other["beside"] = json!({ id.as_str().unwrap(): "rivals" });
        let refused = two.refused("engram_commit", other).await;
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("contradicts, replaces, same"), "{message}");
    }
}

/// A query asks an agent that wrote neither side about a pair on a topic of high stakes.
#[tokio::test]
async fn a_query_asks_about_what_is_at_stake() {
    for era in ERAS {
        let sandbox = Sandbox::with("[consistency]\nhigh_stakes = [\"net\"]\n");
        let claim = |text: &str| json!({ "content": text, "scope": "net", "confidence": 0.9 });
        for text in [
            "The relay service listens on port 8080 behind the proxy.",
            "The relay service, behind its proxy, listens on a Unix socket.",
        ] {
            let mut author = Client::open(&sandbox, era).await;
            author.ok("engram_commit", claim(text)).await;
        }
        let mut third = Client::open(&sandbox, era).await;
        let asked = json!({ "topic": "where does the relay service listen" });
        let found = third.ok("engram_query", asked.clone()).await;
        let near = &found["near"];
        let tokens = count_tokens(&near.to_string());
        assert!(tokens <= 150, "{tokens} tokens: {near}");
        assert!(near["ask"].as_str().unwrap().contains("engram_resolve"));
        let told = near["claims"].as_str().unwrap();
        assert!(told.contains("port 8080") && told.contains(" | ") && told.contains("socket"));
        let id = &near["conflict_id"];
        let again = third.ok("engram_query", asked).await;
        assert_eq!(again["near"], Value::Null);
        let answer = json!({ "conflict_id": id, "resolution_type": "contradicts" });
        third.ok("engram_resolve", answer).await;
        let listed = third.ok("engram_conflicts", json!({})).await;
        assert_eq!(&listed["conflicts"][0]["id"], id);
    }
}

/// The claims that are shown stay within their tokens, however long they are.
#[tokio::test]
async fn near_claims_that_do_not_fit_are_counted() {
    let sandbox = Sandbox::new();
    let mut last = Value::Null;
    for (n, place) in ["northern", "southern", "eastern", "western", "central"]
        .into_iter()
        .enumerate()
    {
        let mut client = Client::open(&sandbox, ERAS[0]).await;
        let claim = format!(
            "The {place} relay of the gateway keeps every message of a closed session in its spool until the janitor of the proxy has read the journal of the relay, the list of its peers and the table of leases, and only then frees the disk of the gateway for the next session of the same peer, in the order of arrival."
        );
        let claim = json!({
            "content": claim, "scope": "net", "confidence": 0.9, "agent_id": format!("agent {n}"),
        });
        last = client.ok("engram_commit", claim).await;
    }
    let near = &last["near"];
    let tokens = count_tokens(&near.to_string());
    assert!(tokens <= 150, "{tokens} tokens: {last}");
    let shown = near["claims"].as_object().unwrap().len();
    assert_eq!(near["omitted"], 3 - shown, "{near}");
}

/// However many conflicts there are, an answer stays small and counts the rest.
#[tokio::test]
async fn a_long_list_is_cut_to_its_tokens() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, ERAS[0]).await;
    for minutes in 1..=7 {
        client.ok("engram_commit", claim_of(minutes)).await;
    }
    let listed = client.ok("engram_conflicts", json!({})).await;
    let told = listed["conflicts"].as_array().unwrap().len() as u64;
    // Each write reports at most five; the last one's sixth comparison is due.
    assert_eq!((&listed["open"], &listed["due"]), (&json!(20), &json!(1)));
    assert_eq!(told + listed["omitted"].as_u64().unwrap(), 20);
    assert!(told > 3, "{told}");
    assert!(count_tokens(&listed.to_string()) <= 4_000);
}
