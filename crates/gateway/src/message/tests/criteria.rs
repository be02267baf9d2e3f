//! Tests the acceptance criteria (docs/design.md#acceptance-criteria) that are decided in this
//! crate, each in a test of that name. The crates for storage, time and the window test the others.

use engram_model::{Code, DerefLimits, Limits, PointerType, Spend};
use serde_json::{Value, json};

use super::{child, parent, validate_message, with};
use crate::{admit_by_budget, charge, line_count};

fn code(message: &Value) -> Option<Code> {
    let refused = validate_message(message, &Limits::default()).err();
    assert!(refused.as_ref().is_none_or(|it| !it.hint.is_empty()));
    refused.map(|it| it.code)
}

// docs/design.md#messages-stay-small, docs/design.md#reads-stay-within-the-budget

#[test]
fn message_with_1200_inline_tokens_is_budget_exceeded() {
    let summary = "word ".repeat(1200);
    let message = with(child(), "/output/summary", json!(summary));
    assert_eq!(code(&message), Some(Code::BudgetExceeded));
}

#[test]
fn fourth_repo_deref_without_grant_is_deref_denied() {
    let limits = DerefLimits::default();
    let mut spent = Spend::default();
    for _ in 0..3 {
        assert!(admit_by_budget(&limits, &spent, PointerType::Repo).is_ok());
        spent = charge(spent, PointerType::Repo, 100);
    }
    let refusal = admit_by_budget(&limits, &spent, PointerType::Repo).unwrap_err();
    assert_eq!(refusal.code, Code::DerefDenied);
    let figure = refusal.remedy.unwrap().figures["repo_spans"];
    assert_eq!((figure.used, figure.limit), (3, 3));
}

#[test]
fn inline_code_without_grant_is_rejected() {
    let message = with(child(), "/output/summary", json!("fn a() { b(); c(); }"));
    assert_eq!(code(&message), Some(Code::BudgetExceeded));
}

// docs/design.md#claims-stay-anchored

#[test]
fn pointer_missing_sha_is_rejected() {
    for pointer in [
        json!("repo:src/a.rs"),
        json!({ "type": "repo", "ref": "repo:src/a.rs#L1-L2" }),
    ] {
        for place in [
            "/engrams/0/pointers/0",
            "/pointer_pack/0",
            "/deref_requests/0/pointer",
        ] {
            let message = with(child(), place, pointer.clone());
            assert_eq!(code(&message), Some(Code::PointerUnpinned), "{place}");
        }
    }
    // Nothing follows the @
    let message = with(child(), "/pointer_pack/0", json!("repo:src/a.rs#L1-L2@"));
    assert!(matches!(
        code(&message),
        Some(Code::PointerUnpinned | Code::PointerInvalid)
    ));
}

#[test]
fn engram_without_pointers_is_rejected() {
    for pointers in [json!([]), Value::Null] {
        assert_eq!(
            code(&with(child(), "/engrams/0/pointers", pointers)),
            Some(Code::Unanchored)
        );
    }
}

#[test]
fn engram_over_length_is_rejected() {
    let claim = json!("c".repeat(501));
    assert_eq!(
        code(&with(child(), "/engrams/0/claim", claim)),
        Some(Code::ClaimTooLong)
    );
}

// docs/design.md#messages-stay-small

#[test]
fn shared_brief_micro_is_at_most_30_lines() {
    for (lines, want) in [(30, None), (31, Some(Code::BudgetExceeded))] {
        let brief = vec!["line"; lines];
        assert_eq!(line_count(&brief.join("\n")), lines);
        assert_eq!(
            code(&with(parent(), "/shared_brief_micro", json!(brief))),
            want
        );
    }
}

#[test]
fn oversized_messages_are_rejected_and_resent_in_compliant_format() {
    let message = with(child(), "/output/summary", json!("word ".repeat(1200)));
    let refusal = validate_message(&message, &Limits::default()).unwrap_err();
    let resend = refusal.remedy.unwrap().skeleton.unwrap();
    assert_eq!(code(&resend), None);
}

// docs/design.md#claims-stay-anchored, docs/design.md#evidence-stays-traceable

#[test]
fn every_decision_and_risk_engram_includes_pointers() {
    for kind in ["decision", "risk"] {
        let message = with(child(), "/engrams/0/kind", json!(kind));
        assert_eq!(code(&message), None);
        assert_eq!(
            code(&with(message, "/engrams/0/pointers", json!([]))),
            Some(Code::Unanchored)
        );
    }
}

#[test]
fn a_contradiction_is_a_single_risk_engram_referencing_both_sources() {
    let both = json!([
        "repo:docs/spec.md#L1-L9@HEAD",
        "repo:src/gateway.rs#L40-L60@HEAD"
    ]);
    let message = with(child(), "/engrams/0/pointers", both);
    assert_eq!(message["engrams"].as_array().unwrap().len(), 1);
    assert_eq!(code(&message), None);
}
