//! The refs that keep pinned commits from being collected.

use std::{fs, path::PathBuf};

use crate::fixture::{Fixture, git};

/// A repository, its newest commit, and the folder of the refs that keep commits.
fn begun() -> (Fixture, String, PathBuf) {
    let fixture = Fixture::with(&[("a.rs", b"one\n")]);
    let head = fixture.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let refs = fixture.root().join(".git/refs/engram/keep");
    (fixture, head, refs)
}

/// The commit is kept, and nothing is left beside its ref.
#[track_caller]
fn is_kept(fixture: &Fixture, head: &str, left: &[String]) {
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
        let (fixture, head, refs) = begun();
        fs::create_dir_all(&refs).unwrap();
        let left = [format!("{head}.lock"), format!("{head}.1-0.lock")];
        // Another process had our number.
        let ours = (0..64).map(|it| format!("{head}.{own}-{it}.lock"));
        let all: Vec<String> = left.iter().cloned().chain(ours).collect();
        for name in &all {
            fs::write(refs.join(name), text).unwrap();
        }
        fixture.repo().keep(&head).unwrap();
        let stayed: Vec<String> = all
            .into_iter()
            .filter(|it| refs.join(it).exists())
            .collect();
        assert!(stayed.len() >= 65, "at most the one whose name was needed");
        is_kept(&fixture, &head, &stayed);
        fixture.repo().keep(&head).unwrap();
    }
}

#[test]
fn a_ref_that_a_crash_left_empty_is_written_again() {
    let (fixture, head, refs) = begun();
    fs::create_dir_all(&refs).unwrap();
    fs::write(refs.join(&head), "").unwrap();
    fixture.repo().keep(&head).unwrap();
    is_kept(&fixture, &head, &[]);
}

#[test]
fn many_keep_the_same_commit_at_once() {
    let (fixture, head, _) = begun();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| fixture.repo().keep(&head).unwrap());
        }
    });
    is_kept(&fixture, &head, &[]);
}
