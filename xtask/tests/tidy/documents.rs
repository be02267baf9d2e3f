//! Checks the documents: the map names every crate and only tests that exist, and no link is dead.

use std::collections::BTreeSet;

use crate::workspace::{Source, assert_none, files, members, read, root};

#[test]
fn the_map_names_every_crate_and_its_guards() {
    let map = read("docs/ARCHITECTURE.md");
    let sections: Vec<&str> = map.split("\n### ").skip(1).collect();
    let mut wrong = Vec::new();
    for member in members() {
        match sections.iter().find(|it| {
            it.lines()
                .next()
                .is_some_and(|head| head.contains(&format!("`{}`", member.name)))
        }) {
            None => wrong.push(format!("{} has no section", member.name)),
            Some(section) if !section.contains("**Invariant:**") => {
                wrong.push(format!("{} has no invariant", member.name))
            }
            Some(section) if !section.contains("Guarded by `") => {
                wrong.push(format!("{}'s invariant has no guard", member.name))
            }
            Some(_) => {}
        }
    }
    let tests: String = files(
        &["crates", "tests", "src-tauri", "xtask", "ui/src"],
        &[".rs"],
    )
    .into_iter()
    .map(|it| it.text)
    .collect();
    let security = read("docs/SECURITY.md");
    let named = guards(&map).into_iter().chain(tests_of_rows(&security));
    for guard in named {
        if !tests.contains(&format!("fn {guard}(")) {
            wrong.push(format!("no test is called {guard}"));
        }
    }
    assert_none("the documents differ from the code", wrong);
}

/// Returns the names in backquotes in the last column of each table of defences.
fn tests_of_rows(text: &str) -> BTreeSet<&str> {
    let rows = text.lines().filter_map(|it| it.strip_suffix(" |"));
    let cells = rows.filter_map(|it| it.rsplit(" | ").next());
    let quoted = cells.flat_map(|it| it.split('`').skip(1).step_by(2));
    let is_name = |it: &&str| {
        it.len() > 12
            && it
                .bytes()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
    };
    quoted.filter(is_name).collect()
}

/// Returns the names in backquotes of each `Guarded by ...` sentence.
fn guards(map: &str) -> BTreeSet<&str> {
    let sentences = map
        .split("Guarded by ")
        .skip(1)
        .filter_map(|it| it.split(['\n', '.']).next());
    let quoted = sentences.flat_map(|it| it.split('`').skip(1).step_by(2));
    quoted.collect()
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for document in files(
        &["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"],
        &[".md"],
    ) {
        let folder = root().join(&document.path);
        let folder = folder.parent().unwrap();
        for link in document
            .text
            .split("](")
            .skip(1)
            .filter_map(|it| it.split(')').next())
        {
            let path = link.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") && !folder.join(path).exists() {
                dead.push(format!("{}: {link}", document.path));
            }
        }
    }
    assert_none("dead links", dead);
}

/// Returns what is in backquotes, across the documents.
fn quoted(documents: &[Source]) -> impl Iterator<Item = (&str, &str)> {
    documents.iter().flat_map(|document| {
        let spans = document.text.split('`').skip(1).step_by(2);
        spans.map(|it| (document.path.as_str(), it))
    })
}

#[test]
fn paths_in_documents_exist() {
    let documents = files(&["CONTRIBUTING.md", "docs"], &[".md"]);
    let ours = [
        "crates/",
        "docs/",
        "schemas/",
        "src-tauri/",
        "tests/",
        "ui/",
        "xtask/",
    ];
    let paths = quoted(&documents).filter(|it| ours.iter().any(|folder| it.1.starts_with(folder)));
    // The results of a build are not in a fresh clone.
    let gone = paths.filter(|it| it.1 != "ui/dist" && !root().join(it.1).exists());
    assert_none(
        "paths that lead nowhere",
        gone.map(|it| format!("{}: {}", it.0, it.1)).collect(),
    );
}

/// A document names a thing and its file as `name` (`file.rs`), or as `file.rs`, `name`.
#[test]
fn things_are_in_the_files_that_documents_name() {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut gone = Vec::new();
    for document in &files(&["CONTRIBUTING.md", "docs"], &[".md"]) {
        let parts: Vec<&str> = document.text.split('`').collect();
        // Every second part is in backquotes.
        for part in parts.windows(3).skip(1).step_by(2) {
            let (name, file) = match part[1] {
                " (" => (part[0], part[2]),
                ", " => (part[2], part[0]),
                _ => continue,
            };
            let name = name.rsplit("::").next().unwrap_or_default();
            let is_pair = file.ends_with(".rs") && name.chars().all(is_of_name);
            if is_pair
                && root().join(file).exists()
                && !read(file).split(|c| !is_of_name(c)).any(|it| it == name)
            {
                gone.push(format!("{}: {name} in {file}", document.path));
            }
        }
    }
    assert_none("things that are not where documents say", gone);
}

/// Returns the anchor of a heading: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

#[test]
fn citations_lead_somewhere() {
    const CITED: &str = concat!("docs/", "design.md#");
    /// Documents that are in no clone.
    const ELSEWHERE: [&str; 4] = [
        concat!("DES", "IGN"),
        concat!("seed", " 00"),
        concat!("Seed", " 00"),
        concat!("contracts/", "gateway.md"),
    ];
    let page = read("docs/design.md");
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let known: BTreeSet<String> = headings
        .map(|it| anchor(it.trim_start_matches('#').trim()))
        .collect();
    let mut wrong = Vec::new();
    let sources = files(
        &[
            "crates",
            "src-tauri",
            "tests",
            "ui/src",
            "ui/style",
            "xtask",
            "schemas",
            "docs/decisions",
        ],
        &[".rs", ".sql", ".css", ".js", ".json", ".md", ".toml"],
    );
    for source in sources {
        for cited in source.text.split(CITED).skip(1) {
            let end = cited.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let cited = &cited[..end.unwrap_or(cited.len())];
            if !known.contains(cited) {
                wrong.push(format!("{}: {CITED}{cited}", source.path));
            }
        }
        for (number, line) in source.lines() {
            if ELSEWHERE.iter().any(|paper| line.contains(paper)) {
                wrong.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    assert_none("citations that lead nowhere", wrong);
}

#[test]
fn verbs_in_documents_exist() {
    let verbs = read("crates/cli/src/args/mod.rs");
    let documents = files(
        &["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"],
        &[".md"],
    );
    let mut unknown = Vec::new();
    for document in &documents {
        let parts: Vec<&str> = document.text.split("engram ").collect();
        // A command is at the beginning of a quoted span, of a line, or after a prompt.
        let typed = parts.windows(2).filter(|it| {
            ["`", "\n", "$ "]
                .iter()
                .any(|before| it[0].ends_with(before))
        });
        for verb in typed.map(|it| it[1]) {
            let verb: String = verb
                .chars()
                .take_while(|it| it.is_ascii_lowercase())
                .collect();
            let Some(first) = verb.chars().next() else {
                continue;
            };
            let variant = format!("{}{}", first.to_ascii_uppercase(), &verb[1..]);
            let known = verb == "help"
                || ["(", ",", " {"]
                    .iter()
                    .any(|it| verbs.contains(&format!("\n    {variant}{it}")));
            if !known {
                unknown.push(format!("{}: engram {verb}", document.path));
            }
        }
    }
    assert_none("verbs that the command does not have", unknown);
}

#[test]
fn decisions_are_numbered_and_say_why() {
    for (at, decision) in files(&["docs/decisions"], &[".md"]).iter().enumerate() {
        let name = decision.path.rsplit('/').next().unwrap();
        assert!(
            name.starts_with(&format!("{:04}-", at + 1)),
            "{name} is decision {}",
            at + 1
        );
        for heading in ["## Decision", "## Why", "## What follows"] {
            assert!(decision.text.contains(heading), "{name} lacks {heading:?}");
        }
    }
}

#[test]
fn the_changelog_has_a_place_for_what_is_new() {
    assert!(read("CHANGELOG.md").contains("\n## [Unreleased]\n"));
}
