//! Each condition of the filter: chosen in the panel, kept in the address, applied to the list and
//! its counts, and removed by its chip.

use serde_json::json;

use super::{
    hands::{BOTH, DOWN, ENTER, ESCAPE, Hand, are_listed, rows},
    shop::Shop,
};
use crate::{stage::Stage, window::Window};

/// A value in the panel, its part of the address, its chip, and the claims that are left, by their
/// position in [`Shop::ids`].
struct Case {
    value: &'static str,
    address: &'static str,
    chip: &'static str,
    left: &'static [usize],
}

/// No value occurs in two groups of the panel.
const CASES: &[Case] = &[
    Case {
        value: "constraint",
        address: "kind=constraint",
        chip: "constraint",
        left: &[3],
    },
    Case {
        value: "edited: review",
        address: "health=needs_reverification",
        chip: "edited: review",
        left: &[2],
    },
    Case {
        value: "evidence gone",
        address: "health=evidence_gone",
        chip: "gone",
        left: &[6, 7],
    },
    Case {
        value: "unverified",
        address: "verified=no",
        chip: "unverified",
        left: &[9],
    },
    Case {
        value: "manager",
        address: "role=manager",
        chip: "manager",
        left: &[10],
    },
    Case {
        value: "architect",
        address: "agent=architect",
        chip: "architect",
        left: &[1, 6],
    },
    Case {
        value: "you",
        address: "agent=user",
        chip: "you",
        left: &[9],
    },
    Case {
        value: "payments/webhooks",
        address: "topic=payments/webhooks",
        chip: "payments/webhooks",
        left: &[6, 7],
    },
    Case {
        value: "run",
        address: "scope=run",
        chip: "run",
        left: &[10],
    },
    Case {
        value: "inference",
        address: "type=inference",
        chip: "inference",
        left: &[0],
    },
    Case {
        value: "today",
        address: "since=2026-01-08",
        chip: "2026-01-08",
        left: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    },
];
const ALL: [usize; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/// A shop with claims that match each condition, and claims that do not.
fn shop() -> Shop {
    let mut shop = Shop::empty();
    shop.say([(
        -2 * 24 * 60,
        json!({"claim": "Orders may come twice.", "agent": "reviewer", "fact_type": "inference", "pointers": ["repo:src/ledger.rs@HEAD"]}),
    )]);
    shop.say_all();
    shop.say([(
        300,
        json!({"claim": "The gateway's page says that it is up.", "kind": "perf", "pointers": ["url:https://example.com/status"]}),
    )]);
    // A role belongs to the handle, whatever the name is.
    shop.say_as(
        "programmer-9",
        "manager",
        309,
        json!({"claim": "This run leaves the ledger alone.", "scope": "run", "pointers": ["repo:src/ledger.rs@HEAD"]}),
    );
    shop
}

fn claims(shop: &Shop, places: &[usize]) -> String {
    let ids: Vec<&String> = places.iter().map(|&it| &shop.ids[it]).collect();
    are_listed(&ids)
}

/// Presses the down arrow until this holds for the focused element.
fn scroll_down_to(window: &Window, holds: &str) {
    let mut steps = 0;
    while !window.holds(holds) {
        assert!(steps < 80, "never by the arrows: {holds}");
        window.keys(DOWN);
        steps += 1;
    }
}

/// Opens the panel, chooses a value, and closes the panel again.
fn choose(window: &Window, hand: Hand, value: &str) {
    let css = format!("[data-testid=facet][data-value=\"{value}\"]");
    match hand {
        Hand::Keys => {
            window.keys("f");
            window.wait_moved("document.activeElement.id === 'facets'");
            window.find(&css);
            scroll_down_to(window, &format!("document.activeElement.matches('{css}')"));
            window.keys(&format!("{ENTER}{ESCAPE}"));
        }
        Hand::Mouse => {
            window.click("[data-testid=facets-button]");
            window.click(&css);
            window.click("[data-testid=facets-button]");
        }
    }
    window.wait("!document.querySelector('[data-testid=facets]')");
}

#[test]
fn each_condition_has_a_value_a_chip_and_an_address() {
    let Stage { shop, window, .. } = &Stage::drifting(shop());
    window.wait("document.querySelector('[data-testid=drift-view]')");
    for hand in BOTH {
        for case in CASES {
            println!("{} by {hand:?}", case.value);
            window.anew();
            window.wait(&claims(shop, &ALL));
            choose(window, hand, case.value);
            window.wait(&claims(shop, case.left));
            let chips = window.chips();
            assert!(
                chips.len() == 1 && chips[0].ends_with(case.chip),
                "{chips:?}"
            );
            let query = window.query();
            let holds = |it: &str| {
                it.trim_start_matches('?')
                    .split('&')
                    .any(|it| it == case.address)
            };
            assert!(holds(&query), "no {} in {query}", case.address);
            // Loading the address restores the filter.
            window.post("/refresh", json!({}));
            window.wait("document.querySelector('[data-testid=filter-chip]')");
            window.wait(&claims(shop, case.left));
            assert_eq!(window.chips(), chips);
            // Its chip brings all claims back.
            window.press_on(hand, "filter-chip");
            window.wait(&claims(shop, &ALL));
            assert_eq!(window.chips(), [""; 0]);
            assert!(!holds(&window.query()), "{}", window.query());
        }
    }
}

#[test]
fn words_are_a_condition_that_the_address_holds() {
    let Stage { shop, window, .. } = &Stage::of(shop());
    for hand in BOTH {
        window.wait(&claims(shop, &ALL));
        match hand {
            Hand::Keys => window.keys("/second"),
            Hand::Mouse => {
                window.click("[data-testid=filter]");
                window.keys("second");
            }
        }
        window.wait(&claims(shop, &[5, 7]));
        assert!(window.query().contains("q=second"), "{}", window.query());
        window.post("/refresh", json!({}));
        window.wait(&claims(shop, &[5, 7]));
        let said = window.script("return document.getElementById('filter').value", json!([]));
        assert_eq!(said, "second");
        // The words combine with another condition, which stays when the words are removed.
        choose(window, hand, "programmer-1");
        window.wait("location.search.includes('agent=programmer-1')");
        window.wait(&claims(shop, &[5]));
        window.by(hand, "/", "filter");
        window.keys(ESCAPE);
        window.wait(&claims(shop, &[2, 5]));
        assert!(!window.query().contains("q="), "{}", window.query());
        window.press_on(hand, "filter-chip");
    }
}

#[test]
fn a_value_keeps_the_focus_while_others_go() {
    let Stage { window, .. } = &Stage::drifting(shop());
    window.wait("document.querySelector('[data-testid=drift-view]')");
    // High enough to show all rows beside the panel.
    window.size(1280, 2000);
    // Values that match none of the remaining claims disappear meanwhile.
    for value in [
        "evidence gone",
        "evidence gone",
        "payments/webhooks",
        "payments/webhooks",
    ] {
        if window.count("[data-testid=facets]") == 0 {
            window.keys("f");
            window.wait_moved("document.activeElement.id === 'facets'");
            window.find("[data-testid=facet]");
        }
        let has_focus = format!("document.activeElement.dataset.value === '{value}'");
        scroll_down_to(window, &has_focus);
        let before = window.count("[data-testid=filter-chip]");
        window.keys(ENTER);
        window.wait(&format!(
            "document.querySelectorAll('[data-testid=filter-chip]').length === {}",
            1 - before
        ));
        window.wait("!document.querySelector('#facets [aria-busy=true]')");
        let places = if before == 0 { 2 } else { ALL.len() };
        window.wait(&rows(places));
        assert!(window.holds(&has_focus), "{value}");
    }
}

#[test]
fn the_number_beside_a_value_is_how_many_it_leaves() {
    let mut shop = shop();
    // Past versions count too.
    shop.ids.remove(0);
    let versions = shop.correct();
    let Stage { window, .. } = &Stage::drifting(shop);
    window.wait("document.querySelector('[data-testid=drift-view]')?.textContent.includes('3')");
    // High enough to show all rows beside the panel.
    window.size(1280, 2000);
    window.wait(&rows(ALL.len() + versions.len() - 1));
    window.click("[data-testid=facets-button]");
    window.find("[data-testid=facet]");
    // Two groups may have values of the same name.
    let all = "[...document.querySelectorAll('#facets .sort')].flatMap((group, at) =>
        [...group.querySelectorAll('[data-testid=facet]')].map(it => [at + 1, it.dataset.value, it.querySelector('i')?.textContent ?? '']))";
    let values: Vec<(usize, String, String)> =
        serde_json::from_value(window.script(&format!("return {all}"), json!([]))).unwrap();
    let counted = values.iter().filter(|(.., count)| !count.is_empty());
    assert!(counted.count() >= 20, "{values:?}");
    let is_counted = "!document.querySelector('#facets [aria-busy=true]')";
    for (group, value, count) in &values {
        let Ok(count) = count.parse::<usize>() else {
            continue; // days have no counts
        };
        println!("{value} {count}");
        let css = format!("#facets .sort:nth-of-type({group}) [data-value=\"{value}\"]");
        let on = |is_on: bool| {
            window.click(&css);
            window.wait(is_counted);
            window.wait(&format!(
                "document.querySelectorAll('[data-testid=filter-chip]').length === {} ",
                u8::from(is_on)
            ));
        };
        on(true);
        window.wait(&rows(count));
        let total = window.text("[data-testid=list-count]");
        assert!(total.starts_with(&count.to_string()), "{value}: {total}");
        on(false);
        window.wait(&rows(ALL.len() + versions.len() - 1));
        // The values keep their order.
        window.wait(&format!(
            "JSON.stringify({all}) === {}",
            json!(json!(values).to_string())
        ));
    }
}
