//! The `less_*` toolset (docs/design.md#the-bus-and-its-tools): six tools, with names and codes of
//! their own.

use engram_model::{Caller, Opening, Secret, ask};
use engram_server::Toolset;
use serde_json::{Value, json};

use crate::client::{Client, Sandbox};

const BOTH: &[Toolset] = &[Toolset::Core, Toolset::Less];
const POINTER: &str = "repo:src/ledger.rs#L2@HEAD";

/// A parent and its child, each with a connection of its own.
async fn open_family(sandbox: &Sandbox) -> (Client, Client) {
    let open = |who: &Caller, name: &str, role: &str| {
        let opening = Opening {
            name: name.to_owned(),
            role: Some(role.to_owned()),
            ..Opening::default()
        };
        sandbox.engine.ask(who, ask::OpenAgent(opening)).unwrap()
    };
    let lead = open(&Caller::User, "lead", "architect");
    let ada = open(&Caller::Agent(lead.agent.clone()), "ada", "programmer");
    let client = |token: Secret| Client::with(sandbox, BOTH, Some(token));
    (client(lead.token), client(ada.token))
}

#[tokio::test]
async fn six_tools_in_8_kb_beside_the_core() {
    let sandbox = Sandbox::new();
    let mut alone = Client::with(&sandbox, &[Toolset::Less], None);
    let answer = alone.request("tools/list", json!({})).await;
    let bytes = answer["result"].to_string().len();
    println!("tools/list of less has {bytes} bytes");
    assert!(bytes <= 8 << 10, "{bytes}");
    let mut names: Vec<String> = alone
        .tools()
        .await
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "less_deref_pointer",
            "less_issue_grant",
            "less_promote",
            "less_put_engram",
            "less_query_engrams",
            "less_request_deref"
        ]
    );
    for tool in alone.tools().await {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["outputSchema"]["type"], "object");
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool}");
        }
    }
    let both = Client::with(&sandbox, BOTH, None).tools().await;
    assert_eq!(both.len(), names.len() + 7);
    let core = Client::with(&sandbox, &[Toolset::Core], None).tools().await;
    assert_eq!(core.len(), 7);
}

/// Every read beyond the budget is blocked without a grant
/// (docs/design.md#reads-stay-within-the-budget).
#[tokio::test]
async fn a_child_asks_is_granted_and_reads_and_codes_begin_with_less() {
    let sandbox = Sandbox::new();
    let (mut lead, mut ada) = open_family(&sandbox).await;
    let put = json!({
        "claim": "Vendors retry for 30 days.", "kind": "fact", "pointers": [POINTER], "confidence": 0.9,
        "ttl": "P7D", "scope": "run",
    });
    let stored = ada.ok("less_put_engram", put).await;
    assert_eq!(stored["verified"], true);
    let asked = json!({ "keys": ["vendors", "retry"], "k": 3, "kind": "fact" });
    let found = lead.ok("less_query_engrams", asked).await;
    assert_eq!(found["engrams"][0]["id"], stored["id"]);
    let read = json!({ "pointer": POINTER });
    for _ in 0..3 {
        ada.ok("less_deref_pointer", read.clone()).await;
    }
    let denied = ada.refused("less_deref_pointer", read.clone()).await;
    assert_eq!(denied["code"], "LESS_DEREF_DENIED");
    assert_eq!(denied["figures"]["repo_spans"]["limit"], 3);
    // The same connection, through the core tool
    let core = ada.refused("engram_deref", read.clone()).await;
    assert_eq!(core["code"], "DEREF_DENIED");
    let reason =
        json!({ "pointer": POINTER, "reason": "Is it 30 days?", "intended_use": "A claim." });
    let asked = ada.ok("less_request_deref", reason).await;
    assert_eq!(asked["state"], "waiting");
    assert!(asked["request_id"].is_string());
    let grant = json!({ "child": "ada", "pointer": POINTER, "cap_tokens": 200, "ttl": "PT5M" });
    let own = ada.refused("less_issue_grant", grant.clone()).await;
    assert_eq!(own["code"], "LESS_SCOPE_DENIED");
    let granted = lead.ok("less_issue_grant", grant).await;
    let by_grant = json!({ "pointer": POINTER, "budget_token": granted["budget_token"] });
    let read = ada.ok("less_deref_pointer", by_grant.clone()).await;
    assert!(
        read["content_digest"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    let again = ada.refused("less_deref_pointer", by_grant).await;
    assert_eq!(again["code"], "LESS_DEREF_DENIED");
    // Only a parent promotes.
    let wider = json!({ "id": stored["id"], "scope": "project" });
    let own = ada.refused("less_promote", wider.clone()).await;
    assert_eq!(own["code"], "LESS_SCOPE_DENIED");
    let promoted = lead.ok("less_promote", wider).await;
    assert_eq!(promoted["scope"], "project");
}

#[tokio::test]
async fn each_refusal_has_the_prefix() {
    let sandbox = Sandbox::new();
    let (_lead, mut ada) = open_family(&sandbox).await;
    let put = |change: Value| {
        let mut put = json!({
            "claim": "Vendors retry.", "kind": "fact", "pointers": [POINTER], "confidence": 0.9, "ttl": "P7D",
            "scope": "project",
        });
        for (key, value) in change.as_object().unwrap() {
            put[key] = value.clone();
        }
        put
    };
    for (tool, arguments, code) in [
        (
            "less_put_engram",
            put(json!({ "pointers": [] })),
            "LESS_UNANCHORED",
        ),
        (
            "less_put_engram",
            put(json!({ "claim": "x".repeat(501) })),
            "LESS_CLAIM_TOO_LONG",
        ),
        (
            "less_put_engram",
            put(json!({ "pointers": ["repo:src/ledger.rs#L2"] })),
            "LESS_POINTER_UNPINNED",
        ),
        (
            "less_put_engram",
            put(json!({ "pointers": ["repo:gone.rs@HEAD"] })),
            "LESS_POINTER_NOT_FOUND",
        ),
        (
            "less_put_engram",
            put(json!({ "ttl": null })),
            "LESS_SCHEMA_INVALID",
        ),
        (
            "less_put_engram",
            put(json!({ "scope": "global" })),
            "LESS_SCOPE_DENIED",
        ),
        ("less_query_engrams", json!({}), "LESS_SCHEMA_INVALID"),
        (
            "less_query_engrams",
            json!({ "keys": ["wallet"], "k": 13 }),
            "LESS_SCHEMA_INVALID",
        ),
        (
            "less_query_engrams",
            json!({ "keys": ["wallet"], "k": 0 }),
            "LESS_SCHEMA_INVALID",
        ),
        (
            "less_request_deref",
            json!({ "pointer": POINTER, "reason": " " }),
            "LESS_SCHEMA_INVALID",
        ),
        (
            "less_issue_grant",
            json!({ "child": "nobody", "pointer": POINTER }),
            "LESS_NOT_FOUND",
        ),
    ] {
        let error = ada.refused(tool, arguments).await;
        assert_eq!(error["code"], code, "{tool}: {error}");
        assert!(error["hint"].is_string(), "{error}");
    }
    let keys = ada
        .refused("less_query_engrams", json!({ "keys": 5 }))
        .await;
    let want = "argument keys: expected a list of strings, or a string";
    assert_eq!(keys["message"], want);
}
