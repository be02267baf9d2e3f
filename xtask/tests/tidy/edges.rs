//! Which crate may use which (docs/design.md#crates; docs/ARCHITECTURE.md has the map).

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{assert_none, dependencies_of, files, linked_into, members, read, root};

/// The only allowed edges between members.
const EDGES: &[(&str, &[&str])] = &[
    ("engram-model", &[]),
    ("engram-gateway", &["engram-model"]),
    ("engram-consistency", &["engram-model"]),
    ("engram-meaning", &["engram-model"]),
    ("engram-pointers", &["engram-model"]),
    ("engram-store", &["engram-model"]),
    (
        "engram-engine",
        &[
            "engram-model",
            "engram-gateway",
            "engram-consistency",
            "engram-meaning",
            "engram-pointers",
            "engram-store",
        ],
    ),
    (
        "engram-server",
        &["engram-model", "engram-gateway", "engram-engine"],
    ),
    ("engram-connect", &["engram-model", "engram-engine"]),
    (
        "engram-cli",
        &[
            "engram-model",
            "engram-engine",
            "engram-server",
            "engram-connect",
        ],
    ),
    (
        "engram-desktop",
        &["engram-model", "engram-engine", "engram-connect"],
    ),
    ("engram-ui", &["engram-model"]),
    // For tests alone: no crate may use it, and it uses none.
    ("engram-kit", &[]),
    ("xtask", &["engram-model"]),
    ("engram-measure", &["xtask"]),
];

/// The modules of the server, lowest first: each uses only those before it. HTTP serves MCP too.
const SERVER: &[&str] = &["permits", "http_caller", "resolution_type", "mcp", "http"];

/// The modules of the engine, likewise. `lib.rs` may use all of them.
const ENGINE: &[&str] = &[
    "world",
    "home",
    "context",
    "conflicts",
    "decide",
    "evidence",
    "agents",
    "asking",
    "claims",
    "verdicts",
    "messages",
    "follow",
    "status",
    "answers",
];

/// Libraries that have one owner each, so that they can be replaced in one place.
const OWNERS: &[(&str, &[&str])] = &[
    ("rusqlite", &["engram-store"]),
    ("tantivy", &["engram-store"]),
    ("notify", &["engram-store", "engram-pointers"]),
    ("git2", &["engram-pointers"]),
    ("libgit2-sys", &["engram-pointers"]),
    ("ort", &["engram-meaning"]),
    ("fastembed", &["engram-meaning"]),
    ("safetensors", &["engram-meaning"]),
    ("tokenizers", &["engram-meaning"]),
    (
        "ureq",
        &["engram-pointers", "engram-meaning", "engram-measure"],
    ),
    ("tiktoken-rs", &["engram-gateway"]),
    ("jsonc-parser", &["engram-connect"]),
    ("rmcp", &["engram-server"]),
    ("axum", &["engram-server"]),
    ("hyper", &["engram-server"]),
    ("hyper-util", &["engram-server"]),
    ("tokio-rustls", &["engram-server"]),
    ("tokio", &["engram-server", "engram-cli", "engram-desktop"]),
    (
        "clap",
        &["engram-cli", "engram-desktop", "engram-measure", "xtask"],
    ),
    ("tauri", &["engram-desktop"]),
    ("tauri-build", &["engram-desktop"]),
    ("leptos", &["engram-ui"]),
    ("wasm-bindgen-cli-support", &["xtask"]),
];

/// Libraries that must not arrive through others either: (member, libraries, why).
const NEVER: &[(&str, &[&str], &str)] = &[
    (
        "engram-model",
        &["tokio", "rusqlite", "git2", "tiktoken-rs"],
        "builds for wasm, without I/O",
    ),
    (
        "engram-gateway",
        &["tokio", "rusqlite", "git2", "ureq"],
        "decides, does no I/O",
    ),
    (
        "engram-consistency",
        &["tokio", "rusqlite", "git2", "ureq"],
        "decides, does no I/O",
    ),
    (
        "engram-engine",
        &["tokio", "rmcp", "axum", "clap", "tauri"],
        "speaks no protocol",
    ),
    (
        "engram-connect",
        &["tokio", "clap", "tauri"],
        "knows neither of its users",
    ),
    (
        "engram-cli",
        &["tauri", "wry", "gtk"],
        "the command links no webview",
    ),
    (
        "engram-ui",
        &["tiktoken-rs", "tokio", "schemars"],
        "the window carries no vocabulary and no runtime",
    ),
    (
        "engram-kit",
        &["engram-model", "git2", "rusqlite", "tantivy", "tokio"],
        "a test links no more of Engram for using it",
    ),
];

#[test]
fn members_use_only_the_crates_below_them() {
    let known: BTreeMap<_, _> = EDGES.iter().copied().collect();
    let mut wrong = Vec::new();
    for member in members() {
        let Some(allowed) = known.get(member.name.as_str()) else {
            wrong.push(format!(
                "{} is not in EDGES: say which crates it may use",
                member.name
            ));
            continue;
        };
        for used in dependencies_of(member)
            .iter()
            .filter(|it| known.contains_key(*it))
        {
            if !allowed.contains(used) {
                wrong.push(format!("{} uses {used}", member.name));
            }
        }
    }
    assert_none("edges that the map does not have", wrong);
    let there: BTreeSet<_> = members().map(|it| it.name.as_str()).collect();
    assert_none(
        "EDGES names members that are gone",
        known
            .keys()
            .filter(|it| !there.contains(*it))
            .map(|it| it.to_string())
            .collect(),
    );
}

#[test]
fn libraries_have_one_owner() {
    let mut wrong = Vec::new();
    for (library, owners) in OWNERS {
        for member in members().filter(|it| dependencies_of(it).contains(library)) {
            if !owners.contains(&member.name.as_str()) {
                wrong.push(format!(
                    "{} uses {library}, which belongs to {}",
                    member.name,
                    owners.join(", ")
                ));
            }
        }
    }
    assert_none("libraries outside their crate", wrong);
}

#[test]
fn the_server_takes_nothing_but_a_count_from_the_gateway() {
    // A reply's cost is counted on the reply as sent, which only the server has.
    let sources = files(&["crates/server/src"], &[".rs"]);
    let taken = sources.iter().flat_map(|source| {
        let names = source.text.split("engram_gateway").skip(1);
        names.map(|it| (&source.path, it.lines().next().unwrap_or_default()))
    });
    let more = taken.filter(|it| !it.1.starts_with("::count_tokens"));
    assert_none(
        "decisions in the server",
        more.map(|it| format!("{}: engram_gateway{}", it.0, it.1))
            .collect(),
    );
}

#[test]
fn nothing_forbidden_arrives_through_others() {
    let mut wrong = Vec::new();
    for (member, libraries, why) in NEVER {
        let closure = linked_into(member);
        assert!(!closure.is_empty(), "{member} cannot use nothing");
        for library in libraries.iter().filter(|it| closure.contains(*it)) {
            wrong.push(format!("{member} contains {library}: {why}"));
        }
    }
    assert_none("libraries that must not be linked", wrong);
}

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for member in members() {
        let folder = member
            .manifest_path
            .parent()
            .unwrap()
            .strip_prefix(root())
            .unwrap();
        let folders: Vec<String> = match folder.as_str() {
            "" => vec!["src-tauri".into(), "tests".into()],
            folder => vec![folder.to_owned()],
        };
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        let text: String = files(&folders, &[".rs"])
            .into_iter()
            .map(|it| it.text)
            .collect();
        for dependency in &member.dependencies {
            let name = dependency
                .rename
                .as_ref()
                .unwrap_or(&dependency.name)
                .replace('-', "_");
            if !text.contains(&format!("{name}::")) && !text.contains(&format!("use {name}")) {
                unused.push(format!("{} declares {name}", member.name));
            }
        }
    }
    assert_none("dependencies that no source names", unused);
}

#[test]
fn shared_versions_are_used() {
    let table = read("Cargo.toml");
    let table = table
        .split("[workspace.dependencies]")
        .nth(1)
        .unwrap()
        .split("\n[")
        .next()
        .unwrap();
    let names = table
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|it| it.0.trim());
    let used: BTreeSet<&str> = members()
        .flat_map(|it| &it.dependencies)
        .map(|it| it.name.as_str())
        .collect();
    let unused = names
        .filter(|it| !it.starts_with('#') && !used.contains(it))
        .map(str::to_owned);
    assert_none(
        "[workspace.dependencies] that no member uses",
        unused.collect(),
    );
}

#[test]
fn the_number_of_packages_only_falls() {
    // Lower a ceiling when the number falls; raise it only for good reason, and say so in the
    // changelog.
    for (lock, ceiling) in [("Cargo.lock", PACKAGES), ("ui/Cargo.lock", UI_PACKAGES)] {
        let count = read(lock).matches("\n[[package]]").count();
        assert!(
            count <= ceiling,
            "{lock}: {count} packages, {ceiling} are allowed"
        );
        assert!(
            count + 15 > ceiling,
            "{lock}: {count} packages; lower the ceiling from {ceiling}"
        );
    }
}

const PACKAGES: usize = 636;
const UI_PACKAGES: usize = 190;

/// Returns the modules of its own crate that a source names, in `crate::` paths and lists of them.
fn modules_named(text: &str) -> BTreeSet<&str> {
    fn word(text: &str) -> &str {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        &text[..end.unwrap_or(text.len())]
    }
    let mut named = BTreeSet::new();
    for (at, path) in text.match_indices("crate::") {
        let is_other = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = &text[at + path.len()..];
        let Some(list) = rest.strip_prefix('{').filter(|_| !is_other) else {
            named.insert(word(rest));
            continue;
        };
        let (mut depth, mut is_first) = (1, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => is_first = true,
                c if is_first && !c.is_whitespace() => {
                    named.insert(word(&list[at..]));
                    is_first = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    named
}

/// Returns the types that the root of a crate declares itself.
fn types_declared(root: &str) -> Vec<&str> {
    let lines = root.lines().filter_map(|line| {
        let rest = line
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ");
        let name = rest
            .strip_prefix("struct ")
            .or(rest.strip_prefix("enum "))?;
        name.split(|it: char| !it.is_alphanumeric()).next()
    });
    lines.collect()
}

#[test]
fn modules_of_the_engine_use_only_those_below_them() {
    let mut found = Vec::new();
    for (folder, modules) in [
        ("crates/engine/src/", ENGINE),
        ("crates/server/src/", SERVER),
    ] {
        let root = read(format!("{folder}lib.rs"));
        let declared = types_declared(&root);
        for source in files(&[folder], &[".rs"]) {
            let below = source.path.strip_prefix(folder).unwrap_or_default();
            let own = below.split(['/', '.']).next().unwrap_or_default();
            let Some(place) = modules.iter().position(|it| *it == own) else {
                if !["lib", "memory"].contains(&own) {
                    found.push(format!("{}: not in the list of modules", source.path));
                }
                continue;
            };
            for other in modules_named(&source.text) {
                let is_type = other.contains(|it: char| it.is_lowercase())
                    && other.starts_with(|it: char| it.is_uppercase());
                if is_type && !declared.contains(&other) {
                    found.push(format!(
                        "{}: crate::{other} is imported there: name its module",
                        source.path
                    ));
                }
                if modules[place + 1..].contains(&other) {
                    found.push(format!(
                        "{}: uses {other}, which is above {own}",
                        source.path
                    ));
                }
            }
        }
    }
    assert_none("modules that use one above them", found);
}

#[test]
fn modules_are_read_from_lists_and_paths() {
    let text = "use crate::{\n    Engine,\n    claims::{put, read::{self, x}},\n    context,\n};\nfn f() { crate::home::files(); }";
    let named: Vec<_> = modules_named(text).into_iter().collect();
    assert_eq!(named, ["Engine", "claims", "context", "home"]);
}

/// The files that lead to a view, and so may name it. Every part of the window may name the feed.
const LEADS: &[(&str, &[&str])] = &[
    (
        "agents",
        &[
            "frame/status_line.rs",
            "views/brief/state.rs",
            "views/requests/hand_on.rs",
        ],
    ),
    (
        "conflicts",
        &[
            "act.rs",
            "overlay/mod.rs",
            "overlay/steps.rs",
            "reading/detail.rs",
            "reading/history.rs",
            "repositories/named.rs",
            "views/agents/timeline.rs",
            "views/today/state.rs",
        ],
    ),
    ("brief", &["act.rs"]),
    (
        "drift",
        &["act.rs", "reading/detail.rs", "views/today/state.rs"],
    ),
    ("knowledge", &["act.rs", "reading/history.rs"]),
    (
        "requests",
        &["repositories/named.rs", "views/today/state.rs"],
    ),
];

/// A view has a folder, and at most three lines in `views/mod.rs`: its module, its place in the
/// rail and its state.
#[test]
fn a_view_is_a_folder() {
    const VIEWS: &str = "ui/src/app/views/";
    let sources = files(&["ui/src"], &[".rs"]);
    let folders: BTreeSet<&str> = sources
        .iter()
        .filter_map(|it| it.path.strip_prefix(VIEWS)?.split_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    assert!(folders.len() > 5, "{folders:?}");
    let mut found = Vec::new();
    for folder in folders.iter().filter(|it| **it != "feed") {
        let leads = LEADS.iter().find(|(view, _)| view == folder);
        let leads = leads.map_or(&[][..], |(_, files)| *files);
        for source in &sources {
            let path = source.path.strip_prefix("ui/src/").unwrap_or_default();
            let path = path.strip_prefix("app/").unwrap_or(path);
            let is_own = path.starts_with(&format!("views/{folder}/"));
            if is_own || path.starts_with("gallery") || leads.contains(&path) {
                continue;
            }
            let lines: Vec<usize> = source
                .lines()
                .filter(|(_, line)| names_module(line, folder))
                .map(|(number, _)| number)
                .collect();
            let most = if path == "views/mod.rs" { 3 } else { 0 };
            if lines.len() > most {
                found.push(format!(
                    "{}: names {folder} in lines {lines:?}",
                    source.path
                ));
            }
        }
    }
    assert_none("names a view outside its folder", found);
}

/// Whether a line names a module. Words of the same name in `say::` do not count.
fn names_module(line: &str, module: &str) -> bool {
    let starts = line.match_indices(module).map(|(at, _)| line.split_at(at));
    let mut starts = starts.map(|(before, rest)| (before, &rest[module.len()..]));
    starts.any(|(before, after)| {
        let is_said = before.ends_with("say::") || before.ends_with("pub mod ");
        let is_path = after.starts_with("::") || before.ends_with("mod ");
        let is_whole = !before.ends_with(|it: char| it.is_alphanumeric() || it == '_');
        is_path && is_whole && !is_said
    })
}
