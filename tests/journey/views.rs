//! How each kind of source is shown: highlighted code, comparisons, documents, long files, history.

use std::fs;

use serde_json::{Value, json};

use crate::{
    dashboard::{hands::row, viewer::MEASURED},
    stage::Sandbox,
    window::Window,
};

const FILE: &str = "src/ledger.rs";
const GUIDE: &str = "# Guide\n\nIntro.\n\n## Rules\n\nOne *budget* for **all**, see [this](https://a.example/x).\n\n\
- first\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn held() -> bool { true }\n```\n\n<script>window.hacked = true</script>\n\n## After\n";

#[test]
fn every_source_is_shown_as_what_it_is() {
    let sandbox = Sandbox::noted();
    let Sandbox { shop, engram, .. } = &sandbox;
    shop.change("GUIDE.md", GUIDE, "Add a guide");
    shop.change("NOTES.md", "A note.\nAnother.\n", "Add to the notes");
    shop.change(
        "shot.gif",
        "GIF89a\u{40}\u{1}\u{40}\u{1}\0\0\0",
        "Add a picture",
    );
    let long: String = (1..=4_990)
        .map(|n| format!("let value_{n} = \"{n}\"; // {n}\n"))
        .collect();
    shop.change(
        "long.rs",
        format!("{long}// {}\n", "x".repeat(1 << 20)),
        "Add a long file",
    );
    let (first, last) = (17, 31);
    let note = engram.json(&[
        "note",
        "--kind",
        "decision",
        "--slug",
        "keep-it",
        "We keep it.",
    ]);
    let pointers = [
        format!("repo:{FILE}#L{first}-L{last}@HEAD"),
        "diff:HEAD~3..HEAD#NOTES.md".to_owned(),
        "artifact:GUIDE.md#sec=Rules@HEAD".to_owned(),
        "repo:long.rs@HEAD".to_owned(),
        "artifact:shot.gif@HEAD".to_owned(),
        note["pointer"].as_str().expect("a pointer").to_owned(),
    ];
    let drafts = pointers
        .map(|it| json!({"claim": format!("See {it}"), "pointers": [it], "agent": "reviewer"}));
    let ids = engram.put(&drafts);
    // Since then the span was edited, without a commit.
    let now = fs::read_to_string(shop.root.join(FILE)).unwrap();
    let edited: Vec<&str> = now.lines().collect();
    let mut edited: Vec<String> = edited.into_iter().map(str::to_owned).collect();
    edited.insert(0, "// above".to_owned());
    edited[first + 1] = "        // edited".to_owned();
    fs::write(shop.root.join(FILE), edited.join("\n") + "\n").unwrap();

    // The window opens the newest engram by itself, which would override an earlier click.
    let window = sandbox.showing("[data-testid=engram] [data-testid=digest]");
    let open = |id: &String| {
        window.click(&row(id));
        window.find(&format!(
            "[data-testid=engram][data-id=\"{id}\"] [data-testid=digest]"
        ));
    };

    // The newest is open at first; by then the fonts are loaded, and rows no longer move.
    window.find(&format!(
        "[data-testid=engram][data-id=\"{}\"] [data-testid=digest]",
        ids[5]
    ));
    open(&ids[0]);
    window.wait("document.querySelector('[data-testid=standing]')?.dataset.reading === 'edited'");
    // The changes are shown by default; D hides them and shows them again.
    window.find("[data-testid=changes] .line.added");
    window.keys("d");
    window.wait("!document.querySelector('[data-testid=changes]')");
    window.find("[data-testid=source] .kw");
    window.keys("d");
    window.find("[data-testid=changes] .line.added");
    let added = window.texts("[data-testid=changes] .line.added .text");
    // The indent shared by all lines is removed.
    assert_eq!(added, ["    // edited"]);
    window.shot("viewer-edited");
    window.keys("D");
    window.find("[data-testid=blame] [data-testid=blame-row]");
    assert_eq!(
        window.count("[data-testid=changes]"),
        0,
        "one panel at a time"
    );
    let commits = window.texts("[data-testid=blame-row] .commit");
    let line = format!("{first},{last}");
    let wanted = shop.git(&[
        "blame",
        "-s",
        "--abbrev=39",
        "-L",
        &line,
        "HEAD",
        "--",
        FILE,
    ]);
    for commit in &commits {
        assert!(wanted.contains(commit.as_str()), "{commit} in {wanted}");
    }
    window.shot("viewer-blame");
    // The file is restored, and the window notices.
    fs::write(shop.root.join(FILE), &now).unwrap();
    window.wait("document.querySelector('[data-testid=standing]')?.dataset.reading === 'same'");

    open(&ids[1]);
    assert_eq!(
        window.texts("[data-testid=source] .line.added .text"),
        ["Another."]
    );
    window.shot("viewer-diff");

    open(&ids[2]);
    window.find("[data-testid=document] strong");
    assert_eq!(
        window.texts("[data-testid=document] li"),
        ["first", "second"]
    );
    assert_eq!(
        window.count("[data-testid=document] :is(a, img, script, iframe)"),
        0
    );
    assert_eq!(
        window.script("return window.hacked ?? null", json!([])),
        Value::Null
    );
    window.shot("viewer-document");
    window.click("[data-testid=as-source]");
    assert!(window.text("[data-testid=source]").contains("## Rules"));

    let frames = window.script_until(MEASURED, json!([ids[3], 700, 60]));
    println!("5,000 lines and one of 1 MB in the real window: {frames}");
    window.wait("document.querySelector('[data-testid=source] .line .com')");
    assert!(
        window.count("[data-testid=source] .line") < 250,
        "only what is seen is drawn"
    );
    let end =
        "const it = document.querySelector('[data-testid=source]'); it.scrollTop = it.scrollHeight";
    window.script(end, json!([]));
    window.wait("document.querySelector('[data-testid=source-line][data-line=\"4991\"] .cut')");
    assert!(window.count("[data-testid=source] .line") < 250);
    window.shot("viewer-long");
    // By keys: the button is at the cut, however far the line is scrolled.
    let focus = "document.querySelector('[data-line=\"4991\"] [data-testid=read-on]').focus()";
    window.script(focus, json!([]));
    window.keys("\u{E007}");
    window.wait(
        "document.querySelector('[data-testid=long-line] h3')?.textContent.endsWith(' of 1,048,579')",
    );
    window.find("[data-testid=long-line-text]");
    window.shot("viewer-long-line");

    open(&ids[4]);
    window.find("[data-testid=media][data-kind=picture]");
    assert!(
        window
            .text("[data-testid=media]")
            .contains("GIF picture 320 × 320 pixels")
    );
    assert_eq!(window.count("[data-testid=engram] img"), 0);
    window.shot("viewer-picture");

    open(&ids[5]);
    assert!(
        window
            .text("[data-testid=document]")
            .contains("We keep it.")
    );
    window.find("[data-testid=recorded]");
    window.shot("viewer-note");
}

#[test]
fn the_feed_is_filtered_over_the_whole_project_and_the_address_says_how() {
    let sandbox = Sandbox::noted();
    // More than a page, so that the match is not among the loaded ones.
    let draft = |n: usize| {
        let (kind, agent) = if n == 3 {
            ("risk", "architect")
        } else {
            ("fact", "programmer")
        };
        json!({"claim": format!("Item number{n} is known."), "kind": kind, "agent": agent, "topic": format!("part/{}", n % 2),
            "pointers": ["repo:NOTES.md#L1@HEAD"]})
    };
    let ids = sandbox.engram.put(&(0..260).map(draft).collect::<Vec<_>>());
    let window = sandbox.showing("[data-testid=digest]");
    window.keys("f");
    window.find("[data-testid=facet][data-value=risk]");
    assert_eq!(
        window.texts("[data-testid=facet][data-value=\"part/1\"] i"),
        ["130"]
    );
    window.shot("filter-values");
    window.click("[data-testid=facet][data-value=risk]");
    let only = format!(
        "(rows => rows.length === 1 && rows[0].dataset.id === '{}')(document.querySelectorAll('[data-testid=feed-row]'))",
        ids[3]
    );
    window.wait(&only);
    window.wait("document.querySelector('[data-testid=list-count]').textContent.startsWith('1 ')");
    let query = |window: &Window| window.script("return location.search", json!([]));
    assert!(query(&window).as_str().unwrap().starts_with("?kind=risk"));
    // The filter also applies to what other agents write meanwhile.
    sandbox.engram.put(&[draft(261)]);
    window.wait("document.querySelector('[data-testid=count]').textContent.startsWith('261 ')");
    window.wait(&only);
    // Back leads to the whole feed, forward to the filter, and a reload stays there.
    window.script("history.back()", json!([]));
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length > 5");
    window.script("history.forward()", json!([]));
    window.wait(&only);
    window.script("location.reload()", json!([]));
    window.find("[data-testid=filter-chip]");
    window.wait(&only);
    window.click("[data-testid=filter-chip]");
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length > 5");
    // The search also finds words in claims that were never loaded.
    window.keys("/number7");
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length === 11");
    window.keys("8 programmer");
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length === 1");
    window.control('a');
    window.keys("zzz");
    window.find("[data-testid=no-match]");
    window.shot("filter-nothing");
}
