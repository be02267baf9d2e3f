//! The grammar in both directions, and hostile input.

use engram_model::{Code, Limits, Pointer, PointerInput, PointerV01, Target};
use proptest::prelude::*;

use crate::values::any_pointer;

fn object(kind: &str, reference: &str, span: Option<&str>) -> PointerInput {
    let mut value = serde_json::json!({ "type": kind, "ref": reference });
    if let Some(span) = span {
        value["span"] = span.into();
    }
    serde_json::from_value(value).unwrap()
}

#[test]
fn canonical_spellings() {
    let digest = "ab".repeat(32);
    for (written, canonical) in [
        ("repo:src/a.rs@HEAD", "repo:src/a.rs@HEAD"),
        ("repo:src/a.rs#L10-20@main", "repo:src/a.rs#L10-L20@main"),
        ("repo:src/a.rs#L7-L7@v1.2", "repo:src/a.rs#L7@v1.2"),
        ("repo:a@b/c.rs@HEAD", "repo:a%40b/c.rs@HEAD"),
        ("repo:a#b.rs#L1@HEAD", "repo:a%23b.rs#L1@HEAD"),
        ("repo:100%.md@HEAD", "repo:100%.md@HEAD"),
        ("repo:100%2540.md@HEAD", "repo:100%2540.md@HEAD"),
        ("repo:x@HEAD@{1}", "repo:x@HEAD@{1}"),
        ("repo:x@@{u}", "repo:x@@{u}"),
        ("repo:x@worktree", "repo:x@worktree"),
        ("repo:日本/ü ü.txt#L1@HEAD", "repo:日本/ü ü.txt#L1@HEAD"),
        (
            "artifact:SPEC.md#sec=Budget Rules@HEAD",
            "artifact:SPEC.md#sec=Budget Rules@HEAD",
        ),
        (
            "sam:decision:publish-domain@2026-01-08",
            "sam:decision:publish-domain@2026-01-08",
        ),
        ("diff:HEAD~1..HEAD#src/a.rs", "diff:HEAD~1..HEAD#src/a.rs"),
        ("diff:a..b#x@y.rs#L3-4", "diff:a..b#x%40y.rs#L3-L4"),
        ("test:t/a.rs::m::works@HEAD", "test:t/a.rs::m::works@HEAD"),
        (
            "url:https://example.org/a@b?c#d",
            "url:https://example.org/a@b?c#d",
        ),
    ] {
        let pointer: Pointer = written.parse().unwrap();
        assert_eq!(pointer.to_string(), canonical, "{written}");
        assert_eq!(canonical.parse::<Pointer>().unwrap(), pointer);
    }
    let upper = format!("repo:a@sha256:{}", digest.to_uppercase());
    let pointer: Pointer = upper.parse().unwrap();
    assert_eq!(pointer.to_string(), format!("repo:a@sha256:{digest}"));
}

#[test]
fn the_object_form_means_what_the_text_means() {
    for (kind, reference, span, text) in [
        ("repo", "repo:a.rs#L1-L2@HEAD", None, "repo:a.rs#L1-L2@HEAD"),
        ("repo", "a.rs#L1-L2@HEAD", None, "repo:a.rs#L1-L2@HEAD"),
        (
            "repo",
            "repo:a.rs@HEAD",
            Some("L1-L2"),
            "repo:a.rs#L1-L2@HEAD",
        ),
        ("repo", "a.rs@HEAD", Some("L1-2"), "repo:a.rs#L1-L2@HEAD"),
        (
            "repo",
            "a.rs#L1-L2@HEAD",
            Some("L1-L2"),
            "repo:a.rs#L1-L2@HEAD",
        ),
        (
            "artifact",
            "S.md@HEAD",
            Some("sec=Rules"),
            "artifact:S.md#sec=Rules@HEAD",
        ),
        (
            "artifact",
            "S.md@HEAD",
            Some("Rules @ # %40"),
            "artifact:S.md#sec=Rules %40 %23 %2540@HEAD",
        ),
        ("diff", "a..b#c.rs", Some("L9"), "diff:a..b#c.rs#L9"),
        (
            "sam",
            "decision:x@2026-01-08",
            None,
            "sam:decision:x@2026-01-08",
        ),
        ("sam", "test:x@2026-01-08", None, "sam:test:x@2026-01-08"),
        (
            "url",
            "https://example.org/",
            None,
            "url:https://example.org/",
        ),
        ("test", "t.rs::works@HEAD", None, "test:t.rs::works@HEAD"),
    ] {
        let pointer = Pointer::try_from(object(kind, reference, span)).unwrap();
        assert_eq!(pointer.to_string(), text, "{reference}");
    }
}

#[test]
fn objects_that_contradict_themselves_are_refused() {
    for (kind, reference, span) in [
        ("repo", "a.rs#L1-L2@HEAD", Some("L1-L3")),
        ("repo", "a.rs@HEAD", Some("")),
        ("repo", "a.rs@HEAD", Some("sec=Rules")),
        ("artifact", "S.md#sec=A@HEAD", Some("B")),
        ("artifact", "S.md@HEAD", Some("")),
        ("artifact", "S.md@HEAD", Some("sec=")),
        ("artifact", "S.md@HEAD", Some("  ")),
        ("artifact", "S.md@HEAD", Some("a\u{1b}[2J")),
        ("artifact", "S.md@HEAD", Some("a\0")),
        ("sam", "sam:decision:x@2026-01-08", Some("L1")),
        ("url", "https://example.org/", Some("L1")),
        ("artifact", "repo:S.md@HEAD", None),
        ("repo", "artifact:S.md@HEAD", None),
        ("url", "repo:S.md@HEAD", None),
        ("sam", "repo:S.md@HEAD", None),
    ] {
        let refusal = Pointer::try_from(object(kind, reference, span)).unwrap_err();
        assert_eq!(
            refusal.code,
            Code::PointerInvalid,
            "{kind} {reference} {span:?}"
        );
        assert!(!refusal.message.contains('\u{1b}') && !refusal.hint.is_empty());
    }
}

#[test]
fn hostile_pointers_are_refused() {
    use Code::{PointerInvalid as Invalid, PointerUnpinned as Unpinned};
    let long = format!("repo:{}@HEAD", "x".repeat(1_000_000));
    let ats = format!("repo:{}", "@".repeat(100_000));
    let hashes = format!("repo:{}@HEAD", "#".repeat(4000));
    let percents = format!("repo:{}@", "%40".repeat(1000));
    for (text, code) in [
        ("", Invalid),
        ("repo:", Unpinned),
        ("repo:@", Unpinned),
        ("repo:@HEAD", Invalid),
        ("src/a.rs", Invalid),
        ("src/a.rs@HEAD", Invalid),
        ("file:///etc/passwd@HEAD", Invalid),
        ("repo:src/a.rs", Unpinned),
        ("repo:src/a.rs#L1-L2", Unpinned),
        ("repo:src/a.rs@", Unpinned),
        ("artifact:SPEC.md#sec=Rules@", Unpinned),
        ("test:a.rs::b", Unpinned),
        ("sam:decision:x", Unpinned),
        ("sam:decision:x@", Unpinned),
        ("sam:decision:x@yesterday", Invalid),
        ("sam:decision:x@2026-02-30", Invalid),
        ("sam:decision:x@2026-01-08T10:00:00", Invalid),
        ("sam:decision:x@+002026-01-08", Invalid),
        ("sam:decision@2026-01-08", Invalid),
        ("sam:-rf:x@2026-01-08", Invalid),
        ("diff:HEAD#src/a.rs", Unpinned),
        ("diff:a..b", Invalid),
        ("diff:a...b#x", Invalid),
        ("diff:a..b..c#x", Invalid),
        ("diff:--output=x..b#x", Invalid),
        ("repo:../a.rs@HEAD", Invalid),
        ("repo:src/../../a.rs@HEAD", Invalid),
        ("repo:src\\..\\a.rs@HEAD", Invalid),
        ("repo:src/./a.rs@HEAD", Invalid),
        ("repo:/etc/passwd@HEAD", Invalid),
        ("repo:\\\\host\\share@HEAD", Invalid),
        ("repo:C:\\x@HEAD", Invalid),
        ("repo:c:/x@HEAD", Invalid),
        ("repo:.git/config@HEAD", Invalid),
        ("repo:a/.GIT/config@HEAD", Invalid),
        ("repo:src//a.rs@HEAD", Invalid),
        ("repo:src/@HEAD", Invalid),
        ("repo:-rf@HEAD", Invalid),
        ("repo:a.rs@-rf", Invalid),
        ("repo:a.rs@--upload-pack=x", Invalid),
        ("repo:a.rs@a b", Invalid),
        ("repo:a.rs@HEAD:x", Invalid),
        ("repo:a.rs@a..b", Invalid),
        ("repo:a.rs@sha256:123", Invalid),
        ("repo:a\0.rs@HEAD", Invalid),
        ("repo:a\n.rs@HEAD", Invalid),
        ("repo:a\u{1b}[2J.rs@HEAD", Invalid),
        ("repo:a.rs#L0@HEAD", Invalid),
        ("repo:a.rs#L5-L4@HEAD", Invalid),
        ("repo:a.rs#L1-L99999999999@HEAD", Invalid),
        ("repo:a.rs#L-1@HEAD", Invalid),
        ("repo:a.rs#L+1@HEAD", Invalid),
        ("repo:a.rs#top@HEAD", Invalid),
        ("artifact:a.md#L1@HEAD", Invalid),
        ("artifact:a.md#sec=@HEAD", Invalid),
        ("test:a.rs@HEAD", Invalid),
        ("test:a.rs::@HEAD", Invalid),
        ("url:http://example.org/", Invalid),
        ("url:file:///etc/passwd", Invalid),
        ("url:https://user:pass@example.org/", Invalid),
        ("url:https://", Invalid),
        ("url:https:///x", Invalid),
        ("url:https://a b/", Invalid),
        ("url:https://good.example\\@evil.example/", Invalid),
        ("url:https://example.org/@sha256:12", Invalid),
        (&long, Invalid),
        (&ats, Invalid),
        (&hashes, Invalid),
        (&percents, Unpinned),
    ] {
        let refusal = text.parse::<Pointer>().unwrap_err();
        assert_eq!(refusal.code, code, "{text:.80}: {refusal}");
        let shown = &refusal.message;
        assert!(shown.chars().count() < 300 && !shown.contains(['\0', '\n', '\u{1b}']));
        assert!(!refusal.hint.is_empty());
    }
}

#[test]
fn the_limits_of_the_wire_form_hold_before_and_after_pinning() {
    let limits = Limits::default();
    for (path, pin, fits) in [
        (253, "HEAD", true), // repo: + 253 + @ + 40 = 299
        (254, "HEAD", true),
        (255, "HEAD", false),
        (223, "worktree", true), // repo: + 223 + @ + 71 = 300
        (224, "worktree", false),
    ] {
        let text = format!("repo:{}@{pin}", "x".repeat(path));
        let checked = PointerInput::Text(text).check(&limits);
        assert_eq!(checked.is_ok(), fits, "{path} {pin}");
    }
    let escaped = format!("repo:{}x@HEAD", "%40".repeat(85));
    assert_eq!(
        PointerInput::Text(escaped).check(&limits).unwrap_err().code,
        Code::PointerInvalid
    );
    let span = object("artifact", "S.md@HEAD", Some(&"h".repeat(81)));
    assert_eq!(span.check(&limits).unwrap_err().code, Code::PointerInvalid);
}

#[test]
fn digests_are_checked_and_canonical() {
    let pointer: Pointer = "repo:a@HEAD".parse().unwrap();
    let hex = "AB".repeat(32);
    for given in [hex.clone(), format!("sha256:{hex}")] {
        let with = pointer.clone().with_digest(Some(given)).unwrap();
        assert_eq!(with.digest, Some(format!("sha256:{}", hex.to_lowercase())));
    }
    for given in ["", "abc", "md5:0", "sha256:", &"g".repeat(64)] {
        assert!(
            pointer.clone().with_digest(Some(given.to_owned())).is_err(),
            "{given}"
        );
    }
}

/// The object form with the span outside the address, for kinds that have one.
fn span_apart(pointer: &Pointer) -> Option<PointerV01> {
    let mut bare = pointer.clone();
    let span = match &mut bare.target {
        Target::Repo { lines, .. } | Target::Diff { lines, .. } => lines.take()?.to_string(),
        Target::Artifact { section, .. } => section.take()?,
        _ => return None,
    };
    Some(PointerV01 {
        span: Some(span),
        ..bare.into()
    })
}

proptest! {
    #[test]
    fn what_is_shown_parses_back(pointer in any_pointer()) {
        let again: Pointer = pointer.to_string().parse().unwrap();
        prop_assert_eq!(&again.target, &pointer.target);
        prop_assert_eq!(again.to_string(), pointer.to_string());
    }

    #[test]
    fn every_json_form_is_the_same_pointer(pointer in any_pointer()) {
        let json = serde_json::to_string(&pointer).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Pointer>(&json).unwrap(), &pointer);
        let object = PointerV01::from(pointer.clone());
        let prefix = format!("{}:", object.kind.as_str());
        let short = object.reference.strip_prefix(&prefix).unwrap().to_owned();
        let short = PointerV01 { reference: short, ..object };
        prop_assert_eq!(&Pointer::try_from(short).unwrap(), &pointer);
        if let Some(apart) = span_apart(&pointer) {
            prop_assert_eq!(&Pointer::try_from(apart).unwrap(), &pointer);
        }
    }

    #[test]
    fn no_text_panics_and_what_parses_is_stable(
        text in "(repo|artifact|sam|diff|test|url)?:?[a-zA-Z0-9/.@#:%{}~^ =L日\\-\\\\]{0,60}",
    ) {
        if let Ok(pointer) = text.parse::<Pointer>() {
            let shown = pointer.to_string();
            prop_assert_eq!(&shown.parse::<Pointer>().unwrap(), &pointer, "{} {}", text, shown);
            let _ = (pointer.label(), pointer.short_pin());
        }
    }

    #[test]
    fn no_object_panics(kind in 0usize..6, reference in "(?s).{0,60}", span in prop::option::of("(?s).{0,30}")) {
        let kind = ["repo", "artifact", "sam", "url", "test", "diff"][kind];
        if let Ok(pointer) = Pointer::try_from(object(kind, &reference, span.as_deref())) {
            prop_assert_eq!(&pointer.to_string().parse::<Pointer>().unwrap(), &pointer);
        }
    }
}
