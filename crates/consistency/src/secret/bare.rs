//! Random strings that stand alone in a sentence, without a vendor's prefix or a telltale name:
//! `staging uses 9vXc…`.
//!
//! Only sentences are searched, since files are full of hashes and encoded data. Hex digits and
//! UUIDs pass: ids and digests have the same form.

use std::{ops::Range, sync::LazyLock};

use regex::bytes::Regex;

use super::{SecretMatch, value};

/// Shorter strings are ids and names; longer ones are encoded data.
const LENGTHS: Range<usize> = 24..400;
/// Lower case and digits alone have less variety for each character.
const LEAST_LOWER: usize = 28;

/// Words that announce an id, a digest or something public. They count within six words before
/// the string.
const NO_SECRETS: &[&str] = &[
    "address",
    "applicationserverkey",
    "base64",
    "certificate",
    "challenge",
    "checksum",
    "cid",
    "commit",
    "cursor",
    "decodes",
    "deployment",
    "digest",
    "encoded",
    "encodes",
    "etag",
    "event",
    "example",
    "fingerprint",
    "golden",
    "hash",
    "id",
    "identifier",
    "ids",
    "integrity",
    "ipfs",
    "kid",
    "like",
    "match",
    "nonce",
    "peer",
    "pinned",
    "playlist",
    "program",
    "public",
    "publickey",
    "publishable",
    "recipients",
    "request",
    "response",
    "rev",
    "revision",
    "rfc",
    "sample",
    "sha1",
    "sha256",
    "sha384",
    "sha512",
    "signature",
    "span",
    "ssha",
    "thumbprint",
    "trace",
    "uuid",
    "vendorhash",
    "version",
    "versionid",
];

#[expect(
    clippy::expect_used,
    reason = "a constant; every test of this crate compiles it"
)]
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?-u)[^\s"'`()\[\]{}<>,;!?*]+"#).expect("the pattern is a constant")
});

/// Finds the first random string of a sentence.
pub(crate) fn random_string(text: &[u8]) -> Option<SecretMatch> {
    let mut before: [&[u8]; 6] = [b""; 6];
    for found in WORDS.find_iter(text) {
        let word = found.as_bytes();
        let word = word.strip_suffix(b".").unwrap_or(word);
        if is_random(word) && !before.iter().any(|it| announces_no_secret(it)) {
            return Some(SecretMatch {
                rule: "a random string",
                range: found.start()..found.start() + word.len(),
            });
        }
        before.rotate_left(1);
        before[5] = word;
    }
    None
}

fn announces_no_secret(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    let mut parts = word.split(|b| !b.is_ascii_alphanumeric());
    parts.any(|part| NO_SECRETS.iter().any(|it| it.as_bytes() == part))
}

/// Whether a word is one that no person wrote: its letters, capitals and digits alternate.
fn is_random(word: &[u8]) -> bool {
    /// The beginnings of public SSH keys, of JSON in base64, and of public addresses.
    const PUBLIC: [&[u8]; 11] = [
        b"AAAAC3Nz",
        b"AAAAB3Nz",
        b"AAAAE2Vj",
        b"eyJ",
        b"0x",
        b"Qm",
        b"baf",
        b"bc1",
        b"age1",
        b"12D3Koo",
        b"PL",
    ];
    let word = word.strip_suffix(b"=").unwrap_or(word);
    let word = word.strip_suffix(b"=").unwrap_or(word);
    let may_be = LENGTHS.contains(&word.len())
        && word
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"+/_%-".contains(b))
        && !PUBLIC.iter().any(|beginning| word.starts_with(beginning))
        && !is_labelled(word);
    if !may_be || !value::is_random(word) {
        return false;
    }
    let count = |is: fn(&u8) -> bool| word.iter().filter(|b| is(b)).count();
    let [lower, upper, digits] = [
        u8::is_ascii_lowercase,
        u8::is_ascii_uppercase,
        u8::is_ascii_digit,
    ]
    .map(count);
    let pairs =
        |is: fn(u8, u8) -> bool| word.windows(2).filter(|pair| is(pair[0], pair[1])).count();
    let changes = pairs(|a, b| class(a) != class(b));
    if lower == 0 {
        // Longer than a ULID.
        return word.len() >= 32
            && upper + digits == word.len()
            && !word.iter().all(u8::is_ascii_hexdigit)
            && digits >= 4
            && changes * 4 >= word.len();
    }
    if upper == 0 {
        let is_hex = word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
        return word.len() >= LEAST_LOWER
            && !is_hex
            && lower + digits == word.len()
            && digits >= 4
            && changes * 4 >= word.len();
    }
    // In a name such as `ReadHttp2Frame`, most capitals begin a word.
    let begin_no_word = pairs(|a, b| a.is_ascii_uppercase() && !b.is_ascii_lowercase());
    lower >= 3
        && upper >= 3
        && digits >= 2
        && changes * 9 >= word.len() * 4
        && in_words(word) * 5 <= word.len() * 2
        && begin_no_word * 10 >= upper * 3
}

/// Whether a word begins with a label, as ids do: `evt_1eQX4c…`, `sha256-YsQE…`. The label of a
/// secret does not count.
fn is_labelled(word: &[u8]) -> bool {
    const SECRET: [&[u8]; 7] = [b"api", b"key", b"pat", b"secret", b"sk", b"tok", b"token"];
    let Some(end) = word.iter().position(|b| b"_-".contains(b)) else {
        return false;
    };
    let label = word[..end].to_ascii_lowercase();
    (2..=14).contains(&end)
        && word[..end]
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && !SECRET.contains(&&label[..])
}

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// The number of letters in runs of at least four lower-case letters, as words have them.
fn in_words(word: &[u8]) -> usize {
    let runs = word.split(|b| !b.is_ascii_lowercase());
    runs.map(<[u8]>::len).filter(|length| *length >= 4).sum()
}
