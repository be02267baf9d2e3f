//! Several claims at once: selected by keys and by mouse, judged, undone; also with double key
//! presses, a refusal halfway, a stop, and a claim closed by somebody else meanwhile.

use serde_json::{Value, json};

use super::{
    access::is_clean,
    hands::{
        CONTROL, DELETE, ENTER, ESCAPE, Hand, LIVE, SHIFT, are_chosen, are_listed, notice, row,
        rows, says,
    },
    shop::Shop,
};
use crate::{
    machine::{self, clean, ok},
    stage::{Stage, both_hands},
    window::Window,
};

/// The condition that nothing is selected.
const NONE: &str = "!document.querySelector('[data-testid=chosen-bar]')";
const ON_YES: &str = "document.activeElement.dataset.testid === 'chosen-yes'";

/// Counts each change that the page sends from now on. From number `window.hold` on, changes wait
/// for `window.go()`; `window.refuse` says which one is refused, and with which code.
const WATCHED: &str = "const real = window.fetch.bind(window);
    window.sent = [];
    window.fetch = async (path, init) => {
        if (path !== '/api/change') return real(path, init);
        window.sent.push(init.body);
        const number = window.sent.length;
        if (number >= window.hold) await new Promise(go => { window.go = go; });
        const code = window.refuse?.[number];
        if (!code) return real(path, init);
        const error = {code, message: 'this is refused', hint: 'Try again later.'};
        return new Response(JSON.stringify({error}), {status: 400});
    };";

/// The condition that these rows show this state of their evidence.
fn rows_say(ids: &[&String], word: &str) -> String {
    let says = ids.iter().map(|id| says(id, word));
    says.collect::<Vec<_>>().join(" && ")
}

fn requests_sent(window: &Window) -> Vec<String> {
    serde_json::from_value(window.script("return window.sent", json!([]))).unwrap()
}

/// Returns the ids of the rows marked as selected, from the top.
fn ids_chosen(window: &Window) -> Vec<String> {
    let script =
        "const all = [...document.querySelectorAll('[data-testid=feed-row][aria-selected=true]')];
        return all.sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).map(it => it.dataset.id)";
    serde_json::from_value(window.script(script, json!([]))).unwrap()
}

/// Opens a page that lists the claims of a shop, with the newest open.
fn open() -> Stage {
    let stage = Stage::listed();
    let window = &stage.window;
    window.wait(LIVE);
    window.script("document.getElementById('feed').focus()", json!([]));
    stage
}

/// Selects all three claims in doubt.
fn choose(window: &Window, hand: Hand, ids: [&String; 3]) {
    let [first, second, third] = ids;
    match hand {
        Hand::Keys => {
            window.open_row(hand, first);
            window.keys("v");
            window.wait(&are_chosen(1));
            window.shift('j');
            window.wait(&are_chosen(2));
            window.shift('\u{E015}');
        }
        Hand::Mouse => {
            window.click_with(CONTROL, &row(first));
            window.wait(&are_chosen(1));
            window.click_with(SHIFT, &row(third));
            window.wait(&are_chosen(3));
            window.click_with(CONTROL, &row(second));
            window.wait(&are_chosen(2));
            window.click_with(CONTROL, &row(second));
        }
    }
    window.wait(&are_chosen(3));
    assert_eq!(ids_chosen(window), ids.map(String::as_str), "{hand:?}");
}

#[test]
fn several_are_judged_at_once_and_undone_by_one_key() {
    both_hands(open, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        let log = |id: &str| {
            engram.json(&["log", id])["entries"]
                .as_array()
                .unwrap()
                .len()
        };
        shop.drift();
        window.press_on(hand, "drift-view");
        let [edited, gone, also_gone] = [&shop.ids[1], &shop.ids[5], &shop.ids[6]];
        let all = [also_gone, gone, edited];
        window.wait(&are_listed(&all));
        assert_eq!(
            window.attribute("[data-testid=feed]", "aria-multiselectable"),
            "true"
        );

        // Selected and deselected.
        choose(window, hand, all);
        assert_eq!(window.count("[data-testid=still-true]"), 1);
        assert!(
            !window.sees("[data-testid=still-true]"),
            "one bar of actions"
        );
        assert!(
            window
                .text("[data-testid=chosen-true]")
                .starts_with("Still true (1)")
        );
        window.by(hand, ESCAPE, "chosen-clear");
        window.wait(NONE);

        if hand == Hand::Keys {
            choose(window, hand, all);
            is_clean(window, "chosen");
            window.keys(ESCAPE);
            window.wait(NONE);
        }

        // Agents are asked once about each claim, however often the key is pressed.
        choose(window, hand, all);
        window.script(WATCHED, json!([]));
        window.script("window.hold = 1", json!([]));
        window.keys("q");
        window.wait("document.querySelector('[data-testid=chosen-ask]:disabled')");
        window.keys("qqx");
        assert_eq!(window.count("[data-testid=chosen-confirm]"), 0);
        window.script("window.hold = undefined; window.go()", json!([]));
        window.wait(&notice("Asked agents about 3 claims"));
        window.wait(NONE);
        assert_eq!(requests_sent(window).len(), 3);
        window.wait(&rows_say(&all, "asked"));
        assert!(all.iter().all(|id| log(id) == 2));
        window.by(hand, "z", "undo");
        window.wait(&notice("Undone: 3 claims"));
        window.wait(&rows_say(&[gone, also_gone], "evidence gone"));
        assert_eq!(requests_sent(window).len(), 6);

        // Forgotten, after a question that names them.
        choose(window, hand, all);
        window.by(hand, "x", "chosen-false");
        window.wait_moved(ON_YES);
        let asked = window.text("[data-testid=chosen-confirm]");
        for words in [
            "Forget 3 claims?",
            "Webhooks are verified",
            "Nobody has tried",
        ] {
            assert!(asked.contains(words), "{words}: {asked}");
        }
        window.by(hand, ESCAPE, "chosen-no");
        window.wait(&are_chosen(3));
        window.by(hand, "x", "chosen-false");
        window.wait_moved(ON_YES);
        window.by(hand, ENTER, "chosen-yes");
        window.wait(&notice("Forgot 3 claims"));
        window.find("[data-testid=no-drift]");
        window.by(hand, "z", "undo");
        window.wait(&notice("Undone: 3 claims"));
        window.wait(&rows(3));
        for id in all {
            let entries = engram.json(&["log", id])["entries"].clone();
            let newest = &entries[0]["change"]["with"];
            assert_eq!(newest["restores"], json!(id), "{entries}");
        }

        // “Still true” applies to the one whose evidence exists; the others stay selected.
        window.control('a');
        window.wait(&are_chosen(3));
        window.wait(&notice("3 selected"));
        window.by(hand, "y", "chosen-true");
        window.wait(&notice("Confirmed against the current lines"));
        window.wait(&are_chosen(2));
        window.wait(&rows(2));
        window.by(hand, ESCAPE, "chosen-clear");
        window.wait(NONE);
    });
}

#[test]
fn a_row_that_is_closed_meanwhile_is_chosen_no_more() {
    let Stage { shop, window, .. } = &open();
    let engram = &shop.engram();
    window.control('a');
    window.wait(&are_chosen(8));
    window.keys(DELETE);
    window.wait_moved(ON_YES);
    assert!(
        window
            .text("[data-testid=chosen-named]")
            .ends_with("and 5 more.")
    );
    engram.json(&["forget", &shop.ids[3]]);
    window.wait(
        "document.querySelector('[data-testid=chosen-confirm] b')?.textContent === 'Forget 7 claims?'",
    );
    window.keys(ESCAPE);
    window.wait(&are_chosen(7));
    // An engram that no longer holds cannot be selected, and the window says so.
    window.click_with(CONTROL, &row(&shop.ids[3]));
    window.wait(&notice("no longer holds"));
    window.wait(&are_chosen(7));
    // Claims are redacted one at a time.
    window.shift('\u{E017}');
    window.wait(&notice("one at a time"));
    assert_eq!(window.count("[data-testid=confirm]"), 0);
    // Another list has no selection; keys typed in a field belong to it.
    window.keys("/");
    window.keys("jitter");
    window.wait(NONE);
    window.wait(&rows(1));
    window.control('a');
    window.keys("gateway");
    window.wait(&format!(
        "{} && document.getElementById('filter').value === 'gateway'",
        rows(2)
    ));
    assert!(window.count("[data-testid=chosen-bar]") == 0);
}

#[test]
fn what_is_refused_in_the_midst_is_said_and_stays_chosen() {
    let Stage { shop, window, .. } = &open();
    let engram = &shop.engram();
    let forgotten = || {
        let is_closed = |id: &&String| engram.json(&["get", id])["valid_until"].is_string();
        shop.ids.iter().filter(is_closed).count()
    };
    let forget = |window: &Window| {
        window.control('a');
        window.keys(DELETE);
        window.wait_moved(ON_YES);
        window.keys(ENTER);
    };
    window.script(WATCHED, json!([]));
    // One is refused, and the others are forgotten.
    window.script("window.refuse = {2: 'NOT_FOUND'}", json!([]));
    forget(window);
    window.wait(&notice(
        "Forgot 7 of 8. 1 was refused: This is refused. Try again later.",
    ));
    window.wait(&are_chosen(1));
    assert_eq!((requests_sent(window).len(), forgotten()), (8, 7));
    window.keys("z");
    window.wait(&notice("Undone: 7 claims"));
    window.wait("document.querySelectorAll('[data-testid=feed-row] p:not(.closed)').length === 8");

    // At a limit, the rest is not tried.
    window.script(
        "window.sent = []; window.refuse = {4: 'RATE_LIMITED'}",
        json!([]),
    );
    forget(window);
    window.wait(&notice(
        "Forgot 3 of 8. Not done: 5. This is refused. Try again later.",
    ));
    window.wait(&are_chosen(5));
    assert_eq!(requests_sent(window).len(), 4);
    // A claim that cannot be restored now can be restored later.
    window.script(
        "window.sent = []; window.refuse = {2: 'RATE_LIMITED'}",
        json!([]),
    );
    window.keys("z");
    window.wait(&notice("Undone: 1 of 3"));
    window.keys("z");
    window.wait(&notice("Undone: 2 claims"));
}

#[test]
fn a_long_run_says_how_far_it_is_and_is_stopped() {
    let shop = Shop::empty();
    shop.change("src/file0.rs", "fn one() {}\n".repeat(50), "Add a file");
    ok(clean(machine::many_program(), &shop.dir)
        .args([&shop.home, &shop.root])
        .arg("320"));
    let Stage { window, .. } = &Stage::of(shop);
    window.find("[data-testid=feed-row]");
    window.wait(LIVE);
    window.script("document.getElementById('feed').focus()", json!([]));
    window.control('a');
    // 48 of the 200 loaded claims have a ttl. The page's clock is months before they were recorded,
    // so that nobody knows how much of it is left: they count as expired.
    window.wait(&are_chosen(152));
    window.wait(&notice("not loaded yet"));
    assert!(
        window.count("[data-testid=feed-row]") < 60,
        "little is drawn"
    );
    window.script(WATCHED, json!([]));
    window.script("window.hold = 50", json!([]));
    window.keys(DELETE);
    window.wait_moved(ON_YES);
    assert!(
        window
            .text("[data-testid=chosen-named]")
            .ends_with("and 149 more.")
    );
    // Press the key twice, and once more while the change runs.
    window.keys(&format!("{ENTER}{ENTER}"));
    let far = |count: usize| {
        format!(
            "document.querySelector('[data-testid=chosen-progress]')?.textContent === 'Forgetting {count} of 152'"
        )
    };
    window.wait(&far(49));
    window.keys("xy");
    window.keys(ESCAPE);
    window.script("window.hold = undefined; window.go()", json!([]));
    window.wait(&notice("Forgot 50 of 152. Stopped: 102 not done."));
    window.wait(&are_chosen(102));
    let sent = requests_sent(window);
    let each: std::collections::BTreeSet<&String> = sent.iter().collect();
    assert_eq!((sent.len(), each.len()), (50, 50), "each once");
    window.keys("z");
    window.wait(&notice("Undone: 50 claims"));
}

#[test]
fn claims_are_copied() {
    let shop = Shop::open();
    let remote = "https://ada:token@example.com/team/shop.git";
    shop.git(&["remote", "add", "origin", remote]);
    let Stage { shop, window, .. } = &Stage::of(shop);
    window.wait(&rows(8));
    window.wait(LIVE);
    let copied =
        "navigator.clipboard.writeText = async text => { document.body.dataset.copied = text; }";
    window.script(copied, json!([]));
    let text = |window: &Window| window.script("return document.body.dataset.copied", json!([]));
    window.open_row(Hand::Keys, &shop.ids[7]);
    window.shift('c');
    window.wait(&notice("Claim copied"));
    assert_eq!(
        text(window),
        json!("Only 429 and 5xx are tried again; a declined card never is.")
    );
    window.shift('j');
    window.wait(&are_chosen(2));
    window.shift('c');
    window.wait(&notice("Claims copied"));
    let lines = text(window);
    let lines: Vec<&str> = lines.as_str().unwrap().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with("Nobody has tried"), "{lines:?}");
    // The menu of an unselected row acts on that row.
    window.right_click(&row(&shop.ids[0]));
    window.wait(NONE);
    window.click("[data-testid=menu-item][data-command=copy-claim]");
    window.wait(&notice("Claim copied"));
    let copied: Value = text(window);
    assert!(copied.as_str().unwrap().starts_with("A reservation is"));
    // A link names the remote, so that a colleague's clone opens it; never what is secret in it.
    window.keys("l");
    window.wait(&notice("Link copied"));
    let link = format!("engram://feed/{}?remote=example.com/team/shop", shop.ids[0]);
    assert_eq!(text(window), json!(link));
}
