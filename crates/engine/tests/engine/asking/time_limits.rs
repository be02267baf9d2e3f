//! Time limits of answers: an agent's answer ends after its time, and any answer ends when nobody
//! waits for it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use engram_engine::{Engine, Options, World};
use engram_kit::{Clock, Folder};
use engram_model::{Caller, Code, Commit, ConflictFilter, Draft, Feed, Refusal, Reply, Request};

use crate::fixture::{LONG, REINDEX, SHORT, USER, on_topic, query, refused};

/// A home with more claims and conflicts than SQLite reads between two checks of the limit.
struct Full {
    engine: Engine,
    agent: Caller,
    /// Whether each reading of the clock takes longer than a request may.
    is_slow: Arc<AtomicBool>,
    _folder: Folder,
}

impl Full {
    fn new() -> Self {
        let (folder, clock) = (Folder::temporary(), Clock::default());
        let options = Options {
            home: folder.path("home"),
            repo: None,
            from: folder.path("."),
        };
        let is_slow = Arc::new(AtomicBool::new(false));
        let slow = Arc::clone(&is_slow);
        let look = move || {
            clock.turn(if slow.load(Ordering::Relaxed) { 6 } else { 0 });
            clock.now()
        };
        let engine = Engine::open_in(options, World::seeded(1, look)).unwrap();
        for at in 0..60 {
            for claim in [SHORT, LONG] {
                engine
                    .handle(&USER, claim_request(&at.to_string(), claim))
                    .unwrap();
            }
        }
        Self {
            agent: Caller::Agent(engine.register_agent("ada").unwrap()),
            engine,
            is_slow,
            _folder: folder,
        }
    }

    /// Returns the answer while each reading of the clock takes longer than a request may.
    fn slowly(&self, who: &Caller, request: Request) -> Result<Reply, Refusal> {
        self.is_slow.store(true, Ordering::Relaxed);
        let answer = self.engine.handle(who, request);
        self.is_slow.store(false, Ordering::Relaxed);
        answer
    }
}

fn claim_request(topic: &str, claim: &str) -> Request {
    let draft = Draft {
        pointers: Vec::new(),
        ..on_topic(topic, claim)
    };
    let words = Some("Seen in a test.".to_owned());
    Request::Commit(Box::new(Commit {
        draft,
        words,
        ..Commit::default()
    }))
}

fn list_requests() -> [Request; 5] {
    [
        Request::Query(query("wallet lock")),
        Request::Query(query("")),
        Request::Feed(Feed::default()),
        Request::Conflicts(ConflictFilter::default()),
        Request::Brief,
    ]
}

#[test]
fn a_list_for_an_agent_ends_after_its_time_and_the_users_does_not() {
    let full = Full::new();
    for list in list_requests() {
        let late = refused(full.slowly(&full.agent, list.clone()), Code::RateLimited);
        assert!(late.message.contains("took too long"), "{list:?}: {late}");
        assert!(full.slowly(&USER, list.clone()).is_ok(), "{list:?}");
        // The caches for the next request are not affected.
        assert!(full.engine.handle(&full.agent, list.clone()).is_ok());
    }
    assert!(full.engine.doctor(REINDEX).unwrap().ok);
}

#[test]
fn a_list_that_nobody_waits_for_ends() {
    let full = Full::new();
    for who in [&USER, &full.agent] {
        for list in list_requests() {
            let left = full.engine.handle_until(who, list, || true);
            refused(left, Code::RateLimited);
        }
    }
}

/// Exactly the stored changes are acknowledged, however long they took and whichever caller left.
#[test]
fn a_change_is_stored_whole_and_acknowledged() {
    let full = Full::new();
    let late = full.slowly(
        &full.agent,
        claim_request("late", "The cache holds 40 entries."),
    );
    let request = claim_request("left", "The cache holds 50 pages.");
    let left = full.engine.handle_until(&full.agent, request, || true);
    for stored in [late, left] {
        let Ok(Reply::Put(stored)) = stored else {
            panic!("{stored:?}");
        };
        assert!(full.engine.handle(&USER, Request::Get(stored.id)).is_ok());
    }
}
