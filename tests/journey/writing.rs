//! What a person writes, by keys and by mouse: a correction in place of the claim, and new claims
//! about marked lines. Nothing typed is lost.

use serde_json::{Value, json};

use crate::{dashboard::hands::row, stage::Ground, verdicts::Desk};

const ENTER: char = '\u{E007}';
const DOWN: char = '\u{E015}';
const ESC: &str = "\u{E00C}";
const TAB: &str = "\u{E004}";

/// Waits until the element with this id has the focus.
fn focused(desk: &Desk, id: &str) {
    desk.window
        .wait_moved(&format!("document.activeElement?.id === '{id}'"));
}

/// The text of a field.
fn written(desk: &Desk, id: &str) -> String {
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

fn refused(desk: &Desk, code: &str) {
    desk.window.wait(&format!(
        "document.querySelector('[data-testid=write-refused]')?.dataset.code === '{code}'"
    ));
}

/// Waits until these lines are marked.
fn marked(desk: &Desk, lines: &str) {
    desk.window.wait(&format!(
        "document.querySelector('[data-testid=marked-lines] span')?.textContent === '{lines}'"
    ));
}

/// Returns the open engram, as the command prints it.
fn read(desk: &Desk) -> Value {
    let id = desk.window.attribute("[data-testid=engram]", "data-id");
    desk.ground.engram.json(&["log", &id])["entries"][0]["change"]["with"].clone()
}

fn acts(desk: &Desk, id: &str) -> Vec<String> {
    let told = |(by, kind): (String, String)| format!("{by} {kind}");
    desk.log(id).into_iter().map(told).collect()
}

#[test]
fn a_claim_is_corrected_in_place_and_that_is_undone() {
    let desk = Desk::open();
    let [edited, moved, _] = &desk.ids;
    desk.read(edited);

    // An unchanged text is not stored.
    desk.window.keys("r");
    focused(&desk, "correction-text");
    assert_eq!(written(&desk, "correction-text"), "Walnuts are edited");
    desk.window.control(ENTER);
    desk.window
        .wait("document.querySelector('[data-testid=correction]') === null");
    assert_eq!(acts(&desk, edited), ["architect stored"]);

    // A refusal is shown below the text. Both stay while the person opens other claims, and when
    // new ones arrive.
    desk.window.keys("r");
    focused(&desk, "correction-text");
    let token = format!(
        "Walnuts have ghp_{}",
        "aZ3kQ9wB7xLmN2cV5tRyU8iOpEsDfGhJ1407"
    );
    write(&desk, &token);
    desk.window.control(ENTER);
    refused(&desk, "SECRET_DETECTED");
    let kept = "return sessionStorage.getItem('engram-drafts')";
    assert_eq!(
        desk.window.script(kept, json!([])),
        json!(null),
        "no secret is kept"
    );
    assert_eq!(desk.window.count("[data-testid=notice]"), 0);
    desk.window.shot("correction-refused");
    let draft = json!({"claim": "Pecans arrive", "pointers": ["repo:src/moved.rs#L1@HEAD"], "agent": "architect"});
    let arrived = desk.ground.engram.put(&[draft]);
    desk.window.find(&row(&arrived[0]));
    assert_eq!(written(&desk, "correction-text"), token);
    desk.read(moved);
    assert_eq!(desk.window.count("[data-testid=correction]"), 0);
    desk.read(edited);
    assert_eq!(written(&desk, "correction-text"), token);
    assert_eq!(acts(&desk, edited), ["architect stored"]);

    // Esc leaves the correction and keeps its text.
    desk.window.click("#correction-text");
    desk.window.keys(ESC);
    desk.window.find("[data-testid=unsaved]");
    desk.window.keys("r");
    focused(&desk, "correction-text");
    assert_eq!(written(&desk, "correction-text"), token);

    // Once stored, the version is the person's.
    write(&desk, "Walnuts are shelled");
    desk.window.control(ENTER);
    desk.told("Corrected");
    desk.window.wait(
        "document.querySelector('[data-testid=claim]')?.textContent === 'Walnuts are shelled'",
    );
    assert_eq!(acts(&desk, edited), ["user stored", "architect stored"]);
    let stored = read(&desk);
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
    desk.told("Undone");
    desk.window.wait(
        "document.querySelector('[data-testid=claim]')?.textContent === 'Walnuts are edited'",
    );
    assert_eq!(read(&desk)["provenance"]["created_by"], "architect");

    // By mouse.
    desk.window.click("[data-testid=correct]");
    focused(&desk, "correction-text");
    write(&desk, "Walnuts are cracked");
    desk.window.click("[data-testid=save-correction]");
    desk.told("Corrected");
    desk.window.click("[data-testid=undo]");
    desk.told("Undone");
    assert_eq!(acts(&desk, edited).len(), 5);
}

#[test]
fn a_claim_is_added_about_lines_that_are_marked() {
    let desk = Desk::open();
    let [edited, ..] = &desk.ids;
    let pinned = read_pointer(&desk, edited);
    let commit = pinned.rsplit('@').next().unwrap().to_owned();
    let at = |line: u32| format!("[data-testid=source] [data-line=\"{line}\"]");

    // By keys.
    desk.read(edited);
    desk.window.keys(&ENTER.to_string());
    focused(&desk, "pointer-0");
    desk.window.keys(TAB);
    desk.window
        .wait_moved("document.activeElement?.dataset.testid === 'source'");
    for _ in 0..3 {
        desk.window.shift(DOWN);
    }
    marked(&desk, "lines 5–7");
    desk.window.shot("marked-lines");
    desk.window.keys("w");
    focused(&desk, "new-claim");
    assert_eq!(
        written(&desk, "new-evidence"),
        format!("repo:src/edited.rs#L5-L7@{commit}")
    );
    assert_eq!(desk.window.count("[data-testid=about-lines] .line"), 3);
    desk.window.keys("Three pecans stand here");
    desk.window.shot("add-claim");
    desk.window.control(ENTER);
    desk.told("Added");
    desk.window.wait(
        "document.querySelector('[data-testid=claim]')?.textContent === 'Three pecans stand here'",
    );
    let stored = read(&desk);
    assert_eq!(stored["provenance"]["created_by"], "user");
    assert_eq!(stored["scope"], "project");
    assert_eq!(stored["verified"], true);
    assert_eq!(stored["kind"], "fact");
    let id = stored["id"].as_str().unwrap().to_owned();
    desk.window.keys("z");
    desk.told("Undone");
    assert_eq!(acts(&desk, &id), ["user forgotten", "user stored"]);

    // By mouse: dragging over numbers, and selecting text.
    desk.read(edited);
    desk.window
        .drag_to(&format!("{} .number", at(5)), &format!("{} .number", at(8)));
    marked(&desk, "lines 5–8");
    desk.window.click("[data-testid=unmark]");
    desk.window
        .wait("document.querySelector('[data-testid=marked-lines]') === null");
    desk.window
        .drag_to(&format!("{} .text", at(5)), &format!("{} .text", at(7)));
    marked(&desk, "lines 5–7");
    // A press on a number marks that line, whatever text is still selected.
    let number = format!("{} .number", at(6));
    desk.window.click(&number);
    marked(&desk, "line 6");
    desk.window.click("[data-testid=add-claim]");
    focused(&desk, "new-claim");
    desk.window.keys("A walnut is six");
    desk.window.click("[data-testid=save-claim]");
    desk.told("Added");
    desk.window
        .wait("document.querySelector('[data-testid=claim]')?.textContent === 'A walnut is six'");
    desk.window.click("[data-testid=undo]");
    desk.told("Undone");
}

#[test]
fn a_claim_is_added_from_the_palette_and_a_refusal_keeps_it() {
    let desk = Desk::open();
    desk.window.control('k');
    desk.window
        .wait_moved("document.activeElement?.dataset.testid === 'palette-input'");
    desk.window.keys("Add a claim");
    desk.window.keys(&ENTER.to_string());
    focused(&desk, "new-claim");
    desk.window.keys("Chestnuts roast");
    desk.window.control(ENTER);
    refused(&desk, "UNANCHORED");
    desk.window.click("#new-evidence");
    desk.window.keys("repo:src/nothing.rs#L1@HEAD");
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
    focused(&desk, "new-claim");
    assert_eq!(written(&desk, "new-claim"), "Chestnuts roast");
    desk.window.click("#new-evidence");
    write(&desk, "repo:src/moved.rs#L2-L3@HEAD");
    desk.window.control(ENTER);
    desk.told("Added");
    desk.window
        .wait("document.querySelector('[data-testid=claim]')?.textContent === 'Chestnuts roast'");
    let id = read(&desk)["id"].as_str().unwrap().to_owned();

    // The same claim is not stored twice.
    desk.window.keys("w");
    focused(&desk, "new-claim");
    desk.window.keys("Chestnuts roast");
    desk.window.click("#new-evidence");
    write(&desk, "repo:src/moved.rs#L2-L3@HEAD");
    desk.window.control(ENTER);
    desk.told("already exists");
    assert_eq!(acts(&desk, &id), ["user stored"]);
}

#[test]
fn the_first_claim_needs_no_agent() {
    let ground = Ground::noted();
    ground
        .shop
        .change("src/first.rs", "let first = 1;\n", "Add a file");
    let window = ground.showing("[data-testid=first-run]");
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
    let log = desk.ground.engram.json(&["log", id]);
    let stored = &log["entries"][0]["change"]["with"];
    let pointer = &stored["pointers"][0];
    let text = pointer.as_str().or(pointer["ref"].as_str());
    text.unwrap().to_owned()
}
