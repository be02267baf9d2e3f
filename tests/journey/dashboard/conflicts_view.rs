//! The conflicts view in a browser: each verdict by keys and by mouse, a reason, the filter, a
//! narrow window, and axe's rules.

use serde_json::json;

use super::{
    access::is_clean,
    hands::{CONTROL, ENTER, ESCAPE, Hand, SHIFT, are_chosen, notice},
    looks::Looks,
    shop::Shop,
};
use crate::{
    conflicts::{all, choose, contradicting_drafts, disagree, of, read, rows},
    stage::{Stage, both_hands},
    window::Window,
};

/// Creates a shop with `count` conflicts between two agents; returns it with the ids of their
/// claims.
fn shop_with_conflicts(count: usize) -> (Shop, [Vec<String>; 2]) {
    let shop = Shop::empty();
    let ids = disagree(&shop.engram(), count);
    (shop, ids)
}

/// Opens a page that lists `count` conflicts.
pub(super) fn open(count: usize) -> Stage {
    open_list(shop_with_conflicts(count).0, count)
}

fn open_list(shop: Shop, count: usize) -> Stage {
    let stage = Stage::of(shop);
    let window = &stage.window;
    // The count is shown before the page accepts keys.
    window.find("[data-testid=feed-row]");
    window.find("[data-testid=conflicts-view] .count");
    window.keys("3");
    window.wait(&rows(count));
    read(window);
    stage
}

/// Waits until a conflict other than this one is open.
fn wait_for_another(window: &Window, id: &str) {
    window.wait(&format!(
        "document.querySelector('[data-testid=conflict-read]')?.dataset.conflict !== '{id}'"
    ));
}

/// The condition that the middle and the lower edge of an element are not covered.
fn is_in_sight(testid: &str) -> String {
    format!(
        "(it => {{ const at = it.getBoundingClientRect(), x = at.left + at.width / 2;
            return [at.top + at.height / 2, at.bottom - 3].every(y => it.contains(document.elementFromPoint(x, y))); }})(document.querySelector('[data-testid={testid}]'))"
    )
}

#[test]
fn each_verdict_is_given_by_keys_and_by_mouse_and_undone() {
    let open = || open(3);
    both_hands(open, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        let press = |key: &str, testid: &str| window.by(hand, key, testid);
        for (key, testid, said, how) in [
            ("a", "first-holds", "Settled: A holds", "winner"),
            ("b", "second-holds", "Settled: B holds", "winner"),
            ("N", "newer-holds", "the newer claim holds", "winner"),
            (
                "s",
                "surer-holds",
                "the more confident claim holds",
                "winner",
            ),
            ("x", "dismiss", "Dismissed", "dismissed"),
        ] {
            let id = read(window);
            press(key, testid);
            window.wait(&notice(said));
            window.wait(&rows(2));
            wait_for_another(window, &id);
            assert_eq!(of(engram, &id)["settled"]["how"], how, "{testid}");
            press("z", "undo");
            window.wait(&notice("Undone"));
            window.wait(&rows(3));
            window.wait(&format!(
                "document.querySelector('[data-testid=conflict-read]')?.dataset.conflict === '{id}'"
            ));
            assert_eq!(of(engram, &id)["status"], "open", "{testid}");
        }

        // Allowed only with a reason; the conflict stays in the list.
        let id = read(window);
        press("i", "allow");
        window.wait_moved("document.activeElement.id === 'reason'");
        assert!(window.text(".why-field label").contains("Why allow it"));
        window.keys("Known until the migration");
        window.keys(ENTER);
        window.wait(&notice("Allowed"));
        // The next conflict has a reason of its own, and keys act on it.
        window.wait_moved("document.activeElement.id === 'feed'");
        wait_for_another(window, &id);
        window.wait("document.getElementById('reason').value === ''");
        window.wait(&rows(3));
        window.wait(&format!(
            "document.querySelector('[data-testid=conflict][data-id=\"{id}\"] .chip')?.textContent === 'allowed'"
        ));
        let allowed = of(engram, &id);
        assert_eq!(allowed["status"], "open");
        assert_eq!(allowed["allowed"]["why"], "Known until the migration");
        // `Z` takes the allowance back, and no earlier verdict.
        press("z", "undo");
        window.wait(&notice("Undone"));
        window.wait(&format!(
            "!document.querySelector('[data-testid=conflict][data-id=\"{id}\"] .chip')"
        ));
        window.wait(&rows(3));
        assert_eq!(of(engram, &id)["allowed"], serde_json::Value::Null);

        // A claim opens in the list of all claims, and the browser's back button returns.
        let id = read(window);
        let claim = of(engram, &id)["a"]["id"].as_str().unwrap().to_owned();
        match hand {
            Hand::Keys => window.shift('a'),
            Hand::Mouse => window.click("[data-testid=show-claim]"),
        }
        window.wait(&super::hands::is_read(&claim));
        window.keys("[");
        window.wait(&format!(
            "document.querySelector('[data-testid=conflict-read]')?.dataset.conflict === '{id}'"
        ));

        // Filtered by status and by topic.
        window.keys("x");
        window.wait(&rows(2));
        choose(window, "conflict-status", "dismissed");
        window.wait(&rows(1));
        choose(window, "conflict-status", "open");
        window.wait(&rows(2));
        let topic = window.attribute("[data-testid=conflict-topic]", "data-topic");
        choose(window, "conflict-topic", &topic);
        window.wait(&format!(
            "{} && document.querySelector('[data-topic={topic}]')",
            rows(1)
        ));
        choose(window, "conflict-status", "closed");
        window.find("[data-testid=no-match]");
        window.click("[data-testid=show-open]");
        window.wait(&rows(2));
    });
}

#[test]
fn a_claim_says_that_it_is_in_conflict_and_leads_there() {
    const MARKED: &str =
        "document.querySelectorAll('[data-testid=feed-row] [data-testid=in-conflict]').length === ";
    let open = || {
        let (shop, ids) = shop_with_conflicts(1);
        (Stage::of(shop), ids)
    };
    both_hands(open, |(Stage { shop, window, .. }, [first, _]), hand| {
        let engram = &shop.engram();
        window.wait(&format!("{MARKED} 2"));
        window.open_row(hand, &first[0]);
        window.find("[data-testid=engram] [data-testid=in-conflict]");
        window.by(hand, "g", "show-conflict");
        let id = read(window);
        assert_eq!(of(engram, &id)["a"]["id"], first[0].as_str());
        window.keys("x");
        window.wait(&notice("Dismissed"));
        window.keys("1");
        window.find("[data-testid=feed-row]");
        window.wait(&format!("{MARKED} 0"));
        // Another surface opens it again, and settles it.
        engram.json(&["resolve", &id, "--undo"]);
        window.wait(&format!("{MARKED} 2"));
        engram.json(&["resolve", &id, "--dismiss"]);
        window.wait(&format!("{MARKED} 0"));
    });
}

/// A person decides once: the conflict comes before the question whether the claim is still true.
#[test]
fn a_claim_in_doubt_leads_to_its_conflict_first() {
    let (shop, [first, _]) = shop_with_conflicts(1);
    let Stage { window, .. } = &Stage::drifting(shop);
    window.press_on(Hand::Mouse, "drift-view");
    window.open_row(Hand::Mouse, &first[0]);
    window.find("[data-testid=triage]");
    let told = window.text("[data-testid=engram] [data-testid=in-conflict] span");
    assert!(told.contains("Settle the conflict first"), "{told}");
    window.keys("g");
    read(window);
}

#[test]
fn several_are_selected_by_mouse_and_judged() {
    let Stage { shop, window, .. } = &open(5);
    let engram = &shop.engram();
    let row = |at: usize| {
        let script = "return document.querySelectorAll('[data-testid=conflict]')[arguments[0]].id";
        let id = window.script(script, json!([at]));
        format!("#{}", id.as_str().unwrap())
    };
    let (first, second, fourth) = (row(0), row(1), row(3));
    window.click_with(CONTROL, &first);
    window.wait(&are_chosen(1));
    window.click_with(SHIFT, &fourth);
    window.wait(&are_chosen(4));
    window.click_with(CONTROL, &second);
    window.wait(&are_chosen(3));
    is_clean(window, "conflicts chosen");
    window.click("[data-testid=chosen-bar] [data-testid=dismiss]");
    window.wait(&notice("Dismissed 3 conflicts"));
    window.wait(&rows(2));
    window.click("[data-testid=undo]");
    window.wait(&notice("Undone: 3 conflicts"));
    window.wait(&rows(5));
    assert!(all(engram).iter().all(|it| it["status"] == "open"));
}

#[test]
fn a_verdict_waits_until_the_conflict_is_in_front() {
    let Stage { window, .. } = &open(3);
    window.size(420, 700);
    window.wait("document.querySelector('.panes.one')");
    // In the list, a verdict's key only opens the conflict; the verdict is given there.
    window.script("document.getElementById('feed').focus()", json!([]));
    window.keys("a");
    window.wait_moved("document.activeElement.id === 'engram'");
    assert_eq!(window.count("[data-testid=notice]"), 0);
    let id = read(window);
    assert!(window.query().contains(&id), "{}", window.query());
    let wide = "return document.documentElement.scrollWidth <= innerWidth
        && document.querySelector('.conflict').scrollWidth <= document.querySelector('.conflict').clientWidth";
    assert_eq!(window.script(wide, json!([])), json!(true));
    is_clean(window, "one conflict");
    window.keys("a");
    window.wait(&notice("Settled: A holds"));
    wait_for_another(window, &id);
    // The next conflict is in front too; going back leads to the list.
    window.keys(ESCAPE);
    window.keys(ESCAPE);
    window.wait_moved("document.activeElement.id === 'feed'");
    window.wait(&rows(2));
}

#[test]
fn the_conflicts_look_as_they_were_approved() {
    let mut shop = Shop::empty();
    let drafts = contradicting_drafts(8).into_iter().flatten().enumerate();
    shop.say(drafts.map(|(minute, draft)| (minute as i64, draft)));
    let Stage { window, .. } = &open_list(shop, 8);
    let mut looks = Looks::here();
    window.wait("!document.querySelector('[aria-busy=true]')");
    looks.compare_in(
        window,
        "conflicts",
        &[(1920, 1080), (1280, 800), (900, 600), (640, 400)],
    );
    window.size(420, 700);
    window.wait("document.querySelector('.panes.one')");
    looks.compare_in(window, "conflicts", &[(420, 700)]);
    window.size(1280, 800);
    window.wait("!document.querySelector('.panes.one')");
    window.keys("m");
    window.find("[data-testid=merge]");
    looks.compare_in(window, "conflicts-merge", &[(1280, 800)]);
    // At 200% zoom and in a narrow window, the text and its buttons are in view together.
    for size in [(640, 400), (420, 700), (420, 350)] {
        window.wait("!document.querySelector('.panes.one')");
        window.keys(ESCAPE);
        window.wait("!document.querySelector('.merging')");
        window.size(size.0, size.1);
        window.wait("document.querySelector('.panes.one')");
        window.keys("m");
        window.wait_moved("document.activeElement.id === 'engram'");
        window.keys("m");
        window.wait_moved("document.activeElement.id === 'merge-text'");
        for part in ["merge-text", "save-merge", "leave-merge"] {
            window.wait_moved(&is_in_sight(part));
        }
        // A picture is named after its width.
        if size != (420, 350) {
            looks.compare_in(window, "conflicts-merge", &[size]);
        }
    }
    looks.hold_all();
}
