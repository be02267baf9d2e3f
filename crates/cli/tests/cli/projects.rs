//! Which project a repository belongs to: its id is created once, kept when it moves, and new in a
//! clone.

use std::{fs, path::Path};

use crate::fixture::{POINTER, Place, files, git, make_repository, mount, with_mounts};

impl Place {
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
    let place = Place::new();
    let repo = place.repo();
    let status = |at: &Path| place.run_in(at, &["status", "--json"]).json();
    assert!(
        status(&repo)["project"].get("id").is_none(),
        "asking creates no id"
    );
    let id = place.project_of(&repo);
    assert_eq!(
        fs::read_to_string(repo.join(".git/engram-project"))
            .unwrap()
            .trim(),
        id
    );
    let before = files(&repo.join(".git"));
    assert_eq!(place.project_of(&repo), id);
    assert_eq!(files(&repo.join(".git")), before, "written once");
    assert_eq!(
        git(&repo, &["status", "--porcelain"]),
        "",
        "git does not see it"
    );

    let linked = place.path("linked");
    git(&repo, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert_eq!(place.project_of(&linked), id);
    assert_eq!(status(&linked)["project"]["id"], id.as_str());
    assert_eq!(
        place.project_of(&repo.join(".git")),
        id,
        "the git folder itself"
    );

    let clone = place.path("clone");
    git(
        &place.path("elsewhere"),
        &[
            "clone",
            "-q",
            repo.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    assert_ne!(place.project_of(&clone), id);

    let moved = place.path("moved");
    fs::rename(&repo, &moved).unwrap();
    assert_eq!(place.project_of(&moved), id);
    let query = place.run_in(&moved, &["query", "retries", "--json"]).json();
    assert_eq!(query["engrams"].as_array().unwrap().len(), 1);
}

#[test]
fn a_bare_repository_and_a_git_folder_are_repositories() {
    let place = Place::new();
    let bare = place.path("bare.git");
    git(
        &place.path("elsewhere"),
        &[
            "clone",
            "-q",
            "--bare",
            place.repo().to_str().unwrap(),
            bare.to_str().unwrap(),
        ],
    );
    let elsewhere = place.path("elsewhere");
    for repo in [bare, place.repo().join(".git")] {
        let ask = |args: &[&str]| {
            place.run_in(
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
        place.project_of(&repo);
        assert_eq!(ask(&["query", "retries"]).json()["verdict"], "strong");
    }
    let bare = place.path("bare.git");
    let ask = place.run_in(
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
    place
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
    let place = Place::new();
    for repo in [
        "/none/such",
        place.path("elsewhere").to_str().unwrap(),
        place.repo().join("src").to_str().unwrap(),
    ] {
        place
            .run(&["--json", "--repo", repo, "status"])
            .refused("REPO_UNAVAILABLE");
    }
}

#[test]
fn two_repositories_in_one_home_do_not_see_each_other() {
    let place = Place::new();
    let other = place.path("other");
    make_repository(&other);
    place.put("Retries use full jitter.");
    let nothing = place
        .run_in(&other, &["query", "retries jitter", "--json"])
        .json();
    assert_eq!(nothing["verdict"], "none");
    assert_ne!(place.project_of(&other), place.project_of(&place.repo()));
    let found = place
        .run_in(&other, &["query", "retries jitter", "--json"])
        .json();
    assert_eq!(found["engrams"].as_array().unwrap().len(), 1);
}

/// If the git folder cannot be written, the home keeps the id and finds it there again.
#[test]
fn an_unwritable_git_folder_is_left_alone() {
    with_mounts("projects::an_unwritable_git_folder_is_left_alone", || {
        let place = Place::new();
        let repo = place.repo();
        let at = repo.to_str().unwrap();
        mount(&["--bind", at, at]);
        mount(&["-o", "remount,bind,ro", at]);
        let before = files(&repo);
        let id = place.project_of(&repo);
        assert_eq!(place.project_of(&repo), id);
        assert_eq!(
            place.json(&["query", "retries"])["engrams"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        assert_eq!(files(&repo), before);
        mount(&["-o", "remount,bind,rw", at]);
        assert_eq!(
            place.project_of(&repo),
            id,
            "kept when it can be written again"
        );
    });
}

impl Place {
    fn in_repo(&self, repo: &Path, args: &[&str]) -> engram_kit::CommandOutput {
        let at = ["--json", "--repo", repo.to_str().unwrap()];
        self.run_in(&self.path("elsewhere"), &[&at, args].concat())
    }

    #[track_caller]
    pub(crate) fn finds(&self, repo: &Path) -> usize {
        let found = self.in_repo(repo, &["query", "retries jitter"]).json();
        found["engrams"].as_array().unwrap().len()
    }
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
        let place = Place::new();
        place.put("Retries use full jitter.");
        let copied = place.path("copied");
        copy(&place.repo(), &copied);
        for args in [
            &["query", "retries"][..],
            &["status"],
            &["feed"],
            &["put", "--claim", "More.", "--pointer", POINTER],
            &["deref", POINTER],
        ] {
            let error = place.in_repo(&copied, args).error();
            assert_eq!(error["code"], "SCOPE_DENIED", "{args:?}");
            assert!(
                error["hint"]
                    .as_str()
                    .unwrap()
                    .contains("engram project own")
            );
        }
        let answer = place.in_repo(&copied, &["project", how]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert_eq!(place.finds(&copied), seen, "{how}");
        assert_eq!(
            place.finds(&place.repo()),
            1,
            "the original keeps its memory"
        );
        let id = place.project_of(&copied);
        assert_eq!(id == place.project_of(&place.repo()), how == "share");
        // The copy that the user admitted does not replace the original.
        assert_eq!(place.finds(&place.repo()), 1);
        assert_eq!(place.finds(&copied), 1);
        assert_eq!(place.json(&["doctor", "--replay"])["ok"], true);
    }
}

/// A new id would take its memory away, and no command would bring that back.
#[test]
fn a_repository_with_its_own_memory_keeps_it() {
    let place = Place::new();
    place.put("Retries use full jitter.");
    let id = place.project_of(&place.repo());
    let answer = place.in_repo(&place.repo(), &["project", "own"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(place.project_of(&place.repo()), id);
    assert_eq!(place.finds(&place.repo()), 1);
    // A copy that shares another's memory can still get its own.
    let copied = place.path("copied");
    copy(&place.repo(), &copied);
    place.in_repo(&copied, &["project", "share"]);
    assert_eq!(place.finds(&copied), 1);
    place.in_repo(&copied, &["project", "own"]);
    assert_eq!(place.finds(&copied), 0);
    assert_eq!(place.finds(&place.repo()), 1);
}

#[test]
fn a_copy_whose_original_is_gone_is_the_repository_that_moved() {
    let place = Place::new();
    place.put("Retries use full jitter.");
    let copied = place.path("copied");
    copy(&place.repo(), &copied);
    fs::remove_dir_all(place.repo()).unwrap();
    assert_eq!(place.finds(&copied), 1);
}

/// A different repository at a known path begins with an empty memory; a fresh clone of the same
/// one continues with its memory.
#[test]
fn a_known_path_is_no_proof() {
    let place = Place::new();
    let repo = place.repo();
    place.put("Retries use full jitter.");
    let clone = place.path("clone");
    git(
        &place.path("elsewhere"),
        &[
            "clone",
            "-q",
            repo.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    fs::rename(&repo, place.path("away")).unwrap();
    engram_kit::Repository::with(&repo, &[("README.md", b"# Another\n")]);
    assert_eq!(place.finds(&repo), 0);
    fs::remove_dir_all(&repo).unwrap();
    fs::rename(&clone, &repo).unwrap();
    fs::remove_dir_all(place.path("away")).unwrap();
    assert_eq!(
        place.finds(&repo),
        1,
        "its claims are pinned to commits of this one"
    );
}

/// Reading alone creates an id, which the home keeps: the next read finds the same project.
#[test]
fn what_is_only_read_is_one_project() {
    let place = Place::new();
    let read = || {
        place.json(&["deref", POINTER]);
        place.json(&["status"])["project"]["id"].clone()
    };
    let first = read();
    assert!(first.is_string());
    assert_eq!(read(), first);
    assert!(!place.repo().join(".git/engram-project").exists());
}

/// Stores and finds from within a folder, as a person who works there does.
#[track_caller]
pub(crate) fn works(place: &Place, repo: &Path, how: &str) {
    let claim = format!("Retries in {how} use jitter.");
    let stored = place.run_in(
        repo,
        &["--json", "put", "--claim", &claim, "--pointer", POINTER],
    );
    assert_eq!(stored.code, Some(0), "{how}: {stored:?}");
    let found = place.run_in(repo, &["--json", "query", "retries jitter"]);
    assert!(
        found.json().to_string().contains(&claim),
        "{how}: {found:?}"
    );
}

/// Layouts that git itself creates work without a question.
#[test]
fn what_git_lays_out_works_unasked() {
    let place = Place::new();
    place.put("Retries use full jitter.");
    let from = place.repo().display().to_string();
    let separate = place.path("separate.git").display().to_string();
    for (how, args) in [
        ("cloned", &["clone", "-q"][..]),
        ("copied", &["clone", "-q", "--no-hardlinks"]),
        (
            "separate",
            &["clone", "-q", "--separate-git-dir", &separate],
        ),
    ] {
        let to = place.path(how);
        let ends = [from.as_str(), to.to_str().unwrap()];
        git(&place.path("elsewhere"), &[args, &ends].concat());
        works(&place, &to, how);
    }
    let outer = place.path("cloned");
    let add = ["submodule", "add", "-q", &from, "sub"];
    let file = ["-c", "protocol.file.allow=always"];
    git(&outer, &[&file[..], &add].concat());
    works(&place, &outer.join("sub"), "a submodule");
    let tree = place.path("tree");
    git(&outer, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    works(&place, &tree, "a worktree");
    // A repository that moved continues to work.
    fs::rename(place.path("copied"), place.path("moved")).unwrap();
    works(&place, &place.path("moved"), "one that moved");
    assert_eq!(place.finds(&place.path("moved")), 2);
}

/// One folder may have two paths.
#[test]
fn a_repository_that_is_mounted_elsewhere_is_the_same() {
    with_mounts(
        "projects::a_repository_that_is_mounted_elsewhere_is_the_same",
        || {
            let place = Place::new();
            place.put("Retries use full jitter.");
            let there = place.path("mounted");
            fs::create_dir(&there).unwrap();
            let repo = place.repo();
            mount(&["--bind", repo.to_str().unwrap(), there.to_str().unwrap()]);
            assert_eq!(place.finds(&there), 1);
            works(&place, &there, "a mount");
            assert_eq!(place.finds(&repo), 2);
        },
    );
}

/// Only root can change a repository's owner, so this runs only as root.
#[cfg(unix)]
#[test]
fn a_repository_of_another_user_works_where_git_was_told_so() {
    let place = Place::new();
    let repo = place.repo();
    for path in [repo.clone(), repo.join(".git")] {
        if let Err(error) = std::os::unix::fs::chown(&path, Some(65_534), None) {
            println!("not shown: {error}");
            return;
        }
    }
    let put = ["--json", "put", "--claim", "More.", "--pointer", POINTER];
    assert_eq!(
        place.run_in(&repo, &put).error()["code"],
        "REPO_UNAVAILABLE"
    );
    let settings = format!("[safe]\n\tdirectory = {}\n", repo.display());
    fs::write(place.path("person").join(".gitconfig"), settings).unwrap();
    works(&place, &repo, "another user's");
}
