//! Tests what a masked text contains.

use engram_consistency::{Masked, find_secrets, mask, mask_diff, mask_span, screen, screen_bytes};
use proptest::prelude::*;

use crate::text_of;

fn utf8(part: &[u8]) -> String {
    String::from_utf8_lossy(part).into_owned()
}

fn utf16(part: &[u8]) -> String {
    let units = part
        .chunks_exact(2)
        .map(|it| u16::from_le_bytes([it[0], it[1]]));
    char::decode_utf16(units)
        .map(|it| it.unwrap_or('?'))
        .collect()
}

/// A mark contains only the name of a rule, so other text in the form of a mark is searched.
#[test]
fn a_mark_is_no_way_round() {
    for template in [
        "[masked: gh|p_{m36}]",
        "[masked: AK|IA{u16}]",
        "[masked: a GitHub token gh|p_{m36}]",
        "[masked: [masked: gh|p_{m36}]]",
    ] {
        let text = text_of(template, 1);
        assert!(screen(&text).is_some(), "{template}");
        assert!(mask(&text).masked > 0, "{template}");
    }
}

#[test]
fn a_diff_shows_no_part_of_a_key() {
    let lines: Vec<String> = (0..20)
        .map(|at| format!("MIIEpAIBAAKCAQEA{at:02}wXyZ0123456789abcdefABCDEF+/7gHq"))
        .collect();
    let begin = format!("-----BEGIN RSA {} KEY-----", "PRIVATE");
    let end = format!("-----END RSA {} KEY-----", "PRIVATE");
    let key = |lines: &[String]| format!("{begin}\n{}\n{end}\n", lines.join("\n")).into_bytes();
    let mut changed = lines.clone();
    changed[10] = lines[10].replace("7gHq", "8iJr");
    let diff = format!(
        "@@ -10,3 +10,3 @@\n {}\n-{}\n+{}\n {}\n a line of its own\n",
        lines[9], lines[10], changed[10], lines[11]
    );
    let shown = Masked {
        text: diff,
        masked: 0,
    };
    let shown = mask_diff(shown, &[key(&lines), key(&changed)]);
    assert_eq!(shown.masked, 4, "{}", shown.text);
    for line in lines.iter().chain(&changed) {
        assert!(!shown.text.contains(line.as_str()), "{}", shown.text);
    }
    assert!(shown.text.starts_with("@@ -10,3 +10,3 @@\n [masked: "));
    assert!(shown.text.ends_with("\n a line of its own\n"));
}

#[test]
fn a_mark_says_what_stood_there_and_nothing_of_it() {
    for (template, expected) in [
        (
            "It uses gh|p_{m36} in CI.",
            "It uses [masked: GitHub token] in CI.",
        ),
        (
            "AK|IA{u16} and AK|IA{u16}",
            "[masked: AWS access key] and [masked: AWS access key]",
        ),
        (
            "postgres://app:{m16}@db/app",
            "postgres://app:[masked: password in a connection string]@db/app",
        ),
        (
            "password = \"{m16}\"",
            "password = \"[masked: secret assigned to a name]\"",
        ),
        (
            "ä -----BE|GIN EC PRIVATE KEY-----\n{b64}\n{b64}\n{b20}==\n-----END EC PRIVATE KEY----- ü",
            "ä [masked: private key] ü",
        ),
        (
            "key:\n-----BE|GIN PRIVATE KEY-----\n{b64}\n{b64}",
            "key:\n[masked: private key]",
        ),
        ("nothing here", "nothing here"),
        ("", ""),
    ] {
        let Masked { text, masked } = mask(&text_of(template, 5));
        assert_eq!(text, expected);
        assert_eq!(masked, expected.matches("[masked: ").count());
        // Another secret of the same form gives the same result.
        assert_eq!(mask(&text_of(template, 6)).text, expected);
    }
}

#[test]
fn a_span_that_cuts_a_secret_shows_no_part_of_it() {
    let before = "let token = \"";
    let text = text_of("let token = \"gh|p_{m36}\";\nlet next = 1;\n", 7);
    let token = before.len()..before.len() + 40;
    for (span, expected) in [
        (
            0..text.len(),
            "let token = \"[masked: GitHub token]\";\nlet next = 1;\n",
        ),
        (0..token.start + 10, "let token = \"[masked: GitHub token]"),
        (
            token.start + 10..text.len(),
            "[masked: GitHub token]\";\nlet next = 1;\n",
        ),
        (token.start + 5..token.end - 5, "[masked: GitHub token]"),
        (0..token.start, before),
        (token.end..token.end + 3, "\";\n"),
        (
            4..1_000_000,
            "token = \"[masked: GitHub token]\";\nlet next = 1;\n",
        ),
    ] {
        let shown = mask_span(text.as_bytes(), span.clone(), utf8);
        assert_eq!(shown.text, expected, "{span:?}");
        assert_eq!(shown.masked, usize::from(expected.contains("masked")));
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let span = span.start * 2..span.end * 2;
        assert_eq!(mask_span(&wide, span, utf16).text, expected);
    }
}

#[test]
fn what_a_secret_hid_is_masked_too() {
    // There is no boundary between the two: the second is found only after the first is masked.
    let text = text_of("dp|.pt.{m43}AK|IA{u16}", 8);
    assert_eq!(
        mask(&text).text,
        "[masked: Doppler API token][masked: AWS access key]"
    );
    // Crafted so that each pass reveals more; the passes must end.
    let nested = text_of(&"dp|.pt.{m43}AK|IA{u16}".repeat(2000), 9);
    let once = mask(&nested);
    assert_eq!(mask(&once.text).masked, 0);
}

fn text_with_secrets() -> impl Strategy<Value = String> {
    let templates = [
        "gh|p_{m36}",
        "AK|IA{u16}",
        "password = \"{m16}\"",
        "postgres://app:{m16}@db/app",
        "Authorization: Bearer {m40}",
        "-----BE|GIN PRIVATE KEY-----\n{b64}\n{b64}\n-----END PRIVATE KEY-----",
        "[masked: GitHub token]",
        "[masked: ",
        "datadog_api_key: {h32}",
        "ey|J{m30}.ey|J{m60}.{m43}",
        "curl -u admin:{m16} https://example.org",
    ];
    (prop::sample::select(templates.to_vec()), 0usize..100)
        .prop_map(|(template, seed)| text_of(template, seed))
}

proptest! {
    #[test]
    fn bytes_of_any_kind_are_screened_within_their_bounds(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0u8), 0x20u8..0x7F], 0..400),
    ) {
        let mut last = 0;
        for secret in find_secrets(&bytes) {
            prop_assert!(last <= secret.range.start && secret.range.start < secret.range.end);
            last = secret.range.end;
        }
        prop_assert!(last <= bytes.len());
        prop_assert_eq!(screen_bytes(&bytes).is_some(), last > 0);
    }

    #[test]
    fn masking_twice_changes_nothing(
        parts in prop::collection::vec(prop_oneof![text_with_secrets(), "(?s).{0,12}", "[ a-z=:\"'\\[\\]\0]{0,8}"], 0..12),
    ) {
        let text = parts.concat();
        let once = mask(&text);
        prop_assert_eq!(once.masked, find_secrets(text.as_bytes()).len());
        prop_assert_eq!(screen(&once.text), None);
        prop_assert_eq!(&mask(&once.text).text, &once.text);
    }

    #[test]
    fn what_is_planted_in_any_text_is_found_and_masked(
        before in "(?s).{0,80}",
        after in "(?s).{0,80}",
        seed in 0usize..1000,
        template in prop::sample::select(vec![
            "gh|p_{m36}", "dop|_v1_{h64}", "xo|xb-{d12}-{d13}-{m24}", "sk-a|nt-api03-{w93}AA", "np|m_{m36}",
        ]),
    ) {
        let token = text_of(template, seed);
        let text = format!("{before} {token} {after}");
        prop_assert!(screen(&text).is_some());
        prop_assert!(!mask(&text).text.contains(&token));
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        prop_assert!(screen_bytes(&wide).is_some());
    }

    #[test]
    fn a_span_shows_what_the_whole_shows(
        parts in prop::collection::vec(prop_oneof![text_with_secrets(), "[ -~]{0,20}"], 0..6),
        from in 0usize..200,
        length in 0usize..200,
    ) {
        let file = parts.concat();
        let from = file.floor_char_boundary(from.min(file.len()));
        let to = file.floor_char_boundary((from + length).min(file.len()));
        let shown = mask_span(file.as_bytes(), from..to, utf8);
        for secret in find_secrets(file.as_bytes()) {
            let cut = from.max(secret.range.start)..to.min(secret.range.end);
            // By chance the same words may occur elsewhere, where they are not secret.
            if cut.len() >= 8 && file.matches(&file[cut.clone()]).count() == 1 {
                prop_assert!(!shown.text.contains(&file[cut]));
            }
        }
    }
}
