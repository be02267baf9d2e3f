//! Repositories in every layout, and revisions in every notation.

use std::{fs, path::Path};

use engram_model::Code;
use engram_pointers::{Repo, resolve};

use crate::fixture::{Fixture, Stored, commit_of, git, refused};

fn read(repo: &Repo, pointer: &str) -> Result<String, engram_model::Refusal> {
    let resolved = resolve(Some(repo), &Stored::default(), &pointer.parse()?)?;
    Ok(resolved.text())
}

#[test]
fn every_layout_opens_and_shares_its_common_folder() {
    let fixture = Fixture::with(&[("src/a.txt", b"one\n")]);
    let head = fixture.git(&["rev-parse", "HEAD"]);
    let common = fixture.root().join(".git");
    let linked = fixture.beside("foo-feature");
    fixture.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "feature",
        linked.to_str().unwrap(),
    ]);
    let bare = fixture.beside("bar.git");
    git(
        fixture.root(),
        &["clone", "-q", "--bare", ".", bare.to_str().unwrap()],
    );
    let separate = fixture.beside("separate");
    let store = fixture.beside("store");
    fixture.git(&[
        "clone",
        "-q",
        "--separate-git-dir",
        store.to_str().unwrap(),
        ".",
        separate.to_str().unwrap(),
    ]);

    let main = Some("main".to_owned());
    let feature = Some("feature".to_owned());
    let root = fixture.root();
    for (path, name, common, workdir, branch) in [
        (root, "foo", &common, Some(root), &main),
        (&common, "foo", &common, Some(root), &main),
        (&linked, "foo", &common, Some(&*linked), &feature),
        (&bare, "bar", &bare, None, &main),
        (&separate, "separate", &store, Some(&*separate), &main),
    ] {
        let shown = path.display();
        for repo in [Repo::open(path), Repo::discover(path).map(Option::unwrap)] {
            let repo = repo.unwrap();
            assert_eq!(repo.name(), name, "{shown}");
            assert_eq!(repo.common_dir(), common, "{shown}");
            assert_eq!(repo.workdir(), workdir, "{shown}");
            assert_eq!(repo.head(), (branch.clone(), Some(head.clone())), "{shown}");
            assert_eq!(
                read(&repo, "repo:src/a.txt@HEAD").unwrap(),
                "one\n",
                "{shown}"
            );
        }
    }
    for inside in [
        root.join("src"),
        root.join("src/a.txt"),
        common.join("objects"),
    ] {
        let repo = Repo::discover(&inside).unwrap().unwrap();
        assert_eq!(repo.common_dir(), common, "{}", inside.display());
    }
    // The lines of one worktree differ from those of another.
    fs::write(linked.join("src/a.txt"), "changed\n").unwrap();
    let repo = Repo::open(&linked).unwrap();
    assert_eq!(read(&repo, "repo:src/a.txt@worktree").unwrap(), "changed\n");
    assert_eq!(read(&repo, "repo:src/a.txt@feature").unwrap(), "one\n");
    fixture.repo();
    assert_eq!(fixture.text("repo:src/a.txt@worktree"), "one\n");
    let refusal = read(&Repo::open(&bare).unwrap(), "repo:src/a.txt@worktree");
    refused(refusal, "bare", Code::PointerInvalid, "bare");
}

#[test]
fn what_is_no_repository_is_said() {
    let fixture = Fixture::with(&[("src/a.txt", b"one\n")]);
    let nothing = fixture.beside("nothing");
    fs::create_dir(&nothing).unwrap();
    assert!(Repo::discover(&nothing).unwrap().is_none());
    let broken = fixture.beside("broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join(".git"), "gitdir: /nowhere/at/all\n").unwrap();
    for (path, says) in [
        (nothing.clone(), "git init"),
        (fixture.beside("missing"), "moved"),
        (fixture.root().join("src"), "inside the repository"),
        (fixture.root().join("src/a.txt"), "not a git repository"),
        (broken.clone(), "gone"),
    ] {
        refused(
            Repo::open(&path),
            &path.display().to_string(),
            Code::RepoUnavailable,
            says,
        );
    }
    let within = broken.join("within");
    fs::create_dir(&within).unwrap();
    for path in [&broken, &within] {
        refused(
            Repo::discover(path),
            "broken",
            Code::RepoUnavailable,
            "gone",
        );
    }
    let result = resolve(None, &Stored::default(), &"repo:a@HEAD".parse().unwrap());
    refused(
        result,
        "no repository",
        Code::RepoUnavailable,
        "start Engram in a git repository",
    );
}

#[test]
fn a_repository_that_is_deleted_or_damaged_is_said() {
    let fixture = Fixture::with(&[("a.txt", b"one\n"), ("b.txt", b"two\n")]);
    let repo = fixture.repo();
    let objects = fixture.root().join(".git/objects");
    let id = fixture.git(&["rev-parse", "HEAD:a.txt"]);
    let object = objects.join(&id[..2]).join(&id[2..]);
    let mut permissions = fs::metadata(&object).unwrap().permissions();
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    fs::set_permissions(&object, permissions).unwrap();
    for (bytes, what) in [
        (Some(&b"garbage"[..]), "corrupt"),
        (Some(b""), "empty"),
        (None, "missing"),
    ] {
        match bytes {
            Some(bytes) => fs::write(&object, bytes).unwrap(),
            None => fs::remove_file(&object).unwrap(),
        }
        refused(
            read(&repo, "repo:a.txt@HEAD"),
            what,
            Code::RepoUnavailable,
            "git fsck",
        );
        assert_eq!(read(&repo, "repo:b.txt@HEAD").unwrap(), "two\n", "{what}");
    }
    // A branch whose commit is gone is damage as well, not a mistake in the pointer.
    let zeros = "1234567890123456789012345678901234567890\n";
    fs::write(fixture.root().join(".git/refs/heads/lost"), zeros).unwrap();
    refused(
        read(&repo, "repo:b.txt@lost"),
        "lost",
        Code::RepoUnavailable,
        "git fsck",
    );
    fs::remove_dir_all(fixture.root()).unwrap();
    refused(
        read(&repo, "repo:b.txt@HEAD"),
        "deleted",
        Code::RepoUnavailable,
        "",
    );
    refused(
        read(&repo, "repo:b.txt@worktree"),
        "deleted",
        Code::RepoUnavailable,
        "",
    );
}

#[test]
fn a_commit_made_after_opening_is_seen() {
    let fixture = Fixture::with(&[("a.txt", b"one\n")]);
    let repo = fixture.repo();
    assert_eq!(read(&repo, "repo:a.txt@HEAD").unwrap(), "one\n");
    fixture.write("a.txt", b"two\n");
    let commit = fixture.commit("second");
    fixture.git(&["gc", "-q"]);
    assert_eq!(repo.head().1, Some(commit));
    assert_eq!(read(&repo, "repo:a.txt@HEAD").unwrap(), "two\n");
    assert_eq!(read(&repo, "repo:a.txt@HEAD~1").unwrap(), "one\n");
}

#[test]
fn any_revision_is_stored_as_the_full_commit() {
    let fixture = Fixture::with(&[("a.txt", b"1\n")]);
    let first = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["tag", "light"]);
    fixture.git(&["tag", "-a", "-m", "heavy", "heavy"]);
    fixture.git(&["tag", "-a", "-m", "twice", "twice", "heavy"]);
    fixture.git(&["tag", "blob", "HEAD:a.txt"]);
    fixture.git(&["branch", "side/line"]);
    fixture.write("a.txt", b"2\n");
    let second = fixture.commit("second");
    for (rev, commit) in [
        ("HEAD", &second),
        ("main", &second),
        ("refs/heads/main", &second),
        ("HEAD~1", &first),
        ("HEAD^", &first),
        ("HEAD@{1}", &first),
        ("light", &first),
        ("heavy", &first),
        ("twice", &first),
        ("heavy^{commit}", &first),
        ("side/line", &first),
        (&first[..7], &first),
        (&first.to_uppercase(), &first),
        (&second, &second),
    ] {
        let pointer = format!("repo:a.txt@{rev}");
        let resolved = fixture
            .resolve(&pointer)
            .unwrap_or_else(|e| panic!("{pointer}: {e}"));
        assert_eq!(&commit_of(&resolved), commit, "{pointer}");
    }
    for (rev, code, says) in [
        ("nowhere", Code::PointerNotFound, "no commit"),
        ("HEAD~9", Code::PointerNotFound, "no commit"),
        ("HEAD@{9}", Code::PointerNotFound, ""),
        (
            "0123456789012345678901234567890123456789",
            Code::PointerNotFound,
            "no commit",
        ),
        ("HEAD^{tree}", Code::PointerInvalid, "is not a commit"),
        ("blob", Code::PointerInvalid, "is not a commit"),
        ("HEAD~99999999999999999999", Code::PointerNotFound, ""),
    ] {
        fixture.refused(&format!("repo:a.txt@{rev}"), code, says);
    }
    fixture.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(fixture.repo().head(), (None, Some(first.clone())));
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "1\n");
}

#[test]
fn odd_revisions_are_answered_without_panic() {
    let fixture = Fixture::with(&[("a.txt", b"1\n")]);
    for rev in [
        "@",
        "^",
        "~",
        "HEAD^{}",
        "HEAD^{",
        "HEAD@{",
        "HEAD@{}",
        "HEAD@{-1}",
        "HEAD@{u}",
        "@{-99}",
        "HEAD^{/(((}",
        "HEAD^99",
        "HEAD^0",
        "..",
        "a..b",
        "HEAD.lock",
        "HEAD~-1",
        "HEAD@{yesterday}",
        "refs/",
        "/",
        "//",
        "é",
        "HEAD^^^^^^^^",
        "{",
        "}",
        "HEAD@{1}@{1}",
        "sha256",
        "-",
        "0",
        "ffff",
    ] {
        let _ = fixture.resolve(&format!("repo:a.txt@{rev}"));
    }
}

#[test]
fn an_unborn_head_has_no_commit() {
    let fixture = Fixture::new();
    assert_eq!(fixture.repo().head(), (Some("main".to_owned()), None));
    fixture.refused("repo:a.txt@HEAD", Code::PointerNotFound, "no commits yet");
    fixture.write("a.txt", b"draft\n");
    let resolved = fixture.resolve("repo:a.txt@worktree").unwrap();
    assert_eq!(resolved.snapshot.unwrap().base, None);
}

#[test]
fn a_shallow_clone_says_where_its_history_ends() {
    let fixture = Fixture::with(&[("a.txt", b"1\n")]);
    let first = fixture.git(&["rev-parse", "HEAD"]);
    fixture.write("a.txt", b"2\n");
    fixture.commit("second");
    let repo = fixture.shallow(1);
    assert_eq!(read(&repo, "repo:a.txt@HEAD").unwrap(), "2\n");
    for pointer in [
        "repo:a.txt@HEAD~1".to_owned(),
        format!("repo:a.txt@{first}"),
    ] {
        refused(
            read(&repo, &pointer),
            &pointer,
            Code::PointerNotFound,
            "git fetch --unshallow",
        );
    }
}

#[test]
fn a_partial_clone_says_what_it_lacks() {
    let fixture = Fixture::with(&[("a.txt", b"1\n")]);
    fixture.git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = fixture.beside("partial");
    let url = format!("file://{}", fixture.root().display());
    fixture.git(&[
        "clone",
        "-q",
        "--no-checkout",
        "--filter=blob:none",
        &url,
        partial.to_str().unwrap(),
    ]);
    git(&partial, &["config", "core.repositoryformatversion", "1"]);
    git(&partial, &["config", "extensions.partialClone", "origin"]);
    let repo = Repo::open(&partial).unwrap();
    refused(
        read(&repo, "repo:a.txt@HEAD"),
        "partial",
        Code::RepoUnavailable,
        "partial clone",
    );
}

#[test]
fn commits_are_read_whatever_lies_in_the_working_tree() {
    let fixture = Fixture::with(&[("a.txt", b"committed\n")]);
    fixture.write("a.txt", b"changed\n");
    fixture.write(".gitattributes", b"* binary -diff\n");
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "committed\n");
    fs::remove_file(fixture.root().join("a.txt")).unwrap();
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "committed\n");
    assert!(!Path::new(&fixture.root().join("a.txt")).exists());
}

/// Only root can change the owner of a file, so this tests something only if tests run as root.
#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_explained() {
    let fixture = Fixture::with(&[("a.txt", b"1\n")]);
    for path in [fixture.root().to_owned(), fixture.root().join(".git")] {
        if let Err(e) = std::os::unix::fs::chown(&path, Some(65_534), None) {
            println!("not shown: {e}");
            return;
        }
    }
    for repo in [
        Repo::open(fixture.root()).map(Some),
        Repo::discover(fixture.root()),
    ] {
        refused(
            repo,
            "another user",
            Code::RepoUnavailable,
            "safe.directory",
        );
    }
}

#[test]
fn a_repository_can_be_sent_to_another_thread() {
    let fixture = Fixture::with(&[("a.txt", b"one\n")]);
    let repo = fixture.repo();
    let text = std::thread::spawn(move || read(&repo, "repo:a.txt@HEAD").unwrap());
    assert_eq!(text.join().unwrap(), "one\n");
}
