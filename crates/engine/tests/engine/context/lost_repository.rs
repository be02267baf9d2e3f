//! The repository is removed under an open engine, and comes back.

use std::fs;

use engram_engine::{Engine, Options};
use engram_model::{AnswerQuality, Change, Code, Deref, PointerInput, PointerState, ask};

use crate::fixture::{Asked, POINTER, Sandbox, USER, draft, git, make_repository, query, refused};

/// Far longer than anything here takes; a test that waits this long has failed.
const LONG: std::time::Duration = std::time::Duration::from_secs(30);

#[test]
fn a_repository_that_moved_is_missed_and_found_again() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let stored = engine.claim("The parser is slow.");
    let ada = engine.agent("ada");
    fs::rename(sandbox.path("repo"), sandbox.path("away")).unwrap();
    for who in [&USER, &ada] {
        refused(engine.put(who, draft("More.")), Code::RepoUnavailable);
        refused(engine.deref(who, POINTER), Code::RepoUnavailable);
    }
    // Its user can still read; see below.
    refused(engine.ask(&ada, query("parser")), Code::RepoUnavailable);
    refused(engine.status(&ada), Code::RepoUnavailable);
    assert_eq!(engine.get(&USER, stored.id).unwrap().id, stored.id);
    assert!(!engine.0.doctor(Default::default()).unwrap().ok);
    fs::rename(sandbox.path("away"), sandbox.path("repo")).unwrap();
    assert_eq!(engine.query(&ada, "parser").verdict, AnswerQuality::Strong);
    engine.deref(&USER, POINTER).unwrap();
    engine.claim("The parser is fast.");
    assert!(engine.0.doctor(Default::default()).unwrap().ok);
}

/// When nobody waits for the answer, work in the repository ends, and the next request is answered.
#[test]
fn who_goes_ends_the_look() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.claim("The parser is slow.");
    let read = || Deref {
        pointer: PointerInput::Text("repo:src/lib.rs#L2@HEAD~1".to_owned()),
        max_tokens: None,
        turn: None,
        budget_token: None,
        reason: None,
    };
    git(
        &sandbox.path("repo"),
        &["commit", "--allow-empty", "-q", "-m", "more"],
    );
    let gone = engine.0.ask_until(&USER, ask::Deref(read()), || true);
    refused(gone, Code::RepoUnavailable);
    let waited = engine.0.ask_until(&USER, ask::Deref(read()), || false);
    assert!(waited.is_ok());
    engine.deref(&USER, POINTER).unwrap();
}

#[test]
fn a_repository_that_is_deleted_and_made_anew_works_again() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.claim("The parser is slow.");
    fs::remove_dir_all(sandbox.path("repo")).unwrap();
    refused(engine.ask(&USER, query("parser")), Code::RepoUnavailable);
    make_repository(&sandbox.path("repo"));
    engine.claim("The parser was written anew.");
    assert!(!engine.claims_found("parser").is_empty());
}

/// A path that now leads elsewhere is another repository, even under an open engine.
#[cfg(unix)]
#[test]
fn a_link_to_a_repository_is_followed_anew() {
    let sandbox = Sandbox::new();
    make_repository(&sandbox.path("other"));
    let link = sandbox.path("link");
    std::os::unix::fs::symlink(sandbox.path("repo"), &link).unwrap();
    let engine = sandbox.open_at("link", 1);
    engine.claim("The parser is slow.");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(sandbox.path("other"), &link).unwrap();
    assert!(engine.claims_found("parser").is_empty(), "another project");
    engine.claim("The lexer is fast.");
    assert_eq!(sandbox.open_at("other", 2).claims_found("lexer").len(), 1);
    assert!(sandbox.open_at("repo", 3).claims_found("lexer").is_empty());
}

/// Evidence from the past stays readable while the branch moves on, is rewritten, and is packed.
#[test]
fn history_may_move_on() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let stored = engine.claim("Line two computes.");
    let pinned = engine.get(&USER, stored.id).unwrap().pointers[0].to_string();
    let first = engine.deref(&USER, &pinned).unwrap();
    let repo = sandbox.path("repo");
    fs::write(repo.join("src/lib.rs"), "all new\n").unwrap();
    git(&repo, &["commit", "-q", "-a", "-m", "second"]);
    git(&repo, &["gc", "-q"]);
    let mut again = engine.deref(&USER, &pinned).unwrap();
    let now = again.now.take().and_then(|it| it.state);
    assert_eq!(again, first);
    assert_eq!(now, Some(PointerState::Deleted), "and shows its state");
    assert_eq!(
        engine
            .deref(&USER, "repo:src/lib.rs#L1@HEAD")
            .unwrap()
            .excerpt,
        "all new\n"
    );
}

/// A repository that is created later in the same folder is found without a restart.
#[test]
fn a_repository_may_be_made_later() {
    let sandbox = Sandbox::new();
    let place = sandbox.path("later");
    fs::create_dir(&place).unwrap();
    let engine = Engine::open(Options {
        home: sandbox.home(),
        repo: None,
        from: place.clone(),
    })
    .unwrap();
    let engine = Asked(engine.into(), None);
    refused(
        engine.put(&USER, draft("The parser is slow.")),
        Code::RepoUnavailable,
    );
    assert!(engine.status(&USER).unwrap().project.is_none());
    make_repository(&place);
    assert!(engine.claim("The parser is slow.").verified);
    assert_eq!(engine.status(&USER).unwrap().project.unwrap().name, "later");
}

/// The user can still read what is known about it. Nothing is reported as unchanged, because it
/// cannot be checked.
#[test]
fn what_is_known_of_a_repository_that_is_gone_is_still_read() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let claim = at.claim("The parser is slow.");
    let agent = at.agent("ada");
    let told = |at: &Asked| {
        let status = at.status(&USER).unwrap();
        let health = at.get(&USER, claim.id).unwrap().health;
        let entries = at.journal().entries;
        let mut listed = entries.iter().filter_map(|it| it.change.stored());
        let of_feed = listed.find_map(|it| it.health.clone());
        assert_eq!(status.engrams, 1);
        (status.project.unwrap(), health, of_feed)
    };
    at.0.follow().unwrap();
    let heard = std::sync::mpsc::channel();
    let _subscription = {
        let tell = heard.0;
        let told = move |entries| tell.send(entries).unwrap();
        at.0.subscribe(claim.seq, told).unwrap()
    };
    // A process follows the tree.
    let lines = std::fs::read_to_string(sandbox.path("repo/src/lib.rs")).unwrap();
    engram_kit::write(&sandbox.path("repo/src/lib.rs"), format!("// one\n{lines}"));
    heard.1.recv_timeout(LONG).unwrap();
    let (here, health, _) = told(&at);
    assert!(here.unavailable.is_none() && health.is_some());
    std::fs::rename(sandbox.path("repo"), sandbox.path("moved")).unwrap();
    // The processes that show it are notified.
    let entries = heard.1.recv_timeout(LONG).unwrap();
    assert!(matches!(&entries[0].change, Change::Anchored { engrams, .. } if engrams.is_empty()));
    let (gone, health, of_feed) = told(&at);
    assert!(gone.unavailable.unwrap().contains("does not exist"));
    assert_eq!(
        (gone.id, gone.name, gone.root),
        (here.id, here.name, here.root)
    );
    assert!(gone.branch.is_none() && health.is_none() && of_feed.is_none());
    assert_eq!(at.claims_found("parser"), ["The parser is slow."]);
    at.forget(&USER, claim.id).unwrap();
    at.0.ask(&USER, ask::Restore(claim.id)).unwrap();
    for caller in [&agent, &USER] {
        refused(at.put(caller, draft("Another.")), Code::RepoUnavailable);
    }
    refused(at.status(&agent), Code::RepoUnavailable);
    std::fs::rename(sandbox.path("moved"), sandbox.path("repo")).unwrap();
    assert!(
        at.status(&USER)
            .unwrap()
            .project
            .unwrap()
            .unavailable
            .is_none()
    );
}
