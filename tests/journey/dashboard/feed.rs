//! The feed while a person watches: a confirmation moves no row, rows under the pointer stay, new
//! claims are marked, and a failed read is retried.

use serde_json::{Value, json};

use super::{
    hands::{ESCAPE, Hand, LIVE, is_read, row, rows},
    server::Server,
    shop::Shop,
};
use crate::{stage::Stage, window::Window};

const NEW_SINCE: &str = "document.querySelector('[data-testid=new-since]')";

impl Window {
    /// Moves the pointer without pressing a button.
    fn point(&self, x: i64, y: i64) {
        let to =
            json!({"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"});
        self.mouse(&[to]);
    }

    /// Moves the pointer onto the matching element; returns its position.
    fn point_at(&self, css: &str) -> (i64, i64) {
        self.find(css);
        let script = "const at = document.querySelector(arguments[0]).getBoundingClientRect();
            return [at.left + at.width / 2, at.top + at.height / 2].map(Math.round)";
        let at: (i64, i64) = serde_json::from_value(self.script(script, json!([css]))).unwrap();
        self.point(at.0, at.1);
        at
    }

    /// Returns the row at a point of the screen.
    fn row_at(&self, (x, y): (i64, i64)) -> Value {
        let script = "return document.elementFromPoint(...arguments).closest('[data-testid=feed-row]')?.dataset.id";
        self.script(script, json!([x, y]))
    }

    /// Returns the claims of the list, from the top.
    fn claims(&self) -> Vec<String> {
        let script = "return [...document.querySelectorAll('[data-testid=feed-row]')]
            .sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).map(it => it.querySelector('p').textContent)";
        serde_json::from_value(self.script(script, json!([]))).unwrap()
    }
}

#[test]
fn a_claim_that_is_confirmed_stays_where_it_was() {
    let Stage { shop, window, .. } = &Stage::listed();
    let engram = &shop.engram();
    let before = window.claims();
    shop.drift();
    let old = &shop.ids[1];
    window.open_row(Hand::Keys, old);
    window.wait("document.querySelector('[data-testid=triage]')");
    window.keys("y");
    window.wait("document.querySelector('[data-testid=notice]:not(.error)')");
    window.wait(&format!("!document.querySelector('{}')", row(old)));
    assert_eq!(window.claims(), before);
    // The confirmation is at the end of the journal, and the open version is the current one.
    let newest = engram.json(&["feed"])["entries"][0]["change"]["with"].clone();
    assert_eq!(newest["supersedes"], json!(old));
    window.wait(&is_read(newest["id"].as_str().unwrap()));
    window.wait(
        "document.querySelector('[data-testid=feed-row][aria-posinset=\"7\"][aria-selected=true]')",
    );
    // A page of the list agrees, with and without a filter.
    window.anew();
    window.wait(&rows(8));
    assert_eq!(window.claims(), before);
    window.keys("f");
    window.click("[data-testid=facet][data-value=fact]");
    window.wait("!document.querySelector('[data-testid=feed-row][aria-posinset=\"8\"]')");
    let left = window.claims();
    let in_order: Vec<String> = before.into_iter().filter(|it| left.contains(it)).collect();
    assert!(left.len() > 1);
    assert_eq!(left, in_order);
}

#[test]
fn what_is_under_the_pointer_stays_there() {
    let Stage { shop, window, .. } = &Stage::listed();
    let engram = &shop.engram();
    window.wait(LIVE);
    let [pointed, other] = [&shop.ids[5], &shop.ids[2]];
    let first = |claim: &str| {
        format!(
            "document.querySelector('[data-testid=feed-row][aria-posinset=\"1\"] p')?.textContent === '{claim}'"
        )
    };

    let at = window.point_at(&row(pointed));
    shop.put("Said under the pointer");
    window.find("[data-testid=new-pill]");
    window.wait("document.querySelector('[data-testid=link]').textContent === '1 new, waiting while you read'");
    engram.json(&["forget", other]);
    // A claim that ends is marked in place.
    window.wait(&format!(
        "document.querySelector('{} [data-testid=evidence]').textContent === 'forgotten'",
        row(other)
    ));
    window.wait(&rows(8));
    assert_eq!(window.row_at(at), json!(pointed));
    // The new claim appears when the mouse leaves the rows.
    window.point(2, 2);
    window.wait(&rows(9));
    window.wait(&first("Said under the pointer"));
    window.wait("!document.querySelector('[data-testid=new-pill]')");
    window.wait(LIVE);

    // It appears on request, and when the person uses keys.
    for (key, claim) in [("n", "Asked for"), ("j", "Gone on by keys")] {
        let at = window.point_at(&row(pointed));
        shop.put(claim);
        window.find("[data-testid=new-pill]");
        assert_eq!(window.row_at(at), json!(pointed));
        window.keys(key);
        window.wait(&first(claim));
        // An idle pointer does not hold rows back: new claims appear at once.
        shop.put(&format!("{claim}, and more"));
        window.wait(&first(&format!("{claim}, and more")));
        window.point(2, 2);
    }

    // A list of claims to review is reloaded once the pointer leaves it.
    shop.drift();
    window.press_on(Hand::Mouse, "drift-view");
    let [edited, gone] = [&shop.ids[1], &shop.ids[5]];
    // The claims stored in this test point at a file that was edited, too.
    window.wait(&rows(8));
    let before = window.claims();
    let at = window.point_at(&row(edited));
    engram.json(&["forget", gone]);
    window.wait(&format!(
        "document.querySelector('{} [data-testid=evidence]').textContent === 'forgotten'",
        row(gone)
    ));
    assert_eq!(window.claims(), before);
    assert_eq!(window.row_at(at), json!(edited));
    window.point(2, 2);
    window.wait(&rows(7));
    assert_eq!(window.count(&row(gone)), 0);
}

#[test]
fn what_is_new_since_somebody_looked_is_told_from_what_was_seen() {
    let Stage { shop, window, .. } = &Stage::listed();
    window.wait(LIVE);
    let marked = || window.texts("[data-testid=feed-row].new p");
    // What the person writes is never new to them.
    let say = |claim: &str| {
        let draft = json!({"claim": claim, "pointers": ["repo:src/retry.rs@HEAD"], "agent": "ada"});
        shop.engram().put(&[draft]);
    };
    let look_away = || window.script("window.dispatchEvent(new Event('blur'))", json!([]));
    // A claim that arrives on the screen counts as seen.
    say("Said while somebody looks");
    window.wait(&rows(9));
    assert_eq!(marked(), [""; 0]);
    assert_eq!(window.count("[data-testid=new-since]"), 0);

    look_away();
    say("Said meanwhile");
    window.wait(&rows(10));
    window.wait(NEW_SINCE);
    assert_eq!(marked(), ["Said meanwhile"]);
    let line = window.text("[data-testid=new-since]");
    let time = line.strip_prefix("↑ New since you last looked · ").unwrap();
    assert!(time.len() == 5 && time.contains(':'), "{line}");
    // The line is between the two rows and covers neither.
    let apart = "const at = css => document.querySelector(css).getBoundingClientRect();
        const line = at('[data-testid=new-since]'), above = at('[aria-posinset=\"1\"]'), below = at('[aria-posinset=\"2\"]');
        return above.bottom <= line.top + 1 && line.bottom <= below.top + 1 && line.height > 10";
    assert_eq!(window.script(apart, json!([])), json!(true));

    // It is there when the person returns, even if the page was closed.
    window.anew();
    window.wait(&rows(10));
    window.wait(NEW_SINCE);
    assert_eq!(marked(), ["Said meanwhile"]);
    // Later claims join above the line.
    say("Said afterwards");
    window.wait(&rows(11));
    assert_eq!(window.count("[data-testid=feed-row].new"), 2);
    // Leaving the window marks it as seen.
    look_away();
    window.wait(&format!("!{NEW_SINCE}"));
    assert_eq!(marked(), [""; 0]);
    window.anew();
    window.wait(&rows(11));
    assert_eq!(window.count("[data-testid=new-since]"), 0);
}

#[test]
fn a_value_that_splits_nothing_is_not_offered() {
    let Stage { window, .. } = &Stage::listed();
    window.keys("f");
    window.wait("document.querySelector('[data-testid=facet]')");
    // Lists each visible value with its count, by group.
    let offered = || -> Vec<Vec<(String, bool, Option<u64>)>> {
        let script = "return [...document.querySelectorAll('#facets .sort')].filter(it => it.checkVisibility())
            .map(it => [...it.querySelectorAll('[data-testid=facet]')]
                .map(it => [it.dataset.value, it.ariaPressed === 'true', it.querySelector('i') ? Number(it.querySelector('i').textContent) : null]))";
        serde_json::from_value(window.script(script, json!([]))).unwrap()
    };
    let check = |total: u64| {
        let all = offered();
        for sort in all.iter().filter(|sort| !sort.iter().any(|it| it.1)) {
            for (value, _, count) in sort {
                assert!(count.is_none_or(|it| it < total), "{value} is all of it");
            }
        }
        all.into_iter().flatten().map(|it| it.0).collect::<Vec<_>>()
    };
    // All have the scope `project`.
    let values = check(8);
    assert!(!values.contains(&"project".to_owned()), "{values:?}");
    assert!(values.contains(&"fact".to_owned()), "{values:?}");
    // An active value stays, even if all listed claims have it.
    window.click("[data-testid=facet][data-value=fact]");
    window.wait(&rows(3));
    window.wait("document.querySelector('[data-testid=list-count]').textContent === '3 found'");
    let values = check(3);
    assert!(values.contains(&"fact".to_owned()), "{values:?}");
}

#[test]
fn what_was_read_before_a_search_that_found_nothing_is_read_again() {
    let Stage { shop, window, .. } = &Stage::listed();
    window.open_row(Hand::Keys, &shop.ids[3]);
    // While typing, the search passes words that match some claims.
    window.keys("/jitter");
    window.wait(&rows(1));
    window.control('a');
    window.keys("quagga");
    window.wait("document.querySelector('[data-testid=no-match]')");
    window.keys(ESCAPE);
    window.wait(&rows(8));
    window.wait(&is_read(&shop.ids[3]));
}

#[test]
fn a_card_that_could_not_be_read_is_read_again() {
    let shop = Shop::open();
    let token = shop.home.join("token");
    let token = token.to_str().unwrap();
    let server = Server::start(&shop, &["--token-file", token]);
    let listen = server.listen().to_owned();
    let window = Window::browse(&server.url);
    window.wait(LIVE);
    drop(server);
    window.wait("document.querySelector('[data-testid=disconnected]')");
    window.click(&row(&shop.ids[1]));
    window.wait(&format!(
        "document.querySelector('[data-testid=engram][data-id=\"{}\"] [data-testid=pointer-card] .refused')",
        shop.ids[1]
    ));
    let _server = Server::start(&shop, &["--listen", &listen, "--token-file", token]);
    window.wait("document.querySelector('[data-testid=engram] [data-testid=pointer-card] .proof')");
    window.wait("!document.querySelector('[data-testid=engram] .refused')");
}
