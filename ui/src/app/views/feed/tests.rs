//! What a search lists and opens, and what opens when the first claim arrives.
#![allow(clippy::unwrap_used, clippy::panic, clippy::single_range_in_vec_init)]

use std::sync::{Arc, LazyLock};

use engram_model::{Change, Code, Engram, EngramId, Entry, Filter, Refusal, Request, SAMPLE};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::{
    VIEW,
    arrivals::take_entries,
    gallery::load,
    state::{self, listed_rows},
};
use crate::{
    app::{
        gallery::made_up::engrams,
        reading,
        views::{by_topic, stage::Stage},
    },
    feed::EngramList,
};

/// The engrams of this file; each call of `engrams` makes new ones.
static ALL: LazyLock<Vec<Arc<Engram>>> = LazyLock::new(engrams);

fn entry_of(engram: &Engram) -> Entry {
    Entry {
        seq: engram.seq,
        at: engram.recorded_at,
        agent: None,
        by: String::new(),
        change: Change::Stored(Box::new(engram.clone())),
    }
}

/// Answers a search with the second and the first engram, and one without a match for `zebra`.
fn answer(request: &Request) -> Result<Value, Refusal> {
    let all = ALL.clone();
    match request {
        Request::Search(search) => {
            let found = if search.filter.text == "zebra" {
                Vec::new()
            } else {
                vec![entry_of(&all[1]), entry_of(&all[0])]
            };
            Ok(json!({"is": "search", "with": {
                "verdict": if found.is_empty() { "none" } else { "weak" },
                "page": {"entries": found, "head": 100, "engrams": 9},
                "marks": [[all[1].id, [{"start": 0, "end": 3}]]],
            }}))
        }
        Request::Feed(_) => Ok(json!({"is": "feed", "with": {
            "entries": all.iter().rev().map(|it| entry_of(it)).collect::<Vec<_>>(), "head": 100, "engrams": 9,
        }})),
        Request::Get(id) => {
            let found = all.iter().find(|it| it.id == *id).unwrap();
            Ok(json!({"is": "engram", "with": **found}))
        }
        Request::Forget(id) => Ok(json!({"is": "closed", "with": {
            "id": id, "seq": 101, "pending": [], "redacted": false,
        }})),
        Request::Status => Err(Refusal::new(Code::StoreGone, "gone", "")),
        other => panic!("{other:?}"),
    }
}

fn open_engram(stage: &Stage) -> Option<EngramId> {
    stage.app.reading.selected.get_untracked()
}

fn rows(stage: &Stage) -> Vec<EngramId> {
    untrack(|| listed_rows(stage.app))
        .iter()
        .map(|it| it.id)
        .collect()
}

/// Lists what these words find, as if they had been typed.
fn search(stage: &Stage, text: &str) {
    let filter = Filter {
        text: text.to_owned(),
        ..Filter::default()
    };
    state::set_view_and_filter(stage.app, &VIEW, filter);
    state::list_chosen(stage.app);
    stage.settle();
}

#[test]
fn a_search_lists_its_answer_best_first_and_opens_the_first() {
    let stage = Stage::open(&VIEW, answer);
    let all = ALL.clone();
    load(stage.app, &all, Filter::default());
    state::select_newest(stage.app);
    search(&stage, "how do retries back off");
    assert_eq!(rows(&stage), [all[1].id, all[0].id]);
    assert_eq!(open_engram(&stage), Some(all[1].id));
    let marks = |feed: &EngramList| feed.marks(all[1].id).to_vec();
    assert_eq!(stage.app.list.feed.with_untracked(marks), [0..3]);
    // What arrives is not listed by itself; it makes the window search again.
    stage.asked();
    let mut news = Engram::clone(&all[3]);
    news.seq = 101;
    stage.app.list.feed.update(|feed| {
        feed.live(vec![entry_of(&news)], false);
    });
    assert_eq!(rows(&stage).len(), 2);
    state::search_again(stage.app);
    stage.settle();
    assert!(matches!(stage.asked()[..], [Request::Search(_), ..]));
    // An answer without the open claim does not keep it open.
    search(&stage, "zebra");
    assert_eq!((rows(&stage).len(), open_engram(&stage)), (0, None));
    // Escape clears a search that found nothing.
    assert!(stage.press("Escape"));
    let text = stage.app.list.filter.with_untracked(|it| it.text.clone());
    assert_eq!(text, "");
}

#[test]
fn the_first_claim_opens_in_the_place_of_a_removed_sample() {
    let stage = Stage::open(&VIEW, answer);
    let mut all = ALL.clone();
    let sample = Arc::make_mut(&mut all[0]);
    sample.tags.push(SAMPLE.to_owned());
    load(stage.app, &all[..1], Filter::default());
    state::select_newest(stage.app);
    assert_eq!(open_engram(&stage), Some(all[0].id));
    let gone = Entry {
        seq: 20,
        change: Change::Unlisted(vec![all[0].lineage_id]),
        ..entry_of(&all[0])
    };
    take_entries(stage.app, vec![gone]);
    let mut first = Engram::clone(&all[1]);
    first.seq = 21;
    take_entries(stage.app, vec![entry_of(&first)]);
    assert_eq!(open_engram(&stage), Some(first.id));
}

#[test]
fn a_list_that_is_read_again_in_place_scrolls_nowhere() {
    let stage = Stage::open(&VIEW, answer);
    load(stage.app, &ALL, Filter::default());
    let last = rows(&stage).last().copied().unwrap();
    stage.app.reading.selected.set(Some(last));
    stage.app.list.at_top.set(false);
    let scrolled = || stage.app.list.scroll_to_top.get_untracked();
    let before = scrolled();
    state::list_in_place(stage.app);
    stage.settle();
    assert!(matches!(&stage.asked()[..], [Request::Feed(feed), ..] if feed.limit == Some(200)));
    assert_eq!((scrolled(), open_engram(&stage)), (before, Some(last)));
    assert!(!stage.app.list.at_top.get_untracked());
    state::list_anew(stage.app);
    stage.settle();
    assert_ne!(scrolled(), before);
}

#[test]
fn what_a_search_found_stays_in_view_after_it() {
    let stage = Stage::open(&VIEW, answer);
    load(stage.app, &ALL, Filter::default());
    let keeps_open = || stage.app.list.scroll_to_top.get_untracked().1;
    search(&stage, "how do retries back off");
    let found = open_engram(&stage);
    search(&stage, "");
    assert_eq!(open_engram(&stage), found);
    assert!(keeps_open());
    // Without a search, another filter begins at the newest end.
    state::list_chosen(stage.app);
    stage.settle();
    assert!(!keeps_open());
}

#[test]
fn after_a_claim_is_forgotten_the_next_opens() {
    let stage = Stage::open(&VIEW, answer);
    load(stage.app, &ALL, Filter::default());
    state::select_newest(stage.app);
    stage.settle();
    let all = rows(&stage);
    assert!(stage.press("Delete"));
    reading::close_confirmed(stage.app);
    stage.settle();
    assert_eq!(open_engram(&stage), Some(all[1]));
    let toast = stage.app.frame.toast.get_untracked().unwrap();
    assert!(toast.undoes, "{toast:?}");
}

#[test]
fn a_refusal_is_no_longer_said_in_another_view() {
    let stage = Stage::open(&VIEW, answer);
    let frame = stage.app.frame;
    let is_said = || frame.toast.get_untracked().is_some();
    frame.warn("This cannot be done", "");
    state::show_filtered(stage.app, &VIEW, Filter::default(), true);
    assert!(is_said());
    state::show_filtered(stage.app, by_topic(), Filter::default(), true);
    assert!(!is_said());
    // What was done is still said there.
    frame.say("Done", "");
    state::show_filtered(stage.app, &VIEW, Filter::default(), true);
    assert!(is_said());
}
