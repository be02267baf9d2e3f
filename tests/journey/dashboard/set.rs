//! How claims are typeset, and their evidence beside the current lines.

use serde_json::json;

use super::{
    hands::{ENTER, Hand, row, rows},
    shop::Shop,
};
use crate::stage::Stage;

/// A claim, the direction of its lines, and the parts that have an element of their own.
type Set = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const SET: &[Set] = &[
    (
        "`retry(3)` -> waits, then `<b>Timeout</b>`; one ` stays",
        "ltr",
        &[("code", "retry(3)"), ("code", "<b>Timeout</b>")],
    ),
    (
        "הקובץ src/retry.rs קורא ל-`delay()` לפני כל ניסיון",
        "rtl",
        &[("bdi", "src/retry.rs"), ("code", "delay()")],
    ),
    ("The word שלום is kept as it is", "ltr", &[]),
];

/// Returns the direction of a text, its font features, and the elements inside it with their
/// direction.
const TOLD: &str = "const it = document.querySelector(arguments[0]), style = getComputedStyle(it);
    const apart = [...it.querySelectorAll('*')].map(it => [it.localName, it.textContent, getComputedStyle(it).direction]);
    return [style.direction, style.fontFeatureSettings.includes('\"calt\" 0'), apart]";

#[test]
fn a_claim_is_set_as_its_words_run() {
    let mut shop = Shop::empty();
    let drafts = SET.iter().map(|(claim, ..)| {
        (
            1,
            json!({"claim": claim, "agent": "tester", "pointers": ["repo:src/retry.rs@HEAD"]}),
        )
    });
    shop.say(drafts.collect::<Vec<_>>());
    let Stage { shop, window, .. } = &Stage::of(shop);
    window.wait(&rows(SET.len()));
    for (id, (claim, direction, apart)) in shop.ids.iter().zip(SET) {
        let apart: Vec<_> = apart
            .iter()
            .map(|(name, text)| json!([name, text, "ltr"]))
            .collect();
        let want = json!([direction, true, apart]);
        window.open_row(Hand::Mouse, id);
        for css in [format!("{} p", row(id)), "[data-testid=claim]".to_owned()] {
            assert_eq!(window.script(TOLD, json!([css])), want, "{claim}: {css}");
        }
    }
    // A search also marks its words in code.
    window.keys("/");
    window.wait_moved("document.activeElement.localName === 'input'");
    window.keys("timeout");
    window.wait(&rows(1));
    window.find(&format!("{} p code mark", row(&shop.ids[0])));
}

#[test]
fn what_was_pinned_stands_beside_what_became_of_it() {
    let mut shop = Shop::empty();
    let line = |n: u32| format!("        let value_{n} = count({n});\n");
    let then: String = (1..=40).map(line).collect();
    shop.write("src/deep.rs", &then);
    shop.commit("Add depth");
    let draft = json!({"claim": "It counts", "agent": "tester", "pointers": ["repo:src/deep.rs#L1-L40@HEAD"]});
    shop.say([(1, draft)]);
    let pinned = shop.git(&["rev-parse", "--short=7", "HEAD"]);
    shop.write("src/deep.rs", then.replace("count(20)", "total(20)"));
    let Stage { shop, window, .. } = &Stage::of(shop);
    window.open_row(Hand::Mouse, &shop.ids[0]);
    window.find("[data-testid=sides] mark");
    let texts = |css: &str| window.texts(&format!("[data-testid=sides] {css}"));
    let heads = texts("th");
    assert_eq!(
        heads,
        [
            format!("Pinned · {}", pinned.trim()),
            "Working tree".to_owned()
        ]
    );
    assert_eq!(
        texts("mark"),
        ["count", "total"],
        "only the changed words are marked"
    );
    let folds = texts("[data-testid=unfold]");
    assert_eq!(folds, ["16 unchanged lines", "17 unchanged lines"]);
    let code = texts("tr:has(mark) td:nth-child(2) code");
    assert_eq!(code, ["let value_20 = count(20);"], "the indent is off");
    // By keys: the folded lines appear, and the focus stays at the scroll position.
    window.tab_until("it.matches('[data-testid=sides] [data-testid=unfold]')");
    window.keys(ENTER);
    window
        .wait("document.querySelectorAll('[data-testid=sides] [data-testid=unfold]').length === 1");
    window.wait_moved("document.activeElement.dataset.testid === 'sides'");
    assert_eq!(texts("tbody tr").len(), 1 + 16 + 3 + 1 + 3);
}
