//! Symbolic links and submodules in the tree of a commit.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use engram_model::Code;

use crate::fixture::{Fixture, commit_of, git};

fn make_links() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("src/real.rs", b"one\ntwo\n");
    fixture.write("docs/deep/spec.md", b"# Spec\n");
    let root = fixture.root();
    for (target, link) in [
        ("src/real.rs", "file"),
        ("src", "folder"),
        ("../src/real.rs", "docs/up"),
        ("../../file", "docs/deep/twice"),
        ("./src/./real.rs", "dots"),
        ("src/", "slash"),
        ("../outside", "out"),
        ("docs/../../outside", "sly"),
        ("/etc/passwd", "absolute"),
        ("loop-b", "loop-a"),
        ("loop-a", "loop-b"),
        ("self", "self"),
        ("src/gone.rs", "dangling"),
        (".git/config", "gits"),
        ("file/x", "through"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    std::fs::write(fixture.beside("outside"), "secret\n").unwrap();
    fixture.commit("links");
    fixture
}

#[test]
fn links_are_followed_within_the_tree_only() {
    let fixture = make_links();
    for path in [
        "file",
        "folder/real.rs",
        "docs/up",
        "docs/deep/twice",
        "dots",
        "slash/real.rs",
    ] {
        let resolved = fixture.resolve(&format!("repo:{path}#L2@HEAD")).unwrap();
        assert_eq!(resolved.text(), "two\n", "{path}");
        let pinned = format!("repo:{path}#L2@{}", commit_of(&resolved));
        assert_eq!(
            resolved.pointer.to_string(),
            pinned,
            "the path as asked for"
        );
    }
    for (path, code, says) in [
        ("out", Code::PointerInvalid, "leaves the repository"),
        ("sly", Code::PointerInvalid, "leaves the repository"),
        ("absolute", Code::PointerInvalid, "leaves the repository"),
        ("loop-a", Code::PointerInvalid, "loop"),
        ("self", Code::PointerInvalid, "loop"),
        ("self/x", Code::PointerInvalid, "loop"),
        ("dangling", Code::PointerNotFound, "symbolic link"),
        ("gits", Code::PointerNotFound, "symbolic link"),
        ("through", Code::PointerNotFound, ""),
        ("folder", Code::PointerInvalid, "file in it: real.rs"),
        ("src", Code::PointerInvalid, "is a folder"),
    ] {
        fixture.refused(&format!("repo:{path}@HEAD"), code, says);
    }
}

#[test]
fn links_of_the_working_tree_stay_inside_it() {
    let fixture = make_links();
    assert_eq!(fixture.text("repo:file#L1@worktree"), "one\n");
    for (path, code) in [
        ("out", Code::PointerInvalid),
        ("sly", Code::PointerInvalid),
        ("absolute", Code::PointerInvalid),
        ("gits", Code::PointerInvalid),
        ("dangling", Code::PointerNotFound),
        ("folder", Code::PointerInvalid),
    ] {
        fixture.refused(&format!("repo:{path}@worktree"), code, "");
    }
    let refusal = fixture.resolve("repo:loop-a@worktree").unwrap_err();
    assert_ne!(refusal.code, Code::Internal);
}

#[test]
fn a_link_text_that_git_would_not_write_is_refused() {
    let fixture = Fixture::with(&[("a", b"text\n")]);
    for (text, says) in [
        (&b"a\0b"[..], ""),
        (&b"\xFF\xFE"[..], "without a readable target"),
        (b"", ""),
        (b"C:\\x", "leaves"),
        (&b"../".repeat(2000)[..], "without a readable target"),
        (&b"a/".repeat(2000)[..], ""),
    ] {
        std::fs::write(fixture.beside("link"), text).unwrap();
        let link = fixture.beside("link");
        let id = fixture.git(&["hash-object", "-w", link.to_str().unwrap()]);
        fixture.git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("120000,{id},odd"),
        ]);
        fixture.git(&["commit", "-q", "-m", "odd"]);
        let refusal = fixture.resolve("repo:odd@HEAD").unwrap_err();
        assert!(
            matches!(refusal.code, Code::PointerInvalid | Code::PointerNotFound),
            "{refusal}"
        );
        assert!(refusal.message.contains(says), "{refusal} for {text:?}");
    }
}

#[test]
fn a_submodule_is_its_own_repository() {
    let inner = Fixture::with(&[("lib.rs", b"inner\n")]);
    let outer = Fixture::with(&[("main.rs", b"outer\n")]);
    let url = format!("file://{}", inner.root().display());
    outer.git(&["submodule", "add", "-q", &url, "libs/inner"]);
    outer.commit("submodule");
    for path in ["libs/inner", "libs/inner/lib.rs"] {
        for pin in ["HEAD", "worktree"] {
            let refusal = outer.resolve(&format!("repo:{path}@{pin}")).unwrap_err();
            assert_eq!(
                refusal.code,
                Code::PointerInvalid,
                "{path}@{pin}: {refusal}"
            );
        }
    }
    outer.refused(
        "repo:libs/inner/lib.rs@HEAD",
        Code::PointerInvalid,
        "submodule",
    );
    outer.refused(
        "repo:libs/inner/lib.rs@worktree",
        Code::PointerInvalid,
        "submodule",
    );
    outer.refused(
        "diff:HEAD~1..HEAD#libs/inner",
        Code::PointerInvalid,
        "submodule",
    );

    let at = outer.root().join("libs/inner");
    let repo = engram_pointers::Repo::discover(&at).unwrap().unwrap();
    assert_eq!(repo.name(), "inner");
    assert_eq!(repo.workdir().unwrap(), at);
    let pointer = "repo:lib.rs@HEAD".parse().unwrap();
    let shelf = crate::fixture::Stored::default();
    let resolved = engram_pointers::resolve(Some(&repo), &shelf, &pointer).unwrap();
    assert_eq!(resolved.text(), "inner\n");
    assert_eq!(commit_of(&resolved), git(&at, &["rev-parse", "HEAD"]));
}
