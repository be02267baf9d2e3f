//! The brief in a browser: lines are pinned, unpinned and edited by keys and by mouse. Each line
//! leads to its evidence, and a person can view an agent's own brief.

use serde_json::{Value, json};

use super::{
    access::is_clean,
    hands::{ENTER, ESCAPE, Hand, notice},
    shop::Shop,
    team::{Member, WANTED},
};
use crate::{
    conflicts::choose,
    engram::Engram,
    stage::{ServedShop, Stage, both_hands},
};

const LINE: &str = "Ship on Friday.";

/// Returns the texts of the pinned lines, as the command prints them.
fn pinned_texts(engram: &Engram) -> Vec<String> {
    let brief = engram.json(&["brief"]);
    let lines = brief["lines"].as_array().unwrap().iter();
    let pinned = lines.filter(|it| it["pinned"] == json!(true));
    pinned
        .map(|it| it["text"].as_str().unwrap().to_owned())
        .collect()
}

/// The condition that a line is in the brief, pinned or not.
fn is_in_brief(text: &str, is_pinned: bool) -> String {
    format!(
        "[...document.querySelectorAll('[data-testid=brief-line][data-pinned={is_pinned}] p')].some(it => it.textContent.includes({}))",
        Value::from(text)
    )
}

#[test]
fn lines_are_pinned_edited_and_unpinned_by_keys_and_by_mouse() {
    both_hands(Stage::open, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        window.find("[data-testid=feed-row]");
        let press = |key: &str, testid: &str| window.by(hand, key, testid);
        window.go(hand, "brief");
        window.find("[data-testid=brief-line]");

        // A claim: pinned above the others, with its evidence beside it.
        window.find("[data-testid=line-read] .line.marked");
        let claim = window.text("[data-testid=line-text]");
        press("p", "pin");
        window.wait(&notice("Pinned"));
        window.wait("document.querySelector('[data-testid=brief-part][data-part=pin]')");
        assert_eq!(pinned_texts(engram).len(), 1, "{claim}");
        press("p", "pin");
        window.wait(&notice("Unpinned"));
        window.wait("!document.querySelector('[data-testid=brief-part][data-part=pin]')");
        assert!(pinned_texts(engram).is_empty());

        // A line of the person's own: added, edited and unpinned.
        press("P", "add-line");
        window.wait_moved("document.activeElement.id === 'line-field'");
        window.keys(LINE);
        window.keys(ENTER);
        window.wait(&is_in_brief(LINE, true));
        assert_eq!(pinned_texts(engram), [LINE]);
        // The field stays open and empty: what is typed next runs no command.
        window.wait_moved("document.activeElement.id === 'line-field'");
        window.wait("document.getElementById('line-field').value === ''");
        window.keys(ESCAPE);
        window.wait_moved("document.activeElement.id === 'feed'");
        press("E", "edit-line");
        window.wait_moved("document.activeElement.id === 'line-field'");
        window.keys(" At noon.");
        window.keys(ENTER);
        window.wait(&is_in_brief("At noon.", true));
        window.wait(
            "document.querySelectorAll('[data-testid=brief-line][data-pinned=true]').length === 1",
        );
        assert_eq!(pinned_texts(engram), ["Ship on Friday. At noon."]);
        press("p", "pin");
        window.wait(&notice("Unpinned"));
        window.wait("!document.querySelector('[data-pinned=true]')");

        // A line pinned elsewhere appears by itself.
        engram.json(&["brief", "pin", "The lock is never held across a call."]);
        window.wait(&is_in_brief("The lock is never held", true));
        // A line that cannot be pinned is refused with a reason, and its text stays.
        press("P", "add-line");
        window.wait_moved("document.activeElement.id === 'line-field'");
        window.keys("fn main() { let x = 1; println!(); }");
        window.keys(ENTER);
        window.find("[data-testid=refused]");
        assert_eq!(window.count("[data-testid=line-field]"), 1);
    });
}

#[test]
fn an_agents_own_brief_is_looked_at() {
    let served = ServedShop::of(Shop::open());
    let ServedShop { shop, server } = &served;
    let lead = Member::open(shop, server, "lead", None);
    let child = Member::open(shop, server, "ada", Some(&lead.name));
    let other = Member::open(shop, server, "bob", Some(&lead.name));
    assert!(child.read(WANTED).is_ok());
    assert!(other.read(WANTED).is_ok());
    let Stage { shop, window, .. } = &served.browse();
    let engram = &shop.engram();
    window.go(Hand::Keys, "brief");
    window.wait(&is_in_brief("bob", false));
    is_clean(window, "brief");
    choose(window, "brief-of", &child.name);
    window.wait(&format!(
        "!({}) && {}",
        is_in_brief("bob", false),
        is_in_brief("ada", false)
    ));
    // Viewing the brief did not deliver it to the agent: its own words are not an echo, and its
    // turn continued.
    let of = engram.json(&["budget", "--agent", &child.name]);
    assert_eq!(of["agents"][0]["repo_spans"]["used"], 1, "{of}");
    window.size(420, 700);
    window.wait("document.querySelector('.panes.one')");
    assert!(window.holds("document.documentElement.scrollWidth <= innerWidth"));
    window.click("[data-testid=brief-line]");
    window.wait_moved("document.activeElement.id === 'engram'");
}
