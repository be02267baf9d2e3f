//! The window's view of a span.

use engram_model::{Class, Side, SourceReply};
use engram_pointers::source;

use crate::fixture::{Fixture, Stored};

#[track_caller]
fn view(fixture: &Fixture, pointer: &str, context: u32) -> SourceReply {
    source(
        Some(&fixture.repo()),
        &Stored::default(),
        &pointer.parse().unwrap(),
        context,
    )
    .unwrap()
}

fn numbers(view: &SourceReply) -> (Vec<u32>, Vec<u32>) {
    let all = view.lines.iter().map(|l| l.number).collect();
    let marked = view.lines.iter().filter(|l| l.marked).map(|l| l.number);
    (all, marked.collect())
}

#[test]
fn the_span_is_marked_among_its_surroundings() {
    let text: String = (1..=20).map(|n| format!("line {n}\r\n")).collect();
    let fixture = Fixture::with(&[("a.txt", text.as_bytes()), ("empty", b"")]);
    for (span, context, all, marked) in [
        ("#L10-L11", 2, 8..=13, 10..=11),
        ("#L1", 3, 1..=4, 1..=1),
        ("#L20", 3, 17..=20, 20..=20),
        ("#L5", 0, 5..=5, 5..=5),
        ("#L5", u32::MAX, 1..=20, 5..=5),
        ("", 3, 1..=20, 1..=20),
    ] {
        let view = view(&fixture, &format!("repo:a.txt{span}@HEAD"), context);
        assert_eq!(
            numbers(&view),
            (all.collect(), marked.clone().collect()),
            "{span}"
        );
        assert_eq!(view.total_lines, 20);
        assert_eq!(view.open_line, *marked.start());
        assert_eq!(view.digest_matches, None);
        let path = fixture.root().join("a.txt");
        assert_eq!(view.open_path.as_deref(), path.to_str());
        assert!(
            view.lines
                .iter()
                .all(|l| l.text == format!("line {}", l.number))
        );
    }
    let empty = view(&fixture, "repo:empty@HEAD", 3);
    assert_eq!(
        (empty.lines.len(), empty.total_lines, empty.open_line),
        (0, 0, 1)
    );
}

#[test]
fn a_stored_digest_is_compared_with_what_is_there() {
    let fixture = Fixture::with(&[("a.txt", b"one\ntwo\n")]);
    let repo = fixture.repo();
    let resolved = fixture.resolve("repo:a.txt#L2@HEAD").unwrap();
    let same = source(Some(&repo), &Stored::default(), &resolved.pointer, 1).unwrap();
    assert_eq!(same.digest_matches, Some(true));
    assert_eq!(same.pointer, resolved.pointer);
    let other = resolved.pointer.with_digest(Some("ab".repeat(32))).unwrap();
    let differs = source(Some(&repo), &Stored::default(), &other, 1).unwrap();
    assert_eq!(differs.digest_matches, Some(false));
    assert_eq!(differs.content_digest, same.content_digest);
}

#[test]
fn at_most_five_thousand_lines_and_the_span_among_them() {
    let text: String = (1..=30_000).map(|n| format!("{n}\n")).collect();
    let fixture = Fixture::with(&[("a.txt", text.as_bytes())]);
    for (span, context, first, count) in [
        ("#L15000", u32::MAX, 12_501, 4_999),
        ("#L10000-L29999", 50, 10_000, 5_000),
        ("#L29990-L30000", 9_000, 27_496, 2_505),
        ("", 3, 1, 5_000),
    ] {
        let view = view(&fixture, &format!("repo:a.txt{span}@HEAD"), context);
        assert_eq!(
            (view.lines[0].number, view.lines.len()),
            (first, count),
            "{span}"
        );
        assert!(view.lines.iter().any(|l| l.marked), "{span}");
        assert_eq!(view.total_lines, 30_000);
    }
}

#[test]
fn every_kind_can_be_viewed() {
    let fixture = Fixture::with(&[
        ("doc.md", b"intro\n\n# A\na\n## B\nb\n# C\n"),
        ("t.py", b"import x\n\ndef test_a():\n    x()\n\ny = 1\n"),
        ("gone.txt", b"1\n"),
    ]);
    fixture.write("doc.md", b"intro\n\n# A\nchanged\n## B\nb\n# C\n");
    std::fs::remove_file(fixture.root().join("gone.txt")).unwrap();
    fixture.commit("second");

    let section = view(&fixture, "artifact:doc.md#sec=A@HEAD~1", 1);
    assert_eq!(numbers(&section), ((2..=7).collect(), (3..=6).collect()));
    assert_eq!(
        (section.open_line, section.label.as_str()),
        (3, "doc.md §A")
    );

    let test = view(&fixture, "test:t.py::test_a@HEAD", 1);
    assert_eq!(numbers(&test), ((2..=5).collect(), vec![3, 4]));

    let diff = view(&fixture, "diff:HEAD~1..HEAD#doc.md", 1);
    let told: Vec<_> = diff
        .lines
        .iter()
        .filter(|l| l.side != Side::Both)
        .map(|l| (l.side, l.before, l.number, l.text.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Side::Hunk, 0, 0, "@@ -1,7 +1,7 @@"),
            (Side::Removed, 4, 0, "a"),
            (Side::Added, 0, 4, "changed"),
        ]
    );
    assert_eq!(diff.open_line, 4);
    assert!(diff.open_path.is_some());

    let gone = view(&fixture, "repo:gone.txt@HEAD~1", 1);
    assert_eq!(gone.open_path, None);

    let mut shelf = Stored::default();
    let key = ("note".to_owned(), "s".to_owned(), "2026-01-08".to_owned());
    shelf.events.insert(key, "one\ntwo".to_owned());
    let note = source(None, &shelf, &"sam:note:s@2026-01-08".parse().unwrap(), 0).unwrap();
    assert_eq!(numbers(&note), (vec![1, 2], vec![1, 2]));
    assert_eq!((note.open_path, note.total_lines), (None, 2));
}

#[cfg(unix)]
#[test]
fn a_path_that_leaves_the_working_tree_is_not_opened() {
    let fixture = Fixture::with(&[("a.txt", b"one\n")]);
    std::fs::write(fixture.beside("out"), "x").unwrap();
    std::fs::remove_file(fixture.root().join("a.txt")).unwrap();
    std::os::unix::fs::symlink("../out", fixture.root().join("a.txt")).unwrap();
    let view = view(&fixture, "repo:a.txt@HEAD", 0);
    assert_eq!(view.open_path, None);
    assert_eq!(view.lines[0].text, "one");
}

#[test]
fn lines_are_painted_as_the_whole_file_reads() {
    let text = "/* one\n two\n three */\nfn a() {}\n";
    let fixture = Fixture::with(&[("a.rs", text.as_bytes()), ("a.bin.txt", b"fn a() {}\n")]);
    let rust = view(&fixture, "repo:a.rs#L2-L4@HEAD", 0);
    assert_eq!(rust.language.as_deref(), Some("Rust"));
    let first = |n: usize| rust.lines[n].pieces.first().map(|piece| piece.0);
    assert_eq!(
        [first(0), first(1), first(2)],
        [
            Some(Class::Comment),
            Some(Class::Comment),
            Some(Class::Keyword)
        ],
        "a comment that began before the span"
    );
    let plain = view(&fixture, "repo:a.bin.txt@HEAD", 0);
    assert_eq!((plain.language, plain.lines[0].pieces.len()), (None, 0));
}

#[test]
fn a_long_line_is_cut_and_says_so() {
    let text = format!("{}\nb\r\n", "x".repeat(1 << 20));
    let fixture = Fixture::with(&[("a.js", text.as_bytes())]);
    let view = view(&fixture, "repo:a.js@HEAD", 0);
    assert_eq!(
        (view.lines[0].text.len(), view.lines[0].cut),
        (2_000, (1 << 20) - 2_000 + 1)
    );
    assert_eq!((view.lines[1].text.as_str(), view.lines[1].cut), ("b", 0));
}
