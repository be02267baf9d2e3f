//! The knowledge view in a browser: what holds, by topic; when claims held, on a timeline; what held
//! at an earlier time, which cannot be changed; and the ways there and back, by keys and by mouse.

use serde_json::json;

use super::{
    access::is_clean,
    hands::{DELETE, ENTER, ESCAPE, Hand, are_listed, is_read, notice, row, rows},
    looks::Looks,
};
use crate::{
    stage::{Stage, both_hands},
    window::Window,
};

/// Presses of the left arrow.
const LEFT: &str = "\u{E012}";
const PAST: &str = "document.querySelector('[data-testid=when].past')";
const NOW: &str = "document.querySelector('[data-testid=when]:not(.past)')";
const TOPICS: [&str; 4] = [
    "payments/idempotency",
    "payments/ledger",
    "payments/retries",
    "payments/webhooks",
];
/// The time at which three claims were stored, none of them corrected yet.
const AT_TEN: &str = "at=2026-01-08T10:00:00Z";

/// Returns the ids of the rows from top to bottom.
fn order(window: &Window) -> Vec<String> {
    let script = "return [...document.querySelectorAll('[data-testid=feed-row]')]
        .sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).map(it => it.dataset.id)";
    serde_json::from_value(window.script(script, json!([]))).unwrap()
}

fn open(window: &Window, hand: Hand) {
    window.by(hand, "7", "knowledge-view");
    window.wait(NOW);
}

/// Types ten o'clock into the time field.
fn go_to_ten(window: &Window, hand: Hand) {
    window.by(hand, "t", "held-at");
    window.wait_moved("document.activeElement.id === 'held-at'");
    // A mouse click selects the part under it: the month is the leftmost of six parts.
    window.keys(&LEFT.repeat(6));
    window.keys("01082026100000AM");
    window.wait(PAST);
}

#[test]
fn what_held_at_a_time_is_shown_as_it_was_and_not_written() {
    both_hands(Stage::corrected, |(stage, versions), hand| {
        let Stage { shop, window, .. } = stage;
        let (first, last) = (&versions[0], &versions[2]);
        open(window, hand);
        // What holds, by topic, the newest topic first and the newest claim first.
        window.wait(&rows(8));
        assert_eq!(window.texts("[data-testid=topic] b"), TOPICS);
        let ids = &shop.ids;
        let now = [
            &ids[4], &ids[3], &ids[0], last, &ids[7], &ids[2], &ids[6], &ids[5],
        ];
        assert_eq!(order(window), now.map(String::clone));
        assert_eq!(window.text("[data-testid=when-told]"), "Now");
        // A new claim appears in its place.
        shop.put("Somebody says something new.");
        window.wait(&rows(9));
        assert_eq!(
            window.texts("[data-testid=topic] b").last().unwrap(),
            "No topic"
        );

        go_to_ten(window, hand);
        window.wait(&are_listed(&[&ids[0], first, &ids[2]]));
        assert!(
            window
                .text("[data-testid=when-told]")
                .contains("8 Jan 2026, 10:00:00")
        );
        assert!(window.query().contains(AT_TEN), "{}", window.query());
        assert_eq!(window.texts("[data-testid=topic] b"), TOPICS[1..3]);
        // The claim as it was: it holds, and its later fate is not shown.
        window.keys(ENTER);
        window.open_row(hand, first);
        assert_eq!(window.count("[data-testid=engram] [data-testid=state]"), 0);
        let claim = window.text("[data-testid=claim]");
        assert!(claim.contains("200 ms base"), "{claim}");
        let word = format!("{} [data-testid=evidence]", row(first));
        assert_eq!(window.texts(&word), ["verified"]);
        // Later changes do not appear.
        shop.put("Somebody says more.");
        window.wait("document.querySelector('[data-testid=count]').textContent.startsWith('10 ')");
        assert_eq!(order(window).len(), 3);

        // Nothing can be changed: the buttons are disabled, and keys say why.
        for button in ["correct", "forget", "redact"] {
            let css = format!("[data-testid={button}]:disabled");
            assert_eq!(
                window.attribute(&css, "title"),
                "The past cannot be changed"
            );
        }
        for key in [DELETE, "r", "w", "z", "v"] {
            window.script(
                "document.querySelector('[data-testid=notice] button.plain')?.click()",
                json!([]),
            );
            window.keys(key);
            window.wait(&notice("The past cannot be changed"));
            assert_eq!(
                window.count("[data-testid=confirm], dialog[open], textarea"),
                0,
                "{key:?}"
            );
        }
        window.keys("h");
        window.find("[data-testid=version]");
        assert_eq!(
            window.count("[data-testid=restore], [data-testid=held-then]"),
            0
        );

        // Loading the address restores the time.
        let address = window.script("return location.href", json!([]));
        window.goto("about:blank");
        window.goto(address.as_str().unwrap());
        window.wait(&are_listed(&[&ids[0], first, &ids[2]]));
        window.wait(PAST);
        window.wait(&is_read(first));
        // One key returns to now, and the browser's back button to the past.
        match hand {
            Hand::Keys => window.shift('t'),
            Hand::Mouse => window.click("[data-testid=to-now]"),
        }
        window.wait(NOW);
        window.wait(&rows(10));
        assert!(!window.query().contains("at="), "{}", window.query());
        window.keys("[");
        window.wait(PAST);
        window.wait(&rows(3));
        // Other views show the present.
        window.keys("1");
        window.wait(&rows(12));
        assert!(!window.query().contains("at="), "{}", window.query());
    });
}

/// Returns the element of a version on the timeline.
fn bar(id: &str) -> String {
    format!("[data-testid=bar][data-id=\"{id}\"]")
}

/// Whether this many bars are on the screen.
fn bars(count: usize) -> String {
    format!("document.querySelectorAll('[data-testid=bar]:not([hidden])').length === {count}")
}

#[test]
fn a_timeline_shows_when_claims_held_and_hands_over() {
    both_hands(Stage::corrected, |(stage, versions), hand| {
        let Stage { shop, window, .. } = stage;
        open(window, hand);
        window.wait(&rows(8));
        let shape = |shows: &str| match hand {
            Hand::Keys => window.shift('s'),
            Hand::Mouse => window.click(&format!("[data-testid={shows}]")),
        };
        shape("as-timeline");
        // Every claim has one lane; the corrected one has its three versions in it, each from where
        // the one before ended.
        window.wait(&bars(10));
        assert!(window.query().contains("as=timeline"), "{}", window.query());
        assert_eq!(window.count("[data-testid=lane]"), 8);
        let ends = "return arguments[0].map(it => document.querySelector(`[data-testid=bar][data-id=\"${it}\"]`).getBoundingClientRect()).map(it => [Math.round(it.left), Math.round(it.right)])";
        let ends: Vec<[i64; 2]> =
            serde_json::from_value(window.script(ends, json!([versions]))).unwrap();
        for pair in ends.windows(2) {
            assert!((pair[0][1] - pair[1][0]).abs() <= 4, "{ends:?}");
        }
        let label = |id: &str| window.attribute(&bar(id), "aria-label");
        assert!(label(&versions[0]).ends_with(", version 1 of 3, replaced"));
        assert!(label(&versions[2]).ends_with("until replaced, version 3 of 3"));
        // A bar is the claim of the list: it opens, and its actions are those of the list.
        window.click(&bar(&versions[1]));
        window.wait(&is_read(&versions[1]));
        window.find(&format!("{}.selected", bar(&versions[1])));
        // Zooming in leaves other claims beyond the edges; all times bring them back.
        let zoom = |key: &str, testid: &str| window.by(hand, key, testid);
        for _ in 0..4 {
            zoom("+", "closer");
        }
        window.wait(&format!("!({})", bars(10)));
        window.find(&format!("{}:not([hidden])", bar(&versions[1])));
        let stretch = window.text("[data-testid=stretch]");
        zoom("\u{E014}", "later-times");
        assert_ne!(window.text("[data-testid=stretch]"), stretch);
        zoom("0", "all-times");
        window.wait(&bars(10));
        // Loading the address restores the timeline; back in the list, the version that holds is
        // open.
        let address = window.script("return location.href", json!([]));
        window.goto("about:blank");
        window.goto(address.as_str().unwrap());
        window.wait(&bars(10));
        window.wait(&is_read(&versions[1]));
        shape("as-list");
        window.wait(&rows(8));
        window.wait(&is_read(&versions[2]));
        // What ended stays on the timeline alone.
        shop.engram().json(&["forget", &shop.ids[0]]);
        window.wait(&rows(7));
        shape("as-timeline");
        window.wait(&bars(10));
        assert!(label(&shop.ids[0]).ends_with(", forgotten"));
    });
}

#[test]
fn the_open_claim_stays_in_view_at_another_time() {
    let (Stage { shop, window, .. }, _) = &Stage::corrected();
    window.size(1280, 340);
    open(window, Hand::Keys);
    window.wait(&rows(8));
    let id = &shop.ids[2];
    window.open_row(Hand::Keys, id);
    let in_view = format!(
        "(it => {{ const row = it?.getBoundingClientRect(), list = document.getElementById('feed').getBoundingClientRect();
            return row && row.top >= list.top - 1 && row.bottom <= list.bottom + 1; }})(document.querySelector('{}'))",
        row(id)
    );
    window.wait_moved(&in_view);
    go_to_ten(window, Hand::Keys);
    window.wait(&rows(3));
    window.wait_moved(&in_view);
    window.keys(ESCAPE);
    window.shift('t');
    window.wait(NOW);
    window.wait(&rows(8));
    window.wait_moved(&in_view);
}

#[test]
fn the_history_of_a_claim_leads_to_what_held_then() {
    both_hands(Stage::corrected, |(stage, versions), hand| {
        let Stage { window, .. } = stage;
        window.open_row(hand, &versions[2]);
        window.keys("h");
        let version = format!("[data-testid=version][data-id=\"{}\"]", versions[1]);
        window.press_any(hand, &format!("{version} [data-testid=held-then]"));
        window.wait(PAST);
        window.wait(&rows(8));
        window.wait(&is_read(&versions[1]));
        window.find(&format!("{}.selected", row(&versions[1])));
        assert!(
            window.query().contains("at=2026-01-08T12:42"),
            "{}",
            window.query()
        );
        // Nothing held before the first claim. A filter without matches has a message of its own,
        // and keeps the time.
        window.keys("/no such words");
        window.find("[data-testid=no-match]");
        window.keys(ESCAPE);
        window.wait(&rows(8));
        window.wait(PAST);
    });
}

#[test]
fn erasing_reaches_the_past() {
    let (Stage { shop, window, .. }, versions) = &Stage::corrected();
    let engram = &shop.engram();
    open(window, Hand::Keys);
    go_to_ten(window, Hand::Keys);
    window.wait(&rows(3));
    engram.json(&["redact", &versions[0]]);
    let word = format!("{} [data-testid=evidence]", row(&versions[0]));
    window.wait(&format!(
        "document.querySelector('{word}')?.textContent === 'redacted'"
    ));
    assert_eq!(window.count(".row:not([hidden])"), 3);
    assert!(!window.text("[data-testid=feed]").contains("200 ms base"));
}

#[test]
fn the_knowledge_looks_as_it_was_approved() {
    const SIZES: [(u32, u32); 5] = [
        (1920, 1080),
        (1280, 800),
        (900, 600),
        (640, 400),
        (420, 700),
    ];
    let (Stage { window, .. }, _) = &Stage::corrected();
    let mut looks = Looks::here();
    let wide = "return document.documentElement.scrollWidth <= innerWidth
        && document.querySelector('.when').scrollWidth <= document.querySelector('.when').clientWidth";
    for name in ["knowledge", "knowledge-timeline", "knowledge-then"] {
        match name {
            "knowledge" => open(window, Hand::Keys),
            "knowledge-timeline" => {
                window.shift('s');
                window.wait(&bars(10));
            }
            _ => {
                window.shift('s');
                window.wait(&rows(8));
                go_to_ten(window, Hand::Keys);
                window.keys(ENTER);
                window.wait(&rows(3));
            }
        }
        window.wait("!document.querySelector('[aria-busy=true]')");
        looks.compare_in(window, name, &SIZES);
        for (width, height) in SIZES {
            window.size(width, height);
            assert_eq!(
                window.script(wide, json!([])),
                json!(true),
                "{name} {width}"
            );
        }
        is_clean(window, name);
        window.size(1280, 800);
    }
    looks.hold_all();
}
