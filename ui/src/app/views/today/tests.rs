//! What is new, and where its rows lead.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{Change, Engram, Entry, Looked, NewsSince, Request};
use jiff::tz::Offset;
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, state};
use crate::app::{gallery::made_up::engrams, views::stage::Stage};

fn row(what: &str, by: &str, id: &str) -> Value {
    json!({"project": format!("{:026}", 3), "repository": "shop", "path": "/code/shop", "is_here": true, "what": what,
        "by": by, "count": 2, "at": "2026-11-26T10:00:00Z", "seq": 8, "id": id, "text": "It holds."})
}

#[test]
fn each_row_leads_to_what_it_counts() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::News(_) => Ok(json!({"is": "news", "with": {"head": 9, "rows": [
            row("contradicted", "ada", "01K0000000000000000000000C"),
            row("asked", "ada", "01K0000000000000000000000R"),
            row("drifted", "", ""),
            row("learned", "ada", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ]}})),
        other => panic!("{other:?}"),
    });
    stage.app.views.today.with_ttl.set(Some(Vec::new()));
    state::read(stage.app);
    stage.settle();
    let leads = || {
        let row = untrack(|| state::current_row(stage.app)).unwrap();
        state::route_to(&row).query(Offset::UTC)
    };
    for want in [
        "?view=conflicts",
        "?view=requests&request=01K0000000000000000000000R",
        "?view=drift",
        "?agent=ada&id=01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        assert_eq!(leads(), want);
        stage.press("j");
    }
}

#[test]
fn news_is_read_since_the_last_look() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::News(_) => Ok(json!({"is": "news", "with": {"head": 9, "rows": []}})),
        other => panic!("{other:?}"),
    });
    let today = stage.app.views.today;
    let asked = || match stage.asked().as_slice() {
        [Request::News(since)] => *since,
        other => panic!("{other:?}"),
    };
    // Nobody looked yet: since this morning.
    state::read(stage.app);
    stage.settle();
    let since = asked();
    assert!(since.seq == 0 && since.at.is_some(), "{since:?}");
    let looked = Looked {
        seq: 5,
        at: "2026-11-26T10:00:00Z".parse().unwrap(),
    };
    today.looked.set(Some(looked));
    state::read(stage.app);
    stage.settle();
    assert_eq!(asked(), NewsSince { seq: 5, at: None });
    // The next look begins where this one ended.
    let kept = stage.app.frame.settings.get_untracked().looked;
    assert_eq!(kept.get("everywhere").map(|it| it.seq), Some(9));
    assert!(!stage.press("Enter"), "there is nothing to go to");
    assert!(untrack(|| state::current_row(stage.app)).is_none());
}

/// The newest claims that hold: only the second and the third have a ttl, and end soon.
fn held() -> Vec<Engram> {
    let claims = engrams()
        .into_iter()
        .take(4)
        .zip([None, Some(9), Some(2), Some(90)]);
    let held = claims.map(|(engram, hours)| {
        let mut engram = Engram::clone(&engram);
        let end = |it| engram.valid_from + jiff::SignedDuration::from_hours(it);
        engram.expires_at = hours.map(end);
        engram.ttl = hours.map(|it| format!("PT{it}H").parse().unwrap());
        engram
    });
    held.collect()
}

#[test]
fn claims_that_end_soon_are_a_row_that_leads_to_the_first_to_end() {
    static HELD: std::sync::LazyLock<Vec<Engram>> = std::sync::LazyLock::new(held);
    let stage = Stage::open(&VIEW, |request| match request {
        Request::News(_) => Ok(json!({"is": "news", "with": {"head": 9, "rows": [
            row("drifted", "", ""),
        ]}})),
        Request::Feed(feed) => {
            assert_eq!(feed.filter.ended, Some(false));
            let entry = |engram: &Engram| Entry {
                seq: engram.seq,
                at: engram.recorded_at,
                agent: None,
                by: String::new(),
                change: Change::Stored(Box::new(engram.clone())),
            };
            let entries: Vec<_> = HELD.iter().rev().map(entry).collect();
            Ok(json!({"is": "feed", "with": {"entries": entries, "head": 9, "engrams": 4}}))
        }
        other => panic!("{other:?}"),
    });
    // Nothing is opened before it is known what comes first.
    state::read(stage.app);
    stage.settle();
    assert!(untrack(|| state::current_row(stage.app)).is_none());
    state::read_ttls(stage.app);
    stage.settle();
    let ending = untrack(|| state::ending(stage.app)).unwrap();
    assert_eq!((ending.count, ending.first.id), (2, HELD[2].id));
    let lead = || {
        let row = untrack(|| state::current_row(stage.app)).unwrap();
        state::route_to(&row).query(Offset::UTC)
    };
    assert_eq!(lead(), format!("?view=knowledge&id={}", HELD[2].id));
    stage.press("j");
    assert_eq!(lead(), "?view=drift");
    stage.press("k");
    // The clock goes on: of the two, only one is left, and then none.
    let at = |hours| HELD[2].valid_from + jiff::SignedDuration::from_hours(hours);
    for (hours, left) in [(3, Some(1)), (10, None)] {
        stage.app.clock.update(|it| it.now = at(hours));
        let ending = untrack(|| state::ending(stage.app));
        assert_eq!(ending.map(|it| it.count), left);
    }
}
