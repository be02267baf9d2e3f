//! Checks the rules for sources: small files, plain names, no unfinished work, no I/O in pure
//! crates.

use std::{borrow::Cow, collections::BTreeSet};

use syn::{Ident, ItemUse, Path, UseTree, visit::Visit};

use crate::workspace::{Source, assert_none, files, members, read};

const OURS: &[&str] = &["crates", "src-tauri", "tests", "ui/src", "xtask"];

/// Crates that only decide and do no I/O.
const PURE: &[&str] = &[
    "crates/model/src",
    "crates/gateway/src",
    "crates/consistency/src",
];
const OUTSIDE: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::SystemTime",
    "std::time::Instant",
];

/// Where other programs may be started; everywhere else the engine does its own work.
const STARTS_PROGRAMS: &[&str] = &[
    "crates/cli/src/run.rs",
    // pip, when the user fetches a model
    "crates/meaning/src/fetch.rs",
    "src-tauri/src/editor/mod.rs",
    // starts itself with another environment
    "src-tauri/src/graphics.rs",
    "xtask/",
];

/// The files that write tables: operations that are recorded and replayed, text stored beside the
/// journal, followers' tables, and homes that are created, migrated or rebuilt.
const WRITES_TABLES: &[&str] = &[
    "journal/agents.rs",
    "journal/conflicts.rs",
    "apply.rs",
    "beside.rs",
    "carry.rs",
    "due.rs",
    "followers.rs",
    "home/schema.rs",
    "journal/mod.rs",
    "recover.rs",
    "reach.rs",
    "replay.rs",
    "sides.rs",
    "tables/vectors.rs",
];

#[test]
fn tables_are_written_in_few_places() {
    let mut found = Vec::new();
    for source in files(&["crates/store/src"], &[".rs"]) {
        if WRITES_TABLES.iter().any(|it| source.path.ends_with(it)) {
            continue;
        }
        for (number, line) in source.lines() {
            if ["INSERT ", "UPDATE ", "DELETE FROM ", "REPLACE INTO "]
                .iter()
                .any(|it| line.contains(it))
            {
                found.push(format!("{}:{number}", source.path));
            }
        }
    }
    assert_none(
        "changes that bypass the journal: record an operation",
        found,
    );
}

/// Features are functions that take a context. Methods on it would make everything available
/// everywhere.
#[test]
fn a_context_has_methods_in_its_own_file_alone() {
    let mut found = Vec::new();
    for source in files(&["crates/engine/src"], &[".rs"]) {
        let is_its_own = source.path.ends_with("engine/src/context/mod.rs");
        for (number, line) in source.lines().filter(|_| !is_its_own) {
            if line.starts_with("impl") && line.contains(" Context<") {
                found.push(format!("{}:{number}", source.path));
            }
        }
    }
    assert_none(
        "a method of the context: write a function that takes it",
        found,
    );
}

#[test]
fn files_are_small() {
    let long = files(OURS, &[".rs", ".css", ".js", ".py"]);
    let long = long
        .iter()
        .map(|it| (it, it.text.lines().count()))
        .filter(|it| it.1 > 600);
    assert_none(
        "files over 600 lines: split by what they are about",
        long.map(|(it, lines)| format!("{}: {lines}", it.path))
            .collect(),
    );
}

#[test]
fn names_say_what_a_thing_is() {
    const VAGUE: &[&str] = &["Manager", "Helper", "Util", "Utils", "Service"];
    const DECLARES: &[&str] = &["struct", "enum", "trait", "type", "mod", "union"];
    let vague = |name: &str| {
        VAGUE.iter().any(|it| {
            name.ends_with(it)
                || name.eq_ignore_ascii_case(it)
                || name.ends_with(&format!("_{}", it.to_lowercase()))
        })
    };
    let mut found = Vec::new();
    for source in files(OURS, &[".rs"]) {
        for (number, line) in source.lines() {
            let words: Vec<&str> = line
                .split(|it: char| !it.is_alphanumeric() && it != '_')
                .filter(|it| !it.is_empty())
                .collect();
            let declared = words
                .windows(2)
                .filter(|it| DECLARES.contains(&it[0]) && vague(it[1]));
            let code = !line.trim_start().starts_with("//");
            found.extend(
                declared
                    .filter(|_| code)
                    .map(|it| format!("{}:{number}: {}", source.path, it[1])),
            );
        }
    }
    assert_none("names that say nothing", found);
}

#[test]
fn nothing_is_left_unfinished() {
    // Spelled in two parts, so that this file does not find itself.
    let product = [concat!("to", "do!("), concat!("un", "implemented!(")];
    let anywhere = [
        concat!("#[ig", "nore"),
        concat!("FIX", "ME"),
        concat!("TO", "DO:"),
        concat!("X", "XX"),
    ];
    let sources = files(OURS, &[".rs", ".js", ".py", ".css"]);
    let mut found = occurrences(&sources, &product, Source::product);
    found.extend(occurrences(&sources, &anywhere, |it| {
        Cow::Borrowed(&it.text)
    }));
    assert_none(
        "unfinished work: finish it, or assert what it does today",
        found,
    );
}

#[test]
fn pure_crates_touch_nothing() {
    let mut found = Vec::new();
    for source in files(PURE, &[".rs"]) {
        let paths = paths_named(&source.product()).into_iter();
        let outside = paths.filter(|it| OUTSIDE.iter().any(|path| is_below(it, path)));
        found.extend(outside.map(|it| format!("{}: {it}", source.path)));
    }
    assert_none("I/O in a crate that only decides", found);
}

#[test]
fn a_path_is_found_in_a_list_of_imports_and_in_code() {
    let text = "use std::{collections::{BTreeMap, BTreeSet}, fs as files, io::{self, Read}};
        fn f() -> Option<std::path::PathBuf> { std::env::home_dir() }
        #[cfg(test)]
        mod tests { use std::net; }";
    let source = Source {
        path: "crates/x/src/lib.rs".to_owned(),
        text: text.to_owned(),
    };
    let found = paths_named(&source.product());
    for path in [
        "std::collections::BTreeMap",
        "std::fs",
        "std::io",
        "std::io::Read",
        "std::path::PathBuf",
        "std::env::home_dir",
    ] {
        assert!(found.contains(path), "{path}: {found:?}");
    }
    assert!(!found.contains("std::net"), "{found:?}");
    assert!(is_below("std::env::home_dir", "std::env"));
    assert!(!is_below("std::environment", "std::env"));
}

/// Whether `path` is the module or type `place`, or in it.
fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|it| it.is_empty() || it.starts_with("::"))
}

/// Returns the paths that a source imports or names, in full.
fn paths_named(text: &str) -> BTreeSet<String> {
    let mut found = PathsNamed::default();
    found.visit_file(&syn::parse_file(text).unwrap());
    found.0
}

#[derive(Default)]
struct PathsNamed(BTreeSet<String>);

impl PathsNamed {
    fn add_tree(&mut self, before: &str, tree: &UseTree) {
        let below = |name: &Ident| format!("{before}{name}");
        match tree {
            UseTree::Path(path) => {
                self.add_tree(&format!("{}::", below(&path.ident)), &path.tree);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|it| self.add_tree(before, it));
            }
            UseTree::Name(name) if name.ident == "self" => {
                self.0.insert(before.trim_end_matches("::").to_owned());
            }
            UseTree::Name(name) => {
                self.0.insert(below(&name.ident));
            }
            UseTree::Rename(name) => {
                self.0.insert(below(&name.ident));
            }
            UseTree::Glob(_) => {
                self.0.insert(before.trim_end_matches("::").to_owned());
            }
        }
    }
}

impl Visit<'_> for PathsNamed {
    fn visit_item_use(&mut self, item: &ItemUse) {
        self.add_tree("", &item.tree);
    }

    fn visit_path(&mut self, path: &Path) {
        let names = path.segments.iter().map(|it| it.ident.to_string());
        self.0.insert(names.collect::<Vec<_>>().join("::"));
        syn::visit::visit_path(self, path);
    }
}

#[test]
fn pointers_never_writes() {
    // libgit2, std and rustix offer these functions; a resolver needs none of them.
    let writes = [
        "fs::write",
        "File::create",
        "OpenOptions",
        "remove_file",
        "remove_dir",
        "create_dir",
        "fs::rename",
        "fs::copy",
        "OFlags::CREATE",
        "OFlags::WRONLY",
        "OFlags::RDWR",
        "mkdirat",
        "renameat",
        "unlinkat",
        ".odb()?.write",
        ".commit(Some",
        ".commit(None",
        ".reference(",
        ".set_head",
        ".checkout",
        ".tag(",
        ".stash",
        ".reset(",
        ".add_path(",
        ".blob_path(",
        ".treebuilder",
        ".set_str(",
    ];
    // Only `keep.rs` writes: the refs that keep pinned commits, and objects in memory.
    let mut sources = files(&["crates/pointers/src"], &[".rs"]);
    sources.retain(|it| !it.path.ends_with("keep.rs"));
    assert_none(
        "writes in the crate that only reads",
        occurrences(&sources, &writes, Source::product),
    );
}

#[test]
fn programs_are_started_in_few_places() {
    let product = files(&["crates", "src-tauri", "ui/src"], &[".rs"]);
    let found = occurrences(
        &product,
        &["Command::new", "process::Command"],
        Source::product,
    );
    let found = found
        .into_iter()
        .filter(|it| !STARTS_PROGRAMS.iter().any(|place| it.starts_with(place)));
    assert_none(
        "programs started outside the allowed files",
        found.collect(),
    );
}

#[test]
fn every_crate_says_what_it_never_does() {
    let mut silent = Vec::new();
    for member in members() {
        let purpose = member.description.as_deref().unwrap_or_default();
        if purpose.len() < 20 || !purpose.ends_with('.') {
            silent.push(format!(
                "{}: the manifest's description is no purpose: {purpose:?}",
                member.name
            ));
        }
        // Libraries and binaries. In a package with several, each needs its own opening.
        for target in member.targets.iter().filter(|it| {
            it.is_lib() || it.is_bin() || it.is_kind(cargo_metadata::TargetKind::CDyLib)
        }) {
            let text = read(target.src_path.as_std_path());
            let head: String = text
                .lines()
                .take_while(|it| it.starts_with("//!"))
                .collect();
            if !head.to_lowercase().contains("never") {
                silent.push(format!(
                    "{}: {} does not open with what it is for and never does",
                    member.name, target.src_path
                ));
            }
        }
    }
    assert_none("crates without a purpose or an invariant", silent);
}

#[test]
fn members_are_listed_with_their_purpose() {
    let manifest = read("Cargo.toml");
    let list = manifest
        .split("members = [")
        .nth(1)
        .unwrap()
        .split("\n]")
        .next()
        .unwrap();
    let bare = list
        .lines()
        .filter(|it| it.contains('"') && !it.contains("# "));
    assert_none(
        "members without a purpose line",
        bare.map(|it| it.trim().to_owned()).collect(),
    );
}

#[test]
fn members_share_the_lints() {
    let own = files(&["crates", "Cargo.toml"], &["Cargo.toml"]);
    let without = own
        .iter()
        .filter(|it| !it.text.contains("[lints]\nworkspace = true"));
    assert_none(
        "members with lints of their own",
        without.map(|it| it.path.clone()).collect(),
    );
}

#[test]
fn nothing_names_one_machine() {
    let machine = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("crates", ".io"),
        concat!("npmjs", ".com"),
        concat!("pypi", ".org"),
    ];
    let text = files(
        &["."],
        &[
            ".rs", ".md", ".toml", ".json", ".css", ".js", ".html", ".py", "run",
        ],
    );
    assert_none(
        "a path of one machine or a package host",
        occurrences(&text, &machine, |it| Cow::Borrowed(&it.text)),
    );
}

#[test]
fn cargo_builds_where_the_user_says() {
    let config = read(".cargo/config.toml");
    assert!(
        !config.contains("target-dir"),
        "the target folder is the user's choice, by CARGO_TARGET_DIR"
    );
}

/// Returns where any of these occur, as `path:line: what`.
fn occurrences<'a>(
    sources: &'a [Source],
    what: &[&str],
    part: impl Fn(&'a Source) -> Cow<'a, str>,
) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for (at, line) in part(source).lines().enumerate() {
            found.extend(
                what.iter()
                    .filter(|it| line.contains(**it))
                    .map(|it| format!("{}:{}: {it}", source.path, at + 1)),
            );
        }
    }
    found
}
