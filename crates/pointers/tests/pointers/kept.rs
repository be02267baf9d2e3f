//! The refs that keep pinned commits from being collected.

use std::{fs, io::Write, path::PathBuf, process::Stdio};

use engram_kit::git_command;
use engram_model::Code;
use engram_pointers::{Anchors, PinnedSpan, SpanOrigin, resolve, track::Span};

use crate::fixture::{Fixture, Stored, git, refused};

/// Makes a repository; returns it with its newest commit and the folder of the refs that keep
/// commits.
fn make_fixture() -> (Fixture, String, PathBuf) {
    let fixture = Fixture::with(&[("a.rs", b"one\n")]);
    let head = fixture.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let refs = fixture.root().join(".git/refs/engram/keep");
    (fixture, head, refs)
}

/// Asserts that the commit is kept, and that nothing new is left beside its ref.
#[track_caller]
fn assert_kept(fixture: &Fixture, head: &str, left: &[String]) {
    let name = format!("refs/engram/keep/{head}");
    assert_eq!(git(fixture.root(), &["rev-parse", &name]).trim(), head);
    git(fixture.root(), &["fsck", "--strict"]);
    let found = fs::read_dir(fixture.root().join(".git/refs/engram/keep")).unwrap();
    let found = found.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = found.collect();
    let mut all: Vec<String> = left.iter().cloned().chain([head.to_owned()]).collect();
    found.sort();
    all.sort();
    assert_eq!(found, all);
}

#[test]
fn what_a_killed_process_left_does_not_stop_the_next() {
    let own = std::process::id();
    for text in ["", "half of"] {
        let (fixture, head, refs) = make_fixture();
        fs::create_dir_all(&refs).unwrap();
        let left = [format!("{head}.lock"), format!("{head}.1-0.lock")];
        // Another process had the same id.
        let ours = (0..64).map(|it| format!("{head}.{own}-{it}.lock"));
        let all: Vec<String> = left.iter().cloned().chain(ours).collect();
        for name in &all {
            fs::write(refs.join(name), text).unwrap();
        }
        fixture.repo().keep_commit(&head).unwrap();
        let stayed: Vec<String> = all
            .into_iter()
            .filter(|it| refs.join(it).exists())
            .collect();
        assert!(
            stayed.len() >= 65,
            "at most one temporary file was replaced"
        );
        assert_kept(&fixture, &head, &stayed);
        fixture.repo().keep_commit(&head).unwrap();
    }
}

#[test]
fn a_ref_that_a_crash_left_empty_is_written_again() {
    let (fixture, head, refs) = make_fixture();
    fs::create_dir_all(&refs).unwrap();
    fs::write(refs.join(&head), "").unwrap();
    fixture.repo().keep_commit(&head).unwrap();
    assert_kept(&fixture, &head, &[]);
}

#[test]
fn many_keep_the_same_commit_at_once() {
    let (fixture, head, _) = make_fixture();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| fixture.repo().keep_commit(&head).unwrap());
        }
    });
    assert_kept(&fixture, &head, &[]);
}

/// A ref named after one commit that leads to another keeps neither.
#[test]
fn a_ref_that_leads_elsewhere_is_written_again() {
    let (fixture, head, refs) = make_fixture();
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
    let other = fixture.git(&["rev-parse", "HEAD"]).trim().to_owned();
    for (text, packed) in [
        (&other, false),
        (&other, true),
        (&"ref: HEAD".to_owned(), false),
    ] {
        fs::create_dir_all(&refs).unwrap();
        fs::write(refs.join(&head), format!("{text}\n")).unwrap();
        if packed {
            fixture.git(&["pack-refs", "--all"]);
        }
        assert!(!fixture.repo().keeps_commit(&head));
        fixture.repo().keep_commit(&head).unwrap();
        assert!(fixture.repo().keeps_commit(&head));
        assert_kept(&fixture, &head, &[]);
    }
}

/// A commit made in memory to follow lines is not part of the repository, even for a caller who
/// guesses its id.
#[test]
fn a_commit_that_exists_in_memory_alone_is_no_evidence() {
    let (fixture, head, refs) = make_fixture();
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
    let mut stored = Stored::default();
    let kept = PinnedSpan {
        origin: SpanOrigin::Kept {
            digest_hex: stored.keep(b"two\n"),
            base: Some(head.clone()),
        },
        span: Span {
            path: "a.rs".to_owned(),
            start: 1,
            end: 1,
        },
    };
    let repo = fixture.repo();
    Anchors::default()
        .standings(&repo, &stored, &[kept])
        .unwrap();
    let made = make_elsewhere(&fixture, &head, "a.rs", b"two\n");
    assert!(repo.has_commit(&made), "the test guessed the right id");
    for pointer in [
        format!("repo:a.rs#L1@{made}"),
        format!("repo:a.rs#L1@{}", &made[..12]),
        format!("diff:{head}..{made}#a.rs"),
        format!("diff:{made}..{head}#a.rs"),
    ] {
        let found = resolve(Some(&repo), &stored, &pointer.parse().unwrap());
        refused(found, &pointer, Code::PointerNotFound, "there is no commit");
    }
    refused(
        repo.keep_commit(&made),
        &made,
        Code::PointerNotFound,
        "there is no commit",
    );
    assert!(!refs.join(&made).exists());
    let real = resolve(
        Some(&repo),
        &stored,
        &format!("repo:a.rs#L1@{made}~1").parse().unwrap(),
    );
    assert_eq!(real.unwrap().bytes, b"one\n");
}

/// Returns the id of the commit that is made in memory, by making the same one with git in a clone.
fn make_elsewhere(fixture: &Fixture, parent: &str, path: &str, bytes: &[u8]) -> String {
    let clone = fixture.beside("clone");
    git(
        fixture.root(),
        &["clone", "-q", ".", clone.to_str().unwrap()],
    );
    git(&clone, &["checkout", "-q", parent]);
    fs::write(clone.join(path), bytes).unwrap();
    git(&clone, &["add", "-A"]);
    let tree = git(&clone, &["write-tree"]);
    let mut commit = git_command(&clone);
    for who in ["AUTHOR", "COMMITTER"] {
        commit
            .env(format!("GIT_{who}_NAME"), "engram")
            .env(format!("GIT_{who}_EMAIL"), "engram")
            .env(format!("GIT_{who}_DATE"), "@0 +0000");
    }
    commit.args(["commit-tree", tree.trim(), "-p", parent]);
    let mut running = commit
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    running.stdin.take().unwrap().write_all(b"kept").unwrap();
    let output = running.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
