//! Pointer health: the results of checking a claim's pointers, and what they mean for it.

use std::fs;

use engram_model::{
    Caller, Check, CheckReply, Code, Draft, EngramId, Evidence, Noticed, PointerInput, PutReply,
    Query, Reading, Refusal, Reply, Request, ask,
};

use crate::fixture::{
    Asked, Sandbox, draft,
    evidence::{SPAN, STEPS, Tree, claim_citing, health_of, line_of},
    head, query,
};

fn check(at: &Asked, changed: bool) -> CheckReply {
    let since = changed.then(|| "HEAD".to_owned());
    match at.0.handle(
        &Caller::User,
        Request::CheckPointers(Check { since, gate: false }),
    ) {
        Ok(Reply::Checked(reply)) => reply,
        other => panic!("{other:?}"),
    }
}

fn repin(at: &Asked, id: EngramId) -> Result<PutReply, Refusal> {
    match at.0.handle(&Caller::User, Request::Repin(id))? {
        Reply::Put(reply) => Ok(reply),
        other => panic!("{other:?}"),
    }
}

/// However many claims share a changed file, none is returned as unchanged.
#[test]
fn what_is_returned_says_how_its_evidence_stands() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    for at in 1..=20 {
        let pointer = format!("repo:src/lib.rs#L{at}@HEAD");
        claim_citing(&engine, &format!("The ledger knows zebra_{at}."), &pointer);
    }
    std::fs::write(sandbox.path("repo/src/lib.rs"), "").unwrap();
    for k in [1, 3, 10] {
        let found = engine.ask(
            &Caller::User,
            Query {
                k: Some(k),
                ..query("ledger knows")
            },
        );
        let found = found.unwrap().engrams;
        assert_eq!(found.len(), k);
        for engram in found {
            let health = engram.health.expect("it was looked at");
            assert_ne!(health.standing, Evidence::Holds, "{}", engram.claim);
        }
    }
}

#[test]
fn evidence_is_looked_up_when_nobody_follows() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let id = claim_citing(&at, "Values are computed with alpha beta gamma", SPAN).id;
    let tree = Tree(sandbox.path("repo"));
    for (name, change, want) in STEPS {
        change(&tree);
        assert_eq!(line_of(&health_of(&at, id)), *want, "{name}");
        let stale = *want == "edited: review | edited, now src/lib.rs#L40-L44";
        assert_eq!(
            check(&at, true).engrams.len(),
            usize::from(stale || want.contains("gone")),
            "{name}"
        );
    }
    let entries = at.journal().entries;
    assert_eq!(entries.len(), 1, "reading writes nothing");
}

#[test]
fn a_claim_whose_evidence_changed_ranks_lower() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let sound = claim_citing(
        &at,
        "The parser retries after a pause",
        "repo:src/lib.rs#L90@HEAD",
    )
    .id;
    sandbox.clock.turn(60);
    let stale = claim_citing(&at, "The parser retries three times", SPAN).id;
    let order = || -> Vec<EngramId> {
        let found = at.query(&Caller::User, "what the parser retries");
        found.engrams.iter().map(|it| it.id).collect()
    };
    assert_eq!(order(), [stale, sound]);
    let tree = Tree(sandbox.path("repo"));
    tree.replace("src/lib.rs", "value_42", "other_42");
    assert_eq!(order(), [sound, stale]);
    let then = engram_model::Query {
        as_of: Some(sandbox.clock.now()),
        ..query("what the parser retries")
    };
    let found = at.ask(&Caller::User, then).unwrap();
    assert_eq!(found.engrams[0].id, stale, "the past state does not change");
}

#[test]
fn what_was_not_committed_is_followed_from_its_snapshot() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    tree.replace("src/lib.rs", "value_42", "fresh_42");
    let id = claim_citing(&at, "Line 42 is fresh", "repo:src/lib.rs#L40-L44@worktree").id;
    assert_eq!(line_of(&health_of(&at, id)), "evidence unchanged");
    tree.git(&["commit", "-qam", "fresh"]);
    assert_eq!(
        line_of(&health_of(&at, id)),
        "evidence unchanged",
        "committed"
    );
    tree.git(&["mv", "src/lib.rs", "src/core.rs"]);
    tree.git(&["commit", "-qm", "core"]);
    assert_eq!(
        line_of(&health_of(&at, id)),
        "evidence unchanged | renamed, now src/core.rs#L40-L44"
    );
    // The card shows the same as the row.
    let pointer = at.get(&Caller::User, id).unwrap().pointers.remove(0);
    let asked = Request::Standing(PointerInput::from(pointer));
    match at.0.handle(&Caller::User, asked).unwrap() {
        Reply::Standing(standing) => assert_eq!(
            (standing.reading, standing.path.as_deref()),
            (Reading::Renamed, Some("src/core.rs"))
        ),
        other => panic!("{other:?}"),
    }
    tree.replace("src/core.rs", "fresh_42", "stale_42");
    assert_eq!(
        line_of(&health_of(&at, id)),
        "edited: review | edited, now src/core.rs#L40-L44"
    );
}

/// Following such lines by way of the commit would find only those that were committed.
#[test]
fn lines_of_which_some_are_committed_are_unchanged_while_nobody_edits_them() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let file = tree.0.join("src/grown.rs");
    fs::write(&file, "fn t() {\n    one();\n}\n").unwrap();
    tree.git(&["add", "."]);
    tree.git(&["commit", "-qm", "grown"]);
    let grown = "fn t() {\n    one();\n}\n\nfn u() {\n    two();\n}\n";
    fs::write(&file, grown).unwrap();
    for (text, span) in [("Whole", "L1-L7"), ("Begun", "L3-L7"), ("New", "L5-L7")] {
        let pointer = format!("repo:src/grown.rs#{span}@worktree");
        let id = claim_citing(&at, &format!("{text} functions stand here."), &pointer).id;
        let stands = |on_disk: &str| {
            fs::write(&file, on_disk).unwrap();
            line_of(&health_of(&at, id))
        };
        assert_eq!(stands(grown), "evidence unchanged", "{span}");
        let edited = stands(&grown.replace("two", "three"));
        assert!(
            !edited.starts_with("evidence unchanged"),
            "{span}: {edited}"
        );
        let moved = stands(&format!("// Grown.\n{grown}"));
        assert!(
            moved.starts_with("evidence unchanged | moved"),
            "{span}: {moved}"
        );
        assert_eq!(stands(grown), "evidence unchanged", "{span}, again");
    }
}

#[test]
fn a_picture_is_evidence_as_a_whole() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let picture = |byte: u8| [b"\x89PNG\r\n\x1a\n\0\0", &[byte; 64][..]].concat();
    fs::write(tree.0.join("shot.png"), picture(1)).unwrap();
    tree.git(&["add", "shot.png"]);
    tree.git(&["commit", "-qm", "shot"]);
    let stored = claim_citing(&at, "The page is blank", "artifact:shot.png@HEAD");
    assert!(stored.verified, "its bytes were read and digested");
    let id = stored.id;
    let read = at.deref(&Caller::User, "artifact:shot.png@HEAD");
    let refusal = read.unwrap_err();
    assert_eq!(
        refusal.code,
        Code::PointerInvalid,
        "there is nothing to read"
    );
    assert_eq!(line_of(&health_of(&at, id)), "evidence unchanged");
    tree.git(&["mv", "shot.png", "page.png"]);
    tree.git(&["commit", "-qm", "page"]);
    let now = line_of(&health_of(&at, id));
    assert!(
        now.starts_with("evidence unchanged | renamed, now page.png"),
        "{now}"
    );
    tree.git(&["mv", "page.png", "shot.png"]);
    fs::write(tree.0.join("shot.png"), picture(2)).unwrap();
    tree.git(&["commit", "-qam", "another"]);
    let now = line_of(&health_of(&at, id));
    assert!(now.starts_with("edited: review | edited"), "{now}");
    let again = repin(&at, id).unwrap();
    assert_eq!(line_of(&health_of(&at, again.id)), "evidence unchanged");
    fs::remove_file(tree.0.join("shot.png")).unwrap();
    let now = line_of(&health_of(&at, again.id));
    assert!(now.starts_with("evidence gone"), "{now}");
}

#[test]
fn evidence_outlives_its_history() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let id = claim_citing(&at, "Values are computed with alpha beta gamma", SPAN).id;
    let first = head(&tree.0);
    tree.replace("src/lib.rs", "let value_1 =", "// one\nlet value_1 =");
    tree.git(&["commit", "-qa", "--amend", "-m", "rewritten"]);
    tree.git(&["reflog", "expire", "--expire=now", "--all"]);
    tree.git(&["gc", "-q", "--prune=now"]);
    assert_ne!(first, head(&tree.0));
    assert_eq!(
        line_of(&health_of(&at, id)),
        "evidence unchanged | moved, now src/lib.rs#L41-L45"
    );
}

#[test]
fn a_phantom_read_shows() {
    let at = Sandbox::open_new();
    let real = at.deref(&Caller::User, SPAN).unwrap().content_digest;
    let wrong = format!("sha256:{}", "0".repeat(64));
    for (digest, phantom) in [(real, false), (wrong, true)] {
        let pointer = serde_json::json!({
            "type": "repo", "ref": "src/lib.rs@HEAD", "span": "L40-L44", "digest": digest,
        });
        let pointer: PointerInput = serde_json::from_value(pointer).unwrap();
        let sent = Draft {
            pointers: vec![pointer.clone()],
            ..draft(&format!("A claim on {digest}"))
        };
        let stored = at.put(&Caller::User, sent).unwrap();
        let found = stored
            .findings
            .iter()
            .any(|it| it.what == Noticed::PhantomRead);
        assert_eq!(found, phantom, "{digest}");
        let want = if phantom {
            "edited: review | unchanged; differs from what the author read"
        } else {
            "evidence unchanged"
        };
        assert_eq!(line_of(&health_of(&at, stored.id)), want);
        let read = engram_model::Deref {
            pointer,
            max_tokens: None,
            turn: None,
            budget_token: None,
            reason: None,
        };
        let read = at.0.ask(&Caller::User, ask::Deref(read)).unwrap();
        assert_eq!(read.now.is_some_and(|it| it.phantom), phantom);
    }
    // This was already so before the work since the last commit.
    assert_eq!(check(&at, true).engrams, []);
}

#[test]
fn repinning_takes_the_tree_as_it_is() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let first = claim_citing(&at, "Values are computed with alpha beta gamma", SPAN).id;
    for (name, change, want, pin) in [
        ("edited on disk", STEPS[0].1, STEPS[0].2, "@sha256:"),
        (
            "moved in a commit",
            (|tree: &Tree| {
                tree.replace("src/lib.rs", "let value_1 =", "// one\nlet value_1 =");
                tree.git(&["commit", "-qam", "more"]);
            }) as fn(&Tree),
            "evidence unchanged | moved, now src/lib.rs#L41-L45",
            "#L41-L45@",
        ),
    ] {
        let lineage = at.get(&Caller::User, first).unwrap().lineage_id;
        let log = at.0.ask(&Caller::User, ask::Log(first)).unwrap();
        let newest = log.iter().find_map(|it| it.change.stored()).unwrap().id;
        change(&tree);
        assert_eq!(line_of(&health_of(&at, newest)), want, "{name}");
        let again = repin(&at, newest).unwrap();
        assert_eq!(again.lineage_id, lineage, "{name}");
        let engram = at.get(&Caller::User, again.id).unwrap();
        let pointer = engram.pointers[0].to_string();
        assert!(pointer.contains(pin), "{name}: {pointer}");
        assert_eq!(
            line_of(&health_of(&at, again.id)),
            "evidence unchanged",
            "{name}"
        );
    }
    fs::remove_file(tree.0.join("src/lib.rs")).unwrap();
    let newest = check(&at, false).engrams[0].id;
    let refusal = repin(&at, newest).unwrap_err();
    assert!(refusal.message.contains("gone"), "{refusal}");
}

#[test]
fn who_is_unsure_leaves_a_todo() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let tree = Tree(sandbox.path("repo"));
    let long = format!(
        "Values are computed. {}",
        "Much more is said of them. ".repeat(17)
    );
    let reverify = |id| match at.0.handle(&Caller::User, Request::Reverify(id)) {
        Ok(Reply::Put(reply)) => at.get(&Caller::User, reply.id).unwrap(),
        other => panic!("{other:?}"),
    };
    let ids =
        [long.trim(), "Values are computed with alpha"].map(|it| claim_citing(&at, it, SPAN).id);
    for (name, change, pin) in [
        ("edited", STEPS[0].1, "@sha256:"),
        (
            "gone",
            (|it: &Tree| fs::remove_file(it.0.join("src/lib.rs")).unwrap()) as fn(&Tree),
            "#L40-L44@",
        ),
    ] {
        change(&tree);
        for id in ids {
            let todo = reverify(id);
            assert_eq!(todo.kind.as_str(), "todo", "{name}");
            assert!(
                todo.claim.starts_with("Is this still true?"),
                "{name}: {}",
                todo.claim
            );
            assert!(todo.claim.chars().count() <= 500, "{name}");
            assert!(
                todo.pointers[0].to_string().contains(pin),
                "{name}: {}",
                todo.pointers[0]
            );
        }
    }
}
