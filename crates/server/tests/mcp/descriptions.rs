//! Checks that the descriptions for models keep their essential points as they get shorter, and
//! that these points are true.

use engram_model::Limits;
use serde_json::{Value, json};

use crate::client::{Client, Era, LEDGER, Sandbox, compile};

/// By tool: the words that its description must keep. The empty name stands for the instructions.
fn must_say() -> Vec<(&'static str, Vec<String>)> {
    let limits = Limits::default();
    let say = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let with = |all: &[&str], figures: [String; 1]| [say(all), figures.to_vec()].concat();
    let (few, most) = (limits.query_limit, limits.query_max);
    vec![
        (
            "engram_status",
            say(&["once at the start", "next_prompt", "brief"]),
        ),
        (
            "engram_query",
            with(
                &[
                    "BEFORE you start",
                    "3 per task",
                    "specific",
                    "BAD: \"",
                    "GOOD: \"",
                    "Topic path",
                    "ISO 8601",
                    "verdict",
                    "none: find out",
                    "verified false",
                    "has_open_conflict",
                    "evidence",
                    "omitted",
                ],
                [format!("limit: {few}, at most {most}")],
            ),
        ),
        (
            "engram_commit",
            with(
                &[
                    "verified",
                    "constraint",
                    "side effect",
                    "decision",
                    "failed approach",
                    "5 per task",
                    "BAD: \"",
                    "GOOD: \"",
                    "never paste",
                    "repo:",
                    "#L10-L42@HEAD",
                    "@worktree",
                    "uncommitted",
                    "test:PATH::NAME@HEAD",
                    "payments/webhooks",
                    "0.7",
                    "0.3",
                    "update or delete",
                    "near key",
                    "contradicts, replaces or same",
                    "duplicate",
                    "hint",
                ],
                [format!("{} characters", limits.claim_chars)],
            ),
        ),
        (
            "engram_deref",
            say(&[
                "budget",
                "#L10-L42@HEAD",
                "few lines",
                "truncated",
                "DEREF_DENIED",
                "budget_token",
                "with reason",
            ]),
        ),
        ("engram_promote", say(&["ephemeral", "durable"])),
        (
            "engram_conflicts",
            say(&["contradict", "worst first", "Call before"]),
        ),
        (
            "engram_resolve",
            say(&["checking its sources", "answer near", "winning_claim_id"]),
        ),
        (
            "",
            say(&[
                "engram_status once",
                "Before you work",
                "After each discovery",
                "never pasted",
                "repo:",
                "@HEAD",
                "@worktree",
                "test:PATH::NAME",
                "diff:BASE..HEAD#PATH",
                "artifact:",
                "#sec=",
                "sam:KIND:SLUG@DATE",
                "full pins",
                "new_in_brief",
                "{code, message, hint}",
                "CLAIM_TOO_LONG: ",
                "POINTER_UNPINNED: add @HEAD",
                "POINTER_INVALID: ",
                "POINTER_NOT_FOUND: ",
                "SECRET_DETECTED: ",
                "RATE_LIMITED: wait, or ask for less",
                "DEREF_DENIED: ",
                "SCHEMA_INVALID: ",
                "NOT_FOUND: ",
                "update replaces",
                "delete retires",
                "kept for a day",
                "provenance",
                "needs_reverification",
                "evidence_gone",
                "relaxed",
                "omitted",
            ]),
        ),
    ]
}

async fn instructions(sandbox: &Sandbox) -> String {
    let session = Client::raw(sandbox, Era::Legacy).initialize().await;
    session["instructions"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn nothing_that_a_model_needs_gets_lost() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Legacy).await;
    for (tool, all) in must_say() {
        let words = match tool {
            "" => instructions(&sandbox).await,
            tool => text_of(&client.tool(tool).await),
        };
        for needle in all {
            assert!(
                words.contains(&needle),
                "{tool} no longer says {needle:?}: {words}"
            );
        }
    }
}

#[tokio::test]
async fn limits_are_told_as_the_home_sets_them() {
    let sandbox = Sandbox::with("[limits]\nclaim_chars = 321\nquery_limit = 4\nquery_max = 17\n");
    let mut client = Client::open(&sandbox, Era::Modern).await;
    for (tool, told) in [
        ("engram_commit", "321 characters"),
        ("engram_query", "limit: 4, at most 17"),
    ] {
        let words = text_of(&client.tool(tool).await);
        assert!(words.contains(told), "{words}");
    }
}

#[tokio::test]
async fn a_person_can_read_it_all() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Modern).await;
    let mut text = instructions(&sandbox).await;
    for tool in client.tools().await {
        text.push_str("\n\n");
        text.push_str(&text_of(&tool));
    }
    insta::assert_snapshot!("told", text);
}

/// Renders a tool as lines: its name, its description, each argument, and the reply.
fn text_of(tool: &Value) -> String {
    let mut hints: Vec<&str> = tool["annotations"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|it| it.1 == true)
        .map(|it| it.0.trim_end_matches("Hint"))
        .collect();
    if tool["_meta"]["anthropic/alwaysLoad"] == true {
        hints.push("alwaysLoad");
    }
    let mut lines = vec![
        format!(
            "# {} ({}) {hints:?}",
            tool["name"].as_str().unwrap(),
            tool["title"]
        ),
        tool["description"].as_str().unwrap().to_owned(),
    ];
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array();
    for (name, argument) in schema["properties"].as_object().unwrap() {
        let optional = !required.is_some_and(|all| all.contains(&json!(name)));
        let mark = if optional { "?" } else { "" };
        let says = argument["description"].as_str().unwrap_or_default();
        lines.push(
            format!("  {name}{mark}: {} {says}", words_of_type(argument))
                .trim_end()
                .to_owned(),
        );
    }
    lines.push(format!("=> {}", words_of_type(&tool["outputSchema"])));
    lines.join("\n")
}

/// Returns a type in words.
fn words_of_type(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join("/");
    }
    match schema["type"].as_str().unwrap() {
        "array" => format!("[{}]", words_of_type(&schema["items"])),
        "object" => {
            let both = ["properties", "patternProperties"].map(|it| schema[it].as_object());
            let each = both.into_iter().flatten().flatten();
            let each = each.map(|(names, schema)| format!("{names}: {}", words_of_type(schema)));
            let any = Some(&schema["additionalProperties"]).filter(|it| it.is_object());
            let any = any.map(|it| format!(": {}", words_of_type(it)));
            format!("{{{}}}", each.chain(any).collect::<Vec<_>>().join(", "))
        }
        other => other.to_owned(),
    }
}

/// Returns calls with every argument of every tool, and with arguments that are refused.
fn calls_as_documented(lineage: &Value) -> Vec<(&'static str, Value)> {
    vec![
        ("engram_status", json!({})),
        (
            "engram_query",
            json!({
                "topic": "does post() look for an earlier entry", "scope": "payments", "limit": 50,
                "as_of": "2999-01-01", "fact_type": "observation", "kind": "risk",
                "include_ephemeral": true,
            }),
        ),
        (
            "engram_commit",
            json!({
                "content": "post() stores each entry once.", "scope": "payments/ledger",
                "confidence": 0.7, "kind": "risk", "fact_type": "observation",
                "provenance": "seen in a test", "pointers": ["repo:src/ledger.rs#L1-L4@worktree"],
                "ttl_days": 3, "operation": "update", "corrects_lineage": lineage,
                "durability": "durable", "agent_id": "tester", "beside": { "0000": "same" },
            }),
        ),
        (
            "engram_deref",
            json!({
                "pointer": "repo:src/ledger.rs#L1-L4@HEAD", "max_tokens": 5,
                "budget_token": "none", "reason": "Is the entry looked up?",
            }),
        ),
        (
            "engram_conflicts",
            json!({ "scope": "payments", "status": "all" }),
        ),
        (
            "engram_resolve",
            json!({
                "conflict_id": "01K00000000000000000000000", "resolution_type": "merge",
                "resolution": "Both hold.", "winning_claim_id": lineage, "content": "Both hold.",
            }),
        ),
        ("engram_promote", json!({ "fact_id": lineage })),
    ]
}

#[tokio::test]
async fn all_arguments_are_taken_and_no_others() {
    let mut client = Client::open(&Sandbox::new(), Era::Modern).await;
    let first =
        json!({ "content": "post() stores entries.", "scope": "payments", "confidence": 1 });
    let lineage = client.ok("engram_commit", first).await["lineage_id"].clone();
    let documented = calls_as_documented(&lineage);
    let names: Vec<&str> = documented.iter().map(|it| it.0).collect();
    let listed = client.tools().await;
    assert_eq!(
        listed
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect::<Vec<_>>(),
        names
    );
    for (tool, arguments) in documented {
        let schema = client.tool(tool).await["inputSchema"].clone();
        let (all, one) = compile(&schema);
        let is_valid = |it: &Value| all.validate(it, one).is_ok();
        let given: Vec<&String> = arguments.as_object().unwrap().keys().collect();
        let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(given, known, "{tool}");
        assert!(is_valid(&arguments), "{tool}: {arguments}");
        let result = client.call(tool, arguments.clone()).await;
        let code = &result["structuredContent"]["error"]["code"];
        assert_ne!(code, "SCHEMA_INVALID", "{tool}: {result}");

        let mut more = arguments.clone();
        more["surprise"] = json!(1);
        assert!(!is_valid(&more), "{tool}");
        for name in schema["required"].as_array().into_iter().flatten() {
            let mut less = arguments.clone();
            less.as_object_mut().unwrap().remove(name.as_str().unwrap());
            assert!(!is_valid(&less), "{tool} without {name}");
        }
    }
}

/// Replies also have their optional parts here; [`Client::call`] checks each reply against its
/// schema.
#[tokio::test]
async fn what_replies_add_is_told_as_well() {
    let sandbox = Sandbox::new();
    let mut client = Client::open(&sandbox, Era::Modern).await;
    let claim = json!({
        "content": "post() stores entries.", "scope": "ledger", "confidence": 1,
        "pointers": ["repo:src/ledger.rs#L1-L4@HEAD"],
    });
    client.ok("engram_commit", claim.clone()).await;
    let again = client.ok("engram_commit", claim).await;
    assert_eq!(again["findings"][0]["what"], "duplicate", "{again}");
    sandbox.edit(&LEDGER.replace("store(entry)", "keep(entry)"));
    let found = client
        .ok("engram_query", json!({ "topic": "post entries" }))
        .await;
    let pointer = &found["engrams"][0]["pointers"][0];
    let read = client
        .ok("engram_deref", json!({ "pointer": pointer }))
        .await;
    assert!(read["now"].is_string(), "{read}");
    let status = client.ok("engram_status", json!({})).await;
    assert!(
        status["budget"]["tokens"].is_u64() && status["branch"].is_string(),
        "{status}"
    );
}
