//! What a person writes, by keys and by mouse: a correction in place of the claim, and new claims
//! about marked lines. Nothing typed is lost.

use serde_json::{Value, json};

use crate::{
    dashboard::hands::row,
    stage::{Desk, Sandbox},
};

const ENTER: char = '\u{E007}';
const DOWN: char = '\u{E015}';
const ESC: &str = "\u{E00C}";
const TAB: &str = "\u{E004}";

/// Waits until the element with this id has the focus.
fn wait_for_focus(desk: &Desk, id: &str) {
    desk.window
        .wait_moved(&format!("document.activeElement?.id === '{id}'"));
}

/// The text of a field.
fn text_of(desk: &Desk, id: &str) -> String {
    let value = desk.window.script(
        "return document.getElementById(arguments[0]).value",
        json!([id]),
    );
    value.as_str().unwrap().to_owned()
}

/// Replaces the text of the focused field.
fn write(desk: &Desk, text: &str) {
    desk.window.control('a');
    desk.window.keys(text);
}

fn wait_refused(desk: &Desk, code: &str) {
    desk.window.wait(&format!(
        "document.querySelector('[data-testid=write-refused]')?.dataset.code === '{code}'"
    ));
}

/// Waits until these lines are marked.
fn wait_marked(desk: &Desk, lines: &str) {
    desk.window.wait(&format!(
        "document.querySelector('[data-testid=marked-lines] span')?.textContent === '{lines}'"
    ));
}

/// Returns the open engram, as the command prints it.
fn open_engram(desk: &Desk) -> Value {
    let id = desk.window.attribute("[data-testid=engram]", "data-id");
    desk.sandbox.engram.json(&["log", &id])["entries"][0]["change"]["with"].clone()
}

fn acts_on(desk: &Desk, id: &str) -> Vec<String> {
    let told = |(by, kind): (String, String)| format!("{by} {kind}");
    desk.log(id).into_iter().map(told).collect()
}

#[test]
fn a_claim_is_corrected_in_place_and_that_is_undone() {
    let (desk, ids) = Desk::with_claims();
    let [edited, moved, _] = &ids;
    desk.open_claim(edited);

    // An unchanged text is not stored.
    desk.window.keys("r");
    wait_for_focus(&desk, "correction-text");
    assert_eq!(text_of(&desk, "correction-text"), "Walnuts are edited");
    desk.window.control(ENTER);
    desk.window
        .wait("document.querySelector('[data-testid=correction]') === null");
    assert_eq!(acts_on(&desk, edited), ["architect stored"]);

    // A refusal is shown below the text. Both stay while the person opens other claims, and when
    // new ones arrive.
    desk.window.keys("r");
    wait_for_focus(&desk, "correction-text");
    let token = format!(
        "Walnuts have ghp_{}",
        "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407"
    );
    write(&desk, &token);
    desk.window.control(ENTER);
    wait_refused(&desk, "SECRET_DETECTED");
    let kept = "return sessionStorage.getItem('engram-drafts')";
    assert_eq!(
        desk.window.script(kept, json!([])),
        json!(null),
        "no secret is kept"
    );
    assert_eq!(desk.window.count("[data-testid=notice]"), 0);
    desk.window.shot("correction-refused");
    let draft = json!({"claim": "Pecans arrive", "pointers": ["repo:src/moved.rs#L1@HEAD"], "agent": "architect"});
    let arrived = desk.sandbox.engram.put(&[draft]);
    desk.window.find(&row(&arrived[0]));
    assert_eq!(text_of(&desk, "correction-text"), token);
    desk.open_claim(moved);
    assert_eq!(desk.window.count("[data-testid=correction]"), 0);
    desk.open_claim(edited);
    assert_eq!(text_of(&desk, "correction-text"), token);
    assert_eq!(acts_on(&desk, edited), ["architect stored"]);

    // Esc leaves the correction and keeps its text.
    desk.window.click("#correction-text");
    desk.window.keys(ESC);
    desk.window.find("[data-testid=unsaved]");
    desk.window.keys("r");
    wait_for_focus(&desk, "correction-text");
    assert_eq!(text_of(&desk, "correction-text"), token);
    // A few more letters do not take the secret out.
    desk.window.keys(" now");
    assert_eq!(desk.window.script(kept, json!([])), json!(null));

    // Once stored, the version is the person's.
    write(&desk, "Walnuts are shelled");
    desk.window.control(ENTER);
    desk.wait_notice("Corrected");
    desk.window.wait(
        "document.querySelector('[data-testid=claim]')?.textContent === 'Walnuts are shelled'",
    );
    assert_eq!(acts_on(&desk, edited), ["user stored", "architect stored"]);
    let stored = open_engram(&desk);
    assert_eq!(stored["provenance"]["created_by"], "user");
    assert_eq!(stored["supersedes"], json!(edited));
    desk.window.keys("h");
    desk.window
        .wait("document.querySelectorAll('[data-testid=version]').length === 2");
    let history = desk.window.text("[data-testid=history]");
    for words in [
        "you corrected it",
        "before: Walnuts are edited",
        "architect stored it",
    ] {
        assert!(history.contains(words), "{words}: {history}");
    }
    assert_eq!(desk.window.texts("[data-testid=history] del"), ["edited"]);
    assert_eq!(desk.window.texts("[data-testid=history] ins"), ["shelled"]);
    desk.window.shot("corrected");

    // After the undo, the agent's version holds again.
    desk.window.keys("z");
    desk.wait_notice("Undone");
    desk.window.wait(
        "document.querySelector('[data-testid=claim]')?.textContent === 'Walnuts are edited'",
    );
    assert_eq!(open_engram(&desk)["provenance"]["created_by"], "architect");

    // By mouse.
    desk.window.click("[data-testid=correct]");
    wait_for_focus(&desk, "correction-text");
    write(&desk, "Walnuts are cracked");
    desk.window.click("[data-testid=save-correction]");
    desk.wait_notice("Corrected");
    desk.window.click("[data-testid=undo]");
    desk.wait_notice("Undone");
    assert_eq!(acts_on(&desk, edited).len(), 5);
}

#[test]
fn a_claim_is_added_about_lines_that_are_marked() {
    let (desk, ids) = Desk::with_claims();
    let [edited, ..] = &ids;
    let pinned = read_pointer(&desk, edited);
    let commit = pinned.rsplit('@').next().unwrap().to_owned();
    let at = |line: u32| format!("[data-testid=source] [data-line=\"{line}\"]");

    // By keys.
    desk.open_claim(edited);
    desk.window.keys(&ENTER.to_string());
    wait_for_focus(&desk, "pointer-0");
    desk.window.keys(TAB);
    desk.window
        .wait_moved("document.activeElement?.dataset.testid === 'source'");
    for _ in 0..3 {
        desk.window.shift(DOWN);
    }
    wait_marked(&desk, "lines 5–7");
    desk.window.shot("marked-lines");
    desk.window.keys("w");
    wait_for_focus(&desk, "new-claim");
    assert_eq!(
        text_of(&desk, "new-evidence"),
        format!("repo:src/edited.rs#L5-L7@{commit}")
    );
    assert_eq!(desk.window.count("[data-testid=about-lines] .line"), 3);
    desk.window.keys("Three pecans stand here");
    desk.window.shot("add-claim");
    desk.window.control(ENTER);
    desk.wait_notice("Added");
    desk.window.wait(
        "document.querySelector('[data-testid=claim]')?.textContent === 'Three pecans stand here'",
    );
    let stored = open_engram(&desk);
    assert_eq!(stored["provenance"]["created_by"], "user");
    assert_eq!(stored["scope"], "project");
    assert_eq!(stored["verified"], true);
    assert_eq!(stored["kind"], "fact");
    let id = stored["id"].as_str().unwrap().to_owned();
    desk.window.keys("z");
    desk.wait_notice("Undone");
    assert_eq!(acts_on(&desk, &id), ["user forgotten", "user stored"]);
    // What was added and taken back is no news.
    desk.window
        .wait(&format!("!document.querySelector('{}')", row(&id)));

    // By mouse: dragging over numbers, and selecting text.
    desk.open_claim(edited);
    desk.window
        .drag_to(&format!("{} .number", at(5)), &format!("{} .number", at(8)));
    wait_marked(&desk, "lines 5–8");
    desk.window.click("[data-testid=unmark]");
    desk.window
        .wait("document.querySelector('[data-testid=marked-lines]') === null");
    desk.window
        .drag_to(&format!("{} .text", at(5)), &format!("{} .text", at(7)));
    wait_marked(&desk, "lines 5–7");
    // A press on a number marks that line, whatever text is still selected.
    let number = format!("{} .number", at(6));
    desk.window.click(&number);
    wait_marked(&desk, "line 6");
    desk.window.click("[data-testid=add-claim]");
    wait_for_focus(&desk, "new-claim");
    desk.window.keys("A walnut is six");
    desk.window.click("[data-testid=save-claim]");
    desk.wait_notice("Added");
    desk.window
        .wait("document.querySelector('[data-testid=claim]')?.textContent === 'A walnut is six'");
    desk.window.click("[data-testid=undo]");
    desk.wait_notice("Undone");
}

#[test]
fn a_claim_is_added_from_the_palette_and_a_refusal_keeps_it() {
    let (desk, _) = Desk::with_claims();
    desk.window.control('k');
    desk.window
        .wait_moved("document.activeElement?.dataset.testid === 'palette-input'");
    desk.window.keys("Add a claim");
    desk.window.keys(&ENTER.to_string());
    wait_for_focus(&desk, "new-claim");
    desk.window.keys("Chestnuts roast");
    desk.window.control(ENTER);
    wait_refused(&desk, "UNANCHORED");
    desk.window.click("#new-evidence");
    // Paths and names are completed.
    desk.window.keys("repo:src/mo");
    desk.window.find("[data-testid=offered-evidence]");
    desk.window.keys(&DOWN.to_string());
    desk.window
        .wait_moved("document.activeElement?.dataset.testid === 'offered-evidence'");
    desk.window.keys(&ENTER.to_string());
    wait_for_focus(&desk, "new-evidence");
    let completed = text_of(&desk, "new-evidence");
    assert!(completed.starts_with("repo:src/moved.rs"), "{completed}");
    // Lines are typed before the commit.
    desk.window.keys("#L2");
    let completed = text_of(&desk, "new-evidence");
    assert_eq!(completed, "repo:src/moved.rs#L2@HEAD");
    desk.window.click("#new-evidence");
    write(&desk, "repo:src/nothing.rs#L1@HEAD");
    desk.window.control(ENTER);
    desk.window.wait(
        "document.querySelector('[data-testid=write-refused]')?.dataset.code.startsWith('POINTER')",
    );
    desk.window.shot("add-refused");

    // The person can leave it and continue later.
    desk.window.keys(ESC);
    desk.window
        .wait("document.querySelector('[data-testid=new-evidence]') === null");
    desk.window.keys("w");
    wait_for_focus(&desk, "new-claim");
    assert_eq!(text_of(&desk, "new-claim"), "Chestnuts roast");
    desk.window.click("#new-evidence");
    write(&desk, "repo:src/moved.rs#L2-L3@HEAD");
    desk.window.control(ENTER);
    desk.wait_notice("Added");
    desk.window
        .wait("document.querySelector('[data-testid=claim]')?.textContent === 'Chestnuts roast'");
    let id = open_engram(&desk)["id"].as_str().unwrap().to_owned();

    // The same claim is not stored twice.
    desk.window.keys("w");
    wait_for_focus(&desk, "new-claim");
    desk.window.keys("Chestnuts roast");
    desk.window.click("#new-evidence");
    write(&desk, "repo:src/moved.rs#L2-L3@HEAD");
    desk.window.control(ENTER);
    desk.wait_notice("already exists");
    assert_eq!(acts_on(&desk, &id), ["user stored"]);
}

#[test]
fn the_first_claim_needs_no_agent() {
    let sandbox = Sandbox::noted();
    sandbox
        .shop
        .change("src/first.rs", "let first = 1;\n", "Add a file");
    let window = sandbox.showing("[data-testid=first-run]");
    window.keys("w");
    window.wait_moved("document.activeElement?.id === 'new-claim'");
    window.keys("First is one");
    window.click("#new-evidence");
    window.keys("repo:src/first.rs#L1@HEAD");
    window.click("[data-testid=save-claim]");
    window.wait("document.querySelector('[data-testid=claim]')?.textContent === 'First is one'");
    assert_eq!(window.count("[data-testid=feed-row]"), 1);
}

/// The first pointer of a claim, pinned.
fn read_pointer(desk: &Desk, id: &str) -> String {
    let log = desk.sandbox.engram.json(&["log", id]);
    let stored = &log["entries"][0]["change"]["with"];
    let pointer = &stored["pointers"][0];
    let text = pointer.as_str().or(pointer["ref"].as_str());
    text.unwrap().to_owned()
}
