//! Everything acknowledged as verified is found again: after files changed, after history was
//! rewritten and collected, and in a git folder that cannot take refs.

use std::path::Path;

use engram_kit::{Repository, git, write};
use engram_model::Evidence;
use sha2::{Digest, Sha256};

use crate::fixture::{
    Sandbox, USER, draft_citing,
    evidence::{AT_HEAD, FILE, ON_DISK, Refs, amend, collect_garbage},
};

/// Changes a file and commits the change.
fn commit_second(at: &Path) {
    write(&at.join(FILE), "fn commit_second() {}\n");
    write(&at.join("docs/guide.md"), "# Guide\n\n## Rules\n\nOne.\n");
    write(
        &at.join("tests/t.rs"),
        "#[test]\nfn works() {\n    assert!(true);\n}\n",
    );
    git(at, &["add", "-A"]);
    git(at, &["commit", "-qm", "second"]);
}

fn take_back(at: &Path) {
    git(at, &["reset", "-q", "--hard", "HEAD~1"]);
}

/// How something is verified, and how it is lost afterwards.
struct Case {
    name: &'static str,
    /// Where it is claimed, in the folder of the test.
    at: &'static str,
    /// Where it is read later.
    later: &'static str,
    /// Prepares the repository at `repo`, and the rest of the folder.
    begin: fn(&Path),
    pointer: &'static str,
    lose: fn(&Path),
}

/// A case that is claimed and read in the repository itself.
const fn case(
    name: &'static str,
    begin: fn(&Path),
    pointer: &'static str,
    lose: fn(&Path),
) -> Case {
    let (at, later) = ("repo", "repo");
    Case {
        name,
        at,
        later,
        begin,
        pointer,
        lose,
    }
}

/// Commits that nothing but a pin keeps.
const OF_COMMITS: &[Case] = &[
    case("amended", commit_second, AT_HEAD, amend),
    case("rebased away", commit_second, AT_HEAD, take_back),
    case(
        "a test",
        commit_second,
        "test:tests/t.rs::works@HEAD",
        take_back,
    ),
    case(
        "a section",
        commit_second,
        "artifact:docs/guide.md#sec=Rules@HEAD",
        take_back,
    ),
    case(
        "a document",
        commit_second,
        "artifact:docs/guide.md@HEAD",
        take_back,
    ),
    case(
        "a branch that is deleted",
        |at| {
            git(at, &["checkout", "-qb", "side"]);
            commit_second(at);
            git(at, &["checkout", "-q", "main"]);
        },
        "repo:src/lib.rs#L1@side",
        |at| drop(git(at, &["branch", "-qD", "side"])),
    ),
    case(
        "a tag that moves",
        |at| {
            commit_second(at);
            git(at, &["tag", "-am", "one", "v1"]);
            take_back(at);
        },
        "repo:src/lib.rs#L1@v1",
        |at| drop(git(at, &["tag", "-fam", "two", "v1"])),
    ),
    case(
        "a detached head",
        |at| {
            git(at, &["checkout", "-q", "--detach"]);
            commit_second(at);
        },
        AT_HEAD,
        |at| drop(git(at, &["checkout", "-q", "main"])),
    ),
    case(
        "a stash",
        |at| {
            write(&at.join(FILE), "fn stashed() {}\n");
            git(at, &["stash", "-q"]);
        },
        "repo:src/lib.rs#L1@stash",
        |at| drop(git(at, &["stash", "drop", "-q"])),
    ),
    case(
        "what a reset left in the log",
        |at| {
            commit_second(at);
            take_back(at);
        },
        "repo:src/lib.rs#L1@ORIG_HEAD",
        |at| std::fs::remove_file(at.join(".git/ORIG_HEAD")).unwrap(),
    ),
    Case {
        name: "a linked worktree that is removed",
        at: "tree",
        later: "repo",
        begin: |at| {
            git(at, &["worktree", "add", "-q", "../tree", "-b", "side"]);
            commit_second(&at.join("../tree"));
        },
        pointer: AT_HEAD,
        lose: |at| {
            git(at, &["worktree", "remove", "--force", "../tree"]);
            git(at, &["branch", "-qD", "side"]);
        },
    },
    Case {
        name: "a submodule",
        at: "repo/sub",
        later: "repo/sub",
        begin: |at| {
            Repository::with(at.join("../sub"), &[(FILE, b"fn first() {}\n")]);
            git(at, &["submodule", "add", "-q", "../sub", "sub"]);
            commit_second(&at.join("sub"));
        },
        pointer: AT_HEAD,
        lose: |at| take_back(&at.join("sub")),
    },
    Case {
        name: "a shallow clone",
        at: "shallow",
        later: "shallow",
        begin: |at| {
            commit_second(at);
            let from = format!("file://{}", at.display());
            let to = at.join("../shallow");
            git(
                at,
                &["clone", "-q", "--depth", "1", &from, to.to_str().unwrap()],
            );
        },
        pointer: AT_HEAD,
        lose: |at| amend(&at.join("../shallow")),
    },
    Case {
        name: "a bare repository",
        at: "bare",
        later: "bare",
        begin: |at| {
            commit_second(at);
            git(at, &["clone", "-q", "--bare", ".", "../bare"]);
        },
        pointer: AT_HEAD,
        lose: |at| {
            let bare = at.join("../bare");
            git(&bare, &["update-ref", "refs/heads/main", "main~1"]);
        },
    },
];

/// A diff has no copy.
const OF_TWO_COMMITS: &[Case] = &[case(
    "a diff",
    commit_second,
    "diff:HEAD~1..HEAD#src/lib.rs",
    take_back,
)];

/// Files that were never committed, or that differed from their commit when they were read.
const OF_FILES: &[Case] = &[
    case(
        "changed",
        |at| write(&at.join("src/new.rs"), "fn new() {}\n"),
        ON_DISK,
        |at| write(&at.join("src/new.rs"), "fn other() {}\n"),
    ),
    case(
        "renamed",
        |at| write(&at.join("src/new.rs"), "fn new() {}\n"),
        ON_DISK,
        |at| std::fs::rename(at.join("src/new.rs"), at.join("src/old.rs")).unwrap(),
    ),
    case(
        "staged, then dropped",
        |at| {
            write(&at.join("src/new.rs"), "fn new() {}\n");
            git(at, &["add", "-A"]);
        },
        ON_DISK,
        |at| drop(git(at, &["rm", "-qf", "src/new.rs"])),
    ),
    case(
        "ended by CRLF on disk alone",
        |at| {
            git(at, &["config", "core.autocrlf", "true"]);
            write(&at.join("src/new.rs"), "fn new() {}\r\nfn two() {}\r\n");
        },
        ON_DISK,
        |at| {
            git(at, &["add", "-A"]);
            git(at, &["commit", "-qm", "new"]);
            write(&at.join("src/new.rs"), "fn other() {}\r\n");
        },
    ),
    case(
        "kept by LFS",
        |at| {
            write(&at.join(".gitattributes"), "src/new.rs filter=lfs -text\n");
            write(&at.join("src/new.rs"), "fn new() {}\n");
        },
        ON_DISK,
        |at| std::fs::remove_file(at.join("src/new.rs")).unwrap(),
    ),
    Case {
        name: "of a linked worktree that is removed",
        at: "tree",
        later: "repo",
        begin: |at| {
            git(at, &["worktree", "add", "-q", "../tree", "-b", "side"]);
            write(&at.join("../tree/src/new.rs"), "fn new() {}\n");
        },
        pointer: ON_DISK,
        lose: |at| drop(git(at, &["worktree", "remove", "--force", "../tree"])),
    },
    Case {
        name: "before the first commit",
        at: "unborn",
        later: "unborn",
        begin: |at| {
            let unborn = Repository::init(at.join("../unborn"));
            unborn.write("src/new.rs", "fn new() {}\n");
        },
        pointer: ON_DISK,
        lose: |at| {
            let unborn = at.join("../unborn");
            write(&unborn.join("src/new.rs"), "fn other() {}\n");
            git(&unborn, &["add", "-A"]);
            git(&unborn, &["commit", "-qm", "first"]);
        },
    },
];

#[test]
fn what_was_verified_is_found_when_history_and_files_are_gone() {
    for refs in Refs::ALL {
        let whole = (*refs == Refs::Written).then_some(OF_TWO_COMMITS);
        for case in OF_COMMITS
            .iter()
            .chain(OF_FILES)
            .chain(whole.into_iter().flatten())
        {
            let name = format!("{}, refs {refs:?}", case.name);
            let sandbox = Sandbox::new();
            let repo = sandbox.path("repo");
            (case.begin)(&repo);
            refs.prepare(&sandbox, &sandbox.path(case.at));
            let engine = sandbox.open_at(case.at, 1);
            let stored = engine.put(&USER, draft_citing("It rests on this.", case.pointer));
            let stored = stored.unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            assert!(stored.verified, "{name}");
            let pinned = engine.get(&USER, stored.id).unwrap().pointers[0].to_string();
            let read = engine.deref(&USER, &pinned).unwrap();
            drop(engine);
            (case.lose)(&repo);
            collect_garbage(&sandbox.path(case.later));
            let later = sandbox.open_at(case.later, 2);
            let again = later.deref(&USER, &pinned);
            let again = again.unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            assert_eq!(again.excerpt, read.excerpt, "{name}");
            assert_eq!(again.content_digest, read.content_digest, "{name}");
        }
    }
}

/// Sections and tests are first located in their copy, and then followed like lines.
#[test]
fn what_a_copy_was_made_of_is_followed() {
    for pointer in [
        "artifact:docs/guide.md#sec=Rules@worktree",
        "artifact:docs/guide.md@worktree",
        "test:tests/t.rs::works@worktree",
        "repo:tests/t.rs#L3@worktree",
    ] {
        let sandbox = Sandbox::new();
        let repo = sandbox.path("repo");
        commit_second(&repo);
        let engine = sandbox.open();
        let id = engine
            .put(&USER, draft_citing("It rests on this.", pointer))
            .unwrap()
            .id;
        let health = || engine.get(&USER, id).unwrap().health.map(|it| it.standing);
        assert_eq!(health(), Some(Evidence::Holds), "{pointer}");
        write(&repo.join("docs/guide.md"), "# Guide\n\n## Rules\n\nTwo.\n");
        write(
            &repo.join("tests/t.rs"),
            "#[test]\nfn works() {\n    assert!(false);\n}\n",
        );
        assert_eq!(health(), Some(Evidence::NeedsReverification), "{pointer}");
    }
}

/// A git folder that cannot be written at all: it takes neither refs nor the project's id.
#[cfg(target_os = "linux")]
#[test]
fn what_was_verified_over_a_read_only_git_folder_is_found() {
    engram_kit::with_mounts(
        "evidence::kept_content::what_was_verified_over_a_read_only_git_folder_is_found",
        || {
            let sandbox = Sandbox::new();
            let repo = sandbox.path("repo");
            let folder = repo.join(".git");
            let folder = folder.to_str().unwrap();
            let read_only = || {
                engram_kit::mount(&["--bind", folder, folder]);
                engram_kit::mount(&["-o", "remount,bind,ro", folder]);
            };
            commit_second(&repo);
            write(&repo.join("src/new.rs"), "fn new() {}\n");
            read_only();
            let digest = hex::encode(Sha256::digest("fn new() {}\n"));
            let engine = sandbox.open();
            engine.deref(&USER, ON_DISK).unwrap();
            let by_digest = format!("repo:src/new.rs#L1@sha256:{digest}");
            let said = [AT_HEAD, &by_digest, "test:tests/t.rs::works@HEAD"];
            let pinned = said.map(|on| {
                let stored = engine
                    .put(&USER, draft_citing(&format!("On {on}."), on))
                    .unwrap();
                assert!(stored.verified);
                let pointer = engine.get(&USER, stored.id).unwrap().pointers.remove(0);
                (
                    pointer.to_string(),
                    engine.deref(&USER, on).unwrap().excerpt,
                )
            });
            drop(engine);
            // Its owner continues elsewhere.
            assert!(
                std::process::Command::new("umount")
                    .arg(folder)
                    .status()
                    .unwrap()
                    .success()
            );
            write(&repo.join("src/new.rs"), "fn other() {}\n");
            amend(&repo);
            collect_garbage(&repo);
            read_only();
            let later = sandbox.open_at("repo", 2);
            for (pointer, excerpt) in &pinned {
                assert_eq!(later.deref(&USER, pointer).unwrap().excerpt, *excerpt);
            }
        },
    );
}
