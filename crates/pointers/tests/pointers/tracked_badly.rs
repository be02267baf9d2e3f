//! Bad input to tracking gives a refusal for that span alone.

use std::fs;

use engram_model::{Code, PointerEdit};
use engram_pointers::track::{RepoState, Span, SpanState, track};

use crate::{
    fixture::{Fixture, refused},
    tracked::{follow, span},
};

fn commits(from: &str, to: &str) -> (RepoState, RepoState) {
    (RepoState::Commit(from.into()), RepoState::Commit(to.into()))
}

#[test]
fn each_bad_span_is_refused_alone() {
    let inner = Fixture::with(&[("f", b"inside\n")]);
    let fixture = Fixture::with(&[
        ("good.txt", b"one\ntwo\nthree\n"),
        ("empty", b""),
        ("binary", b"a\0b\n"),
        ("folder/file", b"x\n"),
        (
            "lfs",
            b"version https://git-lfs.example/spec/v1\noid sha256:4d7a\nsize 12345\n",
        ),
    ]);
    let url = inner.root().to_string_lossy().into_owned();
    fixture.git(&["submodule", "--quiet", "add", &url, "sub"]);
    std::os::unix::fs::symlink("good.txt", fixture.root().join("link")).unwrap();
    fixture.commit("second");
    let bad: &[(Span, Code, &str)] = &[
        (
            span("missing", 1, 1),
            Code::PointerNotFound,
            "does not exist",
        ),
        (span("good.txt", 3, 4), Code::PointerNotFound, "no line 4"),
        (span("good.txt", 0, 1), Code::PointerInvalid, "not a span"),
        (span("good.txt", 3, 2), Code::PointerInvalid, "not a span"),
        (
            span("good.txt", 1, u32::MAX),
            Code::PointerNotFound,
            "no line",
        ),
        (span("empty", 1, 1), Code::PointerNotFound, "no line 1"),
        (span("binary", 1, 1), Code::PointerInvalid, "binary"),
        (span("folder", 1, 1), Code::PointerInvalid, "folder"),
        (span("sub", 1, 1), Code::PointerInvalid, "submodule"),
        (span("sub/f", 1, 1), Code::PointerInvalid, "submodule"),
        (span("link", 1, 1), Code::PointerInvalid, "link"),
        (span("", 1, 1), Code::PointerInvalid, "folder"),
        (span("../good.txt", 1, 1), Code::PointerInvalid, "leaves"),
        (span("/good.txt", 1, 1), Code::PointerInvalid, "own path"),
        (
            span("good.txt\0", 1, 1),
            Code::PointerNotFound,
            "does not exist",
        ),
        (
            span(&"x/".repeat(5000), 1, 1),
            Code::PointerNotFound,
            "does not exist",
        ),
    ];
    // The bad spans stand between good ones, which must still be followed.
    let mut asked = vec![span("good.txt", 1, 2), span("lfs", 2, 2)];
    asked.extend(bad.iter().map(|it| it.0.clone()));
    asked.push(span("good.txt", 3, 3));
    let (from, to) = commits("HEAD", "HEAD~1");
    let answers = track(&fixture.repo(), &from, &to, &asked);
    assert_eq!(answers.len(), asked.len());
    for (asked, answer) in asked.iter().zip(answers) {
        match bad.iter().find(|it| it.0 == *asked) {
            Some((_, code, says)) => refused(answer, &format!("{asked:?}"), *code, says),
            None => assert_eq!(answer.unwrap().state, SpanState::Unchanged, "{asked:?}"),
        }
    }
}

#[test]
fn an_unknown_revision_is_refused_for_each_span() {
    let fixture = Fixture::with(&[("f", b"one\n")]);
    let bare = fixture.beside("bare.git");
    fixture.git(&["clone", "-q", "--bare", ".", &bare.to_string_lossy()]);
    let repo = fixture.repo();
    for rev in ["nowhere", "", "HEAD~9", "HEAD:f", "\0", "deadbeef", "--all"] {
        let (good, bad) = commits("HEAD", rev);
        for (from, to) in [(&good, &bad), (&bad, &good)] {
            let answers = track(&repo, from, to, &[span("f", 1, 1), span("g", 1, 1)]);
            assert_eq!(answers.len(), 2);
            assert!(answers.iter().all(Result::is_err), "{rev:?}");
        }
    }
    let bare = engram_pointers::Repo::open(&bare).unwrap();
    let (head, _) = commits("HEAD", "HEAD");
    for side in [RepoState::Index, RepoState::Worktree] {
        let refused = track(&bare, &head, &side, &[span("f", 1, 1)]).remove(0);
        let refusal = refused.unwrap_err();
        assert!(refusal.message.contains("bare"), "{refusal}");
    }
    assert!(track(&bare, &head, &head, &[span("f", 1, 1)])[0].is_ok());
}

/// Damages loose objects one by one; requests that do not need the damaged one still succeed.
#[test]
fn a_damaged_object_is_an_error_for_what_needs_it() {
    let fixture = Fixture::with(&[
        ("safe/a", b"alpha\nbeta\n"),
        ("hurt/b", b"gamma\ndelta\n"),
        ("hurt/c", b"epsilon\nzeta\n"),
    ]);
    fixture.write("safe/a", b"new\nalpha\nbeta\n");
    fixture.write("hurt/b", b"new\ngamma\ndelta\n");
    fixture.git(&["rm", "-q", "hurt/c"]);
    fixture.write("hurt/d", b"something else entirely\n");
    fixture.commit("second");
    let asked = [
        span("safe/a", 1, 2),
        span("hurt/b", 1, 2),
        span("hurt/c", 1, 2),
    ];
    let (from, to) = commits("HEAD~1", "HEAD");
    for object in ["HEAD:hurt/b", "HEAD:hurt/d", "HEAD:hurt", "HEAD~1:hurt"] {
        let id = fixture.git(&["rev-parse", object]);
        let at = fixture
            .root()
            .join(".git/objects")
            .join(&id[..2])
            .join(&id[2..]);
        let whole = fs::read(&at).unwrap();
        let mut permissions = fs::metadata(&at).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
        fs::set_permissions(&at, permissions).unwrap();
        fs::write(&at, b"not an object").unwrap();
        let answers = track(&fixture.repo(), &from, &to, &asked);
        let safe = answers[0].as_ref().unwrap();
        assert_eq!(safe.state, SpanState::Moved, "{object}");
        if object != "HEAD:hurt/d" {
            refused(
                answers[1].clone(),
                object,
                Code::RepoUnavailable,
                "git fsck",
            );
        }
        fs::write(&at, whole).unwrap();
    }
}

#[test]
fn a_shallow_clone_answers_with_what_it_has() {
    let fixture = Fixture::with(&[("f", b"one line of text\nanother line of text\n")]);
    let first = fixture.git(&["rev-parse", "HEAD"]);
    for n in 0..4 {
        fixture.write(
            "f",
            format!("{n}\none line of text\nanother line of text\n").as_bytes(),
        );
        fixture.commit("more");
    }
    let repo = fixture.shallow(2);
    let (from, to) = commits("HEAD~1", "HEAD");
    let found = track(&repo, &from, &to, &[span("f", 2, 3)]);
    assert_eq!(found[0].as_ref().unwrap().state, SpanState::Unchanged);
    let (beyond, to) = commits(&first, "HEAD");
    let refused = track(&repo, &beyond, &to, &[span("f", 2, 3)]).remove(0);
    let refusal = refused.unwrap_err();
    assert!(refusal.hint.contains("unshallow"), "{refusal:?}");
}

/// A checkout may have other line ends than the stored file; only differences that git sees count.
#[test]
fn line_ends_of_the_checkout_are_no_edit() {
    for (name, attributes, autocrlf, want) in [
        ("autocrlf", "", "true", SpanState::Unchanged),
        ("input", "", "input", SpanState::Unchanged),
        ("text", "* text eol=crlf\n", "false", SpanState::Unchanged),
        ("auto", "* text=auto\n", "false", SpanState::Unchanged),
        ("eol alone", "* eol=crlf\n", "false", SpanState::Unchanged),
        (
            "not text",
            "* -text\n",
            "true",
            SpanState::Edited(PointerEdit::Whitespace),
        ),
        (
            "nothing said",
            "",
            "false",
            SpanState::Edited(PointerEdit::Whitespace),
        ),
    ] {
        let fixture = Fixture::with(&[
            (".gitattributes", attributes.as_bytes()),
            ("f", b"alpha one\nbeta two\ngamma three\n"),
        ]);
        fixture.git(&["config", "core.autocrlf", autocrlf]);
        fixture.write("f", b"alpha one\r\nbeta two\r\ngamma three\r\n");
        let head = RepoState::Commit("HEAD".into());
        let found = track(
            &fixture.repo(),
            &head,
            &RepoState::Worktree,
            &[span("f", 1, 2)],
        );
        assert_eq!(found[0].as_ref().unwrap().state, want, "{name}");
    }
}

/// A checkout with Git LFS holds the file itself, while git stores a stand-in of a few lines.
#[test]
fn a_file_of_lfs_is_compared_as_it_is_stored() {
    let stands_for = |bytes: &[u8]| {
        let oid = crate::fixture::sha256(bytes);
        let size = bytes.len();
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
    };
    let content = b"\0\x01 a picture".as_slice();
    let fixture = Fixture::with(&[
        (
            ".gitattributes",
            b"*.bin filter=lfs -text\n*.age filter=crypt\n",
        ),
        ("a.bin", stands_for(content).as_bytes()),
        ("b.age", b"sealed\n"),
        ("plain", b"one line\n"),
    ]);
    let head = RepoState::Commit("HEAD".into());
    let asked = ["a.bin", "b.age", "plain"].map(|it| span(it, 1, 1));
    let look = || track(&fixture.repo(), &head, &RepoState::Worktree, &asked);
    for (what, on_disk, want) in [
        (
            "not fetched",
            stands_for(content).into_bytes(),
            SpanState::Unchanged,
        ),
        ("fetched", content.to_vec(), SpanState::Unchanged),
    ] {
        fixture.write("a.bin", &on_disk);
        assert_eq!(look()[0].as_ref().unwrap().state, want, "{what}");
    }
    let whole = [span("a.bin", 1, 3)];
    fixture.write("a.bin", b"\0\x02 another picture");
    let found = track(&fixture.repo(), &head, &RepoState::Worktree, &whole).remove(0);
    assert_eq!(found.unwrap().state, SpanState::Edited(PointerEdit::Text));
    fixture.write("b.age", b"opened\n");
    let found = look();
    let refusal = found[1].as_ref().unwrap_err();
    assert!(refusal.message.contains("filter crypt"), "{refusal}");
    assert_eq!(found[2].as_ref().unwrap().state, SpanState::Unchanged);
    // Between commits, the stand-in is text like any other.
    fixture.write("a.bin", stands_for(b"another").as_bytes());
    fixture.commit("second");
    let found = follow(&fixture, "HEAD~1", "HEAD", &span("a.bin", 1, 3));
    assert_eq!(found.state, SpanState::Edited(PointerEdit::Text));
}

/// Packs are rewritten and old ones deleted while spans are followed; no object is missed.
#[test]
fn a_repository_may_be_packed_meanwhile() {
    let fixture = Fixture::with(&[("f", b"alpha one\nbeta two\ngamma three\n")]);
    for n in 0..30 {
        let text = format!("line {n}\nalpha one\nbeta two\ngamma three\n");
        fixture.write("f", text.as_bytes());
        fixture.commit("next");
    }
    let (from, to) = commits(
        &fixture.git(&["rev-parse", "HEAD~30"]),
        &fixture.git(&["rev-parse", "HEAD"]),
    );
    let repo = fixture.repo();
    let asked = [span("f", 2, 3)];
    let expected = track(&repo, &from, &to, &asked);
    assert_eq!(expected[0].as_ref().unwrap().state, SpanState::Moved);
    let mut looked = 0;
    for _ in 0..3 {
        let mut packing = engram_kit::git_command(fixture.root());
        packing.args(["gc", "-q", "--prune=now", "--aggressive"]);
        let mut packing = packing.spawn().unwrap();
        loop {
            assert_eq!(track(&repo, &from, &to, &asked), expected);
            looked += 1;
            if packing.try_wait().unwrap().is_some() {
                break;
            }
        }
        fixture.write("g", looked.to_string().as_bytes());
        fixture.commit("more to pack");
    }
}
