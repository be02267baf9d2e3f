//! The window's view of a span.

use engram_model::{Class, Code, DiffSide, MediaKind, Pointer, SourceReply};
use engram_pointers::{Resolved, View, line, source};

use crate::fixture::{Fixture, Stored, sha256, view_around};

#[track_caller]
fn view(fixture: &Fixture, pointer: &str, context: u32) -> SourceReply {
    source(
        Some(&fixture.repo()),
        &Stored::default(),
        &pointer.parse().unwrap(),
        view_around(context),
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
    let same = source(
        Some(&repo),
        &Stored::default(),
        &resolved.pointer,
        view_around(1),
    )
    .unwrap();
    assert_eq!(same.digest_matches, Some(true));
    assert_eq!(same.pointer, resolved.pointer);
    let other = resolved.pointer.with_digest(Some("ab".repeat(32))).unwrap();
    let differs = source(Some(&repo), &Stored::default(), &other, view_around(1)).unwrap();
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
        .filter(|l| l.side != DiffSide::Both)
        .map(|l| (l.side, l.before, l.number, l.text.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (DiffSide::Hunk, 0, 0, "@@ -1,7 +1,7 @@"),
            (DiffSide::Removed, 4, 0, "a"),
            (DiffSide::Added, 0, 4, "changed"),
        ]
    );
    assert_eq!(diff.open_line, 4);
    assert!(diff.open_path.is_some());

    let gone = view(&fixture, "repo:gone.txt@HEAD~1", 1);
    assert_eq!(gone.open_path, None);

    let mut shelf = Stored::default();
    let key = ("note".to_owned(), "s".to_owned(), "2026-01-08".to_owned());
    shelf.events.insert(key, "one\ntwo".to_owned());
    let note = source(
        None,
        &shelf,
        &"sam:note:s@2026-01-08".parse().unwrap(),
        view_around(0),
    )
    .unwrap();
    assert_eq!(numbers(&note), (vec![1, 2], vec![1, 2]));
    assert_eq!((note.open_path, note.total_lines), (None, 2));
    assert_eq!(note.recorded.map(|it| it.by).as_deref(), Some("architect"));
    assert_eq!(note.document.len(), 1);
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
        (1_000, (1 << 20) - 1_000)
    );
    assert_eq!((view.lines[1].text.as_str(), view.lines[1].cut), ("b", 0));
}

#[test]
fn a_long_line_is_read_on_in_parts() {
    let emoji = "🦀".repeat(25_000);
    let text = format!("short\n{emoji}\r\n");
    let wide: Vec<u8> = format!("\u{FEFF}{text}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let broken = vec![0x80; 25_000];
    let fixture = Fixture::with(&[
        ("a.txt", text.as_bytes()),
        ("wide.txt", &wide),
        ("broken.txt", &broken),
    ]);
    let part = |pointer: &str, number, from| {
        line(
            Some(&fixture.repo()),
            &Stored::default(),
            &pointer.parse().unwrap(),
            number,
            from,
        )
    };
    for (pointer, number, from, length) in [
        ("repo:a.txt@HEAD", 2, 0, 10_000),
        ("repo:a.txt@HEAD", 2, 20_000, 5_000),
        ("repo:a.txt@HEAD", 2, 25_000, 0),
        ("repo:a.txt@HEAD", 2, u64::MAX, 0),
        ("repo:wide.txt@HEAD", 2, 20_000, 5_000),
        ("repo:broken.txt@HEAD", 1, 10_000, 10_000),
    ] {
        let part = part(pointer, number, from).unwrap();
        assert_eq!(
            (part.text.chars().count(), part.total),
            (length, 25_000),
            "{pointer} {from}"
        );
    }
    for number in [0, 3, u32::MAX] {
        let asked = part("repo:a.txt@HEAD", number, 0);
        assert_eq!(asked.is_err(), number > 0, "line {number}");
    }
}

#[test]
fn no_reply_is_larger_than_a_window_takes_at_once() {
    let dense = format!("{}\n", "a=1;".repeat(250)).repeat(5_000);
    let code: String = (1..=5_000)
        .map(|n| format!("let value_{n} = \"{n}\"; // {n}\n"))
        .collect();
    let spread = format!("{}\n", "\u{202E}".repeat(1 << 18)).repeat(4);
    let fixture = Fixture::with(&[
        ("dense.js", dense.as_bytes()),
        ("code.rs", code.as_bytes()),
        ("spread.txt", spread.as_bytes()),
    ]);
    for (path, all) in [("dense.js", false), ("code.rs", true), ("spread.txt", true)] {
        let view = view(&fixture, &format!("repo:{path}@HEAD"), 4);
        let json = serde_json::to_vec(&view).unwrap();
        assert!(json.len() < 4 << 20, "{path}: {} bytes", json.len());
        let shown = view.lines.len() as u32;
        assert_eq!(
            shown + view.hidden,
            view.total_lines,
            "{path}: what is left out is counted"
        );
        assert_eq!(view.hidden == 0, all, "{path}");
        let pieces = view.lines.iter().map(|it| it.pieces.len()).max();
        assert!(pieces <= Some(81), "{path}: {pieces:?} pieces in a line");
    }
}

#[test]
fn a_long_file_is_shown_before_it_is_painted() {
    let code = "let value = 12;\n";
    let long = code.repeat(5_000);
    let fixture = Fixture::with(&[
        ("a.rs", code.as_bytes()),
        ("long.rs", long.as_bytes()),
        ("long.unknown", long.as_bytes()),
    ]);
    for (path, unpainted) in [("a.rs", false), ("long.rs", true), ("long.unknown", false)] {
        let pointer = format!("repo:{path}@HEAD").parse().unwrap();
        let ask = |soon| {
            let how = View { context: 4, soon };
            source(Some(&fixture.repo()), &Stored::default(), &pointer, how).unwrap()
        };
        let (soon, whole) = (ask(true), ask(false));
        assert_eq!(
            (soon.unpainted, whole.unpainted),
            (unpainted, false),
            "{path}"
        );
        let pieces = |it: &SourceReply| it.lines[0].pieces.is_empty();
        assert_eq!(pieces(&soon), path != "a.rs", "{path}");
        assert_eq!(pieces(&whole), path == "long.unknown", "{path}");
    }
}

#[test]
fn what_is_no_text_is_said_to_be_such() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";
    let hex = "4d7a".repeat(16);
    let stand_in =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hex}\nsize 12\n");
    let fixture = Fixture::with(&[
        ("a.png", png),
        ("a.out", b"\x7fELF\0\0"),
        ("a.svg", b"<svg onload=alert(1)/>\n"),
        ("model.bin", stand_in.as_bytes()),
        ("wide.txt", b"\xff\xfea\0\n\0"),
    ]);
    fixture.write("a.svg", b"<svg/>\n");
    fixture.commit("second");
    for (pointer, kind, lines) in [
        ("artifact:a.png@HEAD", Some(MediaKind::Picture), 0),
        ("repo:a.png@HEAD", Some(MediaKind::Picture), 0),
        ("artifact:a.out@HEAD", Some(MediaKind::Binary), 0),
        ("artifact:a.svg@HEAD~1", Some(MediaKind::Drawing), 1),
        ("repo:model.bin#L1@HEAD", Some(MediaKind::StandIn), 1),
        ("repo:wide.txt@HEAD", None, 1),
        ("diff:HEAD~1..HEAD#a.svg", None, 3),
    ] {
        let view = view(&fixture, pointer, 0);
        assert_eq!(view.media.as_ref().map(|it| it.kind), kind, "{pointer}");
        assert_eq!(view.lines.len(), lines, "{pointer}");
        assert!(view.open_path.is_some(), "{pointer}");
    }
}

#[test]
fn a_patch_is_read_as_the_comparison_that_it_is() {
    let patch = "From 1 Mon\nSubject: [PATCH] x\n\n---\n a.rs | 2 +-\n\ndiff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n\
        @@ -1,3 +1,3 @@ fn a\n fn a() {}\n--- was a comment\n+++ is one\n\ndiff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -7 +7,2 @@\n-def b(): 1\n+def b(): 2\n+x = 3\n\\ No newline\n";
    let fixture = Fixture::with(&[("fix.patch", patch.as_bytes())]);
    let view = view(&fixture, "artifact:fix.patch@HEAD", 0);
    let told: Vec<_> = view
        .lines
        .iter()
        .filter(|it| it.side != DiffSide::Hunk)
        .map(|it| {
            (
                it.side,
                it.before,
                it.number,
                it.text.as_str(),
                it.pieces.is_empty(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (DiffSide::Both, 1, 1, "fn a() {}", false),
            (DiffSide::Removed, 2, 0, "-- was a comment", true),
            (DiffSide::Added, 0, 2, "++ is one", true),
            (DiffSide::Both, 3, 3, "", true),
            (DiffSide::Removed, 7, 0, "def b(): 1", false),
            (DiffSide::Added, 0, 7, "def b(): 2", false),
            (DiffSide::Added, 0, 8, "x = 3", false),
        ]
    );
    let around = view.lines.iter().filter(|it| it.side == DiffSide::Hunk);
    assert_eq!(around.count(), 15, "the headers and the message are kept");
}

#[test]
fn lines_whose_commit_is_gone_are_known_by_their_digest() {
    let text = b"one\ntwo\nthree\nfour\n# A\ntext\n";
    let gone = "1234567890123456789012345678901234567890";
    for (now, pointer, digested, on_disk, lines) in [
        // Unchanged, moved, and only in the commit that is checked out.
        (
            &text[..],
            "repo:a.md#L2-L3",
            "two\nthree\n",
            true,
            Some((2, 3)),
        ),
        (
            b"new\none\ntwo\nthree\n",
            "repo:a.md#L2-L3",
            "two\nthree\n",
            true,
            Some((3, 4)),
        ),
        (
            b"nothing\n",
            "repo:a.md#L2-L3",
            "two\nthree\n",
            false,
            Some((2, 3)),
        ),
        (
            text,
            "artifact:a.md#sec=A",
            "# A\ntext\n",
            true,
            Some((5, 6)),
        ),
        (
            text,
            "artifact:a.md",
            std::str::from_utf8(text).unwrap(),
            true,
            Some((1, 6)),
        ),
        (text, "repo:a.md#L2-L3", "something else\n", true, None),
        (text, "repo:a.md#L200-L300", "three\n", true, None),
    ] {
        let fixture = Fixture::with(&[("a.md", text)]);
        fixture.write("a.md", now);
        let pinned: Pointer = format!("{pointer}@{gone}").parse().unwrap();
        let pinned = pinned
            .with_digest(Some(sha256(digested.as_bytes())))
            .unwrap();
        let shown = source(
            Some(&fixture.repo()),
            &Stored::default(),
            &pinned,
            view_around(0),
        );
        let Some((start, end)) = lines else {
            assert_eq!(shown.unwrap_err().code, Code::PointerNotFound, "{pointer}");
            continue;
        };
        let shown = shown.unwrap();
        let found_in = shown.found_in.as_ref().unwrap();
        assert!(
            found_in.because.contains(&gone[..7]),
            "{}",
            found_in.because
        );
        assert_eq!(found_in.commit.is_none(), on_disk, "{pointer}");
        assert_eq!(
            numbers(&shown).1,
            (start..=end).collect::<Vec<_>>(),
            "{pointer}"
        );
        assert_eq!(shown.pointer, pinned, "the pin does not change");
        assert_eq!(shown.digest_matches, Some(true));
    }
}

#[test]
fn a_shallow_clone_shows_what_it_still_has() {
    let fixture = Fixture::with(&[("a.txt", b"one\ntwo\n"), ("b.txt", b"one\n")]);
    let pins = ["repo:a.txt#L2@HEAD", "repo:b.txt@HEAD"].map(|it| fixture.resolve(it).unwrap());
    fixture.write("a.txt", b"zero\none\ntwo\n");
    fixture.write("b.txt", b"other\n");
    fixture.commit("second");
    let repo = fixture.shallow(1);
    let show = |it: &Resolved| source(Some(&repo), &Stored::default(), &it.pointer, view_around(0));
    let found = show(&pins[0]).unwrap();
    assert!(found.found_in.is_some());
    assert_eq!(numbers(&found).1, [3]);
    let refusal = show(&pins[1]).unwrap_err();
    assert!(refusal.hint.contains("--unshallow"), "{}", refusal.hint);
}
