//! Puts hostile bytes everywhere in a repository: no request panics, runs for ever or reads
//! anything outside. Each check takes its input as bytes, so that a fuzzer can call it too.

use std::{
    fs,
    sync::{Mutex, OnceLock},
};

use engram_model::{Pin, Pointer, Target};
use engram_pointers::{
    Anchors, PinnedSpan, Repo, SpanOrigin, resolve, source, standing_of, track::Span,
};
use proptest::prelude::*;

use crate::fixture::{Fixture, Stored, view_around};

/// Files of a repository that are read to reach evidence.
const FILES: [&str; 14] = [
    ".git/HEAD",
    ".git/config",
    ".git/packed-refs",
    ".git/index",
    ".git/commondir",
    ".git/gitdir",
    ".git/shallow",
    ".git/objects/info/alternates",
    ".git/info/exclude",
    ".git/refs/heads/main",
    ".git/logs/HEAD",
    ".gitignore",
    ".gitattributes",
    "linked/.git",
];

/// The parts of such files, and names that lead elsewhere.
const WORDS: [&str; 30] = [
    "ref: ",
    "refs/heads/main",
    "../../victim/.git",
    "/",
    "..",
    ".",
    "gitdir: ",
    "[core]",
    "[include]",
    "path = ",
    "worktree = ",
    "bare = true",
    "\n",
    "\t",
    " ",
    "\0",
    "*",
    "**/",
    "!",
    "\\",
    "[",
    "]",
    "# pack-refs with: peeled \n",
    "0123456789012345678901234567890123456789",
    "DIRC\0\0\0\x02",
    "text",
    "filter=lfs",
    "config",
    "HEAD",
    "\u{202e}",
];

fn word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => proptest::sample::select(&WORDS[..]).prop_map(|it| it.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..12),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(word(), 0..16).prop_map(|it| it.concat())
}

/// Makes a repository beside one that belongs to somebody else.
fn make_fixture() -> Fixture {
    let fixture = Fixture::with(&[("a.txt", b"one\r\ntwo\n"), ("folder/b.txt", b"b\n")]);
    let victim = fixture.beside("victim");
    fs::create_dir_all(&victim).unwrap();
    fs::write(victim.join("a.txt"), "secret\n").unwrap();
    crate::fixture::git(&victim, &["init", "-q"]);
    crate::fixture::git(&victim, &["add", "."]);
    crate::fixture::git(&victim, &["commit", "-q", "-m", "secret"]);
    fixture.write("a.txt", b"one\r\nchanged\n");
    fixture
}

/// Requests evidence in every way. No content of the other repository may come back, unless this
/// one was found to lead outside.
fn ask_everything(repo: &Repo) {
    let shelf = Stored::default();
    let is_its_own = repo.is_named_back() && repo.reads_outside().is_none();
    for pointer in [
        "repo:a.txt@HEAD",
        "repo:a.txt#L1@worktree",
        "repo:folder/b.txt@main",
        "diff:main..HEAD#a.txt",
    ] {
        let pointer: Pointer = pointer.parse().unwrap();
        if let Ok(found) = resolve(Some(repo), &shelf, &pointer) {
            assert!(!is_its_own || !found.text().contains("secret"), "{pointer}");
        }
        let _ = source(Some(repo), &shelf, &pointer, view_around(3));
        let _ = standing_of(Some(repo), &shelf, &pointer);
    }
    let pinned = PinnedSpan {
        origin: SpanOrigin::Commit("HEAD".to_owned()),
        span: Span {
            path: "a.txt".to_owned(),
            start: 1,
            end: 1,
        },
    };
    let _ = Anchors::default().standings(repo, &shelf, &[pinned]);
}

/// Puts these bytes in a file of a repository.
fn any_file(name: &str, bytes: &[u8]) {
    static FIXTURE: OnceLock<Mutex<Fixture>> = OnceLock::new();
    let fixture = FIXTURE.get_or_init(|| Mutex::new(make_fixture()));
    let fixture = fixture.lock().unwrap_or_else(|it| it.into_inner());
    let path = fixture.root().join(name);
    let before = fs::read(&path).ok();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    let opened = [
        Repo::open(fixture.root()).ok(),
        Repo::discover(path.parent().unwrap()).ok().flatten(),
    ];
    opened.iter().flatten().for_each(ask_everything);
    match before {
        Some(bytes) => fs::write(&path, bytes).unwrap(),
        None => fs::remove_file(&path).unwrap(),
    }
}

/// Resolves the revision that these bytes spell.
fn any_revision(bytes: &[u8]) {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    let repo = FIXTURE.get_or_init(make_fixture).repo();
    let rev = String::from_utf8_lossy(bytes).into_owned();
    let targets = [
        Target::Repo {
            path: "a.txt".to_owned(),
            lines: None,
            pin: Pin::Rev(rev.clone()),
        },
        Target::Diff {
            base: rev.clone(),
            head: "HEAD".to_owned(),
            path: "a.txt".to_owned(),
            lines: None,
        },
    ];
    for target in targets {
        let pointer = Pointer {
            target,
            digest: None,
        };
        let found = resolve(Some(&repo), &Stored::default(), &pointer);
        assert!(
            !found.is_ok_and(|it| it.text().contains("secret")),
            "{rev:?}"
        );
    }
}

/// Reads the path of the working tree that these bytes spell.
fn any_path(bytes: &[u8]) {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    let repo = FIXTURE.get_or_init(make_fixture).repo();
    for pin in [Pin::Worktree, Pin::Rev("HEAD".to_owned())] {
        let target = Target::Repo {
            path: String::from_utf8_lossy(bytes).into_owned(),
            lines: None,
            pin,
        };
        let pointer = Pointer {
            target,
            digest: None,
        };
        let found = resolve(Some(&repo), &Stored::default(), &pointer);
        assert!(
            !found.is_ok_and(|it| it.text().contains("secret")),
            "{pointer:?}"
        );
    }
}

fn config_of(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config_of(150))]

    #[test]
    fn no_file_of_a_repository_leads_outside_or_never_ends(
        name in proptest::sample::select(&FILES[..]),
        bytes in bytes(),
    ) {
        any_file(name, &bytes);
    }
}

proptest! {
    #![proptest_config(config_of(300))]

    #[test]
    fn no_revision_leads_outside_or_never_ends(
        parts in proptest::collection::vec(prop_oneof![
            proptest::sample::select(&["HEAD", "main", "@", "^", "~", "{", "}", "@{", "^{", "^{/", "1", "-1", "99999999999", "u", "..", "/", "refs/heads/", "a", "(a*)*", ":", ":/"][..]).prop_map(str::to_owned),
            "\\PC{0,3}",
        ], 0..8),
    ) {
        any_revision(parts.concat().as_bytes());
    }

    #[test]
    fn no_path_leads_outside(
        parts in proptest::collection::vec(prop_oneof![
            proptest::sample::select(&["a.txt", "folder", "..", ".", "/", "/", "victim", ".git", "config", "\\", "\0", ".GIT ", "git~1"][..]).prop_map(str::to_owned),
            "\\PC{0,3}",
        ], 0..8),
    ) {
        any_path(parts.concat().as_bytes());
    }
}
