//! The timeline's keys, what it lists, and what it leads to; claims that are about to end.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, LazyLock};

use engram_model::{Change, Code, Engram, EngramId, Entry, Filter, Refusal, Request};
use jiff::{SignedDuration, Timestamp, tz::Offset};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{VIEW, state};
use crate::{
    app::{
        gallery::made_up::engrams,
        views::{
            feed::{self, gallery::load, listed_rows},
            is_timeline,
            stage::Stage,
        },
    },
    timeline::{Bar, Stretch},
};

/// Hours before and after the time of the stage, at which its clock stands.
fn hour(at: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(at)
}

/// Two claims that hold, an earlier version of the second, and one that was forgotten; newest
/// first. The second ends in three hours.
static ALL: LazyLock<Vec<Arc<Engram>>> = LazyLock::new(|| {
    let mut all = engrams();
    all.truncate(4);
    let [old, gone, new, first] = &mut all[..] else {
        panic!("four are made");
    };
    let (old, gone) = (Arc::make_mut(old), Arc::make_mut(gone));
    let (new, first) = (Arc::make_mut(new), Arc::make_mut(first));
    for (engram, topic, from, to) in [
        (&mut *old, "wallet", -40, Some(-20)),
        (&mut *gone, "auth", -30, Some(-10)),
        (&mut *new, "wallet", -20, None),
        (&mut *first, "ledger", -5, None),
    ] {
        engram.topic = topic.to_owned();
        (engram.valid_from, engram.recorded_at) = (hour(from), hour(from));
        engram.valid_until = to.map(hour);
        engram.health = None;
    }
    new.lineage_id = old.lineage_id;
    new.supersedes = Some(old.id);
    new.ttl = Some("PT23H".parse().unwrap());
    new.expires_at = Some(hour(3));
    all
});

fn ids() -> [EngramId; 4] {
    std::array::from_fn(|at| ALL[at].id)
}

fn answer(request: &Request) -> Result<Value, Refusal> {
    let entry = |engram: &Arc<Engram>| Entry {
        seq: engram.seq,
        at: engram.recorded_at,
        agent: None,
        by: String::new(),
        change: Change::Stored(Box::new(Engram::clone(engram))),
    };
    match request {
        Request::Feed(asked) => {
            let fits = |it: &&Arc<Engram>| asked.filter.admits(it, Timestamp::UNIX_EPOCH);
            let found = ALL.iter().rev().filter(fits).map(entry);
            Ok(json!({"is": "feed", "with": {
                "entries": found.collect::<Vec<_>>(), "head": 9, "engrams": 2,
            }}))
        }
        Request::Facets(_) => Ok(json!({"is": "facets", "with": {"total": 4}})),
        Request::Repin(id) => Ok(json!({"is": "put", "with": {
            "id": format!("{:026}", 77), "lineage_id": id, "seq": 10, "memory_op": "update",
            "supersedes": id, "committed_at": "1970-01-01T00:00:00Z", "verified": true, "findings": [], "conflicts": 0,
            "content_hash": "sha256:1", "pointers": [],
        }})),
        Request::Status => Err(Refusal::new(Code::StoreGone, "gone", "")),
        other => panic!("{other:?}"),
    }
}

fn open() -> Stage {
    let stage = Stage::open(&VIEW, answer);
    let held: Vec<_> = ALL
        .iter()
        .filter(|it| it.valid_until.is_none())
        .cloned()
        .collect();
    load(stage.app, &held, Filter::default());
    feed::select_newest(stage.app);
    stage.settle();
    stage.asked();
    stage
}

fn rows(stage: &Stage) -> Vec<EngramId> {
    let rows = untrack(|| listed_rows(stage.app));
    rows.iter().map(|it| it.id).collect()
}

fn open_engram(stage: &Stage) -> Option<EngramId> {
    stage.app.reading.selected.get_untracked()
}

fn stretch(stage: &Stage) -> Stretch {
    untrack(|| state::stretch_of(stage.app, &listed_rows(stage.app)))
}

/// What the lists that were requested are limited to.
fn ended_asked(stage: &Stage) -> Vec<Option<bool>> {
    let asked = stage.asked().into_iter();
    let ended = asked.filter_map(|request| match request {
        Request::Feed(feed) => Some(feed.filter.ended),
        _ => None,
    });
    ended.collect()
}

#[test]
fn one_key_shows_the_list_as_a_timeline_with_what_ended() {
    let stage = open();
    let [old, gone, new, first] = ids();
    assert_eq!(rows(&stage), [new, first], "the first ends soon");
    stage.app.reading.selected.set(Some(first));
    assert!(stage.press_shift("S"));
    assert_eq!(ended_asked(&stage), [None]);
    // By topic; the versions of a claim are together, the newest first.
    assert_eq!(rows(&stage), [gone, first, new, old]);
    assert_eq!(
        open_engram(&stage),
        Some(first),
        "the same claim stays open"
    );
    let address = |stage: &Stage| stage.app.route_of(true).query(Offset::UTC);
    assert_eq!(
        address(&stage),
        format!("?view=knowledge&as=timeline&id={first}")
    );
    // Keys walk through the bars, and act on the open one.
    assert!(stage.press("j") && stage.press("j"));
    assert_eq!(open_engram(&stage), Some(old));
    // The list has no ended version: the one that holds is opened instead.
    assert!(stage.press_shift("S"));
    assert_eq!(ended_asked(&stage), [Some(false)]);
    assert_eq!(open_engram(&stage), Some(new));
    assert_eq!(rows(&stage), [new, first]);
    assert_eq!(address(&stage), format!("?view=knowledge&id={new}"));
}

#[test]
fn a_claim_that_ended_as_a_whole_gives_way_to_one_that_is_listed() {
    let stage = open();
    let [_, gone, new, _] = ids();
    stage.press_shift("S");
    stage.app.reading.selected.set(Some(gone));
    stage.press_shift("S");
    assert_eq!(open_engram(&stage), Some(new));
}

#[test]
fn keys_move_through_time_and_the_open_claim_is_followed() {
    let stage = open();
    for key in ["+", "-", "0", "ArrowLeft", "ArrowRight"] {
        assert!(!stage.press(key), "{key} in the list");
    }
    stage.press_shift("S");
    let all = stretch(&stage);
    let on_screen = |engram: &Engram| {
        let bar = Bar::of(engram);
        stretch(&stage).showing(bar) == stretch(&stage)
    };
    assert!(ALL.iter().all(|it| on_screen(it)), "{all:?}");
    // The open claim began five hours ago: zooming in keeps it on the screen.
    stage.app.reading.selected.set(Some(ids()[3]));
    for _ in 0..4 {
        assert!(stage.press("+"));
    }
    assert!(on_screen(&ALL[3]) && !on_screen(&ALL[0]));
    let now = stage.app.clock.get_untracked().now.as_second();
    assert!(stretch(&stage).has(now), "the open claim holds now");
    let close = stretch(&stage);
    assert!(stage.press("ArrowLeft"));
    assert!(stretch(&stage).from() < close.from());
    assert!(stage.press("ArrowRight"));
    assert_eq!(stretch(&stage), close);
    // Another claim comes onto the screen at the same zoom.
    state::reveal(stage.app, &ALL[0]);
    assert!(on_screen(&ALL[0]) && !on_screen(&ALL[3]));
    assert!(stage.press("-"));
    let told = stage.app.frame.announcement.get_untracked();
    assert!(told.contains(" – "), "{told}");
    assert!(stage.press("0"));
    assert_eq!(stretch(&stage), all);
}

#[test]
fn another_view_has_no_timeline_and_an_address_brings_it_back() {
    let stage = open();
    stage.press_shift("S");
    stage.app.view.set(&feed::VIEW);
    assert!(!untrack(|| is_timeline(stage.app)));
    assert!(!stage.press("+"));
    let route = crate::route::Route::parse("?view=knowledge", Offset::UTC);
    assert!(feed::set_as_addressed(stage.app, &route));
    assert!(!untrack(|| is_timeline(stage.app)));
    let route = crate::route::Route::parse("?view=knowledge&as=timeline", Offset::UTC);
    assert!(
        feed::set_as_addressed(stage.app, &route),
        "the shape alone is a change"
    );
    assert!(untrack(|| is_timeline(stage.app)));
    assert!(!feed::set_as_addressed(stage.app, &route));
}

#[test]
fn one_key_renews_a_claim_that_ends_soon() {
    let stage = open();
    let [_, _, new, first] = ids();
    stage.app.reading.selected.set(Some(new));
    assert!(stage.press_shift("L"));
    let asked = stage.asked();
    assert!(
        matches!(&asked[..], [Request::Repin(id)] if *id == new),
        "{asked:?}"
    );
    let told = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(told.text, "Renewed: it holds for 23 h from now");
    assert!(told.undoes);
    // A claim without a term has nothing to renew.
    stage.app.reading.selected.set(Some(first));
    assert!(!stage.press_shift("L"));
    assert_eq!(stage.asked(), []);
}

/// The clock of the stage stands at hour 0.
#[test]
fn a_time_that_is_not_past_yet_shows_what_holds_and_says_so() {
    let stage = open();
    super::show_then(stage.app, Some(hour(1)));
    assert!(!untrack(|| stage.app.list.is_past()));
    let told = stage.app.frame.toast.get_untracked().unwrap();
    assert_eq!(told.text, "This time is not past yet");
    stage.app.frame.toast.set(None);
    super::show_then(stage.app, Some(hour(-1)));
    assert!(untrack(|| stage.app.list.is_past()));
    assert_eq!(stage.app.frame.toast.get_untracked(), None);
}

#[test]
fn claims_that_end_soon_come_first_but_not_in_the_past() {
    let stage = open();
    let [_, _, new, first] = ids();
    assert_eq!(rows(&stage), [new, first]);
    let past = Filter {
        held_at: Some(hour(-1)),
        ..Filter::default()
    };
    let held: Vec<_> = ALL
        .iter()
        .filter(|it| it.valid_until.is_none())
        .cloned()
        .collect();
    load(stage.app, &held, past);
    assert_eq!(rows(&stage), [first, new], "by topic alone");
}
