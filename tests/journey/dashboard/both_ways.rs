//! Everything that works by keys also works by mouse, and the reverse: triage, new claims, a dead
//! connection, the settings, the sample.

use std::fs;

use serde_json::json;

use super::{
    hands::{BOTH, ENTER, ESCAPE, Hand, LIVE, are_listed, is_read, row, rows},
    server::Server,
    shop::Shop,
};
use crate::{
    stage::{Stage, both_hands},
    window::Window,
};

#[test]
fn claims_in_doubt_are_triaged_by_keys_and_by_mouse() {
    both_hands(Stage::listed, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        shop.drift();
        window.press_on(hand, "drift-view");
        let [edited, gone, also_gone] = [&shop.ids[1], &shop.ids[5], &shop.ids[6]];
        window.wait(&are_listed(&[edited, gone, also_gone]));

        // Evidence that is gone cannot be confirmed.
        window.open_row(hand, gone);
        window.wait("document.querySelector('[data-testid=triage]')");
        assert_eq!(window.count("[data-testid=still-true]:not([hidden])"), 0);

        // Agents are asked; the claim stays in doubt until one has answered.
        window.open_row(hand, edited);
        window.by(hand, "q", "ask-agent");
        window.wait("document.querySelector('[data-testid=notice]:not(.error)')");
        let asked = engram.json(&["query", "Retries use full jitter", "--kind", "todo"]);
        let claim = asked["engrams"][0]["claim"].as_str().unwrap();
        assert!(claim.contains("Retries use full jitter"), "{claim}");
        window.wait(&are_listed(&[edited, gone, also_gone]));

        // No longer true: after a question the claim is forgotten, and the next one opens.
        window.open_row(hand, gone);
        window.by(hand, "x", "no-longer");
        window.wait_moved("document.activeElement.dataset.testid === 'forget-yes'");
        window.by(hand, ENTER, "forget-yes");
        window.wait(&are_listed(&[edited, also_gone]));
        assert!(engram.json(&["get", gone])["valid_until"].is_string());
        window.wait(&format!(
            "document.querySelector('[data-testid=engram]')?.dataset.id !== '{gone}'"
        ));

        // Still true: the claim now points at the current lines.
        window.open_row(hand, edited);
        window.by(hand, "y", "still-true");
        window.wait(&are_listed(&[also_gone]));
        let newest = &engram.json(&["feed"])["entries"][0]["change"]["with"];
        assert_eq!(newest["supersedes"], json!(edited));
        assert_eq!(newest["health"]["standing"], json!("holds"));
        window.wait(&is_read(also_gone));
    });
}

#[test]
fn a_question_to_agents_is_no_claim_in_doubt() {
    let Stage { shop, window, .. } = &Stage::listed();
    shop.drift();
    window.press_on(Hand::Mouse, "drift-view");
    let [edited, gone, also_gone] = [&shop.ids[1], &shop.ids[5], &shop.ids[6]];
    window.wait(&are_listed(&[edited, gone, also_gone]));
    window.open_row(Hand::Mouse, gone);
    window.press_on(Hand::Mouse, "ask-agent");
    window.wait("document.querySelector('[data-testid=notice]:not(.error)')");
    // Once another file is checked, so is the question to agents. Its pointer shows the evidence
    // that is gone: the to-do asks about it, but does not rest on it.
    let ledger = fs::read_to_string(shop.root.join("src/ledger.rs")).unwrap();
    shop.write(
        "src/ledger.rs",
        ledger.replace("order: OrderId", "order: Order"),
    );
    window.find(&row(&shop.ids[4]));
    let drifted = window.script(
        "return [...document.querySelectorAll('[data-testid=feed-row]')].map(it => it.querySelector('p').textContent)",
        json!([]),
    );
    let drifted = drifted.as_array().unwrap();
    assert!(
        !drifted
            .iter()
            .any(|it| it.to_string().contains("Is this still true?")),
        "{drifted:?}"
    );
}

#[test]
fn what_is_new_is_shown_by_keys_and_by_mouse() {
    let Stage { shop, window, .. } = &Stage::open();
    window.size(900, 500);
    window.wait(&rows(8));
    window.wait(LIVE);
    for hand in BOTH {
        let claim = format!("Said while somebody reads further down: {hand:?}");
        // The oldest is at the other end of the list.
        window.open_row(hand, &shop.ids[0]);
        window.script(
            "const it = document.getElementById('feed'); it.scrollTop = it.scrollHeight",
            json!([]),
        );
        window.wait("document.querySelector('[data-testid=link]').dataset.state === 'paused'");
        shop.put(&claim);
        window.find("[data-testid=new-pill]");
        assert!(
            !window.text("[data-testid=feed]").contains(&claim),
            "it waits"
        );
        window.by(hand, "n", "new-pill");
        window.wait("!document.querySelector('[data-testid=new-pill]')");
        window.wait(&format!(
            "document.querySelector('[data-testid=feed-row][aria-posinset=\"1\"] p')?.textContent === {}",
            json!(claim)
        ));
        window.wait_moved("document.getElementById('feed').scrollTop === 0");
        window.wait(&is_read(&shop.ids[0]));
    }
}

/// Runs a command by its key, or by its name in the palette.
fn command(window: &Window, hand: Hand, key: &str, title: &str) {
    match hand {
        Hand::Keys => window.keys(key),
        Hand::Mouse => {
            window.click("[data-testid=palette-button]");
            window.find("[data-testid=palette-input]");
            window.keys(title);
            window.wait(&format!(
                "document.querySelector('[data-testid=palette-option]')?.textContent.startsWith('{title}')"
            ));
            window.click("[data-testid=palette-option]");
        }
    }
}

#[test]
fn what_was_shown_before_is_shown_again() {
    let Stage { shop, window, .. } = &Stage::open();
    for hand in BOTH {
        println!("{hand:?}");
        window.anew();
        window.wait(&is_read(&shop.ids[7]));
        window.open_row(Hand::Mouse, &shop.ids[4]);
        window.open_row(Hand::Mouse, &shop.ids[1]);
        // Walking through the list adds no history step: going back leads to where the walk ended.
        window.open_row(Hand::Keys, &shop.ids[2]);
        // A search is one step, not one per letter.
        window.keys("/jitter");
        window.wait(&rows(1));
        window.keys(ENTER);
        command(window, hand, "[", "Go back");
        window.wait(&rows(8));
        window.wait(&is_read(&shop.ids[2]));
        command(window, hand, "[", "Go back");
        window.wait(&is_read(&shop.ids[4]));
        command(window, hand, "]", "Go forward");
        window.wait(&is_read(&shop.ids[2]));
        command(window, hand, "]", "Go forward");
        window.wait(&rows(1));
        assert!(window.query().contains("q=jitter"), "{}", window.query());
    }
}

#[test]
fn a_page_connects_again_when_a_person_wants_it_to() {
    let shop = Shop::open();
    let token = shop.home.join("token");
    let token = token.to_str().unwrap();
    let mut server = Server::start(&shop, &["--token-file", token]);
    let listen = server.listen().to_owned();
    let again = ["--listen", &listen, "--token-file", token];
    let window = Window::browse(&server.url);
    window.wait(LIVE);
    window.do_nothing_later();
    for hand in BOTH {
        drop(server);
        window.find("[data-testid=reconnect]");
        // It tries at once, and still gets no answer.

        window.press_on(hand, "reconnect");
        window.wait("document.querySelector('[data-testid=disconnected]')");
        shop.put(&format!("Said while nobody answered: {hand:?}"));
        server = Server::start(&shop, &again);
        assert_eq!(
            window.count("[data-testid=disconnected]"),
            1,
            "nobody asked"
        );
        window.press_on(hand, "reconnect");
        window.wait(LIVE);
        window.wait("!document.querySelector('[data-testid=disconnected]')");
        window.wait(&format!(
            "document.querySelector('[data-testid=feed-row] p')?.textContent.endsWith('{hand:?}')"
        ));
    }
}

/// Each choice, the attribute that shows it, and its value; empty where the system decides.
const CHOICES: &[(&str, &str, &str)] = &[
    ("theme-light", "theme", "light"),
    ("theme-dark", "theme", "dark"),
    ("theme-high-contrast", "theme", "contrast"),
    ("density-compact", "density", "compact"),
    ("motion-reduced", "motion", "reduced"),
    ("theme-system", "theme", ""),
    ("density-normal", "density", ""),
    ("motion-system", "motion", ""),
];

#[test]
fn settings_are_chosen_by_keys_and_by_mouse_and_hold() {
    let Stage { window, .. } = &Stage::open();
    for hand in BOTH {
        for (choice, name, value) in CHOICES {
            println!("{choice} by {hand:?}");
            window.wait(&rows(8));
            match hand {
                Hand::Keys => window.control(','),
                Hand::Mouse => window.click("[data-testid=settings-button]"),
            }
            let holds = format!("(document.documentElement.dataset.{name} ?? '') === '{value}'");
            let is_on =
                format!("document.querySelector('[data-testid={choice}][aria-pressed=true]')");
            window.find(&format!("[data-testid={choice}]"));
            let before = window.script(&format!("return !!({holds} || {is_on})"), json!([]));
            assert_eq!(before, json!(false), "{choice} is chosen anew");
            window.press_on(hand, choice);
            window.wait(&holds);
            window.wait(&is_on);
            let others = format!("[data-testid^={name}-][aria-pressed=true]");
            assert_eq!(window.count(&others), 1, "exactly one choice is on");
            window.keys(ESCAPE);
            window.wait("!document.querySelector('dialog[open]')");
            // The choice is kept.
            window.anew();
            window.wait(&holds);
        }
    }
}

/// The condition that the last claim of the sample holds.
const LAST: &str = "[...document.querySelectorAll('[data-testid=feed-row] p:not(.closed)')].some(it => it.textContent.includes('moved lines'))";

#[test]
fn a_sample_comes_and_goes_by_keys_and_by_mouse() {
    let shop = Shop::empty();
    let lower = format!("// Above.\n\n{}", shop.show("HEAD", "src/ledger.rs"));
    shop.change("src/ledger.rs", lower, "Begin with a comment");
    let Stage { shop, window, .. } = &Stage::of(shop);
    let engram = &shop.engram();
    let held = || engram.json(&["status"])["engrams"].as_u64().unwrap();
    for hand in BOTH {
        window.wait("document.querySelector('[data-testid=first-run] .command')");
        window.press_on(hand, "load-sample");
        // Once its last claim is there, all of the sample is.
        window.wait(LAST);
        window.find("[data-testid=sample-note]");
        assert!(held() >= 2, "{}", held());
        window.press_on(hand, "remove-sample");
        window.find("[data-testid=first-run]");
        assert_eq!(held(), 0);
    }
    // An agent's claim is not part of the sample, and stays when the sample is removed.
    window.press_on(Hand::Mouse, "load-sample");
    window.wait(LAST);
    shop.put("Said by an agent");
    window.wait(
        "document.querySelector('[data-testid=feed-row] p')?.textContent === 'Said by an agent'",
    );
    window.press_on(Hand::Mouse, "remove-sample");
    window.wait("!document.querySelector('[data-testid=sample-note]')");
    // Removing the sample also removes its ended claims from the list.
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length === 1");
    assert_eq!(held(), 1);
    let newest = window.attribute("[data-testid=feed-row]", "data-id");
    window.find(&row(&newest));
    assert_eq!(window.count("[data-testid=first-run]"), 0);
}
