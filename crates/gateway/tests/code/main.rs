//! Tests code in forms chosen by authors who had not read the finder. `forms.jsonl` was used while
//! the finder was made. Of `unseen.jsonl`, by the same author, and `strangers.jsonl`, by another,
//! only the results were counted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use engram_gateway::code_chars;
use serde_json::Value;

/// Returns the forms whose text passes for prose, and the number of forms.
fn forms_passed(forms: &str) -> (Vec<String>, usize) {
    let forms = forms.lines().map(|it| serde_json::from_str(it).unwrap());
    let forms: Vec<Value> = forms.collect();
    let passed = forms
        .iter()
        .filter(|it| code_chars(it["text"].as_str().unwrap()) == 0);
    (
        passed.map(|it| it["form"].to_string()).collect(),
        forms.len(),
    )
}

#[test]
fn code_is_found_in_forms_that_were_looked_at() {
    assert_eq!(forms_passed(include_str!("forms.jsonl")), (Vec::new(), 20));
}

#[test]
fn code_is_found_in_forms_that_nobody_looked_at() {
    for forms in [
        include_str!("unseen.jsonl"),
        include_str!("strangers.jsonl"),
    ] {
        let (passed, of) = forms_passed(forms);
        assert!(of == 20 && passed.len() <= 2, "{passed:?}");
    }
}
