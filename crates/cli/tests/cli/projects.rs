//! Which project a repository belongs to: its id is created once, kept when it moves, and new in a
//! clone.

use std::{fs, path::Path};

use crate::fixture::{POINTER, Sandbox, files, git, make_repository, mount, with_mounts};

impl Sandbox {
    /// Stores something in the repository at a path; returns the project that it went to.
    #[track_caller]
    fn project_of(&self, repo: &Path) -> String {
        let repo = repo.to_str().unwrap();
        let elsewhere = self.path("elsewhere");
        let stored = self
            .run_in(
                &elsewhere,
                &[
                    "--json",
                    "--repo",
                    repo,
                    "put",
                    "--claim",
                    "Retries use full jitter.",
                    "--pointer",
                    POINTER,
                ],
            )
            .json();
        let got = self.json(&["get", stored["id"].as_str().unwrap()]);
        got["project"].as_str().unwrap().to_owned()
    }
}

#[test]
fn an_id_is_minted_once_and_shared_by_worktrees_but_not_by_clones() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    let status = |at: &Path| sandbox.run_in(at, &["status", "--json"]).json();
    assert!(
        status(&repo)["project"].get("id").is_none(),
        "asking creates no id"
    );
    let id = sandbox.project_of(&repo);
    assert_eq!(
        fs::read_to_string(repo.join(".git/engram-project"))
            .unwrap()
            .trim(),
        id
    );
    let before = files(&repo.join(".git"));
    assert_eq!(sandbox.project_of(&repo), id);
    assert_eq!(files(&repo.join(".git")), before, "written once");
    assert_eq!(
        git(&repo, &["status", "--porcelain"]),
        "",
        "git does not see it"
    );

    let linked = sandbox.path("linked");
    git(&repo, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert_eq!(sandbox.project_of(&linked), id);
    assert_eq!(status(&linked)["project"]["id"], id.as_str());
    assert_eq!(
        sandbox.project_of(&repo.join(".git")),
        id,
        "the git folder itself"
    );

    let clone = sandbox.path("clone");
    git(
        &sandbox.path("elsewhere"),
        &[
            "clone",
            "-q",
            repo.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    assert_ne!(sandbox.project_of(&clone), id);

    let moved = sandbox.path("moved");
    fs::rename(&repo, &moved).unwrap();
    assert_eq!(sandbox.project_of(&moved), id);
    let query = sandbox
        .run_in(&moved, &["query", "retries", "--json"])
        .json();
    assert_eq!(query["engrams"].as_array().unwrap().len(), 1);
}

#[test]
fn a_bare_repository_and_a_git_folder_are_repositories() {
    let sandbox = Sandbox::new();
    let bare = sandbox.path("bare.git");
    git(
        &sandbox.path("elsewhere"),
        &[
            "clone",
            "-q",
            "--bare",
            sandbox.repo().to_str().unwrap(),
            bare.to_str().unwrap(),
        ],
    );
    let elsewhere = sandbox.path("elsewhere");
    for repo in [bare, sandbox.repo().join(".git")] {
        let ask = |args: &[&str]| {
            sandbox.run_in(
                &elsewhere,
                &[&["--json", "--repo", repo.to_str().unwrap()], args].concat(),
            )
        };
        assert_eq!(
            ask(&["deref", POINTER]).json()["excerpt"],
            "    // full jitter\n    200\n"
        );
        assert_eq!(
            ask(&["deref", "artifact:README.md#sec=Notes@HEAD"]).json()["truncated"],
            false
        );
        sandbox.project_of(&repo);
        assert_eq!(ask(&["query", "retries"]).json()["verdict"], "strong");
    }
    let bare = sandbox.path("bare.git");
    let ask = sandbox.run_in(
        &elsewhere,
        &[
            "--json",
            "--repo",
            bare.to_str().unwrap(),
            "deref",
            "repo:README.md@worktree",
        ],
    );
    assert_eq!(ask.error()["code"], "POINTER_INVALID");
    sandbox
        .run_in(
            &elsewhere,
            &[
                "--json",
                "--repo",
                bare.to_str().unwrap(),
                "connect",
                "claude",
            ],
        )
        .refused("REPO_UNAVAILABLE");
}

#[test]
fn a_repository_that_is_not_there_says_so() {
    let sandbox = Sandbox::new();
    for repo in [
        "/none/such",
        sandbox.path("elsewhere").to_str().unwrap(),
        sandbox.repo().join("src").to_str().unwrap(),
    ] {
        sandbox
            .run(&["--json", "--repo", repo, "status"])
            .refused("REPO_UNAVAILABLE");
    }
}

#[test]
fn two_repositories_in_one_home_do_not_see_each_other() {
    let sandbox = Sandbox::new();
    let other = sandbox.path("other");
    make_repository(&other);
    sandbox.put("Retries use full jitter.");
    let nothing = sandbox
        .run_in(&other, &["query", "retries jitter", "--json"])
        .json();
    assert_eq!(nothing["verdict"], "none");
    assert_ne!(
        sandbox.project_of(&other),
        sandbox.project_of(&sandbox.repo())
    );
    let found = sandbox
        .run_in(&other, &["query", "retries jitter", "--json"])
        .json();
    assert_eq!(found["engrams"].as_array().unwrap().len(), 1);
}

/// If the git folder cannot be written, the home keeps the id and finds it there again.
#[test]
fn an_unwritable_git_folder_is_left_alone() {
    with_mounts("projects::an_unwritable_git_folder_is_left_alone", || {
        let sandbox = Sandbox::new();
        let repo = sandbox.repo();
        let at = repo.to_str().unwrap();
        mount(&["--bind", at, at]);
        mount(&["-o", "remount,bind,ro", at]);
        let before = files(&repo);
        let id = sandbox.project_of(&repo);
        assert_eq!(sandbox.project_of(&repo), id);
        assert_eq!(
            sandbox.json(&["query", "retries"])["engrams"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        assert_eq!(files(&repo), before);
        mount(&["-o", "remount,bind,rw", at]);
        assert_eq!(
            sandbox.project_of(&repo),
            id,
            "kept when it can be written again"
        );
    });
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in files(from) {
        engram_kit::write(&to.join(path.strip_prefix(from).unwrap()), bytes);
    }
}

/// A copy carries the id of the original. While the original exists, the user chooses whose memory
/// the copy uses.
#[test]
fn a_copied_repository_shows_nothing_of_the_original_until_the_user_says_so() {
    for (how, seen) in [("own", 0), ("share", 1)] {
        let sandbox = Sandbox::new();
        sandbox.put("Retries use full jitter.");
        let copied = sandbox.path("copied");
        copy(&sandbox.repo(), &copied);
        for args in [
            &["query", "retries"][..],
            &["status"],
            &["feed"],
            &["put", "--claim", "More.", "--pointer", POINTER],
            &["deref", POINTER],
        ] {
            let error = sandbox.in_repo(&copied, args).error();
            assert_eq!(error["code"], "SCOPE_DENIED", "{args:?}");
            assert!(
                error["hint"]
                    .as_str()
                    .unwrap()
                    .contains("engram project own")
            );
        }
        let answer = sandbox.in_repo(&copied, &["project", how]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert_eq!(sandbox.count_found(&copied), seen, "{how}");
        assert_eq!(
            sandbox.count_found(&sandbox.repo()),
            1,
            "the original keeps its memory"
        );
        let id = sandbox.project_of(&copied);
        assert_eq!(id == sandbox.project_of(&sandbox.repo()), how == "share");
        // The copy that the user admitted does not replace the original.
        assert_eq!(sandbox.count_found(&sandbox.repo()), 1);
        assert_eq!(sandbox.count_found(&copied), 1);
        assert_eq!(sandbox.json(&["doctor", "--replay"])["ok"], true);
    }
}

/// A new id would take its memory away, and no command would bring that back.
#[test]
fn a_repository_with_its_own_memory_keeps_it() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let id = sandbox.project_of(&sandbox.repo());
    let answer = sandbox.in_repo(&sandbox.repo(), &["project", "own"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let told = sandbox.run(&["project", "own"]).out;
    assert!(
        told.starts_with("This repository has a memory of its own.\n"),
        "{told}"
    );
    assert_eq!(sandbox.project_of(&sandbox.repo()), id);
    assert_eq!(sandbox.count_found(&sandbox.repo()), 1);
    // A copy that shares another's memory can still get its own.
    let copied = sandbox.path("copied");
    copy(&sandbox.repo(), &copied);
    sandbox.in_repo(&copied, &["project", "share"]);
    assert_eq!(sandbox.count_found(&copied), 1);
    sandbox.in_repo(&copied, &["project", "own"]);
    assert_eq!(sandbox.count_found(&copied), 0);
    assert_eq!(sandbox.count_found(&sandbox.repo()), 1);
}

#[test]
fn a_copy_whose_original_is_gone_is_the_repository_that_moved() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let copied = sandbox.path("copied");
    copy(&sandbox.repo(), &copied);
    fs::remove_dir_all(sandbox.repo()).unwrap();
    assert_eq!(sandbox.count_found(&copied), 1);
}

/// A different repository at a known path begins with an empty memory; a fresh clone of the same
/// one continues with its memory.
#[test]
fn a_known_path_is_no_proof() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    sandbox.put("Retries use full jitter.");
    let clone = sandbox.path("clone");
    git(
        &sandbox.path("elsewhere"),
        &[
            "clone",
            "-q",
            repo.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    fs::rename(&repo, sandbox.path("away")).unwrap();
    engram_kit::Repository::with(&repo, &[("README.md", b"# Another\n")]);
    assert_eq!(sandbox.count_found(&repo), 0);
    fs::remove_dir_all(&repo).unwrap();
    fs::rename(&clone, &repo).unwrap();
    fs::remove_dir_all(sandbox.path("away")).unwrap();
    assert_eq!(
        sandbox.count_found(&repo),
        1,
        "its claims are pinned to commits of this one"
    );
}

/// Reading alone creates an id, which the home keeps: the next read finds the same project.
#[test]
fn what_is_only_read_is_one_project() {
    let sandbox = Sandbox::new();
    let read = || {
        sandbox.json(&["deref", POINTER]);
        sandbox.json(&["status"])["project"]["id"].clone()
    };
    let first = read();
    assert!(first.is_string());
    assert_eq!(read(), first);
    assert!(!sandbox.repo().join(".git/engram-project").exists());
}

/// Layouts that git itself creates work without a question.
#[test]
fn what_git_lays_out_works_unasked() {
    let sandbox = Sandbox::new();
    sandbox.put("Retries use full jitter.");
    let from = sandbox.repo().display().to_string();
    let separate = sandbox.path("separate.git").display().to_string();
    for (how, args) in [
        ("cloned", &["clone", "-q"][..]),
        ("copied", &["clone", "-q", "--no-hardlinks"]),
        (
            "separate",
            &["clone", "-q", "--separate-git-dir", &separate],
        ),
    ] {
        let to = sandbox.path(how);
        let ends = [from.as_str(), to.to_str().unwrap()];
        git(&sandbox.path("elsewhere"), &[args, &ends].concat());
        sandbox.assert_works(&to, how);
    }
    let outer = sandbox.path("cloned");
    let add = ["submodule", "add", "-q", &from, "sub"];
    let file = ["-c", "protocol.file.allow=always"];
    git(&outer, &[&file[..], &add].concat());
    sandbox.assert_works(&outer.join("sub"), "a submodule");
    let tree = sandbox.path("tree");
    git(&outer, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    sandbox.assert_works(&tree, "a worktree");
    // A repository that moved continues to work.
    fs::rename(sandbox.path("copied"), sandbox.path("moved")).unwrap();
    sandbox.assert_works(&sandbox.path("moved"), "one that moved");
    assert_eq!(sandbox.count_found(&sandbox.path("moved")), 2);
}

/// One folder may have two paths.
#[test]
fn a_repository_that_is_mounted_elsewhere_is_the_same() {
    with_mounts(
        "projects::a_repository_that_is_mounted_elsewhere_is_the_same",
        || {
            let sandbox = Sandbox::new();
            sandbox.put("Retries use full jitter.");
            let there = sandbox.path("mounted");
            fs::create_dir(&there).unwrap();
            let repo = sandbox.repo();
            mount(&["--bind", repo.to_str().unwrap(), there.to_str().unwrap()]);
            assert_eq!(sandbox.count_found(&there), 1);
            sandbox.assert_works(&there, "a mount");
            assert_eq!(sandbox.count_found(&repo), 2);
        },
    );
}

/// Only root can change a repository's owner, so this runs only as root.
#[cfg(unix)]
#[test]
fn a_repository_of_another_user_works_where_git_was_told_so() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repo();
    for path in [repo.clone(), repo.join(".git")] {
        if let Err(error) = std::os::unix::fs::chown(&path, Some(65_534), None) {
            println!("not shown: {error}");
            return;
        }
    }
    let put = ["--json", "put", "--claim", "More.", "--pointer", POINTER];
    assert_eq!(
        sandbox.run_in(&repo, &put).error()["code"],
        "REPO_UNAVAILABLE"
    );
    let settings = format!("[safe]\n\tdirectory = {}\n", repo.display());
    fs::write(sandbox.path("person").join(".gitconfig"), settings).unwrap();
    sandbox.assert_works(&repo, "another user's");
}
