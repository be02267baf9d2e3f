//! The feed with more engrams than the page keeps: a key leads to either end, few rows are drawn,
//! and nothing moves.

use engram_engine::{Engine, Options};
use engram_kit::Repository;
use engram_model::{Caller, Change, Feed, Reply, Request};
use serde_json::{Value, json};

use crate::{
    dashboard::hands::row,
    engram::Engram,
    machine::{self, clean, ok},
    stage::Sandbox,
};

/// More than the page keeps.
const MANY: usize = 2_300;
/// The maximum number of rows drawn: those that fit the window, and some beyond its edges.
const DRAWN: u64 = 60;

fn drafts(from: usize, to: usize) -> Vec<Value> {
    let draft = |n: usize| json!({"claim": format!("Item number{n} is known."), "pointers": ["repo:NOTES.md#L1@HEAD"]});
    (from..to).map(draft).collect()
}

/// Writes `count` engrams; returns their ids, oldest first.
fn fill(engram: &Engram, repo: &Repository, count: usize) -> Vec<String> {
    repo.change("src/file0.rs", "fn one() {}\n".repeat(50), "Add a file");
    let [_, home, _, root] = &engram.place_args;
    ok(clean(machine::many_program(), &repo.root).args([home, root, &(count - 1).to_string()]));
    let engine = Engine::open(Options {
        home: home.into(),
        repo: Some(root.into()),
        from: root.into(),
    })
    .unwrap();
    let (mut ids, mut before) = (Vec::new(), None);
    loop {
        let feed = Feed {
            before,
            ..Feed::default()
        };
        let Reply::Feed(page) = engine.handle(&Caller::User, Request::Feed(feed)).unwrap() else {
            panic!("no page")
        };
        ids.extend(page.entries.into_iter().filter_map(|it| match it.change {
            Change::Stored(engram) => Some(engram.id.to_string()),
            _ => None,
        }));
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    ids.reverse();
    assert_eq!(ids.len(), count);
    ids
}

/// Returns the position of the feed: the first row fully on the screen, its offset, and the number
/// of rows drawn.
const PLACE: &str = "const feed = document.querySelector('[data-testid=feed]'), edge = feed.getBoundingClientRect().top;
    const rows = [...feed.querySelectorAll('[data-testid=feed-row]')].map(it => [it.getBoundingClientRect().top - edge, it.dataset.id]);
    rows.sort((a, b) => a[0] - b[0]);
    const [top, id] = rows.find(it => it[0] >= 0);
    return {id, top: Math.round(top), drawn: rows.length};";

/// Scrolls by `by` screens per frame until a row is there; returns the maximum number of rows drawn
/// meanwhile.
const SCROLL: &str = "const [id, by, done] = arguments;
    const feed = document.querySelector('[data-testid=feed]');
    let most = 0;
    const step = () => {
        most = Math.max(most, feed.querySelectorAll('[data-testid=feed-row]').length);
        if (feed.querySelector(`[data-id=\"${id}\"]`)) return done(most);
        feed.scrollTop += by * feed.clientHeight;
        requestAnimationFrame(step);
    };
    step();";

#[test]
fn a_long_feed_is_walked_from_end_to_end() {
    let sandbox = Sandbox::noted();
    let ids = fill(&sandbox.engram, &sandbox.shop, MANY);
    let (oldest, newest) = (&ids[0], &ids[MANY - 1]);
    let window = sandbox.window();
    let selected = |id: &str| {
        format!(
            "document.querySelector('[data-testid=feed-row][aria-selected=true]')?.dataset.id === '{id}'"
        )
    };
    let place = || window.script(PLACE, json!([]));
    window.find("[data-testid=digest]");
    window.wait(&selected(newest));

    // A key leads to either end, and single steps continue from there.
    window.keys("\u{E010}");
    window.wait(&selected(oldest));
    window.keys("k");
    window.wait(&selected(&ids[1]));
    window.keys("\u{E011}");
    window.wait(&selected(newest));
    assert_eq!(place()["id"], json!(newest));

    // All the way down and up again: few rows are drawn.
    for (id, by) in [(oldest, 3.0), (newest, -3.0)] {
        let most = window.script_until(SCROLL, json!([id, by]));
        assert!(most.as_u64().unwrap() <= DRAWN, "{most} rows were drawn");
    }

    // Hundreds arrive while a person reads further down: they are counted, and nothing moves.
    window.script_until(SCROLL, json!([ids[MANY - 300], 1.0]));
    let before = place();
    let more = sandbox.engram.put(&drafts(MANY, MANY + 300));
    let pill = "document.querySelector('[data-testid=new-pill]')?.textContent";
    window.wait(&format!("{pill}?.startsWith('300 new')"));
    assert_eq!(place(), before);
    window.keys("n");
    window.find(&row(&more[299]));
    assert_eq!(place()["id"], json!(more[299]));

    // At the oldest end, new rows are not kept at all, and are read when needed.
    window.keys("\u{E010}");
    window.wait(&selected(oldest));
    let last = sandbox.engram.put(&drafts(MANY + 300, MANY + 303));
    window.wait(&format!("{pill}?.startsWith('3 new')"));
    window.wait(&selected(oldest));
    window.keys("n");
    window.find(&row(&last[2]));
    window.wait("!document.querySelector('[data-testid=new-pill]')");
    assert_eq!(place()["id"], json!(last[2]));
}
