//! Tests which messages pass and which are refused.
#![allow(clippy::unwrap_used)]

mod criteria;
mod refusals;

use engram_model::{Code, Limits, Refusal};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::check_message;

/// Returns the tokens of a message that meets its contract.
fn validate_message(message: &Value, limits: &Limits) -> Result<usize, Refusal> {
    check_message(message, limits).map(|it| it.tokens)
}

fn engram() -> Value {
    json!({
        "kind": "risk",
        "claim": "The budget rules of the spec contradict the reservation flow of the gateway.",
        "confidence": 0.72, "ttl": "P7D", "scope": "project",
        "pointers": [
            { "type": "artifact", "ref": "artifact:SPEC_Budget.md#sec=Rules@HEAD" },
            "repo:services/gateway/vendor_client.py#L280-L360@HEAD"
        ]
    })
}

fn child() -> Value {
    json!({
        "role": "programmer", "task_status": "blocked", "engrams": [engram()],
        "pointer_pack": [{ "type": "repo", "ref": "repo:a/b.py#L900-L1060@HEAD" }],
        "deref_requests": [{
            "pointer": { "type": "repo", "ref": "repo:services/ledger/reservation.py#L1-L220@HEAD" },
            "reason": "Need to confirm reservation atomicity behavior."
        }],
        "output": {
            "summary": "Top risks identified; need deref grant for ledger code.",
            "next": "Await grant or alternative pointers."
        }
    })
}

fn parent() -> Value {
    json!({
        "role": "architect",
        "shared_brief_micro": [
            "Goal: implement Engram Bus with 5% context rule; pointer-first only.",
            "Hard constraint: budget enforcement in gateway; reject oversize."
        ],
        "budgets": { "max_engrams": 10, "max_repo_spans": 3, "max_sam_items": 2, "max_inline_tokens": 800 },
        "grants": [{
            "budget_token": "g-1",
            "pointer": { "type": "repo", "ref": "repo:services/ledger/reservation.py#L1-L220@HEAD" },
            "cap_tokens": 500
        }],
        "target_pointer_pack": [{ "type": "artifact", "ref": "artifact:SPEC.md#sec=Budgets@HEAD" }],
        "instructions": ["Confirm atomicity + idempotency; emit 3-5 Engrams max; no inline code."]
    })
}

/// Returns `message` with the value at a JSON pointer replaced, added, or (null) removed.
fn with(mut message: Value, path: &str, value: Value) -> Value {
    let (within, key) = path.rsplit_once('/').unwrap();
    match message.pointer_mut(within).unwrap() {
        Value::Object(fields) if value.is_null() => drop(fields.remove(key)),
        Value::Object(fields) => drop(fields.insert(key.to_owned(), value)),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        _ => unreachable!(),
    }
    message
}

fn refused(message: &Value, code: Code, says: &str) {
    let refusal = validate_message(message, &Limits::default()).unwrap_err();
    assert_eq!(
        refusal.code,
        code,
        "{refusal}: {:.300}",
        message.to_string()
    );
    assert!(
        refusal.message.contains(says),
        "{refusal} does not say {says:?}"
    );
    assert!(!refusal.hint.is_empty() && refusal.message.chars().count() < 500);
}

#[test]
fn messages_of_the_contract_pass_and_cost_their_compact_json() {
    let full = json!({
        "id": "01J9Z3N8M6W0X4V5Y7K2QHPRTA", "kind": "fact", "claim": "It holds.",
        "pointers": [{ "type": "sam", "ref": "sam:decision:publish@2026-01-08", "digest": "0".repeat(64) }],
        "confidence": 1, "ttl": "PT6H", "scope": "run", "tags": ["a"], "hash_keys": ["holds"],
        "embedding_ref": "e1",
        "provenance": { "created_at": "2026-01-08T10:00:00Z", "created_by": "a1", "source": "agent" }
    });
    for message in [
        child(),
        parent(),
        with(child(), "/engrams/0", full),
        with(child(), "/engrams", json!([])),
        with(child(), "/pointer_pack", Value::Null),
        with(child(), "/output/next", Value::Null),
        json!({ "role": "r", "instructions": [] }),
        with(parent(), "/shared_brief_micro", json!(vec!["line"; 30])),
        with(
            child(),
            "/output/summary",
            json!("Set `max_retries = 3` in `limits.toml`."),
        ),
    ] {
        let tokens = validate_message(&message, &Limits::default()).unwrap();
        assert_eq!(tokens, crate::count_tokens(&message.to_string()));
    }
}

#[test]
fn wrong_shapes_name_the_key() {
    for (message, says) in [
        (json!([]), "not a JSON object"),
        (json!("x"), "not a JSON object"),
        (json!({}), "no key"),
        (json!({ "role": "x" }), "no key"),
        (json!({ "summary": "x" }), "no key"),
        (with(child(), "/budgets", json!({})), "`budgets`"),
        (with(child(), "/extra", json!(1)), "`extra`"),
        (with(parent(), "/extra", json!(1)), "`extra`"),
        (with(child(), "/role", Value::Null), "`role`"),
        (with(child(), "/task_status", Value::Null), "`task_status`"),
        (with(child(), "/output", Value::Null), "`output`"),
        (with(child(), "/output/summary", Value::Null), "`summary`"),
        (with(child(), "/output/more", json!("x")), "`more`"),
        (with(child(), "/role", json!(3)), "`role`"),
        (with(child(), "/engrams", json!({})), "`engrams`"),
        (
            with(child(), "/engrams/0/confidence", json!("high")),
            "`engrams[0].confidence`",
        ),
        (
            with(child(), "/engrams/0/kind", json!("rumour")),
            "`engrams[0].kind`",
        ),
        (with(child(), "/engrams/0/surprise", json!(1)), "`surprise`"),
        (
            with(child(), "/engrams/0/pointers/0/line", json!(1)),
            "`engrams[0].pointers[0].line`",
        ),
        (
            with(child(), "/pointer_pack/0", json!(7)),
            "`pointer_pack[0]`",
        ),
        (with(child(), "/pointer_pack/0/ref", Value::Null), "`ref`"),
        (
            with(child(), "/deref_requests/0/reason", Value::Null),
            "`reason`",
        ),
        (
            with(parent(), "/budgets/max_engrams", json!(-1)),
            "`budgets.max_engrams`",
        ),
        (
            with(parent(), "/grants/0/cap_tokens", json!("all")),
            "`grants[0].cap_tokens`",
        ),
        (
            with(parent(), "/instructions/0", json!({})),
            "`instructions[0]`",
        ),
        (with(child(), "/engrams/0/ttl", Value::Null), "`ttl`"),
        (with(child(), "/engrams/0/scope", Value::Null), "`scope`"),
        (with(child(), "/engrams/0/kind", Value::Null), "`kind`"),
        (
            with(child(), "/engrams/0/confidence", Value::Null),
            "`confidence`",
        ),
        (
            with(child(), "/engrams/0/confidence", json!(1.5)),
            "`engrams[0]`",
        ),
        (
            with(child(), "/engrams/0/ttl", json!("a week")),
            "`engrams[0]`",
        ),
        (
            with(child(), "/engrams/0/claim", Value::Null),
            "`engrams[0]`",
        ),
    ] {
        refused(&message, Code::SchemaInvalid, says);
    }
}

#[test]
fn engrams_and_pointers_are_held_to_their_own_codes() {
    let unpinned = json!("repo:src/a.rs#L1-L2");
    for (path, value, code, says) in [
        (
            "/engrams/0/pointers",
            json!([]),
            Code::Unanchored,
            "`engrams[0]`",
        ),
        (
            "/engrams/0/pointers",
            Value::Null,
            Code::Unanchored,
            "`engrams[0]`",
        ),
        (
            "/engrams/0/claim",
            json!("c ".repeat(300) + "."),
            Code::ClaimTooLong,
            "`engrams[0]`",
        ),
        (
            "/engrams/0/pointers/0",
            unpinned.clone(),
            Code::PointerUnpinned,
            "`engrams[0]`",
        ),
        (
            "/pointer_pack/0",
            unpinned.clone(),
            Code::PointerUnpinned,
            "`pointer_pack[0]`",
        ),
        (
            "/pointer_pack/0",
            json!("repo:../x@HEAD"),
            Code::PointerInvalid,
            "`pointer_pack[0]`",
        ),
        (
            "/pointer_pack/0",
            json!("the ledger"),
            Code::PointerInvalid,
            "`pointer_pack[0]`",
        ),
        (
            "/deref_requests/0/pointer",
            unpinned,
            Code::PointerUnpinned,
            "`deref_requests[0]`",
        ),
    ] {
        refused(&with(child(), path, value), code, says);
    }
    for (path, place) in [
        ("/grants/0/pointer", "`grants[0]`"),
        ("/target_pointer_pack/0", "`target_pointer_pack[0]`"),
    ] {
        let message = with(parent(), path, json!("repo:src/a.rs"));
        refused(&message, Code::PointerUnpinned, place);
    }
}

#[test]
fn what_is_too_big_says_so_whatever_else_is_wrong() {
    let long = "word ".repeat(1200);
    let engrams = Value::Array(vec![
        json!({
            "kind": "fact", "claim": "x", "confidence": 1, "ttl": "P1D", "scope": "run",
            "pointers": ["repo:a@HEAD"]
        });
        13
    ]);
    for (message, says) in [
        (
            with(child(), "/output/summary", json!(long)),
            "tokens; the limit is 800",
        ),
        (
            with(child(), "/engrams/0/claim", json!(long)),
            "tokens; the limit is 800",
        ),
        (
            with(parent(), "/instructions/0", json!(long)),
            "tokens; the limit is 800",
        ),
        (
            with(parent(), "/shared_brief_micro", json!(vec![&long; 31])),
            "bytes",
        ),
        (
            with(child(), "/output/summary", json!("x".repeat(10_000_000))),
            "bytes",
        ),
        (
            with(child(), "/nonsense", json!(long.repeat(1000))),
            "bytes",
        ),
        (json!(vec![0; 1_000_000]), "bytes"),
        (
            with(child(), "/engrams", engrams),
            "13 engrams; the limit is 12",
        ),
        (
            with(parent(), "/shared_brief_micro", json!(vec!["line"; 31])),
            "31 lines; the limit is 30",
        ),
        (
            with(parent(), "/shared_brief_micro", json!(["a\n".repeat(31)])),
            "31 lines; the limit is 30",
        ),
        (
            with(parent(), "/shared_brief_micro", json!(vec![""; 31])),
            "31 lines",
        ),
    ] {
        refused(&message, Code::BudgetExceeded, says);
    }
}

#[test]
fn inline_code_needs_a_grant_wherever_it_stands() {
    let code = "def reserve(n):\n    return self.left - n";
    for (message, path) in [
        (child(), "/output/summary"),
        (child(), "/output/next"),
        (child(), "/task_status"),
        (child(), "/engrams/0/claim"),
        (child(), "/deref_requests/0/reason"),
        (parent(), "/instructions/0"),
        (parent(), "/shared_brief_micro/1"),
    ] {
        let message = with(message, path, json!(code));
        refused(
            &message,
            Code::BudgetExceeded,
            "characters of inline code; the limit is 0",
        );
        let mut granted = Limits::default();
        granted.message.inline_code_chars = 100;
        assert!(validate_message(&message, &granted).is_ok());
    }
    let spread = json!(["def reserve(n):", "    return self.left - n"]);
    let message = with(parent(), "/instructions", spread);
    refused(&message, Code::BudgetExceeded, "inline code");
    let a_word_to_a_line = "def total ( rows ) : s = 0 for r in rows : s += r . n * 2 return s";
    let a_word_to_a_line: Vec<&str> = a_word_to_a_line.split(' ').collect();
    let message = with(parent(), "/instructions", json!(a_word_to_a_line));
    refused(&message, Code::BudgetExceeded, "inline code");
}

#[test]
fn depth_is_refused_without_recursion() {
    let mut deep = json!(0);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    refused(
        &with(child(), "/engrams", deep),
        Code::SchemaInvalid,
        "nests deeper",
    );
}

#[test]
fn a_limit_that_is_configured_holds() {
    let mut limits = Limits::default();
    limits.message.inline_tokens = 50;
    let refusal = validate_message(&child(), &limits).unwrap_err();
    assert_eq!(refusal.code, Code::BudgetExceeded);
    limits.message.inline_tokens = usize::MAX;
    assert!(validate_message(&child(), &limits).is_ok());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(?s).{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,12}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_message_panics(
        value in any_json(),
        at in prop::sample::select(vec![
            "/role", "/engrams", "/engrams/0", "/engrams/0/claim", "/engrams/0/pointers/0",
            "/pointer_pack/0/ref", "/deref_requests/0", "/output", "/output/summary",
        ]),
    ) {
        let _ = validate_message(&value, &Limits::default());
        let message = with(child(), at, value);
        if let Err(refusal) = validate_message(&message, &Limits::default()) {
            prop_assert!(!refusal.message.is_empty() && !refusal.hint.is_empty());
        }
    }
}
