//! Pointers that are meant to do harm, and harmless names that look like them.

use engram_model::{Code, Lines, Pin, Pointer, Recorded, Refusal, Target};
use engram_pointers::{Anchors, PinnedSpan, Shelf, SpanOrigin, resolve, source, track::Span};
use jiff::civil::Date;

use crate::fixture::{Fixture, Stored, sha256, view_around};

#[test]
fn hostile_pointers_are_refused() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    let long = "x".repeat(1 << 20);
    for pointer in [
        "repo:../secret@HEAD",
        "repo:a/../../secret@HEAD",
        "repo:a\\..\\..\\secret@HEAD",
        "repo:/etc/passwd@HEAD",
        "repo:C:\\windows@HEAD",
        "repo:\\\\host\\share@HEAD",
        "repo:.git/config@worktree",
        "repo:.GIT/config@worktree",
        "repo:--upload-pack=x@HEAD",
        "repo:a.txt@--upload-pack=x",
        "repo:a\0.txt@HEAD",
        "repo:a\n.txt@HEAD",
        "repo:a.txt@HEAD:a.txt",
        "repo:./a.txt@HEAD",
        "repo:a//a.txt@HEAD",
        "repo:@HEAD",
        "artifact:../x#sec=A@HEAD",
        "test:../x::t@HEAD",
        "diff:HEAD..--output=x#a.txt",
        "diff:HEAD..HEAD#../a.txt",
        &format!("repo:{long}@HEAD"),
        &format!("repo:a.txt@{long}"),
        &long,
    ] {
        let refusal = fixture.resolve(pointer).unwrap_err();
        assert_eq!(
            refusal.code,
            Code::PointerInvalid,
            "{pointer:.80}: {refusal}"
        );
        assert!(refusal.to_string().len() < 600, "{pointer:.80}");
    }
    fixture.refused("repo:a.txt", Code::PointerUnpinned, "@HEAD");
}

/// Without the parser, too, a hand-made target cannot leave the repository or end the process.
#[test]
fn hostile_targets_are_refused_without_the_parser() {
    let fixture = Fixture::with(&[("a.txt", b"text\n")]);
    std::fs::write(fixture.beside("secret"), "secret\n").unwrap();
    let repo = fixture.repo();
    let long = "x/".repeat(1 << 19);
    let paths = [
        "../secret",
        "/etc/passwd",
        ".git/config",
        ".GIT/config",
        "",
        ".",
        "..",
        "a.txt/",
        "a\0b",
        "a\nb",
        "C:\\x",
        "\\\\h\\s",
        "-x",
        &long,
        "a.txt/../../secret",
    ];
    let pins = [
        Pin::Worktree,
        Pin::Rev("HEAD".into()),
        Pin::Rev("a\0b".into()),
        Pin::Rev("--all".into()),
        Pin::Rev(long.clone()),
        Pin::Rev(String::new()),
        Pin::Digest("../../x".into()),
    ];
    for path in paths {
        for pin in pins.clone() {
            let (path, lines) = (path.to_owned(), Some(Lines { start: 0, end: 0 }));
            let rev = match &pin {
                Pin::Rev(rev) => rev.clone(),
                _ => "HEAD".to_owned(),
            };
            for target in [
                Target::Repo {
                    path: path.clone(),
                    lines,
                    pin: pin.clone(),
                },
                Target::Artifact {
                    name: path.clone(),
                    section: Some("\0".into()),
                    pin: pin.clone(),
                },
                Target::Test {
                    path: path.clone(),
                    name: "\0(((".into(),
                    pin: pin.clone(),
                },
                Target::Diff {
                    base: rev.clone(),
                    head: rev.clone(),
                    path: path.clone(),
                    lines,
                },
            ] {
                let pointer = Pointer {
                    target,
                    digest: None,
                };
                let shelf = Stored::default();
                let text = resolve(Some(&repo), &shelf, &pointer).map(|r| r.text());
                // For a path that ends in a slash, only the committed file may come back.
                assert!(
                    !text.clone().unwrap_or_default().contains("secret"),
                    "{pointer:?}"
                );
                assert!(text.is_err() || path == "a.txt/", "{path:.20}: {text:?}");
                let _ = source(Some(&repo), &shelf, &pointer, view_around(u32::MAX));
            }
        }
    }
}

#[test]
fn odd_names_are_ordinary_files() {
    let names = [
        ("with space.txt", "with space.txt"),
        ("a@b.txt", "a%40b.txt"),
        ("c#d.md", "c%23d.md"),
        ("100%.txt", "100%.txt"),
        ("x%40y", "x%2540y"),
        ("漢字/é.txt", "漢字/é.txt"),
        ("quote\"s'.txt", "quote\"s'.txt"),
        ("dir.git/x", "dir.git/x"),
        ("..hidden", "..hidden"),
        ("[a]*?.txt", "[a]*?.txt"),
        ("$(touch pwned);.txt", "$(touch pwned);.txt"),
    ];
    let files: Vec<(&str, &[u8])> = names.iter().map(|(n, _)| (*n, n.as_bytes())).collect();
    let fixture = Fixture::with(&files);
    for (name, written) in names {
        for pin in ["HEAD", "worktree"] {
            let pointer = format!("repo:{written}@{pin}");
            assert_eq!(fixture.text(&pointer), name, "{pointer}");
        }
        let resolved = fixture.resolve(&format!("repo:{written}#L1@HEAD")).unwrap();
        let again = fixture.resolve(&resolved.pointer.to_string()).unwrap();
        assert_eq!(again.pointer, resolved.pointer, "{name}");
        assert_eq!(
            fixture
                .resolve(&format!("diff:HEAD..HEAD#{written}"))
                .unwrap_err()
                .code,
            Code::PointerNotFound
        );
    }
}

#[test]
fn a_missing_path_is_answered_with_the_nearest() {
    let fixture = Fixture::with(&[
        ("src/ledger/mod.rs", b"1\n"),
        ("src/store/mod.rs", b"2\n"),
        ("README.md", b"3\n"),
    ]);
    for (pointer, says) in [
        ("repo:store/mod.rs@HEAD", "Did you mean src/store/mod.rs?"),
        (
            "repo:src\\store\\mod.rs@HEAD",
            "Did you mean src/store/mod.rs?",
        ),
        ("repo:readme.md@HEAD", "Did you mean README.md?"),
        ("repo:nothing.rs@HEAD", "@worktree"),
        ("repo:README.md/x@HEAD", ""),
        ("diff:HEAD..HEAD#Mod.rs", "mod.rs?"),
        ("repo:nothing.rs@worktree", "@HEAD"),
        ("repo:README.md/x@worktree", "does not exist"),
    ] {
        fixture.refused(pointer, Code::PointerNotFound, says);
    }
}

#[test]
fn what_is_not_in_git_comes_from_the_shelf() {
    let mut shelf = Stored::default();
    let hex = shelf.keep(b"# A\none\n# B\ntwo\n");
    let day = (
        "decision".to_owned(),
        "domain".to_owned(),
        "2026-01-08".to_owned(),
    );
    shelf
        .events
        .insert(day, "We publish under example.org.\n".to_owned());
    for (pointer, text) in [
        (
            format!("artifact:plan@sha256:{hex}"),
            "# A\none\n# B\ntwo\n",
        ),
        (format!("artifact:plan#sec=b@sha256:{hex}"), "# B\ntwo\n"),
        (format!("repo:plan.md#L2@sha256:{hex}"), "one\n"),
        (
            "sam:decision:domain@2026-01-08".to_owned(),
            "We publish under example.org.\n",
        ),
    ] {
        let resolved = resolve(None, &shelf, &pointer.parse().unwrap()).unwrap();
        assert_eq!(resolved.text(), text, "{pointer}");
        assert_eq!(resolved.pointer.to_string(), pointer);
    }
    let unknown = "ab".repeat(32);
    let liar = crate::fixture::sha256(b"true");
    shelf.blobs.insert(liar.clone(), b"false".to_vec());
    for (pointer, code, says) in [
        (
            format!("artifact:plan@sha256:{unknown}"),
            Code::PointerNotFound,
            "abababa",
        ),
        (
            format!("artifact:plan@sha256:{liar}"),
            Code::StoreCorrupt,
            "damaged",
        ),
        (
            "sam:decision:other@2026-01-08".to_owned(),
            Code::PointerNotFound,
            "a note that was just stored",
        ),
        (
            "sam:decision:domain@2026-01-09".to_owned(),
            Code::PointerNotFound,
            "Check its kind, slug and date",
        ),
        (
            "url:https://example.org/".to_owned(),
            Code::DerefDenied,
            "turn",
        ),
    ] {
        let result = resolve(None, &shelf, &pointer.parse().unwrap());
        crate::fixture::refused(result, &pointer, code, says);
    }
}

/// The bytes stored for one file.
struct OfPlan(Vec<u8>);

impl Shelf for OfPlan {
    fn blob(&self, path: &str, digest_hex: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let is_it = path == "plan.md" && digest_hex == sha256(&self.0);
        Ok(is_it.then(|| self.0.clone()))
    }

    fn event(&self, _: &str, _: &str, _: Date) -> Result<Option<(String, Recorded)>, Refusal> {
        Ok(None)
    }

    fn urls_allowed(&self) -> bool {
        false
    }
}

/// Bytes that were stored for one file are evidence of that file alone, whatever path is asked for.
#[test]
fn what_was_stored_is_asked_for_by_its_path() {
    let fixture = Fixture::with(&[("plan.md", b"# A\none\n"), ("other.md", b"else\n")]);
    let shelf = OfPlan(b"# A\nkept\n".to_vec());
    let (repo, hex) = (fixture.repo(), sha256(&shelf.0));
    for (name, want) in [("plan.md", true), ("other.md", false), ("Plan.md", false)] {
        for pointer in [
            format!("repo:{name}@sha256:{hex}"),
            format!("repo:{name}#L1@sha256:{hex}"),
            format!("artifact:{name}#sec=A@sha256:{hex}"),
        ] {
            let pointer = pointer.parse().unwrap();
            assert_eq!(
                resolve(Some(&repo), &shelf, &pointer).is_ok(),
                want,
                "{pointer}"
            );
            let seen = source(Some(&repo), &shelf, &pointer, view_around(1));
            assert_eq!(seen.is_ok(), want, "{pointer}");
        }
        let pinned = PinnedSpan {
            origin: SpanOrigin::Kept {
                digest_hex: hex.clone(),
                base: None,
            },
            span: Span {
                path: name.to_owned(),
                start: 1,
                end: 1,
            },
        };
        let looked = Anchors::default()
            .standings(&repo, &shelf, &[pinned])
            .unwrap();
        assert_eq!(looked.standings[0].here.is_ok(), want, "{name}");
    }
}
