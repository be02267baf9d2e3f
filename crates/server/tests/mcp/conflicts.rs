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
