//! The clock jumps: nothing stops, nothing outlives its ttl, and the order stays.

use engram_model::{Caller, Code, Draft};

use crate::fixture::{Asked, POINTER, Sandbox, USER, correction_of, draft, query, refused};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

fn short_lived_draft(claim: &str) -> Draft {
    Draft {
        ttl: Some("PT20M".to_owned()),
        ..draft(claim)
    }
}

impl Asked {
    /// How many claims the agent may commit at once.
    fn burst(&self, agent: &Caller, name: &str) -> usize {
        (0..30)
            .take_while(|at| self.put(agent, draft(&format!("{name} {at}."))).is_ok())
            .count()
    }
}

/// A home with one entry forty years ahead.
fn open_with_entry_ahead() -> (Sandbox, Asked, Caller) {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    let ada = engine.agent("ada");
    sandbox.clock.turn(40 * YEAR);
    engine
        .put(&ada, short_lived_draft("Said too early."))
        .unwrap();
    sandbox.clock.turn(-40 * YEAR);
    (sandbox, engine, ada)
}

#[test]
fn an_entry_forty_years_ahead_moves_nobodys_now() {
    let (sandbox, engine, ada) = open_with_entry_ahead();
    let stored = engine
        .put(&ada, short_lived_draft("The parser is slow."))
        .unwrap();
    let seen = engine.get(&USER, stored.id).unwrap();
    assert_eq!(seen.valid_from, sandbox.clock.now());
    assert_eq!(engine.claims_found("parser").len(), 1);
    sandbox.clock.turn(21 * MINUTE);
    assert!(engine.claims_found("parser").is_empty(), "its ttl is over");
    assert!(
        engine.claims_found("said too early").is_empty(),
        "that claim does not outlive its ttl either"
    );
    assert!(engine.0.doctor(Default::default()).unwrap().ok);
}

#[test]
fn a_rate_is_kept_for_its_time_and_no_longer() {
    let (sandbox, engine, ada) = open_with_entry_ahead();
    for name in ["First", "Second"] {
        assert_eq!(engine.burst(&ada, name), 20);
        sandbox.clock.turn(MINUTE + 1);
    }
    // Set back by less than a day, so that the journal's time stands still.
    assert_eq!(
        engine.burst(&ada, "Third"),
        10,
        "the limit is fifty an hour"
    );
    sandbox.clock.turn(-20 * HOUR);
    for name in ["Fourth", "Fifth"] {
        assert_eq!(engine.burst(&ada, name), 20, "{name}");
        sandbox.clock.turn(MINUTE + 1);
    }
}

#[test]
fn a_clock_that_is_set_back_hides_nothing() {
    for back in [MINUTE, 20 * HOUR, DAY, 400 * DAY] {
        let sandbox = Sandbox::new();
        let engine = sandbox.open();
        let first = engine.claim("The parser is slow.");
        sandbox.clock.turn(-back);
        assert_eq!(engine.claims_found("parser").len(), 1, "{back}");
        assert_eq!(engine.query(&USER, "?").engrams.len(), 1, "{back}");
        assert_eq!(engine.status(&USER).unwrap().engrams, 1);
        let second = engine
            .put(&USER, correction_of(first.id, "The parser is fast."))
            .unwrap();
        assert_eq!(
            engine.claims_found("parser"),
            ["The parser is fast."],
            "{back}"
        );
        let old = engine.get(&USER, first.id).unwrap();
        assert!(old.valid_until.unwrap() >= old.valid_from, "{back}");
        engine.forget(&USER, second.id).unwrap();
        assert!(engine.claims_found("parser").is_empty(), "{back}");
        assert_eq!(engine.journal().entries.len(), 3);
        let replayed = engram_engine::Treatment {
            replay: true,
            ..Default::default()
        };
        assert!(engine.0.doctor(replayed).unwrap().ok);
    }
}

/// A claim for twenty minutes does not last ten hours.
#[test]
fn a_term_is_not_lengthened_by_a_clock_that_is_set_back() {
    let sandbox = Sandbox::new();
    let engine = sandbox.open();
    engine
        .put(&USER, short_lived_draft("The parser is slow."))
        .unwrap();
    sandbox.clock.turn(-10 * HOUR);
    assert!(engine.claims_found("parser").is_empty());
    // A new claim has its own ttl, although the journal's time stands still.
    engine
        .put(&USER, short_lived_draft("The lexer is slow."))
        .unwrap();
    assert_eq!(engine.claims_found("lexer").len(), 1);
    sandbox.clock.turn(21 * MINUTE);
    assert!(engine.claims_found("lexer").is_empty());
}

#[test]
fn a_turn_ends_whatever_the_clock_does() {
    let (sandbox, engine, ada) = open_with_entry_ahead();
    let spend = |engine: &Asked| {
        for _ in 0..3 {
            engine.deref(&ada, POINTER).unwrap();
        }
        refused(engine.deref(&ada, POINTER), Code::DerefDenied);
    };
    spend(&engine);
    sandbox.clock.turn(11 * MINUTE);
    spend(&engine);
    sandbox.clock.turn(-5 * HOUR);
    spend(&engine);
    sandbox.clock.turn(11 * MINUTE);
    spend(&engine);
    assert_eq!(engine.query(&USER, "early").engrams.len(), 0);
    assert!(engine.ask(&USER, query("early")).is_ok());
}

/// In two processes of one agent, one more turn begins, rather than one at each call until the
/// clock has caught up.
#[test]
fn a_clock_that_is_set_back_begins_one_turn_in_all_processes() {
    for back in [5 * MINUTE, 20 * MINUTE, 20 * HOUR, 3 * DAY] {
        let sandbox = Sandbox::new();
        let processes = [1, 2].map(|seed| sandbox.open_at("repo", seed));
        let ada = processes[0].agent("ada");
        for engine in &processes {
            engine.deref(&ada, POINTER).unwrap();
        }
        sandbox.clock.turn(-back);
        let read = (0..12).filter(|at| processes[at % 2].deref(&ada, POINTER).is_ok());
        assert!(read.count() <= 3, "{back}");
    }
}

/// A list by time finds what was recorded then, even if a fast clock wrote an earlier entry.
#[test]
fn the_feed_is_filtered_by_time_as_before() {
    use engram_model::{Feed, Filter, ask};

    let (sandbox, engine, _) = open_with_entry_ahead();
    let mut moments = Vec::new();
    for at in 0..40 {
        sandbox.clock.turn(HOUR);
        moments.push(sandbox.clock.now());
        engine.claim(&format!("The parser reads setting_{at}."));
    }
    for (since, until) in [(0, 40), (5, 9), (30, 40), (39, 40)] {
        let feed = Feed {
            limit: Some(100),
            filter: Filter {
                since: Some(moments[since]),
                until: moments.get(until).copied(),
                ..Filter::default()
            },
            ..Feed::default()
        };
        let page = engine.0.ask(&USER, ask::Feed(feed)).unwrap();
        // Without an end, the entry ahead of the clock counts too.
        let expected = until - since + usize::from(until == 40 && since == 0);
        assert!(
            page.entries.len() == until - since || page.entries.len() == expected,
            "{since}..{until}: {}",
            page.entries.len()
        );
    }
}
