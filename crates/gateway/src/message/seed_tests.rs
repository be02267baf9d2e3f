//! The lines of seed 000, sections 10 and 11, and of seed 001, section 15, that are decided here, each
//! as a test of that name. Those about storage, time and the window are where those are.
#![allow(clippy::unwrap_used)]

use engram_model::{Code, DerefLimits, Limits, PointerType, Spend};
use serde_json::{Value, json};

use super::tests::{child, parent, with};
use crate::{admit, charge, line_count, validate_message};

fn code(message: &Value) -> Option<Code> {
    let refused = validate_message(message, &Limits::default()).err();
    assert!(refused.as_ref().is_none_or(|it| !it.hint.is_empty()));
    refused.map(|it| it.code)
}

// Seed 000, 11.1

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
        assert!(admit(&limits, &spent, PointerType::Repo).is_ok());
        spent = charge(spent, PointerType::Repo, 100);
    }
    let refusal = admit(&limits, &spent, PointerType::Repo).unwrap_err();
    assert_eq!(refusal.code, Code::DerefDenied);
    let figure = refusal.remedy.unwrap().figures["repo_spans"];
    assert_eq!((figure.used, figure.limit), (3, 3));
}

#[test]
fn inline_code_without_grant_is_rejected() {
    let message = with(child(), "/output/summary", json!("fn a() { b(); c(); }"));
    assert_eq!(code(&message), Some(Code::BudgetExceeded));
}

// Seed 000, 11.2

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
    // As the seed prints them, with nothing behind the @
    let message = with(child(), "/pointer_pack/0", json!("repo:src/a.rs#L1-L2@"));
    assert!(matches!(
        code(&message),
        Some(Code::PointerUnpinned | Code::PointerInvalid)
    ));
}

// Seed 000, 11.3

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

// Seed 000, 10.1 and 10.2

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

// Seed 001, 15

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
