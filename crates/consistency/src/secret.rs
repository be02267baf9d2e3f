//! The secret screen: credentials by the shape that their issuer gave them, and anything random
//! that is assigned to a name such as `password`.
//!
//! Time is linear in the length. Rules of the first kind need no context. The second kind asks for
//! a telling name, an assignment and a value that is random enough; digests, ids, placeholders,
//! references to variables and words are none.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

/// Where a text holds what looks like a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it looks like; never the secret itself.
    pub rule: &'static str,
    /// Offset of its first byte.
    pub at: usize,
}

/// The first credential in a text; of two at one place, the one whose rule says more.
pub fn screen(text: &str) -> Option<Secret> {
    screen_bytes(text.as_bytes())
}

/// [`screen`] for what need not be text, such as the snapshot of a file. Every byte is looked at.
pub fn screen_bytes(bytes: &[u8]) -> Option<Secret> {
    RULES
        .iter()
        .filter_map(|rule| rule.first(bytes))
        .min_by_key(|secret| secret.at)
}

struct Rule {
    name: &'static str,
    pattern: Regex,
    judge: fn(&[u8]) -> bool,
}

impl Rule {
    /// The secret is group 1 of the pattern; a name before a bracket is a call, no secret.
    fn first(&self, bytes: &[u8]) -> Option<Secret> {
        self.pattern
            .captures_iter(bytes)
            .filter_map(|found: Captures<'_>| found.get(1))
            .filter(|value| {
                bytes.get(value.end()) != Some(&b'(') || !is_code_name(value.as_bytes())
            })
            .find(|value| (self.judge)(value.as_bytes()))
            .map(|value| Secret {
                rule: self.name,
                at: value.start(),
            })
    }
}

/// Not the continuation of a longer word: what stands before and after a token.
const BEFORE: &str = r"(?:^|[^A-Za-z0-9_])";
const AFTER: &str = r"(?:$|[^A-Za-z0-9_])";

/// Name, pattern, and how what it finds is judged.
type Pattern = (&'static str, &'static str, fn(&[u8]) -> bool);

/// Issuers' own shapes.
const SHAPES: &[Pattern] = &[
    (
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        always,
    ),
    (
        "AWS access key id",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
        not_an_example,
    ),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}", random),
    (
        "GitHub token",
        r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
        random,
    ),
    (
        "GitLab token",
        r"gl(?:pat|dt|rt|ptt|cbt|soat|ffct|agent|oas|ft|imt)-[A-Za-z0-9_-]{20,64}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?",
        random,
    ),
    (
        "Slack token",
        r"xox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,}",
        random,
    ),
    (
        "Slack token",
        r"xapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{20,80}",
        random,
    ),
    (
        "Slack webhook",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{30,80}",
        random,
    ),
    (
        "Stripe key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
        random,
    ),
    (
        "Stripe webhook secret",
        r"whsec_[A-Za-z0-9+/]{24,64}=?",
        random,
    ),
    ("Google API key", r"AIza[A-Za-z0-9_-]{35}", random),
    ("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{28}", random),
    ("Google OAuth token", r"ya29\.[A-Za-z0-9_-]{30,}", random),
    (
        "Anthropic key",
        r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{20,}",
        random,
    ),
    (
        "OpenAI key",
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}",
        random,
    ),
    ("OpenAI key", r"sk-[A-Za-z0-9]{20,80}", random),
    ("npm token", r"npm_[A-Za-z0-9]{36}", random),
    ("PyPI token", r"pypi-[A-Za-z0-9_-]{50,}", random),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,60}", random),
    (
        "SendGrid key",
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
        random,
    ),
    ("Twilio key", r"SK[0-9a-f]{32}", random),
    (
        "Telegram bot token",
        r"\d{8,10}:AA[A-Za-z0-9_-]{33}",
        random,
    ),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}", random),
    (
        "Shopify token",
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
        random,
    ),
    (
        "Azure storage key",
        r"AccountKey=[A-Za-z0-9+/]{86}==",
        random,
    ),
    ("Rust registry token", r"cio[A-Za-z0-9]{32}", random),
    ("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", random),
    (
        "JSON web token",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
        random,
    ),
];

/// Shapes of which the secret is only a part, so that they bring their own context.
const PARTS: &[Pattern] = &[
    (
        "password in a connection string",
        r#"(?i)\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@'"<>`]{0,}:([^\s/@'"<>`]{3,})@[a-z0-9\[]"#,
        password,
    ),
    (
        "password in a connection string",
        r#"(?i);\s{0,4}(?:password|pwd)\s{0,4}=\s{0,4}([^;\s'"]{4,})"#,
        password,
    ),
    (
        "authorization header",
        r#"(?i)\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token)\s{1,4}([a-z0-9+/=._~-]{12,})"#,
        random,
    ),
    (
        "bearer token",
        r#"(?i)\bbearer\s{1,4}([a-z0-9+/=._~-]{20,})"#,
        random,
    ),
    (
        "secret assigned to a name",
        concat!(
            r#"(?i)(?:pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|"#,
            r#"auth[_-]?key|encryption[_-]?key|signing[_-]?key|private[_-]?key|credentials?)"#,
            r#"(?:[_-]?(?:key|id|access[_-]?key|token|value|[0-9]{1,2}))?"#,
            r#"["'`\])]{0,3}\s{0,8}(?:=>|:=|==?|:|\bis\b|\bwas\b)\s{0,8}["'`]{0,3}"#,
            r#"([^\s"'`,;<>(){}\[\]|]{8,})"#,
        ),
        assigned,
    ),
];

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(name, token, judge)| Rule {
        name,
        pattern: build(&format!("{BEFORE}({token}){AFTER}")),
        judge: *judge,
    });
    let parts = PARTS.iter().map(|(name, pattern, judge)| Rule {
        name,
        pattern: build(pattern),
        judge: *judge,
    });
    shapes.chain(parts).collect()
});

#[expect(
    clippy::expect_used,
    reason = "constants; every test of this room builds them"
)]
fn build(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(64 << 20)
        .build()
        .expect("the patterns are constants")
}

fn always(_: &[u8]) -> bool {
    true
}

/// An issuer's documentation marks its sample keys so.
fn not_an_example(value: &[u8]) -> bool {
    !value.ends_with(b"EXAMPLE") && !is_placeholder(value)
}

/// Varied enough to be drawn by lot: not `xxxx`, not `0000`, not `<token>`.
fn random(value: &[u8]) -> bool {
    !is_placeholder(value) && entropy(value) >= 3.0
}

/// Chosen by a person, so it need not be random; only what stands for a password is let through.
fn password(value: &[u8]) -> bool {
    const COMMON: [&str; 14] = [
        "password", "passwd", "pass", "pwd", "secret", "user", "username", "postgres", "root",
        "test", "changeme", "admin", "guest", "token",
    ];
    let lower = value.to_ascii_lowercase();
    !is_placeholder(value)
        && !is_reference(value)
        && !COMMON.iter().any(|word| lower == word.as_bytes())
        && !lower.iter().all(u8::is_ascii_digit)
}

/// A value assigned to a telling name: random, and neither a digest, an id, a word nor code.
fn assigned(value: &[u8]) -> bool {
    let value = value.strip_suffix(b".").unwrap_or(value);
    let classes = [
        value.iter().any(u8::is_ascii_lowercase),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(|b| b.is_ascii_punctuation()),
    ];
    let mixed = classes.iter().filter(|class| **class).count() >= 2;
    let digits = classes[2];
    value.len() >= 8
        && !is_placeholder(value)
        && !is_reference(value)
        && !is_public_id(value)
        && !is_name_or_path(value)
        && mixed
        && (digits || value.len() >= 20)
        && entropy(value) >= if value.len() < 16 { 2.8 } else { 3.3 }
}

/// What documents write where a secret would stand.
fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 14] = [
        b"xxx",
        b"***",
        b"...",
        b"example",
        b"placeholder",
        b"changeme",
        b"change-me",
        b"change_me",
        b"redacted",
        b"your-",
        b"your_",
        b"dummy",
        b"<",
        b"insert",
    ];
    let lower = value.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|word| lower.windows(word.len()).any(|window| window == *word))
}

/// `${VAR}`, `$VAR`, `%VAR%`, `{{ var }}`, `env.VAR`, `process.env.X`.
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

/// Git ids, digests, UUIDs and ULIDs: addresses, which everybody may know.
fn is_public_id(value: &[u8]) -> bool {
    let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    let value = value.strip_prefix(b"sha256:").unwrap_or(value);
    let value = value.strip_prefix(b"sha1:").unwrap_or(value);
    match value.len() {
        40 | 64 | 96 | 128 if hex(value) => true,
        7..=16 if hex(value) => true,
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

/// Words joined by `_ - . / : \`, as names, paths, addresses and code are: each part one or two
/// words with at most one short number, as in `Xxh3Builder`.
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

/// `base64.b16encode`, `Builder::new`
fn is_code_name(value: &[u8]) -> bool {
    value
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"_.:".contains(b))
}

/// `tokenProvider`, `TOKEN`, `Token`: capitals only begin words of three letters or more.
fn reads_as_words(word: &[u8]) -> bool {
    let capitals = word.iter().filter(|b| b.is_ascii_uppercase()).count();
    capitals == word.len() || capitals * 3 <= word.len().max(3)
}

/// Bits for each byte, by how often each occurs (Shannon).
fn entropy(value: &[u8]) -> f64 {
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

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
