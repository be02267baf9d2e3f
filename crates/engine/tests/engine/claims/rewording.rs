//! The user's corrections: their words, pinned to the lines that they saw.

use std::fs;

use engram_model::{
    Code, Draft, Engram, EngramId, Evidence, PointerInput, PointerType, Reading, Refusal,
    Rewording, SeenEvidence, SpanNow, ask,
};

use crate::fixture::{
    Asked, POINTER, Sandbox, USER, draft,
    evidence::{SPAN, Tree, claim_citing, health_of, line_of},
};

fn seen_now(at: &Asked, id: EngramId) -> (SeenEvidence, SpanNow) {
    let pointer = at.get(&USER, id).unwrap().pointers.remove(0);
    let asked = ask::Standing(PointerInput::from(pointer.clone()));
    let standing = *at.0.ask(&USER, asked).unwrap();
    let seen = SeenEvidence {
        pointer: pointer.to_string(),
        digest: standing.digest.clone(),
    };
    (seen, standing)
}

fn reword(at: &Asked, id: EngramId, seen: &[SeenEvidence]) -> Result<Engram, Refusal> {
    let rewording = Rewording {
        id,
        claim: "The value is 4096.".to_owned(),
        seen: seen.to_vec(),
        dropped: Vec::new(),
    };
    let stored = at.0.ask(&USER, ask::Reword(Box::new(rewording)))?;
    Ok(*at.get(&USER, stored.id).unwrap())
}

#[test]
fn a_correction_is_pinned_to_the_lines_that_its_author_saw() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    for (is_committed, old, new) in [
        (false, "value_42", "fresh_42"),
        (true, "fresh_42", "value_42"),
    ] {
        let claim = format!("The value is {old}.");
        let id = claim_citing(&at, &claim, SPAN).id;
        tree.replace("src/lib.rs", old, new);
        if is_committed {
            tree.git(&["commit", "-qam", "another value"]);
        }
        let (seen, standing) = seen_now(&at, id);
        assert_eq!(standing.reading, Reading::Edited);
        assert!(seen.digest.is_some());
        let corrected = reword(&at, id, &[seen]).unwrap();
        assert_eq!(corrected.supersedes, Some(id));
        assert_eq!(corrected.claim, "The value is 4096.");
        assert_eq!(corrected.provenance.created_by, "user");
        assert_eq!(line_of(&health_of(&at, corrected.id)), "evidence unchanged");
        let pointer = corrected.pointers[0].to_string();
        assert_eq!(pointer.contains("@sha256:"), !is_committed, "{pointer}");
        at.forget(&USER, corrected.id).unwrap();
        if !is_committed {
            tree.git(&["commit", "-qam", "a value"]);
        }
    }
}

#[test]
fn lines_that_changed_again_or_were_not_seen_are_not_pinned() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let id = claim_citing(&at, "The value is 42.", SPAN).id;
    tree.replace("src/lib.rs", "value_42", "fresh_42");
    let (seen, _) = seen_now(&at, id);
    tree.replace("src/lib.rs", "fresh_42", "stale_42");
    let refusal = reword(&at, id, &[seen]).unwrap_err();
    assert_eq!(refusal.code, Code::PointerNotFound, "{refusal}");
    assert!(at.get(&USER, id).unwrap().valid_until.is_none());
    let (seen, _) = seen_now(&at, id);
    let gone = SeenEvidence {
        digest: None,
        ..seen
    };
    assert!(reword(&at, id, &[gone]).is_err(), "they are there again");
    // Nobody looked: the old pin stays, and the claim waits for review.
    let unseen = reword(&at, id, &[]).unwrap();
    let standing = health_of(&at, unseen.id).standing;
    assert_eq!(standing, Evidence::NeedsReverification);
}

/// Evidence that does not show the new words is left out; one that was not stored, and all of it, is
/// refused.
#[test]
fn a_correction_drops_evidence_that_no_longer_shows_it() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let both = Draft {
        pointers: vec![
            PointerInput::Text(SPAN.to_owned()),
            PointerInput::Text(POINTER.to_owned()),
        ],
        ..draft("The value is 42.")
    };
    let id = at.put(&USER, both).unwrap().id;
    tree.replace("src/lib.rs", "value_42", "fresh_42");
    let (seen, _) = seen_now(&at, id);
    let stored: Vec<String> = at
        .get(&USER, id)
        .unwrap()
        .pointers
        .iter()
        .map(ToString::to_string)
        .collect();
    let reword = |seen: &[SeenEvidence], dropped: &[String]| {
        let rewording = Rewording {
            id,
            claim: "The value is fresh.".to_owned(),
            seen: seen.to_vec(),
            dropped: dropped.to_vec(),
        };
        at.0.ask(&USER, ask::Reword(Box::new(rewording)))
    };
    for (dropped, why) in [
        (stored.clone(), "nothing is left"),
        (vec![SPAN.to_owned()], "it is not stored so"),
    ] {
        let refusal = reword(&[], &dropped).unwrap_err();
        assert_eq!(refusal.code, Code::SchemaInvalid, "{why}: {refusal}");
    }
    assert!(at.get(&USER, id).unwrap().valid_until.is_none());
    let corrected = reword(&[seen], &stored[1..]).unwrap().id;
    let left = at.get(&USER, corrected).unwrap().pointers;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        left[0].label(),
        at.get(&USER, id).unwrap().pointers[0].label()
    );
}

/// An unchanged source is pinned to the commit of the changed one. A source that also changed, but was
/// not seen, keeps its pin.
#[test]
fn a_correction_pins_unchanged_evidence_to_the_same_commit() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    fs::write(tree.0.join("second.txt"), "one\ntwo\nthree\n").unwrap();
    tree.git(&["add", "."]);
    tree.git(&["commit", "-qm", "a second source"]);
    for (with, is_unchanged) in [("zero\none\ntwo", true), ("zero\none\nnew", false)] {
        let both = Draft {
            pointers: vec![
                PointerInput::Text(SPAN.to_owned()),
                PointerInput::Text("repo:second.txt#L2@HEAD".to_owned()),
            ],
            ..draft("The value is 42.")
        };
        let id = at.put(&USER, both).unwrap().id;
        tree.replace("src/lib.rs", "value_42", "fresh_42");
        tree.replace("second.txt", "one\ntwo", with);
        tree.git(&["commit", "-qam", "another value"]);
        let (seen, _) = seen_now(&at, id);
        let corrected = reword(&at, id, &[seen]).unwrap();
        let pins: Vec<String> = corrected
            .pointers
            .iter()
            .map(|it| it.to_string().split('@').nth(1).unwrap().to_owned())
            .collect();
        assert_eq!(pins[0] == pins[1], is_unchanged, "{pins:?}");
        let standing = health_of(&at, corrected.id).standing;
        assert_eq!(standing == Evidence::Holds, is_unchanged);
        let label = corrected.pointers[1].label();
        assert_eq!(label.contains("L3"), is_unchanged, "{label}");
        at.forget(&USER, corrected.id).unwrap();
        tree.replace("src/lib.rs", "fresh_42", "value_42");
        fs::write(tree.0.join("second.txt"), "one\ntwo\nthree\n").unwrap();
        tree.git(&["commit", "-qam", "as before"]);
    }
}

#[test]
fn a_correction_of_a_claim_whose_evidence_is_gone_ends_its_drift() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let id = claim_citing(&at, "The value is 42.", SPAN).id;
    fs::remove_file(tree.0.join("src/lib.rs")).unwrap();
    let (seen, standing) = seen_now(&at, id);
    assert_eq!((standing.reading, &seen.digest), (Reading::Gone, &None));
    let corrected = reword(&at, id, &[seen]).unwrap();
    let kinds: Vec<PointerType> = corrected.pointers.iter().map(|it| it.kind()).collect();
    assert_eq!(kinds, [PointerType::Sam], "only the user's word is left");
    assert!(
        corrected
            .health
            .is_none_or(|it| it.standing == Evidence::Holds)
    );
}
