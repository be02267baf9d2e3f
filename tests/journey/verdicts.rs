//! What a person decides about a claim: it is recorded as theirs, it can be undone, keys act only
//! on what is visible, and the editor opens at the current lines.

use std::fs;

use serde_json::json;

use crate::{
    dashboard::hands::{is_open, notice, row, says},
    stage::{Desk, Sandbox},
};

const FILES: [&str; 3] = ["src/edited.rs", "src/moved.rs", "src/renamed.rs"];

impl Desk {
    /// A window on a repository with three claims of an agent, each about a file of its own, and
    /// their ids.
    pub(crate) fn with_claims() -> (Self, [String; 3]) {
        let sandbox = Sandbox::noted();
        for path in FILES {
            let lines = (1..=20).map(|n| format!("let {}_{n} = {n};\n", &path[4..9]));
            sandbox
                .shop
                .change(path, lines.collect::<String>(), "Add a file");
        }
        let claims = [
            "Walnuts are edited",
            "Hazelnuts move",
            "Almonds have a name",
        ];
        let drafts: Vec<_> = claims
            .iter()
            .zip(FILES)
            .map(|(claim, path)| {
                json!({"claim": claim, "pointers": [format!("repo:{path}#L5-L9@HEAD")], "agent": "architect"})
            })
            .collect();
        let ids: [String; 3] = sandbox.engram.put(&drafts).try_into().unwrap();
        let window = sandbox.window();
        for id in &ids {
            window.wait(&says(id, "unchanged"));
        }
        (Self { window, sandbox }, ids)
    }

    pub(crate) fn open_claim(&self, id: &str) {
        self.window.click(&row(id));
        self.window.wait(&is_open(id));
        self.window
            .find("[data-testid=engram] [data-testid=digest]");
    }

    pub(crate) fn wait_notice(&self, words: &str) {
        self.window.wait(&notice(words));
    }

    /// Returns the journal's entries about a claim, newest first.
    pub(crate) fn log(&self, id: &str) -> Vec<(String, String)> {
        let log = self.sandbox.engram.json(&["log", id]);
        let entries = log["entries"].as_array().unwrap().iter();
        let told = entries.map(|entry| {
            let kind = entry["change"]["kind"].as_str().unwrap();
            (entry["by"].as_str().unwrap().to_owned(), kind.to_owned())
        });
        told.collect()
    }
}

#[test]
fn the_editor_opens_where_the_lines_are_now() {
    let (desk, ids) = Desk::with_claims();
    let [edited, moved, renamed] = &ids;
    let text = fs::read_to_string(desk.sandbox.shop.root.join(FILES[1])).unwrap();
    desk.sandbox
        .shop
        .write(FILES[1], format!("// one\n// two\n{text}"));
    desk.sandbox.shop.git(&["mv", FILES[2], "src/named.rs"]);
    fs::remove_file(desk.sandbox.shop.root.join(FILES[0])).unwrap();
    for (id, place) in [(moved, "src/moved.rs:7"), (renamed, "src/named.rs:5")] {
        desk.open_claim(id);
        // Pressed at once, before the window has shown that the lines moved.
        desk.window.keys("o");
        let opened = desk.sandbox.editor.wait_opened();
        assert!(opened.ends_with(place), "{opened}");
        desk.wait_notice("Opened in");
    }
    // Only history has the lines: nothing opens, and the card shows them.
    desk.open_claim(edited);
    desk.window.keys("o");
    desk.wait_notice("no longer in the working tree");
    desk.window
        .wait_moved("document.activeElement?.id === 'pointer-0'");
}

#[test]
fn each_verdict_is_the_persons_and_is_undone() {
    let (desk, ids) = Desk::with_claims();
    let [edited, moved, _] = &ids;
    let text = fs::read_to_string(desk.sandbox.shop.root.join(FILES[0])).unwrap();
    desk.sandbox
        .shop
        .write(FILES[0], text.replace("= 7;", "= 70;"));
    desk.window.wait(&says(edited, "edited: review"));

    // Still true, then undone at once by a key.
    desk.open_claim(edited);
    desk.window.keys("y");
    desk.wait_notice("Confirmed");
    desk.window.keys("z");
    desk.wait_notice("Undone");
    desk.window
        .wait("document.querySelector('[data-testid=triage]')");
    let log = desk.log(edited);
    assert_eq!(
        log,
        [
            ("user", "stored"),
            ("user", "stored"),
            ("architect", "stored")
        ]
        .map(|(by, kind)| (by.to_owned(), kind.to_owned()))
    );
    let restored =
        desk.sandbox.engram.json(&["log", edited])["entries"][0]["change"]["with"].clone();
    assert_eq!(restored["restores"], json!(edited));
    assert_eq!(restored["provenance"]["created_by"], "architect");
    let now = restored["id"].as_str().unwrap().to_owned();

    // Asked: the claim says so until the question is withdrawn.
    desk.window.keys("q");
    desk.wait_notice("Added a to-do");
    desk.window.wait(&says(&now, "asked"));
    desk.window.find("[data-testid=asked]");
    desk.window.shot("asked");
    desk.window.keys("z");
    desk.wait_notice("Undone");
    desk.window.wait(&says(&now, "edited: review"));

    // Forgotten, after a question that names it; undone by mouse.
    desk.open_claim(moved);
    desk.window.keys("\u{E017}");
    assert!(
        desk.window
            .text("[data-testid=named]")
            .contains("Hazelnuts")
    );
    desk.window.keys("\u{E007}");
    desk.wait_notice("Forgotten");
    desk.window.click("[data-testid=undo]");
    desk.wait_notice("Undone");
    assert_eq!(desk.log(moved)[0].1, "stored");

    // And later from the history, which says who did what.
    desk.window.keys("h");
    desk.window
        .wait("document.querySelectorAll('[data-testid=version]').length === 2");
    desk.window.shot("history");
    let history = desk.window.text("[data-testid=history]");
    for words in ["you restored it", "you forgot it", "architect stored it"] {
        assert!(history.contains(words), "{words}: {history}");
    }
    // What holds again already is not restored again.
    assert_eq!(desk.window.count("[data-testid=restore]"), 0);
    desk.window.keys("\u{E017}");
    desk.window.find("[data-testid=named]");
    desk.window.keys("\u{E007}");
    desk.wait_notice("Forgotten");
    // The next claim is open; the forgotten one is still in the list.
    let entries = desk.sandbox.engram.json(&["log", moved])["entries"].clone();
    let mut stored = entries.as_array().unwrap().iter();
    let last = stored.find(|it| it["change"]["kind"] == "stored").unwrap();
    desk.open_claim(last["change"]["with"]["id"].as_str().unwrap());
    desk.window.keys("h");
    desk.window.click("[data-testid=restore]");
    desk.wait_notice("Restored");
    desk.window
        .wait("document.querySelector('[data-testid=engram]')?.dataset.id !== undefined");
    assert_eq!(desk.log(moved).len(), 5);
}

#[test]
fn keys_act_on_what_a_search_shows() {
    let (desk, ids) = Desk::with_claims();
    let [edited, _, renamed] = &ids;
    desk.open_claim(renamed);
    desk.window.keys("/");
    desk.window.keys("walnuts");
    desk.window.wait(&is_open(edited));
    desk.window
        .wait("[...document.querySelectorAll('[data-testid=feed-row] mark')].map(it => it.textContent).join() === 'Walnuts'");
    desk.window.shot("search");
    desk.window.keys("\u{E007}");
    desk.window.keys("\u{E017}");
    assert!(desk.window.text("[data-testid=named]").contains("Walnuts"));
    desk.window.keys("\u{E00C}");
    desk.window
        .wait("document.querySelector('[data-testid=confirm]') === null");
    // Typing replaces the text in the field. Without a match, keys have nothing to act on.
    desk.window.keys("/");
    desk.window.keys("pistachios");
    desk.window
        .wait("document.querySelectorAll('[data-testid=feed-row]').length === 0");
    desk.window
        .wait("document.querySelector('[data-testid=engram]') === null");
    desk.window.keys("\u{E007}");
    desk.window.keys("\u{E017}");
    assert_eq!(desk.window.count("[data-testid=confirm]"), 0);
    // Esc empties the field.
    desk.window.keys("/");
    desk.window.keys("\u{E00C}");
    desk.window
        .wait("document.querySelectorAll('[data-testid=feed-row]').length > 2");
}

#[test]
fn a_repository_that_is_moved_away_is_noticed() {
    let (desk, ids) = Desk::with_claims();
    let away = desk.sandbox.shop.dir.join("away");
    fs::rename(&desk.sandbox.shop.root, &away).unwrap();
    desk.window.find("[data-testid=gone]");
    for id in &ids {
        desk.window.wait(&says(id, "could not check"));
    }
    desk.window.shot("repository-gone");
    assert_eq!(
        desk.window.count(".word.well"),
        0,
        "no claim is marked as unchanged"
    );
    fs::rename(&away, &desk.sandbox.shop.root).unwrap();
    for id in &ids {
        desk.window.wait(&says(id, "unchanged"));
    }
    assert_eq!(desk.window.count("[data-testid=gone]"), 0);
}

#[test]
fn the_branch_that_is_checked_out_is_told_at_once() {
    let (desk, _) = Desk::with_claims();
    let shows = |what: &str| {
        desk.window.wait(&format!(
            "document.querySelector('[data-testid=checkout]')?.textContent === '{what}'"
        ));
    };
    desk.sandbox
        .shop
        .git(&["switch", "-q", "-c", "feature/deep"]);
    shows("feature/deep");
    desk.sandbox.shop.git(&["switch", "-q", "--detach"]);
    shows(&desk.sandbox.shop.head()[..8]);
    desk.sandbox.shop.git(&["switch", "-q", "feature/deep"]);
    shows("feature/deep");
}
