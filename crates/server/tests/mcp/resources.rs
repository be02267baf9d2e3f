//! Engrams as resources: listing shows claims, and reading spends budget.

use engram_model::{Caller, Draft, Pointer, Scope, ask};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Sandbox};

async fn store(client: &mut Client, claim: &str, line: u32) -> String {
    let arguments = json!({
        "content": claim, "scope": "ledger", "confidence": 0.7,
        "pointers": [format!("repo:src/ledger.rs#L{line}@HEAD")],
    });
    let stored = client.ok("engram_commit", arguments).await;
    format!("engram://engram/{}", stored["id"].as_str().unwrap())
}

#[tokio::test]
async fn reading_one_is_a_dereference() {
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        let claim = "Vendors retry webhooks for 30 days. ".repeat(4);
        let uri = store(&mut client, &claim, 2).await;

        let answer = client.request("resources/list", json!({})).await;
        let listed = &answer["result"]["resources"];
        assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
        assert_eq!(listed[1]["uri"], uri);
        assert!(listed[1]["name"].as_str().unwrap().chars().count() <= 81);
        let templates = client.request("resources/templates/list", json!({})).await;
        assert_eq!(
            templates["result"]["resourceTemplates"][0]["uriTemplate"],
            "engram://engram/{id}"
        );

        let answer = client
            .request("resources/read", json!({ "uri": uri }))
            .await;
        let result = &answer["result"];
        if era == Era::Modern {
            assert_eq!(result["cacheScope"], "private", "{result}");
            assert!(result["ttlMs"].is_u64());
        }
        assert_eq!(result["contents"][0]["uri"], uri);
        let text = result["contents"][0]["text"].as_str().unwrap();
        let read: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read["engram"]["claim"], claim.trim());
        assert_eq!(
            read["dereferenced"]["excerpt"],
            "    // Vendors retry for 30 days.\n"
        );
        assert_eq!(read["dereferenced"]["budget"]["repo_spans"], 2, "it spends");
    }
}

#[tokio::test]
async fn the_budget_binds_here_too() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    let uri = store(&mut client, "The ledger keeps entries.", 1).await;
    for _ in 0..3 {
        let answer = client
            .request("resources/read", json!({ "uri": uri }))
            .await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let answer = client
        .request("resources/read", json!({ "uri": uri }))
        .await;
    let error = &answer["error"];
    assert_eq!(error["data"]["code"], "DEREF_DENIED", "{answer}");
    assert!(error["data"]["hint"].is_string());
    let code = error["code"].as_i64().unwrap();
    assert!(
        !(-32_768..=-32_000).contains(&code),
        "{code} is not reserved"
    );
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    for era in ERAS {
        let mut client = Client::open(&Sandbox::new(), era).await;
        let code = match era {
            Era::Legacy => -32002,
            Era::Modern => -32602,
        };
        for uri in [
            "engram://engram/01M7XR6QC30000000000000000",
            "engram://engram/../../etc/passwd",
            "engram://engram/",
            "file:///etc/passwd",
            "",
        ] {
            let answer = client
                .request("resources/read", json!({ "uri": uri }))
                .await;
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
            assert_eq!(answer["error"]["data"]["code"], "NOT_FOUND", "{uri}");
        }
    }
}

#[tokio::test]
async fn what_no_longer_holds_is_not_listed() {
    let mut client = Client::open(&Sandbox::new(), Era::Legacy).await;
    let uri = store(&mut client, "The ledger keeps entries.", 1).await;
    let id = uri.rsplit('/').next().unwrap().to_owned();
    let retire = json!({
        "content": "Gone.", "scope": "ledger", "confidence": 1,
        "operation": "delete", "corrects_lineage": id,
    });
    client.ok("engram_commit", retire).await;
    let answer = client.request("resources/list", json!({})).await;
    let listed = answer["result"]["resources"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "only the brief: {listed:?}");
}

/// Engrams that an agent may not see do not shorten its list.
#[tokio::test]
async fn a_list_goes_on_behind_what_is_hidden() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Modern).await;
    let uri = store(&mut client, "The ledger keeps entries.", 1).await;
    for number in 0..60 {
        let draft = Draft {
            claim: format!("Shelf {number} of the ledger is blue."),
            scope: Some(Scope::Run),
            pointers: vec!["repo:src/ledger.rs@HEAD".parse::<Pointer>().unwrap().into()],
            ..Draft::default()
        };
        sandbox
            .engine
            .ask(&Caller::User, ask::Put(Box::new(draft)))
            .unwrap();
    }
    let answer = client.request("resources/list", json!({})).await;
    let listed = answer["result"]["resources"].as_array().unwrap();
    let uris: Vec<&Value> = listed.iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris, [&json!("engram://brief"), &json!(uri)]);
}
