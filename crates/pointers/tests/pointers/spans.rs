//! The bytes and the digest of a span are those of its lines, for any file.

use std::path::Path;

use engram_model::Code;
use engram_pointers::text_of;
use proptest::prelude::*;

use crate::fixture::{Fixture, sha256};

/// Returns the bytes of a span, computed the slow way: each line with its terminator.
fn naive(bytes: &[u8], start: usize, end: usize) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    (end <= lines.len()).then(|| lines[start - 1..end].concat())
}

#[test]
fn lines_are_counted_from_one_and_keep_their_terminators() {
    let fixture = Fixture::with(&[("a.txt", b"one\ntwo\r\n\nfour"), ("empty", b"")]);
    for (span, text) in [
        ("", "one\ntwo\r\n\nfour"),
        ("#L1", "one\n"),
        ("#L1-L2", "one\ntwo\r\n"),
        ("#L2-3", "two\r\n\n"),
        ("#L3", "\n"),
        ("#L4", "four"),
        ("#L1-L4", "one\ntwo\r\n\nfour"),
    ] {
        let pointer = format!("repo:a.txt{span}@HEAD");
        let resolved = fixture.resolve(&pointer).unwrap();
        assert_eq!(resolved.bytes, text.as_bytes(), "{pointer}");
        assert_eq!(
            resolved.pointer.digest,
            Some(format!("sha256:{}", sha256(text.as_bytes())))
        );
        assert_eq!(resolved.lines, resolved.pointer.lines());
    }
    assert_eq!(fixture.text("repo:empty@HEAD"), "");
    for (pointer, says) in [
        ("repo:a.txt#L5@HEAD", "has 4 lines"),
        ("repo:a.txt#L2-L5@HEAD", "has 4 lines"),
        ("repo:a.txt#L4000000000-L4294967295@HEAD", "has 4 lines"),
        ("repo:empty#L1@HEAD", "has 0 lines"),
    ] {
        fixture.refused(pointer, Code::PointerNotFound, says);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_span_is_its_lines(
        lines in prop::collection::vec("[ -~é漢\\t]{0,12}(\\r?\\n|\\r|)", 0..12),
        junk in prop::collection::vec(1u8.., 0..6),
        start in 1usize..16,
        length in 0usize..8,
    ) {
        let mut bytes = lines.concat().into_bytes();
        bytes.extend(junk);
        // Another test covers two bytes that form a UTF-16 byte order mark.
        prop_assume!(!matches!(bytes.first(), Some(0xFE | 0xFF)));
        let end = start + length;
        let fixture = Bare::with(&bytes);
        let pointer = format!("repo:f#L{start}-L{end}@HEAD");
        let resolved = fixture.resolve(&pointer);
        match naive(&bytes, start, end) {
            None => prop_assert_eq!(resolved.unwrap_err().code, Code::PointerNotFound),
            Some(expected) => {
                let resolved = resolved.unwrap();
                prop_assert_eq!(&resolved.pointer.digest, &Some(format!("sha256:{}", sha256(&expected))));
                let text = String::from_utf8_lossy(&expected);
                prop_assert_eq!(resolved.text(), text.strip_prefix('\u{FEFF}').unwrap_or(&text));
                prop_assert_eq!(text_of(&expected).unwrap(), resolved.text());
                prop_assert_eq!(&resolved.bytes, &expected);
                // The pinned pointer resolves to the same bytes.
                let again = fixture.resolve(&resolved.pointer.to_string()).unwrap();
                prop_assert_eq!(again.pointer, resolved.pointer);
            }
        }
    }

    #[test]
    fn utf16_text_survives_the_round_trip(
        lines in prop::collection::vec("[ -~é漢𝄞\u{0A0A}\u{0A00}\u{0D00}]{0,8}(\\r?\\n)", 1..8),
        big_endian: bool,
        pick in any::<prop::sample::Index>(),
    ) {
        let encode = |text: &str| -> Vec<u8> {
            let units = text.encode_utf16();
            units.flat_map(|u| if big_endian { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
        };
        let bytes = encode(&format!("\u{FEFF}{}", lines.concat()));
        let at = pick.index(lines.len());
        let mut expected = encode(&lines[at]);
        if at == 0 {
            expected = [encode("\u{FEFF}"), expected].concat();
        }
        let resolved = Bare::with(&bytes).resolve(&format!("repo:f#L{}@HEAD", at + 1)).unwrap();
        prop_assert_eq!(&resolved.bytes, &expected);
        prop_assert_eq!(resolved.text(), lines[at].clone());
    }
}

/// A repository made quickly, without the git command: one commit of one file.
struct Bare(tempfile::TempDir);

impl Bare {
    fn with(bytes: &[u8]) -> Self {
        let dir = tempfile::TempDir::new().unwrap();
        crate::big::commit_blob(dir.path(), Path::new("f"), bytes);
        Self(dir)
    }

    fn resolve(&self, pointer: &str) -> Result<engram_pointers::Resolved, engram_model::Refusal> {
        let repo = engram_pointers::Repo::open(self.0.path()).unwrap();
        engram_pointers::resolve(
            Some(&repo),
            &crate::fixture::Stored::default(),
            &pointer.parse().unwrap(),
        )
    }
}
