//! The filter: its panel in a small window, by keys alone; and a search through several parts of
//! the journal.

use serde_json::json;

use super::{
    hands::{DOWN, ENTER, ESCAPE, TAB, are_listed, rows},
    server::Server,
    shop::Shop,
};
use crate::{stage::Stage, window::Window};

impl Window {
    /// Returns the value or field that has the focus; it must be in view.
    fn focused(&self) -> String {
        let script = "const it = document.activeElement, at = it.getBoundingClientRect(),
                panel = document.getElementById('facets')?.getBoundingClientRect() ?? document.body.getBoundingClientRect();
            const inSight = !it.closest('#facets') || it.id === 'facets' || at.top >= panel.top - 1 && at.bottom <= panel.bottom + 1;
            return inSight ? it.dataset.value ?? it.dataset.testid ?? it.tagName : 'out of sight';";
        let name = self.script(script, json!([]));
        name.as_str().expect("a name").to_owned()
    }

    /// Presses Tab until this has the focus.
    fn tab_to(&self, name: &str) {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|it| it != name) {
            assert!(seen.len() < 60, "no {name} among {seen:?}");
            self.keys(TAB);
            seen.push(self.focused());
        }
        assert!(!seen.iter().any(|it| it == "out of sight"), "{seen:?}");
    }

    /// Returns the title of each removable condition.
    pub(super) fn chips(&self) -> Vec<String> {
        let script = "return [...document.querySelectorAll('.filter-chips [data-testid=filter-chip]')].map(it => it.title)";
        serde_json::from_value(self.script(script, json!([]))).unwrap()
    }
}

#[test]
fn the_filter_is_set_and_taken_away_by_keys_in_a_small_window() {
    let Stage { window, .. } = &Stage::open();
    window.size(900, 600);
    window.wait(&rows(8));
    let query = || {
        window
            .script("return location.search", json!([]))
            .to_string()
    };

    window.keys("f");
    window.wait("document.querySelector('[data-testid=facet]')");
    window.wait_moved("document.activeElement.id === 'facets'");
    // A value keeps the focus while the counts are updated.
    window.keys(DOWN);
    assert_eq!(window.focused(), "fact");
    window.keys(ENTER);
    window.wait(&rows(3));
    assert_eq!(window.focused(), "fact");
    // The last two days, then the last day alone, and the first day: both ends are included.
    let steps = |window: &Window| window.script("return history.length", json!([]));
    window.tab_to("since");
    let before = steps(window).as_u64();
    window.keys("01072026");
    window.wait("location.search.includes('since=2026-01-07')");
    assert_eq!(
        steps(window).as_u64(),
        before.map(|it| it + 1),
        "one step for one day"
    );
    window.tab_to("until");
    window.keys("01082026");
    window.wait("location.search.includes('until=2026-01-08')");
    window.wait(&rows(3));
    assert_eq!(
        window.chips(),
        [
            "Remove kind fact",
            "Remove since 2026-01-07",
            "Remove until 2026-01-08"
        ]
    );
    window.keys("\u{E012}07"); // from the year back to the day
    window.wait("location.search.includes('until=2026-01-07')");
    window.wait("document.querySelector('[data-testid=no-match]')");
    // Loading the address restores the filter.
    let there = query();
    window.post("/refresh", json!({}));
    window.wait("document.querySelector('[data-testid=no-match]')");
    assert_eq!(query(), there);
    // A chip is removed by keys too.
    window.tab_to("filter-chip");
    window.keys(&format!("{TAB}{TAB}{ENTER}"));
    window.wait(&rows(3));
    assert!(!query().contains("until"), "{}", query());
    // Escape closes the panel, and the list has the focus.
    window.keys("f");
    window.wait("document.querySelector('[data-testid=facet]')");
    window.keys(&format!("{DOWN}{ESCAPE}"));
    window.wait("!document.querySelector('[data-testid=facets]')");
    assert_eq!(window.focused(), "feed");
}

#[test]
fn a_search_among_claims_in_doubt_does_not_say_that_there_are_none() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    window.wait("document.querySelector('[data-testid=drift-view]')");
    window.click("[data-testid=drift-view]");
    window.wait(&rows(3));
    // Being in doubt comes from the view; it is not a condition.
    assert_eq!(window.chips(), [""; 0]);
    assert_eq!(window.text("[data-testid=list-count]"), "3");
    window.keys("/zebra");
    window.wait("document.querySelector('[data-testid=no-match]')");
    window.click("[data-testid=no-match] button:last-child");
    window.wait(&rows(3));
    assert_eq!(window.text(".list h1"), "Drift");
}

/// Holds back requests beyond the first part of a search, until `go()`.
const HOLD: &str = "const real = window.fetch;
    window.held = [];
    window.fetch = (...args) => args[1].body.includes('\"before\"')
        ? new Promise(go => held.push(go)).then(() => real(...args)) : real(...args);
    window.go = () => held.shift()();";

#[test]
fn a_long_search_says_how_far_it_is_and_stops_and_goes_on() {
    // Three parts; only the last has a match.
    let shop = Shop::long();
    let server = Server::start(shop, &[]);
    let window = Window::browse(&server.url);
    window.wait("document.querySelector('[data-testid=feed-row]')");
    window.script(HOLD, json!([]));
    let says = |word: &str| {
        let text = "document.querySelector('[data-testid=searching]')?.textContent";
        window.wait(&format!(
            "{text}?.startsWith('{word}') && held.length === {}",
            u8::from(word == "Searching")
        ));
    };
    let done = || {
        let done = window.script(
            "return document.querySelector('[data-testid=searching] progress').value",
            json!([]),
        );
        done.as_u64().unwrap()
    };

    window.keys("/svc0000500");
    says("Searching");
    assert!((40..60).contains(&done()), "{}", done());
    // The request under way is answered, and no other follows.
    window.keys(ESCAPE);
    window
        .wait("document.querySelector('[data-testid=search-button]')?.textContent === 'Continue'");
    window.script("go()", json!([]));
    window.wait("document.querySelector('[data-testid=searching] progress').value > 80");
    says("Search stopped");
    assert_eq!(window.count("[data-testid=no-match]"), 0);
    // The search continues where it stopped, and finds the match.
    window.click("[data-testid=search-button]");
    says("Searching");
    window.script("go()", json!([]));
    window.wait(&rows(1));
    assert!(
        window
            .text("[data-testid=feed-row] p")
            .contains("svc0000500")
    );
    assert_eq!(window.count("[data-testid=searching]"), 0);
}

#[test]
fn what_has_ended_is_left_out_or_listed_alone() {
    let Stage { shop, window, .. } = &Stage::listed();
    let engram = &shop.engram();
    let [ended, next] = [&shop.ids[2], &shop.ids[4]];
    engram.json(&["forget", ended]);
    window.keys("f");
    window.click("[data-testid=facet][data-value=holds]");
    window.wait(&rows(7));
    assert_eq!(window.chips(), ["Remove state holds"]);
    window.wait("location.search === '?ended=no' || location.search.startsWith('?ended=no&')");
    // A claim that ends leaves the list.
    engram.json(&["forget", next]);
    window.wait(&rows(6));
    window.click("[data-testid=facet][data-value=ended]");
    window.wait(&are_listed(&[ended, next]));
    window.click("[data-testid=facet][data-value=ended]");
    window.wait(&rows(8));
}

#[test]
fn the_focus_stays_in_the_filter_when_its_value_goes() {
    let Stage { shop, window, .. } = &Stage::listed();
    let engram = &shop.engram();
    shop.drift();
    window.keys("f");
    let gone = "[data-testid=facet][data-value=\"evidence gone\"]";
    window.find(gone);
    window.script(
        "document.querySelector(arguments[0]).focus()",
        json!([gone]),
    );
    for at in [5, 6] {
        engram.json(&["forget", &shop.ids[at]]);
    }
    window.wait(&format!("!document.querySelector('{gone}')"));
    window.wait_moved("document.activeElement.matches('#facets [data-testid=facet]') && document.activeElement.checkVisibility()");
    // The same happens when chips are removed, until none is left.
    window.click("[data-testid=facet][data-value=fact]");
    window.click("[data-testid=facet][data-value=holds]");
    window.tab_to("filter-chip");
    window.keys(ENTER);
    window.wait_moved("document.activeElement.matches('[data-testid=filter-chip]') && document.querySelectorAll('[data-testid=filter-chip]').length === 1");
    window.keys(ENTER);
    window.wait_moved("document.activeElement.id === 'feed'");
}

#[test]
fn the_palette_searches_all_claims_too() {
    let Stage { window, .. } = &Stage::listed();
    window.control('k');
    window.find("[data-testid=palette-input]");
    window.keys("webhooks zebra");
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent === 'webhooks zebra'");
    window.keys(ENTER);
    window.wait("document.querySelector('[data-testid=no-match]')");
    assert_eq!(
        window.script("return document.getElementById('filter').value", json!([])),
        json!("webhooks zebra")
    );
}
