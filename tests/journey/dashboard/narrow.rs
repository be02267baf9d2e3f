//! With room for one pane, the list and the open engram take turns, by keys and by mouse, and
//! nothing is wider than the window.

use serde_json::{Value, json};

use super::{
    access::complaints_in_light,
    hands::{BOTH, ENTER, ESCAPE, HOME, Hand, is_read, row, rows},
    shop::Shop,
    undo::covers_and_moves_nothing,
    ways::{
        Move::{self, Keys, Wait},
        VIEWS,
    },
};
use crate::{stage::Stage, window::Window};

const NARROW: (u32, u32) = (420, 700);
/// The conditions that the open engram is in front and has the focus, and that the list does.
const READS: &str =
    "document.querySelector('.panes.one.read') && document.activeElement.id === 'engram'";
const LISTS: &str =
    "document.querySelector('.panes.one:not(.read)') && document.activeElement.id === 'feed'";
const IN_FRONT: &str = "document.querySelector('.panes.one.read')";

/// The moves from the list to each view that gets a picture.
pub(super) const WAYS: &[(&str, &[Move])] = &[
    ("feed", &[]),
    ("read", &[Keys(ENTER), Wait(READS)]),
    (
        "drift",
        &[
            Keys("2"),
            Wait(DRIFTED),
            Keys(ENTER),
            Wait(READS),
            Wait(CHANGED),
        ],
    ),
    (
        "brief",
        &[
            Keys("6"),
            Wait("document.querySelector('[data-testid=brief-line]')"),
        ],
    ),
];
const DRIFTED: &str = "document.querySelectorAll('[data-testid=feed-row]').length === 3 \
    && document.querySelector('[data-testid=engram] [data-testid=triage]')";
const CHANGED: &str = "document.querySelector('[data-testid=engram] [data-testid=changes]')";

/// Finds elements larger than their container, or beyond the edge.
const TOO_LARGE: &str = "
    const wide = [...document.querySelectorAll(':root, .pane, .rows, .scroll, .bar, .filter, .facets, .status, .whole, dialog[open] .inside, .palette .found')]
        .filter(it => it.scrollWidth > it.clientWidth)
        .map(it => `${it.tagName}.${it.className}: ${it.scrollWidth} of ${it.clientWidth}`);
    const high = [...document.querySelectorAll('.pane, .menu')]
        .filter(it => it.checkVisibility({visibilityProperty: true}) && ((it.matches('.pane') && it.scrollHeight > it.clientHeight) || it.getBoundingClientRect().bottom > innerHeight))
        .map(it => `${it.className}: ${it.scrollHeight} high of ${it.clientHeight}`);
    const beyond = [...document.querySelectorAll('button, input, kbd, .file, time, [role=option]')]
        .filter(it => it.checkVisibility({visibilityProperty: true}) && !it.closest('.rail, .source-lines, .offscreen'))
        .filter(it => it.getBoundingClientRect().right > innerWidth + 0.5)
        .map(it => `${it.tagName}.${it.className} ends at ${it.getBoundingClientRect().right}`);
    return [...wide, ...high, ...beyond]";

fn elements_too_large(window: &Window) -> Vec<String> {
    serde_json::from_value(window.script(TOO_LARGE, json!([]))).unwrap()
}

/// Whether the matching file name is fully visible on the screen.
fn is_whole(window: &Window, css: &str) -> bool {
    let script = "const it = document.querySelector(arguments[0]), at = it.getBoundingClientRect();
        const top = document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2);
        return it.scrollWidth <= it.clientWidth && at.left >= 0 && at.right <= innerWidth && it.parentElement.contains(top)";
    window.script(script, json!([css])) == json!(true)
}

/// Reloads the page and waits for its list.
pub(super) fn begin(window: &Window) {
    window.anew();
    window.wait("document.querySelector('[data-testid=drift-view]')");
    window.wait("document.querySelector('[data-testid=engram] [data-testid=standing]')");
    window.script("document.getElementById('feed').focus()", json!([]));
    window.wait_moved(LISTS);
}

fn open(window: &Window, hand: Hand, id: &str) {
    match hand {
        Hand::Keys => {
            let place = window.attribute(&row(id), "aria-posinset");
            let steps = place.parse::<usize>().unwrap() - 1;
            window.keys(&format!("{HOME}{}{ENTER}", "j".repeat(steps)));
        }
        Hand::Mouse => window.click(&row(id)),
    }
    window.wait_moved(READS);
    window.wait(&is_read(id));
}

#[test]
fn one_pane_at_a_time_is_left_and_come_back_to_by_keys_and_by_mouse() {
    let Stage { shop, window, .. } = &Stage::drifting(Shop::open());
    window.size(NARROW.0, NARROW.1);
    for hand in BOTH {
        begin(window);
        assert!(!window.sees("#engram"), "only the list is there");
        assert!(!window.query().contains("id="), "{}", window.query());
        // In the list, keys stay in the list.
        window.keys("j");
        window.wait_moved(LISTS);
        let id = &shop.ids[0];
        open(window, hand, id);
        assert!(!window.sees("#feed") && window.sees("[data-testid=claim]"));
        assert!(window.query().contains(id.as_str()));
        assert_eq!(elements_too_large(window), Vec::<String>::new());
        // The file name stays visible, however far its lines are scrolled.
        let file = "[data-open=true] .title .file";
        assert!(is_whole(window, file));
        window.script(
            "document.querySelector('[data-open=true]').scrollIntoView({block: 'end'})",
            json!([]),
        );
        assert!(is_whole(window, file), "{hand:?}");
        // The previous engram, and this one again, also open in front.
        window.keys("k");
        window.wait_moved(&format!(
            "{READS} && document.querySelector('[data-testid=engram]').dataset.id !== '{id}'"
        ));
        window.keys("j");
        window.wait_moved(&format!("{READS} && {}", is_read(id)));
        window.by(hand, ESCAPE, "to-list");
        window.wait_moved(LISTS);
        assert!(!window.query().contains("id="), "{}", window.query());
        let selected = "[data-testid=feed-row][aria-selected=true]";
        assert_eq!(window.attribute(selected, "data-id"), *id);
        // The browser's back button, and forward again.
        open(window, hand, id);
        window.script("history.back()", json!([]));
        window.wait_moved(LISTS);
        window.script("history.forward()", json!([]));
        window.wait_moved(READS);
        // A search shows the list.
        window.keys("/");
        window.wait_moved("document.activeElement.id === 'filter'");
        assert!(!window.sees("#engram"));
    }
    // With room for both panes, both are shown; then only the one with the focus.
    window.size(1280, 800);
    window.wait("!document.querySelector('.panes.one')");
    assert!(
        window.sees("#feed") && window.sees("#engram") && !window.sees("[data-testid=to-list]")
    );
    window.click("[data-testid=pointer-title]");
    window.size(NARROW.0, NARROW.1);
    window.wait(IN_FRONT);
}

#[test]
fn a_verdict_waits_for_who_has_seen_what_it_is_about() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    window.size(NARROW.0, NARROW.1);
    for hand in BOTH {
        begin(window);
        window.do_nothing_later();
        window.by(hand, "2", "drift-view");
        window.wait(&rows(3));
        window.wait(DRIFTED);
        match hand {
            // In the list, the key opens the claim without answering.
            Hand::Keys => {
                window.keys("q");
                window.wait_moved(READS);
                assert_eq!(window.count("[data-testid=notice]"), 0);
                window.keys("q");
            }
            Hand::Mouse => {
                window.click("[data-testid=feed-row]");
                window.wait_moved(READS);
                let bar = window.script(
                    "return document.querySelector('.detail > .bar').offsetHeight",
                    json!([]),
                );
                assert!(bar.as_u64().unwrap() < 60, "one line of actions: {bar}");
                window.click("[data-testid=ask-agent]");
            }
        }
        window.find("[data-testid=notice] [data-testid=undo]");
        window.wait(IN_FRONT);
        // The next claim is open: its source comes a moment later.
        window.find(".detail [data-testid=blame-button]");
        window.keys("z");
        window
            .wait("document.querySelector('[data-testid=notice]')?.textContent.includes('Undone')");
        covers_and_moves_nothing(window);
    }
}

#[test]
fn every_view_fits_a_narrow_window() {
    let Stage { shop, window, .. } = &Stage::drifting(Shop::open());
    let mut wrong = Vec::new();
    for (width, height) in [NARROW, (640, 400)] {
        window.size(width, height);
        for view in VIEWS {
            view.visit(window, view.keys);
            let wide = elements_too_large(window).into_iter();
            wrong.extend(wide.map(|it| format!("{} at {width}: {it}", view.name)));
            if (width, height) == NARROW {
                wrong.extend(complaints_in_light(window, view.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Actions that do not fit the bar are in the menu.
    window.size(NARROW.0, NARROW.1);
    begin(window);
    open(window, Hand::Keys, &shop.ids[2]);
    assert!(!window.sees("[data-testid=redact]"));
    window.click("[data-testid=more-actions]");
    window.wait_moved(
        "document.querySelector('[data-testid=menu]:popover-open [data-testid=menu-item]:focus')",
    );
    assert_eq!(elements_too_large(window), Vec::<String>::new());
    assert_eq!(window.count("[data-command=redact]"), 1);
    window.keys(ESCAPE);
    window.wait("!document.querySelector('[data-testid=menu]')");
    // The palette opens an engram in front.
    window.keys(ESCAPE);
    window.wait_moved(LISTS);
    window.control('k');
    window.find("[data-testid=palette-input]");
    window.keys("reservation");
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true] mark')");
    window.keys(ENTER);
    window.wait_moved(READS);
}

/// The letters of a claim that no longer holds are thinner: what fits a line has a row of one line.
#[test]
fn no_row_has_an_empty_line() {
    let Stage { shop, window, .. } = &Stage::drifting(Shop::open());
    let claim = "The wallet lock lasts 3 minutes.";
    let pointer = "repo:src/retry.rs#L9-L15@HEAD";
    let stored = shop.engram().json(&[
        "put",
        "--claim",
        claim,
        "--pointer",
        pointer,
        "--agent",
        "ada",
    ]);
    let id = stored["id"].as_str().unwrap();
    shop.engram().json(&["forget", id]);
    window.anew();
    window.find(&row(id));
    let script =
        "return [...document.querySelectorAll('[data-testid=feed-row]:not(.short)')].filter(it => {
        const words = document.createRange();
        words.selectNodeContents(it.querySelector('.said p'));
        return new Set([...words.getClientRects()].map(it => Math.round(it.top))).size < 2;
    }).map(it => `${innerWidth}: ${it.textContent}`)";
    let mut empty = Vec::new();
    for width in (780..1180).step_by(40) {
        window.size(width, 700);
        window.wait("!document.querySelector('.panes.one')");
        let found: Vec<String> = serde_json::from_value(window.script(script, json!([]))).unwrap();
        empty.extend(found);
    }
    assert_eq!(empty, Vec::<String>::new());
}

/// The settings stay above the status line.
#[test]
fn a_low_window_shows_the_whole_rail() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    window.size(780, 437);
    window.find("[data-testid=engram] [data-testid=standing]");
    let script = "const settings = document.querySelector('[data-testid=settings-button]');
        const line = document.querySelector('.status').getBoundingClientRect();
        return [settings.getBoundingClientRect().bottom <= line.top, document.querySelectorAll('.rail .view').length]";
    let shown = window.script(script, json!([]));
    assert_eq!(shown[0], json!(true), "{shown}");
    assert!(shown[1].as_u64().unwrap() >= 7, "{shown}");
}

/// What is at the end of the line stays in the window, and the connection is told whole.
#[test]
fn the_status_line_fits_at_every_width() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    window.find("[data-testid=link][data-state=live]");
    let script =
        "const line = document.querySelector('.status'), link = line.querySelector('.link');
        return line.scrollWidth <= line.clientWidth && link.scrollWidth <= link.clientWidth";
    for width in [420, 480, 560, 661, 700, 741, 780, 800, 821, 860, 941] {
        window.size(width, 600);
        assert_eq!(window.script(script, json!([])), json!(true), "{width}");
    }
}

#[test]
fn an_empty_home_fits_a_narrow_window() {
    let Stage { window, .. } = &Stage::empty();
    window.find("[data-testid=first-run] .command");
    for (width, height) in [NARROW, (640, 400)] {
        window.size(width, height);
        assert_eq!(elements_too_large(window), Vec::<String>::new());
    }
    window.size(NARROW.0, NARROW.1);
    let found = complaints_in_light(window, "first-run");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_broad_window_shows_two_sources_side_by_side() {
    let mut shop = Shop::open();
    let pointers = [
        "repo:src/ledger.rs#L17-L31@HEAD",
        "repo:src/retry.rs#L9-L15@HEAD",
    ];
    shop.say([(
        0,
        json!({"claim": "The ledger and the retries agree.", "pointers": pointers}),
    )]);
    let Stage { shop, window, .. } = &Stage::of(shop);
    window.size(1920, 1080);
    window.open_row(Hand::Mouse, shop.ids.last().unwrap());
    window.click("[data-testid=pointer-card][data-open=false] [data-testid=pointer-title]");
    window.wait(
        "document.querySelectorAll('[data-testid=pointer-card] [data-testid=digest]').length === 2",
    );
    let script = "return [...document.querySelectorAll('[data-testid=pointer-card]')].map(it => it.getBoundingClientRect().toJSON())";
    let cards: Vec<Value> = serde_json::from_value(window.script(script, json!([]))).unwrap();
    let of = |index: usize, side: &str| cards[index][side].as_f64().unwrap();
    assert_eq!(of(0, "top"), of(1, "top"));
    assert!(of(0, "right") < of(1, "left") && of(0, "width") > 500.0);
}
