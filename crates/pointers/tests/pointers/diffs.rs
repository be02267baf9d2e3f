//! `diff:` pointers, compared with the output of git.

use engram_model::{Code, Target};

use crate::fixture::Fixture;

fn numbered(changes: &[(usize, &str)]) -> String {
    (1..=60)
        .map(|n| match changes.iter().find(|(at, _)| *at == n) {
            Some((_, text)) => (*text).to_owned(),
            None => format!("line {n}\n"),
        })
        .collect()
}

/// Returns the hunks alone.
fn hunks(diff: &str) -> &str {
    diff.find("@@").map_or("", |at| &diff[at..])
}

#[test]
fn a_change_reads_as_git_shows_it() {
    let fixture = Fixture::with(&[
        ("same.txt", b"same\n"),
        ("edit.txt", numbered(&[]).as_bytes()),
        ("old/name.txt", numbered(&[]).as_bytes()),
        ("gone.txt", b"1\n2\n"),
        ("mode.sh", b"#!/bin/sh\n"),
        ("end.txt", b"a\nb"),
        ("crlf.txt", b"a\r\nb\r\n"),
    ]);
    fixture.write(
        "edit.txt",
        numbered(&[(10, "ten\n"), (30, ""), (50, "fifty\nand more\n")]).as_bytes(),
    );
    fixture.git(&["mv", "old/name.txt", "new.txt"]);
    fixture.write("new.txt", numbered(&[(5, "five\n")]).as_bytes());
    fixture.git(&["rm", "-q", "gone.txt"]);
    fixture.write("added.txt", b"new\n");
    fixture.git(&["update-index", "--chmod=+x", "mode.sh"]);
    fixture.write("end.txt", b"a\nb\n");
    fixture.write("crlf.txt", b"a\r\nc\r\n");
    fixture.git(&[
        "add",
        "edit.txt",
        "new.txt",
        "added.txt",
        "end.txt",
        "crlf.txt",
    ]);
    fixture.git(&["commit", "-q", "-m", "second"]);
    let (base, head) = (
        fixture.git(&["rev-parse", "HEAD~1"]),
        fixture.git(&["rev-parse", "HEAD"]),
    );

    for (path, header) in [
        ("edit.txt", "--- a/edit.txt\n+++ b/edit.txt\n"),
        ("new.txt", "rename from old/name.txt\nrename to new.txt\n"),
        (
            "old/name.txt",
            "rename from old/name.txt\nrename to new.txt\n",
        ),
        (
            "gone.txt",
            "deleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n",
        ),
        (
            "added.txt",
            "new file mode 100644\n--- /dev/null\n+++ b/added.txt\n",
        ),
        ("mode.sh", "old mode 100644\nnew mode 100755\n"),
        ("end.txt", "--- a/end.txt\n"),
        ("crlf.txt", "--- a/crlf.txt\n"),
    ] {
        let pointer = format!("diff:HEAD~1..HEAD#{path}");
        let resolved = fixture
            .resolve(&pointer)
            .unwrap_or_else(|e| panic!("{pointer}: {e}"));
        let text = resolved.text();
        assert!(text.starts_with("diff --git a/"), "{text}");
        assert!(text.contains(header), "{pointer}: {text}");
        let both = if path == "old/name.txt" {
            "new.txt"
        } else {
            path
        };
        let said = fixture.git(&["diff", "-M", "HEAD~1", "HEAD", "--", both, "old/name.txt"]);
        let said = match path {
            "new.txt" | "old/name.txt" => said,
            _ => fixture.git(&["diff", "HEAD~1", "HEAD", "--", path]),
        };
        assert_eq!(hunks(&text).trim_end(), hunks(&said), "{pointer}");
        assert_eq!(
            resolved.pointer.to_string(),
            format!("diff:{base}..{head}#{path}")
        );
    }
    for (pointer, says) in [
        ("diff:HEAD~1..HEAD#same.txt", "the same at both"),
        ("diff:HEAD..HEAD#edit.txt", "the same at both"),
        ("diff:HEAD~1..HEAD#nowhere.txt", "does not exist"),
        ("diff:HEAD~1..nowhere#edit.txt", "no commit"),
        ("diff:HEAD~1..HEAD#gone.txt#L1", "was deleted"),
    ] {
        fixture.refused(pointer, Code::PointerNotFound, says);
    }
    fixture.refused("diff:HEAD~1..HEAD#old", Code::PointerInvalid, "folder");
}

#[test]
fn lines_choose_the_hunks_that_touch_them() {
    let fixture = Fixture::with(&[("a.txt", numbered(&[]).as_bytes())]);
    // At head: line 10 replaced, line 30 deleted, line 50 replaced by lines 49 and 50.
    fixture.write(
        "a.txt",
        numbered(&[(10, "ten\n"), (30, ""), (50, "fifty\nand more\n")]).as_bytes(),
    );
    fixture.commit("second");
    let counts = |span: &str| -> Vec<String> {
        let text = fixture.text(&format!("diff:HEAD~1..HEAD#a.txt#{span}"));
        text.lines()
            .filter(|l| l.starts_with(['+', '-']) && !l.starts_with("+++") && !l.starts_with("---"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(counts("L10"), ["-line 10", "+ten"]);
    assert_eq!(counts("L1-L12"), ["-line 10", "+ten"]);
    assert_eq!(counts("L29"), ["-line 30"], "the line before a deletion");
    assert_eq!(counts("L30"), ["-line 30"], "the line after a deletion");
    assert_eq!(counts("L50-L60"), ["-line 50", "+fifty", "+and more"]);
    assert_eq!(counts("L1-L60").len(), 6);
    for (span, says) in [
        ("L12-L20", "nothing changed"),
        ("L8", "nothing changed"),
        ("L61", "60 lines"),
    ] {
        fixture.refused(
            &format!("diff:HEAD~1..HEAD#a.txt#{span}"),
            Code::PointerNotFound,
            says,
        );
    }
    let resolved = fixture.resolve("diff:HEAD~1..HEAD#a.txt#L10").unwrap();
    assert!(matches!(
        resolved.pointer.target,
        Target::Diff { lines: Some(_), .. }
    ));
}

#[test]
fn attributes_of_the_working_tree_have_no_say() {
    let fixture = Fixture::with(&[("a.txt", b"one\n"), ("b.bin", b"\0one")]);
    fixture.write("a.txt", b"two\n");
    fixture.write("b.bin", b"\0two");
    fixture.commit("second");
    let before = fixture.text("diff:HEAD~1..HEAD#a.txt");
    fixture.write(".gitattributes", b"*.txt -diff\n");
    assert_eq!(fixture.text("diff:HEAD~1..HEAD#a.txt"), before);
    fixture.refused("diff:HEAD~1..HEAD#b.bin", Code::PointerInvalid, "is binary");
}

#[test]
fn utf16_is_compared_as_text() {
    let encode = |text: &str| -> Vec<u8> {
        format!("\u{FEFF}{text}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let fixture = Fixture::with(&[("a.txt", &encode("un\ndeux\n"))]);
    fixture.write("a.txt", encode("un\nzwei\n"));
    fixture.commit("second");
    let text = fixture.text("diff:HEAD~1..HEAD#a.txt");
    assert!(text.ends_with(" un\n-deux\n+zwei\n"), "{text}");
}
