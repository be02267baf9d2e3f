//! The same credentials in different encodings.

use engram_consistency::{SecretMatch, find_secrets, screen_bytes};

use crate::text_of;

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

fn utf32(text: &str, unit: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().flat_map(|it| unit(it as u32)).collect()
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn a_credential_is_found_in_every_encoding_that_is_read() {
    let token = text_of("gh|p_{m36}", 1);
    // In the last text, the token is next to characters whose bytes equal those of letters.
    for text in [
        token.clone(),
        format!("It uses {token} in CI.\n"),
        format!("密码乭{token}乭い"),
    ] {
        let le = utf16(&text, u16::to_le_bytes);
        let be = utf16(&text, u16::to_be_bytes);
        let le32 = utf32(&text, u32::to_le_bytes);
        let be32 = utf32(&text, u32::to_be_bytes);
        let latin: Vec<u8> = [0xFC]
            .into_iter()
            .chain(text.bytes())
            .chain([0xE9])
            .collect();
        let spread: Vec<u8> = token.bytes().flat_map(|b| [b, 0, 0]).collect();
        for (name, bytes) in [
            ("UTF-8", text.clone().into_bytes()),
            (
                "UTF-8 with a mark",
                join(&[b"\xEF\xBB\xBF", text.as_bytes()]),
            ),
            ("Latin-1", latin),
            ("UTF-16LE", le.clone()),
            ("UTF-16BE", be.clone()),
            ("UTF-16LE with a mark", join(&[&[0xFF, 0xFE], &le])),
            ("UTF-16BE with a mark", join(&[&[0xFE, 0xFF], &be])),
            ("UTF-32LE", le32.clone()),
            ("UTF-32BE", be32.clone()),
            ("UTF-32LE with a mark", join(&[&[0xFF, 0xFE, 0, 0], &le32])),
            ("UTF-32BE with a mark", join(&[&[0, 0, 0xFE, 0xFF], &be32])),
            ("zeros between", spread),
            (
                "after what is no UTF-8",
                join(&[&[0xC3, 0x28, 0xFF, 0x80], text.as_bytes()]),
            ),
            ("after a zero", join(&[&[0], text.as_bytes()])),
        ] {
            let Some(SecretMatch { rule, range }) = screen_bytes(&bytes) else {
                panic!("{name}: {text}");
            };
            assert_eq!(rule, "a GitHub token", "{name}");
            let found: Vec<u8> = bytes[range].iter().copied().filter(|b| *b != 0).collect();
            assert_eq!(found, token.as_bytes(), "{name}");
        }
    }
}

#[test]
fn utf16_at_an_odd_place_is_found() {
    let token = text_of("gh|p_{m36}", 2);
    for encoded in [
        utf16(&token, u16::to_le_bytes),
        utf16(&token, u16::to_be_bytes),
    ] {
        let bytes = join(&[b"abc", &encoded, b"def"]);
        assert!(screen_bytes(&bytes).is_some());
    }
}

#[test]
fn all_of_them_are_found_in_order_and_apart() {
    let text = text_of("a gh|p_{m36} b AK|IA{u16} c sk_|live_{m24}", 4);
    for bytes in [
        text.clone().into_bytes(),
        utf16(&text, u16::to_le_bytes),
        utf32(&text, u32::to_be_bytes),
    ] {
        let found = find_secrets(&bytes);
        let rules: Vec<&str> = found.iter().map(|it| it.rule).collect();
        let expected = [
            "a GitHub token",
            "an AWS access key",
            "a Stripe access token",
        ];
        assert_eq!(rules, expected);
        assert!(found.is_sorted_by(|a, b| a.range.end <= b.range.start));
    }
}
