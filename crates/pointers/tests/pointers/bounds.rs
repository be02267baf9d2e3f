//! A stranger's repository costs no more than others: no read blocks, and every read, walk and
//! search ends.

use std::{fs, path::Path, sync::mpsc, time::Duration};

use engram_model::{Code, Pointer, Refusal};
use engram_pointers::{
    Anchors, PinnedSpan, Repo, SpanOrigin, Stop, blame, line, resolve, source, standing_of,
    track::{RepoState, Span, SpanState, lately, track},
};
use git2::{ObjectType, Oid, Repository, Signature, Time};

use crate::fixture::{Fixture, Stored, refused, view_around};

/// Runs something that must end by itself, long before the test times out.
#[track_caller]
fn run_to_end<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(run()));
    match told.recv_timeout(Duration::from_secs(300)) {
        Ok(answer) => answer,
        Err(_) => panic!("{what} does not end"),
    }
}

/// Makes every kind of request for one pointer.
fn ask(repo: &Repo, pointer: &str) -> Vec<Option<Refusal>> {
    let shelf = Stored::default();
    let pointer: Pointer = match pointer.parse() {
        Ok(pointer) => pointer,
        Err(refusal) => return vec![Some(refusal)],
    };
    vec![
        resolve(Some(repo), &shelf, &pointer).err(),
        source(Some(repo), &shelf, &pointer, view_around(3)).err(),
        line(Some(repo), &shelf, &pointer, 1, 0).err(),
        standing_of(Some(repo), &shelf, &pointer).err(),
        blame(Some(repo), &shelf, &pointer).err(),
    ]
}

/// Commits a tree on `main`.
fn commit(git: &Repository, tree: Oid, message: &str) -> Oid {
    let who = Signature::new("A", "a@example.org", &Time::new(1_700_000_000, 0)).unwrap();
    let tree = git.find_tree(tree).unwrap();
    let parent = git.find_reference("refs/heads/main");
    let parent = parent.ok().map(|it| it.peel_to_commit().unwrap());
    let parents: Vec<_> = parent.iter().collect();
    git.commit(
        Some("refs/heads/main"),
        &who,
        &who,
        message,
        &tree,
        &parents,
    )
    .unwrap()
}

fn tree(git: &Repository, entries: &[(&str, &str, Oid)]) -> Oid {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
        bytes.extend_from_slice(id.as_bytes());
    }
    let odb = git.odb().unwrap();
    odb.write(ObjectType::Tree, &bytes).unwrap()
}

#[test]
fn what_would_be_searched_for_is_no_revision() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    for rev in [
        "HEAD^{/(a+)+$}",
        "HEAD^{/x}",
        "main^{/}~1",
        "@{-1}",
        "HEAD@{-1}",
        "HEAD@{yesterday}",
        "HEAD@{2.weeks.ago}",
        "@{push}",
    ] {
        let pointer = format!("repo:a.txt@{rev}");
        fixture.refused(&pointer, Code::PointerInvalid, "git rev-parse");
    }
    let repo = fixture.repo();
    for rev in [":/x", "HEAD:a.txt", "^HEAD", "HEAD^@", "HEAD^!", "HEAD^-"] {
        let target = engram_model::Target::Repo {
            path: "a.txt".to_owned(),
            lines: None,
            pin: engram_model::Pin::Rev(rev.to_owned()),
        };
        let pointer = Pointer {
            target,
            digest: None,
        };
        let found = resolve(Some(&repo), &Stored::default(), &pointer);
        refused(found, rev, Code::PointerInvalid, "not a git revision");
    }
}

#[test]
fn a_revision_leads_no_further_than_history_does() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    for rev in [
        "HEAD~4294967295",
        "HEAD~18446744073709551616",
        "HEAD^^^^",
        "HEAD^9",
    ] {
        let pointer = format!("repo:a.txt@{rev}");
        fixture.refused(&pointer, Code::PointerNotFound, "no commit");
    }
    // Refs that lead to one another in a circle.
    fs::write(
        fixture.root().join(".git/refs/heads/a"),
        "ref: refs/heads/b\n",
    )
    .unwrap();
    fs::write(
        fixture.root().join(".git/refs/heads/b"),
        "ref: refs/heads/a\n",
    )
    .unwrap();
    fixture.refused("repo:a.txt@a", Code::PointerNotFound, "no commit");
    // Tags of tags.
    let git = Repository::open(fixture.root()).unwrap();
    let mut id = Oid::from_str(&fixture.git(&["rev-parse", "HEAD"])).unwrap();
    for (depth, kind) in std::iter::once("commit")
        .chain(std::iter::repeat("tag"))
        .take(150)
        .enumerate()
    {
        let text = format!("object {id}\ntype {kind}\ntag t{depth}\ntagger A <a> 1 +0000\n\nt\n");
        id = git
            .odb()
            .unwrap()
            .write(ObjectType::Tag, text.as_bytes())
            .unwrap();
        if depth == 50 {
            git.reference("refs/tags/some", id, false, "").unwrap();
        }
    }
    git.reference("refs/tags/many", id, false, "").unwrap();
    assert_eq!(fixture.text("repo:a.txt@some"), "text\n");
    fixture.refused("repo:a.txt@many", Code::PointerInvalid, "100 tags");
}

/// Patterns whose stars git tries to stretch in every way.
#[test]
fn patterns_that_explode_do_not() {
    let mut rules = String::new();
    for _ in 0..50 {
        rules += &format!("{}b\n", "*a".repeat(40));
        rules += &format!("{}b\n", "**/a*/".repeat(20));
        rules += &format!("x{}/b\n", "/**/*a*a*a*a".repeat(12));
    }
    let deep = vec!["a".repeat(60); 12].join("/");
    let fixture = Fixture::with(&[(".gitignore", rules.as_bytes())]);
    fixture.write(".gitattributes", rules.replace("b\n", "b text\n"));
    fixture.write(&format!("{deep}/file"), b"a\r\n");
    fixture.write(&format!("x/{deep}/file"), b"a\r\n");
    fixture.git(&["config", "core.autocrlf", "true"]);
    let repo = fixture.repo();
    run_to_end("a pattern", move || {
        for path in [format!("{deep}/file"), format!("x/{deep}/file")] {
            let pointer = format!("repo:{path}@worktree").parse().unwrap();
            let found = resolve(Some(&repo), &Stored::default(), &pointer).unwrap();
            assert_eq!(found.text(), "a\r\n");
            assert!(standing_of(Some(&repo), &Stored::default(), &pointer).is_ok());
        }
    });
}

#[test]
fn rules_that_are_too_large_are_refused() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    fixture.write("new.txt", b"new\n");
    fixture.write(".gitignore", b"x\n".repeat(1 << 20));
    fixture.refused("repo:new.txt@worktree", Code::RepoUnavailable, "@HEAD");
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "text\n");
}

/// Ten trees that each contain the next one ten times hold ten billion files.
#[test]
fn trees_that_multiply_are_not_walked_to_their_end() {
    let fixture = Fixture::with(&[("a.txt", b"one\ntwo\nthree and four and five\n")]);
    let git = Repository::open(fixture.root()).unwrap();
    let file = git.blob(b"bomb\n").unwrap();
    let mut id = tree(&git, &[("100644", "file", file)]);
    let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    for _ in 0..10 {
        let entries: Vec<_> = names.iter().map(|it| ("40000", *it, id)).collect();
        id = tree(&git, &entries);
    }
    commit(&git, tree(&git, &[("40000", "bomb", id)]), "a bomb");
    let repo = fixture.repo();
    run_to_end("a bomb", move || {
        let shelf = Stored::default();
        for pointer in [
            "repo:nothing@HEAD",
            "repo:bomb@HEAD",
            "diff:HEAD~1..HEAD#a.txt",
            "diff:HEAD..HEAD~1#a.txt",
            "diff:HEAD~1..HEAD#bomb/0/0/0/0/0/0/0/0/0/0/file",
            "repo:bomb/0/0/0/0/0/0/0/0/0/0/file@HEAD",
            "repo:a.txt#L1@HEAD~1",
        ] {
            ask(&repo, pointer);
        }
        let span = Span {
            path: "a.txt".to_owned(),
            start: 1,
            end: 3,
        };
        let commit = |rev: &str| RepoState::Commit(rev.to_owned());
        let all = [span.clone()];
        for to in [commit("HEAD"), RepoState::Index, RepoState::Worktree] {
            let found = track(&repo, &commit("HEAD~1"), &to, &all).remove(0);
            assert!(
                !matches!(found, Ok(verdict) if to == commit("HEAD") && verdict.state != SpanState::Deleted)
            );
        }
        let pinned = PinnedSpan {
            origin: SpanOrigin::Commit(repo.head().1.unwrap()),
            span,
        };
        Anchors::default()
            .standings(&repo, &shelf, &[pinned])
            .unwrap();
        assert!(repo.largest_files(5).is_ok());
        lately(&repo);
    });
}

/// Trees nested deeper than any path is long.
#[test]
fn trees_within_trees_are_followed_as_far_as_paths_go() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let git = Repository::open(fixture.root()).unwrap();
    let mut id = tree(&git, &[("100644", "file", git.blob(b"deep\n").unwrap())]);
    for _ in 0..5_000 {
        id = tree(&git, &[("40000", "d", id)]);
    }
    commit(&git, id, "deep");
    let repo = fixture.repo();
    run_to_end("a deep tree", move || {
        for pointer in ["repo:nothing@HEAD", "diff:HEAD~1..HEAD#a.txt"] {
            ask(&repo, pointer);
        }
        assert!(repo.largest_files(5).is_ok());
        lately(&repo);
    });
}

/// A file of zeros compresses to a thousandth of its size.
#[test]
fn a_file_that_is_too_large_is_refused_by_its_size() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    fixture.git(&["config", "core.looseCompression", "1"]);
    fixture.write("large.txt", vec![b'x'; (64 << 20) + (128 << 10)]);
    fixture.commit("large");
    fixture.git(&["mv", "large.txt", "moved.txt"]);
    fixture.commit("moved");
    let repo = fixture.repo();
    let first = [
        "repo:large.txt@HEAD~1",
        "repo:large.txt#L1@HEAD~1",
        "artifact:large.txt#sec=A@HEAD~1",
    ];
    for pointer in first
        .into_iter()
        .chain(["test:large.txt::x@HEAD~1", "repo:moved.txt@HEAD"])
    {
        for refusal in ask(&repo, pointer) {
            let refusal = refusal.unwrap_or_else(|| panic!("{pointer} was read"));
            assert_eq!(refusal.code, Code::PointerInvalid, "{pointer}: {refusal}");
            let says = format!("{} {}", refusal.message, refusal.hint);
            assert!(says.contains("64 MB"), "{pointer}: {says}");
        }
    }
    for pointer in [
        "diff:HEAD~2..HEAD~1#large.txt",
        "diff:HEAD~1..HEAD#moved.txt",
    ] {
        fixture.refused(pointer, Code::PointerInvalid, "64 MB");
    }
    let span = |path: &str| Span {
        path: path.to_owned(),
        start: 1,
        end: 1,
    };
    let (from, to) = (
        RepoState::Commit("HEAD~1".into()),
        RepoState::Commit("HEAD".into()),
    );
    let found = track(&repo, &from, &to, &[span("large.txt"), span("a.txt")]);
    refused(
        found[0].clone(),
        "a large file",
        Code::PointerInvalid,
        "64 MB",
    );
    assert_eq!(
        found[1].as_ref().unwrap().state,
        SpanState::Unchanged,
        "the other spans are still followed"
    );
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "text\n");
}

/// A file of three megabytes can be a delta of one that is too large to read.
#[test]
fn what_a_file_is_made_from_is_bounded_too() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    fixture.write("large.txt", vec![b'x'; (64 << 20) + (128 << 10)]);
    fixture.write("made.txt", vec![b'x'; 3 << 20]);
    fixture.commit("made");
    fixture.git(&["repack", "-a", "-d", "-f", "-q"]);
    let id = fixture.git(&["rev-parse", "HEAD:made.txt"]);
    let packs = fixture.root().join(".git/objects/pack");
    let mut entries = fs::read_dir(packs).unwrap().map(|it| it.unwrap().path());
    let index = entries
        .find(|it| it.extension().is_some_and(|it| it == "idx"))
        .unwrap();
    let listed = fixture.git(&["verify-pack", "-v", index.to_str().unwrap()]);
    let made = listed.lines().find(|it| it.starts_with(&id)).unwrap();
    assert_eq!(
        made.split_whitespace().count(),
        7,
        "packed as a difference: {made}"
    );
    fixture.refused("repo:made.txt@HEAD", Code::PointerInvalid, "64 MB");
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "text\n");
}

/// Puts a pipe without a writer in every place that is opened.
#[cfg(unix)]
#[test]
fn nobody_waits_for_a_pipe() {
    let places = [
        ".git/HEAD",
        ".git/config",
        ".git/config.worktree",
        ".git/packed-refs",
        ".git/index",
        ".git/commondir",
        ".git/shallow",
        ".git/info/grafts",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/objects/info/alternates",
        ".git/objects/info/commit-graph",
        ".git/objects/pack/pack-1.idx",
        ".git/objects/pack/multi-pack-index",
        ".git/refs/heads/main",
        ".git/refs/heads/side",
        ".git/refs/tags/side",
        ".git/side",
        ".git/logs/HEAD",
        ".git/engram",
        ".gitignore",
        ".gitattributes",
        "folder/.gitignore",
        "folder/.gitattributes",
        "folder/a.txt",
        "folder/.git",
    ];
    for place in places {
        for before in [true, false] {
            let fixture = Fixture::with(&[("folder/a.txt", b"a\r\nb\n"), ("b.txt", b"b\n")]);
            fixture.git(&["branch", "side"]);
            fixture.write("folder/new.txt", b"new\n");
            let packs = fixture.root().join(".git/objects/pack");
            fs::create_dir_all(&packs).unwrap();
            fs::write(packs.join("pack-1.pack"), b"PACK").unwrap();
            let opened = (!before).then(|| fixture.repo());
            pipe(&fixture.root().join(place));
            let root = fixture.root().to_owned();
            run_to_end(place, move || {
                let repo = match opened {
                    // The engine checks this before each request, too.
                    Some(repo) if repo.is_as_opened() => Ok(repo),
                    _ => Repo::open(&root),
                };
                let found = Repo::discover(&root.join("folder"));
                for repo in [repo.ok(), found.ok().flatten()].into_iter().flatten() {
                    ask_everything(&repo);
                }
            });
        }
    }
}

#[cfg(unix)]
fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success(), "{}", path.display());
}

fn ask_everything(repo: &Repo) {
    for pointer in [
        "repo:folder/a.txt@HEAD",
        "repo:folder/a.txt#L1@worktree",
        "repo:folder/new.txt@worktree",
        "repo:folder/a.txt@side",
        "repo:b.txt@HEAD@{1}",
        "repo:nothing@HEAD",
        "diff:HEAD..side#b.txt",
    ] {
        ask(repo, pointer);
    }
    repo.own_file("engram");
    repo.is_named_back();
    let _ = (repo.largest_files(2), lately(repo));
    let sides = [
        RepoState::Commit("HEAD".into()),
        RepoState::Index,
        RepoState::Worktree,
    ];
    let span = Span {
        path: "folder/a.txt".to_owned(),
        start: 1,
        end: 2,
    };
    for from in &sides {
        for to in &sides {
            track(repo, from, to, std::slice::from_ref(&span));
        }
    }
    let origin = SpanOrigin::Commit("HEAD".to_owned());
    let pinned = PinnedSpan { origin, span };
    let _ = Anchors::default().standings(repo, &Stored::default(), &[pinned]);
}

/// Puts a pipe at the path of a loose object.
#[cfg(unix)]
#[test]
fn an_object_that_is_a_pipe_is_damage() {
    let fixture = Fixture::with(&[("folder/a.txt", b"a\n"), ("b.txt", b"b\n")]);
    for name in ["HEAD", "HEAD^{tree}", "HEAD:folder", "HEAD:folder/a.txt"] {
        let id = fixture.git(&["rev-parse", name]);
        let at = fixture
            .root()
            .join(".git/objects")
            .join(&id[..2])
            .join(&id[2..]);
        let kept = fs::read(&at).unwrap();
        pipe(&at);
        let repo = fixture.repo();
        run_to_end(name, move || ask_everything(&repo));
        fixture.refused("repo:folder/a.txt@HEAD", Code::RepoUnavailable, "git fsck");
        fs::remove_file(&at).unwrap();
        fs::write(&at, kept).unwrap();
    }
    assert_eq!(fixture.text("repo:folder/a.txt@HEAD"), "a\n");
}

#[test]
fn settings_that_include_without_an_end_are_refused() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let config = fixture.root().join(".git/config");
    let own = fs::read_to_string(&config).unwrap();
    // Each of ten includes the next one ten times.
    for depth in 0..10 {
        let more = format!("[include]\n\tpath = more-{}\n", depth + 1).repeat(10);
        fs::write(fixture.root().join(format!(".git/more-{depth}")), more).unwrap();
    }
    for (more, says) in [
        ("[include]\n\tpath = more-0\n".to_owned(), "too many"),
        ("[include]\n\tpath = \\\"x\n".to_owned(), "escapes"),
        (format!("[a]\n{}", "\tb = c\n".repeat(1 << 19)), "too large"),
    ] {
        fs::write(&config, format!("{own}{more}")).unwrap();
        let root = fixture.root().to_owned();
        let opened = run_to_end("settings", move || Repo::open(&root).map(|_| ()));
        refused(opened, &more[..20], Code::RepoUnavailable, says);
    }
    fs::write(
        &config,
        format!("{own}[include]\n\tpath = \"other\" ; more\n"),
    )
    .unwrap();
    assert_eq!(fixture.text("repo:a.txt@HEAD"), "text\n");
}

/// Cancelling a request ends it at any point, and the next request is answered.
#[test]
fn what_is_stopped_ends() {
    let fixture = Fixture::with(&[("a.txt", b"one and two and three\n")]);
    for at in 0..20 {
        fixture.change("a.txt", format!("one and two and three\n{at}\n"), "more");
    }
    fixture.write("new.txt", b"new\n");
    let repo = fixture.repo();
    repo.until(Stop::when(|| true));
    let span = Span {
        path: "a.txt".to_owned(),
        start: 1,
        end: 1,
    };
    let commit = |rev: &str| RepoState::Commit(rev.to_owned());
    let first = fixture.git(&["rev-parse", "HEAD~20"]);
    let stopped = |found: Result<(), Refusal>, what: &str| {
        refused(
            found,
            what,
            Code::RepoUnavailable,
            "longer than one request may",
        );
    };
    let read = |pointer: &str| {
        let pointer = pointer.parse().unwrap();
        resolve(Some(&repo), &Stored::default(), &pointer).map(|_| ())
    };
    stopped(read("repo:a.txt@HEAD~20"), "a walk back");
    for to in [commit("HEAD"), RepoState::Worktree] {
        let found = track(&repo, &commit(&first), &to, std::slice::from_ref(&span));
        stopped(
            found.into_iter().next().unwrap().map(|_| ()),
            "lines that are followed",
        );
    }
    let told = blame(
        Some(&repo),
        &Stored::default(),
        &"repo:a.txt@HEAD".parse().unwrap(),
    );
    assert!(
        told.unwrap().parts.iter().all(|it| it.or_before),
        "no commit was searched"
    );
    repo.until(Stop::default());
    assert!(read("repo:a.txt@HEAD~20").is_ok());
    let found = track(&repo, &commit(&first), &commit("HEAD"), &[span]);
    assert_eq!(found[0].as_ref().unwrap().state, SpanState::Unchanged);
}
