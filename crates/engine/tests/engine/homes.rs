//! The home is removed under an open engine, comes back, or is replaced: acknowledged claims can be
//! found again.

use std::{
    fs,
    path::Path,
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use engram_model::{Caller, Code, EngramId, Entry};

use crate::fixture::{Asked, Ground, draft, query, refused};

const USER: Caller = Caller::User;
/// Far longer than anything here takes; a test that waits this long has failed.
const LONG: Duration = Duration::from_secs(30);

impl Ground {
    /// Moves a folder of this ground.
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
fn can_be_found(ground: &Ground, id: EngramId) {
    ground.open_at("repo", 91).get(&USER, id).unwrap();
}

#[track_caller]
fn is_gone(engine: &Asked) {
    for _ in 0..2 {
        refused(engine.put(&USER, draft("Lost?")), Code::StoreGone);
        refused(engine.ask(&USER, query("parser")), Code::StoreGone);
        refused(engine.status(&USER), Code::StoreGone);
    }
}

#[test]
fn a_home_that_is_deleted_takes_no_claim() {
    let ground = Ground::new();
    let engine = ground.open();
    engine.0.follow().unwrap();
    engine.claim("The parser is slow.");
    // The index may be written while the home is removed.
    let is_busy = |it: &std::io::Error| it.kind() == std::io::ErrorKind::DirectoryNotEmpty;
    while fs::remove_dir_all(ground.home()).is_err_and(|it| is_busy(&it)) {}
    is_gone(&engine);
    assert!(!ground.home().exists(), "none is made in its place");
}

#[test]
fn a_home_that_comes_back_is_opened_anew() {
    let ground = Ground::new();
    let engine = ground.open();
    engine.0.follow().unwrap();
    let agent = engine.agent("ada");
    engine.put(&agent, draft("The parser is slow.")).unwrap();
    ground.rename("home", "away");
    is_gone(&engine);
    ground.rename("away", "home");
    assert_eq!(engine.found("parser").len(), 1);
    let stored = engine.put(&agent, draft("The parser is fast.")).unwrap();
    can_be_found(&ground, stored.id);
    assert_eq!(engine.query(&agent, "parser").engrams.len(), 2);
}

#[test]
fn another_home_in_its_place_is_the_home() {
    let ground = Ground::new();
    let engine = ground.open();
    engine.0.follow().unwrap();
    for at in 0..20 {
        engine.claim(&format!("The parser reads setting_{at}."));
    }
    assert_eq!(engine.found("parser setting_3").len(), 1);
    let other = ground.other_home("The lexer is fast.");
    ground.rename("home", "away");
    ground.rename("other", "home");
    assert_eq!(engine.found("lexer"), ["The lexer is fast."]);
    assert!(engine.found("parser").is_empty());
    engine.get(&USER, other).unwrap();
    let stored = engine.claim("The lexer has modes.");
    can_be_found(&ground, stored.id);
    assert!(engine.0.doctor(Default::default()).unwrap().ok);
}

/// As when a person restores a backup: the copy is moved in, or its database overwrites the other.
#[test]
fn an_older_copy_in_its_place_takes_claims_again() {
    for is_over in [false, true] {
        let ground = Ground::new();
        ground.open().claim("The parser is slow.");
        copy(&ground.home(), &ground.path("backup"));
        let engine = ground.open_at("repo", 2);
        for at in 0..300 {
            engine.claim(&format!("The parser reads setting_{at} of many, and more."));
        }
        if is_over {
            // When nobody else has the home open, everything is in the one file again.
            drop(engine);
            let engine = ground.open_at("repo", 3);
            let name = "engram.db";
            fs::copy(ground.path("backup").join(name), ground.home().join(name)).unwrap();
            let stored = engine.claim("The parser was rewritten.");
            can_be_found(&ground, stored.id);
            continue;
        }
        fs::remove_dir_all(ground.home()).unwrap();
        ground.rename("backup", "home");
        assert_eq!(engine.found("parser"), ["The parser is slow."]);
        let stored = engine.claim("The parser was rewritten.");
        can_be_found(&ground, stored.id);
        assert!(engine.0.doctor(Default::default()).unwrap().ok);
    }
}

/// Only the log or the shared memory is gone: the next write would go to a file without a name.
#[test]
fn a_log_that_is_gone_is_noticed() {
    for name in ["engram.db-wal", "engram.db-shm"] {
        let ground = Ground::new();
        let engine = ground.open();
        engine.claim("The parser is slow.");
        fs::remove_file(ground.home().join(name)).unwrap();
        let stored = engine.claim("The parser is fast.");
        can_be_found(&ground, stored.id);
    }
}

/// A reader of the feed sees that it ended, and is refused until the home is back.
#[test]
fn the_feed_of_a_home_that_is_gone_ends() {
    let ground = Ground::new();
    let engine = ground.open();
    let (tell, told) = channel::<Vec<Entry>>();
    let subscription = engine
        .0
        .subscribe(0, move |it| drop(tell.send(it)))
        .unwrap();
    engine.claim("The parser is slow.");
    assert_eq!(told.recv_timeout(LONG).unwrap().len(), 1);
    ground.rename("home", "away");
    // Nothing needs to wake it, because the doorbell went with the home.
    assert_eq!(told.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    drop(subscription);
    let refusal = engine.0.subscribe(0, |_| ()).err().unwrap();
    assert_eq!(refusal.code, Code::StoreGone);
    ground.rename("away", "home");
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
