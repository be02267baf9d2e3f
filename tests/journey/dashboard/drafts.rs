//! A draft survives a reload of the page, until it is stored or discarded; the notice of a change
//! names its claim.

use serde_json::json;

use super::hands::{ENTER, Hand, is_read, notice, rows};
use crate::stage::Stage;

const KEPT: &str = "return sessionStorage.getItem('engram-drafts')";

#[test]
fn a_draft_outlives_a_reload_until_it_is_stored() {
    let Stage { shop, window, .. } = &Stage::listed();
    let id = &shop.ids[3];
    let written = || window.script("return document.activeElement.value", json!([]));
    let focused = |id: &str| window.wait_moved(&format!("document.activeElement.id === '{id}'"));

    window.open_row(Hand::Keys, id);
    window.keys("r");
    focused("correction-text");
    window.control('a');
    window.keys("Half a correction");
    window.anew();
    window.wait(&rows(8));
    window.open_row(Hand::Keys, id);
    window.find("[data-testid=unsaved]");
    window.press_on(Hand::Mouse, "continue");
    focused("correction-text");
    assert_eq!(written(), json!("Half a correction"));
    // Once stored, the draft is gone; the notice names the claim, and so does the notice of its
    // undo.
    window.control(ENTER.chars().next().unwrap());
    window.wait(&notice("“Half a correction”"));
    window.wait_moved("sessionStorage.getItem('engram-drafts') === null");
    window.keys("z");
    window.wait(&notice("Undone"));
    window.wait(&notice("“Half a correction”"));

    // A new claim of the person's own.
    window.keys("w");
    focused("new-claim");
    window.keys("Half a claim");
    window.anew();
    // The correction that was undone is left out.
    window.wait(&rows(8));
    window.keys("w");
    focused("new-claim");
    assert_eq!(written(), json!("Half a claim"));

    // A discarded correction is gone.
    window.keys("\u{E00C}");
    window.wait("!document.querySelector('dialog[open]')");
    let other = &shop.ids[5];
    window.open_row(Hand::Keys, other);
    window.wait(&is_read(other));
    window.keys("r");
    focused("correction-text");
    window.keys(" and more\u{E00C}");
    window.press_on(Hand::Mouse, "discard");
    let kept = window.script(KEPT, json!([])).to_string();
    assert!(
        kept.contains("Half a claim") && !kept.contains("and more"),
        "{kept}"
    );
}
