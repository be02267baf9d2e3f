//! Today: what is new in all repositories, and the way there.

use serde_json::Value;

use crate::{
    conflicts::disagree,
    dashboard::{
        access::is_clean,
        hands::{BOTH, ENTER, Hand},
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
