//! How the working tree differs from the pin of a pointer, and who wrote the lines.

use engram_model::{DiffSide, Reading, Refusal, SpanNow};
use engram_pointers::{blame, standing_of};

use crate::fixture::{Fixture, Stored};

fn now(fixture: &Fixture, pointer: &str) -> Result<SpanNow, Refusal> {
    standing_of(
        Some(&fixture.repo()),
        &Stored::default(),
        &pointer.parse().unwrap(),
    )
}

#[test]
fn the_working_tree_is_compared_by_bytes() {
    let then = "a\nb\nc\nd\ne\nf\ng\nh\n";
    for (now_text, span, reading, lines) in [
        (Some(then), "#L3-L4", Reading::Same, Some((3, 4))),
        (
            Some("a\nb\nc\nd\nx\n"),
            "#L3-L4",
            Reading::Same,
            Some((3, 4)),
        ),
        (
            Some("x\ny\na\nb\nc\nd\ne\n"),
            "#L3-L4",
            Reading::Moved,
            Some((5, 6)),
        ),
        // The nearest of two places, in whole lines only.
        (
            Some("c\nd\nxc\nd\n\nc\nd\n"),
            "#L3-L4",
            Reading::Moved,
            Some((1, 2)),
        ),
        (
            Some("a\nb\nC\nd\ne\nf\ng\nh\n"),
            "#L3-L4",
            Reading::Edited,
            Some((3, 4)),
        ),
        (
            Some("a\nb\nc\nnew\nd\ne\nf\ng\nh\n"),
            "#L3-L4",
            Reading::Edited,
            Some((3, 5)),
        ),
        (
            Some("a\nb\nc\r\nd\r\ne\nf\ng\nh\n"),
            "#L3-L4",
            Reading::Edited,
            Some((3, 4)),
        ),
        (Some("a\nb\ne\nf\ng\nh\n"), "#L3-L4", Reading::Gone, None),
        (Some(""), "#L3-L4", Reading::Gone, None),
        (Some("a\0b"), "#L3-L4", Reading::Gone, None),
        (None, "#L3-L4", Reading::Gone, None),
        (Some(then), "", Reading::Same, None),
        (Some("a\n"), "", Reading::Edited, Some((1, 1))),
    ] {
        let fixture = Fixture::with(&[("a.txt", then.as_bytes())]);
        match now_text {
            Some(text) => fixture.write("a.txt", text.as_bytes()),
            None => std::fs::remove_file(fixture.root().join("a.txt")).unwrap(),
        }
        let got = now(&fixture, &format!("repo:a.txt{span}@HEAD")).unwrap();
        let at = got.lines.map(|it| (it.start, it.end));
        assert_eq!((got.reading, at), (reading, lines), "{now_text:?} {span}");
    }
}

#[test]
fn a_binary_is_compared_as_a_whole() {
    let png: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let other: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rother";
    for (pointer, path, bytes, reading, is_media) in [
        ("artifact:a.png@HEAD", "a.png", png, Reading::Same, false),
        ("artifact:a.png@HEAD", "a.png", other, Reading::Edited, true),
        (
            "artifact:a.png@HEAD",
            "a.png",
            b"text\n",
            Reading::Edited,
            false,
        ),
        ("artifact:a.png@HEAD", "b.png", png, Reading::Renamed, false),
        ("artifact:a.png@HEAD", "b.png", other, Reading::Gone, false),
        ("repo:a.txt#L1@HEAD", "a.txt", png, Reading::Gone, true),
    ] {
        let fixture = Fixture::with(&[("a.png", png), ("a.txt", b"text\n")]);
        if path == "b.png" {
            std::fs::remove_file(fixture.root().join("a.png")).unwrap();
        }
        fixture.write(path, bytes);
        let got = now(&fixture, pointer).unwrap();
        assert_eq!(got.reading, reading, "{pointer}: {path} {bytes:?}");
        assert_eq!(got.media.is_some(), is_media, "{pointer}: {path} {bytes:?}");
        assert!(got.changes.is_empty(), "no line can be compared");
    }
}

#[test]
fn what_changed_is_told_with_both_numbers() {
    // A short comparison includes the unchanged lines, a long one leaves them out.
    for (last, is_told) in [(45, true), (445, false)] {
        let then: String = (1..=460).map(|n| format!("line {n}\n")).collect();
        let fixture = Fixture::with(&[("a.txt", then.as_bytes())]);
        let text = then
            .replace("line 1\n", "")
            .replace("line 10\n", "ten\n")
            .replace("line 40\n", "");
        fixture.write("a.txt", text.as_bytes());
        let got = now(&fixture, &format!("repo:a.txt#L8-L{last}@HEAD")).unwrap();
        assert_eq!(got.reading, Reading::Edited);
        let there = got.lines.map(|it| (it.start, it.end));
        assert_eq!(there, Some((7, last - 2)));
        let told: Vec<_> = got
            .changes
            .iter()
            .filter(|it| it.side != DiffSide::Both)
            .map(|it| (it.side, it.before, it.number, it.text.as_str()))
            .collect();
        let gap = (!is_told).then_some((DiffSide::Hunk, 0, 0, ""));
        let want = [
            Some((DiffSide::Removed, 10, 0, "line 10")),
            Some((DiffSide::Added, 0, 9, "ten")),
            gap,
            Some((DiffSide::Removed, 40, 0, "line 40")),
        ];
        assert_eq!(
            told,
            want.into_iter().flatten().collect::<Vec<_>>(),
            "changes before the span are left out"
        );
        let length = if is_told { 45 } else { 16 };
        assert_eq!(got.changes.len(), length, "to line {last}");
    }
}

/// A change at the edge is shown whole or not at all: half of one would look like a deletion.
#[test]
fn no_change_is_cut_by_the_edge_of_what_is_shown() {
    let then: Vec<String> = (1..=20).map(|it| format!("line {it}")).collect();
    let changed = |lines: std::ops::RangeInclusive<usize>| -> String {
        let now = |line: usize| {
            let word = if lines.contains(&line) {
                "other"
            } else {
                "line"
            };
            format!("{word} {line}\n")
        };
        (1..=20).map(now).collect()
    };
    for (lines, also, removed, added) in [
        // The surroundings end within the second change, which is left out.
        (5..=5, 8..=14, 1, 1),
        // The change goes on after the span.
        (5..=9, 5..=9, 5, 5),
        (3..=5, 3..=5, 3, 3),
    ] {
        let text = then.join("\n") + "\n";
        let fixture = Fixture::with(&[("a.txt", text.as_bytes())]);
        let both = changed(lines.clone());
        let both: String = (both.lines().zip(changed(also.clone()).lines()))
            .map(|(one, other)| {
                if one.starts_with("other") { one } else { other }.to_owned() + "\n"
            })
            .collect();
        fixture.write("a.txt", both.as_bytes());
        let got = now(&fixture, "repo:a.txt#L4-L5@HEAD").unwrap();
        let count = |side: DiffSide| got.changes.iter().filter(|it| it.side == side).count();
        let counts = (count(DiffSide::Removed), count(DiffSide::Added));
        assert_eq!(
            counts,
            (removed, added),
            "{lines:?} {also:?}: {:?}",
            got.changes
        );
    }
}

#[test]
fn what_is_in_no_tree_has_no_standing() {
    let fixture = Fixture::with(&[("a.txt", b"a\n")]);
    assert!(now(&fixture, "sam:note:s@2026-01-08").is_err());
    assert!(now(&fixture, "repo:gone.txt@HEAD").is_err());
}

#[test]
fn each_line_is_told_with_the_commit_that_wrote_it() {
    let fixture = Fixture::with(&[("a.txt", b"a\nb\nc\nd\n")]);
    fixture.write("a.txt", b"a\nB\nc\nd\n");
    fixture.commit("Second thoughts");
    let ask = |pointer: &str| {
        blame(
            Some(&fixture.repo()),
            &Stored::default(),
            &pointer.parse().unwrap(),
        )
    };
    let parts = ask("repo:a.txt#L2-L4@HEAD").unwrap().parts;
    let told: Vec<_> = parts
        .iter()
        .map(|it| {
            (
                it.lines.start,
                it.lines.end,
                it.author.as_str(),
                it.summary.as_str(),
                it.or_before,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (2, 2, "A", "Second thoughts", false),
            (3, 4, "A", "first", false)
        ]
    );
    assert_eq!(parts[0].commit, fixture.git(&["rev-parse", "HEAD"]));
    let old = ask("repo:a.txt#L2@HEAD~1").unwrap().parts;
    assert_eq!(old[0].summary, "first", "the history of the pinned commit");
    assert!(ask("sam:note:s@2026-01-08").is_err());
}

#[test]
fn what_is_left_out_of_a_long_span_is_counted() {
    let then: String = (1..=2_500).map(|n| format!("line {n}\n")).collect();
    let fixture = Fixture::with(&[("a.txt", then.as_bytes())]);
    fixture.write("a.txt", then.replace("line", "row").as_bytes());
    let told = now(&fixture, "repo:a.txt@HEAD").unwrap();
    assert_eq!(told.changes.len() as u32 + told.hidden, 5_000);
    // A change too long to send in full: the beginning of each side is sent, so that nothing looks
    // deleted.
    let count = |side| told.changes.iter().filter(|it| it.side == side).count();
    assert_eq!(
        (count(DiffSide::Removed), count(DiffSide::Added)),
        (300, 300)
    );
    // A change that ends slightly beyond the limit is sent in full, so that none of its lines looks
    // deleted.
    let edited: String = (1..=2_500)
        .map(|n| match n {
            100..=400 | 900 => format!("row {n}\n"),
            n => format!("line {n}\n"),
        })
        .collect();
    fixture.write("a.txt", edited.as_bytes());
    let told = now(&fixture, "repo:a.txt@HEAD").unwrap();
    let count = |side| told.changes.iter().filter(|it| it.side == side).count();
    assert_eq!(
        (count(DiffSide::Removed), count(DiffSide::Added)),
        (301, 301)
    );
    assert!(told.hidden > 0, "the change of line 900 is counted");
    let blamed = blame(
        Some(&fixture.repo()),
        &Stored::default(),
        &"repo:a.txt@HEAD".parse().unwrap(),
    );
    let blamed = blamed.unwrap();
    let last = blamed.parts.last().unwrap().lines.end;
    assert_eq!((last, blamed.hidden), (2_000, 500));
}
