//! Judges a value by itself: random, chosen by a person, or not a secret, such as a digest, an id,
//! a placeholder, a reference to a variable, or words.

use super::rules;

/// Whether a value is neither a placeholder for a secret nor plain words after a vendor's prefix.
pub(crate) fn no_placeholder(value: &[u8]) -> bool {
    let digits = value.iter().any(u8::is_ascii_digit);
    // One in thirty keys of capitals and digits has no digit, but no name has so many capitals in a
    // row.
    let solid = value.len() >= 16 && value.iter().all(u8::is_ascii_uppercase);
    !is_placeholder(value)
        && !rules::is_never_secret(value)
        && (digits || solid || !is_name_or_path(value))
}

/// Judges a value beside a vendor's name that may also be an ordinary word.
pub(crate) fn drawn_and_no_words(value: &[u8]) -> bool {
    !is_placeholder(value) && !rules::is_never_secret(value) && !is_name_or_path(value)
}

/// Accepts any value.
pub(crate) fn always(_: &[u8]) -> bool {
    true
}

/// Whether a value is varied enough to be random, unlike `0000` or `<token>`.
pub(crate) fn is_random(value: &[u8]) -> bool {
    !is_placeholder(value) && entropy(value) >= 3.0
}

/// Accepts a password chosen by a person, which need not be random: anything but placeholders,
/// references, common words and plain numbers.
pub(crate) fn is_password(value: &[u8]) -> bool {
    const COMMON: [&str; 16] = [
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "user",
        "username",
        "postgres",
        "root",
        "test",
        "changeme",
        "admin",
        "guest",
        "token",
        "required",
        "mypassword",
    ];
    let lower = value.to_ascii_lowercase();
    !is_placeholder(value)
        && !is_reference(value)
        && !COMMON.iter().any(|word| lower == word.as_bytes())
        && !lower.iter().all(u8::is_ascii_digit)
}

/// Accepts a password that only a name announces: letters, digits and punctuation as people choose
/// them, but neither an algorithm nor an example.
pub(crate) fn is_named_password(value: &[u8]) -> bool {
    const NAMES: [&str; 36] = [
        "aes", "argon", "base", "bcrypt", "blake", "changeme", "demo", "ed25519", "es256", "foo",
        "hs256", "http", "hmac", "ipv", "md5", "my", "oauth", "p256", "pass", "pbkdf", "pkcs",
        "pwd", "rs256", "rsa", "scrypt", "secret", "sha", "some", "str", "test", "token", "totp",
        "user", "utf", "x509", "your",
    ];
    let value = value.strip_suffix(b".").unwrap_or(value);
    let lower = value.to_ascii_lowercase();
    let has_sign = value.iter().any(|b| b"!#$%^&*?~".contains(b));
    (6..=40).contains(&value.len())
        && value.iter().any(u8::is_ascii_alphabetic)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().all(|b| {
            b.is_ascii_alphanumeric()
                || b"!@#$%^&*?+~=".contains(b)
                || (has_sign && b"_-.".contains(b))
        })
        && !NAMES.iter().any(|name| lower.starts_with(name.as_bytes()))
        && !is_named_id(value)
        && is_password(value)
}

/// Like [`is_named_password`], after a name alone: `the password Winter2024!`.
pub(crate) fn clearly_chosen(value: &[u8]) -> bool {
    let value = value.strip_suffix(b".").unwrap_or(value);
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let has_sign = value.iter().any(|b| b"!#$%^&*?~".contains(b));
    value.len() >= 8 && (digits >= 2 || has_sign) && is_named_password(value)
}

/// Accepts a password of several words, unless they describe one: `case-sensitive-by-default`,
/// `user-provided-value`.
pub(crate) fn words_as_password(value: &[u8]) -> bool {
    const DESCRIBE: [&str; 40] = [
        "and",
        "any",
        "are",
        "based",
        "but",
        "case",
        "config",
        "default",
        "encoded",
        "encrypted",
        "env",
        "field",
        "file",
        "for",
        "free",
        "from",
        "hashed",
        "input",
        "key",
        "least",
        "less",
        "long",
        "must",
        "name",
        "not",
        "only",
        "optional",
        "password",
        "per",
        "protected",
        "read",
        "required",
        "safe",
        "secret",
        "self",
        "sensitive",
        "test",
        "the",
        "user",
        "value",
    ];
    let lower = value.to_ascii_lowercase();
    let mut words = lower.split(|b| !b.is_ascii_alphabetic());
    value.len() >= 12
        && !is_placeholder(value)
        && !words
            .any(|word| DESCRIBE.iter().any(|it| it.as_bytes() == word) || word.ends_with(b"ed"))
}

/// Judges a credential for a registry or a proxy: of any form, but not a reference.
pub(crate) fn is_credential(value: &[u8]) -> bool {
    !is_placeholder(value) && !is_reference(value)
}

/// Judges a value assigned to a name that only secrets have: it must be random, and not an id, a
/// word or code.
pub(crate) fn is_assigned_secret(value: &[u8]) -> bool {
    let value = without_pin(value.strip_suffix(b".").unwrap_or(value));
    let classes = [
        value.iter().any(u8::is_ascii_lowercase),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(|b| b.is_ascii_punctuation()),
    ];
    let mixed = classes.iter().filter(|class| **class).count() >= 2;
    let [lower, upper, digits, _] = classes;
    value.len() >= 8
        && !is_placeholder(value)
        && !is_reference(value)
        && !is_named_id(value)
        && !is_name_or_path(value)
        && mixed
        && (digits || value.len() >= 20 || (lower && upper && value.len() >= 12))
        && entropy(value) >= least_entropy(value)
}

/// Does the same as [`is_assigned_secret`], for names that a digest may have too, such as `token`.
pub(crate) fn assigned_and_no_digest(value: &[u8]) -> bool {
    is_assigned_secret(value) && !is_digest(value.strip_suffix(b".").unwrap_or(value))
}

/// Does the same as [`is_assigned_secret`], for vague names, such as `key`.
pub(crate) fn assigned_and_certain(value: &[u8]) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    value.len() >= 15
        && letters
        && value.iter().any(u8::is_ascii_digit)
        && !value.iter().all(u8::is_ascii_hexdigit)
        && is_assigned_secret(value)
        && entropy(value) >= 3.5
}

/// Does the same as [`is_assigned_secret`], for slightly clearer names, such as `acme_key`: the
/// value needs a digest's length, and may be hex.
pub(crate) fn assigned_and_long(value: &[u8]) -> bool {
    value.len() >= 32 && is_assigned_secret(value) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Does the same as [`is_assigned_secret`], after the full name of a secret, such as `the API key`:
/// the value may be hex, too.
pub(crate) fn given_as_key(value: &[u8]) -> bool {
    assigned_and_certain(value) || assigned_and_long(value)
}

/// The least bits per byte of a random value; short values and hex digits have fewer.
fn least_entropy(value: &[u8]) -> f64 {
    match value.len() {
        ..16 => 2.8,
        _ if value.iter().all(u8::is_ascii_hexdigit) => 3.0,
        _ => 3.3,
    }
}

/// Whether a value is what documents write in place of a secret.
fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 16] = [
        b"xxxx",
        b"****",
        b"...",
        b"example",
        b"placeholder",
        b"changeme",
        b"change-me",
        b"change_me",
        b"redacted",
        b"your-",
        b"your_",
        b"yourpass",
        b"dummy",
        b"<",
        b"insert_",
        b"insert-",
    ];
    let lower = value.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// Whether a value is `${VAR}`, `$VAR`, `%VAR%`, `{{ var }}`, `env.VAR` or `process.env.X`.
fn is_reference(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let env: [&[u8]; 6] = [
        b"process.env",
        b"os.environ",
        b"env.",
        b"env::",
        b"env[",
        b"secrets.",
    ];
    matches!(value.first(), Some(b'$' | b'%' | b'{' | b'#' | b'&' | b'@'))
        || value
            .windows(2)
            .any(|window| window == b"${" || window == b"{{")
        || env.iter().any(|prefix| lower.starts_with(prefix))
}

/// Whether a value is a UUID, a ULID or a labelled digest: an address, which need not be secret.
fn is_named_id(value: &[u8]) -> bool {
    let hashed = [&b"sha256:"[..], b"sha1:", b"sha512:", b"md5:"];
    if let Some(digest) = hashed.iter().find_map(|it| value.strip_prefix(*it)) {
        return digest.iter().all(u8::is_ascii_hexdigit);
    }
    match value.len() {
        26 => value
            .iter()
            .all(|b| b.is_ascii_digit() || (b.is_ascii_uppercase() && !b"ILOU".contains(b))),
        36 => value.iter().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        }),
        _ => false,
    }
}

/// A pointer without the id to which it is pinned: `repo:src/token.rs#L1-L9@1f2e3d4`.
fn without_pin(value: &[u8]) -> &[u8] {
    let Some(at) = value.iter().rposition(|b| *b == b'@') else {
        return value;
    };
    let (before, pin) = (&value[..at], &value[at + 1..]);
    let pin = pin.strip_prefix(b"sha256:").unwrap_or(pin);
    if is_digest(pin) { before } else { value }
}

/// Whether a value is a git id or a digest, short or full.
fn is_digest(value: &[u8]) -> bool {
    matches!(value.len(), 7..=16 | 40 | 64 | 96 | 128) && value.iter().all(u8::is_ascii_hexdigit)
}

/// Whether a value is words joined by `_ - . / : \`, like names, paths, addresses and code: each
/// part is one or two words with at most one short number, as in `Xxh3Builder`.
fn is_name_or_path(value: &[u8]) -> bool {
    value
        .split(|b| b"_-./:\\+=@?&#~!*".contains(b))
        .all(|part| {
            let mut numbers = part
                .split(|b| !b.is_ascii_digit())
                .filter(|it| !it.is_empty());
            let short = numbers.next().is_none_or(|number| number.len() <= 4);
            let mut words = part.split(u8::is_ascii_digit).filter(|it| !it.is_empty());
            short
                && numbers.next().is_none()
                && words
                    .all(|word| word.iter().all(u8::is_ascii_alphabetic) && reads_as_words(word))
        })
}

/// Whether a value looks like `base64.b16encode` or `Builder::new`.
pub(crate) fn is_code_name(value: &[u8]) -> bool {
    value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"_.:".contains(b))
}

/// Whether a part looks like words: `tokenProvider`, `TOKEN`, `Token`. Capitals start words of
/// three letters or more.
fn reads_as_words(word: &[u8]) -> bool {
    let capitals = word.iter().filter(|b| b.is_ascii_uppercase()).count();
    capitals == word.len() || capitals * 3 <= word.len().max(3)
}

/// Shannon entropy in bits per byte.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let length = value.len().max(1) as f64;
    let shares = counts
        .iter()
        .filter(|n| **n > 0)
        .map(|n| f64::from(*n) / length);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}
