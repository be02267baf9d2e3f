//! Taking claims out of use, to the end: forgotten, or erased for good.

use engram_kit::files_holding;
use serde_json::{Value, json};

use super::{
    hands::{DELETE, ENTER, ESCAPE, Hand, row, rows},
    shop::Shop,
    ways::Move::{self, Click, Keys, Shift, Wait},
};
use crate::{stage::Stage, window::Window};

/// A way to take a claim out of use.
struct Way {
    name: &'static str,
    hand: Hand,
    erases: bool,
    /// The moves up to the question.
    ask: &'static [Move],
    /// The answer that changes nothing.
    keep: &'static [Move],
    /// The answer that closes the claim.
    go: &'static [Move],
}

const DEL: char = '\u{E017}';
const ON_YES: Move = Wait("document.activeElement.dataset.testid === 'forget-yes'");
const ON_NO: Move = Wait("document.activeElement.dataset.testid === 'forget-no'");
const ASKED: &str = "document.querySelector('[data-testid=confirm]')";

const WAYS: &[Way] = &[
    Way {
        name: "forget by keys",
        hand: Hand::Keys,
        erases: false,
        ask: &[Keys(DELETE), ON_YES],
        keep: &[Keys(ESCAPE)],
        go: &[Keys(ENTER)],
    },
    Way {
        name: "forget by mouse",
        hand: Hand::Mouse,
        erases: false,
        ask: &[Click("[data-testid=forget]")],
        keep: &[Click("[data-testid=forget-no]")],
        go: &[Click("[data-testid=forget-yes]")],
    },
    Way {
        name: "redact by keys",
        hand: Hand::Keys,
        erases: true,
        ask: &[Shift(DEL), ON_NO],
        // Enter alone does not erase.
        keep: &[Keys(ENTER)],
        go: &[Shift('\u{E004}'), ON_YES, Keys(ENTER)],
    },
    Way {
        name: "redact by mouse",
        hand: Hand::Mouse,
        erases: true,
        ask: &[Click("[data-testid=redact]"), ON_NO],
        keep: &[Click("[data-testid=forget-no]")],
        go: &[Click("[data-testid=forget-yes]")],
    },
];

/// Returns the state of the evidence in a row, and the styles of that word and of the claim.
fn look_of_row(window: &Window, id: &str) -> Value {
    let script = "const row = document.querySelector(arguments[0]), word = row.querySelector('[data-testid=evidence]'), claim = row.querySelector('p');
        return [word.textContent, word.className, claim.className.trim()]";
    window.script(script, json!([row(id)]))
}

/// Whether a button is enabled.
fn is_offered(window: &Window, testid: &str) -> bool {
    window.count(&format!("[data-testid={testid}]:enabled")) == 1
}

/// Returns the entries in the engram's menu.
fn menu_items(window: &Window) -> Vec<String> {
    window.keys(".");
    window.wait_moved("document.querySelector('[data-testid=menu-item]:focus')");
    let script = "return [...document.querySelectorAll('[data-testid=menu-item]')].map(it => it.dataset.command)";
    let items = window.script(script, json!([]));
    window.keys(ESCAPE);
    window.wait("!document.querySelector('[data-testid=menu]')");
    serde_json::from_value(items).unwrap()
}

#[test]
fn a_claim_is_forgotten_or_erased_only_when_that_was_meant() {
    let Stage { shop, window, .. } = &Stage::listed();
    let engram = &shop.engram();
    for (way, id) in WAYS.iter().zip(&shop.ids) {
        let name = way.name;
        println!("{name}");
        let before = engram.json(&["get", id]);
        let claim = before["claim"].as_str().unwrap();
        // Short enough to lie on one page of the database.
        let words = claim.split_at(40).0;
        assert!(!files_holding(&shop.home, words).is_empty(), "{name}");
        let holds = look_of_row(window, id);
        window.open_row(way.hand, id);

        window.make_all(way.ask);
        window.wait(ASKED);
        window.make_all(way.keep);
        window.wait(&format!("!{ASKED}"));
        assert_eq!(engram.json(&["get", id]), before, "{name}: it was kept");
        assert_eq!(look_of_row(window, id), holds, "{name}: it was kept");

        window.make_all(way.ask);
        window.wait(ASKED);
        window.make_all(way.go);
        let word = if way.erases { "redacted" } else { "forgotten" };
        if !way.erases {
            // The next claim opens.
            let next =
                format!("document.querySelector('[data-testid=engram]').dataset.id !== '{id}'");
            window.wait(&next);
            window.open_row(way.hand, id);
        }
        window.wait(&format!("document.querySelector('[data-testid=engram][data-id=\"{id}\"] [data-testid=state]')?.textContent === '{word}'"));
        window.wait("document.querySelector('[data-testid=notice]:not(.error)')");
        let look = if way.erases { "erased" } else { "closed" };
        assert_eq!(
            look_of_row(window, id),
            json!([word, "word gone", look]),
            "{name}"
        );

        // The question appears once, by either way.
        let offered =
            |window: &Window| (is_offered(window, "forget"), is_offered(window, "redact"));
        assert_eq!(offered(window), (false, !way.erases), "{name}");
        window.keys(DELETE);
        if way.erases {
            window.shift(DEL);
        }
        let items = menu_items(window);
        assert_eq!(window.count("[data-testid=confirm]"), 0, "{name}");
        assert!(!items.contains(&"forget".to_owned()), "{name}: {items:?}");
        assert_eq!(
            items.contains(&"redact".to_owned()),
            !way.erases,
            "{name}: {items:?}"
        );

        // The store agrees: a forgotten claim stays in history, an erased one is nowhere.
        let after = engram.json(&["get", id]);
        assert!(after["valid_until"].is_string(), "{name}: {after}");
        assert_eq!(
            after["redacted"] == json!(true),
            way.erases,
            "{name}: {after}"
        );
        let feed = engram.json(&["feed"]).to_string();
        let is_there = [
            after["claim"] == before["claim"],
            feed.contains(claim),
            !files_holding(&shop.home, words).is_empty(),
            window.count(&row(id)) == 1 && window.text("body").contains(claim),
        ];
        assert_eq!(
            is_there, [!way.erases; 4],
            "{name}: record, feed, files, page"
        );
        let found = engram.json(&["query", claim]);
        assert!(!found.to_string().contains(claim), "{name}: {found}");
    }
    // A search does not find an erased claim, and a reloaded page no longer has its words.
    window.anew();
    window.wait(&rows(8));
    for (way, id) in WAYS.iter().zip(&shop.ids) {
        let word = if way.erases { "redacted" } else { "forgotten" };
        assert_eq!(look_of_row(window, id)[0], json!(word), "{}", way.name);
    }
    window.keys("/artifact:docs/SPEC.md tried at most");
    window.wait("document.querySelector('[data-testid=no-match], [data-testid=ranked]')");
    for (_, id) in WAYS.iter().zip(&shop.ids).filter(|(way, _)| way.erases) {
        window.wait(&format!("!document.querySelector('{}')", row(id)));
    }
}

/// For each fate of a claim: the word for it, the style of its row, and whether it can be forgotten
/// and erased.
const ENDS: &[(&str, &str, &str, bool, bool)] = &[
    ("holds", "unchanged", "", true, true),
    ("replaced", "replaced", "closed", false, true),
    ("expired", "expired", "closed", true, true),
    ("forgotten", "forgotten", "closed", false, true),
    ("erased", "redacted", "erased", false, false),
];

#[test]
fn what_became_of_a_claim_is_told_by_its_row_and_its_page() {
    let mut shop = Shop::open();
    let versions = shop.correct();
    // It held for an hour, which has ended when the page is opened.
    shop.say([(
        211,
        json!({"claim": "The gateway is slow today.", "ttl": "PT1H", "agent": "tester", "pointers": ["repo:src/retry.rs@HEAD"]}),
    )]);
    let (engram, ids) = (shop.engram(), shop.ids.clone());
    let id = |what: &str| match what {
        "holds" => &ids[7],
        "replaced" => &versions[0],
        "expired" => &ids[8],
        "forgotten" => &ids[3],
        "erased" => &ids[4],
        other => panic!("{other}"),
    };
    engram.json(&["forget", id("forgotten")]);
    engram.json(&["redact", id("erased")]);
    let Stage { window, .. } = &Stage::of(shop);
    window.wait(&rows(11));
    for (what, word, look, can_forget, can_redact) in ENDS {
        let class = if look.is_empty() {
            "word well"
        } else {
            "word gone"
        };
        assert_eq!(
            look_of_row(window, id(what)),
            json!([word, class, look]),
            "{what}"
        );
        window.open_row(Hand::Mouse, id(what));
        let state = window.texts("[data-testid=engram] [data-testid=state]");
        let claim = window.count("[data-testid=claim]");
        match *what {
            "holds" => assert!(state.is_empty(), "{state:?}"),
            _ => assert_eq!(state, [*word], "{what}"),
        }
        assert_eq!(claim, u64::from(*what != "erased"), "{what}");
        let closed = window.count("[data-testid=claim].closed");
        assert_eq!(closed, u64::from(*look == "closed"), "{what}");
        let offered = (is_offered(window, "forget"), is_offered(window, "redact"));
        assert_eq!(offered, (*can_forget, *can_redact), "{what}");
    }
}
