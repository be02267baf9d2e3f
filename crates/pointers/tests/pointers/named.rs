//! Tests whether the opened path and the repository found there name each other, in every layout
//! that git makes and in invented ones.

use std::{
    fs,
    path::{Path, PathBuf},
};

use engram_pointers::Repo;

use crate::fixture::{Fixture, git};

/// Makes a repository that belongs to somebody else, beside the fixture's own.
fn make_victim(fixture: &Fixture) -> PathBuf {
    let victim = fixture.beside("victim");
    fs::create_dir(&victim).unwrap();
    git(&victim, &["init", "-q"]);
    fs::write(victim.join("secret.txt"), "secret\n").unwrap();
    git(&victim, &["add", "."]);
    git(&victim, &["commit", "-q", "-m", "secret"]);
    victim
}

#[track_caller]
fn assert_named_back(path: &Path, want: bool) {
    for repo in [Repo::open(path), Repo::discover(path).map(Option::unwrap)] {
        assert_eq!(repo.unwrap().is_named_back(), want, "{}", path.display());
    }
}

#[test]
fn what_git_lays_out_is_named_back() {
    let fixture = Fixture::with(&[("folder/a.txt", b"text\n")]);
    let root = fixture.root();
    let made = |args: &[&str], name: &str| {
        let path = fixture.beside(name);
        let mut args = args.to_vec();
        args.push(path.to_str().unwrap());
        fixture.git(&args);
        path
    };
    let bare = made(&["clone", "-q", "--bare", "."], "bare.git");
    let shared = made(&["clone", "-q", "--shared", "."], "shared");
    let reference = made(&["clone", "-q", "--reference", ".", "."], "reference");
    let linked = made(&["worktree", "add", "-q", "-b", "linked"], "linked");
    let url = format!("file://{}", root.display());
    git(&shared, &["submodule", "add", "-q", &url, "sub"]);
    let of_bare = fixture.beside("of-bare");
    git(
        &bare,
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "other",
            of_bare.to_str().unwrap(),
        ],
    );
    for path in [
        root,
        &root.join(".git"),
        &bare,
        &shared,
        &reference,
        &linked,
        &root.join(".git/worktrees/linked"),
        &shared.join("sub"),
        &shared.join(".git/modules/sub"),
        &of_bare,
    ] {
        assert_named_back(path, true);
    }
    let within = Repo::discover(&root.join("folder")).unwrap().unwrap();
    assert!(within.is_named_back(), "from a folder within");
    // A clone may be moved anywhere; a linked worktree must be repaired afterwards.
    let moved = fixture.beside("moved");
    fs::rename(&shared, &moved).unwrap();
    assert_named_back(&moved, true);
    assert_named_back(&moved.join("sub"), true);
    let elsewhere = fixture.beside("elsewhere");
    fs::rename(&linked, &elsewhere).unwrap();
    assert_named_back(&elsewhere, false);
    git(&elsewhere, &["worktree", "repair"]);
    assert_named_back(&elsewhere, true);
}

/// Only a clone that borrows objects reads anything outside of its git folder.
#[test]
fn what_git_lays_out_reads_nothing_outside_unless_it_borrows() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let made = |args: &[&str], name: &str| {
        let path = fixture.beside(name);
        fixture.git(&[args, &[path.to_str().unwrap()]].concat());
        path
    };
    let clone = made(&["clone", "-q", "."], "clone");
    git(&clone, &["gc", "-q"]);
    let bare = made(&["clone", "-q", "--bare", "."], "bare.git");
    let shared = made(&["clone", "-q", "--shared", "."], "shared");
    let linked = made(&["worktree", "add", "-q", "-b", "linked"], "linked");
    for (path, borrows) in [
        (fixture.root(), false),
        (&clone, false),
        (&bare, false),
        (&linked, false),
        (&shared, true),
    ] {
        let outside = Repo::open(path).unwrap().reads_outside();
        assert_eq!(outside.is_some(), borrows, "{path:?}: {outside:?}");
    }
}

/// A repository can be reached by a link, and by another mount if one can be made.
#[cfg(unix)]
#[test]
fn a_repository_has_more_names_than_one() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let link = fixture.beside("link");
    std::os::unix::fs::symlink(fixture.root(), &link).unwrap();
    assert_named_back(&link, true);
}

/// Git writes nothing into a repository that is kept elsewhere. It names its working tree only once
/// somebody sets that.
#[test]
fn a_repository_that_is_kept_elsewhere_is_asked_to_name_its_tree() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let (store, tree) = (fixture.beside("store"), fixture.beside("tree"));
    let [from, to] = [&store, &tree].map(|it| it.to_str().unwrap());
    fixture.git(&["clone", "-q", "--separate-git-dir", from, ".", to]);
    assert_named_back(&tree, false);
    git(&tree, &["config", "core.worktree", to]);
    assert_named_back(&tree, true);
    assert_named_back(&store, true);
}

#[test]
fn who_names_a_strangers_repository_is_not_named_back() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let victim = make_victim(&fixture);
    let own = victim.join(".git");
    let linked = fixture.beside("victims-linked");
    git(
        &victim,
        &["worktree", "add", "-q", "-b", "l", linked.to_str().unwrap()],
    );
    let bare = fixture.beside("victims.git");
    git(
        &victim,
        &["clone", "-q", "--bare", ".", bare.to_str().unwrap()],
    );
    for (name, leads_to) in [
        ("to-clone", &own),
        ("to-linked", &own.join("worktrees/victims-linked")),
        ("to-bare", &bare),
    ] {
        let folder = fixture.beside(name);
        fs::create_dir(&folder).unwrap();
        fs::write(
            folder.join(".git"),
            format!("gitdir: {}\n", leads_to.display()),
        )
        .unwrap();
        assert_named_back(&folder, false);
        // The same in the victim's own tree.
        let folder = victim.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(
            folder.join(".git"),
            format!("gitdir: {}\n", leads_to.display()),
        )
        .unwrap();
        assert_named_back(&folder, false);
    }
    assert_named_back(&victim, true);
    assert_named_back(&linked, true);
    #[cfg(unix)]
    {
        let folder = fixture.beside("to-link");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&own, folder.join(".git")).unwrap();
        assert_named_back(&folder, false);
    }
}

#[test]
fn a_clone_that_shares_what_is_a_strangers_is_not_named_back() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let victim = make_victim(&fixture);
    let own = fixture.root().join(".git");
    assert_named_back(fixture.root(), true);
    // The clone takes everything from the victim, except its HEAD.
    let common = own.join("commondir");
    fs::write(&common, format!("{}\n", victim.join(".git").display())).unwrap();
    assert_named_back(fixture.root(), false);
    // Makes it look like a worktree of the victim.
    fs::write(own.join("gitdir"), format!("{}\n", own.display())).unwrap();
    let opened = Repo::open(fixture.root());
    assert!(!opened.is_ok_and(|it| it.is_named_back()));
    fs::remove_file(own.join("gitdir")).unwrap();
    fs::write(&common, "./\n").unwrap();
    assert_named_back(fixture.root(), true);
}

#[test]
fn a_clone_whose_working_tree_is_elsewhere_is_not_named_back() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let victim = make_victim(&fixture);
    let around = victim.parent().unwrap();
    for tree in [&victim, &victim.join(".git"), around, Path::new("/")] {
        fixture.git(&["config", "core.worktree", tree.to_str().unwrap()]);
        assert_named_back(fixture.root(), false);
    }
    fixture.git(&["config", "core.worktree", ".."]);
    assert_named_back(fixture.root(), true);
}
