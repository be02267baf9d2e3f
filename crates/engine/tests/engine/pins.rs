//! A pin by digest is what was at that path in this project, and nothing else that is stored.

use engram_model::{Caller, Code, Draft, PointerInput};

use crate::fixture::{Ground, draft, make_repository, refused};

const USER: Caller = Caller::User;

fn resting(on: &str) -> Draft {
    Draft {
        pointers: vec![PointerInput::Text(on.to_owned())],
        ..draft("It rests on a file.")
    }
}

#[test]
fn bytes_are_evidence_of_their_own_path_and_project_alone() {
    let ground = Ground::new();
    make_repository(&ground.path("other"));
    engram_kit::write(&ground.path("repo").join("src/new.rs"), "fn new() {}\n");
    let (engine, other) = (ground.open(), ground.open_at("other", 2));
    let stored = engine
        .put(&USER, resting("repo:src/new.rs#L1@worktree"))
        .unwrap();
    let pinned = engine.get(&USER, stored.id).unwrap().pointers[0].to_string();
    let digest = pinned.rsplit_once('@').unwrap().1.to_owned();
    engine.deref(&USER, &pinned).unwrap();
    for pointer in [
        format!("repo:src/never.rs#L1@{digest}"),
        format!("repo:src/lib.rs@{digest}"),
        format!("artifact:anything@{digest}"),
        format!("test:src/old.rs::new@{digest}"),
    ] {
        refused(engine.deref(&USER, &pointer), Code::PointerNotFound);
        refused(engine.put(&USER, resting(&pointer)), Code::PointerNotFound);
    }
    // Another project learns nothing of it, whoever asks.
    let ada = other.agent("ada");
    for who in [&USER, &ada] {
        refused(other.deref(who, &pinned), Code::PointerNotFound);
        refused(other.put(who, resting(&pinned)), Code::PointerNotFound);
    }
    // The same bytes at the same path, kept there too.
    engram_kit::write(&ground.path("other").join("src/new.rs"), "fn new() {}\n");
    other
        .put(&USER, resting("repo:src/new.rs#L1@worktree"))
        .unwrap();
    other.deref(&USER, &pinned).unwrap();
}

/// Whose budget is spent is not told what is there instead, nor whether a digest is right.
#[test]
fn a_spent_budget_reveals_nothing_more() {
    let ground = Ground::new();
    let engine = ground.open();
    let ada = engine.agent("ada");
    let heading = "artifact:README.md#sec=Nothing@HEAD";
    let told = refused(engine.put(&ada, resting(heading)), Code::PointerNotFound);
    assert!(format!("{told} {}", told.hint).contains("Notes"), "{told}");
    for _ in 0..2 {
        engine
            .deref(&ada, "artifact:README.md#sec=Notes@HEAD")
            .unwrap();
    }
    let told = refused(engine.put(&ada, resting(heading)), Code::PointerNotFound);
    assert!(!format!("{told} {}", told.hint).contains("Notes"), "{told}");
    let guess = |digest: &str| {
        let pointer = serde_json::json!({
            "type": "artifact", "ref": "artifact:README.md@HEAD", "digest": format!("sha256:{digest}")
        });
        Draft {
            pointers: vec![serde_json::from_value(pointer).unwrap()],
            ..draft(&format!("It reads as {}.", &digest[..4]))
        }
    };
    let found = engine.put(&ada, guess(&"0".repeat(64))).unwrap();
    assert!(found.findings.is_empty(), "{:?}", found.findings);
}
