//! Every refusal of docs/design.md#what-a-draft-must-have that needs no repository.

use engram_model::{Code, Draft, FactType, Kind, Limits, MemoryOp, NewEngram, Refusal, Scope};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::values::{any_draft, valid_v01};

fn draft_with(key: &str, value: Value) -> Result<NewEngram, Refusal> {
    let mut draft = json!({ "claim": "It holds.", "pointers": ["repo:src/a.rs#L1-L2@HEAD"] });
    draft[key] = value;
    let draft: Draft = serde_json::from_value(draft).unwrap();
    draft.validate(&Limits::default())
}

#[test]
fn what_is_refused_and_why() {
    use Code::*;
    let many: Vec<String> = (0..13).map(|n| format!("repo:{n}@HEAD")).collect();
    for (key, value, code) in [
        ("claim", json!(""), SchemaInvalid),
        ("claim", json!(" \n\t "), SchemaInvalid),
        ("claim", json!("a\0b"), SchemaInvalid),
        ("claim", json!("a\u{0}b"), SchemaInvalid),
        ("claim", json!("x".repeat(501)), ClaimTooLong),
        ("claim", json!("日".repeat(501)), ClaimTooLong),
        ("claim", json!("x".repeat(10_000_000)), ClaimTooLong),
        ("pointers", json!([]), Unanchored),
        ("pointers", json!(many), SchemaInvalid),
        ("pointers", json!(["the ledger"]), PointerInvalid),
        ("pointers", json!(["repo:src/a.rs"]), PointerUnpinned),
        (
            "pointers",
            json!(["repo:a@HEAD", "repo:src/a.rs#L1-L2@"]),
            PointerUnpinned,
        ),
        (
            "pointers",
            json!([{ "type": "repo", "ref": "" }]),
            PointerUnpinned,
        ),
        (
            "pointers",
            json!([{ "type": "repo", "ref": "a@HEAD", "digest": "md5:1" }]),
            PointerInvalid,
        ),
        (
            "pointers",
            json!([{ "type": "repo", "ref": "a@HEAD", "span": "L".repeat(81) }]),
            PointerInvalid,
        ),
        (
            "pointers",
            json!([format!("repo:{}@HEAD", "x".repeat(290))]),
            PointerInvalid,
        ),
        ("confidence", json!(1.0001), SchemaInvalid),
        ("confidence", json!(-1), SchemaInvalid),
        ("confidence", json!(1e300), SchemaInvalid),
        ("ttl", json!("a week"), SchemaInvalid),
        ("ttl", json!("PT0S"), SchemaInvalid),
        ("ttl", json!("-P1D"), SchemaInvalid),
        ("ttl", json!(""), SchemaInvalid),
        ("topic", json!("a//b"), SchemaInvalid),
        ("topic", json!("x".repeat(201)), SchemaInvalid),
        ("topic", json!("a\nb"), SchemaInvalid),
        (
            "tags",
            json!((0..13).map(|n| n.to_string()).collect::<Vec<_>>()),
            SchemaInvalid,
        ),
        (
            "tags",
            json!((0..200_000).map(|n| n.to_string()).collect::<Vec<_>>()),
            SchemaInvalid,
        ),
        ("tags", json!([""]), SchemaInvalid),
        ("tags", json!(["x".repeat(41)]), SchemaInvalid),
        ("tags", json!(["a\nb"]), SchemaInvalid),
        ("agent", json!("x".repeat(81)), SchemaInvalid),
        ("agent", json!("a\u{7}b"), SchemaInvalid),
        ("operation", json!("delete"), SchemaInvalid),
        ("corrects_lineage", json!("the last one"), NotFound),
    ] {
        let refusal = draft_with(key, value.clone()).unwrap_err();
        assert_eq!(
            refusal.code,
            code,
            "{key} {:.80} {refusal}",
            value.to_string()
        );
        assert!(!refusal.message.is_empty() && !refusal.hint.is_empty());
        assert!(refusal.message.chars().count() < 300, "{refusal}");
    }
}

#[test]
fn what_passes_and_as_what() {
    let pass = |key: &str, value: Value| draft_with(key, value).unwrap();
    assert_eq!(pass("claim", json!("  It holds. \n")).claim, "It holds.");
    assert_eq!(
        pass("claim", json!("日".repeat(500))).claim.chars().count(),
        500
    );
    assert_eq!(
        pass("claim", json!("two\nlines\tand a tab")).claim,
        "two\nlines\tand a tab"
    );
    assert_eq!(pass("kind", Value::Null).kind, Kind::Fact);
    assert_eq!(
        pass("kind", json!("decision")).fact_type,
        FactType::Decision
    );
    assert_eq!(
        pass("fact_type", json!("inference")).fact_type,
        FactType::Inference
    );
    assert_eq!(pass("confidence", json!(1)).confidence, 1.0);
    assert_eq!(pass("confidence", Value::Null).confidence, 0.7);
    assert_eq!(pass("ttl", json!("P7D")).ttl.unwrap().to_string(), "P7D");
    assert_eq!(pass("ttl", Value::Null).ttl, None);
    assert_eq!(pass("scope", Value::Null).scope, Scope::Project);
    assert_eq!(
        pass("topic", json!("/payments/webhooks/")).topic,
        "payments/webhooks"
    );
    assert_eq!(pass("tags", json!(["a", " a ", "b"])).tags, ["a", "b"]);
    assert_eq!(pass("tags", json!(vec!["a"; 13])).tags, ["a"]);
    assert_eq!(pass("agent", json!("  ")).agent, None);
    assert_eq!(pass("operation", Value::Null).operation, MemoryOp::Add);
    assert_eq!(pass("corrects_lineage", json!("")).corrects, None);
    let twice = json!(["repo:a#L1-2@HEAD", { "type": "repo", "ref": "a@HEAD", "span": "L1-L2" }]);
    assert_eq!(pass("pointers", twice).pointers.len(), 1);
}

#[test]
fn the_v01_form_is_a_draft_too() {
    let draft: Draft = serde_json::from_value(valid_v01()).unwrap();
    let new = draft.validate(&Limits::default()).unwrap();
    assert_eq!((new.agent.as_deref(), new.pointers.len()), (Some("a1"), 1));
}

#[test]
fn a_wrong_key_is_named() {
    for (draft, says) in [
        (json!({ "claims": "x" }), "`claims`"),
        (
            json!({ "pointers": [{ "type": "repo", "ref": "a@HEAD", "line": 1 }] }),
            "`line`",
        ),
        (json!({ "pointers": [{ "type": "repo" }] }), "`ref`"),
        (
            json!({ "pointers": [{ "type": "file", "ref": "x" }] }),
            "`file`",
        ),
        (json!({ "pointers": [7] }), "a pointer"),
    ] {
        let error = serde_json::from_value::<Draft>(draft.clone()).unwrap_err();
        assert!(error.to_string().contains(says), "{draft}: {error}");
    }
}

proptest! {
    #[test]
    fn well_meant_drafts_pass_and_say_the_same_again(draft in any_draft()) {
        let new = draft.clone().validate(&Limits::default()).unwrap();
        prop_assert!(new.claim.chars().count() <= 500);
        let json = serde_json::to_string(&draft).unwrap();
        let again: Draft = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(again.validate(&Limits::default()).unwrap(), new);
    }

    #[test]
    fn no_draft_panics(
        claim in "(?s).{0,80}", pointer in "(?s).{0,60}", ttl in "(?s).{0,12}",
        topic in "(?s).{0,20}", tag in "(?s).{0,20}", confidence in any::<f64>(),
    ) {
        let draft = Draft {
            claim, pointers: vec![engram_model::PointerInput::Text(pointer)],
            ttl: Some(ttl), topic: Some(topic), tags: vec![tag], confidence: Some(confidence),
            ..Draft::default()
        };
        if let Err(refusal) = draft.validate(&Limits::default()) {
            prop_assert!(!refusal.message.is_empty() && !refusal.hint.is_empty());
        }
    }
}

#[test]
fn of_a_draft_that_retires_only_its_lineage_is_read() {
    let limits = Limits::default();
    let mut draft = Draft {
        operation: Some(MemoryOp::Delete),
        ..Draft::default()
    };
    let refusal = draft.retired_lineage().unwrap_err();
    assert_eq!(draft.clone().validate(&limits).unwrap_err(), refusal);
    assert_eq!(refusal.code, Code::SchemaInvalid);
    let lineage = "01J9Z3N8M6W0X4V5Y7K2QHPRTA";
    draft.corrects_lineage = Some(lineage.to_owned());
    assert_eq!(draft.retired_lineage().unwrap().to_string(), lineage);
    // It says nothing, so it is refused as a claim.
    assert!(draft.validate(&limits).is_err());
}
