//! Uncommitted evidence: `@worktree`.

use std::fs;

use engram_model::{Code, Pin, Target};
use engram_pointers::resolve;

use crate::fixture::{Fixture, Stored, sha256};

#[test]
fn a_snapshot_keeps_uncommitted_evidence() {
    let fixture = Fixture::with(&[("a.txt", b"one\ntwo\n")]);
    let head = fixture.git(&["rev-parse", "HEAD"]);
    fixture.write("a.txt", b"one\r\nchanged\n");
    let resolved = fixture.resolve("repo:a.txt#L2@worktree").unwrap();
    let snapshot = resolved.snapshot.unwrap();
    let whole = sha256(b"one\r\nchanged\n");
    assert_eq!(snapshot.bytes, b"one\r\nchanged\n");
    assert_eq!(snapshot.digest_hex, whole);
    assert_eq!(snapshot.path, "a.txt");
    assert_eq!(snapshot.base, Some(head));
    assert_eq!(snapshot.blob, fixture.git(&["hash-object", "a.txt"]));
    assert_eq!(resolved.bytes, b"changed\n");
    assert_eq!(
        resolved.pointer.to_string(),
        format!("repo:a.txt#L2@sha256:{whole}")
    );
    assert_eq!(
        resolved.pointer.digest,
        Some(format!("sha256:{}", sha256(b"changed\n")))
    );
    assert!(
        matches!(&resolved.pointer.target, Target::Repo { pin: Pin::Digest(hex), .. } if *hex == whole)
    );

    // The stored pointer still resolves without the file.
    fs::remove_file(fixture.root().join("a.txt")).unwrap();
    let mut shelf = Stored::default();
    shelf.keep(&snapshot.bytes);
    let again = resolve(Some(&fixture.repo()), &shelf, &resolved.pointer).unwrap();
    assert_eq!(again.text(), "changed\n");
    assert_eq!(again.pointer, resolved.pointer);
    assert!(again.snapshot.is_none());
}

#[test]
fn sections_and_tests_of_the_working_tree() {
    let fixture = Fixture::with(&[]);
    fixture.write("docs/new.md", b"# A\n\n# B\nb\n");
    fixture.write("t.py", b"def test_x():\n    pass\n");
    for (pointer, text) in [
        ("artifact:docs/new.md#sec=B@worktree", "# B\nb\n"),
        ("test:t.py::test_x@worktree", "def test_x():\n    pass\n"),
    ] {
        let resolved = fixture.resolve(pointer).unwrap();
        assert_eq!(resolved.text(), text, "{pointer}");
        assert!(resolved.snapshot.is_some(), "{pointer}");
    }
}

#[test]
fn ignored_files_are_not_kept() {
    let fixture = Fixture::with(&[(".gitignore", b".env\nout/\n*.log\n!kept.log\n")]);
    fixture.write(".env", b"TOKEN=1\n");
    fixture.write("out/x.txt", b"x\n");
    fixture.write("a.log", b"a\n");
    fixture.write("kept.log", b"kept\n");
    fixture.write("tracked.log", b"tracked\n");
    fixture.git(&["add", "-f", "tracked.log"]);
    for path in [".env", "out/x.txt", "a.log"] {
        fixture.refused(
            &format!("repo:{path}@worktree"),
            Code::PointerInvalid,
            "ignored",
        );
    }
    assert_eq!(fixture.text("repo:kept.log@worktree"), "kept\n");
    assert_eq!(fixture.text("repo:tracked.log@worktree"), "tracked\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".env", fixture.root().join("innocent")).unwrap();
        fixture.refused("repo:innocent@worktree", Code::PointerInvalid, "ignored");
    }
}

#[test]
fn large_and_special_files_are_not_kept() {
    let fixture = Fixture::with(&[]);
    fixture.write("at-limit.txt", b"x".repeat(16 << 20));
    fixture.write("large.txt", b"x".repeat((16 << 20) + 1));
    assert!(fixture.resolve("repo:at-limit.txt@worktree").is_ok());
    fixture.refused("repo:large.txt@worktree", Code::PointerInvalid, "Commit it");
    fixture.write("folder/x", b"x");
    fixture.refused("repo:folder@worktree", Code::PointerInvalid, "is a folder");
    fixture.refused(
        "repo:missing@worktree",
        Code::PointerNotFound,
        "does not exist",
    );
    #[cfg(unix)]
    {
        let pipe = fixture.root().join("pipe");
        let made = std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap();
        assert!(made.success());
        fixture.refused(
            "repo:pipe@worktree",
            Code::PointerInvalid,
            "not a regular file",
        );
    }
}

/// No request changes anything in the repository.
#[test]
fn asking_writes_nothing() {
    let fixture = Fixture::with(&[("a.txt", b"one\n")]);
    fixture.write("a.txt", b"two\n");
    let listing = || {
        let mut all = Vec::new();
        let mut folders = vec![fixture.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                all.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
            }
        }
        all.sort();
        all
    };
    let before = listing();
    for pointer in [
        "repo:a.txt@HEAD",
        "repo:a.txt@worktree",
        "diff:HEAD..HEAD#a.txt",
        "test:a.txt::one@HEAD",
        "repo:b@HEAD",
    ] {
        let _ = fixture.resolve(pointer);
    }
    assert_eq!(listing(), before);
}

/// Turns two paths of the working tree into links that leave it, and restores them, until told to
/// stop.
#[cfg(unix)]
fn swap(root: &std::path::Path, until: &std::sync::atomic::AtomicBool) {
    let swaps = [("file", "file-link"), ("folder", "folder-link")];
    while !until.load(std::sync::atomic::Ordering::Relaxed) {
        for (name, link) in swaps {
            for (from, to) in [(name, "away"), (link, name), (name, link), ("away", name)] {
                fs::rename(root.join(from), root.join(to)).unwrap();
            }
        }
    }
}

/// A file of the working tree is opened by handles, so the file checked is the file read.
#[cfg(unix)]
#[test]
fn who_renames_meanwhile_never_has_a_file_outside_read() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::with(&[("file", b"inside\n"), ("folder/file", b"inside\n")]);
    let outside = fixture.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "secret\n").unwrap();
    symlink(outside.join("file"), fixture.root().join("file-link")).unwrap();
    symlink(&outside, fixture.root().join("folder-link")).unwrap();
    let until = std::sync::atomic::AtomicBool::new(false);
    let repo = fixture.repo();
    let mut read = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| swap(fixture.root(), &until));
        for _ in 0..4000 {
            for pointer in ["repo:file@worktree", "repo:folder/file@worktree"] {
                let pointer = pointer.parse().unwrap();
                if let Ok(resolved) = resolve(Some(&repo), &Stored::default(), &pointer) {
                    read += usize::from(resolved.text() == "secret\n");
                }
            }
        }
        until.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(read, 0, "reads of a file outside, of 8000");
}

/// A name that a file system may take for `.git` leads nowhere, itself or through a link.
#[cfg(unix)]
#[test]
fn no_spelling_of_gits_own_folder_is_read() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    for (at, folder) in [
        ".g\u{200c}it",
        "GIT~1",
        "git~1",
        ".GIT",
        ".git. ",
        ".git::$DATA",
    ]
    .into_iter()
    .enumerate()
    {
        fs::create_dir(fixture.root().join(folder)).unwrap();
        fixture.write(&format!("{folder}/config"), b"secret\n");
        std::os::unix::fs::symlink(folder, fixture.root().join(format!("link{at}"))).unwrap();
        for path in [format!("{folder}/config"), format!("link{at}/config")] {
            let pointer = format!("repo:{path}@worktree");
            fixture.refused(&pointer, Code::PointerInvalid, "");
        }
    }
}

/// Links are followed as by an operating system: up and down, through links to folders, and by
/// absolute links that stay inside.
#[cfg(unix)]
#[test]
fn links_that_stay_inside_are_followed() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::with(&[("a/b/file", b"text\n"), ("c/other", b"other\n")]);
    let root = fixture.root();
    for (target, link) in [
        (root.join("a/b"), "absolute"),
        ("a".into(), "short"),
        ("../a/b/../../short/b/file".into(), "c/round"),
        ("short/b/..".into(), "back"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    for path in ["absolute/file", "short/b/file", "c/round", "back/b/file"] {
        assert_eq!(
            fixture.text(&format!("repo:{path}@worktree")),
            "text\n",
            "{path}"
        );
    }
    for (target, link) in [
        ("back/../../foo/a", "up"),
        ("..", "out"),
        ("short/../..", "far"),
    ] {
        symlink(target, root.join(link)).unwrap();
        let pointer = format!("repo:{link}/b/file@worktree");
        fixture.refused(&pointer, Code::PointerInvalid, "leaves");
    }
}
