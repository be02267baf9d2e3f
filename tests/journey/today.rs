//! Today: what is new in all repositories, and the way there.

use serde_json::{Value, json};

use crate::{
    conflicts::disagree,
    dashboard::{
        access::is_clean,
        hands::{BOTH, ENTER, Hand, is_read, notice},
        looks::Looks,
        shop::Shop,
    },
    only_window::make_other_shop,
    stage::{Sandbox, ServedShop, Stage},
    steps::Counted,
};

const FIRST: &str = "[data-testid=today-repository]:first-of-type [data-testid=news]";

/// The worst conflict of another repository is opened in two steps.
#[test]
fn the_worst_conflict_of_another_repository_takes_two_steps() {
    for hand in BOTH {
        println!("{hand:?}");
        let sandbox = Sandbox::open();
        let other = make_other_shop(&sandbox.shop);
        disagree(&other.engram(), 2);
        let worst = other.engram().json(&["conflicts"])["conflicts"][0]["id"].clone();
        let window = sandbox.showing("[data-testid=feed-row]");
        let counted = Counted::by(&window, hand);
        counted.go("today");
        window.find(&format!(
            "{FIRST}[data-what=contradicted][aria-selected=true]"
        ));
        counted.act(ENTER, "news-go");
        window.find("[data-testid=conflict-read]");
        assert_eq!(counted.take(), 2);
        let shown = window.attribute("[data-testid=conflict-read]", "data-conflict");
        assert_eq!(Value::from(shown), worst);
    }
}

/// A claim that is about to end is found where a person looks, and one key renews it.
#[test]
fn a_claim_that_ends_soon_is_found_and_renewed() {
    for hand in BOTH {
        println!("{hand:?}");
        let sandbox = Sandbox::open();
        let engram = sandbox.shop.engram();
        engram.put(&[
            json!({"claim": "The gateway is in maintenance.", "topic": "payments/ledger",
                "ttl": "PT330M", "agent": "ada", "pointers": ["repo:src/retry.rs#L9-L15@HEAD"]}),
        ]);
        let window = sandbox.showing("[data-testid=feed-row]");
        window.go(hand, "today");
        window.find("[data-what=ending][aria-selected=true]");
        window.by(hand, ENTER, "news-go");
        // It comes before all topics, and says when it ends.
        window.find("[data-testid=ends]");
        assert_eq!(window.text("[data-testid=topic] b"), "Expires soon");
        assert_eq!(window.text("[data-testid=ends]"), "expires in 5 h");
        window.find("[data-testid=renew]");
        let id = window.attribute("[data-testid=engram]", "data-id");
        match hand {
            Hand::Keys => window.shift('l'),
            Hand::Mouse => window.click("[data-testid=renew]"),
        }
        window.wait(&notice("Renewed: it holds for 330 min from now"));
        window.wait(&format!("!({})", is_read(&id)));
        let renewed = window.attribute("[data-testid=engram]", "data-id");
        let told = engram.json(&["get", &renewed]);
        assert_eq!(told["provenance"]["created_by"], "ada");
        assert_eq!(told["supersedes"], json!(id));
        assert_eq!(told["ttl"], "PT330M");
        // Today follows what happens while it is on the screen.
        window.go(hand, "today");
        let place = |time: &str| {
            format!(
                "document.querySelector('[data-what=ending] time')?.textContent.startsWith('{time}')"
            )
        };
        window.wait(&place("expires in 5 h"));
        engram.json(&["forget", &renewed]);
        window.wait("!document.querySelector('[data-what=ending]')");
        engram.json(&["restore", &renewed]);
        window.wait(&place("expires in 5 h"));
    }
}

#[test]
fn today_looks_as_it_was_approved() {
    let shop = Shop::open();
    let other = make_other_shop(&shop);
    disagree(&shop.engram(), 2);
    let served = ServedShop::of(shop);
    let Stage { window, .. } = &served.browse();
    window.go(Hand::Keys, "today");
    window.find("[data-testid=news-go]");
    window.wait("document.querySelectorAll('[data-testid=today-repository]').length === 2");
    is_clean(window, "today");
    let mut looks = Looks::here();
    looks.compare_in(window, "today", &[(1280, 800), (420, 700)]);
    looks.hold_all();
    drop(other);
}
