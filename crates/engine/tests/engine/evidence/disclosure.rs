//! What counts as evidence, and how it is shown and stored.

use engram_model::{Caller, Code, Draft, PointerInput};

use crate::fixture::{
    POINTER, Sandbox, USER, draft, draft_citing, git, make_repository, on_topic, refused,
};

fn draft_resting_on(pointer: &str) -> Draft {
    draft_citing("It rests on a file.", pointer)
}

#[test]
fn bytes_are_evidence_of_their_own_path_and_project_alone() {
    let sandbox = Sandbox::new();
    make_repository(&sandbox.path("other"));
    engram_kit::write(&sandbox.path("repo").join("src/new.rs"), "fn new() {}\n");
    let (engine, other) = (sandbox.open(), sandbox.open_at("other", 2));
    let stored = engine
        .put(&USER, draft_resting_on("repo:src/new.rs#L1@worktree"))
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
        refused(
            engine.put(&USER, draft_resting_on(&pointer)),
            Code::PointerNotFound,
        );
    }
    // Nobody learns about it in another project.
    let ada = other.agent("ada");
    for who in [&USER, &ada] {
        refused(other.deref(who, &pinned), Code::PointerNotFound);
        refused(
            other.put(who, draft_resting_on(&pinned)),
            Code::PointerNotFound,
        );
    }
    // The same bytes at the same path, stored in that project too.
    engram_kit::write(&sandbox.path("other").join("src/new.rs"), "fn new() {}\n");
    other
        .put(&USER, draft_resting_on("repo:src/new.rs#L1@worktree"))
        .unwrap();
    other.deref(&USER, &pinned).unwrap();
}

/// A file read from the working tree and cited by its digest is found again after the file has
/// changed, in every later process, even if nothing else was stored for the repository.
#[test]
fn what_was_read_uncommitted_and_cited_by_its_digest_does_not_vanish() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("repo").join("src/new.rs");
    engram_kit::write(&file, "fn new() {}\n");
    let read = sandbox
        .open()
        .deref(&USER, "repo:src/new.rs#L1@worktree")
        .unwrap();
    assert!(read.now.is_none(), "{:?}", read.now);
    let stored = sandbox
        .open()
        .put(&USER, draft_resting_on(&read.pointer))
        .unwrap();
    assert!(stored.verified);
    engram_kit::write(&file, "fn other() {}\n");
    for seed in [3, 4] {
        let found = sandbox.open_at("repo", seed).deref(&USER, &read.pointer);
        assert_eq!(found.unwrap().excerpt, "fn new() {}\n");
    }
    // A home whose git folder has no id, as earlier builds left it.
    std::fs::remove_file(sandbox.path("repo").join(".git/engram-project")).unwrap();
    let found = sandbox.open_at("repo", 5).deref(&USER, &read.pointer);
    assert_eq!(found.unwrap().excerpt, "fn new() {}\n");
}

/// An agent whose budget is spent learns neither what exists instead nor whether a digest is right.
#[test]
fn a_spent_budget_reveals_nothing_more() {
    let engine = Sandbox::open_new();
    let ada = engine.agent("ada");
    let heading = "artifact:README.md#sec=Nothing@HEAD";
    let told = refused(
        engine.put(&ada, draft_resting_on(heading)),
        Code::PointerNotFound,
    );
    assert!(format!("{told} {}", told.hint).contains("Notes"), "{told}");
    for _ in 0..2 {
        engine
            .deref(&ada, "artifact:README.md#sec=Notes@HEAD")
            .unwrap();
    }
    let told = refused(
        engine.put(&ada, draft_resting_on(heading)),
        Code::PointerNotFound,
    );
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

/// An agent is shown no credential of a file, not even one that its span cuts. The user sees
/// everything, and the digest is that of the bytes.
#[test]
fn an_agent_is_shown_no_credential() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407");
    let key = format!(
        "-----BEGIN RSA {0}-----\nMIIEowIBAAKCAQEAxJ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407aZ\nQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407aZ3kxJ3kQ9wB7xLmN2cV5tRy\n-----END RSA {0}-----\n",
        "PRIVATE KEY"
    );
    let text = format!("first\nlet token = \"{token}\";\nthird\n{key}last\n");
    let repo = sandbox.path("repo");
    engram_kit::write(&repo.join("src/keys.rs"), text);
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "keys"]);
    let engine = sandbox.open();
    for (span, kept, is_masked) in [
        ("#L1-L3", "first", true),
        ("#L2", "let token", true),
        ("#L5-L6", "", true),
        ("#L3", "third", false),
        ("", "last", true),
    ] {
        let agent = engine.agent("ada");
        let pointer = format!("repo:src/keys.rs{span}@HEAD");
        let (agents, users) = (
            engine.deref(&agent, &pointer).unwrap(),
            engine.deref(&USER, &pointer).unwrap(),
        );
        assert_eq!(agents.masked.is_some(), is_masked, "{span}: {agents:?}");
        assert_eq!(users.masked, None);
        assert!(agents.excerpt.contains(kept), "{span}: {agents:?}");
        for secret in [&token[4..], "MIIEow", "Q9wB7x"] {
            assert!(!agents.excerpt.contains(secret), "{span}: {agents:?}");
        }
        assert_eq!(agents.content_digest, users.content_digest);
        assert!(!users.excerpt.contains("[masked"));
    }
}

/// A refusal for an unresolved pointer lists headings and entries. A credential among them is
/// masked for an agent, and so is one in the address of a read in the journal.
#[test]
fn refusals_and_the_journal_show_an_agent_no_credential() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407");
    let repo = sandbox.path("repo");
    engram_kit::write(
        &repo.join("docs/guide.md"),
        format!("# Guide\n\n## Token {token}\n\nText.\n"),
    );
    engram_kit::write(&repo.join(format!("keys/{token}.txt")), "one\n");
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "keys"]);
    let engine = sandbox.open();
    for pointer in ["artifact:docs/guide.md#sec=Tokens@HEAD", "repo:keys@HEAD"] {
        let told = |who: &Caller| {
            let refusal = engine.deref(who, pointer).unwrap_err();
            format!("{} {}", refusal.message, refusal.hint)
        };
        assert!(told(&USER).contains(&token), "{}", told(&USER));
        let agents = told(&engine.agent("ada"));
        assert!(!agents.contains(&token[4..]), "{agents}");
        assert!(agents.contains("[masked"), "{agents}");
    }
    let read = engine.deref(&engine.agent("ada"), &format!("repo:keys/{token}.txt@HEAD"));
    assert_eq!(read.unwrap().excerpt, "one\n");
    assert_eq!(
        engram_kit::files_holding(&sandbox.home(), &token),
        [""; 0].map(std::path::PathBuf::from)
    );
}

/// Everything that is stored is screened, and the refusal names the place.
#[test]
fn no_field_takes_a_credential() {
    use engram_model::{Note, ask};

    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ada = engine.agent("ada");
    let token = format!("ghp_{}", "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407");
    let fine = || draft("The parser is slow.");
    let with = |change: &dyn Fn(&mut Draft)| {
        let mut draft = fine();
        change(&mut draft);
        draft
    };
    for (field, said) in [
        (
            "the claim",
            with(&|it| it.claim = format!("It is {token}.")),
        ),
        ("the topic", with(&|it| it.topic = Some(token.clone()))),
        ("a tag", with(&|it| it.tags = vec![token.clone()])),
        (
            "the agent's name",
            with(&|it| it.agent = Some(token.clone())),
        ),
        (
            "pointer 2",
            with(&|it| {
                it.pointers.push(PointerInput::Text(format!(
                    "url:https://example.org/?t={token}"
                )))
            }),
        ),
    ] {
        for who in [&USER, &ada] {
            let refusal = refused(engine.put(who, said.clone()), Code::SecretDetected);
            assert!(refusal.message.starts_with(field), "{refusal}");
            assert!(!refusal.message.contains(&token));
        }
    }
    // Invisible characters do not hide a credential.
    let (first, second) = token.split_at(12);
    for parted in [
        format!("{first}\u{200b}{second}"),
        format!("{first}\u{2060}{second}"),
        format!("{first}\u{ad}{second}"),
    ] {
        let said = with(&|it| it.claim = format!("It is {parted}."));
        refused(engine.put(&ada, said), Code::SecretDetected);
    }
    let encoded: String = token.bytes().map(|it| format!("%{it:02X}")).collect();
    let said = with(&|draft| {
        let url = format!("url:https://example.org/?t={encoded}");
        draft.pointers.push(PointerInput::Text(url));
    });
    refused(engine.put(&ada, said), Code::SecretDetected);
    let note = |kind: &str, slug: &str, text: &str| Note {
        kind: kind.to_owned(),
        slug: slug.to_owned(),
        text: text.to_owned(),
        agent: None,
    };
    for (field, note) in [
        ("the note", note("decision", "domain", &token)),
        ("the note's slug", note("decision", &token, "We publish.")),
        ("the note's kind", note(&token, "domain", "We publish.")),
    ] {
        let refusal = refused(engine.0.ask(&USER, ask::Note(note)), Code::SecretDetected);
        assert!(refusal.message.starts_with(field), "{refusal}");
    }
    let commit = engram_model::Commit {
        draft: Draft {
            claim: "Seen in a log.".to_owned(),
            ..Draft::default()
        },
        words: Some(token.clone()),
        ..engram_model::Commit::default()
    };
    let refusal = refused(
        engine.0.ask(&ada, ask::Commit(Box::new(commit))),
        Code::SecretDetected,
    );
    assert!(refusal.message.starts_with("provenance"), "{refusal}");
    let pointer = POINTER;
    refused(
        engine.deref_in(&ada, pointer, Some(&token)),
        Code::SecretDetected,
    );
    let handle = Caller::Agent(engram_model::AgentId(token.clone()));
    refused(engine.deref(&handle, pointer), Code::SecretDetected);
    let named = engine.agent(&token);
    engine.put(&named, fine()).unwrap();
    assert_eq!(
        engram_kit::files_holding(&sandbox.home(), &token),
        [""; 0].map(std::path::PathBuf::from)
    );
}

/// A web address is screened as text.
#[test]
fn an_address_holds_no_words_that_nobody_sees() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    for hidden in ["a\u{E0041}", "\u{202E}b", "c\u{200B}"] {
        let pointer = format!("url:https://example.org/{hidden}");
        let draft = engram_model::Draft {
            pointers: vec![engram_model::PointerInput::Text(pointer)],
            ..on_topic("gateway", "The gateway has a lid.")
        };
        let stored = at.put(&engram_model::Caller::User, draft);
        refused(stored, engram_model::Code::SchemaInvalid);
    }
}
