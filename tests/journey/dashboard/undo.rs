//! The list of a person's steps in a browser: each can be undone while it stands, even after the
//! page was loaded again, and one that was overtaken says by whom. Notices cover no control.

use serde_json::json;

use super::{
    access::is_clean,
    conflicts_view::open,
    hands::{CONTROL, ENTER, Hand, SHIFT, are_chosen, notice},
};
use crate::{
    conflicts::{all, choose, contradicting_drafts, read, rows},
    stage::{Stage, both_hands},
    window::Window,
};

/// The condition that these are the steps, newest first: how each line ends. Leaves out what the
/// command stored in the name of an agent.
fn steps_end(ends: &[&str]) -> String {
    let each = "[...document.querySelectorAll('[data-testid=step]')].filter(it => !it.querySelector('b').textContent.includes(' as ')).map(it => it.lastElementChild.textContent).join()";
    format!("{each} === {}", json!(ends.join(",")))
}

/// Opens the list of steps: by its key, or by the button of the last notice.
fn open_steps(window: &Window, hand: Hand) {
    window.by(hand, "Z", "all-steps");
    window.find("[data-testid=steps]");
}

/// Settles all `count` conflicts for A.
fn settle_all(window: &Window, count: usize) {
    for left in (0..count).rev() {
        let id = read(window);
        window.keys("a");
        window.wait(&rows(left));
        if left > 0 {
            window.wait(&format!(
                "document.querySelector('[data-testid=conflict-read]')?.dataset.conflict !== '{id}'"
            ));
        }
    }
    window.wait(&notice("Settled: A holds"));
}

fn count_open(stage: &Stage) -> usize {
    let all = all(&stage.shop.engram());
    all.iter().filter(|it| it["status"] == "open").count()
}

#[test]
fn every_step_is_listed_and_can_be_undone_while_it_stands() {
    both_hands(
        || open(3),
        |stage, hand| {
            let (window, engram) = (&stage.window, &stage.shop.engram());
            settle_all(window, 3);
            // The oldest verdict is overtaken: the claim that lost is made again.
            let first = &all(engram)
                .into_iter()
                .min_by_key(|it| it["settled"]["at"].to_string());
            let lost = first.as_ref().unwrap()["b"]["claim"]
                .as_str()
                .unwrap()
                .to_owned();
            let drafts = contradicting_drafts(3)[1].clone();
            let again = drafts.into_iter().find(|it| it["claim"] == lost).unwrap();
            engram.put(&[again]);
            window.wait(&rows(1));

            open_steps(window, hand);
            let overtaken = "since made again by programmer-2";
            window.wait(&steps_end(&["Undo", "Undo", overtaken]));
            is_clean(window, "steps");
            // A claim stored in the name of an agent is a step of the person too.
            window.wait("document.querySelector('[data-testid=step] b').textContent === 'Added as programmer-2'");
            // Not the newest verdict: the second.
            match hand {
                Hand::Keys => {
                    let second = "it === document.querySelectorAll('[data-testid=undo-step]')[2]";
                    window.tab_until(second);
                    window.keys(ENTER);
                }
                Hand::Mouse => {
                    window.click("[data-testid=step]:nth-child(3) [data-testid=undo-step]")
                }
            }
            window.wait(&steps_end(&["Undo", "undone", overtaken]));
            assert_eq!(count_open(stage), 2);

            // A reloaded page goes on with the newest step that stands, and skips none.
            window.post("/refresh", json!({}));
            window.find("[data-testid=conflicts-view] .count");
            window.wait(&rows(2));
            window.keys("z");
            window.wait(&notice("Undone: Settled a conflict"));
            window.wait(&rows(3));
            window.keys("z");
            window.wait(&notice("Nothing to undo"));
            assert_eq!(count_open(stage), 3);
        },
    );
}

/// Checks that the notice covers no control of the panes, and that none moves when it goes.
pub(super) fn covers_and_moves_nothing(window: &Window) {
    // What is scrolled out of the pane is not covered.
    let covered = "const notice = document.querySelector('[data-testid=notice]').getBoundingClientRect();
        const end = it => it.closest('.scroll')?.getBoundingClientRect().bottom ?? innerHeight;
        const meets = it => { const box = it.getBoundingClientRect();
            return it.checkVisibility({visibilityProperty: true}) && box.width && box.left < notice.right && notice.left < box.right && box.top < notice.bottom && notice.top < Math.min(box.bottom, end(it)); };
        return [...document.querySelectorAll('.panes :is(button, input, select)')].filter(meets).map(it => it.dataset.testid ?? it.textContent)";
    assert_eq!(window.script(covered, json!([])), json!([]));
    let places =
        "return [...document.querySelectorAll('.panes :is(button, input, select, [role=option])')]
        .map(it => it.getBoundingClientRect()).map(it => [it.left, it.top, it.width, it.height])";
    let before = window.script(places, json!([]));
    window.click("[data-testid=notice] > button:last-child");
    window.wait("!document.querySelector('[data-testid=notice]')");
    assert_eq!(window.script(places, json!([])), before, "nothing moves");
}

#[test]
fn a_settled_conflict_says_who_won_and_a_notice_covers_and_moves_nothing() {
    let stage = &open(3);
    let window = &stage.window;
    let lists = "[data-testid=conflict]";
    let id_of = |open: usize| {
        let script = format!("return document.querySelectorAll('{lists}')[{open}].dataset.id");
        let id = window.script(&script, json!([]));
        format!("{lists}[data-id='{}']", id.as_str().unwrap())
    };
    // Two are selected while the notice of the verdict before is on the screen.
    window.do_nothing_later();
    window.keys("a");
    window.wait(&notice("Settled: A holds"));
    window.wait(&rows(2));
    window.click_with(CONTROL, &id_of(0));
    window.click_with(SHIFT, &id_of(1));
    window.wait(&are_chosen(2));
    covers_and_moves_nothing(window);

    window.keys("f");
    window.wait_moved("document.activeElement.id === 'conflict-status'");
    choose(window, "conflict-status", "resolved");
    window.wait(&rows(1));
    assert!(
        window.text(lists).contains("A was chosen"),
        "{}",
        window.text(lists)
    );
}
