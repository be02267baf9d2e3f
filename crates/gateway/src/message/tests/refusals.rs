//! Tests what the refusal of a message says, and that the message it shows passes.

use engram_model::{BUDGETS, Code, Limits, Refusal, Remedy};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{any_json, child, parent, validate_message, with};
use crate::{MessageForm, check_message, count_tokens, narrowed_limits, read_message, to_text};

const CODE: &str = "def reserve(n):\n    return self.left - n";

fn refusal(message: &Value) -> Refusal {
    validate_message(message, &Limits::default()).unwrap_err()
}

fn remedy(message: &Value) -> Remedy {
    *refusal(message).remedy.unwrap()
}

/// A message whose summary is so long that it has this many tokens.
fn long(tokens: usize) -> Value {
    let mut message = with(child(), "/role", json!("reviewer"));
    while count_tokens(&message.to_string()) < tokens {
        let words = message["output"]["summary"].as_str().unwrap().to_owned();
        message["output"]["summary"] = json!(words + " and so on");
    }
    message
}

/// A message of 1,200 inline tokens is refused, and passes in the form that the refusal shows
/// (docs/design.md#messages-stay-small).
#[test]
fn a_message_of_1200_inline_tokens_is_refused_and_its_skeleton_passes() {
    let message = long(1200);
    let used = count_tokens(&message.to_string()) as u64;
    let told = refusal(&message);
    assert_eq!(told.code, Code::BudgetExceeded);
    let remedy = *told.remedy.unwrap();
    let figure = remedy.figures["inline_tokens"];
    assert_eq!((figure.used, figure.limit), (used, 800));
    assert_eq!(remedy.cut[0].at, "/output/summary");
    assert!(
        remedy.cut[0].tokens > used - 800,
        "cutting it would be enough"
    );
    let skeleton = remedy.skeleton.unwrap();
    assert!(validate_message(&skeleton, &Limits::default()).is_ok());
    assert_eq!(
        skeleton["engrams"], message["engrams"],
        "valid engrams are kept"
    );
}

/// Inline code without a grant is refused; with one, the granted number of characters passes
/// (docs/design.md#messages-stay-small).
#[test]
fn inline_code_without_a_grant_says_where_it_stands() {
    let message = with(
        with(child(), "/engrams/0/claim", json!(CODE)),
        "/output/next",
        json!("Fix:\n```\nx\n```"),
    );
    let remedy = remedy(&message);
    let figure = remedy.figures["inline_code_chars"];
    assert_eq!(figure.limit, 0);
    let places: Vec<_> = remedy.cut.iter().map(|it| it.at.as_str()).collect();
    assert_eq!(places, ["/engrams/0/claim", "/output/next"]);
    let mut granted = Limits::default();
    granted.message.inline_code_chars = figure.used as usize;
    assert!(validate_message(&message, &granted).is_ok());
    granted.message.inline_code_chars -= 1;
    assert!(validate_message(&message, &granted).is_err());
}

#[test]
fn code_spread_over_texts_is_found() {
    let engram = child()["engrams"][0].clone();
    let spread = |key: &str, lines: &[&str]| -> Value {
        lines
            .iter()
            .map(|line| with(engram.clone(), key, json!(line)))
            .collect()
    };
    let lines = [
        "let left = self.limit - self.used;",
        "self.used += amount;",
        "store(self.used);",
    ];
    let requests: Value = lines
        .iter()
        .map(|line| json!({ "pointer": "repo:a@HEAD", "reason": line }))
        .collect();
    for message in [
        with(child(), "/engrams", spread("/claim", &lines)),
        with(child(), "/deref_requests", requests),
        with(child(), "/engrams/0/tags", json!(lines)),
        with(child(), "/engrams/0/hash_keys", json!(lines)),
        with(child(), "/engrams/0/agent", json!(CODE)),
        with(child(), "/engrams/0/id", json!(CODE)),
        with(child(), "/engrams/0/embedding_ref", json!(CODE)),
        with(child(), "/deref_requests/0/intended_use", json!(CODE)),
        with(
            with(child(), "/output/summary", json!(lines[0])),
            "/output/next",
            json!(lines[1]),
        ),
        with(
            parent(),
            "/shared_brief_micro",
            json!(["The fix:", "-retries = 3", "+retries = 5"]),
        ),
        with(parent(), "/shared_brief_micro", json!(lines)),
        with(
            parent(),
            "/instructions",
            json!(lines.map(|it| format!("- {it}"))),
        ),
        with(parent(), "/grants/0/budget_token", json!(CODE)),
    ] {
        let refusal = refusal(&message);
        assert_eq!(refusal.code, Code::BudgetExceeded, "{refusal} {message}");
        let remedy = refusal.remedy.unwrap();
        assert!(remedy.figures.contains_key("inline_code_chars") && !remedy.cut.is_empty());
    }
}

#[test]
fn every_budget_that_is_exceeded_is_told_at_once() {
    let long = "word ".repeat(1200);
    let lines = vec!["line"; 31];
    let engrams = vec![child()["engrams"][0].clone(); 13];
    for (message, figures, cut) in [
        (
            with(
                with(parent(), "/shared_brief_micro", json!(lines)),
                "/instructions",
                json!([long, CODE]),
            ),
            vec!["brief_lines", "inline_code_chars", "inline_tokens"],
            "/instructions/0",
        ),
        (
            with(
                with(child(), "/engrams", json!(engrams)),
                "/output/summary",
                json!("One. Two. Three! Four? Five. Word six. Word seven."),
            ),
            vec!["engrams", "inline_tokens", "summary_sentences"],
            "/engrams/12",
        ),
    ] {
        let told = remedy(&message);
        assert_eq!(told.figures.keys().collect::<Vec<_>>(), figures);
        assert!(told.cut.iter().any(|it| it.at == cut), "{:?}", told.cut);
        assert!(
            told.cut.iter().all(|it| message.pointer(&it.at).is_some()),
            "{:?}",
            told.cut
        );
        assert!(validate_message(&told.skeleton.unwrap(), &Limits::default()).is_ok());
    }
}

#[test]
fn lines_of_a_brief_count_whatever_ends_them() {
    for end in [
        "\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
    ] {
        for (lines, ok) in [(30, true), (31, false)] {
            let message = with(
                parent(),
                "/shared_brief_micro",
                json!([vec!["line"; lines].join(end)]),
            );
            assert_eq!(
                validate_message(&message, &Limits::default()).is_ok(),
                ok,
                "{lines} {end:?}"
            );
        }
        let spread = with(
            parent(),
            "/shared_brief_micro",
            json!(vec![format!("one{end}two"); 16]),
        );
        let figure = remedy(&spread).figures["brief_lines"];
        assert_eq!((figure.used, figure.limit), (32, 30));
    }
}

#[test]
fn budgets_of_a_parent_exist_and_only_narrow() {
    for (name, figure, limit) in [
        ("max_inline_tokens", "inline_tokens", 800),
        ("max_engrams", "engrams", 12),
        ("max_engram_chars", "engram_chars", 500),
        ("max_inline_code_chars", "inline_code_chars", 0),
        ("max_brief_lines", "brief_lines", 30),
        ("max_repo_spans", "repo_spans", 3),
        ("max_artifact_sections", "artifact_sections", 2),
        ("max_sam_items", "sam_items", 2),
        ("max_tokens", "tokens", 1200),
        ("max_total_deref_tokens", "tokens", 1200),
    ] {
        assert!(BUDGETS.contains(&(name, figure)));
        let given = |most: u64| with(parent(), "/budgets", json!({ name: most }));
        assert!(
            validate_message(&given(limit), &Limits::default()).is_ok(),
            "{name}"
        );
        assert!(
            validate_message(&given(0), &Limits::default()).is_ok(),
            "{name}"
        );
        for most in [limit + 1, u64::MAX] {
            let told = refusal(&given(most));
            assert_eq!(told.code, Code::BudgetExceeded, "{name} {most}");
            let shown = told.remedy.unwrap().figures[figure];
            assert_eq!((shown.used, shown.limit), (most, limit));
        }
    }
    for name in [
        "max_wishes",
        "engrams",
        "MAX_ENGRAMS",
        "",
        "max_",
        "max_derefs",
        CODE,
    ] {
        let told = refusal(&with(parent(), "/budgets", json!({ name: 1 })));
        assert_eq!(told.code, Code::SchemaInvalid, "{name}");
        assert!(told.hint.contains("max_repo_spans"));
    }
}

#[test]
fn a_template_holds_for_its_role_alone() {
    let six = json!("One. Two. Three. Four. Five. Six.");
    for (role, ok) in [
        ("Architect", false),
        ("DIRECTOR", false),
        ("manager", false),
        ("Programmer", false),
        ("reviewer", true),
        ("", true),
    ] {
        let message = with(
            with(child(), "/role", json!(role)),
            "/output/summary",
            six.clone(),
        );
        let checked = validate_message(&message, &Limits::default());
        assert_eq!(checked.is_ok(), ok, "{role}");
        if let Err(refusal) = checked {
            assert_eq!(refusal.code, Code::BudgetExceeded);
            let figure = refusal.remedy.unwrap().figures["summary_sentences"];
            assert_eq!((figure.used, figure.limit), (6, 5));
        }
    }
    let five = with(
        child(),
        "/output/summary",
        json!("One. Two. Three. Four. Five."),
    );
    assert!(validate_message(&five, &Limits::default()).is_ok());
}

#[test]
fn both_forms_are_one_message_and_the_larger_count_counts() {
    let limits = Limits::default();
    for message in [child(), parent()] {
        let json = read_message(message.to_string().as_bytes(), &limits).unwrap();
        let written = to_text(&message);
        let text = read_message(written.as_bytes(), &limits).unwrap();
        assert_eq!(
            (json.form, text.form),
            (MessageForm::Json, MessageForm::Text)
        );
        assert_eq!((&json.value, &text.value), (&message, &message));
        let (json, text) = (json.check(&limits).unwrap(), text.check(&limits).unwrap());
        assert_eq!(json.message, text.message);
        assert_eq!(json.tokens, count_tokens(&message.to_string()));
        assert_eq!(text.tokens, json.tokens.max(count_tokens(&written)));
        // Blanks between lines count, even if the message itself is short.
        let blank = written.replace('\n', &"\n \n\n".repeat(40));
        let sent = read_message(blank.as_bytes(), &limits).unwrap();
        assert_eq!(sent.value, message);
        assert_eq!(sent.check(&limits).unwrap_err().code, Code::BudgetExceeded);
    }
}

/// A skeleton must also pass in the text form, which costs more than JSON.
#[test]
fn a_skeleton_passes_in_either_form() {
    let limits = Limits::default();
    let engram = child()["engrams"][0].clone();
    for count in 1..=16 {
        let message = with(child(), "/engrams", json!(vec![engram.clone(); count]));
        let message = with(message, "/output/summary", json!(CODE));
        let skeleton = remedy(&message).skeleton.unwrap();
        assert!(validate_message(&skeleton, &limits).is_ok(), "{count}");
        let text = to_text(&skeleton);
        let sent = read_message(text.as_bytes(), &limits).unwrap();
        let checked = sent.check(&limits).map(|it| it.tokens);
        assert!(checked.is_ok(), "{count}: {checked:?}");
    }
}

#[test]
fn code_in_a_block_of_the_text_form_is_code() {
    let limits = Limits::default();
    for value in [
        "|\n    def reserve(n):\n        return self.left - n",
        ">-\n    let a = f(x); let b = g(a); store(a, b);",
        "\"def reserve(n):\\n    return self.left - n\"",
        "\"fn\\u0020f(x: u32) \\x7b g(x); h(x); \\x7d\"",
    ] {
        let text = format!(
            "ROLE: programmer\nTASK_STATUS: done\nOUTPUT:\n  summary: {value}\n  next: \"\"\n"
        );
        let sent = read_message(text.as_bytes(), &limits).unwrap();
        let told = sent.check(&limits).unwrap_err();
        assert!(
            told.remedy
                .unwrap()
                .figures
                .contains_key("inline_code_chars"),
            "{text}"
        );
    }
}

#[test]
fn bodies_that_are_no_messages_are_refused_with_a_skeleton() {
    let limits = Limits::default();
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let huge = vec![b'{'; 50_000_000];
    for (bytes, code, says) in [
        (huge.as_slice(), Code::BudgetExceeded, "bytes"),
        (deep.as_bytes(), Code::SchemaInvalid, "recursion"),
        (b"", Code::SchemaInvalid, "empty"),
        (b"\xff\xfe{", Code::SchemaInvalid, "UTF-8"),
        (b"{\"role\": ", Code::SchemaInvalid, "not JSON"),
        (
            b"{\"role\":\"a\",\"role\":\"b\"}",
            Code::SchemaInvalid,
            "twice",
        ),
        (
            b"Dear parent, all is done.",
            Code::SchemaInvalid,
            "no heading",
        ),
        (
            b"ROLE: &a [x]\nTASK_STATUS: *a",
            Code::SchemaInvalid,
            "anchors",
        ),
    ] {
        let told = read_message(bytes, &limits).unwrap_err();
        assert_eq!(told.code, code, "{told}");
        assert!(told.message.contains(says), "{told}");
        let skeleton = told.remedy.unwrap().skeleton.unwrap();
        assert!(validate_message(&skeleton, &limits).is_ok());
    }
}

#[test]
fn a_skeleton_keeps_what_passes_whatever_was_wrong() {
    let unpinned = json!("repo:src/a.rs");
    let two = json!([unpinned, "repo:src/b.rs@HEAD"]);
    for (message, key, kept) in [
        (
            with(child(), "/pointer_pack", two.clone()),
            "/pointer_pack",
            json!(["repo:src/b.rs@HEAD"]),
        ),
        (
            with(parent(), "/target_pointer_pack", two),
            "/target_pointer_pack",
            json!(["repo:src/b.rs@HEAD"]),
        ),
        (
            with(child(), "/engrams/0/ttl", Value::Null),
            "/engrams",
            json!([]),
        ),
        (
            with(child(), "/surprise", json!(1)),
            "/role",
            json!("programmer"),
        ),
        (
            with(
                parent(),
                "/budgets",
                json!({ "max_engrams": 99, "max_sam_items": 1, "x": 1 }),
            ),
            "/budgets",
            json!({ "max_sam_items": 1 }),
        ),
        (
            with(
                parent(),
                "/shared_brief_micro",
                json!(["ok\nthen", CODE, 7]),
            ),
            "/shared_brief_micro",
            json!(["ok then"]),
        ),
    ] {
        let skeleton = remedy(&message).skeleton.unwrap();
        assert!(validate_message(&skeleton, &Limits::default()).is_ok());
        assert_eq!(skeleton.pointer(key), Some(&kept), "{message}");
    }
    // The hint says what the skeleton leaves out.
    let engram = child()["engrams"][0].clone();
    let mut unsound = engram.clone();
    unsound["ttl"] = Value::Null;
    let three = with(child(), "/engrams", json!([unsound, engram, unsound]));
    let told = validate_message(&three, &Limits::default()).unwrap_err();
    let hint = told.hint.clone();
    assert!(
        hint.ends_with("The skeleton leaves out 2 of 3 engrams."),
        "{hint}"
    );
    assert_eq!(
        told.remedy.unwrap().skeleton.unwrap()["engrams"],
        json!([engram])
    );
    let mut none = Limits::default();
    none.message.inline_tokens = 3;
    let told = validate_message(&child(), &none).unwrap_err();
    assert!(
        told.remedy.unwrap().skeleton.is_none(),
        "no message passes this limit"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_refusal_shows_a_message_that_passes(
        value in any_json(),
        at in prop::sample::select(vec![
            "/role", "/engrams", "/engrams/0", "/engrams/0/claim", "/pointer_pack", "/deref_requests/0/reason",
            "/output", "/output/summary", "/output/next", "/task_status",
        ]),
        inline in 60usize..900,
        engrams in 0usize..3,
    ) {
        let mut limits = Limits::default();
        limits.message.inline_tokens = inline;
        limits.message.engrams = engrams;
        for message in [with(child(), at, value.clone()), value.clone(), with(parent(), "/instructions", value)] {
            if let Err(refusal) = check_message(&message, &limits) {
                let skeleton = refusal.remedy.and_then(|it| it.skeleton);
                prop_assert!(skeleton.is_some(), "{}", message);
                prop_assert!(check_message(&skeleton.unwrap(), &limits).is_ok());
            }
        }
    }

    #[test]
    fn budgets_never_widen(given in prop::collection::btree_map("max_[a-z_]{1,10}|max_engrams|max_tokens|max_repo_spans|max_total_deref_tokens", any::<u64>(), 0..6)) {
        let limits = Limits::default();
        let narrow = narrowed_limits(&limits, &given);
        prop_assert!(narrow.message.engrams <= limits.message.engrams);
        prop_assert!(narrow.deref.tokens <= limits.deref.tokens);
        prop_assert!(narrow.deref.repo_spans <= limits.deref.repo_spans);
        prop_assert_eq!(narrowed_limits(&narrow, &given), narrow);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "(?s).{0,200}") {
        let _ = read_message(&bytes, &Limits::default());
        let _ = read_message(text.as_bytes(), &Limits::default());
    }
}
