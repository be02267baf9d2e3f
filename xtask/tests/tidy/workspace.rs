//! What the tests read: the manifests as cargo resolves them, and the files of this checkout.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::shape::sources::lines_of_tests;

/// The front end is a separate workspace, for another platform.
const UI: &str = "ui/Cargo.toml";
const WASM: &str = "wasm32-unknown-unknown";

/// The metadata of the product's workspace and of the front end's, with all resolved dependencies.
pub static WORKSPACES: LazyLock<[Metadata; 2]> =
    LazyLock::new(|| [metadata("Cargo.toml", &host()), metadata(UI, WASM)]);

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn host() -> String {
    let version = Command::new("rustc").arg("-vV").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}

fn metadata(manifest: &str, platform: &str) -> Metadata {
    // A build does not fetch packages for other platforms, and a test uses no network.
    let options = ["--offline", "--locked", "--filter-platform", platform];
    MetadataCommand::new()
        .manifest_path(root().join(manifest))
        .other_options(options.map(str::to_owned))
        .exec()
        .unwrap_or_else(|error| {
            panic!("{manifest}: {error}; run `cargo xtask test`, which builds it first")
        })
}

/// Returns every member of both workspaces.
pub fn members() -> impl Iterator<Item = &'static Package> {
    WORKSPACES.iter().flat_map(|it| it.workspace_packages())
}

/// Returns what a member depends on, apart from its tests.
pub fn dependencies_of(package: &Package) -> BTreeSet<&str> {
    let shipped = package
        .dependencies
        .iter()
        .filter(|it| it.kind != DependencyKind::Development);
    shipped.map(|it| it.name.as_str()).collect()
}

/// Returns everything linked into a member, directly or not, without its tests and build scripts.
pub fn linked_into(member: &str) -> BTreeSet<&'static str> {
    let within = WORKSPACES
        .iter()
        .find(|it| {
            it.workspace_packages()
                .iter()
                .any(|package| package.name == member)
        })
        .unwrap_or_else(|| panic!("{member} is no member"));
    let names: BTreeMap<_, _> = within
        .packages
        .iter()
        .map(|it| (&it.id, it.name.as_str()))
        .collect();
    let nodes: BTreeMap<_, _> = within
        .resolve
        .iter()
        .flat_map(|it| &it.nodes)
        .map(|it| (&it.id, it))
        .collect();
    let mut open: Vec<_> = names
        .iter()
        .filter(|it| *it.1 == member)
        .map(|it| *it.0)
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        for dependency in &nodes[id].deps {
            let normal = dependency
                .dep_kinds
                .iter()
                .any(|it| it.kind == DependencyKind::Normal);
            if normal && seen.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    seen.into_iter().map(|id| names[id]).collect()
}

/// One text file of the checkout.
pub struct Source {
    /// The path relative to the root, with `/`.
    pub path: String,
    pub text: String,
}

impl Source {
    /// The part that ships: without tests and shared test code. In Rust, lines of tests are blank.
    pub fn product(&self) -> Cow<'_, str> {
        if self.path.contains("/tests/")
            || self.path.starts_with("crates/kit/")
            || self.path.ends_with("/tests.rs")
        {
            return Cow::Borrowed("");
        }
        if !self.path.ends_with(".rs") {
            return Cow::Borrowed(&self.text);
        }
        let syntax = syn::parse_file(&self.text);
        let tests = lines_of_tests(&syntax.unwrap_or_else(|it| panic!("{}: {it}", self.path)));
        let shown = self.lines().map(|(number, line)| {
            let is_test = tests.iter().any(|it| (it.0..=it.1).contains(&number));
            if is_test { "" } else { line }
        });
        Cow::Owned(shown.collect::<Vec<_>>().join("\n"))
    }

    /// The lines, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
    }
}

/// Returns the files below these folders that have one of these endings, except in folders of
/// generated files.
pub fn files(folders: &[&str], endings: &[&str]) -> Vec<Source> {
    files_of(root(), folders, endings)
}

/// Returns the same for any checkout.
pub fn files_of(root: &Path, folders: &[&str], endings: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    for folder in folders {
        walk(root, &root.join(folder), endings, &mut found);
    }
    assert!(
        !found.is_empty(),
        "nothing ends in {endings:?} below {folders:?}"
    );
    found
}

fn walk(root: &Path, path: &Path, endings: &[&str], found: &mut Vec<Source>) {
    const NOT_OURS: &[&str] = &["target", "dist", ".git", "gen", "node_modules"];
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        if NOT_OURS.contains(&&*name) {
            return;
        }
        let mut inside: Vec<PathBuf> = fs::read_dir(path)
            .unwrap()
            .map(|it| it.unwrap().path())
            .collect();
        inside.sort();
        inside.iter().for_each(|it| walk(root, it, endings, found));
    } else if endings.iter().any(|it| name.ends_with(it)) {
        let relative = path.strip_prefix(root).unwrap();
        found.push(Source {
            path: relative.to_string_lossy().replace('\\', "/"),
            text: String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
        });
    }
}

/// Fails if there are findings, and lists all of them.
pub fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}
