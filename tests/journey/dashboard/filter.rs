//! The filter: its panel in a small window, by keys alone; and the search of the list, the palette
//! and the shortcuts.

use serde_json::json;

use super::{
    hands::{DOWN, ENTER, ESCAPE, TAB, are_listed, is_open, rows},
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

#[test]
fn a_search_of_a_long_journal_finds_the_one_claim_that_has_the_name() {
    let server = Server::start(Shop::long(), &[]);
    let window = Window::browse(&server.url);
    window.wait("document.querySelector('[data-testid=feed-row]')");
    window.keys("/svc0000500");
    window.wait(&rows(1));
    window.wait(
        "document.querySelector('[data-testid=ranked]')?.textContent === 'Best match first.'",
    );
    assert_eq!(window.text("[data-testid=feed-row] mark"), "svc0000500");
    // No claim contains this.
    window.control('a');
    window.keys("nowhere1");
    window.wait("document.querySelector('[data-testid=no-match]')");
    window.keys(ESCAPE);
    window.wait("document.querySelector('[data-testid=feed-row]')");
}

#[test]
fn a_question_finds_what_answers_it_and_opens_that() {
    let Stage { window, .. } = &Stage::listed();
    window.keys("/what about jittering");
    window.wait(&rows(1));
    window.wait("document.querySelector('[data-testid=feed-row]').dataset.id === document.querySelector('[data-testid=engram]')?.dataset.id");
    window.find("[data-testid=feed-row] mark");
    window.find("[data-testid=claim] mark");
    // The words of a cleared search are marked nowhere, and the claim stays open.
    let found = window.attribute("[data-testid=engram]", "data-id");
    window.keys(ESCAPE);
    window.wait(&rows(8));
    window.wait("!document.querySelector('[data-testid=feed-row] mark, [data-testid=claim] mark')");
    window.wait(&is_open(&found));
    // Escape from the list clears a search that found nothing.
    window.keys(&format!("/quagga{ENTER}"));
    window.wait("document.querySelector('[data-testid=no-match]')");
    window.keys(ESCAPE);
    window.wait(&rows(8));
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
    window.keys("quagga zebra");
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent === 'quagga zebra'");
    window.wait("document.querySelector('dialog[open] .nothing')?.textContent === 'No results'");
    window.keys(ENTER);
    window.wait("document.querySelector('[data-testid=no-match]')");
    assert_eq!(
        window.script("return document.getElementById('filter').value", json!([])),
        json!("quagga zebra")
    );
    // The palette answers a question by itself.
    window.control('k');
    window.find("[data-testid=palette-input]");
    window.keys("what about jittering");
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true] mark')");
    // Values of settings and views that are hidden while empty are found too.
    for (typed, found) in [("dark", "Theme: Dark"), ("requests", "Requests")] {
        window.control('a');
        window.keys(typed);
        window.wait(&format!("[...document.querySelectorAll('[data-testid=palette-option]')].some(it => it.textContent.startsWith('{found}'))"));
    }
}

#[test]
fn the_sheet_of_shortcuts_is_searched() {
    let Stage { window, .. } = &Stage::listed();
    window.keys("?");
    window.wait_moved("document.activeElement?.dataset.testid === 'shortcuts-input'");
    window.keys("redact");
    window.wait("document.querySelectorAll('[data-testid=shortcut]').length === 1");
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");
}
