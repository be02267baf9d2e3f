//! What is new, and where its rows lead.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::{Looked, NewsSince, Request};
use jiff::tz::Offset;
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, state};
use crate::app::views::stage::Stage;

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
