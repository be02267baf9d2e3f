//! Evidence that changes while the window is open: badges, the view of drifted claims, triage by
//! keys.

use std::{fs, time::SystemTime};

use serde_json::{Value, json};

use crate::{
    dashboard::hands::{are_listed, row, says},
    stage::Sandbox,
};

const EDITED: &str = "src/ledger.rs";
const MOVED: &str = "src/retry.rs";
const GONE: &str = "src/id.rs";
const RENAMED: &str = "src/wire.rs";

#[test]
fn drifted_claims_are_told_and_triaged_by_keys() {
    let sandbox = Sandbox::noted();
    let Sandbox { shop, engram, .. } = &sandbox;
    for path in [GONE, RENAMED] {
        let lines = (1..=20).map(|n| format!("let {}_{n} = {n};\n", &path[4..6]));
        shop.change(path, lines.collect::<String>(), "Add a file");
    }
    let edited = (17, 31);
    let claims = [
        (
            "A reservation is written before the gateway is asked",
            EDITED,
            edited,
        ),
        ("Retries use full jitter", MOVED, (9, 15)),
        ("Ids are ULIDs", GONE, (3, 20)),
        (
            "The wire form is a strict subset of the record",
            RENAMED,
            (3, 20),
        ),
    ];
    let drafts = claims.map(|(claim, path, (first, last))| {
        json!({"claim": claim, "pointers": [format!("repo:{path}#L{first}-L{last}@HEAD")], "agent": "architect"})
    });
    let [first, second, third, fourth]: [String; 4] = engram.put(&drafts).try_into().unwrap();
    let window = sandbox.showing("[data-testid=engram] [data-testid=digest]");
    for id in [&first, &second, &third, &fourth] {
        window.wait(&says(id, "unchanged"));
    }
    assert_eq!(
        window.count("[data-testid=drift-view]"),
        0,
        "a view without content is absent"
    );

    // A saved file, a deleted file and a git rename: the badges follow without a click.
    let text = fs::read_to_string(shop.root.join(EDITED)).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let longer = format!("{} // and more", lines[edited.0 + 1]);
    lines[edited.0 + 1] = &longer;
    let saved = millis();
    shop.write(EDITED, lines.join("\n") + "\n");
    window.wait(&says(&first, "edited: review"));
    println!("from a save on disk to its badge: {} ms", millis() - saved);
    fs::remove_file(shop.root.join(GONE)).unwrap();
    window.wait(&says(&third, "evidence gone"));
    shop.git(&["mv", RENAMED, "src/renamed.rs"]);
    window.wait(&says(&fourth, "moved"));
    window.wait(&format!(
        "document.querySelector('[data-id=\"{fourth}\"] .file').textContent.startsWith('renamed.rs')"
    ));
    let text = fs::read_to_string(shop.root.join(MOVED)).unwrap();
    shop.write(MOVED, format!("// above\n{text}"));
    window.wait(&says(&second, "moved"));
    window.shot("drift-badges");
    // Moving the lines again changes no state: the card still agrees with its row.
    shop.write(MOVED, format!("// above\n// once more\n{text}"));
    window.click(&row(&second));
    window.wait(&format!(
        "document.querySelector('[data-testid=engram][data-id=\"{second}\"] [data-testid=standing]')?.textContent === 'moved +2'"
    ));
    window
        .wait("document.querySelector('[data-testid=now-at]')?.textContent.includes('now 11–17')");

    // Only drifted claims are listed; the old and the current lines are side by side.
    window.click("[data-testid=drift-view]");
    window.wait(&are_listed(&[&third, &first]));
    window.click(&row(&first));
    window.find(&format!("[data-id=\"{first}\"] [data-testid=sides] mark"));
    window.find("[data-testid=triage]");
    window.shot("drift");

    // Still true: the claim now points at the current lines, and the next claim opens.
    window.keys("y");
    window.wait(&are_listed(&[&third]));
    window.wait(&format!(
        "document.querySelector('[data-testid=engram]').dataset.id === '{third}'"
    ));
    let versions = engram.json(&["feed"]);
    let newest = &versions["entries"][0]["change"]["with"];
    assert_eq!(newest["supersedes"], json!(first));
    assert_eq!(newest["health"]["standing"], json!("holds"));
    assert!(
        newest["pointers"][0]["ref"]
            .as_str()
            .unwrap()
            .contains("@sha256:"),
        "{newest}"
    );
    // Unsure: agents are asked.
    window.shot("drift-gone");
    window.keys("q");
    window.wait(
        "document.querySelector('[data-testid=notice]')?.textContent.includes('Added a to-do')",
    );
    let asked = engram.json(&["query", "are Ids still ULIDs", "--kind", "todo"]);
    let claim = asked["engrams"][0]["claim"].as_str().unwrap();
    assert!(claim.starts_with("Is this still true?"), "{claim}");
    // No longer true: the claim is forgotten, after a question.
    window.keys("x");
    window.find("[data-testid=confirm]");
    window.keys("\u{E007}");
    window.wait(&are_listed(&[]));
    let gone: Value = engram.json(&["get", &third]);
    assert!(gone["valid_until"].is_string());
    window.find("[data-testid=no-drift]");
    window.shot("drift-done");
}

fn millis() -> u128 {
    #[expect(
        clippy::disallowed_methods,
        reason = "prints a figure without asserting it"
    )]
    let now = SystemTime::now();
    now.duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis()
}
