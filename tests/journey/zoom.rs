//! The window zooms by keys and by mouse, remembers the zoom, and adapts its layout to the
//! remaining space.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    dashboard::hands::{ENTER, ESCAPE, Hand},
    stage::Sandbox,
    window::Window,
};

/// Waits until a condition holds. A zoom changes the size of the page, but not its elements.
fn wait_sized(window: &Window, holds: &str) {
    let script = format!(
        "const done = arguments[0];
         const look = () => {{ if ({holds}) {{ removeEventListener('resize', look); done(true); }} }};
         addEventListener('resize', look);
         look();"
    );
    window.script_until(&script, json!([]));
}

fn at(percent: u32) -> String {
    format!("Math.abs(innerWidth - 1280 * 100 / {percent}) <= 1")
}

#[test]
fn the_window_zooms_and_remembers_it() {
    let sandbox = Sandbox::noted();
    let draft = json!({"claim": "The ledger is append-only.", "pointers": ["repo:NOTES.md#L1-L1@HEAD"], "agent": "architect"});
    sandbox.engram.put(&[draft]);
    let kept = sandbox.shop.home.join("window.toml");
    let open = || sandbox.showing("[data-testid=engram] [data-testid=digest]");
    let is_kept = |line: &str| {
        let begun = Instant::now();
        while !fs::read_to_string(&kept).is_ok_and(|it| it.contains(line)) {
            assert!(begun.elapsed() < Duration::from_secs(30), "never: {line}");
            thread::yield_now();
        }
    };
    let window = open();
    wait_sized(&window, &at(100));
    window.control('=');
    wait_sized(&window, &at(110));
    window.control('+');
    wait_sized(&window, &at(125));
    window.control('-');
    window.control('-');
    window.control('-');
    wait_sized(&window, &at(90));
    // Zooming stops at the limit.
    for _ in 0..3 {
        window.control('-');
    }
    wait_sized(&window, &at(80));
    is_kept("zoom = 80");
    window.control('0');
    wait_sized(&window, &at(100));
    // By mouse, in the dialog; the keys work there too.
    window.click("[data-testid=settings-button]");
    window.click("[data-testid=zoom-in]");
    wait_sized(&window, &at(110));
    assert_eq!(window.text("[data-testid=zoom-reset]"), "110%");
    // After a zoom, the driver's mouse misses its target, so press keys.
    window.press_on(Hand::Keys, "zoom-out");
    wait_sized(&window, &at(100));
    for _ in 0..9 {
        window.control('=');
    }
    wait_sized(&window, &at(200));
    is_kept("zoom = 200");
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");
    drop(window);

    // The zoom is applied from the first frame on, and leaves room for one pane.
    let window = open();
    wait_sized(&window, &at(200));
    window.wait("document.querySelector('.panes.one:not(.read)')");
    window.script("document.getElementById('feed').focus()", json!([]));
    window.keys(ENTER);
    window.wait_moved(
        "document.querySelector('.panes.one.read') && document.activeElement.id === 'engram'",
    );
    assert!(!window.sees("#feed"));
    window.keys(ESCAPE);
    window.wait_moved(
        "document.querySelector('.panes.one:not(.read)') && document.activeElement.id === 'feed'",
    );
    drop(window);

    // A file edited by hand, with an invalid value.
    fs::write(&kept, "zoom = -7e300\n").unwrap();
    let window = open();
    wait_sized(&window, &at(80));
    window.control('0');
    is_kept("zoom = 100");
}
