//! Files that are not plain UTF-8 with line feeds.

use engram_model::Code;
use engram_pointers::{Encoding, resolve, source, text_of};

use crate::fixture::{Fixture, Stored, sha256, view_around};

fn utf16(text: &str, write: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(write).collect()
}

fn utf32(text: &str, write: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().flat_map(|c| write(u32::from(c))).collect()
}

#[test]
fn text_is_shown_whatever_its_encoding_and_digested_as_stored() {
    // U+0A0A and U+0D0A contain the byte of a line feed but are not line feeds.
    let text = "\u{FEFF}un\r\nzwei ਊ \u{0D0A} 漢𝄞\r\ntrois";
    let files: [(&str, Encoding, Vec<u8>); 6] = [
        ("utf8", Encoding::Utf8, text.as_bytes().to_vec()),
        ("16le", Encoding::Utf16Le, utf16(text, u16::to_le_bytes)),
        ("16be", Encoding::Utf16Be, utf16(text, u16::to_be_bytes)),
        ("32le", Encoding::Utf32Le, utf32(text, u32::to_le_bytes)),
        ("32be", Encoding::Utf32Be, utf32(text, u32::to_be_bytes)),
        (
            "nobom",
            Encoding::Utf8,
            text.trim_start_matches('\u{FEFF}').as_bytes().to_vec(),
        ),
    ];
    let named: Vec<(&str, &[u8])> = files.iter().map(|(n, _, b)| (*n, b.as_slice())).collect();
    let fixture = Fixture::with(&named);
    for (name, encoding, bytes) in &files {
        for (span, expected) in [
            ("", "un\r\nzwei ਊ \u{0D0A} 漢𝄞\r\ntrois"),
            ("#L1", "un\r\n"),
            ("#L2", "zwei ਊ \u{0D0A} 漢𝄞\r\n"),
            ("#L3", "trois"),
        ] {
            let pointer = format!("repo:{name}{span}@HEAD");
            let resolved = fixture.resolve(&pointer).unwrap();
            assert_eq!(resolved.text(), expected, "{pointer}");
            assert_eq!(resolved.encoding, *encoding, "{pointer}");
            let digest = format!("sha256:{}", sha256(&resolved.bytes));
            assert_eq!(resolved.pointer.digest, Some(digest), "{pointer}");
        }
        let whole = fixture.resolve(&format!("repo:{name}@HEAD")).unwrap();
        assert_eq!(&whole.bytes, bytes, "{name}");
        let pointer = format!("repo:{name}#L2@HEAD").parse().unwrap();
        let view = source(
            Some(&fixture.repo()),
            &Stored::default(),
            &pointer,
            view_around(9),
        )
        .unwrap();
        let shown: Vec<&str> = view.lines.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(shown, ["un", "zwei ਊ \u{0D0A} 漢𝄞", "trois"], "{name}");
        fixture.refused(
            &format!("repo:{name}#L4@HEAD"),
            Code::PointerNotFound,
            "3 lines",
        );
    }
}

#[test]
fn invalid_utf8_is_shown_with_replacements_and_digested_as_stored() {
    let fixture = Fixture::with(&[("latin1.txt", b"caf\xE9\nna\xEFve\n")]);
    let resolved = fixture.resolve("repo:latin1.txt#L2@HEAD").unwrap();
    assert_eq!(resolved.bytes, b"na\xEFve\n");
    assert_eq!(resolved.text(), "na\u{FFFD}ve\n");
}

#[test]
fn binaries_are_refused() {
    let late = [b"text\n".repeat(2000), vec![0]].concat();
    let fixture = Fixture::with(&[
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("late.txt", &late),
    ]);
    for pointer in [
        "repo:logo.png@HEAD",
        "repo:logo.png#L1@HEAD",
        "artifact:logo.png#sec=Any@HEAD",
        "test:logo.png::name@HEAD",
        "repo:logo.png@worktree",
    ] {
        fixture.refused(pointer, Code::PointerInvalid, "is binary");
    }
    // The whole file is an artifact like any other: pinned and digested, but without text to read.
    let artifact = fixture.resolve("artifact:logo.png@HEAD").unwrap();
    assert_eq!(artifact.bytes, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert!(artifact.refuse_binary().is_err());
    let refusal = fixture.resolve("repo:logo.png@HEAD").unwrap_err();
    assert!(
        refusal.hint.contains("artifact:logo.png@HEAD"),
        "a way to point at it: {}",
        refusal.hint
    );
    // As in git, only the beginning of a file decides.
    assert_eq!(fixture.text("repo:late.txt#L2000@HEAD"), "text\n");
}

#[test]
fn large_file_pointers_are_the_text_that_they_are() {
    let text = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
    let fixture = Fixture::with(&[("model.bin", text.as_bytes())]);
    assert_eq!(fixture.text("repo:model.bin@HEAD"), text);
}

#[test]
fn text_of_bytes_alone() {
    for (bytes, expected) in [
        (b"plain\n".to_vec(), Some("plain\n")),
        (b"caf\xE9".to_vec(), Some("caf\u{FFFD}")),
        (utf16("\u{FEFF}mark", u16::to_le_bytes), Some("mark")),
        (utf16("no mark\r\n", u16::to_le_bytes), Some("no mark\r\n")),
        (utf16("no mark\r\n", u16::to_be_bytes), Some("no mark\r\n")),
        (Vec::new(), Some("")),
        (vec![0x7F, b'E', b'L', b'F', 2, 1, 1, 0, 0], None),
        (vec![0; 64], None),
    ] {
        let text = text_of(&bytes);
        assert_eq!(text.as_deref().ok(), expected, "{bytes:?}");
        if let Err(refusal) = text {
            assert_eq!(refusal.code, Code::PointerInvalid);
        }
    }
}

/// Any bytes under a digest give text or a refusal, never a panic.
#[test]
fn any_bytes_are_text_or_refused() {
    proptest::proptest!(|(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..64), line in 1u32..5)| {
        let mut shelf = Stored::default();
        let hex = shelf.keep(&bytes);
        for pointer in [format!("repo:f#L{line}@sha256:{hex}"), format!("artifact:f.md#sec=x@sha256:{hex}"), format!("test:f.py::x@sha256:{hex}")] {
            let pointer = pointer.parse().unwrap();
            if let Ok(resolved) = resolve(None, &shelf, &pointer) {
                resolved.text();
            }
            let _ = source(None, &shelf, &pointer, view_around(3));
        }
        let _ = text_of(&bytes);
    });
}
