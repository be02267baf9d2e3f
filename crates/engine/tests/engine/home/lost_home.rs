//! The home is removed under an open engine, comes back, or is replaced: acknowledged claims can be
//! found again.

use std::{
    fs,
    path::Path,
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use engram_model::{Code, EngramId, Entry};

use crate::fixture::{Asked, Sandbox, USER, draft, query, refused};

/// Far longer than anything here takes; a test that waits this long has failed.
const LONG: Duration = Duration::from_secs(30);

impl Sandbox {
    /// Moves a folder of this sandbox.
    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Creates a home with one claim at another place.
    fn other_home(&self, claim: &str) -> EngramId {
        self.rename("home", "kept");
        let id = self.open_at("repo", 90).claim(claim).id;
        self.rename("home", "other");
        self.rename("kept", "home");
        id
    }
}

/// Checks that a fresh process finds it.
#[track_caller]
fn assert_found(sandbox: &Sandbox, id: EngramId) {
    sandbox.open_at("repo", 91).get(&USER, id).unwrap();
}

#[track_caller]
fn assert_gone(engine: &Asked) {
    for _ in 0..2 {
        refused(engine.put(&USER, draft("Lost?")), Code::StoreGone);
        refused(engine.ask(&USER, query("parser")), Code::StoreGone);
        refused(engine.status(&USER), Code::StoreGone);
    }
}

#[test]
fn a_home_that_is_deleted_takes_no_claim() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.0.follow().unwrap();
    engine.claim("The parser is slow.");
    // The index may be written while the home is removed.
    let is_busy = |it: &std::io::Error| it.kind() == std::io::ErrorKind::DirectoryNotEmpty;
    while fs::remove_dir_all(sandbox.home()).is_err_and(|it| is_busy(&it)) {}
    assert_gone(&engine);
    assert!(!sandbox.home().exists(), "none is made in its place");
}

#[test]
fn a_home_that_comes_back_is_opened_anew() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.0.follow().unwrap();
    let agent = engine.agent("ada");
    engine.put(&agent, draft("The parser is slow.")).unwrap();
    sandbox.rename("home", "away");
    assert_gone(&engine);
    sandbox.rename("away", "home");
    assert_eq!(engine.claims_found("parser").len(), 1);
    let stored = engine.put(&agent, draft("The parser is fast.")).unwrap();
    assert_found(&sandbox, stored.id);
    assert_eq!(engine.query(&agent, "parser").engrams.len(), 2);
}

#[test]
fn another_home_in_its_place_is_the_home() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine.0.follow().unwrap();
    for at in 0..20 {
        engine.claim(&format!("The parser reads setting_{at}."));
    }
    assert_eq!(engine.claims_found("parser setting_3").len(), 1);
    let other = sandbox.other_home("The lexer is fast.");
    sandbox.rename("home", "away");
    sandbox.rename("other", "home");
    assert_eq!(engine.claims_found("lexer"), ["The lexer is fast."]);
    assert!(engine.claims_found("parser").is_empty());
    engine.get(&USER, other).unwrap();
    let stored = engine.claim("The lexer has modes.");
    assert_found(&sandbox, stored.id);
    assert!(engine.0.doctor(Default::default()).unwrap().ok);
}

/// As when a person restores a backup: the copy is moved in, or its database overwrites the other.
#[test]
fn an_older_copy_in_its_place_takes_claims_again() {
    for is_over in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.open().claim("The parser is slow.");
        copy(&sandbox.home(), &sandbox.path("backup"));
        let engine = sandbox.open_at("repo", 2);
        for at in 0..300 {
            engine.claim(&format!("The parser reads setting_{at} of many, and more."));
        }
        if is_over {
            // When nobody else has the home open, everything is in the one file again.
            drop(engine);
            let engine = sandbox.open_at("repo", 3);
            let name = "engram.db";
            fs::copy(sandbox.path("backup").join(name), sandbox.home().join(name)).unwrap();
            let stored = engine.claim("The parser was rewritten.");
            assert_found(&sandbox, stored.id);
            continue;
        }
        fs::remove_dir_all(sandbox.home()).unwrap();
        sandbox.rename("backup", "home");
        assert_eq!(engine.claims_found("parser"), ["The parser is slow."]);
        let stored = engine.claim("The parser was rewritten.");
        assert_found(&sandbox, stored.id);
        assert!(engine.0.doctor(Default::default()).unwrap().ok);
    }
}

/// Only the log or the shared memory is gone: the next write would go to a file without a name.
#[test]
fn a_log_that_is_gone_is_noticed() {
    for name in ["engram.db-wal", "engram.db-shm"] {
        let sandbox = Sandbox::new();
        let engine = sandbox.open();
        engine.claim("The parser is slow.");
        fs::remove_file(sandbox.home().join(name)).unwrap();
        let stored = engine.claim("The parser is fast.");
        assert_found(&sandbox, stored.id);
    }
}

/// A reader of the feed sees that it ended, and is refused until the home is back.
#[test]
fn the_feed_of_a_home_that_is_gone_ends() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let (tell, told) = channel::<Vec<Entry>>();
    let subscription = engine
        .0
        .subscribe(0, move |it| drop(tell.send(it)))
        .unwrap();
    engine.claim("The parser is slow.");
    assert_eq!(told.recv_timeout(LONG).unwrap().len(), 1);
    sandbox.rename("home", "away");
    // Nothing needs to wake it, because the doorbell went with the home.
    assert_eq!(told.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    drop(subscription);
    let refusal = engine.0.subscribe(0, |_| ()).err().unwrap();
    assert_eq!(refusal.code, Code::StoreGone);
    sandbox.rename("away", "home");
    let (tell, told) = channel::<Vec<Entry>>();
    let _subscription = engine
        .0
        .subscribe(0, move |it| drop(tell.send(it)))
        .unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap().len(), 1);
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in engram_kit::files(from) {
        engram_kit::write(&to.join(path.strip_prefix(from).unwrap()), bytes);
    }
}
