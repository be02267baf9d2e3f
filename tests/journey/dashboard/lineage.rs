//! The versions of a claim, and the other agents that made it.

use serde_json::json;

use super::{
    hands::{BOTH, Hand, are_listed, is_read, row, rows},
    shop::Shop,
};
use crate::{stage::Stage, window::Window};

/// For each version, newest first: when it was stored, who did what, and whether it can be
/// restored.
const TOLD: [(&str, &str, bool); 3] = [
    ("13:13", "programmer-2 corrected it", false),
    ("12:42", "reviewer corrected it", true),
    ("09:33", "programmer-1 stored it", true),
];
/// The agents that also said the newest version, and when; once each, newest first.
const VOICES: [(&str, &str); 2] = [("architect", "13:44"), ("tester", "13:32")];

const NEWER: &str = "[data-testid=newer]";
const HISTORY: &str = "document.querySelector('[data-testid=version]')";

/// Opens the history of the open engram.
fn open_history(window: &Window, hand: Hand) {
    window.by(hand, "h", "history-button");
    window.wait(HISTORY);
}

/// Returns the open engram's state in a word; nothing while it holds.
fn state(window: &Window) -> Vec<String> {
    window.texts("[data-testid=engram] [data-testid=state]")
}

/// Returns the word in the list for an engram's evidence.
fn word(window: &Window, id: &str) -> Vec<String> {
    window.texts(&format!("{} [data-testid=evidence]", row(id)))
}

#[test]
fn a_claim_tells_its_versions_and_who_else_said_it() {
    let mut shop = Shop::open();
    let versions = shop.correct();
    let [first, second, third] = versions.as_slice() else {
        panic!("{versions:?}")
    };
    let engram = shop.engram();
    let claims: Vec<String> = [third, second, first].map(|it| engram.get(it).claim).into();
    let Stage { window, .. } = &Stage::of(shop);
    for hand in BOTH {
        window.anew();
        window.wait(&rows(10));
        window.open_row(hand, first);
        assert_eq!(state(window), ["replaced"]);
        for (id, wanted) in [
            (first, "replaced"),
            (second, "replaced"),
            (third, "unchanged"),
        ] {
            assert_eq!(word(window, id), [wanted]);
        }

        // All versions, newest first; the open one is marked and is not a link.
        open_history(window, hand);
        assert_eq!(
            window.texts("[data-testid=version] button:not(.restore, .then)"),
            claims
        );
        let lines = window.texts("[data-testid=version]");
        for (line, (from, did, ended)) in lines.iter().zip(TOLD) {
            assert!(line.contains(from) && line.contains(did), "{line}");
            assert_eq!(line.contains("Restore"), ended, "{line}");
        }
        let current = format!("[data-testid=version][aria-current=true][data-id=\"{first}\"]");
        assert_eq!(window.count("[data-testid=version][aria-current]"), 1);
        assert_eq!(window.count(&format!("{current} button:disabled")), 1);
        // A line opens its version; the button opens the next newer one.
        let line =
            format!("[data-testid=version][data-id=\"{third}\"] button:not(.restore, .then)");
        window.press_any(hand, &line);
        window.wait(&is_read(third));
        assert!(state(window).is_empty());
        assert_eq!(window.count(NEWER), 0, "the newest version is open");
        window.open_row(hand, first);
        for newer in [second, third] {
            window.press_any(hand, NEWER);
            window.wait(&is_read(newer));
        }

        // The agents that also said the newest version.
        let facts = window.text("#engram .facts");
        assert!(facts.contains("2 other agents"), "{facts}");
        open_history(window, hand);
        let voices = window.texts("[data-testid=voice]");
        assert_eq!(voices.len(), VOICES.len(), "{voices:?}");
        for (voice, (by, at)) in voices.iter().zip(VOICES) {
            assert!(voice.starts_with(by) && voice.ends_with(at), "{voice}");
        }
    }
}

#[test]
fn an_old_version_is_replaced_however_one_comes_to_it() {
    let mut shop = Shop::open();
    let versions = shop.correct();
    let Stage { shop, window, .. } = &Stage::of(shop);
    // A list that contains none of its versions.
    window.follow(&format!("/?kind=policy&id={}", versions[0]));
    window.wait(&are_listed(&[&shop.ids[5]]));
    window.wait(&is_read(&versions[0]));
    assert_eq!(state(window), ["replaced"]);
    window.press_any(Hand::Mouse, NEWER);
    window.wait(&is_read(&versions[1]));
}

#[test]
fn a_correction_and_a_voice_come_while_their_claim_is_read() {
    let (Stage { shop, window, .. }, versions) = &Stage::corrected();
    let engram = &shop.engram();
    let newest = engram.get(&versions[2]);
    window.open_row(Hand::Mouse, &versions[2]);
    open_history(window, Hand::Keys);

    // Another agent says the same.
    let said = |agent: &str, claim: &str| {
        json!({"agent": agent, "kind": "fact", "topic": newest.topic, "claim": claim,
            "pointers": ["repo:src/retry.rs#L9-L15@HEAD"]})
    };
    let same = engram.put(&[said("auditor", &newest.claim)]);
    assert_eq!(same, versions[2..], "the repeat is not stored");
    window.wait("document.querySelector('#engram .facts').textContent.includes('3 other agents')");
    window.wait("[...document.querySelectorAll('[data-testid=voice]')].some(it => it.textContent.startsWith('auditor'))");

    // And another corrects it.
    let mut better = said("auditor", "Retries do not wait at all.");
    better["corrects_lineage"] = json!(versions[0]);
    let better = engram.put(&[better]).remove(0);
    window.wait("document.querySelector('[data-testid=engram] [data-testid=state]')?.textContent === 'replaced'");
    window.wait("document.querySelectorAll('[data-testid=version]').length === 4");
    assert_eq!(word(window, &versions[2]), ["replaced"]);
    window.press_any(Hand::Mouse, NEWER);
    window.wait(&is_read(&better));
}
