#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{from_text, to_text};

/// A child's message, with blank lines between its fields (docs/design.md#messages).
const CHILD: &str = r#"
ROLE: programmer

TASK_STATUS: blocked

ENGRAMS:

  - kind: risk

    claim: "Potential contradiction between SPEC budget rules and current gateway reservation flow."

    confidence: 0.72

    ttl: "P7D"

    scope: "project"

    pointers:

      - { type: "artifact", ref: "artifact:SPEC_Budget_Enforcement.md#sec=Rules@HEAD" }

      - { type: "repo", ref: "repo:services/gateway/vendor_client.py#L280-L360@HEAD" }

POINTER_PACK:

  - { type: "repo", ref: "repo:services/gateway/routes/completions.py#L900-L1060@HEAD" }

DEREF_REQUESTS:

  - pointer: { type: "repo", ref: "repo:services/ledger/reservation.py#L1-L220@HEAD" }

    reason: "Need to confirm reservation atomicity behavior."

OUTPUT:

  summary: "Top risks identified; need deref grant for ledger code."

  next: "Await grant or alternative pointers."
"#;

/// A parent's message.
const PARENT: &str = r#"ROLE: programmer
SHARED_BRIEF_MICRO:
  - "Goal: implement Engram Bus with 5% context rule; pointer-first only."
  - "Hard constraint: budget enforcement in gateway; reject oversize."
BUDGETS:
  max_engrams: 10
  max_repo_spans: 3
  max_sam_items: 2
  max_inline_tokens: 800
GRANTS:
  - budget_token: ""
    pointer: { type: "repo", ref: "repo:services/ledger/reservation.py#L1-L220@HEAD" }
    cap_tokens: 500
TARGET_POINTER_PACK:
  - { type: "artifact", ref: "artifact:SPEC_Engram_Bus_PAS_Shared_Memory.md#sec=Budgets@HEAD" }
INSTRUCTIONS:
  - "Confirm atomicity + idempotency; emit 3-5 Engrams max; no inline code."
"#;

fn child() -> Value {
    json!({
        "role": "programmer", "task_status": "blocked",
        "engrams": [{
            "kind": "risk",
            "claim": "Potential contradiction between SPEC budget rules and current gateway reservation flow.",
            "confidence": 0.72, "ttl": "P7D", "scope": "project",
            "pointers": [
                { "type": "artifact", "ref": "artifact:SPEC_Budget_Enforcement.md#sec=Rules@HEAD" },
                { "type": "repo", "ref": "repo:services/gateway/vendor_client.py#L280-L360@HEAD" },
            ]
        }],
        "pointer_pack": [{ "type": "repo", "ref": "repo:services/gateway/routes/completions.py#L900-L1060@HEAD" }],
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

#[test]
fn the_messages_of_the_seed_are_read() {
    assert_eq!(from_text(CHILD).unwrap(), child());
    assert_eq!(from_text(&CHILD.replace('\n', "\r\n")).unwrap(), child());
    let parent = from_text(PARENT).unwrap();
    assert_eq!(parent["budgets"]["max_engrams"], 10);
    assert_eq!(parent["grants"][0]["cap_tokens"], 500);
    assert_eq!(
        parent["shared_brief_micro"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(from_text(&to_text(&parent)).unwrap(), parent);
}

#[test]
fn values_are_what_yaml_says_they_are() {
    for (text, value) in [
        ("A: word", json!("word")),
        ("A: two words", json!("two words")),
        ("A: repo:a.rs#L1-L2@HEAD", json!("repo:a.rs#L1-L2@HEAD")),
        ("A: 0.72", json!(0.72)),
        ("A: .5", json!(0.5)),
        ("A: -3", json!(-3)),
        ("A: 2026-01-08", json!("2026-01-08")),
        ("A: true", json!(true)),
        ("A: ~", Value::Null),
        ("A:", Value::Null),
        ("A: no", json!("no")),
        ("A: 'it''s'", json!("it's")),
        (
            r#"A: "a\n\tb\u00e4\x41\U0001F980\ud83e\udd80""#,
            json!("a\n\tb\u{e4}A🦀🦀"),
        ),
        (
            "A: \"goes\n  on here\n\n  and there\"",
            json!("goes on here\nand there"),
        ),
        ("A:\n  below", json!("below")),
        (
            "A: |\n  one\n    two\n\n  three\n",
            json!("one\n  two\n\nthree\n"),
        ),
        ("A: |-\n  one\n  two\n", json!("one\ntwo")),
        ("A: |+\n  one\n\nB: 1", json!("one\n\n")),
        ("A: >\n  one\n  two\n\n  three\n", json!("one two\nthree\n")),
        ("A: |2\n    x\nB: 1", json!("  x\n")),
        ("A: |\nB: 1", json!("")),
        ("A:\n- x\n- y\nB: 1", json!(["x", "y"])),
        ("A:\n  - - x\n    - y\n  - z", json!([["x", "y"], "z"])),
        (
            "A:\n  -\n    k: v\n  - k: w\n    l: |\n      text\n  - {}",
            json!([{ "k": "v" }, { "k": "w", "l": "text\n" }, {}]),
        ),
        (
            "A: [x, \"y, z\", 3, [], { k: v }]",
            json!(["x", "y, z", 3, [], { "k": "v" }]),
        ),
        (
            "A: { k: v,\n  l: [1,\n  2] }",
            json!({ "k": "v", "l": [1, 2] }),
        ),
        ("A: {\"k\":\"v\",\"l\":1,}", json!({ "k": "v", "l": 1 })),
        ("A:\n  \"k\": 'v'", json!({ "k": "v" })),
        ("engrams:", json!([])),
        ("BUDGETS:", json!({})),
    ] {
        let read = from_text(text).unwrap();
        let key = read.as_object().unwrap().keys().next().unwrap().clone();
        assert_eq!(read[&key], value, "{text:?}");
    }
}

#[test]
fn what_is_not_of_the_subset_is_refused_by_name() {
    let deep = format!("A: {}{}", "[".repeat(5000), "]".repeat(5000));
    let steps: String = (0..2000)
        .map(|it| format!("{}k:\n", " ".repeat(it)))
        .collect();
    for (text, says) in [
        ("", "empty"),
        ("\n \n", "empty"),
        ("just words", "no heading"),
        ("  ROLE: x", "no heading"),
        ("- ROLE: x", "no heading"),
        ("--- \nROLE: x", "no heading"),
        ("```yaml\nROLE: x\n```", "no heading"),
        ("%YAML 1.2\nROLE: x", "no heading"),
        ("# a comment\nROLE: x", "no heading"),
        ("ROLE: x # a comment", "comments"),
        ("ROLE: #x", "comments"),
        ("ROLE: \"x\" # a comment", "text follows"),
        ("ROLE: x\n# a comment", "`key: value`"),
        ("ROLE: &a x", "anchors"),
        ("ROLE: *a", "anchors"),
        ("ROLE: !!str x", "tags"),
        ("A:\n  - &a [x, x]\n  - [*a, *a]", "anchors"),
        ("A: { <<: *a }", "other than"),
        ("A:\n  <<: *a", "colon"),
        ("ROLE: x\nROLE: y", "twice"),
        ("ROLE: x\nrole: y", "twice"),
        ("A: { k: 1, k: 2 }", "twice"),
        ("A:\n  k: 1\n  k: 2", "twice"),
        ("A: x\n---\nB: y", "`key: value`"),
        ("A: needs: quotes", "colon"),
        ("A: one\n  two", "deeper"),
        ("A:\n    k: 1\n  l: 2", "deeper"),
        ("A:\n\tk: 1", "deeper"),
        ("A:\n  - x\n   - y", "deeper"),
        ("A: \"never closed", "not closed"),
        ("A: [1, 2", "not closed"),
        ("A: { k: v", "not closed"),
        ("A: [1 2, \"x\" \"y\"]", "comma"),
        ("A: |x\n  y", "same line"),
        ("A: \"\\q\"", "unknown escape"),
        ("A: \"\\ud800\"", "not a character"),
        ("A: a\u{0}b", "U+0000"),
        ("A: a\u{85}b", "U+0085"),
        ("? A\n: b", "no heading"),
        (deep.as_str(), "deeper than"),
        (steps.as_str(), "deeper than"),
    ] {
        let refusal = from_text(text).unwrap_err();
        assert_eq!(refusal.code, engram_model::Code::SchemaInvalid);
        assert!(refusal.message.contains(says), "{:.60?}: {refusal}", text);
    }
}

/// At this size, quadratic work would never finish.
#[test]
fn hostile_text_ends_soon() {
    for unit in [
        "- ", "[", "{", "a: ", "\"", "'", "|\n", "A:\n", "-\n", "A: [\n", "A: \"\n ", "\\",
        "k: {k: ", " \n",
    ] {
        let text = format!("A: x\n{}", unit.repeat(100_000 / unit.len()));
        let _ = from_text(&text);
        let _ = from_text(&format!("A: {text}"));
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0.0..1.0f64).prop_map(Value::from),
        "(?s).{0,30}".prop_map(Value::from),
        "[-#&*!|>'\"%@:{}\\[\\], \n\r\t`?a-z]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(fields in prop::collection::btree_map("[a-z_]{1,8}", any_value(), 1..4)) {
        let message = Value::Object(fields.into_iter().collect());
        let text = to_text(&message);
        prop_assert_eq!(from_text(&text).map_err(|it| it.to_string()), Ok(message), "{}", text);
    }

    #[test]
    fn no_text_panics(text in "(?s).{0,200}", lines in prop::collection::vec("[-#&*!|>'\"%@:{}\\[\\], \t`?a-zA-Z0-9\\\\]{0,16}", 0..12)) {
        let _ = from_text(&text);
        let _ = from_text(&format!("ROLE: x\n{}", lines.join("\n")));
        let _ = from_text(&format!("A: {}", lines.join("\n  ")));
    }
}
